"""Looking at a drawing without changing it: a summary of everything, and a page of the objects that are asked for.

Owns which objects those are and in which order; how they are written down, and how much of it, is the asker's.
Costs what is on the page and, where objects are filtered, one look at each object of the layers in question.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from engine.drawing.document import (
    LayerReference,
    existing_object,
    find_layer,
    focus_of,
    layers_of,
    object_of,
    pen_of,
)
from engine.drawing.geometry import Bounds, union_of
from engine.drawing.index import DrawingIndex
from engine.drawing.records import AnyObject, DrawingFocus, DrawingPen, Layer, ObjectKind
from engine.errors import NotFoundError
from engine.records import Transaction
from engine.world import Command


@dataclass(frozen=True, slots=True)
class LayerSummary:
    """One layer: its place counted from 1 at the bottom, how many objects of which kinds, and the box around them."""

    layer: Layer
    position: int
    object_count: int
    kinds: tuple[tuple[str, int], ...]
    bounds: Bounds | None


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """One object, its true bounds, and whether it is selected."""

    item: AnyObject
    bounds: Bounds
    selected: bool


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was seen. `objects` are the first of those that begin at the offset; `total` counts all that were met."""

    layers: tuple[LayerSummary, ...]
    object_count: int
    bounds: Bounds | None
    focus: DrawingFocus
    pen: DrawingPen
    objects: tuple[ObjectEntry, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspect(Command[Inspection]):
    """Look at the drawing: all layers, and up to `limit` objects from `offset` on that meet every filter.

    Objects come from bottom to top, layer by layer. Raises `NotFoundError` for an unknown layer or id. Changes nothing.
    """

    label = "inspect"
    ids: tuple[str, ...] | None = None
    layer: LayerReference | None = None
    kind: ObjectKind | None = None
    bounds: Bounds | None = None
    selected_only: bool = False
    offset: int = 0
    limit: int = 50

    def run(self, world: Transaction) -> Inspection:
        """Look."""
        index, focus, layers = world.index(DrawingIndex), focus_of(world), layers_of(world)
        summaries = tuple(_summary(index, layer, position) for position, layer in enumerate(layers, start=1))
        selection = frozenset(focus.selection)
        wanted = [find_layer(world, self.layer)] if self.layer is not None else layers
        contents = [index.content(layer.id) for layer in wanted]
        if (self.ids, self.kind, self.bounds, self.selected_only) == (None, None, None, False):
            total = sum(len(content) for content in contents)
            found: list[str] = []
            skipped = self.offset
            for content in contents:
                found += content.page(skipped, self.limit - len(found))
                skipped = max(0, skipped - len(content))
        else:
            met = list(self._met(world, [layer.id for layer in wanted], selection))
            total, found = len(met), met[self.offset : self.offset + self.limit]
        entries: list[ObjectEntry] = []
        for object_id in found:
            item = existing_object(world, object_id)
            bounds = index.content(item.layer_id).bounds[object_id]
            entries.append(ObjectEntry(item, bounds, object_id in selection))
        return Inspection(
            summaries,
            sum(summary.object_count for summary in summaries),
            union_of(summary.bounds for summary in summaries if summary.bounds is not None),
            focus,
            pen_of(world),
            tuple(entries),
            total,
        )

    def _met(self, world: Transaction, layer_ids: list[str], selection: frozenset[str]) -> Iterator[str]:
        index = world.index(DrawingIndex)
        ids: frozenset[str] | None = selection if self.selected_only else None
        if self.ids is not None:
            for object_id in self.ids:
                if object_of(world, object_id) is None:
                    raise NotFoundError(f"There is no object {object_id!r:.80} in this drawing.")
            ids = frozenset(self.ids) if ids is None else ids & frozenset(self.ids)
        for layer_id in layer_ids:
            content = index.content(layer_id)
            for object_id in content.ids() if self.bounds is None else content.touching(self.bounds):
                if ids is not None and object_id not in ids:
                    continue
                if self.kind is None or existing_object(world, object_id).kind == self.kind:
                    yield object_id


def _summary(index: DrawingIndex, layer: Layer, position: int) -> LayerSummary:
    content = index.content(layer.id)
    return LayerSummary(layer, position, len(content), tuple(sorted(content.kinds.items())), content.around)
