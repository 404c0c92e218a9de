"""The command that connects two nodes. Owns what an edge is: directed, with a label, one for each ordered pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from engine.graph.index import GraphIndex
from engine.graph.nodes import Loaded, ensure_shown
from engine.graph.records import GraphEdge, edge_id
from engine.graph.words import checked_edge_label
from engine.records import Transaction
from engine.world import Command


@dataclass(frozen=True, slots=True)
class Connected:
    """The edge as it is now. `previous_label` is that of the edge which stood there before, None where none did.

    `loaded` are the ends that had to be brought onto the map.
    """

    edge: GraphEdge
    previous_label: str | None
    loaded: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AddEdge(Command[Connected]):
    """Connect two nodes; an edge that leads from the one to the other already gets the new label.

    Ends that are not on the map are brought there; `sources` holds what loaders know of those from outside, by key.
    A node may be connected with itself. Raises `NotFoundError` for an end that nothing stands for.
    """

    label = "add edge"
    source: str
    target: str
    edge_label: str = ""
    sources: Mapping[str, Loaded] = field(default_factory=lambda: MappingProxyType({}))

    def run(self, world: Transaction) -> Connected:
        """Connect them."""
        label = checked_edge_label(self.edge_label)
        loaded = tuple(
            key
            for key, name in ((self.source, "from"), (self.target, "to"))
            if ensure_shown(world, key, self.sources.get(key), name=name).loaded
        )
        before = world.get(GraphEdge, edge_id(self.source, self.target))
        if before is not None:
            edge = replace(before, label=label)
        else:
            order = world.index(GraphIndex).edges.top + 1
            edge = GraphEdge(
                id=edge_id(self.source, self.target),
                source=self.source,
                target=self.target,
                label=label,
                order=order,
            )
        world.put(edge)
        return Connected(edge, None if before is None else before.label, loaded)
