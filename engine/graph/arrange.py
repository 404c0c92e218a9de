"""The commands around a layout: taking what it works on, and putting its result in place as one step.

Owns that a result is only used for the map that it was made for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.drawing.geometry import Bounds, Point, checked_number
from engine.errors import ConflictError
from engine.graph.document import existing_edge, existing_node
from engine.graph.index import GraphIndex
from engine.graph.layout import MapSnapshot
from engine.graph.records import GraphNode
from engine.records import Transaction
from engine.world import Command

MAX_LAYOUT_NODES = 20_000
"""Nodes of a map that is arranged in one step. A larger one is past reading, and would hold everybody up."""


@dataclass(frozen=True, slots=True)
class TakeMap(Command[MapSnapshot]):
    """Give the nodes and edges of the map. Raises `ConflictError` for an empty map, and beyond `MAX_LAYOUT_NODES`."""

    label = "look at the map"

    def run(self, world: Transaction) -> MapSnapshot:
        """Take it."""
        index = world.index(GraphIndex)
        count = len(index.nodes)
        if not 1 <= count <= MAX_LAYOUT_NODES:
            raise ConflictError(f"The map has {count} nodes; from 1 to {MAX_LAYOUT_NODES} can be arranged.")
        return MapSnapshot(
            tuple(existing_node(world, key) for key in index.nodes),
            tuple(existing_edge(world, edge) for edge in index.edges),
            world.world_id,
        )


@dataclass(frozen=True, slots=True)
class Arranged:
    """How many nodes have another place now, and the box around all positions."""

    moved_count: int
    node_count: int
    bounds: Bounds


@dataclass(frozen=True, slots=True)
class ApplyLayout(Command[Arranged]):
    """Put the nodes of a snapshot at new positions, one for each in its order.

    Raises `ConflictError` when the map is no longer that of the snapshot.
    """

    label = "arrange the graph"
    snapshot: MapSnapshot
    positions: Sequence[Point]

    def run(self, world: Transaction) -> Arranged:
        """Apply it."""
        index = world.index(GraphIndex)
        nodes, edges = self.snapshot.nodes, self.snapshot.edges
        same = world.world_id == self.snapshot.world_id
        same = same and len(index.nodes) == len(nodes) and len(index.edges) == len(edges)
        same = same and all(world.get(GraphNode, node.id) is node for node in nodes)
        if not same or any(edge != edge_there.id for edge, edge_there in zip(index.edges, edges, strict=True)):
            raise ConflictError(
                "The graph has changed while it was being arranged, or another world is active now; nothing was moved. "
                "Try again."
            )
        moved = 0
        for node, position in zip(nodes, self.positions, strict=True):
            at = Point(checked_number(position.x, "x"), checked_number(position.y, "y"))
            if at != node.position:
                world.put(replace(node, position=at))
                moved += 1
        around = index.around
        if around is None:
            raise LookupError("a map with nodes has bounds")
        return Arranged(moved, len(nodes), around)
