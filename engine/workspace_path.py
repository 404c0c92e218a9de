"""Paths inside the workspace folder: how one is written, and how it is opened without ever leaving the folder.

Every part of a path is opened from the descriptor of the folder before it, and no symbolic link is followed. So what
was checked is what is used, whatever another process puts in its place meanwhile. Never reads or writes content.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from engine.errors import EngineError, ForbiddenError, InvalidArgumentError, NotFoundError

MAX_PATH_CHARACTERS = 4096
"""As Linux has it for a path in one call."""

_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# O_NONBLOCK, so that a fifo that takes the place of a file after the check does not make us wait for its writer.
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def split_path(path: str, root: Path) -> tuple[str, ...]:
    """The parts of a path that is relative to `root`, or absolute and inside it; no part for the root itself.

    Only looks at the text. Raises `ForbiddenError` for a path outside and for any `..`, `InvalidArgumentError` for what
    cannot be a path.
    """
    if len(path) > MAX_PATH_CHARACTERS:
        raise InvalidArgumentError(f"The path has {len(path)} characters; at most {MAX_PATH_CHARACTERS} are taken.")
    if "\0" in path:
        raise InvalidArgumentError(f"The path {path!r} holds a NUL character, which no path can hold.")
    try:
        os.fsencode(path)
    except UnicodeEncodeError as error:
        raise InvalidArgumentError(f"The path {path!r} holds a character that no file name can hold.") from error
    parts = tuple(part for part in path.split("/") if part not in ("", "."))
    if ".." in parts:
        raise ForbiddenError(
            f"The path {path!r} holds '..'; give a path from the workspace folder on, such as 'notes/plan.md'."
        )
    if not path.startswith("/"):
        return parts
    inside = root.parts[1:]
    if parts[: len(inside)] != inside:
        raise ForbiddenError(f"The path {path!r} lies outside the workspace folder {str(root)!r}.")
    return parts[len(inside) :]


def shown(parts: tuple[str, ...]) -> str:
    """The parts as one relative path for a reader; bytes that are no UTF-8 appear as U+FFFD."""
    return os.fsencode("/".join(parts) or ".").decode("utf-8", "replace")


def entry_kind(mode: int) -> str:
    """What a mode says an entry is: file, folder, link or other."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "folder"
    if stat.S_ISLNK(mode):
        return "link"
    return "other"


@contextmanager
def opened_folder(root: Path, parts: tuple[str, ...]) -> Generator[int]:
    """The descriptor of a folder, open while the block runs. Raises `EngineError` saying which part is at fault."""
    descriptor = _opened_root(root)
    try:
        for depth in range(1, len(parts) + 1):
            inner = opened_entry(descriptor, parts[:depth], want="folder")
            os.close(descriptor)
            descriptor = inner
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_file(root: Path, parts: tuple[str, ...]) -> Generator[int]:
    """The descriptor of a regular file, for reading, open while the block runs. Raises `EngineError`."""
    if not parts:
        raise InvalidArgumentError("The path names the workspace folder itself; give the path of a file in it.")
    with opened_folder(root, parts[:-1]) as folder:
        descriptor = opened_entry(folder, parts, want="file")
        try:
            yield descriptor
        finally:
            os.close(descriptor)


def entry_mode(folder: int, parts: tuple[str, ...]) -> int | None:
    """The mode of the last part within the folder of that descriptor, links not followed; None when it is not there."""
    try:
        return os.stat(parts[-1], dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    except OSError as error:
        raise refusal(error, parts) from error


def require_kind(mode: int, parts: tuple[str, ...], want: str) -> None:
    """Raise the `EngineError` that fits when an entry of that mode is not what is wanted: `file` or `folder`."""
    kind = entry_kind(mode)
    if kind == want:
        return
    if kind == "link":
        raise ForbiddenError(
            f"{shown(parts)!r} is a symbolic link, and links are not followed; name its target itself."
        )
    if kind == "other":
        raise ForbiddenError(f"{shown(parts)!r} is a device, fifo or socket; only regular files can be used.")
    raise InvalidArgumentError(f"{shown(parts)!r} is a {kind}, not a {want}.")


def refusal(error: OSError, parts: tuple[str, ...]) -> EngineError:
    """What an error of the operating system at that path means to whoever gave the path."""
    name = shown(parts)
    if error.errno == errno.ENOENT:
        return NotFoundError(f"There is no {name!r} in the workspace folder.")
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        return ForbiddenError(f"The engine has no permission for {name!r}: {error.strerror}.")
    if error.errno == errno.ENAMETOOLONG:
        return InvalidArgumentError(f"A name in the path is too long: {name[:200]!r}.")
    if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
        return ForbiddenError(f"{name!r} changed its kind while it was opened; links and devices are not followed.")
    return EngineError(f"{name!r} could not be used: {error.strerror}.")


def _opened_root(root: Path) -> int:
    try:
        return os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise NotFoundError(f"The workspace folder {str(root)!r} cannot be opened: {error.strerror}.") from error


def opened_entry(folder: int, parts: tuple[str, ...], *, want: str) -> int:
    """A descriptor for reading the last part within the folder of that descriptor; whoever asks for it closes it.

    `want` is `file` or `folder`; anything else that stands there is refused.
    """
    # Looked at before it is opened, since opening a device can have an effect; and after, since it may be another.
    mode = entry_mode(folder, parts)
    if mode is None:
        raise NotFoundError(f"There is no {shown(parts)!r} in the workspace folder.")
    require_kind(mode, parts, want)
    try:
        descriptor = os.open(parts[-1], _FOLDER_FLAGS if want == "folder" else _FILE_FLAGS, dir_fd=folder)
    except OSError as error:
        raise refusal(error, parts) from error
    try:
        require_kind(os.fstat(descriptor).st_mode, parts, want)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def created_folders(root: Path, parts: tuple[str, ...]) -> tuple[tuple[str, ...], ...]:
    """Make the folders on the way to `parts` that are missing, and say which they are, outermost first.

    Raises `EngineError` when one cannot be made; then none is left.
    """
    made: list[tuple[str, ...]] = []
    try:
        for depth in range(1, len(parts) + 1):
            with opened_folder(root, parts[: depth - 1]) as parent:
                if entry_mode(parent, parts[:depth]) is None:
                    _make_folder(parent, parts[:depth])
                    made.append(parts[:depth])
    except BaseException:
        remove_folders(root, made)
        raise
    return tuple(made)


def remove_folders(root: Path, made: Sequence[tuple[str, ...]]) -> None:
    """Take back what `created_folders` has made. Folders that are not empty by now stay."""
    for parts in reversed(made):
        with suppress(EngineError, OSError), opened_folder(root, parts[:-1]) as parent:
            os.rmdir(parts[-1], dir_fd=parent)


def _make_folder(parent: int, parts: tuple[str, ...]) -> None:
    try:
        os.mkdir(parts[-1], dir_fd=parent)
    except OSError as error:
        raise refusal(error, parts) from error
