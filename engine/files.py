"""The workspace folder: reading, listing, searching and writing text files. Owns what reaches a reader, and how much.

Nothing here ever follows a symbolic link or leaves the folder (`engine.workspace_path`). All of it blocks; callers on
an event loop run it in a thread. Results stay below what clients show of one result, and say how to go on.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.errors import ForbiddenError, InvalidArgumentError, NotFoundError
from engine.git_folder import refuse_git_folder
from engine.printed import MAX_RESULT_BYTES, MAX_RESULT_LINES, fitting_prefix, printed_size
from engine.search import MAX_MATCHES, SearchResult, search_file, search_folder
from engine.workspace_path import (
    created_folders,
    entry_kind,
    entry_mode,
    opened_entry,
    opened_file,
    opened_folder,
    refusal,
    remove_folders,
    require_kind,
    shown,
    split_path,
)

MAX_FILE_BYTES = 16 * 1024 * 1024
"""A file is read whole to count its lines; in larger ones, searching is the way to find something."""

MAX_WRITE_BYTES = 4 * 1024 * 1024
"""As much as one request to the engine may carry."""

MAX_ENTRIES = 500
"""Entries of a folder in one result."""

_ENTRY_OVERHEAD_BYTES = 60
"""What JSON adds to one entry: braces, names of members, kind and size."""

_TEMPORARY_PREFIX = ".space-write-"

_PERMISSION_BITS = 0o777
"""Of a file that is replaced; set-user-id and its like are not carried over to new content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TextPage:
    """Some lines of a text file. Lines count from 1.

    `next_offset` is the line to go on with, None at the end of the file. Where one line alone is too long to be given
    whole, the page is the beginning of that line and `line_is_cut` is set.
    """

    path: str
    text: str
    first_line: int
    line_count: int
    total_lines: int
    size_bytes: int
    next_offset: int | None = None
    line_is_cut: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderEntry:
    """One entry of a folder. `kind` is file, folder, link or other; only files have a size."""

    name: str
    path: str
    kind: str
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderPage:
    """Some entries of a folder, in order of their names, of `total` in all.

    `offset` is the first one's place from 0, `next_offset` where to go on; None at the end.
    """

    path: str
    entries: tuple[FolderEntry, ...]
    total: int
    offset: int
    next_offset: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenFile:
    """A file that was written. `changed` is False when it already had that content and was left alone."""

    path: str
    size_bytes: int
    created: bool
    changed: bool


class WorkspaceFiles:
    """The files below one folder. Paths are relative to it, or absolute and inside it; `..` and links are refused.

    Besides what each method names, all raise `ForbiddenError` for a path that leaves the folder or meets a symbolic
    link, device or fifo, `NotFoundError` for one that names nothing, and `InvalidArgumentError` for what is no path.
    """

    def __init__(self, root: Path, private: Path | None = None, code: Sequence[Path] = ()) -> None:
        """Raises `NotFoundError` when there is no such folder. The root itself may be a link; it is resolved here.

        `private` is a folder of which nothing is shown or written, wherever it lies. In the folders `code` nothing is
        written: what lies there runs in the engine.
        """
        self.root = root.resolve()
        """The workspace folder, absolute and without links."""
        if not self.root.is_dir():
            raise NotFoundError(f"The workspace folder {str(self.root)!r} does not exist or is no folder.")
        self._private = None if private is None else private.resolve()
        self._code = tuple(folder.resolve() for folder in code)

    def folder(self, path: str) -> Path:
        """An existing folder by its absolute path, for a process to work in."""
        parts = self._parts(path)
        with opened_folder(self.root, parts):
            return self.root.joinpath(*parts)

    def read_text(self, path: str, offset: int = 1, limit: int = MAX_RESULT_LINES) -> TextPage:
        """At most `limit` lines from line `offset` on, fewer when they would be too much for one result.

        Raises `InvalidArgumentError` for a file that is not UTF-8 text or is larger than `MAX_FILE_BYTES`, and for an
        offset beyond its last line.
        """
        _require_at_least(1, offset=offset, limit=limit)
        parts = self._file_parts(path)
        data = self._content(parts)
        lines = _lines(data, parts)
        if offset > max(len(lines), 1):
            raise InvalidArgumentError(f"offset {offset} is beyond the end: {shown(parts)!r} has {len(lines)} lines.")
        wanted = lines[offset - 1 : offset - 1 + min(limit, MAX_RESULT_LINES)]
        taken = wanted[: _fitting_count([printed_size(line) for line in wanted])]
        is_cut = bool(wanted) and not taken
        if is_cut:
            taken = [fitting_prefix(wanted[0], MAX_RESULT_BYTES)]
        after = offset + len(taken)
        return TextPage(
            path=shown(parts),
            text="".join(taken),
            first_line=offset,
            line_count=len(taken),
            total_lines=len(lines),
            size_bytes=len(data),
            next_offset=after if after <= len(lines) else None,
            line_is_cut=is_cut,
        )

    def read_bytes(self, path: str) -> bytes:
        """All of a file, such as an image. Raises `InvalidArgumentError` beyond `MAX_FILE_BYTES`."""
        return self._content(self._file_parts(path))

    def list(self, path: str = ".", offset: int = 0, limit: int = MAX_ENTRIES) -> FolderPage:
        """At most `limit` entries of a folder from place `offset` on, fewer when they would be too much."""
        _require_at_least(0, offset=offset)
        _require_at_least(1, limit=limit)
        parts = self._parts(path)
        with opened_folder(self.root, parts) as folder:
            try:
                names = sorted(os.listdir(folder))
            except OSError as error:
                raise refusal(error, parts) from error
            if offset > len(names):
                raise InvalidArgumentError(
                    f"offset {offset} is beyond the end: {shown(parts)!r} has {len(names)} entries."
                )
            wanted = names[offset : offset + min(limit, MAX_ENTRIES)]
            entries = [entry for name in wanted if (entry := _entry(folder, parts, name)) is not None]
        sizes = [printed_size(entry.name) + printed_size(entry.path) + _ENTRY_OVERHEAD_BYTES for entry in entries]
        count = _fitting_count(sizes)
        after = offset + (count if count < len(entries) else len(wanted))
        return FolderPage(
            path=shown(parts),
            entries=tuple(entries[:count]),
            total=len(names),
            offset=offset,
            next_offset=after if after < len(names) else None,
        )

    def entry(self, path: str) -> FolderEntry:
        """What stands at that path: its kind, and the size of a file. Nothing is opened, so links are told, not met."""
        parts = self._parts(path)
        if not parts:
            raise InvalidArgumentError(f"The path {path!r} names the workspace folder itself; give one inside it.")
        with opened_folder(self.root, parts[:-1]) as folder:
            found = _entry(folder, parts[:-1], parts[-1])
        if found is None:
            raise NotFoundError(f"There is no {shown(parts)!r} in the workspace folder.")
        return found

    def search(
        self, pattern: str, path: str = ".", include: str | None = None, limit: int = MAX_MATCHES
    ) -> SearchResult:
        """The lines that match a POSIX extended expression (`grep -E`) in a file, or in all text files below a folder.

        `include` is a glob for file names. Raises as `engine.search` says.
        """
        _require_at_least(1, limit=limit)
        parts = self._parts(path)
        if self._is_file(parts):
            with opened_file(self.root, parts) as file:
                return search_file(file, shown(parts), pattern, limit=limit)
        prefix = f"{shown(parts)}/" if parts else ""
        with opened_folder(self.root, parts) as folder:
            hidden = self._private if self._private is not None and self._private.is_relative_to(self.root) else None
            left_out = None if hidden is None else hidden.relative_to(self.root).as_posix()
            return search_folder(folder, prefix, pattern, include=include, limit=limit, left_out=left_out)

    def write_text(self, path: str, content: str, *, create_folders: bool = False) -> WrittenFile:
        """Make the file hold exactly that text, whole or not at all: a reader sees the old content or the new.

        A file that exists keeps its permissions; other hard links to it keep the old content. Folders on the way are
        made where `create_folders` is set. Raises `InvalidArgumentError` for text beyond `MAX_WRITE_BYTES` or that is
        no UTF-8, `ForbiddenError` for a file that is read-only and for what belongs to Git (`engine.git_folder`).
        """
        return self._write(path, _encoded(content, self._file_parts(path)), create_folders)

    def write_bytes(self, path: str, data: bytes, *, create_folders: bool = False) -> WrittenFile:
        """`write_text` for what need not be text. Raises as that does, but for what only a text can have wrong."""
        return self._write(path, data, create_folders)

    def _write(self, path: str, data: bytes, create_folders: bool) -> WrittenFile:
        parts = self._file_parts(path)
        refuse_git_folder(self.root, parts)
        if any(_leads_into(self.root.joinpath(*parts), folder) for folder in self._code):
            raise ForbiddenError(
                f"{shown(parts)!r} is in a folder of units, whose code runs in the engine; no file tool writes there. "
                "The tools on units do (space_unit_edit), where the user has turned them on."
            )
        if create_folders:
            made = created_folders(self.root, parts[:-1])
        else:
            made = ()
            self._require_folders(parts[:-1])
        try:
            with opened_folder(self.root, parts[:-1]) as folder:
                return _written(folder, parts, data)
        except BaseException:
            remove_folders(self.root, made)
            raise

    def _require_folders(self, parts: tuple[str, ...]) -> None:
        if not parts:
            return
        try:
            with opened_folder(self.root, parts):
                pass
        except NotFoundError as error:
            raise NotFoundError(f"{error} Set create_folders to true to have missing folders made.") from error

    def _is_file(self, parts: tuple[str, ...]) -> bool:
        if not parts:
            return False
        with opened_folder(self.root, parts[:-1]) as folder:
            mode = entry_mode(folder, parts)
        return mode is not None and stat.S_ISREG(mode)

    def _parts(self, path: str) -> tuple[str, ...]:
        """The parts of a path. Raises `ForbiddenError` for one into the private folder."""
        parts = split_path(path, self.root)
        if self._private is not None and _leads_into(self.root.joinpath(*parts), self._private):
            raise ForbiddenError(
                f"{shown(parts)!r} is in the folder where the engine keeps its own data; no file tool goes there."
            )
        return parts

    def _file_parts(self, path: str) -> tuple[str, ...]:
        parts = self._parts(path)
        if not parts or path.endswith("/"):
            raise InvalidArgumentError(f"The path {path!r} names a folder; give the path of a file.")
        return parts

    def _content(self, parts: tuple[str, ...]) -> bytes:
        with opened_file(self.root, parts) as file:
            size = os.fstat(file).st_size
            if size > MAX_FILE_BYTES:
                raise InvalidArgumentError(
                    f"{shown(parts)!r} has {size} bytes; at most {MAX_FILE_BYTES} can be read. Search in it instead."
                )
            try:
                return _read_at_most(file, MAX_FILE_BYTES)
            except OSError as error:
                raise refusal(error, parts) from error


def _leads_into(path: Path, folder: Path) -> bool:
    """Whether the path is that folder or inside it. Upper and lower case count as the same, as some file systems do."""
    return tuple(map(str.casefold, path.parts))[: len(folder.parts)] == tuple(map(str.casefold, folder.parts))


def _require_at_least(least: int, **numbers: int) -> None:
    for name, number in numbers.items():
        if number < least:
            raise InvalidArgumentError(f"{name} is {number}; it must be at least {least}.")


def _fitting_count(sizes: Sequence[int]) -> int:
    """How many of them, from the first on, fit together into one result."""
    room = MAX_RESULT_BYTES
    for count, size in enumerate(sizes):
        room -= size
        if room < 0:
            return count
    return len(sizes)


def _read_at_most(file: int, limit_bytes: int) -> bytes:
    """All that is in the file; a file that grows while it is read is cut at the limit."""
    with os.fdopen(file, "rb", closefd=False) as reader:
        return reader.read(limit_bytes)


def _lines(data: bytes, parts: tuple[str, ...]) -> Sequence[str]:
    """The lines with their line breaks; only a line feed ends one, so that the lines together are the file."""
    if b"\0" in data:
        raise InvalidArgumentError(f"{shown(parts)!r} is a binary file (it holds NUL bytes); only text can be read.")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"{shown(parts)!r} is not UTF-8 text (byte {error.start} is wrong); only UTF-8 text can be read."
        ) from error
    *ended, rest = text.split("\n")
    lines = [line + "\n" for line in ended]
    return [*lines, rest] if rest else lines


def _entry(folder: int, parts: tuple[str, ...], name: str) -> FolderEntry | None:
    """The entry of that name; None when it is gone since its name was read."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusal(error, (*parts, name)) from error
    kind = entry_kind(status.st_mode)
    size = status.st_size if kind == "file" else None
    return FolderEntry(name=shown((name,)), path=shown((*parts, name)), kind=kind, size_bytes=size)


def _encoded(content: str, parts: tuple[str, ...]) -> bytes:
    try:
        data = content.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(
            f"The content for {shown(parts)!r} holds half of a surrogate pair at character {error.start}, "
            "which UTF-8 cannot hold."
        ) from error
    if len(data) > MAX_WRITE_BYTES:
        raise InvalidArgumentError(
            f"The content for {shown(parts)!r} has {len(data)} bytes; at most {MAX_WRITE_BYTES} are written at once."
        )
    return data


def _written(folder: int, parts: tuple[str, ...], data: bytes) -> WrittenFile:
    mode = entry_mode(folder, parts)
    if mode is not None:
        require_kind(mode, parts, "file")
        if not os.access(parts[-1], os.W_OK, dir_fd=folder, effective_ids=True):
            raise ForbiddenError(f"{shown(parts)!r} is read-only; change its permissions first.")
    changed = mode is None or not _holds(folder, parts, data)
    if changed:
        try:
            _replace(folder, parts[-1], data, mode)
        except OSError as error:
            raise refusal(error, parts) from error
    return WrittenFile(path=shown(parts), size_bytes=len(data), created=mode is None, changed=changed)


def _holds(folder: int, parts: tuple[str, ...], data: bytes) -> bool:
    file = opened_entry(folder, parts, want="file")
    try:
        return os.fstat(file).st_size == len(data) and _read_at_most(file, len(data) + 1) == data
    except OSError as error:
        raise refusal(error, parts) from error
    finally:
        os.close(file)


def _replace(folder: int, name: str, data: bytes, mode: int | None) -> None:
    """Write beside it and rename, both within the folder of that descriptor."""
    temporary = f"{_TEMPORARY_PREFIX}{secrets.token_hex(8)}"
    # The content of a private file must not be readable by others for a moment; a new file gets what the umask leaves.
    first_mode = 0o666 if mode is None else 0o600
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(temporary, flags, first_mode, dir_fd=folder)
    try:
        with os.fdopen(descriptor, "wb") as writer:
            writer.write(data)
            if mode is not None:
                os.fchmod(writer.fileno(), mode & _PERMISSION_BITS)
            writer.flush()
            os.fsync(writer.fileno())
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
