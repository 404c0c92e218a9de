"""Plain functions of a unit, run beside the event loop, which they would hold up. Owns how many of them may hang."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from space_unit.unit_thread import UnitThread

ResultT = TypeVar("ResultT")

MOST_HANGING = 4
"""Threads of one load of a unit that were given up and cannot be ended. A unit with so many is broken, not slow."""


class HookThreads:
    """The threads of one load of a unit."""

    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._given_up: list[UnitThread[object]] = []

    async def run(self, function: Callable[[], ResultT]) -> ResultT:
        """Run the function in a thread. Cancelled, it is given up at once, and ended from outside where that can be.

        Raises what it raises, and `RuntimeError` where too many hang already.
        """
        self._given_up = [each for each in self._given_up if not each.ended.is_set()]
        if len(self._given_up) >= MOST_HANGING:
            raise RuntimeError(f"it was not called: {MOST_HANGING} calls hang in something that cannot be ended")
        thread = UnitThread(f"unit {self._unit}", function)
        try:
            return await thread.run()
        finally:
            if not thread.ended.is_set():
                self._given_up.append(thread)  # pyright: ignore[reportArgumentType]
