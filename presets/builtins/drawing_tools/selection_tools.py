"""The tools on the selection: select, transform, clear, delete."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.drawing.insert import MAX_FONT_SIZE
from engine.drawing.records import ObjectKind
from engine.drawing.selection import ClearSelection, DeleteSelected, Look, Select, SelectionMode
from engine.drawing.transform import TransformSelection
from engine.drawing.words import MAX_TEXT_LENGTH
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.bounds_result import BoundsResult
from presets.builtins.drawing_tools.arguments import (
    BOX_HELP,
    COORDINATES,
    LAYER_HELP,
    BoxArgument,
    ColorText,
    Coordinate,
    LayerArgument,
    NoArguments,
    PointArgument,
)
from presets.builtins.drawing_tools.results import SHOWN_IDS, PointResult
from presets.schema import ToolArguments, ToolResult, WriteArguments
from protocol.tool import ToolCall

MAX_GIVEN_IDS = 10_000
"""Most ids of one call; who wants more has a rule for it, and criteria say it better."""

Factor = Annotated[float, Field(gt=0, le=MAX_FONT_SIZE)]


class LookArgument(ToolArguments):
    """What objects look like; at least one member."""

    stroke_color: ColorText | None = None
    fill_color: ColorText | None = None
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)] | None = Field(
        None, description="A part of a text, in upper or lower case."
    )

    def value(self) -> Look:
        """As the engine's command takes it."""
        return Look(stroke_color=self.stroke_color, fill_color=self.fill_color, text=self.text)


class SelectArguments(WriteArguments):
    """What to select: at least one of ids, all, kind, bounds and filter."""

    ids: Annotated[list[str], Field(max_length=MAX_GIVEN_IDS)] | None = None
    all: bool = Field(False, description="Every object of the layer.")
    kind: ObjectKind | None = None
    bounds: BoxArgument | None = Field(None, description=BOX_HELP)
    filter: LookArgument | None = Field(None, description="By look.")
    layer: LayerArgument | None = Field(None, description=LAYER_HELP + " It becomes the active one.")
    mode: SelectionMode = Field("replace", description="What becomes of the present selection.")


class SelectResult(ToolResult):
    """How many objects met the criteria and how many are selected now; `ids` lists the first of those."""

    matched: int
    selected: int
    ids: list[str]
    layer_id: str
    changed: bool
    revision: int


class TransformArguments(WriteArguments):
    """How to transform: scaled first, then turned, then moved."""

    dx: Coordinate = Field(0, description="Move right.")
    dy: Coordinate = Field(0, description="Move up.")
    rotation_degrees: Coordinate = Field(0, description="Turn counter-clockwise.")
    scale: Factor = Field(1, description="In both directions.")
    scale_x: Factor | None = Field(None, description="Instead of scale.")
    scale_y: Factor | None = Field(None, description="Instead of scale.")
    origin: PointArgument | None = Field(
        None, description="What scaling and turning keep in place. Default: the middle of the selection's bounds."
    )


class TransformResult(ToolResult):
    """How many objects were transformed, the box around them now, and the origin that was used."""

    transformed: int
    bounds: BoundsResult
    origin: PointResult
    revision: int


class ClearSelectionResult(ToolResult):
    """How many objects are no longer selected."""

    cleared: int
    revision: int


class DeleteSelectedResult(ToolResult):
    """How many objects are gone; `ids` lists the first of them."""

    deleted: int
    ids: list[str]
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """The four tools on the selection."""
    return (
        typed_adapter(
            id="drawing.select",
            mcp_name="space_drawing_select",
            title="Select objects",
            description="Select objects of one layer by ids, kind, bounds, look, or all; given together, objects must "
            "meet every one of them. Returns what is selected now. " + COORDINATES,
            arguments=SelectArguments,
            result=SelectResult,
            run=_select,
            idempotent=True,
        ),
        typed_adapter(
            id="drawing.transform-selection",
            mcp_name="space_drawing_transform_selection",
            title="Transform the selection",
            description="Scale the selected objects about an origin, then turn them about it, then move them. Stroke "
            "widths stay. Returns the new bounds. " + COORDINATES,
            arguments=TransformArguments,
            result=TransformResult,
            run=_transform,
        ),
        typed_adapter(
            id="drawing.clear-selection",
            mcp_name="space_drawing_clear_selection",
            title="Clear the selection",
            description="Select nothing. Nothing is deleted.",
            arguments=NoArguments,
            result=ClearSelectionResult,
            run=_clear,
            idempotent=True,
        ),
        typed_adapter(
            id="drawing.delete-selected",
            mcp_name="space_drawing_delete_selected",
            title="Delete the selection",
            description="Delete the selected objects. Fails when nothing is selected. Undo brings them back.",
            arguments=NoArguments,
            result=DeleteSelectedResult,
            run=_delete,
        ),
    )


async def _select(app: App, arguments: SelectArguments, call: ToolCall) -> SelectResult:
    del call
    command = Select(
        ids=None if arguments.ids is None else tuple(arguments.ids),
        all=arguments.all,
        kind=arguments.kind,
        bounds=None if arguments.bounds is None else arguments.bounds.value(),
        look=None if arguments.filter is None else arguments.filter.value(),
        layer=arguments.layer,
        mode=arguments.mode,
    )
    done = await app.execute(command)
    made = done.result
    return SelectResult(
        matched=made.matched,
        selected=len(made.selection),
        ids=list(made.selection[:SHOWN_IDS]),
        layer_id=made.layer_id,
        changed=done.changed,
        revision=done.revision,
    )


async def _transform(app: App, arguments: TransformArguments, call: ToolCall) -> TransformResult:
    del call
    command = TransformSelection(
        dx=arguments.dx,
        dy=arguments.dy,
        rotation_degrees=arguments.rotation_degrees,
        scale=arguments.scale,
        scale_x=arguments.scale_x,
        scale_y=arguments.scale_y,
        origin=None if arguments.origin is None else arguments.origin.value(),
    )
    done = await app.execute(command)
    return TransformResult(
        transformed=done.result.count,
        bounds=BoundsResult.of(done.result.bounds),
        origin=PointResult.of(done.result.origin),
        revision=done.revision,
    )


async def _clear(app: App, arguments: NoArguments, call: ToolCall) -> ClearSelectionResult:
    del arguments, call
    done = await app.execute(ClearSelection())
    return ClearSelectionResult(cleared=done.result, revision=done.revision)


async def _delete(app: App, arguments: NoArguments, call: ToolCall) -> DeleteSelectedResult:
    del arguments, call
    done = await app.execute(DeleteSelected())
    return DeleteSelectedResult(deleted=len(done.result), ids=list(done.result[:SHOWN_IDS]), revision=done.revision)
