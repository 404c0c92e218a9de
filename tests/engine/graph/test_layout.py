"""Layouts: nothing overlaps, edges lead down where they can, neighbours are near, and the same map gives the same."""

from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drawing.geometry import Point
from engine.errors import ConflictError
from engine.graph.arrange import MAX_LAYOUT_NODES, ApplyLayout, TakeMap
from engine.graph.figures import NODE_HEIGHT, NODE_WIDTH
from engine.graph.identities import CreateIdentity
from engine.graph.layered import layered
from engine.graph.layout import FORCE_NODES, Method, Part, arranged, parts_of, together
from engine.graph.state import NodeState, RestoreState
from tests.engine.graph.samples import EXAMPLES, Graph

Edge = tuple[int, int]


def overlaps(points: list[Point]) -> list[tuple[Point, Point]]:
    ordered = sorted(points)
    found: list[tuple[Point, Point]] = []
    for at, one in enumerate(ordered):
        for other in ordered[at + 1 :]:
            if other.x - one.x >= NODE_WIDTH:
                break
            if abs(other.y - one.y) < NODE_HEIGHT:
                found.append((one, other))
    return found


def acyclic(count: int, seed: int = 1) -> tuple[Edge, ...]:
    chance = random.Random(seed)
    return tuple((chance.randrange(node), node) for node in range(1, count))


@given(
    st.integers(2, 30).flatmap(
        lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=40).map(lambda e: (n, e))
    )
)
@EXAMPLES
def test_layers_never_put_two_nodes_over_each_other(graph: tuple[int, list[Edge]]):
    size, edges = graph
    points = layered(size, edges)
    assert len(points) == size
    assert all(math.isfinite(number) for point in points for number in point)
    assert overlaps(points) == []


@given(st.integers(2, 30), st.integers(0, 1000))
@EXAMPLES
def test_edges_without_cycles_all_lead_down(count: int, seed: int):
    edges = acyclic(count, seed)
    points = layered(count, edges)
    assert all(points[source].y > points[target].y for source, target in edges)


def test_in_a_cycle_only_one_edge_leads_up():
    edges = tuple((node, (node + 1) % 8) for node in range(8))
    points = layered(8, edges)
    assert sum(points[source].y < points[target].y for source, target in edges) == 1


@pytest.mark.parametrize("method", ["auto", "layered", "force", "grid"])
@pytest.mark.parametrize(
    ("size", "edges"),
    [
        (60, acyclic(60)),
        (9, tuple((node, (node + 1) % 9) for node in range(9))),
        (40, tuple((0, node) for node in range(1, 40))),
        (200, (*acyclic(200), (199, 0), (77, 3))),
        (12, tuple((a, b) for a in range(12) for b in range(12) if a != b)),
        (2, ((0, 1), (1, 0))),
    ],
    ids=["tree", "ring", "star", "large", "complete", "pair"],
)
def test_no_method_lets_nodes_overlap_and_each_gives_the_same_twice(method: Method, size: int, edges: tuple[Edge, ...]):
    part = Part(tuple(range(size)), edges)
    points = arranged(part, method)
    assert overlaps(points) == []
    assert arranged(part, method) == points


def test_neighbours_are_nearer_than_strangers_in_a_ring():
    ring = Part(tuple(range(10)), tuple((node, (node + 1) % 10) for node in range(10)))
    points = arranged(ring)
    near = [math.dist(points[a], points[b]) for a, b in ring.edges]
    far = [math.dist(points[a], points[(a + 5) % 10]) for a in range(10)]
    assert max(near) < min(far)


def test_parts_stand_side_by_side_about_the_origin_and_none_overlaps():
    graph = Graph()
    for size in (7, 3, 1, 1, 1, 4):
        keys = [graph.node() for _ in range(size)]
        for a, b in pairwise(keys):
            graph.edge(a, b)
    ada = graph.do(CreateIdentity(name="Ada", members=("string-entity:node-1", "string-entity:node-8"))).node.id

    graph.arrange()

    positions = [graph.get(key).position for key in graph.ids()]
    assert overlaps(positions) == []
    assert abs(min(p.x for p in positions) + max(p.x for p in positions)) < 1
    parts = parts_of(graph.do(TakeMap()))
    assert [len(part.nodes) for part in parts] == [11, 4, 3]
    assert graph.ids().index(ada) in parts[0].nodes


def test_a_layout_is_one_step_and_a_second_one_changes_nothing():
    graph = Graph()
    keys = [graph.node() for _ in range(5)]
    graph.edge(keys[0], keys[1])
    before, count = graph.content(), graph.world.undo_count

    graph.arrange()
    assert graph.world.undo_count == count + 1
    revision = graph.world.revision
    graph.arrange()
    assert graph.world.revision == revision

    graph.world.undo()
    assert graph.content() == before


@pytest.mark.parametrize("change", ["node", "edge", "move", "remove"])
def test_a_layout_of_a_map_that_has_changed_is_refused(change: str):
    graph = Graph()
    a, b = graph.node("a"), graph.node("b")
    snapshot = graph.do(TakeMap())
    match change:
        case "node":
            graph.node("c")
        case "edge":
            graph.edge(a, b)
        case "move":
            graph.do(CreateIdentity(name="Ada", members=(a,)))
        case _:
            graph.world.undo()
    before = graph.records()

    with pytest.raises(ConflictError, match="has changed"):
        graph.do(ApplyLayout(snapshot, (Point(1, 1), Point(2, 2))))
    assert graph.records() == before


def test_an_empty_map_and_one_past_reading_are_refused():
    graph = Graph()
    with pytest.raises(ConflictError, match="has 0 nodes"):
        graph.do(TakeMap())
    assert MAX_LAYOUT_NODES == 20_000
    assert together([]) == []


@pytest.mark.slow
def test_the_largest_map_is_arranged_without_overlaps():
    chance = random.Random(5)
    size = 20_000
    edges = (*acyclic(size), *((chance.randrange(size), chance.randrange(size)) for _ in range(10_000)))
    points = arranged(Part(tuple(range(size)), edges))
    assert size > FORCE_NODES
    assert overlaps(points) == []


def test_a_restored_map_is_arranged_in_the_same_way_in_every_world():
    def positions() -> list[Point]:
        graph = Graph()
        nodes = [NodeState(id=f"string-entity:n{n}", kind="n", label="n", position=(0, 0)) for n in range(150)]
        graph.do(RestoreState(nodes=nodes))
        for a, b in (*acyclic(150), (140, 0)):
            graph.edge(f"string-entity:n{a}", f"string-entity:n{b}")
        graph.arrange("force")
        return [graph.get(key).position for key in graph.ids()]

    assert positions() == positions()
