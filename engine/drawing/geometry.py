"""Points, boxes and turns of the drawing plane: +x right, +y up, angles in degrees counter-clockwise.

Owns the limits that every stored number keeps. Pure arithmetic; knows no records. See docs/coordinates.md.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from engine.errors import InvalidArgumentError

MAX_COORDINATE = 1_000_000.0
"""Largest magnitude of any coordinate or extent, in document units; beyond it renderers run out of precision."""
MIN_EXTENT = 0.001
"""Smallest width or height of a shape and length of a line, in document units; below it nothing can be seen or hit."""


class Point(NamedTuple):
    """A point or a vector, in document units."""

    x: float
    y: float


class Bounds(NamedTuple):
    """A box whose sides are parallel to the axes; `left <= right`, `bottom <= top`. All its intervals are closed."""

    left: float
    bottom: float
    right: float
    top: float

    @property
    def width(self) -> float:
        """Its extent along x."""
        return self.right - self.left

    @property
    def height(self) -> float:
        """Its extent along y."""
        return self.top - self.bottom

    @property
    def center(self) -> Point:
        """The point in its middle."""
        return Point((self.left + self.right) / 2, (self.bottom + self.top) / 2)

    def grown(self, margin: float) -> Bounds:
        """The box with `margin` more on each of the four sides."""
        return Bounds(self.left - margin, self.bottom - margin, self.right + margin, self.top + margin)

    def overlaps(self, other: Bounds) -> bool:
        """Whether the two boxes share at least a point; touching counts."""
        return (
            self.left <= other.right
            and other.left <= self.right
            and self.bottom <= other.top
            and other.bottom <= self.top
        )

    def union(self, other: Bounds) -> Bounds:
        """The smallest box around both."""
        return Bounds(
            min(self.left, other.left),
            min(self.bottom, other.bottom),
            max(self.right, other.right),
            max(self.top, other.top),
        )


def bounds_of_points(points: Sequence[Point]) -> Bounds:
    """The smallest box around at least one point."""
    if len(points) == 2:
        (ax, ay), (bx, by) = points
        return Bounds(min(ax, bx), min(ay, by), max(ax, bx), max(ay, by))
    xs = [point.x for point in points]
    ys = [point.y for point in points]
    return Bounds(min(xs), min(ys), max(xs), max(ys))


def union_of(boxes: Iterable[Bounds]) -> Bounds | None:
    """The smallest box around all of them, or None where there are none."""
    kept = list(boxes)
    if not kept:
        return None
    return Bounds(
        min([box.left for box in kept]),
        min([box.bottom for box in kept]),
        max([box.right for box in kept]),
        max([box.top for box in kept]),
    )


def checked_number(value: float, name: str) -> float:
    """The number as a float. Raises `InvalidArgumentError` unless it is finite and at most `MAX_COORDINATE` large."""
    if not (-MAX_COORDINATE <= value <= MAX_COORDINATE):
        raise InvalidArgumentError(
            f"{name} must be a finite number from {-MAX_COORDINATE:.0f} to {MAX_COORDINATE:.0f}; got {value!r:.40}"
        )
    return float(value) + 0.0  # adding zero turns -0.0 into 0.0


def checked_points(points: Iterable[tuple[float, float]], name: str) -> tuple[Point, ...]:
    """The points as `Point`s. Raises `InvalidArgumentError` naming the first that is out of bounds."""
    return tuple(
        Point(checked_number(x, f"{name}[{index}].x"), checked_number(y, f"{name}[{index}].y"))
        for index, (x, y) in enumerate(points)
    )


def normal_degrees(degrees: float) -> float:
    """The same direction as an angle in (-180, 180]."""
    turned = math.fmod(degrees, 360.0)
    if turned > 180.0:
        turned -= 360.0
    elif turned <= -180.0:
        turned += 360.0
    return turned + 0.0


_QUARTER_TURNS = {0.0: (1.0, 0.0), 90.0: (0.0, 1.0), 180.0: (-1.0, 0.0), -90.0: (0.0, -1.0)}


def cos_sin(degrees: float) -> tuple[float, float]:
    """Cosine and sine; exact for whole quarter turns, so that a square turned four times is the square."""
    turned = normal_degrees(degrees)
    exact = _QUARTER_TURNS.get(turned)
    if exact is not None:
        return exact
    return math.cos(math.radians(turned)), math.sin(math.radians(turned))


@dataclass(frozen=True, slots=True, kw_only=True)
class Motion:
    """Scale about `origin`, then turn about `origin`, then move: the order of `transform_selection`."""

    origin: Point
    dx: float = 0.0
    dy: float = 0.0
    rotation_degrees: float = 0.0
    scale_x: float = 1.0
    scale_y: float = 1.0

    @property
    def is_identity(self) -> bool:
        """Whether it leaves every point where it is."""
        still = self.dx == 0 and self.dy == 0 and normal_degrees(self.rotation_degrees) == 0
        return still and self.scale_x == 1 and self.scale_y == 1

    def move_all(self, points: Iterable[Point]) -> list[Point]:
        """Where the points go. May leave the limits of the document; whoever stores them checks."""
        cos, sin = cos_sin(self.rotation_degrees)
        origin_x, origin_y = self.origin
        to_x, to_y = origin_x + self.dx, origin_y + self.dy
        moved: list[Point] = []
        for x, y in points:
            across, up = (x - origin_x) * self.scale_x, (y - origin_y) * self.scale_y
            moved.append(Point(to_x + across * cos - up * sin, to_y + across * sin + up * cos))
        return moved
