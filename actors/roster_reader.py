"""The roster as its folders say now, read again only where they have changed. Owns what was read last.

Reading takes some 20 ms, since it parses every file; looking whether it would give the same takes a tenth of one.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

from presets.agents.definition import COMPOSITION_FILE, METADATA_FILE
from presets.agents.roster import Roster

SETTLED_SECONDS = 2.0
"""A file that changed so shortly before it was read may change again without a trace: file systems keep coarse times,
the coarsest to two seconds. Such a reading is not relied upon."""

_Stamp = tuple[tuple[str, int, int, int], ...]
"""Path, time of change, size and inode of everything that is read."""


class RosterReader:
    """Reads the agents of two roots. Blocks: call it off the event loop, from one thread at a time."""

    def __init__(self, shipped_root: Path, user_root: Path | None) -> None:
        self._roots = (shipped_root, user_root)
        self._read: tuple[_Stamp, Roster] | None = None

    def read(self) -> Roster:
        """The roster now. The same object while nothing has changed."""
        # Before the reading: what changes during it is seen the next time.
        stamp = tuple(self._stamps())
        if self._read is not None and self._read[0] == stamp:
            return self._read[1]
        now = time.time_ns()
        roster = Roster.load(*self._roots)
        newest = max((changed for _, changed, _, _ in stamp), default=0)
        self._read = (stamp, roster) if now - newest > SETTLED_SECONDS * 1e9 else None
        return roster

    def _stamps(self) -> Iterator[tuple[str, int, int, int]]:
        for root in self._roots:
            if root is None:
                continue
            yield _stamp(root)
            try:
                folders = sorted(os.listdir(root))
            except OSError:
                continue
            for name in folders:
                for path in (root / name, root / name / COMPOSITION_FILE, root / name / METADATA_FILE):
                    yield _stamp(path)


def _stamp(path: Path) -> tuple[str, int, int, int]:
    try:
        found = path.stat()
    except OSError:
        return (str(path), 0, 0, 0)
    return (str(path), max(found.st_mtime_ns, found.st_ctime_ns), found.st_size, found.st_ino)
