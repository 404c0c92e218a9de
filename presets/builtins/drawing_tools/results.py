"""The values that several drawing tools answer with. Owns how a drawing is written down for a model.

Numbers are rounded to a millionth of a document unit, which nobody can see, so that they stay readable.
"""

from __future__ import annotations

from engine.drawing.geometry import Point
from engine.drawing.layers import LayerInfo
from engine.drawing.style import Style
from presets.builtins.bounds_result import shown
from presets.schema import ToolResult


class PointResult(ToolResult):
    """A point, or a width and a height, in document units."""

    x: float
    y: float

    @classmethod
    def of(cls, point: Point) -> PointResult:
        """Write a point down."""
        return cls(x=shown(point.x), y=shown(point.y))


class StyleResult(ToolResult):
    """A style. Colors are #RRGGBB, or #RRGGBBAA where they are not opaque."""

    stroke_color: str
    fill_color: str
    stroke_width: float
    opacity: float
    fill_enabled: bool

    @classmethod
    def of(cls, style: Style) -> StyleResult:
        """Write a style down."""
        return cls(
            stroke_color=style.stroke_color,
            fill_color=style.fill_color,
            stroke_width=shown(style.stroke_width),
            opacity=shown(style.opacity),
            fill_enabled=style.fill_enabled,
        )


class LayerResult(ToolResult):
    """A layer; `position` counts from 1 at the bottom."""

    id: str
    name: str
    position: int
    visible: bool
    active: bool
    object_count: int

    @classmethod
    def of(cls, info: LayerInfo) -> LayerResult:
        """Write a layer down."""
        return cls(
            id=info.id,
            name=info.name,
            position=info.position,
            visible=info.visible,
            active=info.active,
            object_count=info.object_count,
        )


SHOWN_IDS = 50
"""How many ids an answer lists before it only counts: enough to work with, and less than a kilobyte."""
