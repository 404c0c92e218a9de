"""What passes between the engine and a store: the whole state one way, one commit after the other the other way.

Owns these values alone. The engine makes a `Commit` for each change and never looks at a store; a store writes commits
and never looks into a record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from engine.records import Change, Record
from engine.settings import Settings
from engine.world import Step, WorldContent


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredWorld:
    """One world as a store holds it. `position` counts the steps that are done; the rest can be done again."""

    id: str
    name: str
    created_at: datetime
    revision: int = 0
    records: Sequence[Record] = ()
    steps: Sequence[Step] = ()
    position: int = 0

    def content(self) -> WorldContent:
        """All that is in it."""
        return WorldContent(
            revision=self.revision, records=tuple(self.records), steps=tuple(self.steps), position=self.position
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredState:
    """Everything an engine starts from.

    `worlds` are in order of creation, at least one, among them the active one. `next_world_number` was never used for
    an id. `reports` tell a person, a sentence each, what the store could not read and where it put that.
    """

    settings: Settings
    next_world_number: int
    worlds: Sequence[StoredWorld]
    reports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldCommit:
    """What one command changed in one world.

    Steps from `drop_steps_from` on are gone (None: none are), before `step` is added.
    """

    world_id: str
    revision: int
    position: int
    changes: tuple[Change, ...]
    steps: tuple[Step, ...] = ()
    drop_steps_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldRows:
    """What is in a world, in the form in which a store holds it (JSON as of `engine.codec`).

    Records are collection, id and JSON; steps are sequence, label and the JSON of their changes.
    """

    records: tuple[tuple[str, str, str], ...] = ()
    steps: tuple[tuple[int, str, str], ...] = ()


NO_ROWS = WorldRows()
"""An empty world without a history."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldCreation:
    """A world that is new, with what is in it already."""

    id: str
    name: str
    created_at: datetime
    revision: int = 0
    position: int = 0
    rows: WorldRows = field(default=NO_ROWS, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldRecovery:
    """A deleted world that is there again, under this name. `revision` is the one that was read of it."""

    world_id: str
    name: str
    revision: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedWorld:
    """A world that is deleted and can still be brought back. Times are in UTC."""

    id: str
    name: str
    deleted_at: datetime
    recoverable_until: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedContent:
    """A deleted world as it lies in the store, not yet decoded."""

    world: DeletedWorld
    created_at: datetime
    revision: int
    position: int
    rows: WorldRows = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldDeletion:
    """A world that is deleted. A store keeps it for a while, so that it can be recovered."""

    world_id: str
    deleted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What one command changed, all of it to be written or none. Members that are None or empty have not changed."""

    settings: Settings | None = None
    next_world_number: int | None = None
    created: tuple[WorldCreation, ...] = ()
    deleted: tuple[WorldDeletion, ...] = ()
    recovered: tuple[WorldRecovery, ...] = ()
    world: WorldCommit | None = None

    @property
    def empty(self) -> bool:
        """Whether there is nothing to write."""
        return self == NOTHING


NOTHING = Commit()
"""The commit of a command that changed nothing."""


def fresh_state(now: datetime) -> StoredState:
    """The state of a data folder that was never used: one empty world, named `home`."""
    home = StoredWorld(id="world-1", name="home", created_at=now)
    return StoredState(settings=Settings(active_world_id=home.id), next_world_number=2, worlds=(home,))
