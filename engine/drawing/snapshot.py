"""A drawing as a frozen value, for painting it away from the world that owns it. Owns taking it; never paints."""

from __future__ import annotations

from dataclasses import dataclass

from engine.drawing.document import Reader, existing_object, layers_of
from engine.drawing.extents import painted_bounds
from engine.drawing.geometry import Bounds, union_of
from engine.drawing.index import DrawingIndex
from engine.drawing.records import AnyObject, Layer
from engine.records import Transaction
from engine.world import Command


@dataclass(frozen=True, slots=True)
class SheetSnapshot:
    """One layer and its objects from bottom to top."""

    layer: Layer
    objects: tuple[AnyObject, ...]


@dataclass(frozen=True, slots=True)
class DrawingSnapshot:
    """The visible layers from bottom to top. What is hidden is not in it."""

    sheets: tuple[SheetSnapshot, ...] = ()

    def painted_bounds(self) -> Bounds | None:
        """The box around all that is painted, stroke widths included; None for a drawing without visible objects."""
        return union_of(painted_bounds(item) for sheet in self.sheets for item in sheet.objects)


def snapshot(reader: Reader, region: Bounds | None = None) -> DrawingSnapshot:
    """The visible layers; of their objects those whose paint may reach into `region`, where one is given."""
    index = reader.index(DrawingIndex)
    sheets: list[SheetSnapshot] = []
    for layer in layers_of(reader):
        if layer.visible:
            content = index.content(layer.id)
            shown = content.ids() if region is None else content.painted_in(region)
            sheets.append(SheetSnapshot(layer, tuple(existing_object(reader, object_id) for object_id in shown)))
    return DrawingSnapshot(tuple(sheets))


@dataclass(frozen=True, slots=True)
class TakeSnapshot(Command[DrawingSnapshot]):
    """Give the drawing, or what of it may reach into `region`, as a frozen value. Changes nothing."""

    label = "look at the drawing"
    region: Bounds | None = None

    def run(self, world: Transaction) -> DrawingSnapshot:
        """See `snapshot`."""
        return snapshot(world, self.region)
