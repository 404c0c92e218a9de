"""What the world actor is asked about whole worlds beside the active one: to be exported, listed, brought back.

Owns these messages alone. Their replies are frozen; whoever gets one does the long work on it, away from the actor.
"""

from __future__ import annotations

from dataclasses import dataclass

from actors.actor import Message
from engine.engine import WorldInfo
from engine.stored import DeletedContent, DeletedWorld, StoredWorld
from engine.world import WorldContent


@dataclass(frozen=True, slots=True)
class TakenWorld:
    """A world as it is, with all that is in it."""

    info: WorldInfo
    content: WorldContent


@dataclass(frozen=True, slots=True)
class TakeWorld(Message[TakenWorld]):
    """Give a world, active or not, as a frozen value. Raises `NotFoundError`."""

    world_id: str


@dataclass(frozen=True, slots=True)
class ListDeletedWorlds(Message[tuple[DeletedWorld, ...]]):
    """The worlds that can be recovered, the one deleted last first."""


@dataclass(frozen=True, slots=True)
class ReadDeletedWorld(Message[DeletedContent]):
    """A deleted world as it lies in the store. Raises `NotFoundError`."""

    world_id: str


@dataclass(frozen=True, slots=True)
class MendDeletedWorld(Message[StoredWorld]):
    """A deleted world of which a part cannot be decoded: that part is set aside and the log says so.

    Raises `NotFoundError`. Decodes within the step, since what it finds it writes; damage is rare.
    """

    world_id: str
