"""The processes below a process, wherever they have gone. Owns how they are found, and that none is another by then.

Found is what still has a living parent there: a daemon, whose parent has ended, belongs to nobody any more. Linux alone
tells who has started whom; elsewhere nothing is found.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

MAX_BELOW = 1000
"""Processes below one that are found; a server that has more is killed with its group as far as they are in it."""


def below(process: int) -> list[int]:
    """The ids of all processes below that one, those first that are nearest."""
    found = [process]
    for each in found:
        if len(found) > MAX_BELOW:
            break
        found += children(each)
    return found[1 : MAX_BELOW + 1]


def children(process: int) -> list[int]:
    """The ids of the processes that it has started, or was left, and that it has not waited for yet."""
    found: list[int] = []
    with suppress(OSError, ValueError):
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(OSError):
                found += map(int, Path(f"/proc/{process}/task/{thread}/children").read_text().split())
    return found


class ProcessesBelow:
    """What runs below a process at this moment, to be killed later. Whoever has made it calls `kill`, once."""

    def __init__(self, process: int) -> None:
        # A handle stays that of this process, also when it has ended and its number is another's.
        self._handles: list[int] = []
        for each in below(process):
            with suppress(OSError, AttributeError):  # it has ended, or the system has no handles
                self._handles.append(os.pidfd_open(each))

    def kill(self) -> None:
        """Kill those that still run, at once and without asking."""
        for handle in self._handles:
            with suppress(OSError):
                signal.pidfd_send_signal(handle, signal.SIGKILL)
            os.close(handle)
        self._handles.clear()
