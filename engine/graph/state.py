"""The whole map as a value, page by page, and putting such a value back. Owns that a state restores exactly.

A state holds everything that the map shows, so it also restores in another world. Source: agent-presets, "Graph";
findings on the existing tools, section 2.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engine.drawing.geometry import Point, checked_number
from engine.errors import InvalidArgumentError
from engine.graph.document import existing_edge, existing_node, focus_of, set_focus
from engine.graph.index import GraphIndex
from engine.graph.keys import check_kept_node, is_identity, parse_key
from engine.graph.nodes import take_off
from engine.graph.records import GraphEdge, GraphFocus, GraphNode, KeptNode, edge_id
from engine.graph.words import (
    canonical_data,
    checked_content,
    checked_edge_label,
    checked_kind,
    checked_label,
)
from engine.records import Counter, Transaction
from engine.world import Command

MAX_STATE_NODES = 20_000
"""Nodes of a state that is restored in one step: what still fits one request."""
MAX_STATE_EDGES = 60_000
"""Edges of a state that is restored in one step."""
MAX_SELECTED = 50
"""Nodes that can be selected at once, so that every page of a state can name them."""

_NUMBERED = re.compile(r"(string-entity:(?P<node>node)|identity:(?P<identity>identity))-(?P<number>[1-9][0-9]{0,14})")


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeState:
    """A node as a state holds it."""

    id: str
    kind: str
    label: str
    position: tuple[float, float]
    content: str = ""
    data: Mapping[str, Any] = field(default_factory=dict[str, Any])
    identity: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeState:
    """An edge as a state holds it."""

    source: str
    target: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class StatePage:
    """A page of the state: nodes come first, then edges, as one list of `node_count + edge_count` entries."""

    nodes: tuple[GraphNode, ...]
    edges: tuple[GraphEdge, ...]
    node_count: int
    edge_count: int
    focus: GraphFocus


@dataclass(frozen=True, slots=True, kw_only=True)
class GetState(Command[StatePage]):
    """Give up to `limit` entries of the state from `offset` on. Changes nothing."""

    label = "get state"
    offset: int = 0
    limit: int = 200

    def run(self, world: Transaction) -> StatePage:
        """Read it."""
        index = world.index(GraphIndex)
        nodes = index.nodes.page(self.offset, self.limit)
        edges = index.edges.page(max(0, self.offset - len(index.nodes)), self.limit - len(nodes))
        focus = focus_of(world)
        return StatePage(
            tuple(existing_node(world, key) for key in nodes),
            tuple(existing_edge(world, edge) for edge in edges),
            len(index.nodes),
            len(index.edges),
            replace(focus, selected=focus.selected[:MAX_SELECTED]),
        )


@dataclass(frozen=True, slots=True)
class Restored:
    """What the map holds after a restore, and how many nodes went off it."""

    node_count: int
    edge_count: int
    removed_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreState(Command[Restored]):
    """Make the map exactly what the state says; one step of the history.

    What is on the map and not in the state goes off it; string entities and identities can be loaded again. Raises
    `InvalidArgumentError`, naming the entry, for a state that does not hold together; then nothing has changed.
    """

    label = "restore state"
    nodes: Sequence[NodeState]
    edges: Sequence[EdgeState] = ()
    selected: tuple[str, ...] = ()
    focused: str | None = None
    opened: str | None = None

    def run(self, world: Transaction) -> Restored:
        """Restore it."""
        nodes = _checked_nodes(self.nodes)
        edges = _checked_edges(self.edges, nodes)
        focus = self._checked_focus(nodes)
        index = world.index(GraphIndex)
        for edge in [edge for edge in index.edges if edge not in edges]:
            world.remove(GraphEdge, edge)
        gone = [key for key in index.nodes if key not in nodes]
        for key in gone:
            take_off(world, key)
        for node in nodes.values():
            world.remove(KeptNode, node.id)
            world.put(node)
        for edge in edges.values():
            world.put(edge)
        for node in nodes.values():
            if is_identity(node.id) and len(same := index.identities_named(node.label)) > 1:
                raise InvalidArgumentError(
                    f"nodes: {' and '.join(same[:2])} would both be the identity {node.label!r}; a name has one."
                )
        _keep_ids_unused(world, nodes.values())
        set_focus(world, focus)
        return Restored(len(nodes), len(edges), len(gone))

    def _checked_focus(self, nodes: Mapping[str, GraphNode]) -> GraphFocus:
        if len(self.selected) > MAX_SELECTED:
            raise InvalidArgumentError(f"selected_node_keys: at most {MAX_SELECTED}; got {len(self.selected)}")
        for name, key in (
            *(("selected_node_keys", key) for key in self.selected),
            ("focused_node_key", self.focused),
            ("opened_node_key", self.opened),
        ):
            if key is not None and key not in nodes:
                raise InvalidArgumentError(f"{name}: {key!r:.120} is not among the nodes of the state")
        return GraphFocus(selected=tuple(dict.fromkeys(self.selected)), focused=self.focused, opened=self.opened)


def _checked_nodes(states: Sequence[NodeState]) -> dict[str, GraphNode]:
    if len(states) > MAX_STATE_NODES:
        raise InvalidArgumentError(f"nodes: at most {MAX_STATE_NODES} can be restored at once; got {len(states)}")
    nodes: dict[str, GraphNode] = {}
    for number, state in enumerate(states):
        where = f"nodes[{number}]"
        key = parse_key(state.id, f"{where}.id").text
        if key in nodes:
            raise InvalidArgumentError(f"{where}.id: {key!r:.120} is in the state twice")
        if state.identity is not None and not is_identity(parse_key(state.identity, f"{where}.identity").text):
            raise InvalidArgumentError(f"{where}.identity: {state.identity!r:.120} must begin with 'identity:'")
        check_kept_node(key, state.identity, where)
        x, y = state.position
        nodes[key] = GraphNode(
            id=key,
            kind=checked_kind(state.kind, f"{where}.kind"),
            label=checked_label(state.label, f"{where}.label"),
            content=checked_content(state.content, f"{where}.content"),
            data=canonical_data(state.data, f"{where}.data"),
            position=Point(checked_number(x, f"{where}.x"), checked_number(y, f"{where}.y")),
            order=number + 1,
            identity=state.identity,
        )
    return nodes


def _checked_edges(states: Sequence[EdgeState], nodes: Mapping[str, GraphNode]) -> dict[str, GraphEdge]:
    if len(states) > MAX_STATE_EDGES:
        raise InvalidArgumentError(f"edges: at most {MAX_STATE_EDGES} can be restored at once; got {len(states)}")
    edges: dict[str, GraphEdge] = {}
    for number, state in enumerate(states):
        where = f"edges[{number}]"
        for name, key in (("source", state.source), ("target", state.target)):
            if key not in nodes:
                raise InvalidArgumentError(f"{where}.{name}: {key!r:.120} is not among the nodes of the state")
        edge = edge_id(state.source, state.target)
        if edge in edges:
            raise InvalidArgumentError(f"{where}: there is an edge from {state.source!r:.80} to this target already")
        label = checked_edge_label(state.label, f"{where}.label")
        edges[edge] = GraphEdge(id=edge, source=state.source, target=state.target, label=label, order=number + 1)
    return edges


def _keep_ids_unused(world: Transaction, nodes: Iterable[GraphNode]) -> None:
    """A state may come from elsewhere; its ids are used now, so that no new node may get one of them."""
    highest: dict[str, int] = {}
    for node in nodes:
        for key in (node.id, node.identity):
            found = None if key is None else _NUMBERED.fullmatch(key)
            if found is not None:
                series = found["node"] or found["identity"]
                highest[series] = max(highest.get(series, 0), int(found["number"]))
    for series, number in highest.items():
        counter = world.get(Counter, series) or Counter(id=series)
        if counter.next <= number:
            world.put(replace(counter, next=number + 1), undoable=False)
