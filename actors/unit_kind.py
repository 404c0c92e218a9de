"""A kind of unit: who loads units whose manifest names it. Owns that protocol, and what a load that fails says.

Python is one kind (`actors.python_units`). Another kind has a name, loads a source into a `Contribution`, and gives
everything back when the unit is retired; it joins the list that the engine is made with, and nothing else changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import ClassVar, Protocol

import trio

from engine.errors import EngineError
from engine.units.source import UnitSource
from space_unit.contribution import Contribution

LOAD_SECONDS = 10.0
"""How long a unit may take to load. It is code or a server of the user's own machine, and somebody waits for it."""


class UnitLoadError(EngineError):
    """Raised when a unit cannot be loaded. The text is a line or two, `report` all there is to say, as a traceback."""

    def __init__(self, said: str, report: str | None = None) -> None:
        super().__init__(said)
        self.report = said if report is None else report


class LoadedUnit(Protocol):
    """A unit that was loaded, whether or not it serves yet. Used from the event loop alone."""

    @property
    def contribution(self) -> Contribution:
        """What it contributes. The same value for as long as the unit is loaded."""
        ...

    def retire(self) -> None:
        """No new calls will come: give everything back once those in flight have ended. Returns at once; once."""
        ...


@dataclass(frozen=True, slots=True)
class UnitHost:
    """What a loader may do for one unit, also later, from tasks of its kind. `log` writes into the unit's log."""

    log: Callable[[str], None]
    replace: Callable[[LoadedUnit, LoadedUnit], Awaitable[None]]
    """Let the second load serve in the place of the first, which is retired: for tools that change by themselves.

    Raises `ConflictError` when the first does not serve (any more), and `EngineError` for what cannot be registered.
    """


class UnitKind(Protocol):
    """Loads the units of one kind."""

    name: ClassVar[str]
    """What `kind` in a manifest says."""

    async def load(self, source: UnitSource, host: UnitHost) -> LoadedUnit:
        """Load a unit, in `LOAD_SECONDS` at most. Raises `UnitLoadError` with nothing of it left."""
        ...

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Be there for as long as the engine runs; tasks of loaded units live in here. Ended by cancelling."""
        ...
