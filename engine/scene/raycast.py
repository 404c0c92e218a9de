"""Rays against a scene: what lies under a place, what is seen at a pixel. Pure; never changes anything."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from engine.errors import InvalidArgumentError, NotFoundError
from engine.records import Transaction
from engine.scene.height_field import SurfacePoint
from engine.scene.index import SceneIndex
from engine.scene.lens import Lens
from engine.scene.measures import MAX_COORDINATE, checked, checked_point
from engine.scene.reading import Reader, camera_of, existing, terrains_of
from engine.scene.records import Body, Terrain
from engine.scene.shape import hit_body
from engine.scene.vector import DOWN, Box, Vector
from engine.view import MAX_VIEW_SIDE, MIN_VIEW_SIDE
from engine.world import Command

HitKind = Literal["body", "terrain"]

_ABOVE_ALL = 3 * MAX_COORDINATE
"""A y above everything that a scene can hold, in metres."""
_ROUNDING = 1e-9
"""How far a ray may pass beside a box and still be looked at more closely, so that none is lost; metres."""


@dataclass(frozen=True, slots=True)
class Hit:
    """What a ray meets first: which object, where, the outward direction of its surface, and how far away."""

    kind: HitKind
    id: str
    point: Vector
    normal: Vector
    distance: float


@dataclass(frozen=True, slots=True)
class Ray:
    """A ray; the direction has length 1."""

    origin: Vector
    direction: Vector


@dataclass(frozen=True, slots=True)
class RayResult:
    """A ray, and what it meets first, if anything."""

    ray: Ray
    hit: Hit | None


def ground_under(reader: Reader, x: float, z: float) -> SurfacePoint | None:
    """The highest surface of a terrain at that place."""
    found = _ground(reader, x, z)
    return None if found is None else found[1]


def cast_ray(reader: Reader, ray: Ray) -> Hit | None:
    """The first surface that the ray meets from outside, of a body or a terrain."""
    index = reader.index(SceneIndex)
    best: Hit | None = None
    start, direction = np.array(ray.origin), np.array(ray.direction)
    for body_id in _near_the_ray(index, ray):
        hits = hit_body(existing(reader, Body, body_id), start[None], direction[None])
        distance = float(hits.distance[0])
        if np.isfinite(distance) and (best is None or distance < best.distance):
            normal = Vector(*hits.normal[0].tolist()).unit()
            best = Hit("body", body_id, ray.origin.plus(ray.direction.times(distance)), normal, distance)
    for terrain in terrains_of(reader):
        met = index.field(terrain).hit(ray.origin, ray.direction)
        if met is not None and (best is None or met[0] < best.distance):
            point = ray.origin.plus(ray.direction.times(met[0]))
            best = Hit("terrain", terrain.id, point, met[1], met[0])
    return best


@dataclass(frozen=True, slots=True, kw_only=True)
class CastRay(Command[RayResult]):
    """Cast a ray through the scene. Changes nothing.

    Raises `InvalidArgumentError` for an origin outside the space and a direction without length.
    """

    label: ClassVar[str] = "cast ray"
    origin: Vector
    direction: Vector

    def run(self, world: Transaction) -> RayResult:
        """Cast it."""
        ray = Ray(checked_point(self.origin, "origin"), self.direction.unit())
        return RayResult(ray, cast_ray(world, ray))


@dataclass(frozen=True, slots=True, kw_only=True)
class RaycastTerrain(Command[Hit]):
    """What lies under the sky at a place: the highest terrain, and bodies as well where `include_bodies` is set.

    Raises `NotFoundError` where there is nothing. Changes nothing.
    """

    label: ClassVar[str] = "cast ray down"
    x: float
    z: float
    include_bodies: bool = False

    def run(self, world: Transaction) -> Hit:
        """Cast it."""
        x = checked(self.x, "x", -MAX_COORDINATE, MAX_COORDINATE, "metres")
        z = checked(self.z, "z", -MAX_COORDINATE, MAX_COORDINATE, "metres")
        found = _ground(world, x, z)
        hit = None if found is None else Hit("terrain", found[0].id, *found[1], _ABOVE_ALL - found[1].point.y)
        if self.include_bodies:
            top = Vector(x, _ABOVE_ALL, z)
            above = cast_ray(world, Ray(top, DOWN))
            if above is not None and above.kind == "body" and (hit is None or above.point.y > hit.point.y):
                hit = above
        if hit is None:
            raise NotFoundError(f"There is nothing at x {x:g}, z {z:g}: {_where_terrain_is(world)}")
        return hit


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenRay(Command[RayResult]):
    """The ray through a pixel of a picture that has those sides, and what it meets. Changes nothing.

    Pixels count from the upper left corner of the picture, x to the right and y down; the middle of the first pixel is
    at (0.5, 0.5). Raises `InvalidArgumentError` for a pixel outside the picture.
    """

    label: ClassVar[str] = "cast ray from screen"
    x: float
    y: float
    width: int
    height: int

    def run(self, world: Transaction) -> RayResult:
        """Cast it."""
        for name, side in (("width", self.width), ("height", self.height)):
            if not MIN_VIEW_SIDE <= side <= MAX_VIEW_SIDE:
                raise InvalidArgumentError(
                    f"{name} is {side} pixels; a picture has from {MIN_VIEW_SIDE} to {MAX_VIEW_SIDE}"
                )
        x = checked(self.x, "x", 0.0, float(self.width), "pixels")
        y = checked(self.y, "y", 0.0, float(self.height), "pixels")
        lens = Lens(camera_of(world), self.width, self.height)
        ray = Ray(lens.origin, lens.direction(x, y))
        return RayResult(ray, cast_ray(world, ray))


def _ground(reader: Reader, x: float, z: float) -> tuple[Terrain, SurfacePoint] | None:
    index = reader.index(SceneIndex)
    best: tuple[Terrain, SurfacePoint] | None = None
    for terrain in terrains_of(reader):
        surface = index.field(terrain).surface_at(x, z)
        if surface is not None and (best is None or surface.point.y > best[1].point.y):
            best = terrain, surface
    return best


def _near_the_ray(index: SceneIndex, ray: Ray) -> list[str]:
    """The bodies whose box the ray passes through."""
    return [body_id for body_id in index.ids(Body) if _passes(index.boxes[body_id], ray)]


def _passes(box: Box, ray: Ray) -> bool:
    near, far = 0.0, float("inf")
    for low, high, start, step in zip(box.low, box.high, ray.origin, ray.direction, strict=True):
        if step == 0:
            if not low <= start <= high:
                return False
            continue
        first, last = (low - start) / step, (high - start) / step
        near, far = max(near, min(first, last)), min(far, max(first, last))
    return near <= far + _ROUNDING


def _where_terrain_is(reader: Reader) -> str:
    terrains = terrains_of(reader)
    if not terrains:
        return "the scene has no terrain; space_scene_add_terrain adds one."
    shown = [
        f"{t.id} from x {t.position.x - t.size_x / 2:g} to {t.position.x + t.size_x / 2:g}, "
        f"z {t.position.z - t.size_z / 2:g} to {t.position.z + t.size_z / 2:g}"
        for t in terrains[:3]
    ]
    return f"terrain reaches {'; '.join(shown)}."
