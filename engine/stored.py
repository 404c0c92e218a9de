"""What passes between the engine and a store: the whole state one way, one commit after the other the other way.

Owns these values alone. The engine makes a `Commit` for each change and never looks at a store; a store writes commits
and never looks into a record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from engine.records import Change, Record
from engine.settings import Settings
from engine.world import Step


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
    step: Step | None = None
    drop_steps_from: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldDeletion:
    """A world that is deleted. A store keeps it for a while, so that it can be brought back by hand."""

    world_id: str
    deleted_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Commit:
    """What one command changed, all of it to be written or none. Members that are None or empty have not changed."""

    settings: Settings | None = None
    next_world_number: int | None = None
    created: tuple[StoredWorld, ...] = ()
    deleted: tuple[WorldDeletion, ...] = ()
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
