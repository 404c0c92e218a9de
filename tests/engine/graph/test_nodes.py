"""Nodes, edges and identities: what is refused, where things go, and what stays when a node goes off the map."""

from __future__ import annotations

from typing import Any

import pytest

from engine.drawing.geometry import Point
from engine.errors import EngineError, InvalidArgumentError, NotFoundError
from engine.graph.document import focus_of, selection_kind
from engine.graph.edges import AddEdge
from engine.graph.identities import CreateIdentity, role_of
from engine.graph.navigate import FocusNode, OpenNode
from engine.graph.nodes import AddNode, LoadNode, RemoveNodes
from engine.graph.places import PLACE_HEIGHT, PLACE_WIDTH
from engine.graph.records import GraphEdge, GraphFocus
from engine.graph.words import canonical_data
from tests.engine.graph.samples import Graph, loaded


@pytest.fixture
def graph() -> Graph:
    return Graph()


def test_label_content_and_data_are_all_kept(graph: Graph):
    node = graph.do(AddNode(title="Label", kind="note", content="two\nlines", data={"b": [1, None], "a": "é"}))

    assert (node.id, node.label, node.kind, node.content) == ("string-entity:node-1", "Label", "note", "two\nlines")
    assert node.data == '{"a":"é","b":[1,null]}'


def test_nodes_without_a_position_go_to_different_free_places_around_the_origin(graph: Graph):
    graph.node(position=(PLACE_WIDTH - 30, 10))
    positions = [graph.get(graph.node()).position for _ in range(30)]

    for number, one in enumerate(positions):
        assert abs(one.x) <= 4 * PLACE_WIDTH
        for other in positions[:number]:
            assert abs(one.x - other.x) >= PLACE_WIDTH or abs(one.y - other.y) >= PLACE_HEIGHT
    assert not {Point(0, 0), Point(PLACE_WIDTH, 0)} & set(positions)  # the first node reaches into both


def test_a_place_that_became_free_is_used_again(graph: Graph):
    keys = [graph.node() for _ in range(20)]
    place = graph.get(keys[3]).position
    graph.do(RemoveNodes((keys[3],)))

    assert graph.get(graph.node()).position == place


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ({"title": ""}, "label must not be empty"),
        ({"title": " x"}, "begin or end with a space"),
        ({"title": "a\nb"}, "one line"),
        ({"title": "a\x07"}, "control characters"),
        ({"title": "x" * 201}, "at most 200 characters"),
        ({"title": "x", "kind": "Big Kind"}, "lower-case word"),
        ({"title": "x", "content": "\ud800"}, "U\\+D800"),
        ({"title": "x", "content": "x" * 4001}, "at most 4000 characters"),
        ({"title": "x", "data": {"a": float("nan")}}, "finite"),
        ({"title": "x", "data": {"a": 10**5000}}, "usual size"),
        ({"title": "x", "data": {"a\x00": 1}}, "U\\+0000"),
        ({"title": "x", "data": {"a": "x" * 9000}}, "at most 8192 bytes"),
        ({"title": "x", "data": {"a": object()}}, "must be JSON"),
        ({"title": "x", "position": (float("inf"), 0)}, "x must be a finite number"),
        ({"title": "x", "position": (0, 1e7)}, "y must be a finite number"),
        ({"title": "x", "identity": "identity:identity-9"}, "no identity of this world"),
        ({"title": "x", "identity": "string-entity:node-1"}, "no identity of this world"),
    ],
)
def test_a_node_that_cannot_be_is_refused_with_a_reason_and_nothing_changes(
    graph: Graph, members: dict[str, Any], said: str
):
    graph.node()
    before = graph.records()
    with pytest.raises(EngineError, match=said):
        graph.do(AddNode(**members))
    assert graph.records() == before


def test_data_nested_deeper_than_any_recursion_is_refused():
    data: Any = {}
    for _ in range(100_000):
        data = {"a": data}
    with pytest.raises(InvalidArgumentError, match="nested at most 16"):
        canonical_data(data)
    while data:  # taken apart by hand, since Python takes deep structures apart recursively
        data = data["a"]


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("nonsense", "is no id of a node"),
        ("other:x", "is no id of a node"),
        ("file:", "is no id of a node"),
        ("world:world-2", "must name a world and a node"),
        ("file:a->b", "must not hold '->'"),
        ("file:" + "a" * 600, "at most 512"),
        ("string-entity:node-7", "names no node of this world"),
        ("identity:identity-7", "names no node of this world"),
    ],
)
def test_an_id_that_names_nothing_is_refused_with_a_reason(graph: Graph, key: str, said: str):
    for command in (LoadNode(key=key), FocusNode(key=key), OpenNode(key=key), AddEdge(source=key, target=key)):
        with pytest.raises(EngineError, match=said):
            graph.do(command)
    assert graph.world.revision == 0


def test_removing_takes_the_edges_along_and_undo_brings_all_back(graph: Graph):
    a, b, c = (graph.node(name) for name in "abc")
    for source, target in ((a, b), (b, c), (c, a), (b, b)):
        graph.edge(source, target)
    graph.do(FocusNode(key=b))
    before = graph.records()

    removed = graph.do(RemoveNodes((b, b)))

    assert (removed.nodes, removed.edge_count) == ((b,), 3)
    assert (graph.ids(), graph.edge_ids()) == ([a, c], [f"{c}->{a}"])
    assert focus_of(graph.table) == GraphFocus()
    graph.world.undo()
    assert graph.records() == before


def test_when_one_id_is_not_on_the_map_none_is_removed(graph: Graph):
    a = graph.node()
    with pytest.raises(NotFoundError, match=r"1 of 2 ids are not on the map: 'string-entity:node-5'"):
        graph.do(RemoveNodes((a, "string-entity:node-5")))
    assert graph.ids() == [a]


def test_an_entity_that_was_removed_is_loaded_again_with_all_that_was_in_it(graph: Graph):
    alice = graph.do(CreateIdentity(name="Alice")).node.id
    a = graph.node("a", content="text", data={"n": 1}, identity=alice, position=(3000, 4))
    before = graph.get(a)
    graph.do(RemoveNodes((a, alice)))

    back = graph.do(LoadNode(key=a))

    assert back.loaded
    assert (back.node.label, back.node.content, back.node.data, back.node.identity, back.node.position) == (
        before.label,
        before.content,
        before.data,
        alice,
        Point(3000, 4),
    )
    assert graph.do(CreateIdentity(name="alice")).node.id == alice


def test_a_removed_entity_goes_elsewhere_when_its_place_is_taken(graph: Graph):
    a = graph.node("a")
    place = graph.get(a).position
    graph.do(RemoveNodes((a,)))
    graph.node("b")

    assert graph.do(LoadNode(key=a)).node.position != place


def test_loading_focuses_and_loading_again_changes_nothing(graph: Graph):
    first = graph.do(LoadNode(key="file:docs/a.txt", loaded=loaded("docs/a.txt")))
    revision = graph.world.revision
    again = graph.do(LoadNode(key="file:docs/a.txt", loaded=loaded("docs/other.txt")))

    assert (first.loaded, first.node.label, first.node.kind) == (True, "a.txt", "file")
    assert (again.loaded, again.node) == (False, first.node)
    assert graph.world.revision == revision
    assert focus_of(graph.table).focused == "file:docs/a.txt"


def test_refreshing_takes_over_what_the_loader_says_now_and_keeps_the_place(graph: Graph):
    graph.do(LoadNode(key="file:a.txt", loaded=loaded("a.txt"), position=(5, 6)))

    again = graph.do(LoadNode(key="file:a.txt", loaded=loaded("b.txt"), refresh=True))

    assert (again.loaded, again.node.label, again.node.position) == (True, "b.txt", Point(5, 6))
    assert graph.world.undo_count == 2


def test_a_second_edge_between_the_same_nodes_replaces_the_label(graph: Graph):
    a, b = graph.node("a"), graph.node("b")
    first = graph.do(AddEdge(source=a, target=b, edge_label="knows"))
    second = graph.do(AddEdge(source=a, target=b, edge_label="likes"))
    back = graph.do(AddEdge(source=b, target=a, edge_label="ignores"))

    assert (first.previous_label, second.previous_label, back.previous_label) == (None, "knows", None)
    assert [(e.id, e.label) for e in (second.edge, back.edge)] == [(f"{a}->{b}", "likes"), (f"{b}->{a}", "ignores")]
    assert graph.table.count(GraphEdge) == 2


def test_an_edge_brings_its_ends_onto_the_map_in_one_step(graph: Graph):
    made = graph.do(AddEdge(source="file:a", target="file:b", sources={f"file:{n}": loaded(n) for n in "ab"}))

    assert made.loaded == ("file:a", "file:b")
    assert graph.ids() == ["file:a", "file:b"]
    graph.world.undo()
    assert graph.ids() == []


def test_an_identity_is_made_once_however_its_name_is_written(graph: Graph):
    first = graph.do(CreateIdentity(name="Ada Lovelace", role="author"))
    again = graph.do(CreateIdentity(name="ADA  lovelace"))
    wide = graph.do(CreateIdentity(name="Ada Lovelace", role="editor"))

    assert first.node.id == again.node.id == wide.node.id == "identity:identity-1"
    assert (first.created, again.created, wide.created) == (True, False, False)
    assert (role_of(first.node), role_of(again.node), role_of(wide.node)) == ("author", "author", "editor")
    assert graph.do(CreateIdentity(name="Ada")).node.id == "identity:identity-2"


def test_creating_the_same_identity_twice_changes_nothing(graph: Graph):
    graph.do(CreateIdentity(name="Ada", role="author"))
    revision = graph.world.revision
    graph.do(CreateIdentity(name="Ada", role="author"))
    assert graph.world.revision == revision


def test_nodes_share_an_identity_and_identities_do_not(graph: Graph):
    a, b = graph.node("a"), graph.node("b")
    ada = graph.do(CreateIdentity(name="Ada", members=(a, b)))
    bob = graph.do(CreateIdentity(name="Bob")).node.id

    assert ada.sharing_count == 2
    assert graph.get(a).identity == graph.get(b).identity == ada.node.id
    with pytest.raises(InvalidArgumentError, match="is an identity"):
        graph.do(CreateIdentity(name="Ada", members=(bob,)))
    assert graph.do(OpenNode(key=ada.node.id)).sharing == (a, b)


def test_focusing_and_opening_say_what_is_selected(graph: Graph):
    a, b = graph.node("a"), graph.node("b")
    assert selection_kind(graph.table) is None

    graph.do(OpenNode(key=a))
    graph.do(FocusNode(key=b))

    assert focus_of(graph.table) == GraphFocus(selected=(b,), focused=b, opened=a)
    assert selection_kind(graph.table) == "graph-node"


def test_opening_shows_edges_of_both_directions(graph: Graph):
    a, b, c = (graph.node(name) for name in "abc")
    for source, target, label in ((a, b, "to b"), (c, a, "from c"), (a, a, "self")):
        graph.edge(source, target, label)

    seen = graph.do(OpenNode(key=a))

    assert [edge.label for edge in seen.outgoing] == ["to b", "self"]
    assert [edge.label for edge in seen.incoming] == ["from c", "self"]
    assert (seen.outgoing_count, seen.incoming_count) == (2, 2)
