"""What both renderers make a picture from: near and far limits, light as numbers, who casts shadows. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from engine.scene.backdrop import channels, sky_light
from engine.scene.height_field import terrain_bounds
from engine.scene.measures import TERRAIN_DEPTH
from engine.scene.records import Light
from engine.scene.shape import Floats, bounds_of
from engine.scene.snapshot import SceneSnapshot
from engine.scene.vector import Box, Vector, box_around

NEAR = 0.05
"""Metres before the camera from which on something is seen."""
_BEYOND = 4.0
"""How many times as far as anything is the view reaches; MuJoCo hangs its sky within that."""
_FINE_SHADOWS = 200.0
"""Metres across, up to which the whole scene has shadows; in a larger one, only where the bodies are."""
SPOT_EXPONENT = 8.0
"""How fast a spot light fades from the middle of its cone to its edge: by this power of the cosine."""


@dataclass(frozen=True, slots=True)
class ShadowRegion:
    """Where shadows are computed: a ball in the light of one directional light."""

    light: Light
    center: Vector
    radius: float


@dataclass(frozen=True, slots=True)
class ViewPlan:
    """The light from all sides, the lights that are on, how far the picture reaches, and its shadows, if any."""

    ambient: Floats
    lights: tuple[Light, ...]
    far: float
    shadow: ShadowRegion | None


def plan_view(scene: SceneSnapshot) -> ViewPlan:
    """The plan for a picture of the scene."""
    ambient = sky_light(scene.backdrop)
    lights: list[Light] = []
    for light in scene.lights:
        if light.enabled and light.intensity > 0:
            if light.kind == "ambient":
                ambient = ambient + channels(light.color) * light.intensity
            else:
                lights.append(light)
    bodies = [bounds_of(body) for body in scene.bodies]
    grounds = [terrain_bounds(terrain) for terrain in scene.terrains]
    everything = box_around([*bodies, *grounds])
    return ViewPlan(ambient, tuple(lights), _reach(scene, everything), _shadow(lights, bodies, everything))


def light_reaching(light: Light, points: Floats) -> tuple[Floats, Floats]:
    """The direction to the light from each point (n by 3, length 1), and how bright it is there (n, no colour)."""
    if light.kind == "directional":
        direction = -np.array(light.direction)
        return np.broadcast_to(direction, points.shape), np.full(len(points), light.intensity)
    away = np.array(light.position) - points
    distance = np.linalg.norm(away, axis=1)
    toward = away / np.maximum(distance, 1e-9)[:, None]
    brightness = light.intensity / (1 + (distance / light.range) ** 2)
    if light.kind == "spot":
        cosine = -(toward @ np.array(light.direction))
        inside = cosine >= math.cos(math.radians(light.cone_degrees / 2))
        brightness = np.where(inside, brightness * np.maximum(cosine, 0) ** SPOT_EXPONENT, 0.0)
    return toward, brightness


def _reach(scene: SceneSnapshot, everything: Box | None) -> float:
    if everything is None:
        return 100.0
    eye = scene.camera.position
    farthest = max(
        math.dist(eye, (x, y, z))
        for x in (everything.low.x, everything.high.x)
        for y in (everything.low.y - TERRAIN_DEPTH, everything.high.y)
        for z in (everything.low.z, everything.high.z)
    )
    return max(farthest, 10.0) * _BEYOND


def _shadow(lights: list[Light], bodies: list[Box], everything: Box | None) -> ShadowRegion | None:
    light = next((light for light in lights if light.kind == "directional"), None)
    if light is None or everything is None:
        return None
    around = box_around(bodies)
    if around is None or everything.size.length <= _FINE_SHADOWS:
        around = everything
    return ShadowRegion(light, around.center, max(around.size.length / 2 * 1.1, 1.0))
