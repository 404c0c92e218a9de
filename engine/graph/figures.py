"""A map as figures of a drawing: boxes, lines, heads of arrows, words. Owns how nodes and edges look.

Everything is in graph units; what would be too small at the given scale is left out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from engine.drawing.font import LINE_HEIGHT, line_width
from engine.drawing.geometry import Bounds, Point
from engine.drawing.records import AnyObject, Ellipse, Layer, Line, Polygon, Rectangle, Stroke, Text
from engine.drawing.snapshot import DrawingSnapshot, SheetSnapshot
from engine.drawing.style import Style
from engine.graph.keys import is_identity
from engine.graph.palette import IDENTITY_COLOR, MARK, edge_color, fill_color, kind_colors, muted_color
from engine.graph.records import GraphEdge, GraphFocus, GraphNode
from engine.theme import Theme

NODE_WIDTH = 200.0
"""The widest node, in graph units."""
NODE_HEIGHT = 66.0
"""The highest node, in graph units: two lines of label, and the kind."""
NARROWEST = 84.0
PADDING = 14.0
LABEL_SIZE = 15.0
KIND_SIZE = 10.0
EDGE_LABEL_SIZE = 11.0
HEAD_LENGTH = 12.0
HEAD_WIDTH = 10.0
SIDE_STEP = 9.0
"""How far two edges that lead there and back keep from the middle line."""
LOOP_REACH = 34.0
"""How far an edge from a node to itself goes out."""
MARK_GAP = 6.0
READABLE_PIXELS = 4.5
"""Height of letters below which they are not written."""
VISIBLE_PIXELS = 2.5
"""Smallest side of a node in a picture, so that a large map is seen as a cloud at least."""
ARROW_PIXELS = 2.0
"""Length of the head of an arrow below which it is left out."""
MAX_LINES = 3_000
"""Edges of one picture; of more, those of nodes in sight go first, and some are left out evenly."""
_LABEL_LINES = 2
_ELLIPSIS = "…"


@dataclass(frozen=True, slots=True)
class _Box:
    """A node with its size and its words."""

    node: GraphNode
    center: Point
    width: float
    height: float
    lines: tuple[str, ...]

    def border_towards(self, direction: Point) -> float:
        """How far from its middle a line in that direction (of length 1) leaves the box, or the ellipse in it."""
        half_width, half_height = self.width / 2, self.height / 2
        if is_identity(self.node.id):
            return 1 / math.hypot(direction.x / half_width, direction.y / half_height)
        across = half_width / abs(direction.x) if direction.x else math.inf
        up = half_height / abs(direction.y) if direction.y else math.inf
        return min(across, up)


class Figures:
    """Makes figures for one theme and one scale, in pixels for a graph unit."""

    def __init__(self, theme: Theme, *, scale: float, most_lines: int | None = MAX_LINES) -> None:
        self._theme = theme
        self._scale = scale
        self._most_lines = most_lines
        self._line = Style(stroke_color=edge_color(theme), stroke_width=1.6)
        self._head = Style(stroke_color=edge_color(theme), fill_color=edge_color(theme), stroke_width=0.0)
        self._words = Style(stroke_color=edge_color(theme))
        self._muted = Style(stroke_color=muted_color(theme))
        self._title = Style(stroke_color=theme.foreground)
        self._tie = Style(stroke_color=IDENTITY_COLOR, stroke_width=1.2, opacity=0.6)
        self._plate = Style(stroke_width=0.0, fill_color=theme.background, opacity=0.85)
        self._marks = {
            True: Style(stroke_color=MARK, stroke_width=3.5, fill_enabled=False),
            False: Style(stroke_color=MARK, stroke_width=1.5, fill_enabled=False),
        }

    def of(
        self, nodes: Sequence[GraphNode], edges: Iterable[GraphEdge], focus: GraphFocus, frame: Bounds
    ) -> DrawingSnapshot:
        """What of the map can be seen in the frame, edges below nodes."""
        places = {node.id: node for node in nodes}
        styles = {
            kind: Style(stroke_color=color, stroke_width=2.0, fill_color=fill_color(color, self._theme))
            for kind, color in kind_colors(node.kind for node in nodes).items()
        }
        shown = [node for node in nodes if _reach(node).overlaps(frame)]
        boxes = {node.id: self._box(node) for node in shown}
        lines = list(self._edges(edges, places, boxes, frame))
        ties = list(self._ties(nodes, places, boxes, frame))
        marked = {key: key == focus.focused for key in (*focus.selected, *filter(None, (focus.focused,)))}
        figures = [
            figure for node in shown for figure in self._node(boxes[node.id], styles[node.kind], marked.get(node.id))
        ]
        return DrawingSnapshot((_sheet("edges", 1, [*ties, *lines]), _sheet("nodes", 2, figures)))

    def _readable(self, size: float) -> bool:
        return size * self._scale >= READABLE_PIXELS

    def _box(self, node: GraphNode) -> _Box:
        if not self._readable(LABEL_SIZE):
            return _unwritten(node, VISIBLE_PIXELS / self._scale)
        lines = tuple(_wrapped(node.label, (NODE_WIDTH - 2 * PADDING) / LABEL_SIZE))
        words = max(line_width(line) for line in lines) * LABEL_SIZE
        width = max(NARROWEST, words + 2 * PADDING, line_width(node.kind) * KIND_SIZE + 2 * PADDING)
        height = NODE_HEIGHT - (_LABEL_LINES - len(lines)) * LABEL_SIZE * LINE_HEIGHT
        return _Box(node, node.position, min(width, NODE_WIDTH), height, lines)

    def _node(self, box: _Box, style: Style, focused: bool | None) -> Iterator[AnyObject]:
        node = box.node
        name = f"node-{node.order}"
        shape = Ellipse if is_identity(node.id) else Rectangle
        if focused is not None:
            gap = max(MARK_GAP, 2 / self._scale)
            size = Point(box.width + 2 * gap, box.height + 2 * gap)
            yield shape(
                id=f"{name}-mark", layer_id="nodes", order=0, style=self._marks[focused], center=box.center, size=size
            )
        size = Point(box.width, box.height)
        yield shape(id=name, layer_id="nodes", order=0, style=style, center=box.center, size=size)
        if not box.lines:
            return
        x, top = box.center.x, box.center.y + box.height / 2 - 0.45 * PADDING
        for number, line in enumerate(box.lines):
            y = top - (number + 0.5) * LABEL_SIZE * LINE_HEIGHT
            yield self._text(f"{name}-label-{number}", line, LABEL_SIZE, Point(x, y), self._title)
        if self._readable(KIND_SIZE):
            y = top - len(box.lines) * LABEL_SIZE * LINE_HEIGHT - 0.6 * KIND_SIZE * LINE_HEIGHT
            yield self._text(f"{name}-kind", node.kind, KIND_SIZE, Point(x, y), self._muted)

    def _edges(
        self,
        edges: Iterable[GraphEdge],
        places: Mapping[str, GraphNode],
        boxes: Mapping[str, _Box],
        frame: Bounds,
    ) -> Iterator[AnyObject]:
        near = frame.grown(LOOP_REACH)
        seen = [edge for edge in edges if _crosses(places[edge.source], places[edge.target], near)]
        pairs = {(edge.source, edge.target) for edge in seen}
        for edge in self._drawn(seen, boxes):
            source = boxes.get(edge.source) or _unwritten(places[edge.source])
            target = boxes.get(edge.target) or _unwritten(places[edge.target])
            if edge.source == edge.target:
                yield from self._loop(edge, source)
            else:
                yield from self._arrow(edge, source, target, both_ways=(edge.target, edge.source) in pairs)

    def _drawn(self, seen: list[GraphEdge], boxes: Mapping[str, _Box]) -> list[GraphEdge]:
        most = self._most_lines
        if most is None or len(seen) <= most:
            return seen
        touching = [edge for edge in seen if edge.source in boxes or edge.target in boxes]
        others = [edge for edge in seen if edge.source not in boxes and edge.target not in boxes]
        kept = _evenly(touching, most)
        return [*kept, *_evenly(others, most - len(kept))]

    def _arrow(self, edge: GraphEdge, source: _Box, target: _Box, *, both_ways: bool) -> Iterator[AnyObject]:
        distance = math.dist(source.center, target.center)
        if distance == 0:
            return
        along = Point((target.center.x - source.center.x) / distance, (target.center.y - source.center.y) / distance)
        side = SIDE_STEP if both_ways else 0.0
        shift = Point(-along.y * side, along.x * side)
        leaves, arrives = source.border_towards(along), distance - target.border_towards(along)
        if arrives <= leaves:  # the boxes overlap; a line from middle to middle is all that can be shown
            leaves, arrives = 0.0, distance

        def at(way: float) -> Point:
            return Point(source.center.x + along.x * way + shift.x, source.center.y + along.y * way + shift.y)

        has_head = HEAD_LENGTH * self._scale >= ARROW_PIXELS and arrives - leaves > HEAD_LENGTH
        end = at(arrives - HEAD_LENGTH) if has_head else at(arrives)
        yield self._line_between(f"edge-{edge.order}", at(leaves), end, self._line)
        if has_head:
            tip, back = at(arrives), at(arrives - HEAD_LENGTH)
            wing = Point(-along.y * HEAD_WIDTH / 2, along.x * HEAD_WIDTH / 2)
            corners = (tip, Point(back.x + wing.x, back.y + wing.y), Point(back.x - wing.x, back.y - wing.y))
            yield Polygon(id=f"edge-{edge.order}-head", layer_id="edges", order=0, style=self._head, points=corners)
        # There and back have a label each, so each stands nearer to where its edge begins.
        yield from self._edge_label(edge, at(leaves + (arrives - leaves) * (0.36 if both_ways else 0.5)))

    def _loop(self, edge: GraphEdge, box: _Box) -> Iterator[AnyObject]:
        x, top = box.center.x + box.width / 4, box.center.y + box.height / 2
        peak = top + LOOP_REACH
        points = (Point(x - 12, top), Point(x - 16, peak - 10), Point(x, peak), Point(x + 16, peak - 10))
        end = Point(x + 12, top + HEAD_LENGTH)
        yield Stroke(id=f"edge-{edge.order}", layer_id="edges", order=0, style=self._line, points=(*points, end))
        half = HEAD_WIDTH / 2
        corners = (Point(end.x, top), Point(end.x - half, end.y), Point(end.x + half, end.y))
        yield Polygon(id=f"edge-{edge.order}-head", layer_id="edges", order=0, style=self._head, points=corners)
        yield from self._edge_label(edge, Point(x, peak + EDGE_LABEL_SIZE))

    def _edge_label(self, edge: GraphEdge, place: Point) -> Iterator[AnyObject]:
        if not edge.label or not self._readable(EDGE_LABEL_SIZE):
            return
        (line,) = _wrapped(edge.label, NODE_WIDTH / EDGE_LABEL_SIZE, lines=1)
        size = Point(line_width(line) * EDGE_LABEL_SIZE + 6, EDGE_LABEL_SIZE * LINE_HEIGHT)
        name = f"edge-{edge.order}-label"
        yield Rectangle(id=f"{name}-plate", layer_id="edges", order=0, style=self._plate, center=place, size=size)
        yield self._text(name, line, EDGE_LABEL_SIZE, place, self._words)

    def _ties(
        self,
        nodes: Iterable[GraphNode],
        places: Mapping[str, GraphNode],
        boxes: Mapping[str, _Box],
        frame: Bounds,
    ) -> Iterator[AnyObject]:
        """Thin lines without heads from nodes to the identity that they share."""
        for node in nodes:
            identity = None if node.identity is None else places.get(node.identity)
            if identity is not None and node.position != identity.position and _crosses(node, identity, frame):
                yield self._line_between(f"node-{node.order}-tie", node.position, identity.position, self._tie)

    def _line_between(self, name: str, start: Point, end: Point, style: Style) -> Line:
        return Line(id=name, layer_id="edges", order=0, style=style, points=(start, end))

    def _text(self, name: str, words: str, size: float, center: Point, style: Style) -> Text:
        extent = Point(max(line_width(words) * size, 0.1), LINE_HEIGHT * size)
        return Text(
            id=name, layer_id="words", order=0, style=style, center=center, size=extent, text=words, font_size=size
        )


def _unwritten(node: GraphNode, least: float = 0.0) -> _Box:
    """A node without its words, of an ordinary size."""
    return _Box(node, node.position, max(NODE_WIDTH * 0.7, least), max(NODE_HEIGHT * 0.7, least), ())


def _evenly(edges: list[GraphEdge], most: int) -> list[GraphEdge]:
    """At most so many of them, from all over the list."""
    if len(edges) <= most:
        return edges
    return [edges[number * len(edges) // most] for number in range(most)]


def _crosses(one: GraphNode, other: GraphNode, frame: Bounds) -> bool:
    """Whether the line from node to node has a point in the frame."""
    (x, y), (to_x, to_y) = one.position, other.position
    begin, end = 0.0, 1.0
    for start, step, low, high in ((x, to_x - x, frame.left, frame.right), (y, to_y - y, frame.bottom, frame.top)):
        if step == 0:
            if not low <= start <= high:
                return False
            continue
        enters, leaves = (low - start) / step, (high - start) / step
        if enters > leaves:
            enters, leaves = leaves, enters
        begin, end = max(begin, enters), min(end, leaves)
        if begin > end:
            return False
    return True


def _sheet(name: str, order: int, figures: list[AnyObject]) -> SheetSnapshot:
    return SheetSnapshot(Layer(id=name, name=name, order=order), tuple(figures))


def _reach(node: GraphNode) -> Bounds:
    (x, y) = node.position
    return Bounds(x, y, x, y).grown(NODE_WIDTH / 2 + LOOP_REACH)


def _wrapped(text: str, most: float, *, lines: int = _LABEL_LINES) -> list[str]:
    """The text in at most so many lines of at most so many ems; what does not fit ends in an ellipsis."""
    made: list[str] = []
    rest = text
    while rest and len(made) < lines:
        line = _prefix(rest, most)
        is_last = len(made) == lines - 1
        if len(line) < len(rest):
            if is_last:
                line = _prefix(rest, most - line_width(_ELLIPSIS)).rstrip() + _ELLIPSIS
                rest = ""
            else:
                space = line.rfind(" ")
                cut = space if space > 0 and rest[len(line)] != " " else len(line)
                line, rest = line[:cut], rest[cut:].lstrip()
        else:
            rest = ""
        made.append(line.rstrip())
    return made


def _prefix(text: str, most: float) -> str:
    """The longest beginning that is at most so many ems wide; at least one character."""
    width = 0.0
    for at, letter in enumerate(text):
        width += line_width(letter)
        if width > most and at:
            return text[:at]
    return text
