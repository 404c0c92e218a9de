"""Counts in a file of a unit, as another process does: `python -m tests.engine.units.folder_changer FOLDER TIMES`."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from engine.units.folder_lock import FolderLock


def main() -> None:
    """Read, wait a moment, write; each time with the folder locked."""
    folder, times = Path(sys.argv[1]), int(sys.argv[2])
    counter = folder / "counter"
    for _ in range(times):
        lock = FolderLock(folder)
        while not lock.take():
            time.sleep(0.001)
        number = int(counter.read_text())
        time.sleep(0.001)
        counter.write_text(str(number + 1))
        lock.release()


if __name__ == "__main__":
    main()
