"""The arguments that several drawing tools share, and how they become values of the engine.

Owns their schemas. What depends on other arguments is checked here in code, since a schema that says it (`oneOf`) makes
clients drop the tool; the errors say what would be right.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.drawing.geometry import MAX_COORDINATE, Bounds
from engine.drawing.style import MAX_STROKE_WIDTH, StyleChanges
from engine.errors import InvalidArgumentError
from presets.schema import ToolArguments, WriteArguments

COORDINATES = (
    "Coordinates are document units: +x moves right, +y moves up (never y-down screen coordinates); angles are degrees "
    "counter-clockwise."
)
"""The coordinate contract as every description and prompt says it. See docs/coordinates.md."""

Coordinate = Annotated[float, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]
ColorText = Annotated[str, Field(pattern="^#?[0-9A-Fa-f]{6}([0-9A-Fa-f]{2})?$")]
StrokeWidth = Annotated[float, Field(ge=0, le=MAX_STROKE_WIDTH)]
Opacity = Annotated[float, Field(ge=0, le=1)]
LayerArgument = Annotated[str, Field(min_length=1, max_length=100)] | Annotated[int, Field(ge=1)]

LAYER_HELP = "Layer by id (layer-2), by name, or by place counted from 1 at the bottom. Default: the active layer."
COLOR_HELP = "#RRGGBB or #RRGGBBAA."


class NoArguments(WriteArguments):
    """A tool without arguments of its own."""


class PointArgument(ToolArguments):
    """A point of the document."""

    x: Coordinate
    y: Coordinate

    def value(self) -> tuple[float, float]:
        """As the engine's commands take it."""
        return self.x, self.y


class BoxArgument(ToolArguments):
    """A box of the document, in one of two forms. Negative extents are fine."""

    left: Coordinate | None = None
    bottom: Coordinate | None = None
    right: Coordinate | None = None
    top: Coordinate | None = None
    x: Coordinate | None = None
    y: Coordinate | None = None
    width: Coordinate | None = None
    height: Coordinate | None = None

    def value(self) -> Bounds:
        """The box, its sides put in order. Raises `InvalidArgumentError` unless exactly one form is whole."""
        sides = (self.left, self.bottom, self.right, self.top)
        corner = (self.x, self.y, self.width, self.height)
        match sides, corner:
            case (float(left), float(bottom), float(right), float(top)), (None, None, None, None):
                pass
            case (None, None, None, None), (float(left), float(bottom), float(width), float(height)):
                right, top = left + width, bottom + height
            case _:
                raise InvalidArgumentError(
                    "bounds must give either left, bottom, right and top, or x, y, width and height, all four of them; "
                    f"got {', '.join(sorted(self.model_fields_set)) or 'none'}."
                )
        return Bounds(min(left, right), min(bottom, top), max(left, right), max(bottom, top))


BOX_HELP = "Box {left,bottom,right,top} or {x,y,width,height}; objects whose bounds it touches are meant."


class LineStyleMembers(ToolArguments):
    """The members of a style that mean something for a line, each optional."""

    stroke_color: ColorText | None = Field(None, description=f"{COLOR_HELP} Outline, line or text.")
    stroke_width: StrokeWidth | None = Field(None, description="Document units; 0 takes the outline off a shape.")
    opacity: Opacity | None = Field(None, description="Of the whole object: 0 invisible to 1 opaque.")

    def style_changes(self) -> StyleChanges:
        """As the engine's commands take them."""
        return StyleChanges(stroke_color=self.stroke_color, stroke_width=self.stroke_width, opacity=self.opacity)


class StyleMembers(LineStyleMembers):
    """The members of a style, each optional."""

    fill_color: ColorText | None = Field(None, description=f"{COLOR_HELP} Inside of rectangle, ellipse, polygon.")
    fill_enabled: bool | None = Field(None, description="Whether the inside is painted.")

    def style_changes(self) -> StyleChanges:
        """See `LineStyleMembers`."""
        filling = StyleChanges(fill_color=self.fill_color, fill_enabled=self.fill_enabled)
        return filling.over(super().style_changes())


class StyleChangeMembers(StyleMembers):
    """A style to change, with the older word for the stroke's width."""

    thickness: StrokeWidth | None = Field(None, description="The same as stroke_width.")

    def style_changes(self) -> StyleChanges:
        """See `LineStyleMembers`. Raises `InvalidArgumentError` where the two words contradict each other."""
        if self.thickness is None:
            return super().style_changes()
        if self.stroke_width is not None and self.stroke_width != self.thickness:
            raise InvalidArgumentError(
                f"stroke_width and thickness mean the same, but are {self.stroke_width:g} and {self.thickness:g}; "
                "give one of them."
            )
        return self.model_copy(update={"stroke_width": self.thickness, "thickness": None}).style_changes()
