"""The commands that bring a whole world in: out of a world file, or back from the deleted ones. Owns their rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from engine.commands import check_room
from engine.engine import EngineCommand, EngineTransaction, WorldInfo
from engine.errors import ConflictError
from engine.stored import StoredWorld
from engine.world_file import WorldFile
from engine.world_name import check_free, check_world_name, free_name


@dataclass(frozen=True, slots=True)
class ImportWorld(EngineCommand[WorldInfo]):
    """Make a world of a world file, history included. It gets a new id and is not made active.

    Without a name it gets that of the file, with a number where that is taken. Raises `InvalidArgumentError` and
    `ConflictError` for a given name and beyond `MAX_WORLDS`, as `CreateWorld` does.
    """

    label: ClassVar[str] = "import world"
    file: WorldFile
    name: str | None = None

    def run(self, engine: EngineTransaction) -> WorldInfo:
        """See the class."""
        name = _name(engine, self.name, self.file.name)
        return engine.add_world(name, self.file.content, self.file.rows)


@dataclass(frozen=True, slots=True)
class RecoverWorld(EngineCommand[WorldInfo]):
    """Bring a deleted world back under its id, with everything in it. It is not made active.

    `world` is what the store keeps of it. Without a name it gets its own, with a number where that is taken. Raises
    `ConflictError` when it is there already, else as `ImportWorld`.
    """

    label: ClassVar[str] = "recover world"
    world: StoredWorld = field(repr=False)
    name: str | None = None

    def run(self, engine: EngineTransaction) -> WorldInfo:
        """See the class."""
        world = self.world
        if any(info.id == world.id for info in engine.worlds()):
            raise ConflictError(f"The world {world.id} is not deleted; it is there already.")
        name = _name(engine, self.name, world.name)
        return engine.recover_world(world.id, name, world.created_at, world.content())


def _name(engine: EngineTransaction, given: str | None, own: str) -> str:
    worlds = engine.worlds()
    check_room(worlds)
    taken = {world.name: world.id for world in worlds}
    if given is None:
        return free_name(own, taken)
    check_world_name(given)
    check_free(given, taken)
    return given
