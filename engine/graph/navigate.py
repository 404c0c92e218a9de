"""Commands that look at one node: focus it, or open it to see all of it. Looking is no step of the history.

Only where the node has first to be brought onto the map does that make a step.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.graph.document import existing_edge, focus_of, set_focus
from engine.graph.index import GraphIndex
from engine.graph.nodes import Loaded, Shown, ensure_shown
from engine.graph.records import GraphEdge, GraphFocus, GraphNode
from engine.records import Transaction
from engine.world import Command

OPEN_EDGES = 50
"""How many edges of each direction an open node shows; inspecting pages through the rest."""
OPEN_SHARING = 50
"""How many of the nodes that share an identity are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FocusNode(Command[Shown]):
    """Select the node, alone, and put it in focus. Raises `NotFoundError` when nothing stands for the key."""

    label = "focus node"
    key: str
    loaded: Loaded | None = None

    def run(self, world: Transaction) -> Shown:
        """Focus it."""
        shown = ensure_shown(world, self.key, self.loaded)
        opened = focus_of(world).opened
        set_focus(world, GraphFocus(selected=(self.key,), focused=self.key, opened=opened), undoable=shown.loaded)
        return shown


@dataclass(frozen=True, slots=True)
class Opened:
    """A node with what is around it. Edges and sharing nodes are the first of the counts beside them."""

    node: GraphNode
    loaded: bool
    outgoing: tuple[GraphEdge, ...]
    outgoing_count: int
    incoming: tuple[GraphEdge, ...]
    incoming_count: int
    sharing: tuple[str, ...]
    sharing_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenNode(Command[Opened]):
    """Focus the node and open it. Raises `NotFoundError` when nothing stands for the key."""

    label = "open node"
    key: str
    loaded: Loaded | None = None

    def run(self, world: Transaction) -> Opened:
        """Open it."""
        shown = ensure_shown(world, self.key, self.loaded)
        focus = GraphFocus(selected=(self.key,), focused=self.key, opened=self.key)
        set_focus(world, focus, undoable=shown.loaded)
        index = world.index(GraphIndex)
        outgoing, incoming = index.outgoing(self.key), index.incoming(self.key)
        sharing = index.sharing(self.key)
        return Opened(
            node=shown.node,
            loaded=shown.loaded,
            outgoing=tuple(existing_edge(world, edge) for edge in outgoing.page(0, OPEN_EDGES)),
            outgoing_count=len(outgoing),
            incoming=tuple(existing_edge(world, edge) for edge in incoming.page(0, OPEN_EDGES)),
            incoming_count=len(incoming),
            sharing=tuple(sharing.page(0, OPEN_SHARING)),
            sharing_count=len(sharing),
        )
