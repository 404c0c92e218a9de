"""Looking at a graph without changing it: a summary of everything, and a page of nodes or of edges.

Owns which they are and in which order; how they are written down, and how much of it, is the asker's. Costs what is on
the page, and one look at each node of the kind or in the box where both are asked for.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.drawing.geometry import Bounds
from engine.graph.document import demand_node, existing_edge, existing_node, focus_of
from engine.graph.index import GraphIndex
from engine.graph.records import GraphEdge, GraphFocus, GraphNode
from engine.records import Transaction
from engine.world import Command


@dataclass(frozen=True, slots=True)
class NodeEntry:
    """A node of the map, and how many edges end and begin at it."""

    node: GraphNode
    incoming_count: int
    outgoing_count: int


@dataclass(frozen=True, slots=True)
class GraphSummary:
    """The map in a few numbers; `kinds` by name, `bounds` around the positions of the nodes."""

    node_count: int
    edge_count: int
    kinds: tuple[tuple[str, int], ...]
    bounds: Bounds | None
    focus: GraphFocus


@dataclass(frozen=True, slots=True)
class NodesSeen:
    """A page of nodes, in the order in which they came onto the map; `total` counts all that were met."""

    summary: GraphSummary
    nodes: tuple[NodeEntry, ...]
    total: int


@dataclass(frozen=True, slots=True)
class EdgesSeen:
    """A page of edges; those of one node are first the outgoing, then the incoming ones."""

    summary: GraphSummary
    edges: tuple[GraphEdge, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectNodes(Command[NodesSeen]):
    """Look at up to `limit` nodes from `offset` on that meet every filter. Changes nothing.

    Raises `NotFoundError` for an id that is not on the map. An unknown kind is met by no node.
    """

    label = "inspect nodes"
    keys: tuple[str, ...] | None = None
    kind: str | None = None
    bounds: Bounds | None = None
    identity: str | None = None
    offset: int = 0
    limit: int = 50

    def run(self, world: Transaction) -> NodesSeen:
        """Look."""
        found, total = self._page(world, world.index(GraphIndex))
        return NodesSeen(summary_of(world), tuple(entry_of(world, key) for key in found), total)

    def _page(self, world: Transaction, index: GraphIndex) -> tuple[list[str], int]:
        if self.keys is None and self.identity is None:
            if self.kind is None and self.bounds is None:
                return index.nodes.page(self.offset, self.limit), len(index.nodes)
            if self.bounds is None and self.kind is not None:
                of_kind = index.of_kind(self.kind)
                return of_kind.page(self.offset, self.limit), len(of_kind)
            if self.bounds is not None and self.kind is None:
                return index.page_within(self.bounds, self.offset, self.limit)
        met = [key for key in self._fewest(world, index) if self._meets(world, key)]
        return met[self.offset : self.offset + self.limit], len(met)

    def _fewest(self, world: Transaction, index: GraphIndex) -> list[str]:
        if self.keys is not None:
            wanted = dict.fromkeys(self.keys)
            for key in wanted:
                demand_node(world, key, "ids")
            return sorted(wanted, key=index.order_of)
        if self.identity is not None:
            return list(index.sharing(self.identity))
        if self.bounds is not None:
            return index.within(self.bounds)
        return list(index.nodes)

    def _meets(self, world: Transaction, key: str) -> bool:
        node, box = existing_node(world, key), self.bounds
        if self.kind is not None and node.kind != self.kind:
            return False
        if self.identity is not None and node.identity != self.identity:
            return False
        (x, y) = node.position
        return box is None or (box.left <= x <= box.right and box.bottom <= y <= box.top)


@dataclass(frozen=True, slots=True, kw_only=True)
class InspectEdges(Command[EdgesSeen]):
    """Look at up to `limit` edges from `offset` on, all or those of one node. Changes nothing.

    Raises `NotFoundError` for a node that is not on the map.
    """

    label = "inspect edges"
    node: str | None = None
    offset: int = 0
    limit: int = 50

    def run(self, world: Transaction) -> EdgesSeen:
        """Look."""
        index, summary = world.index(GraphIndex), summary_of(world)
        if self.node is None:
            found, total = index.edges.page(self.offset, self.limit), len(index.edges)
        else:
            demand_node(world, self.node, "node")
            outgoing, incoming = index.outgoing(self.node), index.incoming(self.node)
            found, total = outgoing.page(self.offset, self.limit), len(outgoing) + len(incoming)
            found += incoming.page(max(0, self.offset - len(outgoing)), self.limit - len(found))
        return EdgesSeen(summary, tuple(existing_edge(world, edge) for edge in found), total)


def summary_of(world: Transaction) -> GraphSummary:
    """The map in a few numbers."""
    index = world.index(GraphIndex)
    return GraphSummary(len(index.nodes), len(index.edges), tuple(index.kinds().items()), index.around, focus_of(world))


def entry_of(world: Transaction, key: str) -> NodeEntry:
    """A node of the map with its counts of edges."""
    index = world.index(GraphIndex)
    return NodeEntry(existing_node(world, key), len(index.incoming(key)), len(index.outgoing(key)))
