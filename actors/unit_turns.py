"""Whose turn it is to change a unit: one at a time, in this process and among all that serve the same folder.

Owns the turns, which leave nothing behind. Touches no file of a unit.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import trio

from engine.errors import ConflictError
from engine.units.folder_lock import FolderLock

OTHERS_SECONDS = 30.0
"""How long it is waited for another process, which loads what it has changed before it lets others in."""

LOOK_SECONDS = 0.01
"""How often it is looked whether the other process is done: the system has no way to wait for it and be cancelled."""


@dataclass(slots=True)
class _Turns:
    """Who has a unit, and how many want it."""

    lock: trio.Lock = field(default_factory=trio.Lock)
    wanted: int = 0


class UnitTurns:
    """The turns of all units."""

    def __init__(self) -> None:
        self._turns: dict[str, _Turns] = {}

    @property
    def idle(self) -> bool:
        """Whether nobody has a turn or waits for one."""
        return not self._turns

    @asynccontextmanager
    async def of(self, unit: str) -> AsyncGenerator[None]:
        """Have the unit for the block, among the tasks of this process."""
        turns = self._turns.setdefault(unit, _Turns())
        turns.wanted += 1
        try:
            async with turns.lock:
                yield
        finally:
            turns.wanted -= 1
            if not turns.wanted:
                self._turns.pop(unit, None)


@asynccontextmanager
async def alone_in(folder: Path) -> AsyncGenerator[None]:
    """Have the unit's folder for the block, among all processes. Raises `ConflictError` when another keeps it."""
    lock = FolderLock(folder)
    until = trio.current_time() + OTHERS_SECONDS
    while not lock.take():
        if trio.current_time() > until:
            raise ConflictError(
                f"unit {folder.name!r} has been worked on by another process for {OTHERS_SECONDS:g} s, an engine or "
                "`space units serve` on the same folder; nothing was done. Try again later."
            )
        await trio.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        lock.release()
