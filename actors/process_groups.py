"""The process groups that run for this engine. Owns who is in it, so that an end in a hurry leaves none behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_THREADS = Path("/proc/self/task")
"""Where Linux lists the children of each thread; elsewhere there is no such list."""


class ProcessGroups:
    """Groups by the id of their leader. `kill` may be called from any thread."""

    def __init__(self) -> None:
        self._leaders: set[int] = set()

    @contextmanager
    def holding(self, leader: int) -> Generator[None]:
        """Know of that group during the block, whose end must leave nothing of it."""
        self._leaders.add(leader)
        try:
            yield
        finally:
            self._leaders.discard(leader)

    def kill(self) -> None:
        """Kill every group, at once and without asking. For when the engine itself ends without waiting."""
        # A shell that was started a moment ago is known to the system, and not yet here.
        for leader in {*self._leaders, *_children_that_lead()}:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)


def _children_that_lead() -> Iterator[int]:
    """The children of this process that lead a group of their own, as every shell command does."""
    for listed in _THREADS.glob("*/children"):
        with suppress(OSError, ValueError):
            for child in map(int, listed.read_text().split()):
                with suppress(ProcessLookupError):
                    if os.getpgid(child) == child:
                        yield child
