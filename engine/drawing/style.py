"""How an object is painted: stroke, fill, width and opacity. Owns the style and its changes; never paints.

Source: findings on the existing tools, section 1 (default vector style; style by stroke tool).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from engine.drawing.color import normal_color, parse_color
from engine.errors import InvalidArgumentError

MAX_STROKE_WIDTH = 10_000.0
"""Widest stroke in document units: a hundredth of the document, beyond which a stroke is meant to be a shape."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Style:
    """Paint of one object. Colours in normal form, `stroke_width` in document units, `opacity` 0 to 1 on top of alpha.

    Rectangles, ellipses and polygons have an outline (none at width 0) and, where `fill_enabled`, a filling. Lines and
    strokes have no filling. Text is painted in the stroke colour and has neither outline nor filling.
    """

    stroke_color: str = "#5499F5"
    fill_color: str = "#5499F538"
    stroke_width: float = 2.0
    opacity: float = 1.0
    fill_enabled: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StyleChanges:
    """Some members of a style, as they are asked for; None leaves a member as it is."""

    stroke_color: str | None = None
    fill_color: str | None = None
    stroke_width: float | None = None
    opacity: float | None = None
    fill_enabled: bool | None = None

    def names(self) -> tuple[str, ...]:
        """The members that are given, in the order of the class."""
        return tuple(name for name in self.__slots__ if getattr(self, name) is not None)

    def over(self, other: StyleChanges) -> StyleChanges:
        """These changes, and those of `other` for members that these leave as they are."""
        return StyleChanges(
            stroke_color=other.stroke_color if self.stroke_color is None else self.stroke_color,
            fill_color=other.fill_color if self.fill_color is None else self.fill_color,
            stroke_width=other.stroke_width if self.stroke_width is None else self.stroke_width,
            opacity=other.opacity if self.opacity is None else self.opacity,
            fill_enabled=other.fill_enabled if self.fill_enabled is None else self.fill_enabled,
        )

    def checked(self) -> StyleChanges:
        """The same with colours in normal form. Raises `InvalidArgumentError` for a value that no style can have."""
        width, opacity = self.stroke_width, self.opacity
        if width is not None and not (math.isfinite(width) and 0 <= width <= MAX_STROKE_WIDTH):
            raise InvalidArgumentError(f"stroke_width must be 0 to {MAX_STROKE_WIDTH:g} document units; got {width}")
        if opacity is not None and not (math.isfinite(opacity) and 0 <= opacity <= 1):
            raise InvalidArgumentError(f"opacity must be 0 (invisible) to 1 (opaque); got {opacity}")
        stroke, fill = self.stroke_color, self.fill_color
        return StyleChanges(
            stroke_color=None if stroke is None else normal_color(stroke, name="stroke_color"),
            fill_color=None if fill is None else normal_color(fill, name="fill_color"),
            stroke_width=None if width is None else float(width),
            opacity=None if opacity is None else float(opacity),
            fill_enabled=self.fill_enabled,
        )

    def apply_to(self, style: Style) -> Style:
        """The style with these changes. Only for changes that were `checked`."""
        return Style(
            stroke_color=style.stroke_color if self.stroke_color is None else self.stroke_color,
            fill_color=style.fill_color if self.fill_color is None else self.fill_color,
            stroke_width=style.stroke_width if self.stroke_width is None else self.stroke_width,
            opacity=style.opacity if self.opacity is None else self.opacity,
            fill_enabled=style.fill_enabled if self.fill_enabled is None else self.fill_enabled,
        )


@dataclass(frozen=True, slots=True)
class _Nib:
    """What a stroke tool makes of the current style: at least `floor` wide, the width and opacity multiplied."""

    floor: float
    width_factor: float
    opacity_factor: float


_NIBS = {"brush": _Nib(4.0, 1.8, 0.65), "marker": _Nib(7.0, 2.8, 0.35)}


def stroke_tool_style(tool: str, style: Style) -> Style:
    """The style that a stroke of `tool` (pen, brush or marker) gets from the current style; a pen keeps it."""
    nib = _NIBS.get(tool)
    if nib is None:
        return style
    width = min(MAX_STROKE_WIDTH, max(nib.floor, style.stroke_width * nib.width_factor))
    return replace(style, stroke_width=width, opacity=min(1.0, style.opacity * nib.opacity_factor))


def is_transparent(color: str) -> bool:
    """Whether nothing painted in that colour can be seen."""
    return parse_color(color).alpha == 0
