"""The process groups that run for this engine. Owns who is in it, so that an end in a hurry leaves none behind."""

from __future__ import annotations

import os
import signal
from collections.abc import Generator
from contextlib import contextmanager, suppress


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
        for leader in tuple(self._leaders):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(leader, signal.SIGKILL)
