"""Where changed nodes and edges are seen in a picture of the map. Owns that alone; pure.

The figures are those that the picture is made of: made for what was changed, in the frame of the whole map.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.drawing.extents import painted_bounds
from engine.drawing.geometry import Bounds, union_of
from engine.drawing.marks import sight_in
from engine.drawing.snapshot import DrawingSnapshot
from engine.drawing.svg import frame_of
from engine.graph.document import NO_FOCUS, Reader, existing_node
from engine.graph.figures import Figures
from engine.graph.index import GraphIndex
from engine.graph.map_picture import SVG_SCALE, whole_map
from engine.graph.records import GraphEdge, GraphNode, edge_id
from engine.marks import Mark, PixelSize, mark_at, standing
from engine.records import Change
from engine.theme import DEFAULT_THEME, THEMES


def marks(reader: Reader, changes: Iterable[Change], size: PixelSize | None) -> Iterator[Mark]:
    """A mark around each node and each edge that the changes left on the map, in their order.

    `size` is that of a PNG picture of the whole map; None stands for the SVG picture.
    """
    whole = whole_map(reader.index(GraphIndex).around)
    frame = frame_of(whole, *(size or (None, None)))[0]
    scale = SVG_SCALE if size is None else size[0] / frame.width
    # Colours are all that a theme says of figures.
    figures = Figures(THEMES[DEFAULT_THEME], scale=scale, most_lines=None)
    for record, change in standing(changes):
        if isinstance(record, GraphNode):
            label, box = record.label, _node_box(figures, record, frame)
        elif isinstance(record, GraphEdge):
            ends = existing_node(reader, record.source), existing_node(reader, record.target)
            back = reader.get(GraphEdge, edge_id(record.target, record.source))
            label = record.label or f"{ends[0].label} → {ends[1].label}"
            box = _edge_box(figures, record, back, ends, frame)
        else:
            continue
        mark = None if box is None else mark_at(sight_in(frame, box), record.id, label, change)
        if mark is not None:
            yield mark


def _node_box(figures: Figures, node: GraphNode, frame: Bounds) -> Bounds | None:
    return _box_of(figures.of((node,), (), NO_FOCUS, frame), "nodes", f"node-{node.order}")


def _edge_box(
    figures: Figures, edge: GraphEdge, back: GraphEdge | None, ends: tuple[GraphNode, GraphNode], frame: Bounds
) -> Bounds | None:
    """The box around an edge with its label. It keeps to one side where another leads back."""
    edges = (edge,) if back is None or back.id == edge.id else (edge, back)
    return _box_of(figures.of(ends, edges, NO_FOCUS, frame), "edges", f"edge-{edge.order}")


def _box_of(painted: DrawingSnapshot, sheet_id: str, name: str) -> Bounds | None:
    """The box around the figures that are called so, or begin with that and a dash."""
    return union_of(
        painted_bounds(item)
        for sheet in painted.sheets
        if sheet.layer.id == sheet_id
        for item in sheet.objects
        if item.id == name or item.id.startswith(f"{name}-")
    )
