"""Keeps other processes from a unit's folder while one changes it. Owns that lock; never waits, and writes nothing.

The lock is of the folder itself (`flock`), so no file has to lie anywhere, and it goes with the process that holds it.
It binds those that ask for it: every engine and every unit server, but no editor.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class FolderLock:
    """The lock of one folder. Whoever has taken it calls `release`, which may be called anyway. All of it is short."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._descriptor: int | None = None

    def take(self) -> bool:
        """Take it; False while another process, or another lock of this one, has it. Not to be taken twice.

        True as well where nothing can be locked: a folder that is gone, or on a file system without such locks, as some
        of a network are.
        """
        try:
            descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        except OSError:
            os.close(descriptor)
            return True
        self._descriptor = descriptor
        return True

    @property
    def is_held(self) -> bool:
        """Whether it is really held: `take` lets everybody through where nothing can be locked."""
        return self._descriptor is not None

    def release(self) -> None:
        """Let others in."""
        descriptor, self._descriptor = self._descriptor, None
        if descriptor is not None:
            # Said as well, since a process that code of a unit has forked would hold the lock along with the file.
            fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)
