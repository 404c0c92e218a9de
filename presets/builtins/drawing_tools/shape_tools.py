"""The tools that draw: the active tool, shapes, lines and freehand strokes."""

from __future__ import annotations

from typing import Annotated, Literal, assert_never

from pydantic import Field

from engine.drawing.font import is_covered
from engine.drawing.insert import (
    DEFAULT_FONT_SIZE,
    MAX_FONT_SIZE,
    MAX_POINTS,
    MIN_FONT_SIZE,
    MIN_POINT_DISTANCE,
    InsertBox,
    InsertCommand,
    Inserted,
    InsertLine,
    InsertPolygon,
    InsertStroke,
    InsertText,
    StrokeTool,
)
from engine.drawing.pen import SetTool
from engine.drawing.records import BoxObject, DrawingTool, ObjectKind, Text
from engine.drawing.words import MAX_TEXT_LENGTH
from engine.errors import InvalidArgumentError
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App, Done
from presets.builtins.bounds_result import BoundsResult
from presets.builtins.drawing_tools.arguments import (
    COORDINATES,
    Coordinate,
    LineStyleMembers,
    PointArgument,
    StyleMembers,
)
from presets.builtins.drawing_tools.results import PointResult, StyleResult
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

ShapeName = Literal["rectangle", "ellipse", "circle", "polygon", "text"]


class SetToolArguments(WriteArguments):
    """Which tool."""

    tool: DrawingTool


class SetToolResult(ToolResult):
    """The active tool."""

    tool: DrawingTool
    changed: bool
    revision: int


class InsertShapeArguments(StyleMembers, WriteArguments):
    """Which shape, where and how."""

    shape: ShapeName = Field(description="circle means ellipse: give it the same width and height.")
    x: Coordinate | None = Field(
        None,
        description="Rectangle, ellipse: first corner. Text: see anchor. Polygon: added to every point (default 0).",
    )
    y: Coordinate | None = Field(None, description="As x.")
    width: Coordinate | None = Field(None, description="Rectangle, ellipse: positive goes right, negative left.")
    height: Coordinate | None = Field(None, description="Rectangle, ellipse: positive goes up, negative down.")
    points: Annotated[list[PointArgument], Field(min_length=3, max_length=MAX_POINTS)] | None = Field(
        None, description="Polygon: its corners in order; it closes itself."
    )
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT_LENGTH)] | None = Field(
        None, description="Text: what it says; newlines begin lines. Painted in stroke_color."
    )
    font_size: Annotated[float, Field(ge=MIN_FONT_SIZE, le=MAX_FONT_SIZE)] | None = Field(
        None, description=f"Text: document units, default {DEFAULT_FONT_SIZE:g}."
    )
    anchor: Literal["lower_left", "center"] | None = Field(
        None, description="Text: what of its box lies at (x, y), default lower_left."
    )
    rotation_degrees: Coordinate | None = Field(None, description="Turn about its own middle, counter-clockwise.")

    def command(self) -> InsertCommand:
        """The engine's command. Raises `InvalidArgumentError` for members that the shape lacks or does not have."""
        style, turn = self.style_changes(), self.rotation_degrees or 0.0
        match self.shape:
            case "rectangle" | "ellipse" | "circle":
                x, y, width, height = self._demanded("x", "y", "width", "height")
                self._refuse("points", "text", "font_size", "anchor")
                kind = "rectangle" if self.shape == "rectangle" else "ellipse"
                return InsertBox(kind=kind, x=x, y=y, width=width, height=height, rotation_degrees=turn, style=style)
            case "polygon":
                self._refuse("width", "height", "text", "font_size", "anchor")
                if self.points is None:
                    raise InvalidArgumentError("A polygon needs points: at least three corners {x, y}.")
                corners = tuple(point.value() for point in self.points)
                return InsertPolygon(
                    points=corners, dx=self.x or 0.0, dy=self.y or 0.0, rotation_degrees=turn, style=style
                )
            case "text":
                self._refuse("width", "height", "points")
                x, y = self._demanded("x", "y")
                if self.text is None:
                    raise InvalidArgumentError("A text needs text: what it is to say.")
                return InsertText(
                    x=x,
                    y=y,
                    text=self.text,
                    font_size=self.font_size or DEFAULT_FONT_SIZE,
                    anchor=self.anchor or "lower_left",
                    rotation_degrees=turn,
                    style=style,
                )
            case _:
                assert_never(self.shape)

    def _demanded(self, *names: str) -> list[float]:
        missing = [name for name in names if getattr(self, name) is None]
        if missing:
            raise InvalidArgumentError(
                f"A {self.shape} needs {', '.join(names)}; {' and '.join(missing)} {_is_are(missing)} missing."
            )
        return [float(getattr(self, name)) for name in names]

    def _refuse(self, *names: str) -> None:
        given = [name for name in names if getattr(self, name) is not None]
        if given:
            raise InvalidArgumentError(f"A {self.shape} takes no {' and no '.join(given)}; leave that out.")


def _is_are(names: list[str]) -> str:
    return "is" if len(names) == 1 else "are"


class InsertLineArguments(LineStyleMembers, WriteArguments):
    """From where to where."""

    x1: Coordinate
    y1: Coordinate
    x2: Coordinate
    y2: Coordinate


class InsertStrokeArguments(LineStyleMembers, WriteArguments):
    """Through which points, with which tool."""

    points: Annotated[list[PointArgument], Field(min_length=2, max_length=MAX_POINTS)] = Field(
        description=f"In order; a point within {MIN_POINT_DISTANCE} units of the last kept one is dropped."
    )
    tool: StrokeTool | None = Field(
        None,
        description="brush is wider, marker wider still, both see-through. Default: the active tool if it is one of "
        "these, else pen.",
    )


class InsertResult(ToolResult):
    """The new object, which is now the whole selection. `note` says what may surprise."""

    id: str
    kind: ObjectKind
    layer_id: str
    layer_name: str
    bounds: BoundsResult
    style: StyleResult
    revision: int
    center: PointResult | None = None
    size: PointResult | None = None
    point_count: int | None = None
    dropped_points: int | None = None
    note: str | None = None


def adapters() -> tuple[ToolAdapter, ...]:
    """`drawing.set-tool` and the three tools that insert."""
    return (
        typed_adapter(
            id="drawing.set-tool",
            mcp_name="space_drawing_set_tool",
            title="Set the drawing tool",
            description="Choose the active drawing tool. Inserting works with any; pen, brush and marker are what "
            "space_drawing_insert_stroke then uses by default.",
            arguments=SetToolArguments,
            result=SetToolResult,
            run=_set_tool,
            idempotent=True,
        ),
        typed_adapter(
            id="drawing.insert-shape",
            mcp_name="space_drawing_insert_shape",
            title="Insert a shape",
            description="Put a rectangle, ellipse, circle, polygon or text on top of the active layer; it becomes the "
            "selection. Style members are for this object and leave the defaults. Returns its id and bounds. "
            + COORDINATES,
            arguments=InsertShapeArguments,
            result=InsertResult,
            run=_insert_shape,
        ),
        typed_adapter(
            id="drawing.insert-line",
            mcp_name="space_drawing_insert_line",
            title="Insert a line",
            description="Draw a straight line from (x1, y1) to (x2, y2) on top of the active layer; it becomes the "
            "selection. Returns its id and bounds. " + COORDINATES,
            arguments=InsertLineArguments,
            result=InsertResult,
            run=_insert_line,
        ),
        typed_adapter(
            id="drawing.insert-stroke",
            mcp_name="space_drawing_insert_stroke",
            title="Insert a freehand stroke",
            description="Draw a smooth freehand curve through the points on top of the active layer; it becomes the "
            "selection. Returns its id and bounds. " + COORDINATES,
            arguments=InsertStrokeArguments,
            result=InsertResult,
            run=_insert_stroke,
        ),
    )


async def _set_tool(app: App, arguments: SetToolArguments, call: ToolCall) -> SetToolResult:
    del call
    done = await app.execute(SetTool(arguments.tool))
    return SetToolResult(tool=done.result.tool, changed=done.changed, revision=done.revision)


async def _insert_shape(app: App, arguments: InsertShapeArguments, call: ToolCall) -> InsertResult:
    del call
    return _inserted(await app.execute(arguments.command()))


async def _insert_line(app: App, arguments: InsertLineArguments, call: ToolCall) -> InsertResult:
    del call
    ends = {"x1": arguments.x1, "y1": arguments.y1, "x2": arguments.x2, "y2": arguments.y2}
    return _inserted(await app.execute(InsertLine(**ends, style=arguments.style_changes())))


async def _insert_stroke(app: App, arguments: InsertStrokeArguments, call: ToolCall) -> InsertResult:
    del call
    points = tuple(point.value() for point in arguments.points)
    command = InsertStroke(points=points, tool=arguments.tool, style=arguments.style_changes())
    return _inserted(await app.execute(command))


def _inserted(done: Done[Inserted]) -> InsertResult:
    made, item = done.result, done.result.item
    is_box = isinstance(item, BoxObject)
    return InsertResult(
        id=item.id,
        kind=item.kind,
        layer_id=made.layer.id,
        layer_name=made.layer.name,
        bounds=BoundsResult.of(made.bounds),
        style=StyleResult.of(item.style),
        revision=done.revision,
        center=PointResult.of(item.center) if is_box else None,
        size=PointResult.of(item.size) if is_box else None,
        point_count=None if is_box else len(item.points),
        dropped_points=made.dropped_points or None,
        note=_note(made),
    )


def _note(made: Inserted) -> str | None:
    if not made.layer.visible:
        return f"Its layer {made.layer.id} is hidden; space_drawing_set_active_layer with visible: true shows it."
    if made.is_invisible:
        return "Nothing of it can be seen: its colors or its opacity are fully transparent."
    if isinstance(made.item, Text) and not is_covered(made.item.text):
        return "Some characters are not in the font of drawings; a machine without a font for them leaves them out."
    return None
