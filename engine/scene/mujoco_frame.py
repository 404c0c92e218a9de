"""The one place where the space of a scene (+y up) becomes that of MuJoCo (+z up) and back.

(x, y, z) here is (x, -z, y) there: a quarter turn about x. Turns are carried over whole, so a shape that stands along y
here stands along z there, as MuJoCo's do. Only signs and places change, so there and back is exactly the same.
"""

from __future__ import annotations

import math

from engine.scene.vector import Quaternion, Vector

RADIANS = math.pi / 180
"""Of one degree."""


def to_mujoco(vector: Vector) -> tuple[float, float, float]:
    """A point or a direction as MuJoCo takes it."""
    return vector.x, -vector.z, vector.y


def from_mujoco(x: float, y: float, z: float) -> Vector:
    """A point or a direction as a scene takes it."""
    return Vector(x + 0.0, z + 0.0, -y + 0.0)


def turn_to_mujoco(turn: Quaternion) -> tuple[float, float, float, float]:
    """A turn as MuJoCo takes it."""
    return turn.w, turn.x, -turn.z, turn.y


def turn_from_mujoco(w: float, x: float, y: float, z: float) -> Quaternion:
    """A turn as a scene takes it."""
    return Quaternion(w + 0.0, x + 0.0, z + 0.0, -y + 0.0)


def half_extents(size: Vector) -> tuple[float, float, float]:
    """Half the extents of a box as MuJoCo takes them."""
    return size.x / 2, size.z / 2, size.y / 2


def geom_size(shape: str, size: Vector) -> tuple[float, float, float]:
    """What MuJoCo calls the size of a shape: half extents, radius, or radius and half the straight length."""
    match shape:
        case "box":
            return half_extents(size)
        case "sphere":
            return size.x / 2, 0.0, 0.0
        case "capsule":
            return size.x / 2, (size.y - size.x) / 2, 0.0
        case "cylinder":
            return size.x / 2, size.y / 2, 0.0
        case _:
            raise ValueError(f"{shape!r} is no shape of a body")
