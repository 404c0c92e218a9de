"""A drawing as a frozen value, for painting it away from the world that owns it. Owns taking it; never paints."""

from __future__ import annotations

from dataclasses import dataclass

from engine.drawing.document import Reader, existing_object, layers_of
from engine.drawing.extents import bounds_of, painted_bounds
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
        return union_of(painted_bounds(item, bounds_of(item)) for sheet in self.sheets for item in sheet.objects)


def snapshot(reader: Reader, region: Bounds | None = None) -> DrawingSnapshot:
    """The visible layers; of their objects those whose paint may reach into `region`, where one is given."""
    index = reader.index(DrawingIndex)
    return DrawingSnapshot(
        tuple(
            SheetSnapshot(
                layer,
                tuple(
                    item
                    for item, outline in _objects(reader, index, layer)
                    if region is None or painted_bounds(item, outline).overlaps(region)
                ),
            )
            for layer in layers_of(reader)
            if layer.visible
        )
    )


def _objects(reader: Reader, index: DrawingIndex, layer: Layer) -> list[tuple[AnyObject, Bounds]]:
    content = index.content(layer.id)
    return [(existing_object(reader, object_id), content.bounds[object_id]) for object_id in content.ids()]


@dataclass(frozen=True, slots=True)
class TakeSnapshot(Command[DrawingSnapshot]):
    """Give the drawing, or what of it may reach into `region`, as a frozen value. Changes nothing."""

    label = "look at the drawing"
    region: Bounds | None = None

    def run(self, world: Transaction) -> DrawingSnapshot:
        """See `snapshot`."""
        return snapshot(world, self.region)
