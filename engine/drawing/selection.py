"""Commands on the selection: select by ids, kind, look and box; clear; delete what is selected.

Owns what a selection is: objects of the active layer, from bottom to top. Selecting is no step of the history.
Source: findings on the existing tools, section 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from engine.drawing.color import normal_color
from engine.drawing.document import (
    LayerReference,
    existing_object,
    find_layer,
    focus_of,
    object_of,
    set_focus,
)
from engine.drawing.geometry import Bounds
from engine.drawing.index import DrawingIndex
from engine.drawing.records import AnyObject, DrawingObject, ObjectKind, Text
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from engine.records import Transaction
from engine.world import Command

SelectionMode = Literal["replace", "add", "remove"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """What an object looks like; None means that it does not matter. `text` is a part of a text, in either case."""

    stroke_color: str | None = None
    fill_color: str | None = None
    text: str | None = None

    def checked(self) -> Look:
        """The same with colours in normal form. Raises `InvalidArgumentError` where nothing or no colour is given."""
        stroke, fill = self.stroke_color, self.fill_color
        if self == Look():
            raise InvalidArgumentError("filter must give at least one of stroke_color, fill_color and text")
        return replace(
            self,
            stroke_color=None if stroke is None else normal_color(stroke, name="filter.stroke_color"),
            fill_color=None if fill is None else normal_color(fill, name="filter.fill_color"),
        )

    def fits(self, item: AnyObject) -> bool:
        """Whether the object looks so. Only for a look that was `checked`."""
        if self.stroke_color is not None and item.style.stroke_color != self.stroke_color:
            return False
        if self.fill_color is not None:
            shown = item.style.fill_enabled and item.kind in {"rectangle", "ellipse", "polygon"}
            if not shown or item.style.fill_color != self.fill_color:
                return False
        if self.text is not None:
            return isinstance(item, Text) and self.text.casefold() in item.text.casefold()
        return True


@dataclass(frozen=True, slots=True)
class Selected:
    """The selection after a command, and how many objects the criteria met."""

    layer_id: str
    selection: tuple[str, ...]
    matched: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Select(Command[Selected]):
    """Select the objects of one layer that meet every criterion that is given; at least one must be.

    `layer` (the active one by default) becomes active, which clears the selection first. `mode` says what becomes of
    the selection that was there. Raises `NotFoundError` for an id that is not on the layer, `InvalidArgumentError`
    where no criterion is given.
    """

    label = "select"
    undoable = False
    ids: tuple[str, ...] | None = None
    all: bool = False
    kind: ObjectKind | None = None
    bounds: Bounds | None = None
    look: Look | None = None
    layer: LayerReference | None = None
    mode: SelectionMode = "replace"

    def run(self, world: Transaction) -> Selected:
        """Select them."""
        if not self.all and (self.ids, self.kind, self.bounds, self.look) == (None, None, None, None):
            raise InvalidArgumentError(
                "Say what to select: ids, kind, bounds or filter (together: what meets all of them), or all: true."
            )
        layer, before = find_layer(world, self.layer), focus_of(world)
        content = world.index(DrawingIndex).content(layer.id)
        if self.ids is not None:
            self._demand_ids_of(world, layer.id)
        wanted = None if self.ids is None else frozenset(self.ids)
        look = None if self.look is None else self.look.checked()
        matched = [
            object_id
            for object_id in (content.ids() if self.bounds is None else content.touching(self.bounds))
            if (wanted is None or object_id in wanted) and self._fits(world, object_id, look)
        ]
        old = frozenset(before.selection if before.active_layer_id == layer.id else ())
        found = frozenset(matched)
        if self.mode == "add":
            found |= old
        elif self.mode == "remove":
            found = old - found
        selection = tuple(content.in_order(found))
        set_focus(world, layer.id, selection)
        return Selected(layer.id, selection, len(matched))

    def _fits(self, world: Transaction, object_id: str, look: Look | None) -> bool:
        if self.kind is None and look is None:
            return True
        item = existing_object(world, object_id)
        return (self.kind is None or item.kind == self.kind) and (look is None or look.fits(item))

    def _demand_ids_of(self, world: Transaction, layer_id: str) -> None:
        for object_id in self.ids or ():
            item = object_of(world, object_id)
            if item is None:
                raise NotFoundError(f"There is no object {object_id!r:.80} in this drawing; inspect lists the objects.")
            if item.layer_id != layer_id:
                raise NotFoundError(
                    f"{object_id} is on {item.layer_id}, not on {layer_id}: a selection is of one layer, "
                    f"so give layer: {item.layer_id!r} to select there."
                )


@dataclass(frozen=True, slots=True)
class ClearSelection(Command[int]):
    """Select nothing, and say how many objects were selected. No step of the history."""

    label = "clear selection"
    undoable = False

    def run(self, world: Transaction) -> int:
        """Clear it."""
        focus = focus_of(world)
        set_focus(world, focus.active_layer_id)
        return len(focus.selection)


@dataclass(frozen=True, slots=True)
class DeleteSelected(Command[tuple[str, ...]]):
    """Take the selected objects away, and say which they were. Raises `ConflictError` when nothing is selected."""

    label = "delete selected"

    def run(self, world: Transaction) -> tuple[str, ...]:
        """Delete them."""
        selection = selected_ids(world, "delete")
        for object_id in reversed(selection):  # from the top, where the index lets go fastest
            world.remove(DrawingObject, object_id)
        set_focus(world, focus_of(world).active_layer_id)
        return selection


def selected_ids(world: Transaction, purpose: str) -> tuple[str, ...]:
    """The selection, at least one object. Raises `ConflictError` naming the purpose when nothing is selected."""
    selection = focus_of(world).selection
    if not selection:
        raise ConflictError(f"Nothing is selected, so there is nothing to {purpose}: select objects first.")
    return selection


def selected_objects(world: Transaction, purpose: str) -> list[AnyObject]:
    """The selected objects from bottom to top. Raises as `selected_ids`."""
    return [existing_object(world, object_id) for object_id in selected_ids(world, purpose)]
