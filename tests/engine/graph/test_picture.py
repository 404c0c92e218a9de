"""The picture of a graph: what is on it, in which colours, and what is left out when it would be too small."""

from __future__ import annotations

import io
import xml.etree.ElementTree as ET
import zlib
from struct import unpack_from

import pytest

from engine.drawing.color import parse_color
from engine.drawing.font import line_width
from engine.drawing.geometry import Bounds
from engine.drawing.records import Line
from engine.graph.figures import MAX_LINES, Figures, _wrapped
from engine.graph.identities import CreateIdentity
from engine.graph.map_picture import picture
from engine.graph.navigate import FocusNode
from engine.graph.palette import MARK, fill_color, kind_colors
from engine.graph.state import EdgeState, NodeState, RestoreState
from engine.theme import THEMES
from engine.view import Rendered, ViewBox, ViewRequest
from tests.engine.graph.samples import Graph

SVG = "{http://www.w3.org/2000/svg}"
WIDTH, HEIGHT = 200, 150
DARK, LIGHT = THEMES["dark"], THEMES["light"]


class Pixels:
    """A PNG that was rendered, by pixel and by place on the map."""

    def __init__(self, rendered: Rendered) -> None:
        data = rendered.png
        self.width, self.height = unpack_from(">II", data, 16)
        assert (self.width, self.height) == (rendered.width, rendered.height)
        assert rendered.box is not None
        self.box = rendered.box
        packed, at = b"", 8
        while at < len(data):
            length, kind = unpack_from(">I4s", data, at)
            packed += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
            at += 12 + length
        self.rows = _unfiltered(zlib.decompress(packed), self.width)

    def at(self, x: float, y: float) -> tuple[int, int, int]:
        column = int((x - self.box.x) / self.box.width * self.width)
        row = int((self.box.y + self.box.height - y) / self.box.height * self.height)
        red, green, blue, _ = self.rows[row][4 * column : 4 * column + 4]
        return red, green, blue

    def count(self, color: str) -> int:
        wanted = bytes(parse_color(color)[:3])
        return sum(row[at : at + 3] == wanted for row in self.rows for at in range(0, 4 * self.width, 4))

    def brightest(self) -> int:
        """The largest sum of the channels of a pixel; letters are brighter than anything else on a dark map."""
        return max(sum(row[at : at + 3]) for row in self.rows for at in range(0, 4 * self.width, 4))


def _unfiltered(data: bytes, width: int) -> list[bytes]:
    stream, above, rows = io.BytesIO(data), bytearray(4 * width), list[bytes]()
    while kind := stream.read(1):
        row = bytearray(stream.read(4 * width))
        for at in range(len(row)):
            left, up, corner = (row[at - 4] if at > 3 else 0), above[at], (above[at - 4] if at > 3 else 0)
            estimate = left + up - corner
            nearest = min((left, up, corner), key=lambda value: abs(estimate - value))
            row[at] = (row[at] + (0, left, up, (left + up) // 2, nearest)[kind[0]]) % 256
        rows.append(bytes(row))
        above = row
    return rows


def pixels(graph: Graph, *, theme: str = "dark", box: ViewBox | None = None) -> Pixels:
    return Pixels(picture(graph.table).png(ViewRequest(width=WIDTH, height=HEIGHT, box=box), THEMES[theme]))


def texts(svg: str) -> list[str]:
    return [text for element in ET.fromstring(svg).iter(f"{SVG}text") if (text := "".join(element.itertext()))]


def ids(svg: str) -> set[str]:
    return {element.attrib["id"] for element in ET.fromstring(svg).iter() if "id" in element.attrib}


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_a_node_is_a_box_in_the_colour_of_its_kind_where_its_position_is(theme: str):
    graph = Graph()
    graph.node("a", kind="person", position=(100, 100))
    graph.node("b", kind="service", position=(-100, -50))

    shown = pixels(graph, theme=theme, box=ViewBox(-200, -150, 400, 300))

    colors = kind_colors(["person", "service"])
    for kind, (x, y) in (("person", (100, 100)), ("service", (-100, -50))):
        inside = fill_color(colors[kind], THEMES[theme])
        assert shown.at(x + 30, y) == parse_color(inside)[:3]
    assert shown.at(-100, 100) == parse_color(THEMES[theme].background)[:3]


def test_what_is_in_focus_is_framed():
    graph = Graph()
    a = graph.node("a")
    assert pixels(graph).count(MARK) == 0
    graph.do(FocusNode(key=a))
    assert pixels(graph).count(MARK) > 30


def test_an_edge_has_a_head_at_its_target_only():
    graph = Graph()
    a, b = graph.node("a", position=(-150, 0)), graph.node("b", position=(150, 0))
    graph.edge(a, b)
    shown = pixels(graph, box=ViewBox(-200, -150, 400, 300))
    background = parse_color(DARK.background)[:3]

    assert shown.at(0, 0) != background
    assert shown.at(150 - 42 - 8, 2.5) != background
    assert shown.at(-150 + 42 + 8, 2.5) == background


def test_an_svg_holds_every_label_and_escapes_what_it_must():
    graph = Graph()
    a, b = graph.node('<a> & "b"', kind="person"), graph.node("two")
    graph.edge(a, b, "likes <3")
    graph.do(CreateIdentity(name="Ada", members=(a,)))
    graph.edge(a, a, "self")

    svg = picture(graph.table).svg(LIGHT)

    assert {'<a> & "b"', "two", "likes <3", "self", "Ada", "person"} <= set(texts(svg))
    assert {"node-1", "node-2", "edge-1", "edge-1-head", "edge-2", "node-1-tie"} <= ids(svg)
    assert len(ids(svg)) == svg.count(' id="')
    assert LIGHT.background in svg


def test_an_empty_map_and_a_map_of_one_node_have_a_picture_of_ordinary_scale():
    graph = Graph()
    assert pixels(graph).count(DARK.background) == WIDTH * HEIGHT
    graph.node("only", position=(5000, -3000))
    shown = pixels(graph)
    assert shown.box.width >= 640
    assert shown.at(5000 + 30, -3000) != parse_color(DARK.background)[:3]


def test_two_nodes_in_one_place_do_not_break_the_picture():
    graph = Graph()
    a, b = graph.node("a", position=(1, 1)), graph.node("b", position=(1, 1))
    graph.edge(a, b, "x")
    graph.do(CreateIdentity(name="Ada", members=(a, b)))
    assert picture(graph.table).svg(DARK)


def test_words_that_nobody_could_read_are_left_out_and_nodes_are_not():
    graph = Graph()
    nodes = [
        NodeState(id=f"string-entity:n{n}", kind="n", label="label", position=(n % 40 * 260, n // 40 * 130))
        for n in range(1600)
    ]
    edges = [EdgeState(source=nodes[n].id, target=nodes[n + 1].id, label="x") for n in range(1000)]
    graph.do(RestoreState(nodes=nodes, edges=edges))

    whole, part = pixels(graph), pixels(graph, box=ViewBox(-100, -100, 400, 300))

    assert whole.count(DARK.background) < WIDTH * HEIGHT * 0.9
    assert whole.brightest() < 500 < part.brightest()


def test_kinds_have_different_colours_while_there_are_enough():
    kinds = ["client", "service", "database", "worker", "log", "state", "person", "file", "identity"]
    colors = kind_colors(kinds)
    assert len(set(colors.values())) == len(kinds)
    assert kind_colors(["worker"])["worker"] in colors.values()
    assert len(kind_colors([f"kind-{n}" for n in range(100)])) == 100


@pytest.mark.parametrize(
    "label", ["short", "a label of some words that fills two lines", "x" * 200, "ab " * 60, "数据" * 50]
)
def test_labels_are_wrapped_to_two_lines_that_fit(label: str):
    lines = _wrapped(label, 12)
    assert 1 <= len(lines) <= 2
    assert all(line and line_width(line) <= 12 for line in lines)
    assert label.startswith(lines[0].removesuffix("…"))
    assert ("…" in lines[-1]) == (line_width(label) > 24 or lines[-1].endswith("…"))


def test_of_very_many_edges_a_picture_shows_some_and_an_svg_all():
    graph = Graph()
    nodes = [
        NodeState(id=f"string-entity:n{n}", kind="n", label="n", position=(n % 70 * 260, n // 70 * 130))
        for n in range(4900)
    ]
    edges = [EdgeState(source=nodes[n].id, target=nodes[-1 - n].id) for n in range(MAX_LINES + 500)]
    graph.do(RestoreState(nodes=nodes, edges=edges))
    taken = picture(graph.table)
    frame = Bounds(-200, -200, 20_000, 10_000)

    capped = Figures(DARK, scale=0.05).of(taken.nodes, taken.edges, taken.focus, frame)

    assert len(capped.sheets[0].objects) == MAX_LINES
    assert taken.svg(DARK).count(' id="edge-') >= MAX_LINES + 500


def test_a_part_of_the_map_shows_the_edges_that_pass_through_it_and_no_other():
    graph = Graph()
    a, b = graph.node("a", position=(-5000, 0)), graph.node("b", position=(5000, 100))
    c, d = graph.node("c", position=(-5000, 4000)), graph.node("d", position=(4000, 5000))
    graph.edge(a, b)
    graph.edge(c, d)
    taken = picture(graph.table)

    shown = Figures(DARK, scale=1).of(taken.nodes, taken.edges, taken.focus, Bounds(-200, -200, 200, 200))

    assert {item.id for sheet in shown.sheets for item in sheet.objects} == {"edge-1", "edge-1-head"}


def test_edges_there_and_back_are_two_lines_beside_each_other():
    graph = Graph()
    a, b = graph.node("a", position=(-150, 0)), graph.node("b", position=(150, 0))
    graph.edge(a, b)
    graph.edge(b, a)
    taken = picture(graph.table)

    shown = Figures(DARK, scale=1).of(taken.nodes, taken.edges, taken.focus, Bounds(-300, -200, 300, 200))

    there, back = [item for item in shown.sheets[0].objects if isinstance(item, Line)]
    assert there.points[0].y == there.points[1].y > 0 > back.points[0].y == back.points[1].y
