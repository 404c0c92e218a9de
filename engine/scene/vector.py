"""Points, directions and turns in the space of a scene: right-handed, +y up, metres. Owns their arithmetic; pure.

See docs/scene.md, "Space".
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

from engine.errors import InvalidArgumentError


class Vector(NamedTuple):
    """A point or a direction. Where it is a length, in metres."""

    x: float
    y: float
    z: float

    def plus(self, other: Vector) -> Vector:
        """The sum."""
        return Vector(self.x + other.x, self.y + other.y, self.z + other.z)

    def minus(self, other: Vector) -> Vector:
        """The difference: what leads from `other` to this."""
        return Vector(self.x - other.x, self.y - other.y, self.z - other.z)

    def times(self, factor: float) -> Vector:
        """Every part multiplied."""
        return Vector(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other: Vector) -> float:
        """The scalar product."""
        return self.x * other.x + self.y * other.y + self.z * other.z

    def cross(self, other: Vector) -> Vector:
        """The vector product, right-handed."""
        return Vector(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )

    @property
    def length(self) -> float:
        """How long it is."""
        return math.hypot(self.x, self.y, self.z)

    def unit(self) -> Vector:
        """The same direction with length 1. Raises `InvalidArgumentError` for a vector without a direction."""
        length = self.length
        if not math.isfinite(length) or length < MIN_DIRECTION:
            raise InvalidArgumentError(
                f"({self.x:g}, {self.y:g}, {self.z:g}) has no direction; give a vector that is finite and not zero"
            )
        return Vector(*(0.0 if abs(part / length) < _NOTHING else part / length for part in self))


MIN_DIRECTION = 1e-9
"""Shortest vector that is taken as a direction; in shorter ones rounding decides where they point."""

_NOTHING = 1e-15
"""Parts of a direction below it are lost in rounding anyway, and dividing by them overflows."""

ORIGIN = Vector(0.0, 0.0, 0.0)
"""The middle of the space."""
DOWN = Vector(0.0, -1.0, 0.0)
"""Where things fall."""


class Quaternion(NamedTuple):
    """A turn, as a unit quaternion."""

    w: float
    x: float
    y: float
    z: float

    def turn(self, vector: Vector) -> Vector:
        """Where the vector points after the turn."""
        axis = Vector(self.x, self.y, self.z)
        twice = axis.cross(vector).times(2)
        return vector.plus(twice.times(self.w)).plus(axis.cross(twice))

    def inverse(self) -> Quaternion:
        """The turn back."""
        return Quaternion(self.w, -self.x, -self.y, -self.z)

    def after(self, first: Quaternion) -> Quaternion:
        """The turn that does `first`, then this."""
        return Quaternion(
            self.w * first.w - self.x * first.x - self.y * first.y - self.z * first.z,
            self.w * first.x + self.x * first.w + self.y * first.z - self.z * first.y,
            self.w * first.y - self.x * first.z + self.y * first.w + self.z * first.x,
            self.w * first.z + self.x * first.y - self.y * first.x + self.z * first.w,
        )

    def axes(self) -> tuple[Vector, Vector, Vector]:
        """Where +x, +y and +z point after the turn."""
        return self.turn(Vector(1.0, 0.0, 0.0)), self.turn(Vector(0.0, 1.0, 0.0)), self.turn(Vector(0.0, 0.0, 1.0))


UPRIGHT = Quaternion(1.0, 0.0, 0.0, 0.0)
"""The turn that leaves everything as it is."""


class Degrees(NamedTuple):
    """A turn in degrees: by roll about z, then by pitch about x, then by yaw about y; counter-clockwise each.

    For something that looks along -z: positive yaw turns it to the left, positive pitch up, positive roll tilts it to
    the left.
    """

    yaw: float = 0.0
    pitch: float = 0.0
    roll: float = 0.0

    def quaternion(self) -> Quaternion:
        """The same turn; exact for whole quarter turns."""
        if self == (0.0, 0.0, 0.0):
            return UPRIGHT
        (cy, sy), (cp, sp), (cr, sr) = (_half(angle) for angle in self)
        yaw, pitch, roll = Quaternion(cy, 0.0, sy, 0.0), Quaternion(cp, sp, 0.0, 0.0), Quaternion(cr, 0.0, 0.0, sr)
        w, x, y, z = yaw.after(pitch).after(roll)
        return Quaternion(w + 0.0, x + 0.0, y + 0.0, z + 0.0)

    @classmethod
    def of(cls, turn: Quaternion) -> Degrees:
        """That turn in degrees; looking straight up or down, all of what is left counts as yaw."""
        right, up, back = turn.axes()
        pitch = math.degrees(math.asin(max(-1.0, min(1.0, -back.y))))
        if math.hypot(back.x, back.z) < 1e-6:
            return cls(math.degrees(math.atan2(-right.z, right.x)) + 0.0, pitch + 0.0, 0.0)
        yaw, roll = math.degrees(math.atan2(back.x, back.z)), math.degrees(math.atan2(right.y, up.y))
        return cls(yaw + 0.0, pitch + 0.0, roll + 0.0)


def _half(degrees: float) -> tuple[float, float]:
    """Cosine and sine of half the angle, after whole turns are taken off it."""
    half = math.radians(math.fmod(degrees, 360.0)) / 2
    return math.cos(half), math.sin(half)


class Box(NamedTuple):
    """A box whose sides are parallel to the axes, from its lowest to its highest corner. Closed on all sides."""

    low: Vector
    high: Vector

    @property
    def center(self) -> Vector:
        """The point in its middle."""
        return self.low.plus(self.high).times(0.5)

    @property
    def size(self) -> Vector:
        """Its extents along the axes."""
        return self.high.minus(self.low)

    def touches(self, other: Box) -> bool:
        """Whether the two share at least a point."""
        return all(
            a_low <= b_high and b_low <= a_high
            for a_low, a_high, b_low, b_high in zip(self.low, self.high, other.low, other.high, strict=True)
        )


def box_around(boxes: Iterable[Box]) -> Box | None:
    """The smallest box around all of them, or None where there are none."""
    kept = list(boxes)
    if not kept:
        return None
    low = Vector(*(min(values) for values in zip(*(box.low for box in kept), strict=True)))
    high = Vector(*(max(values) for values in zip(*(box.high for box in kept), strict=True)))
    return Box(low, high)
