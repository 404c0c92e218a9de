"""The shapes of bodies as geometry: the box around one, and where rays meet it. Pure.

Rays are met in bulk, as arrays of numpy, because a picture is nothing but very many of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.scene.records import Body, BodyShape
from engine.scene.vector import Box, Quaternion, Vector

Floats = NDArray[np.float64]

_PARALLEL = 1e-14
"""Parts of directions of about length 1 below this are rounding: the ray runs along the axis."""


def bounds_of(body: Body) -> Box:
    """The smallest box around the body as it is turned."""
    half_x, half_y, half_z = body.size.times(0.5)
    right, up, back = body.rotation.axes()
    match body.shape:
        case "sphere":
            reach = Vector(half_x, half_x, half_x)
        case "box":
            reach = Vector(
                *(abs(r) * half_x + abs(u) * half_y + abs(b) * half_z for r, u, b in zip(right, up, back, strict=True))
            )
        case "capsule":
            reach = Vector(*(abs(u) * (half_y - half_x) + half_x for u in up))
        case "cylinder":
            reach = Vector(*(abs(u) * half_y + max(0.0, 1 - u * u) ** 0.5 * half_x for u in up))
    return Box(body.position.minus(reach), body.position.plus(reach))


def matrix_of(turn: Quaternion) -> Floats:
    """The turn as a matrix whose columns are where the axes point."""
    return np.array(turn.axes()).T


class Hits(NamedTuple):
    """Where rays met something: in lengths of their directions, infinite for those that missed; the outward normals."""

    distance: Floats
    normal: Floats


def hit_body(body: Body, origins: Floats, directions: Floats) -> Hits:
    """Where rays enter the body. `origins` is one point or one for each of the directions (n by 3).

    A ray that begins inside does not enter.
    """
    turn = matrix_of(body.rotation)
    starts = (origins - np.array(body.position)) @ turn
    rays = directions @ turn
    rays[np.abs(rays) < _PARALLEL] = 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        distance, normal = _HITS[body.shape](starts, rays, np.array(body.size) / 2)
    missed = ~(distance > 0)
    distance[missed] = np.inf
    return Hits(distance, normal @ turn.T)


def _hit_box(starts: Floats, rays: Floats, half: Floats) -> tuple[Floats, Floats]:
    inverse = 1 / rays
    middle = -starts * inverse
    reach = np.abs(inverse) * half
    # A ray along a side has 0 * infinity: it is between the two planes of that axis, or it misses.
    near = np.where(rays == 0, np.where(np.abs(starts) <= half, -np.inf, np.inf), middle - reach)
    far = np.where(rays == 0, np.inf, middle + reach)
    entry = near.max(axis=-1)
    distance = np.where(entry <= far.min(axis=-1), entry, np.inf)
    normal = np.where(near == entry[..., None], -np.sign(rays), 0.0)
    # On an edge two planes are met at once; the first of them counts.
    normal = np.where(np.cumsum(normal != 0, axis=-1) == 1, normal, 0.0)
    return distance, normal


def _hit_ball(starts: Floats, rays: Floats, radius: float) -> tuple[Floats, Floats]:
    distance = _first_root(
        np.sum(rays * rays, axis=-1), np.sum(starts * rays, axis=-1), np.sum(starts * starts, axis=-1) - radius**2
    )
    return distance, (starts + rays * _finite(distance)[..., None]) / radius


def _hit_sphere(starts: Floats, rays: Floats, half: Floats) -> tuple[Floats, Floats]:
    return _hit_ball(starts, rays, float(half[0]))


def _hit_tube(starts: Floats, rays: Floats, radius: float, half_height: float) -> tuple[Floats, Floats]:
    """The round side of an upright cylinder, without its ends."""
    flat = np.array([1.0, 0.0, 1.0])
    around, toward = starts * flat, rays * flat
    distance = _first_root(
        np.sum(toward * toward, axis=-1), np.sum(around * toward, axis=-1), np.sum(around * around, axis=-1) - radius**2
    )
    point = starts + rays * _finite(distance)[..., None]
    distance = np.where(np.abs(point[..., 1]) <= half_height, distance, np.inf)
    return distance, point * flat / radius


def _hit_cylinder(starts: Floats, rays: Floats, half: Floats) -> tuple[Floats, Floats]:
    radius, half_height = float(half[0]), float(half[1])
    distance, normal = _hit_tube(starts, rays, radius, half_height)
    side = -np.sign(rays[..., 1])  # the end that faces the ray
    at_end = (side * half_height - starts[..., 1]) / rays[..., 1]
    point = starts + rays * _finite(at_end)[..., None]
    met = (point[..., 0] ** 2 + point[..., 2] ** 2 <= radius**2) & (side != 0) & (at_end < distance)
    end = np.zeros_like(normal)
    end[..., 1] = side
    return np.where(met, at_end, distance), np.where(met[..., None], end, normal)


def _hit_capsule(starts: Floats, rays: Floats, half: Floats) -> tuple[Floats, Floats]:
    radius = float(half[0])
    straight = float(half[1]) - radius
    distance, normal = _hit_tube(starts, rays, radius, straight)
    # A ray from inside meets the balls at its ends from inside the whole, which is no entry.
    nearest = np.clip(starts[..., 1], -straight, straight)
    inside = starts[..., 0] ** 2 + (starts[..., 1] - nearest) ** 2 + starts[..., 2] ** 2 < radius**2
    for end in (-straight, straight):
        center = np.array([0.0, end, 0.0])
        at_ball, outward = _hit_ball(starts - center, rays, radius)
        nearer = at_ball < distance
        distance = np.where(nearer, at_ball, distance)
        normal = np.where(nearer[..., None], outward, normal)
    return np.where(inside, np.inf, distance), normal


def _first_root(square: Floats, half_linear: Floats, constant: Floats) -> Floats:
    """The smaller solution of square t² + 2 half_linear t + constant = 0, infinite where there is none."""
    root = np.sqrt(half_linear**2 - square * constant)
    return np.where(root >= 0, (-half_linear - root) / square, np.inf)


def _finite(distance: Floats) -> Floats:
    return np.where(np.isfinite(distance), distance, 0.0)


_HITS = {"box": _hit_box, "sphere": _hit_sphere, "cylinder": _hit_cylinder, "capsule": _hit_capsule}


def full_size(shape: BodyShape, *, width: float, height: float, depth: float, radius: float) -> Vector:
    """The extents of an unturned shape: a box takes width, height and depth, the others radius and height."""
    match shape:
        case "box":
            return Vector(width, height, depth)
        case "sphere":
            return Vector(2 * radius, 2 * radius, 2 * radius)
        case "cylinder" | "capsule":
            return Vector(2 * radius, height, 2 * radius)
