"""Reading a node of another world, for showing it in this one. Owns what of it is taken over: all but its place.

Kept out of the package's own names, since the engine, which it needs, knows its domains.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.engine import EngineCommand, EngineTransaction
from engine.errors import InvalidArgumentError, NotFoundError
from engine.graph.keys import Key, foreign_key
from engine.graph.nodes import Loaded
from engine.graph.records import GraphNode, KeptNode


@dataclass(frozen=True, slots=True)
class ReadForeignNode(EngineCommand[Loaded]):
    """Read the node that a `world:` key names. Changes nothing.

    Raises `NotFoundError` for an unknown world or node, `InvalidArgumentError` when the world is the active one.
    """

    label = "read a node of another world"
    key: Key

    def run(self, engine: EngineTransaction) -> Loaded:
        """Read it."""
        wanted = foreign_key(self.key)
        world = engine.world(wanted.world_id)
        if world.active:
            raise InvalidArgumentError(f"{world.id} is this world; load the node by its own id, {wanted.node!r:.120}.")
        table = engine.read(wanted.world_id)
        node = table.get(GraphNode, wanted.node) or table.get(KeptNode, wanted.node)
        if node is None:
            raise NotFoundError(f"World {world.id} ({world.name}) has no node {wanted.node!r:.120}.")
        return Loaded(key=self.key.text, kind=node.kind, label=node.label, content=node.content, data=node.data)
