"""The command that scales, turns and moves what is selected. Owns what it refuses.

Source: findings on the existing tools, section 1.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from engine.drawing.extents import bounds_of
from engine.drawing.geometry import (
    MAX_COORDINATE,
    MIN_EXTENT,
    Bounds,
    Motion,
    Point,
    bounds_of_points,
    checked_number,
    normal_degrees,
    union_of,
)
from engine.drawing.index import DrawingIndex
from engine.drawing.insert import MAX_FONT_SIZE, MIN_FONT_SIZE
from engine.drawing.records import AnyObject, BoxObject, Text
from engine.drawing.selection import selected_objects
from engine.errors import InvalidArgumentError
from engine.records import Transaction
from engine.world import Command


@dataclass(frozen=True, slots=True)
class Transformed:
    """How many objects were transformed, the box around them now, and the point that stayed in place before moving."""

    count: int
    bounds: Bounds
    origin: Point


@dataclass(frozen=True, slots=True, kw_only=True)
class TransformSelection(Command[Transformed]):
    """Scale the selected objects about `origin`, then turn them about it, then move them. Stroke widths stay.

    `origin` is the middle of the box around the selection by default. Raises `ConflictError` when nothing is selected;
    `InvalidArgumentError` for numbers that are not finite, factors that are not positive, a transform that changes
    nothing, an uneven scale of a box that is turned (it would become a parallelogram), and for results that are too
    large or too small for a drawing.
    """

    label = "transform selection"
    dx: float = 0.0
    dy: float = 0.0
    rotation_degrees: float = 0.0
    scale: float = 1.0
    scale_x: float | None = None
    scale_y: float | None = None
    origin: tuple[float, float] | None = None

    def run(self, world: Transaction) -> Transformed:
        """Transform them."""
        scale = _checked_factor(self.scale, "scale")
        scale_x = scale if self.scale_x is None else _checked_factor(self.scale_x, "scale_x")
        scale_y = scale if self.scale_y is None else _checked_factor(self.scale_y, "scale_y")
        dx, dy = checked_number(self.dx, "dx"), checked_number(self.dy, "dy")
        turn = checked_number(self.rotation_degrees, "rotation_degrees")
        items = selected_objects(world, "transform")
        motion = Motion(
            origin=self._origin(world, items),
            dx=dx,
            dy=dy,
            rotation_degrees=turn,
            scale_x=scale_x,
            scale_y=scale_y,
        )
        if motion.is_identity:
            raise InvalidArgumentError(
                "This transform changes nothing: give a dx or dy other than 0, rotation_degrees other than whole "
                "turns, or a scale other than 1."
            )
        boxes: list[Bounds] = []
        for item in items:
            moved = _moved(item, motion)
            boxes.append(_checked_result(item, moved))
            world.put(moved)
        return Transformed(len(items), union_of(boxes) or boxes[0], motion.origin)

    def _origin(self, world: Transaction, items: list[AnyObject]) -> Point:
        if self.origin is not None:
            x, y = self.origin
            return Point(checked_number(x, "origin.x"), checked_number(y, "origin.y"))
        bounds = world.index(DrawingIndex).content(items[0].layer_id).bounds
        around = union_of(bounds[item.id] for item in items)
        return Point(0.0, 0.0) if around is None else around.center


def _checked_factor(value: float, name: str) -> float:
    if checked_number(value, name) <= 0:
        raise InvalidArgumentError(f"{name} must be greater than 0 (1 keeps the size, 2 doubles it); got {value}")
    return float(value)


def _moved(item: AnyObject, motion: Motion) -> AnyObject:
    if not isinstance(item, BoxObject):
        return replace(item, points=tuple(motion.move_all(item.points)))
    scale_x, scale_y = motion.scale_x, motion.scale_y
    if item.rotation and scale_x != scale_y:
        raise InvalidArgumentError(
            f"{item.id} is a {item.kind} turned by {item.rotation:g} degrees; scaled unevenly ({scale_x:g} by "
            f"{scale_y:g}) it would become a parallelogram. Use one scale for both directions, or turn it back first."
        )
    (center,) = motion.move_all((item.center,))
    size = Point(item.size.x * scale_x, item.size.y * scale_y)
    rotation = normal_degrees(item.rotation + motion.rotation_degrees)
    if isinstance(item, Text):
        font_size, stretch = item.font_size * scale_y, item.stretch * (scale_x / scale_y)
        return replace(item, center=center, size=size, rotation=rotation, font_size=font_size, stretch=stretch)
    return replace(item, center=center, size=size, rotation=rotation)


def _checked_result(before: AnyObject, after: AnyObject) -> Bounds:
    bounds = bounds_of(after)
    if not all(-MAX_COORDINATE <= number <= MAX_COORDINATE for number in bounds):
        raise InvalidArgumentError(
            f"{before.id} would reach beyond ±{MAX_COORDINATE:.0f}; move or scale it by less, or give another origin."
        )
    if isinstance(after, BoxObject):
        extent = min(after.size)
    else:
        around = bounds_of_points(after.points)
        extent = max(around.width, around.height)
    small_text = isinstance(after, Text) and not MIN_FONT_SIZE <= after.font_size <= MAX_FONT_SIZE
    if extent < MIN_EXTENT or small_text:
        what = f"a font size of {after.font_size:g}" if isinstance(after, Text) else f"an extent of {extent:g}"
        raise InvalidArgumentError(
            f"{before.id} would get {what}. Extents must stay at least {MIN_EXTENT:g} document units, font sizes "
            f"between {MIN_FONT_SIZE:g} and {MAX_FONT_SIZE:g}; scale it by another factor."
        )
    return bounds
