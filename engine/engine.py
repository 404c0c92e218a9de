"""The engine: the worlds, the settings, which world is active. Owns "a command is whole or not at all" above worlds.

Synchronous, with one owner, without I/O and without a clock of its own. What a store must write for a command stands in
the `EngineExecuted` that the command returns; when the store refuses it, `Engine.revert` takes the command back.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar, Generic, TypeVar

from engine import domains
from engine.errors import NotFoundError, StaleError
from engine.records import RecordTable
from engine.settings import Settings
from engine.stored import (
    NO_ROWS,
    NOTHING,
    Commit,
    StoredState,
    WorldCommit,
    WorldCreation,
    WorldDeletion,
    WorldRecovery,
    WorldRows,
)
from engine.world import Command, Executed, HistoryMove, MergedSteps, World, WorldContent

ResultT_co = TypeVar("ResultT_co", covariant=True)
ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldInfo:
    """What can be told of a world without looking into it."""

    id: str
    name: str
    active: bool
    revision: int
    created_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineFacts:
    """What the context takes from the engine.

    `serial` grows with everything that happens to the engine and never falls in the life of a process, so of two facts
    the one with the higher serial is the newer.
    """

    serial: int
    world_id: str
    selection_kind: str | None


class EngineCommand(Generic[ResultT_co]):
    """Something that can be asked of the set of worlds or the settings, and is no step of any world's history.

    Subclasses are frozen dataclasses whose fields are the arguments.
    """

    label: ClassVar[str]
    """What a log calls it, in words for a person: "create world"."""

    @abstractmethod
    def run(self, engine: EngineTransaction) -> ResultT_co:
        """Do it and say what came of it, as a frozen value. Raises `EngineError` when it is not possible."""


@dataclass(frozen=True, slots=True)
class _Entry:
    world: World
    created_at: datetime


@dataclass(frozen=True, slots=True)
class _State:
    """Everything but the content of the worlds, as one value: to go back is to hold the earlier one."""

    settings: Settings
    next_world_number: int
    entries: Mapping[str, _Entry]

    def info(self, entry: _Entry) -> WorldInfo:
        world = entry.world
        active = world.id == self.settings.active_world_id
        return WorldInfo(
            id=world.id, name=world.name, active=active, revision=world.revision, created_at=entry.created_at
        )


class EngineTransaction:
    """What an engine command may read and change. Nothing of it is real before the command has returned.

    Made by `Engine.execute`; a command gets it, works on it and forgets it.
    """

    def __init__(self, state: _State, now: datetime) -> None:
        self._state = state
        self._rows: dict[str, WorldRows] = {}
        self._recovered: set[str] = set()
        self.now = now
        """The time of this command, in UTC."""

    @property
    def settings(self) -> Settings:
        """The settings as they are now."""
        return self._state.settings

    def set_settings(self, settings: Settings) -> None:
        """Replace the settings. Raises `NotFoundError` when they name an active world that does not exist."""
        self.world(settings.active_world_id)
        self._state = replace(self._state, settings=settings)

    def worlds(self) -> tuple[WorldInfo, ...]:
        """Every world, in order of creation."""
        return tuple(self._state.info(entry) for entry in self._state.entries.values())

    def world(self, world_id: str) -> WorldInfo:
        """The world of that id. Raises `NotFoundError`, naming the worlds that exist."""
        entry = self._state.entries.get(world_id)
        if entry is None:
            known = ", ".join(f"{info.id} ({info.name})" for info in self.worlds())
            raise NotFoundError(f"No world has the id {world_id!r}. Worlds: {known}.")
        return self._state.info(entry)

    def add_world(self, name: str, content: WorldContent | None = None, rows: WorldRows = NO_ROWS) -> WorldInfo:
        """Add a world under an id that was never used, empty or with that content. It is not made active.

        `rows` are the same content as a store holds it.
        """
        number = self._state.next_world_number
        entry = _Entry(_world(f"world-{number}", name, content or WorldContent()), self.now)
        entries = {**self._state.entries, entry.world.id: entry}
        self._state = replace(self._state, next_world_number=number + 1, entries=entries)
        self._rows[entry.world.id] = rows
        return self._state.info(entry)

    def recover_world(self, world_id: str, name: str, created_at: datetime, content: WorldContent) -> WorldInfo:
        """Let a deleted world be there again, at its place in the order. Raises `ValueError` when it is there."""
        if world_id in self._state.entries:
            raise ValueError(f"world {world_id} is there already")
        entry = _Entry(_world(world_id, name, content), created_at)
        older = {key: each for key, each in self._state.entries.items() if _number(key) < _number(world_id)}
        self._state = replace(self._state, entries={**older, world_id: entry, **self._state.entries})
        self._recovered.add(world_id)
        return self._state.info(entry)

    def read(self, world_id: str) -> RecordTable:
        """The records of a world, for reading only, within the command. Raises `NotFoundError` as `world`."""
        self.world(world_id)
        return self._state.entries[world_id].world.read()

    def remove_world(self, world_id: str) -> None:
        """Take a world away. Raises `ValueError` for the active one, since one world is always active."""
        if world_id == self.settings.active_world_id:
            raise ValueError(f"world {world_id} is active; make another one active before it is removed")
        entries = {key: entry for key, entry in self._state.entries.items() if key != world_id}
        self._state = replace(self._state, entries=entries)

    def end(self) -> _State:
        """The state that the command leaves. For the engine alone."""
        return self._state

    def commit(self, before: _State) -> Commit:
        """What a store must write to get from that state to the one that the command leaves. For the engine alone."""
        after = self._state
        entries = after.entries
        new = [world_id for world_id in entries if world_id not in before.entries]
        return Commit(
            settings=after.settings if after.settings != before.settings else None,
            next_world_number=after.next_world_number if after.next_world_number != before.next_world_number else None,
            created=tuple(self._creation(entries[world_id]) for world_id in new if world_id not in self._recovered),
            deleted=tuple(
                WorldDeletion(world_id=world_id, deleted_at=self.now)
                for world_id in before.entries
                if world_id not in entries
            ),
            recovered=tuple(
                WorldRecovery(
                    world_id=world_id, name=entries[world_id].world.name, revision=entries[world_id].world.revision
                )
                for world_id in new
                if world_id in self._recovered
            ),
        )

    def _creation(self, entry: _Entry) -> WorldCreation:
        world = entry.world
        return WorldCreation(
            id=world.id,
            name=world.name,
            created_at=entry.created_at,
            revision=world.revision,
            position=world.undo_count,
            rows=self._rows.get(world.id, NO_ROWS),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineExecuted(Generic[ResultT_co]):
    """What one command did: its result for the asker, and what a store must write before the asker hears of it.

    `revision` is that of the active world after the command.
    """

    result: ResultT_co
    revision: int
    commit: Commit
    serial: int
    previous: _State | None = field(default=None, repr=False)
    """For `Engine.revert`: the state before an engine command."""
    in_world: Executed[object] | None = field(default=None, repr=False)
    """For `Engine.revert`: what the world did that the commit names."""

    @property
    def changed(self) -> bool:
        """Whether anything is different from before."""
        return not self.commit.empty


class Engine:
    """The worlds and the settings. Whoever owns it calls it, one call at a time; others get results and facts."""

    def __init__(
        self,
        stored: StoredState,
        *,
        clock: Callable[[], datetime],
        selection_kind: Callable[[RecordTable, Settings], str | None] = domains.selection_kind,
    ) -> None:
        entries = {
            world.id: _Entry(_world(world.id, world.name, world.content()), world.created_at) for world in stored.worlds
        }
        if stored.settings.active_world_id not in entries:
            raise ValueError(f"the active world {stored.settings.active_world_id!r} is not among the stored worlds")
        self._state = _State(stored.settings, stored.next_world_number, entries)
        self._clock = clock
        self._selection_kind = selection_kind
        self._serial = 0
        # The worlds in which each open group has steps.
        self._open_groups: dict[str, dict[str, None]] = {}

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self._state.settings

    @property
    def active_world(self) -> World:
        """The world that world commands, undo and redo work on. For the owner, within its own step."""
        return self._state.entries[self._state.settings.active_world_id].world

    def worlds(self) -> tuple[WorldInfo, ...]:
        """Every world, in order of creation."""
        return tuple(self._state.info(entry) for entry in self._state.entries.values())

    @property
    def now(self) -> datetime:
        """The time by the engine's clock, in UTC."""
        return self._clock()

    def world(self, world_id: str) -> WorldInfo:
        """The world of that id. Raises `NotFoundError`, naming the worlds that exist."""
        return EngineTransaction(self._state, self.now).world(world_id)

    def content_of(self, world_id: str) -> WorldContent:
        """All that is in the world of that id, as a frozen value. Raises `NotFoundError` as `world`."""
        return self._state.entries[self.world(world_id).id].world.content()

    def facts(self) -> EngineFacts:
        """The facts as they are now."""
        world = self.active_world
        return EngineFacts(
            serial=self._serial, world_id=world.id, selection_kind=self._selection_kind(world.read(), self.settings)
        )

    def execute(
        self,
        command: Command[ResultT] | EngineCommand[ResultT],
        *,
        base_revision: int | None = None,
        step_group: str | None = None,
    ) -> EngineExecuted[ResultT]:
        """Run the command whole or not at all: on the active world, or on the set of worlds and the settings.

        A step that it makes belongs to that group, until `merge_steps` makes one step of it.
        Whatever the command raises goes to the caller, and everything is as it was. Raises `StaleError` when
        `base_revision` is given and is not the active world's.
        """
        self._check_base(base_revision)
        if isinstance(command, EngineCommand):
            return self._execute_here(command)
        executed = self.active_world.execute(command, group=step_group)
        if step_group is not None and executed.steps:
            self._open_groups.setdefault(step_group, {})[self.active_world.id] = None
        return self._executed_in_world(self.active_world, executed)

    def close_group(self, group: str) -> tuple[str, ...]:
        """Forget a group of steps. The result are the worlds in which it has any, for `merge_steps`."""
        return tuple(world_id for world_id in self._open_groups.pop(group, {}) if world_id in self._state.entries)

    def merge_steps(self, world_id: str, group: str, label: str) -> EngineExecuted[MergedSteps]:
        """Make one step of those of the group in a world; the result is what became of them. See `World.merge_steps`.

        Raises `KeyError` for a world that does not exist.
        """
        world = self._state.entries[world_id].world
        return self._executed_in_world(world, world.merge_steps(group, label))

    def undo(self, *, base_revision: int | None = None) -> EngineExecuted[HistoryMove]:
        """Take back the last step of the active world. Raises `ConflictError` when there is none; else as `execute`."""
        self._check_base(base_revision)
        return self._executed_in_world(self.active_world, self.active_world.undo())

    def redo(self, *, base_revision: int | None = None) -> EngineExecuted[HistoryMove]:
        """Do the step again that was undone last. Raises `ConflictError` when there is none; else as `execute`."""
        self._check_base(base_revision)
        return self._executed_in_world(self.active_world, self.active_world.redo())

    def revert(self, executed: EngineExecuted[ResultT]) -> None:
        """Be exactly as before `executed`, the last thing that was executed here, because a store refused it.

        Raises `ValueError` when something else came after it. Only `serial` goes on.
        """
        if executed.serial != self._serial:
            raise ValueError(
                f"the engine is at serial {self._serial}; serial {executed.serial} was not its last change"
            )
        if not executed.changed:
            return
        if executed.in_world is not None and executed.commit.world is not None:
            self._state.entries[executed.commit.world.world_id].world.revert(executed.in_world)
        if executed.previous is not None:
            self._state = executed.previous
        self._serial += 1

    def _check_base(self, base_revision: int | None) -> None:
        revision = self.active_world.revision
        if base_revision is not None and base_revision != revision:
            raise StaleError(base_revision, revision)

    def _execute_here(self, command: EngineCommand[ResultT]) -> EngineExecuted[ResultT]:
        before = self._state
        transaction = EngineTransaction(before, self._clock())
        result = command.run(transaction)
        after = transaction.end()
        commit = transaction.commit(before)
        if not commit.empty:
            self._state = after
            self._serial += 1
        return EngineExecuted(
            result=result, revision=self.active_world.revision, commit=commit, serial=self._serial, previous=before
        )

    def _executed_in_world(self, world: World, executed: Executed[ResultT]) -> EngineExecuted[ResultT]:
        commit = NOTHING
        if executed.revision != executed.previous_revision or executed.changed:
            self._serial += 1
            commit = Commit(
                world=WorldCommit(
                    world_id=world.id,
                    revision=executed.revision,
                    position=executed.position,
                    changes=executed.changes,
                    steps=executed.steps,
                    drop_steps_from=executed.discarded[0].sequence if executed.discarded else None,
                )
            )
        return EngineExecuted(
            result=executed.result,
            revision=executed.revision,
            commit=commit,
            serial=self._serial,
            in_world=executed,
        )


def _number(world_id: str) -> int:
    """Ids count up in order of creation."""
    digits = world_id.rpartition("-")[2]
    return int(digits) if digits.isdecimal() else 0


def _world(world_id: str, name: str, content: WorldContent) -> World:
    return World(
        world_id,
        name,
        revision=content.revision,
        records=content.records,
        steps=content.steps,
        position=content.position,
    )
