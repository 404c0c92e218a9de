"""How to read a graph: its nodes, its edges, what is selected and in focus. Owns what holds where no record says it."""

from __future__ import annotations

from engine.errors import NotFoundError
from engine.graph.index import GraphIndex
from engine.graph.records import GraphEdge, GraphFocus, GraphNode
from engine.records import RecordTable, Transaction

Reader = RecordTable | Transaction

NO_FOCUS = GraphFocus()
"""What is being looked at where nothing is."""


def existing_node(reader: Reader, key: str) -> GraphNode:
    """The node of a key that the caller has from the index."""
    node = reader.get(GraphNode, key)
    if node is None:
        raise LookupError(f"the graph's index names {key}, which its table lacks")
    return node


def existing_edge(reader: Reader, edge_id: str) -> GraphEdge:
    """The edge of an id that the caller has from the index."""
    edge = reader.get(GraphEdge, edge_id)
    if edge is None:
        raise LookupError(f"the graph's index names {edge_id}, which its table lacks")
    return edge


def demand_node(reader: Reader, key: str, name: str = "id") -> GraphNode:
    """The node of the map of that key. Raises `NotFoundError`, naming the argument."""
    node = reader.get(GraphNode, key)
    if node is None:
        raise NotFoundError(f"{name} {key!r:.120} is not on the map; search or inspect to find the ids of its nodes.")
    return node


def focus_of(reader: Reader) -> GraphFocus:
    """What is being looked at, without what is no longer on the map."""
    focus = reader.get(GraphFocus, NO_FOCUS.id)
    if focus is None:
        return NO_FOCUS
    shows = reader.index(GraphIndex).shows
    selected = tuple(key for key in focus.selected if shows(key))
    focused = focus.focused if focus.focused is not None and shows(focus.focused) else None
    opened = focus.opened if focus.opened is not None and shows(focus.opened) else None
    return GraphFocus(selected=selected, focused=focused, opened=opened)


def set_focus(world: Transaction, focus: GraphFocus, *, undoable: bool = True) -> None:
    """Look at that from now on; no change where it is so already."""
    if focus != (world.get(GraphFocus, NO_FOCUS.id) or NO_FOCUS):
        world.put(focus, undoable=undoable)


def selection_kind(reader: Reader) -> str | None:
    """`"graph-node"` when at least one node of the map is selected or in focus, else None."""
    focus = focus_of(reader)
    return "graph-node" if focus.selected or focus.focused is not None else None
