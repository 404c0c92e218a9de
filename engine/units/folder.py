"""The folder of one unit: its files are read and written here, and nothing outside it ever is.

No symbolic link is followed, neither on the way nor at its end (`engine.workspace_path`); links are left out of what a
unit is. Writing several files happens whole or not at all. All of it blocks.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

from engine.errors import ConflictError, EngineError, ForbiddenError, InvalidArgumentError, NotFoundError
from engine.files import WorkspaceFiles
from engine.units.manifest import MANIFEST, InvalidUnitError, check_unit_name, read_manifest
from engine.units.source import UnitSource, fingerprint_of
from engine.workspace_path import entry_mode, opened_file, opened_folder, refusal, remove_folders, shown, split_path

MAX_UNIT_FILES = 500
"""Files of one unit, tests included. A unit is read as a whole, and one with more is a project of its own."""

MAX_UNIT_BYTES = 8 * 1024 * 1024
"""Of all files together; every snapshot keeps them."""

MAX_SOURCE_BYTES = 1024 * 1024
"""Of one file that tools read or write."""

MAX_DEPTH = 16
"""Of folders in folders."""

_LEFT_OUT = frozenset({"__pycache__", "node_modules"})
_LEFT_OUT_ENDINGS = (".pyc", ".pyo", "~", ".swp", ".tmp")


class UnitFolder:
    """One unit's folder. Paths are relative to it, with slashes.

    Every method raises `ForbiddenError` for a path that leaves the folder or meets a link, `NotFoundError` for one that
    names nothing, and `InvalidArgumentError` for one that is none or that no unit may have.
    """

    def __init__(self, path: Path) -> None:
        """The folder must be there; it is resolved once. Raises `NotFoundError`; `InvalidUnitError` for its name."""
        self.name = check_unit_name(path.name)
        with self._in_words():
            self._files = WorkspaceFiles(path)
        self.path = self._files.root
        """Absolute and without links."""

    def read(self) -> UnitSource:
        """Everything in the folder. Raises `InvalidUnitError` for a broken manifest and beyond the limits."""
        files = self.contents()
        if MANIFEST not in files:
            raise InvalidUnitError(f"unit {self.name!r} has no {MANIFEST}; it may be empty, but it must be there")
        try:
            manifest = read_manifest(files[MANIFEST].decode("utf-8"))
        except UnicodeDecodeError as error:
            raise InvalidUnitError(f"{MANIFEST} is not UTF-8 text: byte {error.start} is wrong") from error
        return UnitSource(
            name=self.name, folder=self.path, manifest=manifest, files=files, fingerprint=fingerprint_of(files)
        )

    def contents(self) -> dict[str, bytes]:
        """The content of every file by its path, sorted; hidden ones, links and leavings of tools are left out."""
        found: dict[str, bytes] = {}
        with self._in_words():
            for parts in self._walk(()):
                if len(found) >= MAX_UNIT_FILES:
                    raise InvalidUnitError(f"unit {self.name!r} has more than {MAX_UNIT_FILES} files")
                data = self._content(parts, MAX_UNIT_BYTES - sum(map(len, found.values())))
                if data is not None:
                    found["/".join(parts)] = data
        return dict(sorted(found.items()))

    def text(self, path: str) -> str:
        """A file as text. Raises `InvalidArgumentError` for one that is no UTF-8 or beyond `MAX_SOURCE_BYTES`."""
        with self._in_words():
            data = self._files.read_bytes(self.checked(path))
        return text_of(path, data)

    def bytes(self, path: str) -> bytes:
        """A file as it is."""
        with self._in_words():
            return self._files.read_bytes(self.checked(path))

    def exists(self, path: str) -> bool:
        """Whether anything stands at that path, a link included. Raises for a path that leads out of the folder."""
        parts = self._parts(path)
        with self._in_words():
            try:
                with opened_folder(self.path, parts[:-1]) as folder:
                    return entry_mode(folder, parts) is not None
            except NotFoundError:
                return False

    def checked(self, path: str) -> str:
        """The path in its one spelling. Raises for one that leads out of the folder or that no file of a unit has."""
        return "/".join(self._parts(path))

    def change(self, changes: Mapping[str, bytes | None]) -> None:
        """Let each file hold that, or be gone (None): all of them, or none when one is refused.

        Missing folders are made, and taken back where it fails.
        """
        spelled = {self.checked(path): data for path, data in changes.items()}
        for path, data in spelled.items():
            if data is not None:
                text_of(path, data)
        before = {path: self.bytes(path) if self.exists(path) else None for path in spelled}
        done: list[str] = []
        try:
            for path, data in spelled.items():
                done.append(path)
                self._put(path, data)
        except BaseException:
            for path in reversed(done):
                self._put(path, before[path])
            raise

    def become(self, files: Mapping[str, bytes]) -> None:
        """Let the folder hold exactly these files; what is left out of a unit stays as it is. Whole or not at all."""
        before = self.contents()
        gone: dict[str, bytes | None] = {path: None for path in before if path not in files}
        changed = {path: data for path, data in files.items() if before.get(path) != data}
        self._change_bytes({**gone, **changed}, before)

    def _change_bytes(self, changes: Mapping[str, bytes | None], before: Mapping[str, bytes]) -> None:
        done: list[str] = []
        try:
            for path, data in changes.items():
                done.append(path)
                self._put(self.checked(path), data)
        except BaseException:
            for path in reversed(done):
                self._put(path, before.get(path))
            raise

    def _put(self, path: str, data: bytes | None) -> None:
        parts = self._parts(path)
        with self._in_words():
            if data is None:
                self._remove(parts)
                return
            self._files.write_bytes(path, data, create_folders=True)

    def _remove(self, parts: tuple[str, ...]) -> None:
        try:
            with opened_folder(self.path, parts[:-1]) as folder:
                mode = entry_mode(folder, parts)
                if mode is None:
                    return
                if not stat.S_ISREG(mode):
                    raise ForbiddenError(f"{shown(parts)!r} is no regular file, and nothing else is removed.")
                os.unlink(parts[-1], dir_fd=folder)
        except NotFoundError:
            return
        except OSError as error:
            raise refusal(error, parts) from error
        # Folders that are empty now go as well; the others stay by themselves.
        remove_folders(self.path, [parts[:depth] for depth in range(1, len(parts))])

    def _parts(self, path: str) -> tuple[str, ...]:
        with self._in_words():
            if path.startswith("/") or "\\" in path or path[1:2] == ":":
                raise ForbiddenError(
                    f"The path {path[:200]!r} is not relative with slashes; give it from the workspace folder on, "
                    "such as 'unit.py' or 'tests/test_unit.py'."
                )
            parts = split_path(path, self.path)
            if not parts or path.endswith("/"):
                raise InvalidArgumentError(f"The path {path[:200]!r} names no file.")
        for part in parts:
            if _is_left_out(part):
                raise InvalidArgumentError(
                    f"{shown(parts)!r} cannot be a file of a unit: {part!r} is hidden or left behind by a tool, "
                    "and such files belong to no unit"
                )
        if len(parts) > MAX_DEPTH:
            raise InvalidArgumentError(f"{shown(parts)!r:.200} is more than {MAX_DEPTH} folders deep")
        return parts

    def _walk(self, folder: tuple[str, ...]) -> Generator[tuple[str, ...]]:
        if len(folder) > MAX_DEPTH:
            raise InvalidUnitError(f"unit {self.name!r} has folders that are more than {MAX_DEPTH} deep")
        with opened_folder(self.path, folder) as descriptor:
            entries = sorted((entry.name, _kind(entry)) for entry in os.scandir(descriptor))
        for name, kind in entries:
            if _is_left_out(name):
                continue
            if kind == "folder":
                yield from self._walk((*folder, name))
            elif kind == "file":
                yield (*folder, name)

    def _content(self, parts: tuple[str, ...], room: int) -> bytes | None:
        try:
            with opened_file(self.path, parts) as file, os.fdopen(file, "rb", closefd=False) as reader:
                data = reader.read(room + 1)
        except NotFoundError:
            return None  # gone since the folder was listed
        if len(data) > room:
            raise InvalidUnitError(f"unit {self.name!r} has more than {MAX_UNIT_BYTES} bytes in its files")
        return data

    @contextmanager
    def _in_words(self) -> Generator[None]:
        """The walls are those of the workspace folder; whoever reads the refusal asked about a unit."""
        try:
            yield
        except InvalidUnitError:
            raise
        except EngineError as error:
            said = str(error).replace("the workspace folder", f"the folder of unit {self.name!r}")
            raise type(error)(said.replace("The workspace folder", f"The folder of unit {self.name!r}")) from error


def text_of(path: str, data: bytes) -> str:
    """The content as text. Raises `InvalidArgumentError` for what is no UTF-8, binary, or beyond `MAX_SOURCE_BYTES`."""
    if len(data) > MAX_SOURCE_BYTES:
        raise InvalidArgumentError(f"{path!r} has {len(data)} bytes; a source has at most {MAX_SOURCE_BYTES}")
    if b"\0" in data:
        raise InvalidArgumentError(f"{path!r} is a binary file (it holds NUL bytes)")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(f"{path!r} is not UTF-8 text (byte {error.start} is wrong)") from error


def bytes_of(path: str, text: str) -> bytes:
    """The text as the content of a file. Raises `InvalidArgumentError` for what no file of text can hold."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"{path!r}: character {error.start} is half of a surrogate pair") from error
    text_of(path, data)
    return data


def make_unit(root: Path, name: str, files: Mapping[str, bytes]) -> UnitFolder:
    """A new unit below that folder, whole or not at all. Raises `ConflictError` when that name is taken there."""
    path = root / check_unit_name(name)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        raise ConflictError(f"a unit {name!r} already exists: {str(path)!r} is there; choose another name") from None
    except OSError as error:
        raise EngineError(f"the folder of unit {name!r} could not be made: {error.strerror}") from error
    folder = UnitFolder(path)
    try:
        folder.change(files)
    except BaseException:
        path.rmdir()
        raise
    return folder


def _kind(entry: os.DirEntry[str]) -> str:
    if entry.is_symlink():
        return "link"
    return "folder" if entry.is_dir(follow_symlinks=False) else "file" if entry.is_file(follow_symlinks=False) else ""


def _is_left_out(name: str) -> bool:
    return name.startswith((".", "#")) or name in _LEFT_OUT or name.endswith(_LEFT_OUT_ENDINGS)
