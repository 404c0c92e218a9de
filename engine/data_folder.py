"""The data folder: one engine at a time works in it, and a broken file in it is set aside. Never looks into a file."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path

from engine.errors import EngineError

LOCK_FILE = "space.lock"
"""Holds the id of the process whose engine works in the folder. Stays behind when the engine ends, unlocked."""


class FolderInUseError(EngineError):
    """Raised when another engine works in the data folder. The text names the folder and the process."""


class FolderLock:
    """The right to work in a data folder. The operating system gives it back when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        """Take it, in a folder that is made where it is missing. Raises `FolderInUseError` and `OSError`."""
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._descriptor = os.open(folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(self._descriptor, 20).decode("ascii", "replace").strip()
            os.close(self._descriptor)
            raise FolderInUseError(
                f"The data folder {str(folder)!r} is in use by another engine (process {holder or 'unknown'}). "
                "Stop that one, or start this one with another data folder."
            ) from error
        except BaseException:
            os.close(self._descriptor)
            raise
        os.ftruncate(self._descriptor, 0)
        os.pwrite(self._descriptor, str(os.getpid()).encode(), 0)

    def release(self) -> None:
        """Give it back. Doing so twice does nothing."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def set_aside(file: Path, companions: tuple[str, ...]) -> Path:
    """Rename a file to the first free `<name>.broken-<n>`, and the files that end in `companions` along with it.

    Nothing is ever overwritten. Returns the new path of the file.
    """
    number = 1
    while any(_renamed(file, number, ending).exists() for ending in ("", *companions)):
        number += 1
    # The file itself last: should we end in between, it is found broken again and follows under another number.
    for ending in (*companions, ""):
        beside = file.with_name(file.name + ending)
        if beside.exists():
            beside.rename(_renamed(file, number, ending))
    return _renamed(file, number, "")


def _renamed(file: Path, number: int, ending: str) -> Path:
    return file.with_name(f"{file.name}.broken-{number}{ending}")
