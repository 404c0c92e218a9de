"""The tool that shows a drawing to a model: a summary first, then a page of objects, never more than it can read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.drawing.inspect import Inspect, Inspection, LayerSummary, ObjectEntry
from engine.drawing.records import BoxObject, Line, ObjectKind, PathObject, Text
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.bounds_result import BoundsResult, shown
from presets.builtins.drawing_tools.arguments import BOX_HELP, COORDINATES, BoxArgument, LayerArgument
from presets.builtins.drawing_tools.results import SHOWN_IDS, PointResult, StyleResult
from presets.builtins.page import MAX_PAGE_ENTRIES, Offset, PageArguments, within_budget
from presets.schema import ToolResult
from protocol.tool import ToolCall

OBJECTS_BUDGET = 20 * 1024
"""Bytes of JSON for the objects of one page. The whole answer stays below 40 KiB, which clients pass on uncut."""
LAYERS_BUDGET = 10 * 1024
"""Bytes of JSON for the layers of one page."""
MAX_SHOWN_POINTS = 400
"""Most points of one object that are shown at once, so that a single object always fits a page."""


class InspectArguments(PageArguments):
    """What to look at."""

    include_objects: bool = Field(True, description="False: the summary only.")
    include_points: bool = Field(False, description="Also the points of strokes and polygons.")
    max_points: Annotated[int, Field(ge=0, le=MAX_SHOWN_POINTS)] = Field(32, description="Points shown per object.")
    points_offset: Annotated[int, Field(ge=0)] = Field(0, description="Points to skip, to read on in long strokes.")
    ids: Annotated[list[str], Field(max_length=MAX_PAGE_ENTRIES)] | None = Field(
        None, description="Only these objects."
    )
    layer: LayerArgument | None = Field(
        None, description="Only this layer: id (layer-2), name, or place from 1 at the bottom. Default: all layers."
    )
    kind: ObjectKind | None = None
    bounds: BoxArgument | None = Field(None, description=BOX_HELP)
    selected_only: bool = Field(False, description="Only selected objects.")
    layers_offset: Offset = Field(0, description="Layers to skip, where there are very many.")


class InspectedObject(ToolResult):
    """An object. Boxes have center, size and, where turned, rotation_degrees; lines start and finish."""

    id: str
    kind: ObjectKind
    layer_id: str
    selected: bool
    bounds: BoundsResult
    style: StyleResult
    center: PointResult | None = None
    size: PointResult | None = None
    rotation_degrees: float | None = None
    text: str | None = None
    font_size: float | None = None
    start: PointResult | None = None
    finish: PointResult | None = None
    point_count: int | None = None
    points: list[PointResult] | None = None
    points_truncated: bool | None = None


class InspectedLayer(ToolResult):
    """A layer; `position` counts from 1 at the bottom, `kinds` how many objects there are of each kind."""

    id: str
    name: str
    position: int
    visible: bool
    active: bool
    object_count: int
    kinds: dict[str, int]
    bounds: BoundsResult | None


class InspectResult(ToolResult):
    """The drawing. `total` counts the objects that meet the filters; `next` is the offset of the page after this."""

    revision: int
    active_layer_id: str
    active_tool: str
    defaults: StyleResult
    object_count: int
    bounds: BoundsResult | None
    selection_count: int
    selection_ids: list[str]
    layer_count: int
    layers: list[InspectedLayer]
    layers_next: int | None
    total: int
    objects: list[InspectedObject]
    next: int | None


def adapters() -> tuple[ToolAdapter, ...]:
    """`drawing.inspect`."""
    return (
        typed_adapter(
            id="drawing.inspect",
            mcp_name="space_drawing_inspect",
            title="Inspect the drawing",
            description="Look at the drawing: its layers, bounds, selection and defaults, and a page of its objects "
            "from bottom to top. Filters combine; when `next` is present there are more: call again with it as offset. "
            + COORDINATES,
            arguments=InspectArguments,
            result=InspectResult,
            run=_inspect,
            read_only=True,
            idempotent=True,
        ),
    )


async def _inspect(app: App, arguments: InspectArguments, call: ToolCall) -> InspectResult:
    del call
    command = Inspect(
        ids=None if arguments.ids is None else tuple(arguments.ids),
        layer=arguments.layer,
        kind=arguments.kind,
        bounds=None if arguments.bounds is None else arguments.bounds.value(),
        selected_only=arguments.selected_only,
        offset=arguments.offset,
        limit=arguments.limit if arguments.include_objects else 0,
    )
    done = await app.execute(command)
    return _written(done.result, done.revision, arguments)


def _written(seen: Inspection, revision: int, arguments: InspectArguments) -> InspectResult:
    active = seen.focus.active_layer_id
    some_layers = seen.layers[arguments.layers_offset :]
    layers = list(within_budget((_layer(summary, active) for summary in some_layers), LAYERS_BUDGET))
    layers_end = arguments.layers_offset + len(layers)
    objects = list(within_budget((_object(entry, arguments) for entry in seen.objects), OBJECTS_BUDGET))
    end = arguments.offset + len(objects)
    return InspectResult(
        revision=revision,
        active_layer_id=active,
        active_tool=seen.pen.tool,
        defaults=StyleResult.of(seen.pen.style),
        object_count=seen.object_count,
        bounds=None if seen.bounds is None else BoundsResult.of(seen.bounds),
        selection_count=len(seen.focus.selection),
        selection_ids=list(seen.focus.selection[:SHOWN_IDS]),
        layer_count=len(seen.layers),
        layers=layers,
        layers_next=layers_end if layers_end < len(seen.layers) else None,
        total=seen.total,
        objects=objects,
        next=end if arguments.include_objects and end < seen.total else None,
    )


def _layer(summary: LayerSummary, active: str) -> InspectedLayer:
    return InspectedLayer(
        id=summary.layer.id,
        name=summary.layer.name,
        position=summary.position,
        visible=summary.layer.visible,
        active=summary.layer.id == active,
        object_count=summary.object_count,
        kinds=dict(summary.kinds),
        bounds=None if summary.bounds is None else BoundsResult.of(summary.bounds),
    )


def _object(entry: ObjectEntry, arguments: InspectArguments) -> InspectedObject:
    item = entry.item
    written = InspectedObject(
        id=item.id,
        kind=item.kind,
        layer_id=item.layer_id,
        selected=entry.selected,
        bounds=BoundsResult.of(entry.bounds),
        style=StyleResult.of(item.style),
    )
    return written.model_copy(update=_shape_of(item, arguments))


def _shape_of(item: BoxObject | PathObject, arguments: InspectArguments) -> dict[str, object]:
    if isinstance(item, BoxObject):
        box: dict[str, object] = {"center": PointResult.of(item.center), "size": PointResult.of(item.size)}
        if item.rotation:
            box["rotation_degrees"] = shown(item.rotation)
        if isinstance(item, Text):
            box |= {"text": item.text, "font_size": shown(item.font_size)}
        return box
    if isinstance(item, Line):
        return {"start": PointResult.of(item.points[0]), "finish": PointResult.of(item.points[1])}
    path: dict[str, object] = {"point_count": len(item.points)}
    if arguments.include_points:
        end = arguments.points_offset + arguments.max_points
        path["points"] = [PointResult.of(point) for point in item.points[arguments.points_offset : end]]
        path["points_truncated"] = end < len(item.points)
    return path
