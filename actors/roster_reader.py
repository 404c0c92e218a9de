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

_Entry = tuple[str, int, int, int, int]
_Stamp = tuple[_Entry, ...]
"""Path, both times of change, size and inode of everything that is read. Of what cannot be looked at, why not."""


class RosterReader:
    """Reads the agents of two roots. Blocks: call it off the event loop, from one thread at a time."""

    def __init__(self, shipped_root: Path, user_root: Path | None) -> None:
        self._roots = (shipped_root, user_root)
        self._read: tuple[_Stamp, Roster] | None = None

    def has_changed(self) -> bool:
        """Whether reading might give another roster than the last time. Looks at times and sizes alone."""
        return self._read is None or self._read[0] != tuple(self._stamps())

    def read(self) -> Roster:
        """The roster now. The same object while nothing has changed."""
        # Before the reading: what changes during it is seen the next time.
        stamp = tuple(self._stamps())
        if self._read is not None and self._read[0] == stamp:
            return self._read[1]
        now = time.time_ns()
        roster = Roster.load(*self._roots)
        # A time to come says nothing of when the file was changed.
        newest = max((changed for _, *times, _, _ in stamp for changed in times if changed <= now), default=0)
        self._read = (stamp, roster) if now - newest > SETTLED_SECONDS * 1e9 else None
        return roster

    def _stamps(self) -> Iterator[_Entry]:
        for root in self._roots:
            if root is None:
                continue
            yield _stamp(root)
            try:
                folders = sorted(os.listdir(root))
            except OSError as error:
                yield (str(root), 0, 0, 0, -(error.errno or 0))
                continue
            for name in folders:
                for path in (root / name, root / name / COMPOSITION_FILE, root / name / METADATA_FILE):
                    yield _stamp(path)


def _stamp(path: Path) -> _Entry:
    try:
        found = path.stat()
    except OSError as error:
        # A file that is missing is another thing than one that may not be looked at, or a link that leads to itself.
        return (str(path), 0, 0, 0, -(error.errno or 0))
    return (str(path), found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino)
