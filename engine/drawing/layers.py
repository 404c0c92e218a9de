"""Commands on layers: add, duplicate, rename, activate, arrange, delete. Owns what makes a set of layers valid.

There is always at least one layer, names are unique, and each layer has its place in the order. Source: findings on
the existing tools, section 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from engine.drawing.document import (
    LayerReference,
    active_layer,
    ensure_layers,
    existing_object,
    find_layer,
    focus_of,
    layers_of,
    set_focus,
)
from engine.drawing.index import DrawingIndex
from engine.drawing.records import DrawingObject, Layer
from engine.drawing.words import MAX_NAME_LENGTH, checked_name
from engine.errors import ConflictError, InvalidArgumentError
from engine.records import Transaction
from engine.world import Command

MAX_LAYERS = 500
"""Most layers in one drawing. Layers are listed and arranged as a whole, so there must not be as many as objects."""

_COPY_SUFFIX = re.compile(r" Copy( \d+)?$")


@dataclass(frozen=True, slots=True)
class LayerInfo:
    """One layer as it is after a command. `position` counts from 1 at the bottom."""

    id: str
    name: str
    position: int
    visible: bool
    active: bool
    object_count: int


def layer_info(world: Transaction, layer: Layer) -> LayerInfo:
    """What is to be told of a layer."""
    return LayerInfo(
        layer.id,
        layer.name,
        [each.id for each in layers_of(world)].index(layer.id) + 1,
        layer.visible,
        focus_of(world).active_layer_id == layer.id,
        len(world.index(DrawingIndex).content(layer.id)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AddLayer(Command[LayerInfo]):
    """Put a new layer on top, make it the active one and clear the selection.

    Without a name it is called `Layer N`. Raises `ConflictError` for a name that is taken or one layer too many.
    """

    label = "add layer"
    name: str | None = None
    visible: bool = True

    def run(self, world: Transaction) -> LayerInfo:
        """Add it."""
        ensure_layers(world)
        layers = layers_of(world)
        _refuse_too_many(layers)
        if self.name is not None:
            _refuse_taken(layers, checked_name(self.name))
        layer_id = world.new_id("layer")
        name = self.name or _free_name(layers, f"Layer {layer_id.removeprefix('layer-')}")
        layer = Layer(id=layer_id, name=name, order=layers[-1].order + 1, visible=self.visible)
        world.put(layer)
        set_focus(world, layer.id)
        return layer_info(world, layer)


@dataclass(frozen=True, slots=True, kw_only=True)
class DuplicateLayer(Command[LayerInfo]):
    """Copy a layer (the active one by default) with all its objects, directly above it; the copy becomes active.

    The copy is called `<name> Copy`, `<name> Copy 2`, … and its objects have new ids.
    """

    label = "duplicate layer"
    layer: LayerReference | None = None

    def run(self, world: Transaction) -> LayerInfo:
        """Copy it."""
        ensure_layers(world)
        layers = layers_of(world)
        _refuse_too_many(layers)
        source = find_layer(world, self.layer)
        copy = replace(source, id=world.new_id("layer"), name=_copy_name(layers, source.name))
        for object_id in list(world.index(DrawingIndex).content(source.id).ids()):
            item = existing_object(world, object_id)
            world.put(replace(item, id=world.new_id("object"), layer_id=copy.id))
        layers.insert(layers.index(source) + 1, copy)
        _renumber(world, layers)
        set_focus(world, copy.id)
        return layer_info(world, copy)


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameLayer(Command[LayerInfo]):
    """Give a layer (the active one by default) another name. The name it has already changes nothing."""

    label = "rename layer"
    name: str
    layer: LayerReference | None = None

    def run(self, world: Transaction) -> LayerInfo:
        """Rename it."""
        name = checked_name(self.name)
        layer = find_layer(world, self.layer)
        if name != layer.name:
            _refuse_taken(layers_of(world), name)
            ensure_layers(world)
            layer = replace(layer, name=name)
            world.put(layer)
        return layer_info(world, layer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivateLayer(Command[LayerInfo]):
    """Draw on that layer from now on, and clear the selection. No step of the history."""

    label = "activate layer"
    undoable = False
    layer: LayerReference

    def run(self, world: Transaction) -> LayerInfo:
        """Activate it."""
        layer = find_layer(world, self.layer)
        _activate(world, layer)
        return layer_info(world, layer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ArrangeLayer(Command[LayerInfo]):
    """Activate a layer, and show or hide it or move it to a place of the order (1 is the bottom).

    Showing and moving are one step of the history; activating is none. Raises `InvalidArgumentError` for a place that
    there is not.
    """

    label = "arrange layer"
    layer: LayerReference
    visible: bool | None = None
    position: int | None = None

    def run(self, world: Transaction) -> LayerInfo:
        """Arrange it."""
        layers = layers_of(world)
        if self.position is not None and not 1 <= self.position <= len(layers):
            raise InvalidArgumentError(
                f"position must be from 1 (bottom) to {len(layers)} (top), as there are {len(layers)} layers; "
                f"got {self.position}"
            )
        ensure_layers(world)
        layer = find_layer(world, self.layer)
        _activate(world, layer)
        arranged = layer if self.visible is None else replace(layer, visible=self.visible)
        place = layers.index(layer)
        layers.remove(layer)
        layers.insert(place if self.position is None else self.position - 1, arranged)
        _renumber(world, layers)
        return layer_info(world, find_layer(world, layer.id))


@dataclass(frozen=True, slots=True)
class DeletedLayer:
    """What went with a layer, and which layer is active now."""

    id: str
    name: str
    object_count: int
    active_layer_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteLayer(Command[DeletedLayer]):
    """Take a layer (the active one by default) away, with everything on it.

    Was it the active one, then the layer that takes its place becomes active. Raises `ConflictError` for the only
    layer, since a drawing always has one.
    """

    label = "delete layer"
    layer: LayerReference | None = None

    def run(self, world: Transaction) -> DeletedLayer:
        """Delete it."""
        layers, layer, active = layers_of(world), find_layer(world, self.layer), active_layer(world)
        if len(layers) == 1:
            raise ConflictError(
                f"{layer.id} ({layer.name!r}) is the only layer, and a drawing always has one: add another one first, "
                "or select everything and delete the selection."
            )
        place = layers.index(layer)
        layers.remove(layer)
        going = list(world.index(DrawingIndex).content(layer.id).ids())
        for object_id in reversed(going):  # from the top, where the index lets go fastest
            world.remove(DrawingObject, object_id)
        world.remove(Layer, layer.id)
        if layer == active:
            active = layers[min(place, len(layers) - 1)]
            set_focus(world, active.id)
        return DeletedLayer(layer.id, layer.name, len(going), active.id)


def _activate(world: Transaction, layer: Layer) -> None:
    if focus_of(world).active_layer_id != layer.id:
        set_focus(world, layer.id, undoable=False)


def _renumber(world: Transaction, layers: list[Layer]) -> None:
    for order, layer in enumerate(layers, start=1):
        world.put(replace(layer, order=order))


def _refuse_too_many(layers: list[Layer]) -> None:
    if len(layers) >= MAX_LAYERS:
        raise ConflictError(f"The drawing has {len(layers)} layers, which is the most it can have; delete one first.")


def _refuse_taken(layers: list[Layer], name: str) -> None:
    owner = next((layer for layer in layers if layer.name == name), None)
    if owner is not None:
        raise ConflictError(f"The name {name!r} is taken by {owner.id}; names of layers are unique in a drawing.")


def _free_name(layers: list[Layer], wanted: str) -> str:
    taken = {layer.name for layer in layers}
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted} ({number})", number + 1
    return name


def _copy_name(layers: list[Layer], name: str) -> str:
    taken = {layer.name for layer in layers}
    stem = _COPY_SUFFIX.sub("", name)
    number = 1
    while True:
        suffix = " Copy" if number == 1 else f" Copy {number}"
        copy = stem[: MAX_NAME_LENGTH - len(suffix)].rstrip() + suffix
        if copy not in taken:
            return copy
        number += 1
