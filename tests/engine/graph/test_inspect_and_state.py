"""Looking at a map page by page, and putting a whole one back exactly."""

from __future__ import annotations

from dataclasses import replace

import pytest

from engine.drawing.geometry import Bounds
from engine.errors import EngineError, InvalidArgumentError, NotFoundError
from engine.graph.document import focus_of
from engine.graph.identities import CreateIdentity
from engine.graph.index import SORT_LIMIT, GraphIndex
from engine.graph.inspect import InspectEdges, InspectNodes
from engine.graph.navigate import FocusNode, OpenNode
from engine.graph.nodes import LoadNode, RemoveNodes
from engine.graph.state import EdgeState, GetState, NodeState, RestoreState
from tests.engine.graph.samples import Graph, loaded


@pytest.fixture
def graph() -> Graph:
    graph = Graph()
    ada = graph.do(CreateIdentity(name="Ada", role="author")).node.id
    a = graph.node("a", kind="person", content="text", data={"n": [1.5, None]}, position=(0.1, -7.25), identity=ada)
    b = graph.node("b", kind="service")
    graph.do(LoadNode(key="file:x.py", loaded=loaded("x.py")))
    for source, target, label in ((a, b, "calls"), (b, a, ""), (a, "file:x.py", "reads")):
        graph.edge(source, target, label)
    graph.do(OpenNode(key=a))
    graph.do(FocusNode(key=b))
    return graph


def seen(graph: Graph, **filters: object) -> list[str]:
    page = graph.do(InspectNodes(**filters))  # pyright: ignore[reportArgumentType]
    return [entry.node.label for entry in page.nodes]


def test_the_summary_counts_everything(graph: Graph):
    page = graph.do(InspectNodes(limit=0))

    assert (page.nodes, page.total) == ((), 4)
    assert (page.summary.node_count, page.summary.edge_count) == (4, 3)
    assert page.summary.kinds == (("file", 1), ("identity", 1), ("person", 1), ("service", 1))
    assert page.summary.focus.opened == "string-entity:node-1"


def test_filters_combine_and_pages_follow_the_order_of_the_map(graph: Graph):
    assert seen(graph) == ["Ada", "a", "b", "x.py"]
    assert seen(graph, offset=1, limit=2) == ["a", "b"]
    assert seen(graph, kind="person") == ["a"]
    assert seen(graph, identity="identity:identity-1") == ["a"]
    assert seen(graph, bounds=Bounds(-1, -10, 1, -5)) == ["a"]
    assert seen(graph, bounds=Bounds(-1, -10, 1, -5), kind="service") == []
    assert seen(graph, keys=("file:x.py", "identity:identity-1"), kind="file") == ["x.py"]
    assert seen(graph, bounds=Bounds(9e5, 9e5, 1e6, 1e6)) == []
    with pytest.raises(NotFoundError, match="ids 'file:y'"):
        seen(graph, keys=("file:y",))


def test_a_large_box_gives_the_same_pages_as_a_look_at_every_node():
    graph = Graph()
    nodes = [
        NodeState(id=f"string-entity:n{i}", kind="n", label=f"n{i}", position=(i * 37 % 9001, i * 91 % 7919))
        for i in range(SORT_LIMIT + 2000)
    ]
    graph.do(RestoreState(nodes=nodes))
    box = Bounds(-1, 100, 8000, 7800)
    expected = [n.id for n in nodes if n.position[0] <= 8000 and 100 <= n.position[1] <= 7800]
    index = graph.table.index(GraphIndex)

    assert len(expected) > SORT_LIMIT
    assert index.page_within(box, 4321, 5) == (expected[4321:4326], len(expected))
    assert index.within(box) == expected


def test_edges_of_a_node_are_first_those_that_leave_it(graph: Graph):
    page = graph.do(InspectEdges(node="string-entity:node-1", limit=2))
    rest = graph.do(InspectEdges(node="string-entity:node-1", offset=2))

    assert [edge.label for edge in page.edges] == ["calls", "reads"]
    assert [edge.source for edge in rest.edges] == ["string-entity:node-2"]
    assert page.total == rest.total == 3
    assert [edge.label for edge in graph.do(InspectEdges()).edges] == ["calls", "", "reads"]


def test_a_state_restores_exactly_after_anything_and_in_one_step(graph: Graph):
    state, before, focus = graph.state(), graph.content(), focus_of(graph.table)
    graph.do(RemoveNodes(("string-entity:node-1", "file:x.py", "identity:identity-1")))
    graph.node("new")
    count = graph.world.undo_count

    graph.do(state)

    assert graph.state() == state
    assert {k: v for k, v in graph.content().items() if k[0] != "graph.kept"} == before
    assert focus_of(graph.table) == focus
    assert graph.world.undo_count == count + 1
    assert graph.do(LoadNode(key="string-entity:node-3")).node.label == "new"


def test_a_state_restores_in_another_world_whose_next_ids_are_not_those_of_the_state(graph: Graph):
    state, other = graph.state(), Graph()

    other.do(state)

    assert other.state() == state
    assert other.node() == "string-entity:node-3"
    assert other.do(CreateIdentity(name="Bob")).node.id == "identity:identity-2"
    assert other.do(CreateIdentity(name="ada")).node.id == "identity:identity-1"


def test_a_new_identity_never_gets_the_id_of_one_that_a_restored_node_still_names():
    graph = Graph()
    graph.do(RestoreState(nodes=[replace(NODE, identity="identity:identity-4")]))

    made = graph.do(CreateIdentity(name="Bob"))

    assert (made.node.id, made.sharing_count) == ("identity:identity-5", 0)
    assert graph.get(NODE.id).identity == "identity:identity-4"


def test_pages_of_a_state_together_are_the_state(graph: Graph):
    pages = [graph.do(GetState(offset=offset, limit=3)) for offset in range(0, 9, 3)]
    whole = graph.do(GetState())

    assert sum((page.nodes for page in pages), ()) == whole.nodes
    assert sum((page.edges for page in pages), ()) == whole.edges
    assert {(page.node_count, page.edge_count) for page in pages} == {(4, 3)}


NODE = NodeState(id="string-entity:n", kind="n", label="n", position=(0, 0))
ADA = NodeState(id="identity:i", kind="identity", label="Ada", position=(0, 0))


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (RestoreState(nodes=[NODE, NODE]), r"nodes\[1\].id: .* in the state twice"),
        (RestoreState(nodes=[replace(NODE, id="n")]), r"nodes\[0\].id .* is no id"),
        (RestoreState(nodes=[replace(NODE, label="")]), r"nodes\[0\].label must not be empty"),
        (RestoreState(nodes=[replace(NODE, position=(float("nan"), 0))]), r"nodes\[0\].x must be a finite"),
        (RestoreState(nodes=[replace(NODE, identity="file:x")]), r"nodes\[0\].identity: .* must begin with"),
        (RestoreState(nodes=[NODE], edges=[EdgeState(source=NODE.id, target="file:x")]), r"edges\[0\].target"),
        (RestoreState(nodes=[NODE], edges=[EdgeState(source=NODE.id, target=NODE.id)] * 2), r"edges\[1\]: there is"),
        (RestoreState(nodes=[NODE], focused="file:x"), "focused_node_key: 'file:x' is not among"),
        (RestoreState(nodes=[NODE], selected=("file:x",)), "selected_node_keys: 'file:x' is not among"),
        (RestoreState(nodes=[NODE] * 20_001), "at most 20000"),
        (RestoreState(nodes=[ADA, replace(ADA, id="identity:j", label="ADA")]), "would both be the identity"),
        (RestoreState(nodes=[ADA]), "would both be the identity 'Ada'"),
    ],
)
def test_a_state_that_does_not_hold_together_is_refused_and_nothing_changes(
    graph: Graph, state: RestoreState, said: str
):
    before = graph.records()
    with pytest.raises(EngineError, match=said) as refused:
        graph.do(state)
    assert isinstance(refused.value, InvalidArgumentError)
    assert graph.records() == before
