"""The app as one call of a tool gets it. Owns the revision that the call is based on, and the group of its steps.

Reads go through as they are. On a revision, each change is made on the one before it, so the first one checks what the
caller named, and the later ones that nobody came in between.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar

from engine.engine import EngineCommand
from engine.files import WorkspaceFiles
from engine.shell import ShellCommand, ShellResult
from engine.view import View, ViewRequest
from engine.world import Command, HistoryMove
from presets.app import App, Done
from presets.context import ContextSnapshot, FactValue
from presets.readings import Readings
from presets.unit_shop import UnitShop

ResultT = TypeVar("ResultT")


class ExecutingApp(App, Protocol):
    """An app that can make a change on a revision. Both apps of the project are."""

    async def execute_on(
        self, command: Command[ResultT] | EngineCommand[ResultT], base_revision: int | None, step_group: str | None
    ) -> Done[ResultT]:
        """`App.execute` in that group, refused with `StaleError` when the world is not at `base_revision`."""
        ...

    async def undo_on(self, base_revision: int | None) -> Done[HistoryMove]:
        """`App.undo`, refused as `execute_on`."""
        ...

    async def redo_on(self, base_revision: int | None) -> Done[HistoryMove]:
        """`App.redo`, refused as `execute_on`."""
        ...


class BoundApp:
    """`App` for one call; see `App.bound`."""

    def __init__(self, app: ExecutingApp, base_revision: int | None, step_group: str | None) -> None:
        self._app = app
        self._revision = base_revision
        self._group = step_group

    @property
    def files(self) -> WorkspaceFiles:
        """See `App`."""
        return self._app.files

    @property
    def units(self) -> UnitShop:
        """See `App`."""
        return self._app.units

    @property
    def readings(self) -> Readings:
        """See `App`."""
        return self._app.readings

    def touch(self, uri: str) -> None:
        """See `App`."""
        self._app.touch(uri)

    def bound(self, *, base_revision: int | None = None, step_group: str | None = None) -> App:
        """See `App`. What is not said anew stays as it is."""
        revision = self._revision if base_revision is None else base_revision
        return BoundApp(self._app, revision, self._group if step_group is None else step_group)

    async def execute(self, command: Command[ResultT] | EngineCommand[ResultT]) -> Done[ResultT]:
        """See `App`."""
        return self._moved(await self._app.execute_on(command, self._revision, self._group))

    async def undo(self) -> Done[HistoryMove]:
        """See `App`."""
        return self._moved(await self._app.undo_on(self._revision))

    async def redo(self) -> Done[HistoryMove]:
        """See `App`."""
        return self._moved(await self._app.redo_on(self._revision))

    async def get_context(self) -> ContextSnapshot:
        """See `App`."""
        return await self._app.get_context()

    async def patch_context(self, changes: Mapping[str, FactValue | None]) -> ContextSnapshot:
        """See `App`."""
        return await self._app.patch_context(changes)

    async def capture_view(self, request: ViewRequest) -> View:
        """See `App`."""
        return await self._app.capture_view(request)

    async def run_shell(self, command: ShellCommand) -> ShellResult:
        """See `App`."""
        return await self._app.run_shell(command)

    async def in_thread(self, function: Callable[[], ResultT]) -> ResultT:
        """See `App`."""
        return await self._app.in_thread(function)

    def _moved(self, done: Done[ResultT]) -> Done[ResultT]:
        if self._revision is not None:
            self._revision = done.revision
        return done
