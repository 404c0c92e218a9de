"""What the body of a tool may ask of the running engine. Owns the protocol `App` alone; the actors implement it.

Tools get an `App` at call time and nothing else, so presets import the engine and never the actors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from engine.engine import EngineCommand
from engine.files import WorkspaceFiles
from engine.shell import ShellCommand, ShellResult
from engine.view import View, ViewRequest
from engine.world import Command, HistoryMove
from presets.context import ContextSnapshot, FactValue
from presets.readings import Readings
from presets.unit_shop import UnitShop

ResultT = TypeVar("ResultT")
ResultT_co = TypeVar("ResultT_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Done(Generic[ResultT_co]):
    """The result of a command, and the revision of the active world after it."""

    result: ResultT_co
    revision: int
    changed: bool


class App(Protocol):
    """The running engine as a tool sees it. Every method raises `EngineError` for what the engine refuses."""

    @property
    def files(self) -> WorkspaceFiles:
        """The workspace folder. Its methods are synchronous: call them through `in_thread`."""
        ...

    @property
    def units(self) -> UnitShop:
        """The units that extend the engine."""
        ...

    @property
    def readings(self) -> Readings:
        """What there is to read of the engine beyond what commands tell."""
        ...

    def touch(self, uri: str) -> None:
        """Say that the resource of that uri has changed: whoever watches it is told. Returns at once.

        For what follows no source (`ResourceAdapter.follows`). Where nobody watches it, nothing happens.
        """
        ...

    def bound(self, *, base_revision: int | None = None, step_group: str | None = None) -> App:
        """The same engine for one call of a tool.

        With a base revision, `execute`, `undo` and `redo` refuse when the world is not at it; after the first change of
        its own it follows the world, so that a tool may change it in several steps. With a group, the steps of its
        changes are part of that group (`ToolCall.step_group`).
        """
        ...

    async def execute(self, command: Command[ResultT] | EngineCommand[ResultT]) -> Done[ResultT]:
        """Run one command, whole or not at all, and return once it is durable and the context has followed it."""
        ...

    async def undo(self) -> Done[HistoryMove]:
        """Take back the last step of the active world."""
        ...

    async def redo(self) -> Done[HistoryMove]:
        """Do again the step that was undone last."""
        ...

    async def get_context(self) -> ContextSnapshot:
        """The live context."""
        ...

    async def patch_context(self, changes: Mapping[str, FactValue | None]) -> ContextSnapshot:
        """Change facts of the live context as a user would; None takes a fact away.

        When it returns, the tool list already shows the new context.
        """
        ...

    async def capture_view(self, request: ViewRequest) -> View:
        """Render the current surface. Works on a snapshot, off the world's own task."""
        ...

    async def run_shell(self, command: ShellCommand) -> ShellResult:
        """Run a shell command in the workspace folder under its limits; cancelling kills its process group."""
        ...

    async def in_thread(self, function: Callable[[], ResultT]) -> ResultT:
        """Run something that blocks, off the event loop."""
        ...
