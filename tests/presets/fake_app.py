"""An `App` over a real engine in memory, for tests of tools. What needs a process or a renderer has a hook instead."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from engine.engine import Engine, EngineCommand, EngineExecuted
from engine.files import WorkspaceFiles
from engine.shell import ShellCommand, ShellResult
from engine.stored import Commit, fresh_state
from engine.view import View, ViewRequest
from engine.world import Command, HistoryMove
from presets.adapters import ToolAdapter
from presets.app import App, Done
from presets.bound_app import BoundApp
from presets.context import ContextSnapshot, FactValue
from presets.interactions import UnattendedCall
from presets.readings import Readings
from presets.surface import coherent
from presets.unit_shop import UnitShop
from protocol.tool import JsonObject, ToolOutcome

ResultT = TypeVar("ResultT")

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

PICTURE = b"\x89PNG\r\n\x1a\n-not-really-"


async def _no_shell(command: ShellCommand) -> ShellResult:
    raise NotImplementedError(f"this test has no shell for {command}")


async def _no_view(request: ViewRequest) -> View:
    raise NotImplementedError(f"this test has no view for {request}")


class FakeApp:
    """The engine, without actors: what it executes is done at once, and the context follows it.

    `commits` are what a store would have been asked to write. `shell` and `view` are the hooks.
    """

    def __init__(self, workspace: Path | None = None) -> None:
        self.engine = Engine(fresh_state(NOW), clock=lambda: NOW)
        self.commits: list[Commit] = []
        self.context = ContextSnapshot(surface="canvas", canvas_visible=True, activity="drawing")
        self.shell: Callable[[ShellCommand], Awaitable[ShellResult]] = _no_shell
        self.view: Callable[[ViewRequest], Awaitable[View]] = _no_view
        self.unit_shop: UnitShop | None = None
        self.what_to_read: Readings | None = None
        self.touched: list[str] = []
        self._files = None if workspace is None else WorkspaceFiles(workspace)
        self._follow()

    @property
    def files(self) -> WorkspaceFiles:
        assert self._files is not None, "this test has no workspace folder"
        return self._files

    @property
    def units(self) -> UnitShop:
        assert self.unit_shop is not None, "this test has no units"
        return self.unit_shop

    @property
    def readings(self) -> Readings:
        assert self.what_to_read is not None, "this test has nothing to read"
        return self.what_to_read

    def touch(self, uri: str) -> None:
        self.touched.append(uri)

    def bound(self, *, base_revision: int | None = None, step_group: str | None = None) -> App:
        return BoundApp(self, base_revision, step_group)

    async def execute(self, command: Command[ResultT] | EngineCommand[ResultT]) -> Done[ResultT]:
        return await self.execute_on(command, None, None)

    async def undo(self) -> Done[HistoryMove]:
        return await self.undo_on(None)

    async def redo(self) -> Done[HistoryMove]:
        return await self.redo_on(None)

    async def execute_on(
        self, command: Command[ResultT] | EngineCommand[ResultT], base_revision: int | None, step_group: str | None
    ) -> Done[ResultT]:
        return self._done(self.engine.execute(command, base_revision=base_revision, step_group=step_group))

    async def undo_on(self, base_revision: int | None) -> Done[HistoryMove]:
        return self._done(self.engine.undo(base_revision=base_revision))

    async def redo_on(self, base_revision: int | None) -> Done[HistoryMove]:
        return self._done(self.engine.redo(base_revision=base_revision))

    async def get_context(self) -> ContextSnapshot:
        return self.context

    async def patch_context(self, changes: Mapping[str, FactValue | None]) -> ContextSnapshot:
        self.context = self.context.patched(coherent(changes))
        return self.context

    async def capture_view(self, request: ViewRequest) -> View:
        return await self.view(request)

    async def run_shell(self, command: ShellCommand) -> ShellResult:
        return await self.shell(command)

    async def in_thread(self, function: Callable[[], ResultT]) -> ResultT:
        return function()

    def _done(self, executed: EngineExecuted[ResultT]) -> Done[ResultT]:
        if executed.changed:
            self.commits.append(executed.commit)
        self._follow()
        return Done(executed.result, executed.revision, executed.changed)

    def _follow(self) -> None:
        facts = self.engine.facts()
        self.context = self.context.patched({"world_id": facts.world_id, "selection_kind": facts.selection_kind})


class SilentCall(UnattendedCall):
    """A call whose progress nobody listens to."""


async def call(app: App, adapters: tuple[ToolAdapter, ...], name: str, /, **arguments: object) -> ToolOutcome:
    """Call a tool by its MCP name, as the handler does after it has validated the arguments."""
    (adapter,) = [adapter for adapter in adapters if adapter.mcp_name == name]
    raw: JsonObject = arguments
    return await adapter.make_run(app)(raw, SilentCall())
