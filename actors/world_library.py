"""Whole worlds out of the engine and into it: export, import, and bringing back what was deleted.

Owns the order of the long work: the world actor gives a frozen value, a thread works on it, and the actor takes the
result as one command. Called from the tasks of requests, never from inside an actor. Holds no state of the worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import IO, Protocol, TypeVar

import trio

from actors.world import WorldActor
from actors.world_keeping import ListDeletedWorlds, MendDeletedWorld, ReadDeletedWorld, TakeWorld
from engine import domains
from engine.codec import UndecodableError
from engine.engine import EngineCommand, WorldInfo
from engine.keeping import ImportWorld, RecoverWorld
from engine.store_loading import decoded
from engine.stored import DeletedContent, DeletedWorld, StoredWorld
from engine.world import WorldContent
from engine.world_file import WorldFile, read_world_file, write_world_file
from presets.app import Done

ResultT = TypeVar("ResultT")

WORLDS_AT_A_TIME = 1
"""Worlds that are packed, read or decoded at once: each takes a core for seconds, and many times its size of memory."""


@dataclass(frozen=True, slots=True)
class ExportedWorld:
    """A world and its file."""

    info: WorldInfo
    data: bytes = field(repr=False)


class _Executing(Protocol):
    async def execute(self, command: EngineCommand[ResultT]) -> Done[ResultT]: ...


class WorldLibrary:
    """Export, import and recovery over the world actor. `app` runs commands so that the context follows them.

    A caller that is cancelled while a thread works does not wait for it, and nothing has changed.
    """

    def __init__(self, app: _Executing, world: WorldActor) -> None:
        self._app = app
        self._world = world
        self._limiter = trio.CapacityLimiter(WORLDS_AT_A_TIME)

    async def export_world(self, world_id: str) -> ExportedWorld:
        """The file of a world as it is now. Raises `NotFoundError`, and as `write_world_file`."""
        taken = await self._world.ask(TakeWorld(world_id))
        data = await self._in_thread(partial(_written, taken.info.name, taken.content))
        return ExportedWorld(taken.info, data)

    async def import_world(self, file: IO[bytes], name: str | None = None) -> WorldInfo:
        """Make a world of a file, read from where it stands; return once it is durable. It is not made active.

        Without a name it gets that of the file, with a number where that is taken. Raises `WorldFileError`, and as
        `ImportWorld`.
        """
        read = await self._in_thread(partial(_read, file))
        return (await self._app.execute(ImportWorld(read, name))).result

    async def deleted_worlds(self) -> tuple[DeletedWorld, ...]:
        """The worlds that can be recovered, the one deleted last first."""
        return await self._world.ask(ListDeletedWorlds())

    async def recover_world(self, world_id: str, name: str | None = None) -> WorldInfo:
        """Bring a deleted world back under its id; return once that is durable. It is not made active.

        Without a name it gets its own, with a number where that is taken. Raises `NotFoundError`, and as
        `RecoverWorld`.
        """
        content = await self._world.ask(ReadDeletedWorld(world_id))
        stored = await self._in_thread(partial(_decoded, content))
        if stored is None:
            stored = await self._world.ask(MendDeletedWorld(world_id))
        return (await self._app.execute(RecoverWorld(stored, name))).result

    async def _in_thread(self, function: Callable[[], ResultT]) -> ResultT:
        return await trio.to_thread.run_sync(function, abandon_on_cancel=True, limiter=self._limiter)


def _written(name: str, content: WorldContent) -> bytes:
    return write_world_file(name, content, domains.world_codec())


def _read(file: IO[bytes]) -> WorldFile:
    return read_world_file(file, domains.world_codec(), domains.RULES)


def _decoded(content: DeletedContent) -> StoredWorld | None:
    """The world; None when a part of it needs mending."""
    try:
        return decoded(content, domains.world_codec())
    except UndecodableError:
        return None
