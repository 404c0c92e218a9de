"""How to read a drawing: its layers, the active one, the selection, the pen. Owns what holds where no record says it.

A drawing always has a layer: in a fresh world it is `Layer 1`, which becomes a record with the first change.
"""

from __future__ import annotations

from typing import Protocol, TypeVar, cast

from engine.drawing.index import DrawingIndex
from engine.drawing.records import AnyObject, DrawingFocus, DrawingObject, DrawingPen, Layer
from engine.errors import NotFoundError
from engine.records import Index, Record, Transaction

RecordT = TypeVar("RecordT", bound=Record)
IndexT = TypeVar("IndexT", bound=Index)

LayerReference = str | int
"""How a layer is named: by its id, by its name, or by its place counted from 1 at the bottom."""

FIRST_LAYER = Layer(id="layer-1", name="Layer 1", order=1)
"""The layer of a drawing in which nothing has been done yet."""
FIRST_FOCUS = DrawingFocus(active_layer_id=FIRST_LAYER.id)
"""What is being worked on there."""


class Reader(Protocol):
    """What `RecordTable` and `Transaction` have in common."""

    def get(self, kind: type[RecordT], record_id: str) -> RecordT | None:
        """See `RecordTable.get`."""
        ...

    def index(self, kind: type[IndexT]) -> IndexT:
        """See `RecordTable.index`."""
        ...


def layers_of(reader: Reader) -> list[Layer]:
    """The layers from bottom to top; at least one."""
    return reader.index(DrawingIndex).layers() or [FIRST_LAYER]


def object_of(reader: Reader, object_id: str) -> AnyObject | None:
    """The object of that id, or None."""
    return cast("AnyObject | None", reader.get(DrawingObject, object_id))


def existing_object(reader: Reader, object_id: str) -> AnyObject:
    """The object of that id, which the caller has from the index or from a checked selection."""
    item = object_of(reader, object_id)
    if item is None:
        raise LookupError(f"the drawing's index names {object_id}, which its table lacks")
    return item


def focus_of(reader: Reader) -> DrawingFocus:
    """The active layer and the selection, without what no longer exists. `active_layer_id` is always a layer."""
    focus = reader.get(DrawingFocus, "focus") or FIRST_FOCUS
    layers = layers_of(reader)
    active = next((layer.id for layer in layers if layer.id == focus.active_layer_id), None)
    if active is None:
        return DrawingFocus(active_layer_id=layers[-1].id)
    bounds = reader.index(DrawingIndex).content(active).bounds
    if all(object_id in bounds for object_id in focus.selection):
        return focus
    return DrawingFocus(active_layer_id=active, selection=tuple(i for i in focus.selection if i in bounds))


def active_layer(reader: Reader) -> Layer:
    """The layer that is drawn on."""
    active = focus_of(reader).active_layer_id
    return next(layer for layer in layers_of(reader) if layer.id == active)


def set_focus(world: Transaction, layer_id: str, selection: tuple[str, ...] = (), *, undoable: bool = True) -> None:
    """Make that layer the active one and those objects of it the selection; no change where they are already."""
    focus = DrawingFocus(active_layer_id=layer_id, selection=selection)
    if focus != (world.get(DrawingFocus, "focus") or FIRST_FOCUS):
        world.put(focus, undoable=undoable)


def pen_of(reader: Reader) -> DrawingPen:
    """The active tool and the style of what is inserted next."""
    return reader.get(DrawingPen, "pen") or DrawingPen()


def set_pen(world: Transaction, pen: DrawingPen) -> None:
    """Work with that pen from now on; no change where it is that already."""
    if pen != pen_of(world):
        world.put(pen)


def find_layer(reader: Reader, reference: LayerReference | None) -> Layer:
    """The layer that is meant; the active one for None.

    A whole number counts from 1 at the bottom; a text is an id, or else a name. Raises `NotFoundError`, saying which
    layers there are.
    """
    if reference is None:
        return active_layer(reader)
    layers = layers_of(reader)
    if isinstance(reference, int):
        if 1 <= reference <= len(layers):
            return layers[reference - 1]
        raise NotFoundError(f"There is no layer {reference}: layers count from 1 (bottom) to {len(layers)} (top).")
    for layer in layers:
        if layer.id == reference:
            return layer
    for layer in layers:
        if layer.name == reference:
            return layer
    shown = ", ".join(f"{layer.id} ({layer.name!r})" for layer in layers[:_SHOWN_LAYERS])
    more = f" and {len(layers) - _SHOWN_LAYERS} more" if len(layers) > _SHOWN_LAYERS else ""
    raise NotFoundError(f"There is no layer with the id or name {reference!r:.80}. The layers are {shown}{more}.")


_SHOWN_LAYERS = 12
"""How many layers an error lists: enough to pick from, short enough to read."""


def ensure_layers(world: Transaction) -> None:
    """Make the first layer a record, if nothing has yet. No step of the history, so that undo leaves a layer."""
    if not world.index(DrawingIndex).layers():
        world.new_id("layer")  # the first layer bears this number
        world.put(FIRST_LAYER, undoable=False)


def selection_kind(reader: Reader) -> str | None:
    """`"drawing-object"` when at least one object is selected, else None."""
    focus = reader.get(DrawingFocus, "focus")
    if focus is None or not focus.selection:
        return None
    return "drawing-object" if focus_of(reader).selection else None
