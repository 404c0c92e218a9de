"""The limits of a scene, each with its unit and its reason, and the checks that hold them."""

from __future__ import annotations

import math

from engine.drawing.color import OPAQUE, parse_color
from engine.errors import InvalidArgumentError
from engine.scene.vector import Quaternion, Vector

MAX_COORDINATE = 10_000.0
"""Largest magnitude of a coordinate, in metres: pictures keep millimetres of it, and physics its precision."""
MIN_EXTENT = 0.01
"""Smallest extent of a body, in metres; the physics of smaller ones needs shorter steps than are offered."""
MAX_EXTENT = 1_000.0
"""Largest extent of a body, in metres."""
MIN_MASS = 0.001
"""Smallest mass, in kilograms: a gram."""
MAX_MASS = 1_000_000.0
"""Largest mass, in kilograms: beyond it light bodies are crushed faster than a step can tell."""
MAX_FRICTION = 10.0
"""Largest coefficient of sliding friction; rubber on rubber has about 1."""
MAX_SPEED = 1_000.0
"""Largest speed that a body may be given, in metres per second."""
MAX_SPIN = 36_000.0
"""Largest angular velocity about each axis that a body may be given, in degrees per second: 100 turns."""
MAX_BODIES = 5_000
"""Most bodies of one scene; beyond it a step of the physics takes longer than anybody waits for."""
MAX_TERRAINS = 16
"""Most terrains of one scene."""
MIN_TERRAIN_SIZE = 0.1
"""Smallest side of a terrain, in metres."""
MAX_TERRAIN_SIZE = 5_000.0
"""Largest side of a terrain, in metres."""
MAX_HEIGHT = 2_000.0
"""Largest magnitude of a height of a terrain over its foot, in metres."""
MAX_SAMPLES = 257
"""Most samples along one side of a height field: with them a picture is sharp, and a record takes 350 kB."""
TERRAIN_DEPTH = 1.0
"""How far a terrain reaches down below its lowest point, in metres, so that nothing falls through it."""
MIN_FOV = 5.0
"""Smallest vertical field of view, in degrees: a long telescope."""
MAX_FOV = 150.0
"""Largest vertical field of view, in degrees; beyond it a flat picture shows hardly anything but its edges."""
MAX_INTENSITY = 10.0
"""Largest intensity of a light; at 1 a white surface that faces it is white."""
MIN_RANGE = 0.1
"""Shortest range of a light, in metres."""
MAX_RANGE = 1_000.0
"""Longest range of a light, in metres."""
MAX_CONE = 160.0
"""Widest cone of a spot light, in degrees."""

_UNIT_TOLERANCE = 1e-6
"""How far from 1 the length of a quaternion may be, after having been written down and read again."""


def checked(value: float, name: str, low: float, high: float, unit: str = "") -> float:
    """The number as a float. Raises `InvalidArgumentError` naming it unless it is finite and within the limits."""
    if not low <= value <= high:
        of_unit = f" {unit}" if unit else ""
        raise InvalidArgumentError(f"{name} must be from {low:g} to {high:g}{of_unit}; got {value!r:.40}")
    return float(value) + 0.0  # adding zero turns -0.0 into 0.0


def checked_point(point: Vector, name: str) -> Vector:
    """The point, each coordinate within `MAX_COORDINATE`. Raises as `checked`."""
    return Vector(
        *(
            checked(value, f"{name}.{axis}", -MAX_COORDINATE, MAX_COORDINATE, "metres")
            for value, axis in zip(point, "xyz", strict=True)
        )
    )


def checked_rate(vector: Vector, name: str, most: float, unit: str) -> Vector:
    """A velocity whose parts are within `most`. Raises as `checked`."""
    return Vector(
        *(checked(value, f"{name}.{axis}", -most, most, unit) for value, axis in zip(vector, "xyz", strict=True))
    )


def checked_turn(turn: Quaternion, name: str) -> Quaternion:
    """The quaternion. Raises `InvalidArgumentError` unless its length is 1."""
    length = math.hypot(*turn)
    if not abs(length - 1) <= _UNIT_TOLERANCE:
        raise InvalidArgumentError(
            f"{name} must be a quaternion of length 1; the length of {tuple(turn)} is {length:g}"
        )
    return Quaternion(*(float(part) + 0.0 for part in turn))


def checked_color(text: str, name: str = "color") -> str:
    """The colour as `#RRGGBB` in upper case. Raises `InvalidArgumentError` for other texts and for transparency."""
    color = parse_color(text, name=name)
    if color.alpha != OPAQUE:
        raise InvalidArgumentError(f"{name} is {text}, but nothing in a scene is transparent; give #RRGGBB")
    return color.text()
