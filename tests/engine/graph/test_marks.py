"""Where changed nodes and edges are seen: exactly where the picture of the map has them."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from engine.graph.map_picture import picture
from engine.graph.marks import marks
from engine.graph.navigate import FocusNode
from engine.graph.nodes import RemoveNodes
from engine.marks import Mark, PixelSize
from engine.theme import THEMES
from engine.view import ViewRequest
from tests.engine.graph.samples import Graph

SVG = "{http://www.w3.org/2000/svg}"


def marks_of(graph: Graph, since: int = 0, size: PixelSize | None = None) -> list[Mark]:
    changes = graph.world.changes_since(since)
    assert changes is not None
    return list(marks(graph.table, changes, size))


def test_the_mark_of_a_node_is_where_the_svg_has_its_box() -> None:
    graph = Graph()
    graph.node("first", position=(0.0, 0.0))
    since = graph.world.revision
    graph.node("A second one", position=(900.0, 400.0))
    root = ElementTree.fromstring(picture(graph.table).svg(THEMES["dark"]))
    left, top, width, height = (float(number) for number in root.attrib["viewBox"].split())
    boxes = [
        (float(box.attrib["x"]), float(box.attrib["y"]), float(box.attrib["width"]), float(box.attrib["height"]))
        for box in root.iter(f"{SVG}rect")
    ]
    x, y, wide, high = max(boxes[1:])  # the first is the background

    (mark,) = marks_of(graph, since)

    assert (mark.label, mark.change) == ("A second one", "added")
    stroke = 1.0
    assert mark.left == pytest.approx((x - stroke - left) / width, abs=1e-5)
    assert mark.top == pytest.approx((y - stroke - top) / height, abs=1e-5)
    assert mark.width == pytest.approx((wide + 2 * stroke) / width, abs=1e-5)
    assert mark.height == pytest.approx((high + 2 * stroke) / height, abs=1e-5)


def test_an_edge_is_marked_between_its_ends_with_its_label() -> None:
    graph = Graph()
    one, other = graph.node("one", position=(0.0, 0.0)), graph.node("other", position=(800.0, 0.0))
    since = graph.world.revision
    graph.edge(one, other, "leads to")
    graph.edge(other, one)
    back, there = marks_of(graph, since)
    assert (there.label, back.label) == ("leads to", "other → one")
    ends = {mark.label: mark for mark in marks_of(graph)}
    for edge in (there, back):
        assert ends["one"].left < edge.left < edge.left + edge.width < ends["other"].left + ends["other"].width
    # There and back keep to the two sides of the middle.
    assert abs((there.top + there.height / 2) - (back.top + back.height / 2)) > 0.01


def test_an_edge_from_a_node_to_itself_is_marked_above_it() -> None:
    graph = Graph()
    node = graph.node("one", position=(0.0, 0.0))
    since = graph.world.revision
    graph.edge(node, node)
    (loop,) = marks_of(graph, since)
    (box,) = (mark for mark in marks_of(graph) if mark.id == node)
    assert loop.top < box.top
    assert loop.label == "one → one"


def test_what_was_removed_and_what_is_in_focus_have_no_mark() -> None:
    graph = Graph()
    one, other = graph.node("one"), graph.node("other")
    graph.edge(one, other)
    since = graph.world.revision
    graph.do(FocusNode(key=one))
    assert marks_of(graph, since) == []
    graph.do(RemoveNodes(keys=(one,)))
    assert marks_of(graph, since) == []
    assert [mark.label for mark in marks_of(graph)] == ["other"]


def test_a_png_of_a_wide_map_is_marked_in_its_own_frame() -> None:
    graph = Graph()
    graph.node("one", position=(-4000.0, 0.0))
    since = graph.world.revision
    graph.node("other", position=(4000.0, 0.0))
    rendered = picture(graph.table).png(ViewRequest(width=200, height=200), THEMES["dark"])
    assert rendered.box is not None
    (mark,) = marks_of(graph, since, (200, 200))
    middle = mark.left + mark.width / 2, mark.top + mark.height / 2
    assert middle[0] == pytest.approx((4000 - rendered.box.x) / rendered.box.width)
    assert middle[1] == pytest.approx(0.5)
    (in_svg,) = marks_of(graph, since)
    assert in_svg.height > 2 * mark.height, "the SVG has another shape"
