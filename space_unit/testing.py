"""What a unit's tests stand on: a call of a tool without an engine around it. Owns a small engine in memory.

The worlds are real, so state, drawing and undo do what they do in Space; nothing is kept, and there is no shell.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from typing import TypeVar

from engine.engine import Engine, EngineCommand, EngineExecuted
from engine.errors import ConflictError
from engine.files import WorkspaceFiles
from engine.shell import ShellCommand, ShellResult
from engine.stored import fresh_state
from engine.view import View, ViewRequest
from engine.world import Command, HistoryMove
from presets.app import App, Done
from presets.bound_app import BoundApp
from presets.context import ContextSnapshot, FactValue
from presets.readings import Readings
from presets.surface import coherent
from presets.unit_shop import UnitShop
from space_unit.call import Call

ResultT = TypeVar("ResultT")


class MemoryApp:
    """`App` over an engine in memory, for tests. `context` may be set."""

    def __init__(self) -> None:
        self.engine = Engine(fresh_state(datetime.now(UTC)), clock=lambda: datetime.now(UTC))
        self.context = ContextSnapshot(surface="canvas", canvas_visible=True, activity="drawing")

    @property
    def files(self) -> WorkspaceFiles:
        """There are none. Raises `ConflictError`."""
        raise ConflictError("a test of a unit has no workspace folder")

    @property
    def units(self) -> UnitShop:
        """There are none. Raises `ConflictError`."""
        raise ConflictError("a test of a unit has no other units")

    @property
    def readings(self) -> Readings:
        """There are none. Raises `ConflictError`."""
        raise ConflictError("a test of a unit reads nothing beyond its world")

    def touch(self, uri: str) -> None:
        """Nobody watches."""

    def bound(self, *, base_revision: int | None = None, step_group: str | None = None) -> App:
        """See `App`."""
        return BoundApp(self, base_revision, step_group)

    async def execute(self, command: Command[ResultT] | EngineCommand[ResultT]) -> Done[ResultT]:
        """See `App`."""
        return await self.execute_on(command, None, None)

    async def undo(self) -> Done[HistoryMove]:
        """See `App`."""
        return await self.undo_on(None)

    async def redo(self) -> Done[HistoryMove]:
        """See `App`."""
        return await self.redo_on(None)

    async def execute_on(
        self, command: Command[ResultT] | EngineCommand[ResultT], base_revision: int | None, step_group: str | None
    ) -> Done[ResultT]:
        """See `App`."""
        return _done(self.engine.execute(command, base_revision=base_revision, step_group=step_group))

    async def undo_on(self, base_revision: int | None) -> Done[HistoryMove]:
        """See `App`."""
        return _done(self.engine.undo(base_revision=base_revision))

    async def redo_on(self, base_revision: int | None) -> Done[HistoryMove]:
        """See `App`."""
        return _done(self.engine.redo(base_revision=base_revision))

    async def get_context(self) -> ContextSnapshot:
        """See `App`."""
        return self.context

    async def patch_context(self, changes: Mapping[str, FactValue | None]) -> ContextSnapshot:
        """See `App`."""
        self.context = self.context.patched(coherent(changes))
        return self.context

    async def capture_view(self, request: ViewRequest) -> View:
        """There is none. Raises `ConflictError`."""
        raise ConflictError("a test of a unit renders nothing")

    async def run_shell(self, command: ShellCommand) -> ShellResult:
        """There is none. Raises `ConflictError`."""
        raise ConflictError("a test of a unit has no shell")

    async def in_thread(self, function: Callable[[], ResultT]) -> ResultT:
        """Run it here; a test waits for nothing else."""
        return function()


class _SilentCall:
    step_group: str | None = None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """Nobody listens."""


def call_for_tests(app: App | None = None, *, unit: str = "tested", facts: Collection[str] = ()) -> Call:
    """A call to hand to a tool in a test. Its app is a `MemoryApp`, unless one is given; what it logs is printed."""
    return Call(unit, MemoryApp() if app is None else app, _SilentCall(), print, facts)


def _done(executed: EngineExecuted[ResultT]) -> Done[ResultT]:
    return Done(executed.result, executed.revision, executed.changed)
