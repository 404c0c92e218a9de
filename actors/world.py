"""The world actor: sole owner of the engine and its store; the engine's main thread.

A command is answered once it is durable. Rendering never happens here: `TakePicture` gives a frozen value to render
elsewhere. When the store refuses a commit, the engine is taken back and the asker hears why. Mailbox: the default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import islice
from typing import ClassVar, Generic, Protocol, TypeVar

import structlog
import trio

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.published import Published
from actors.world_keeping import ListDeletedWorlds, MendDeletedWorld, ReadDeletedWorld, TakenWorld, TakeWorld
from engine.domains import Domain, domain_on
from engine.engine import Engine, EngineCommand, EngineExecuted, EngineFacts, WorldInfo
from engine.marks import MOST_MARKS, Mark, PixelSize
from engine.settings import Settings
from engine.stored import Commit, DeletedContent, DeletedWorld, StoredWorld
from engine.view import Picture
from engine.world import Command, HistoryLabels, HistoryMove

ResultT = TypeVar("ResultT")

_log = structlog.stdlib.get_logger("worlds")


class CommitStore(Protocol):
    """Where commits become durable. Every method blocks and is called from one thread at a time."""

    def write(self, commit: Commit) -> None:
        """Write all of it or nothing. Raises `EngineError` when it cannot."""
        ...

    def deleted_worlds(self, now: datetime) -> tuple[DeletedWorld, ...]:
        """The deleted worlds that can be recovered at that time."""
        ...

    def read_deleted(self, world_id: str, now: datetime) -> DeletedContent:
        """A deleted world, not yet decoded. Raises `NotFoundError`."""
        ...

    def mend_deleted(self, world_id: str, now: datetime) -> tuple[StoredWorld, tuple[str, ...]]:
        """A deleted world without what cannot be decoded, and reports of that. Raises `NotFoundError`."""
        ...

    def close(self) -> None:
        """Give the file back. Called once."""
        ...


@dataclass(frozen=True, slots=True)
class WorldDone(Generic[ResultT]):
    """The result of a command, and the facts of the engine after it."""

    result: ResultT
    revision: int
    changed: bool
    facts: EngineFacts


@dataclass(frozen=True, slots=True)
class Execute(Message[WorldDone[ResultT]], Generic[ResultT]):
    """Run one command, whole or not at all. Raises `StaleError` when the world is not at `base_revision`."""

    command: Command[ResultT] | EngineCommand[ResultT]
    base_revision: int | None = None
    step_group: str | None = None


@dataclass(frozen=True, slots=True)
class MergedInWorlds:
    """What became of the steps of a group: `steps` were made in `worlds`, and are `pieces` of the histories now.

    There are as many pieces as worlds, unless steps of others stay between those of the group.
    """

    steps: int = 0
    pieces: int = 0
    worlds: int = 0


@dataclass(frozen=True, slots=True)
class MergeSteps(Message[MergedInWorlds]):
    """Make one step of those that were made under a group, in each world that has any.

    Raises `StoreError` with those of a world that could not be written left as they were.
    """

    step_group: str
    label: str


@dataclass(frozen=True, slots=True)
class Undo(Message[WorldDone[HistoryMove]]):
    """Take back the last step of the active world. Raises as `Execute`."""

    base_revision: int | None = None


@dataclass(frozen=True, slots=True)
class Redo(Message[WorldDone[HistoryMove]]):
    """Do again the step that was undone last. Raises as `Execute`."""

    base_revision: int | None = None


@dataclass(frozen=True, slots=True)
class PictureKey:
    """What decides how a picture of a world looks, beside its size: two with the same key and size are the same."""

    world_id: str
    revision: int
    domain: str
    theme: str


@dataclass(frozen=True, slots=True)
class TakenPicture:
    """One surface of the active world as it is, for whoever renders it."""

    picture: Picture
    surface: str
    world: WorldInfo
    settings: Settings
    domain: str

    @property
    def key(self) -> PictureKey:
        """What this picture, rendered, depends on beside its size."""
        return PictureKey(self.world.id, self.world.revision, self.domain, self.settings.theme)


@dataclass(frozen=True, slots=True)
class TakePicture(Message[TakenPicture]):
    """Give a surface of the active world as a frozen value; taken once for each revision.

    Raises `ConflictError` for a surface that shows nothing.
    """

    surface: str
    activity: str | None = None


@dataclass(frozen=True, slots=True)
class TakenMarks:
    """Where changes of the active world are seen on one surface, the newest first.

    `complete` is false where it is not known what changed, or where more was changed than is marked.
    """

    marks: tuple[Mark, ...]
    complete: bool
    surface: str
    world: WorldInfo


@dataclass(frozen=True, slots=True)
class TakeMarks(Message[TakenMarks]):
    """Say where that which was changed after revision `since` is seen; see `Domain.marks`.

    Raises `ConflictError` for a surface that shows nothing.
    """

    surface: str
    activity: str | None
    since: int
    size: PixelSize | None = None


@dataclass(frozen=True, slots=True)
class WorldHistory:
    """What can be undone and redone in the active world, by name, the next step first."""

    labels: HistoryLabels
    world: WorldInfo


@dataclass(frozen=True, slots=True)
class ReadHistory(Message[WorldHistory]):
    """Give up to so many steps in each direction."""

    limit: int


@dataclass(frozen=True, slots=True)
class WorldStatus:
    """The engine at a glance."""

    active_world: WorldInfo
    worlds: tuple[WorldInfo, ...]
    undo_count: int
    redo_count: int
    theme: str


class WorldActor(Actor[Engine]):
    """Owns the engine (which is whole or not at all by itself) and the store. Closes the store when it ends."""

    name: ClassVar[str] = "world"
    rank: ClassVar[int] = ranks.WORLD

    def __init__(self, engine: Engine, store: CommitStore) -> None:
        super().__init__(engine)
        self._store = store
        self._last_picture: tuple[tuple[str, int, str], Picture] | None = None
        self.facts: Published[EngineFacts] = Published(engine.facts())
        self.status: Published[WorldStatus] = Published(self._status())

    @handles(Execute)
    async def _execute(self, message: Execute[object]) -> WorldDone[object]:
        return await self._do(
            lambda: self.state.execute(
                message.command, base_revision=message.base_revision, step_group=message.step_group
            )
        )

    @handles(MergeSteps)
    async def _merge_steps(self, message: MergeSteps) -> MergedInWorlds:
        steps = pieces = worlds = 0
        for world_id in self.state.close_group(message.step_group):
            merged = await self._do(partial(self.state.merge_steps, world_id, message.step_group, message.label))
            steps += merged.result.steps
            pieces += merged.result.pieces
            worlds += merged.result.pieces > 0
        return MergedInWorlds(steps, pieces, worlds)

    @handles(Undo)
    async def _undo(self, message: Undo) -> WorldDone[HistoryMove]:
        return await self._do(lambda: self.state.undo(base_revision=message.base_revision))

    @handles(Redo)
    async def _redo(self, message: Redo) -> WorldDone[HistoryMove]:
        return await self._do(lambda: self.state.redo(base_revision=message.base_revision))

    @handles(TakePicture)
    async def _take_picture(self, message: TakePicture) -> TakenPicture:
        engine = self.state
        domain = domain_on(message.surface, message.activity)
        world = self._active_world()
        key = (world.id, world.revision, domain.name)
        if self._last_picture is None or self._last_picture[0] != key:
            self._last_picture = (key, await self._beside(lambda: domain.picture(engine.active_world.read())))
        return TakenPicture(self._last_picture[1], domain.surface, world, engine.settings, domain.name)

    @handles(TakeMarks)
    async def _take_marks(self, message: TakeMarks) -> TakenMarks:
        domain = domain_on(message.surface, message.activity)
        found = await self._beside(partial(self._marks, domain, message))
        complete = found is not None and len(found) <= MOST_MARKS
        return TakenMarks(tuple(found or ())[:MOST_MARKS], complete, domain.surface, self._active_world())

    @handles(ReadHistory)
    async def _read_history(self, message: ReadHistory) -> WorldHistory:
        return WorldHistory(self.state.active_world.history(message.limit), self._active_world())

    @handles(TakeWorld)
    async def _take_world(self, message: TakeWorld) -> TakenWorld:
        return TakenWorld(self.state.world(message.world_id), self.state.content_of(message.world_id))

    @handles(ListDeletedWorlds)
    async def _list_deleted(self, message: ListDeletedWorlds) -> tuple[DeletedWorld, ...]:
        return await trio.to_thread.run_sync(self._store.deleted_worlds, self.state.now)

    @handles(ReadDeletedWorld)
    async def _read_deleted(self, message: ReadDeletedWorld) -> DeletedContent:
        return await trio.to_thread.run_sync(self._store.read_deleted, message.world_id, self.state.now)

    @handles(MendDeletedWorld)
    async def _mend_deleted(self, message: MendDeletedWorld) -> StoredWorld:
        world, reports = await trio.to_thread.run_sync(self._store.mend_deleted, message.world_id, self.state.now)
        for report in reports:
            _log.error("store_report", report=report)
        return world

    async def release(self) -> None:
        """Close the store; every acknowledged change is in it already."""
        self._store.close()

    async def _do(self, step: Callable[[], EngineExecuted[ResultT]]) -> WorldDone[ResultT]:
        executed, facts, status = await self._beside(lambda: self._execute_and_write(step))
        if executed.changed:
            self.facts.publish(facts)
            self.status.publish(status)
        return WorldDone(executed.result, executed.revision, executed.changed, self.facts.value)

    async def _beside(self, work: Callable[[], ResultT]) -> ResultT:
        """Run work on the engine in a thread: a step may take seconds in a large world, and the event loop goes on.

        The engine has one owner all the same, since this actor waits. Shielded, because a step must not go on in a
        thread after its actor has turned to the next one.
        """
        with trio.CancelScope(shield=True):
            return await trio.to_thread.run_sync(work)
        raise AssertionError("nothing cancels that scope")

    def _execute_and_write(
        self, step: Callable[[], EngineExecuted[ResultT]]
    ) -> tuple[EngineExecuted[ResultT], EngineFacts, WorldStatus]:
        executed = step()
        if executed.changed:
            try:
                self._store.write(executed.commit)
            except BaseException:
                # Whatever went wrong, memory and disk must not be apart.
                self.state.revert(executed)
                raise
        return executed, self.state.facts(), self._status()

    def _marks(self, domain: Domain, message: TakeMarks) -> list[Mark] | None:
        """The marks, one more than are given where there are more; None where it is not known what changed."""
        world = self.state.active_world
        changes = world.changes_since(message.since)
        if changes is None:
            return None
        return list(islice(domain.marks(world.read(), changes, message.size), MOST_MARKS + 1))

    def _active_world(self) -> WorldInfo:
        return next(world for world in self.state.worlds() if world.active)

    def _status(self) -> WorldStatus:
        world = self.state.active_world
        return WorldStatus(
            active_world=self._active_world(),
            worlds=self.state.worlds(),
            undo_count=world.undo_count,
            redo_count=world.redo_count,
            theme=self.state.settings.theme,
        )
