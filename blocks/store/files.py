"""Files below the data folder: read, written whole or not at all, moved, set aside. Owns every path that is touched.

Each part of a path is opened from the descriptor of the folder before it, and no symbolic link is followed: whatever
an id holds, and whatever stands in the folder, nothing outside it is read or written. Never looks into a file.
"""

from __future__ import annotations

import errno
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

from blocks.store.limits import MAX_FILE_BYTES
from engine.errors import EngineError, ForbiddenError

Parts: TypeAlias = "tuple[str, ...]"
"""A path below the data folder, part by part."""

TEMPORARY_FOLDER = ".blocks-unfinished"
"""Where things are made before they are moved to their place. What a crash left there is removed at the next start."""

BROKEN = ".broken-"
"""Between the name of a file that was set aside and the time of that."""

_MAX_PART_BYTES = 255
"""As file systems have it for one name."""

_FOLDER_MODE, _FILE_MODE = 0o700, 0o600
"""Nobody else reads what a user keeps here."""

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK, so that a fifo in the place of a file does not make us wait for its writer.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class DataFileError(EngineError):
    """Raised when the disk refuses: no room, no permission. What was there before stands."""


@dataclass(frozen=True, slots=True)
class Signature:
    """Which file stands at a path, and in which state. Another one, or another content, has another signature."""

    inode: int
    size: int
    modified_ns: int


@dataclass(frozen=True, slots=True)
class ReadFile:
    """The bytes of a file, at most one more than `MAX_FILE_BYTES`, and the signature that it had."""

    data: bytes
    signature: Signature


Check = Callable[[], None]
"""Called between two files by what takes long. Raises to end it; then what was made is removed by `discard`."""


def go_on() -> None:
    """A check that ends nothing."""


def shown(parts: Parts) -> str:
    """The path for a reader, from the data folder on."""
    return "/".join(parts)


class DataFiles:
    """The files below one folder. Every method raises `DataFileError` for what the disk refuses, and `ForbiddenError`
    where a link, or anything but a file or folder, stands in the way.
    """

    def __init__(self, root: Path) -> None:
        """`root` is made where it is missing."""
        try:
            root.mkdir(mode=_FOLDER_MODE, parents=True, exist_ok=True)
        except OSError as error:
            raise _failed((root.name,), error) from error
        # Links to the folder itself are the user's own choice.
        self._root = root.resolve()
        self.changes = 0
        """How often something was written, moved or removed here by this object."""

    def remove_unfinished(self) -> None:
        """Remove what a crash has left unfinished. Only before anybody writes."""
        unfinished = self._root / TEMPORARY_FOLDER
        try:
            if unfinished.is_symlink():
                unfinished.unlink()
            elif unfinished.exists():
                shutil.rmtree(unfinished)
        except OSError as error:
            raise _failed((TEMPORARY_FOLDER,), error) from error

    def signature(self, parts: Parts) -> Signature | None:
        """The signature of the file at that path, or None where nothing is there."""
        with self._folder(parts[:-1]) as folder:
            if folder is None:
                return None
            status = _status(folder, parts)
            return None if status is None else _signature(status)

    def read(self, parts: Parts) -> ReadFile | None:
        """The file at that path, or None where nothing is there."""
        with self._folder(parts[:-1]) as folder:
            if folder is None or _status(folder, parts) is None:
                return None
            with _translated(parts), open(os.open(parts[-1], _FILE, dir_fd=folder), "rb") as file:
                status = os.fstat(file.fileno())
                if not stat.S_ISREG(status.st_mode):
                    raise _not_plain(parts, status.st_mode)
                return ReadFile(file.read(MAX_FILE_BYTES + 1), _signature(status))

    def write(self, parts: Parts, data: bytes) -> Signature:
        """Make the file hold that, whole or not at all; folders on the way are made. Durable when it returns."""
        with self._unfinished() as (temporary, name), self._folder(parts[:-1], make=True) as folder:
            assert folder is not None  # noqa: S101 - it was made
            status = _status(folder, parts)
            if status is not None and not stat.S_ISREG(status.st_mode):
                raise _not_plain(parts, status.st_mode)
            with _translated(parts):
                signature = _write_new(temporary, name, data)
                os.rename(name, parts[-1], src_dir_fd=temporary, dst_dir_fd=folder)
                os.fsync(folder)
            self.changes += 1
            return signature

    def remove(self, parts: Parts) -> bool:
        """Remove the file; False where nothing is there."""
        with self._folder(parts[:-1]) as folder:
            if folder is None or _status(folder, parts) is None:
                return False
            with _translated(parts):
                os.unlink(parts[-1], dir_fd=folder)
                os.fsync(folder)
            self.changes += 1
            return True

    def exists(self, parts: Parts) -> bool:
        """Whether anything stands at that path, a link too."""
        with self._folder(parts[:-1]) as folder:
            return folder is not None and _status(folder, parts) is not None

    def is_folder(self, parts: Parts) -> bool:
        """Whether there is a folder at that path."""
        with self._folder(parts) as folder:
            return folder is not None

    def names(self, parts: Parts) -> tuple[str, ...]:
        """The names in a folder, sorted; none where it is missing."""
        with self._folder(parts) as folder, _translated(parts):
            return () if folder is None else tuple(sorted(os.listdir(folder)))

    def signatures(self, parts: Parts) -> Mapping[str, Signature]:
        """The files in a folder by name, sorted, each with its signature. Links and the like are left out."""
        with self._folder(parts) as folder, _translated(parts):
            if folder is None:
                return {}
            found: dict[str, Signature] = {}
            with os.scandir(folder) as entries:
                for entry in sorted(entries, key=lambda entry: entry.name):
                    with suppress(FileNotFoundError):
                        if entry.is_file(follow_symlinks=False):
                            found[entry.name] = _signature(entry.stat(follow_symlinks=False))
            return found

    def folders(self, parts: Parts) -> tuple[str, ...]:
        """The names of the folders in a folder, sorted. Links to folders are none."""
        with self._folder(parts) as folder, _translated(parts):
            if folder is None:
                return ()
            with os.scandir(folder) as entries:
                return tuple(sorted(entry.name for entry in entries if entry.is_dir(follow_symlinks=False)))

    def make_folder(self, parts: Parts, files: Mapping[Parts, bytes]) -> bool:
        """Make a folder with these files in it, by their paths in it, whole or not at all. False where one is there."""

        def fill(made: Parts) -> None:
            for inner, data in files.items():
                self.write((*made, *inner), data)

        return self._made(parts, fill)

    def hold(self, source: Parts, *, admits: Callable[[str], bool]) -> Parts:
        """Hold on to what is in a folder now, as far as `admits` takes it by name: a folder of its own to copy from.

        Files here are replaced and never changed, so a second name for each is enough, and takes no time. Links are
        left out. Whoever asks gives the folder back to `discard`.
        """
        held = self._new_folder()
        try:
            self._hold(source, held, admits)
        except BaseException:
            self.discard(held)
            raise
        return held

    def copy(self, held: Parts, check: Check = go_on) -> Parts:
        """A copy of such a folder, each file its own and durable, to be moved to its place. Touches nothing else, so
        any thread may do it. Whoever asks gives what is not moved to `discard`.
        """
        made = self._new_folder()
        try:
            self._copy(held, made, check)
        except BaseException:
            self.discard(made)
            raise
        return made

    def stage(self, contents: Sequence[bytes], check: Check = go_on) -> tuple[Parts, Sequence[Signature]]:
        """A folder with a file of each content, named by its index, all durable; and the signatures. For any thread.

        Whoever asks gives the folder to `discard`, when he has taken his files out of it by `take_staged`.
        """
        made = self._new_folder()
        try:
            with self._folder(made) as folder, _translated(made):
                assert folder is not None  # noqa: S101 - it was made
                signatures: list[Signature] = []
                for index, data in enumerate(contents):
                    check()
                    signatures.append(_write_new(folder, str(index), data, durable=False))
                _make_durable(folder, [str(index) for index in range(len(contents))], check)
        except BaseException:
            self.discard(made)
            raise
        return made, signatures

    def take_staged(self, staged: Parts, names: Mapping[int, str], target: Parts) -> None:
        """Let files of `stage`, by their index, take the place of the files of these names in a folder, each whole.

        Durable when it returns; a crash before leaves some of them as they were.
        """
        with self._folder(staged) as made, self._folder(target) as folder, _translated(target):
            if made is None or folder is None:
                raise FileNotFoundError(errno.ENOENT, "it is gone")
            for index, name in names.items():
                _check_part(name)
                os.rename(str(index), name, src_dir_fd=made, dst_dir_fd=folder)
                self.changes += 1
            os.fsync(folder)

    def discard(self, made: Parts) -> None:
        """Remove a folder that was made for something that is over. One that has been moved away is none any more."""
        shutil.rmtree(self._root.joinpath(*made), ignore_errors=True)

    def move(self, source: Parts, target: Parts) -> bool:
        """Move a file or folder; False where something stands at the target.

        Raises `DataFileError` when there is no source.
        """
        if self.exists(target):
            return False
        with self._folder(source[:-1]) as here, self._folder(target[:-1], make=True) as there, _translated(target):
            if here is None or there is None:
                raise FileNotFoundError(errno.ENOENT, "it is gone")
            os.rename(source[-1], target[-1], src_dir_fd=here, dst_dir_fd=there)
            os.fsync(there)
            os.fsync(here)
        self.changes += 1
        return True

    def remove_folder(self, parts: Parts) -> None:
        """Remove a folder with all that is in it; after a crash it is there whole, or gone for whoever looks."""
        with self._unfinished() as (_, name):
            gone = (TEMPORARY_FOLDER, name)
            self.move(parts, gone)
            shutil.rmtree(self._root.joinpath(*gone), ignore_errors=True)

    def set_aside(self, parts: Parts, now: datetime) -> str:
        """Rename a file to `<name>.broken-<time>`, with a number where that is taken. Gives the new name."""
        stamp = now.strftime("%Y%m%dT%H%M%SZ")
        with self._folder(parts[:-1]) as folder, _translated(parts):
            if folder is None:
                raise FileNotFoundError(errno.ENOENT, "it is gone")
            number = 1
            name = f"{parts[-1]}{BROKEN}{stamp}"
            while _status(folder, (*parts[:-1], name)) is not None:
                number += 1
                name = f"{parts[-1]}{BROKEN}{stamp}-{number}"
            os.rename(parts[-1], name, src_dir_fd=folder, dst_dir_fd=folder)
            self.changes += 1
            os.fsync(folder)
            return name

    def _made(self, target: Parts, fill: Callable[[Parts], None]) -> bool:
        if self.exists(target):
            return False
        with self._unfinished() as (temporary, name):
            made = (TEMPORARY_FOLDER, name)
            try:
                with _translated(target):
                    os.mkdir(name, _FOLDER_MODE, dir_fd=temporary)
                fill(made)
                return self.move(made, target)
            finally:
                shutil.rmtree(self._root.joinpath(*made), ignore_errors=True)

    def _new_folder(self) -> Parts:
        with self._folder((TEMPORARY_FOLDER,), make=True) as temporary, _translated((TEMPORARY_FOLDER,)):
            assert temporary is not None  # noqa: S101 - it was made
            name = secrets.token_hex(8)
            os.mkdir(name, _FOLDER_MODE, dir_fd=temporary)
            return (TEMPORARY_FOLDER, name)

    def _hold(self, source: Parts, held: Parts, admits: Callable[[str], bool]) -> None:
        with self._folder(source) as here, self._folder(held) as there, _translated(source):
            if here is None or there is None:
                return  # a branch of which nothing was made yet
            for name, status in _plain_entries(here):
                if not admits(name):
                    continue
                if stat.S_ISDIR(status.st_mode):
                    os.mkdir(name, _FOLDER_MODE, dir_fd=there)
                    self._hold((*source, name), (*held, name), admits)
                elif status.st_size <= MAX_FILE_BYTES:
                    try:
                        os.link(name, name, src_dir_fd=here, dst_dir_fd=there, follow_symlinks=False)
                    except OSError:  # a file system without second names
                        found = self.read((*source, name))
                        if found is not None:
                            _write_new(there, name, found.data, durable=False)

    def _copy(self, held: Parts, made: Parts, check: Check) -> None:
        with self._folder(held) as here, self._folder(made) as there, _translated(made):
            if here is None or there is None:
                raise FileNotFoundError(errno.ENOENT, "it is gone")
            written: list[str] = []
            for name, status in _plain_entries(here):
                check()
                if stat.S_ISDIR(status.st_mode):
                    os.mkdir(name, _FOLDER_MODE, dir_fd=there)
                    self._copy((*held, name), (*made, name), check)
                    continue
                found = self.read((*held, name))
                if found is not None and len(found.data) <= MAX_FILE_BYTES:
                    _write_new(there, name, found.data, durable=False)
                    written.append(name)
            _make_durable(there, written, check)

    @contextmanager
    def _unfinished(self) -> Generator[tuple[int, str]]:
        """The folder for what is being made, and a name in it that nothing has."""
        with self._folder((TEMPORARY_FOLDER,), make=True) as temporary:
            assert temporary is not None  # noqa: S101 - it was made
            name = secrets.token_hex(8)
            try:
                yield temporary, name
            finally:
                with suppress(OSError):
                    os.unlink(name, dir_fd=temporary)

    @contextmanager
    def _folder(self, parts: Parts, *, make: bool = False) -> Generator[int | None]:
        """The descriptor of a folder while the block runs; None where it is missing and is not to be made."""
        with _translated(()):
            descriptor = os.open(self._root, _FOLDER)
        try:
            for depth, name in enumerate(parts, 1):
                inner = _opened(descriptor, parts[:depth], name, make=make)
                if inner is None:
                    yield None
                    return
                os.close(descriptor)
                descriptor = inner
            yield descriptor
        finally:
            os.close(descriptor)


def _opened(folder: int, parts: Parts, name: str, *, make: bool) -> int | None:
    _check_part(name)
    with _translated(parts):
        if make:
            try:
                os.mkdir(name, _FOLDER_MODE, dir_fd=folder)
                os.fsync(folder)
            except FileExistsError:
                pass
        try:
            return os.open(name, _FOLDER, dir_fd=folder)
        except FileNotFoundError:
            return None


def _check_part(name: str) -> None:
    """The last wall: whoever makes a path checks ids before, so this is a bug of ours."""
    if name in ("", ".", "..") or "/" in name or "\0" in name or len(os.fsencode(name)) > _MAX_PART_BYTES:
        raise ValueError(f"{name[:80]!r} is no part of a path")


def _status(folder: int, parts: Parts) -> os.stat_result | None:
    _check_part(parts[-1])
    with _translated(parts):
        try:
            return os.stat(parts[-1], dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return None


def _signature(status: os.stat_result) -> Signature:
    return Signature(status.st_ino, status.st_size, status.st_mtime_ns)


def _write_new(folder: int, name: str, data: bytes, *, durable: bool = True) -> Signature:
    with open(os.open(name, _NEW_FILE, _FILE_MODE, dir_fd=folder), "wb") as file:
        file.write(data)
        file.flush()
        if durable:
            os.fsync(file.fileno())
        return _signature(os.fstat(file.fileno()))


def _make_durable(folder: int, names: Sequence[str], check: Check) -> None:
    """Flush files that were written before, and their names. Once all are written: most are on the disk by then."""
    for name in names:
        check()
        descriptor = os.open(name, _FILE, dir_fd=folder)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
    os.fsync(folder)


def _plain_entries(folder: int) -> Sequence[tuple[str, os.stat_result]]:
    """The files and folders in a folder, sorted; no links and nothing else."""
    found: list[tuple[str, os.stat_result]] = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda entry: entry.name):
            with suppress(FileNotFoundError):
                if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
    return found


@contextmanager
def _translated(parts: Parts) -> Generator[None]:
    """Say what an error of the operating system at that path means."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            raise _not_plain(parts, None) from error
        raise _failed(parts, error) from error


def _not_plain(parts: Parts, mode: int | None) -> ForbiddenError:
    what = "a folder" if mode is not None and stat.S_ISDIR(mode) else "a symbolic link, or no file or folder at all"
    return ForbiddenError(
        f"{shown(parts)!r} in the data folder is {what}; links are not followed there. Put the file itself there"
    )


def _failed(parts: Parts, error: OSError) -> DataFileError:
    return DataFileError(f"{shown(parts)!r} in the data folder cannot be used: {error.strerror or error}")
