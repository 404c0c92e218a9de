"""The running engine as a tool sees it. Owns nothing: it sends messages to actors, and runs what is long beside them.

Implements `presets.app.App`. Called from the tasks of calls, never from inside an actor.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

import trio

from actors.context import ContextActor, FollowEngine, PatchContext
from actors.process import run_shell
from actors.process_groups import ProcessGroups
from actors.renderer import find_renderer
from actors.resource_changes import ResourceChanges
from actors.world import (
    Execute,
    PictureKey,
    ReadHistory,
    Redo,
    TakeMarks,
    TakenMarks,
    TakenPicture,
    TakePicture,
    Undo,
    WorldActor,
    WorldDone,
    WorldHistory,
)
from engine.domains import domain_on
from engine.engine import EngineCommand
from engine.errors import ConflictError
from engine.files import WorkspaceFiles
from engine.marks import PixelSize
from engine.shell import ShellCommand, ShellResult
from engine.theme import THEMES
from engine.view import Solid, View, ViewRequest
from engine.world import Command, HistoryMove
from presets.app import App, Done
from presets.bound_app import BoundApp
from presets.context import ContextSnapshot, FactValue
from presets.readings import Readings
from presets.surface import SCENE
from presets.unit_shop import UnitShop

ResultT = TypeVar("ResultT")
FileT = TypeVar("FileT")

SECRET_VARIABLES = frozenset({"SPACE_TOKEN"})
"""What the engine's own environment keeps from shell commands."""


@dataclass(frozen=True, slots=True)
class PictureFile(Generic[FileT]):
    """A picture as a file, and what it depends on."""

    file: FileT
    key: PictureKey


class _Actors(Protocol):
    """What the app reaches; given after the app itself was made, since the actors take the app."""

    context: ContextActor
    world: WorldActor

    @property
    def readings(self) -> Readings: ...

    @property
    def changes(self) -> ResourceChanges: ...

    @property
    def units(self) -> UnitShop: ...


class RunningApp:
    """`App` over the actors. `connect` must be called once, before the first call of a tool."""

    def __init__(self, workspace: Path, data: Path | None = None, unit_roots: Sequence[Path] = ()) -> None:
        self._workspace = workspace
        self._files = WorkspaceFiles(workspace, data, unit_roots)
        self.process_groups = ProcessGroups()
        """What shell commands run in now."""
        self._actors: _Actors | None = None

    def connect(self, actors: _Actors) -> None:
        """Say which actors serve this app."""
        self._actors = actors

    @property
    def files(self) -> WorkspaceFiles:
        """See `App`."""
        return self._files

    @property
    def units(self) -> UnitShop:
        """See `App`."""
        return self._reach().units

    @property
    def readings(self) -> Readings:
        """See `App`."""
        return self._reach().readings

    def touch(self, uri: str) -> None:
        """See `App`."""
        self._reach().changes.touch(uri)

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
        """See `ExecutingApp`."""
        return await self._followed(await self._reach().world.ask(Execute(command, base_revision, step_group)))

    async def undo_on(self, base_revision: int | None) -> Done[HistoryMove]:
        """See `ExecutingApp`."""
        return await self._followed(await self._reach().world.ask(Undo(base_revision)))

    async def redo_on(self, base_revision: int | None) -> Done[HistoryMove]:
        """See `ExecutingApp`."""
        return await self._followed(await self._reach().world.ask(Redo(base_revision)))

    async def get_context(self) -> ContextSnapshot:
        """See `App`."""
        return self._reach().context.view.value.context

    async def patch_context(self, changes: Mapping[str, FactValue | None]) -> ContextSnapshot:
        """See `App`."""
        return (await self._reach().context.ask(PatchContext(changes))).context

    async def capture_view(self, request: ViewRequest) -> View:
        """See `App`. Raises `ConflictError` for a surface that shows nothing."""
        return (await self.capture_png(request)).file

    async def capture_png(self, request: ViewRequest) -> PictureFile[View]:
        """`capture_view`, and what the picture depends on."""
        taken = await self._take_picture(request.surface)
        if taken.surface == SCENE:
            # Beforehand, since a thread that nobody waits for any more would leave the process of the try behind.
            await find_renderer()
        theme = THEMES[taken.settings.theme]
        rendered = await self.in_thread(partial(taken.picture.png, request, theme))
        view = View(
            png=rendered.png,
            width=rendered.width,
            height=rendered.height,
            surface=taken.surface,
            world_id=taken.world.id,
            revision=taken.world.revision,
            box=rendered.box,
        )
        return PictureFile(view, taken.key)

    async def render_svg(self, surface: str | None = None) -> str:
        """The current surface, or that one, as an SVG document. Raises `ConflictError` as `capture_view` does."""
        return (await self.capture_svg(surface)).file

    async def capture_svg(self, surface: str | None = None) -> PictureFile[str]:
        """`render_svg`, and what the picture depends on."""
        taken = await self._take_picture(surface)
        return PictureFile(await self.in_thread(partial(taken.picture.svg, THEMES[taken.settings.theme])), taken.key)

    async def capture_glb(self, surface: str | None = None) -> PictureFile[bytes]:
        """The current surface, or that one, as a binary glTF file. Raises `ConflictError` for one without a shape."""
        taken = await self._take_picture(surface)
        if not isinstance(taken.picture, Solid):
            raise ConflictError(f"surface {taken.surface!r} has no shape in space; the scene has one: ?surface=scene")
        return PictureFile(await self.in_thread(taken.picture.glb), taken.key)

    def picture_key(self, surface: str | None = None) -> PictureKey:
        """The key of a picture that is taken now, without asking for one. Raises `ConflictError` as `capture_view`."""
        context, status = self._reach().context.view.value.context, self._reach().world.status.value
        domain = domain_on(context.surface if surface is None else surface, context.activity)
        world = status.active_world
        return PictureKey(world.id, world.revision, domain.name, status.theme)

    async def take_marks(self, since: int, surface: str | None = None, size: PixelSize | None = None) -> TakenMarks:
        """Where what was changed after that revision is seen on the current surface or on that one; see `TakeMarks`."""
        context = await self.get_context()
        wanted = context.surface if surface is None else surface
        return await self._reach().world.ask(TakeMarks(wanted, context.activity, since, size))

    async def read_history(self, limit: int) -> WorldHistory:
        """Up to so many steps that can be undone, and redone, in the active world."""
        return await self._reach().world.ask(ReadHistory(limit))

    async def run_shell(self, command: ShellCommand) -> ShellResult:
        """See `App`."""
        return await run_shell(command, self._workspace, self.shell_environment(), self.process_groups)

    def shell_environment(self) -> dict[str, str]:
        """What processes find in their environment: the engine's own, less what is secret."""
        return {name: value for name, value in os.environ.items() if name not in SECRET_VARIABLES}

    async def in_thread(self, function: Callable[[], ResultT]) -> ResultT:
        """See `App`. A caller that is cancelled does not wait for the thread; what it gives is thrown away."""
        return await trio.to_thread.run_sync(function, abandon_on_cancel=True)

    async def _take_picture(self, surface: str | None) -> TakenPicture:
        context = await self.get_context()
        wanted = context.surface if surface is None else surface
        return await self._reach().world.ask(TakePicture(wanted, context.activity))

    async def _followed(self, done: WorldDone[ResultT]) -> Done[ResultT]:
        """Return once the context shows what the command changed of it."""
        context = self._reach().context
        known = context.view.value.context
        facts = done.facts
        if (facts.world_id, facts.selection_kind) != (known.world_id, known.selection_kind):
            await context.ask(FollowEngine(facts))
        return Done(done.result, done.revision, done.changed)

    def _reach(self) -> _Actors:
        if self._actors is None:
            raise RuntimeError("the app is used before the engine has started")
        return self._actors
