"""Worlds and commands for the tests of the graph."""

from __future__ import annotations

from typing import Any, TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from engine.drawing.geometry import Point
from engine.graph.arrange import ApplyLayout, TakeMap
from engine.graph.edges import AddEdge
from engine.graph.identities import CreateIdentity
from engine.graph.index import GraphIndex
from engine.graph.layout import Method, arranged, parts_of, together
from engine.graph.navigate import FocusNode, OpenNode
from engine.graph.nodes import AddNode, Loaded, LoadNode, RemoveNodes
from engine.graph.records import GraphNode
from engine.graph.state import EdgeState, GetState, NodeState, RestoreState
from engine.graph.words import data_value
from engine.records import Counter, Record, RecordTable
from engine.world import Command, World

EXAMPLES = settings(max_examples=60, deadline=None)
"""For properties: enough examples to meet every rule, few enough for a fast test; a loaded machine fails none."""

CommandT = TypeVar("CommandT")


class Graph:
    """A world, and the shortest words for working in it."""

    def __init__(self) -> None:
        self.world = World("world-1", "home")

    def do(self, command: Command[CommandT]) -> CommandT:
        return self.world.execute(command).result

    def node(self, title: str = "node", **members: Any) -> str:
        return self.do(AddNode(title=title, **members)).id

    def edge(self, source: str, target: str, label: str = "") -> str:
        return self.do(AddEdge(source=source, target=target, edge_label=label)).edge.id

    def get(self, key: str) -> GraphNode:
        node = self.table.get(GraphNode, key)
        assert node is not None, f"{key} is not on the map"
        return node

    def ids(self) -> list[str]:
        return list(self.table.index(GraphIndex).nodes)

    def edge_ids(self) -> list[str]:
        return list(self.table.index(GraphIndex).edges)

    def arrange(self, method: Method = "auto") -> None:
        snapshot = self.do(TakeMap())
        parts = parts_of(snapshot)
        places = together([arranged(part, method) for part in parts])
        positions = [Point(0, 0)] * len(snapshot.nodes)
        for part, points in zip(parts, places, strict=True):
            for node, point in zip(part.nodes, points, strict=True):
                positions[node] = point
        self.do(ApplyLayout(snapshot, positions))

    def state(self) -> RestoreState:
        """The command that makes a map what this one is now."""
        page = self.do(GetState(limit=10_000))
        return RestoreState(
            nodes=tuple(state_of(node) for node in page.nodes),
            edges=tuple(EdgeState(source=e.source, target=e.target, label=e.label) for e in page.edges),
            selected=page.focus.selected,
            focused=page.focus.focused,
            opened=page.focus.opened,
        )

    @property
    def table(self) -> RecordTable:
        return self.world.read()

    def records(self) -> dict[tuple[str, str], Record]:
        return {(record.collection, record.id): record for record in self.table}

    def content(self) -> dict[tuple[str, str], Record]:
        """What undo restores: all but counters and what is being looked at."""
        left_out = {Counter.collection, "graph.focus"}
        return {key: record for key, record in self.records().items() if key[0] not in left_out}


def state_of(node: GraphNode) -> NodeState:
    return NodeState(
        id=node.id,
        kind=node.kind,
        label=node.label,
        position=(node.position.x, node.position.y),
        content=node.content,
        data=data_value(node.data),
        identity=node.identity,
    )


def loaded(path: str) -> Loaded:
    return Loaded(key=f"file:{path}", kind="file", label=path.rpartition("/")[2], data=f'{{"path":"{path}"}}')


keys = st.sampled_from(
    [*(f"string-entity:node-{n}" for n in range(1, 6)), "identity:identity-1", "identity:identity-2", "file:a.txt"]
)
places = st.none() | st.tuples(st.floats(-2000, 2000), st.floats(-2000, 2000))
words = st.sampled_from(["red fox", "Red Fox", "river", "a b c", "ünïcode", "node 12"])
datas = st.dictionaries(
    st.text(max_size=4).filter(lambda text: text.isprintable()),
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-1, 1) | st.sampled_from(["x", "río"]),
    max_size=2,
)
states = st.builds(
    RestoreState,
    nodes=st.lists(
        st.builds(
            NodeState,
            id=keys,
            kind=st.sampled_from(["person", "file"]),
            label=words,
            position=st.tuples(st.floats(-500, 500), st.floats(-500, 500)),
            content=words,
            data=datas,
            identity=st.none() | st.just("identity:identity-1"),
        ),
        max_size=4,
        unique_by=lambda node: node.id,
    ).map(tuple),
    edges=st.lists(st.builds(EdgeState, source=keys, target=keys, label=words), max_size=2).map(tuple),
)
steps = st.one_of(
    st.builds(
        AddNode,
        title=words,
        kind=st.sampled_from(["string-entity", "person"]),
        content=st.just("") | words,
        data=datas,
        position=places,
        identity=st.none() | st.just("identity:identity-1"),
    ),
    st.builds(LoadNode, key=keys, loaded=st.none() | st.just(loaded("a.txt")), position=places, refresh=st.booleans()),
    st.builds(RemoveNodes, keys=st.lists(keys, min_size=1, max_size=3).map(tuple)),
    st.builds(AddEdge, source=keys, target=keys, edge_label=st.just("") | words),
    st.builds(AddEdge, source=keys, target=keys, edge_label=st.just("") | words),
    st.builds(CreateIdentity, name=words, role=st.none() | words, members=st.lists(keys, max_size=2).map(tuple)),
    states,
)
asides = st.one_of(st.builds(FocusNode, key=keys), st.builds(OpenNode, key=keys))
