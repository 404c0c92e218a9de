"""The tools that keep the layers: add, duplicate, rename, activate and arrange, delete."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.drawing.layers import (
    MAX_LAYERS,
    ActivateLayer,
    AddLayer,
    ArrangeLayer,
    DeleteLayer,
    DuplicateLayer,
    LayerInfo,
    RenameLayer,
)
from engine.drawing.words import MAX_NAME_LENGTH
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App, Done
from presets.builtins.drawing_tools.arguments import LAYER_HELP, LayerArgument
from presets.builtins.drawing_tools.results import LayerResult
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

LayerName = Annotated[str, Field(min_length=1, max_length=MAX_NAME_LENGTH)]


class AddLayerArguments(WriteArguments):
    """What the new layer is like."""

    name: LayerName | None = Field(None, description="Unique in the drawing. Default: Layer N.")
    visible: bool = True


class OneLayerArguments(WriteArguments):
    """Which layer."""

    layer: LayerArgument | None = Field(None, description=LAYER_HELP)


class RenameLayerArguments(OneLayerArguments):
    """Which layer, and its new name."""

    name: LayerName = Field(description="Unique in the drawing, without space at its ends.")


class SetActiveLayerArguments(WriteArguments):
    """Which layer, and how it is to be arranged."""

    layer: LayerArgument = Field(description="By id (layer-2), by name, or by place counted from 1 at the bottom.")
    visible: bool | None = Field(None, description="Show or hide the layer.")
    position: Annotated[int, Field(ge=1, le=MAX_LAYERS)] | None = Field(
        None, description="Move it to this place of the order; 1 is the bottom."
    )


class LayerChangeResult(ToolResult):
    """The layer as it is now, and whether anything changed."""

    layer: LayerResult
    changed: bool
    revision: int


class DeleteLayerResult(ToolResult):
    """The layer that went, with how many objects, and the layer that is active now."""

    id: str
    name: str
    deleted_objects: int
    active_layer_id: str
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """The five tools on layers."""
    return (
        typed_adapter(
            id="drawing.add-layer",
            mcp_name="space_drawing_add_layer",
            title="Add a layer",
            description="Add a layer on top of the others; it becomes the active one. Returns the layer.",
            arguments=AddLayerArguments,
            result=LayerChangeResult,
            run=_add,
        ),
        typed_adapter(
            id="drawing.duplicate-layer",
            mcp_name="space_drawing_duplicate_layer",
            title="Duplicate a layer",
            description="Copy a layer with all its objects, directly above it; the copy becomes active. "
            "Returns the copy, whose objects have new ids.",
            arguments=OneLayerArguments,
            result=LayerChangeResult,
            run=_duplicate,
        ),
        typed_adapter(
            id="drawing.rename-layer",
            mcp_name="space_drawing_rename_layer",
            title="Rename a layer",
            description="Give a layer another name. Returns the layer.",
            arguments=RenameLayerArguments,
            result=LayerChangeResult,
            run=_rename,
            idempotent=True,
        ),
        typed_adapter(
            id="drawing.set-active-layer",
            mcp_name="space_drawing_set_active_layer",
            title="Activate or arrange a layer",
            description="Make a layer the one that is drawn on; that clears the selection. With visible or position, "
            "also show, hide or move it in the order. Returns the layer.",
            arguments=SetActiveLayerArguments,
            result=LayerChangeResult,
            run=_set_active,
            idempotent=True,
        ),
        typed_adapter(
            id="drawing.delete-layer",
            mcp_name="space_drawing_delete_layer",
            title="Delete a layer",
            description="Delete a layer with everything on it. The only layer cannot be deleted. Undo brings it back.",
            arguments=OneLayerArguments,
            result=DeleteLayerResult,
            run=_delete,
        ),
    )


async def _add(app: App, arguments: AddLayerArguments, call: ToolCall) -> LayerChangeResult:
    del call
    return _changed(await app.execute(AddLayer(name=arguments.name, visible=arguments.visible)))


async def _duplicate(app: App, arguments: OneLayerArguments, call: ToolCall) -> LayerChangeResult:
    del call
    return _changed(await app.execute(DuplicateLayer(layer=arguments.layer)))


async def _rename(app: App, arguments: RenameLayerArguments, call: ToolCall) -> LayerChangeResult:
    del call
    return _changed(await app.execute(RenameLayer(name=arguments.name, layer=arguments.layer)))


async def _set_active(app: App, arguments: SetActiveLayerArguments, call: ToolCall) -> LayerChangeResult:
    del call
    if arguments.visible is None and arguments.position is None:
        return _changed(await app.execute(ActivateLayer(layer=arguments.layer)))
    command = ArrangeLayer(layer=arguments.layer, visible=arguments.visible, position=arguments.position)
    return _changed(await app.execute(command))


async def _delete(app: App, arguments: OneLayerArguments, call: ToolCall) -> DeleteLayerResult:
    del call
    done = await app.execute(DeleteLayer(layer=arguments.layer))
    gone = done.result
    return DeleteLayerResult(
        id=gone.id,
        name=gone.name,
        deleted_objects=gone.object_count,
        active_layer_id=gone.active_layer_id,
        revision=done.revision,
    )


def _changed(done: Done[LayerInfo]) -> LayerChangeResult:
    return LayerChangeResult(layer=LayerResult.of(done.result), changed=done.changed, revision=done.revision)
