"""The picture of a graph. Owns what of a map is shown at which size; the drawing's own painter paints it.

Nodes are boxes in the colour of their kind with label and kind, edges are arrows with their label, and what is selected
or in focus is framed. What would be too small to read is left out, so that a picture of a whole large map stays quick.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.drawing.geometry import Bounds, bounds_of_points
from engine.drawing.raster import render_png
from engine.drawing.svg import frame_of, render_svg
from engine.graph.document import NO_FOCUS, Reader, existing_edge, existing_node, focus_of
from engine.graph.figures import NODE_HEIGHT, NODE_WIDTH, Figures
from engine.graph.index import GraphIndex
from engine.graph.records import GraphEdge, GraphFocus, GraphNode
from engine.theme import Theme
from engine.view import Rendered, ViewBox, ViewRequest

MARGIN = 40.0
"""Room around the nodes of a whole map, in graph units."""
SMALLEST_BOX = (640.0, 480.0)
"""What a map of one node shows, in graph units, so that it does not fill the picture."""
SVG_SCALE = 1.0
"""Pixels for a graph unit that an SVG is made for: everything is in it."""


@dataclass(frozen=True, slots=True)
class GraphPicture:
    """A map as it was when the picture was taken. A `Picture`."""

    nodes: tuple[GraphNode, ...] = ()
    edges: tuple[GraphEdge, ...] = ()
    focus: GraphFocus = NO_FOCUS

    def png(self, request: ViewRequest, theme: Theme) -> Rendered:
        """The whole map, or the box that is asked for, grown to the shape of the picture."""
        box = request.box
        wanted = self._whole() if box is None else Bounds(box.x, box.y, box.x + box.width, box.y + box.height)
        frame, (width, height) = frame_of(wanted, request.width, request.height)
        figures = Figures(theme, scale=width / frame.width)
        painted = figures.of(self.nodes, self.edges, self.focus, frame)
        png = render_png(painted, width=width, height=height, background=theme.background, box=frame)
        shown = ViewBox(frame.left, frame.bottom, frame.width, frame.height)
        return Rendered(png=png, width=width, height=height, box=shown)

    def svg(self, theme: Theme) -> str:
        """The whole map, every word in it, on the theme's background."""
        whole = self._whole()
        painted = Figures(theme, scale=SVG_SCALE, most_lines=None).of(self.nodes, self.edges, self.focus, whole)
        return render_svg(painted, background=theme.background, box=whole)

    def _whole(self) -> Bounds:
        return whole_map(bounds_of_points([node.position for node in self.nodes]) if self.nodes else None)


def whole_map(around: Bounds | None) -> Bounds:
    """What a picture of the whole map shows, given the box around the positions of its nodes, if there are any."""
    half_width, half_height = NODE_WIDTH / 2 + MARGIN, NODE_HEIGHT / 2 + MARGIN
    left, bottom, right, top = around or Bounds(0.0, 0.0, 0.0, 0.0)
    box = Bounds(left - half_width, bottom - half_height, right + half_width, top + half_height)
    (x, y), (width, height) = box.center, SMALLEST_BOX
    return box.union(Bounds(x - width / 2, y - height / 2, x + width / 2, y + height / 2))


def picture(reader: Reader) -> GraphPicture:
    """The map, for painting it away from the world that owns it."""
    index = reader.index(GraphIndex)
    return GraphPicture(
        tuple(existing_node(reader, key) for key in index.nodes),
        tuple(existing_edge(reader, edge) for edge in index.edges),
        focus_of(reader),
    )
