"""How far an object reaches: the box around its true outline, and around what is painted of it. Pure.

The true outline is that of the turned figure: the corners of a rectangle, the curve of an ellipse, the box of a text,
the points of the rest. The width of the stroke does not count for selecting and transforming, but does for painting.
"""

from __future__ import annotations

import math

from engine.drawing.curve import overshoot
from engine.drawing.geometry import Bounds, Point, bounds_of_points, cos_sin
from engine.drawing.records import BoxObject, DrawingObject, Ellipse, PathObject, Stroke, Text


def bounds_of(item: DrawingObject) -> Bounds:
    """The smallest box around the object's true outline."""
    if isinstance(item, BoxObject):
        return _box_bounds(item)
    if isinstance(item, PathObject):
        return bounds_of_points(item.points)
    raise TypeError(f"{type(item).__name__} is no kind of drawing object")


def paint_reach(item: DrawingObject) -> float:
    """How far paint goes beyond the true outline, at most. Joints and ends are round, so nothing juts out."""
    if isinstance(item, Text):
        return 0.0
    swing = overshoot(item.points) if isinstance(item, Stroke) else 0.0
    return item.style.stroke_width / 2 + swing


def painted_bounds(item: DrawingObject) -> Bounds:
    """The box around what is painted."""
    return bounds_of(item).grown(paint_reach(item))


def corners_of(item: BoxObject) -> list[Point]:
    """The corners of the turned box, counter-clockwise from the one that is lower left before turning."""
    cos, sin = cos_sin(item.rotation)
    (x, y), half_width, half_height = item.center, item.size.x / 2, item.size.y / 2
    return [
        Point(x + across * cos - up * sin, y + across * sin + up * cos)
        for across, up in (
            (-half_width, -half_height),
            (half_width, -half_height),
            (half_width, half_height),
            (-half_width, half_height),
        )
    ]


def _box_bounds(item: BoxObject) -> Bounds:
    half_width, half_height = item.size.x / 2, item.size.y / 2
    if item.rotation:
        cos, sin = cos_sin(item.rotation)
        if isinstance(item, Ellipse):
            across, up = half_width, half_height
            half_width = math.hypot(across * cos, up * sin)
            half_height = math.hypot(across * sin, up * cos)
        else:
            across, up = half_width, half_height
            half_width = across * abs(cos) + up * abs(sin)
            half_height = across * abs(sin) + up * abs(cos)
    x, y = item.center
    return Bounds(x - half_width, y - half_height, x + half_width, y + half_height)
