"""Where changed objects are seen in a picture of the drawing. Owns that alone; pure.

The frame is that of the picture: found with the index, so that a large drawing costs what was changed in it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.drawing.document import Reader, layers_of
from engine.drawing.extents import painted_bounds
from engine.drawing.geometry import Bounds, union_of
from engine.drawing.index import DrawingIndex
from engine.drawing.records import DrawingObject, Text
from engine.drawing.svg import box_with_margin, frame_of
from engine.marks import Mark, PixelSize, Sight, mark_at, standing
from engine.records import Change


def marks(reader: Reader, changes: Iterable[Change], size: PixelSize | None) -> Iterator[Mark]:
    """A mark around the paint of each object of a visible layer that the changes left there, in their order.

    `size` is that of a PNG picture of the whole drawing; None stands for the SVG picture.
    """
    visible = [layer.id for layer in layers_of(reader) if layer.visible]
    frame = _frame(reader, visible, size)
    for record, change in standing(changes):
        if isinstance(record, DrawingObject) and record.layer_id in visible:
            label = record.text if isinstance(record, Text) else record.kind
            mark = mark_at(sight_in(frame, painted_bounds(record)), record.id, label, change)
            if mark is not None:
                yield mark


def sight_in(frame: Bounds, box: Bounds) -> Sight:
    """Where a box of the plane is in a picture that shows that frame of it."""
    return Sight(
        left=(box.left - frame.left) / frame.width,
        top=(frame.top - box.top) / frame.height,
        right=(box.right - frame.left) / frame.width,
        bottom=(frame.top - box.bottom) / frame.height,
    )


def _frame(reader: Reader, layer_ids: Iterable[str], size: PixelSize | None) -> Bounds:
    index = reader.index(DrawingIndex)
    boxes = (index.content(layer_id).painted_around for layer_id in layer_ids)
    painted = union_of(box for box in boxes if box is not None)
    return frame_of(box_with_margin(painted), *(size or (None, None)))[0]
