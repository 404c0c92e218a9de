"""A scene as pixels, without OpenGL: exact outlines, flat ground, all lights, the shadows of the first sun. Pure.

It shows the same view as MuJoCo's renderer, through the same camera, wherever that one is not to be had.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.scene.backdrop import channels, colors_behind
from engine.scene.height_field import HeightField
from engine.scene.lens import Lens
from engine.scene.measures import TERRAIN_DEPTH
from engine.scene.pencils import CameraPencil, SunPencil
from engine.scene.raster import Grid
from engine.scene.records import Body, Terrain
from engine.scene.shape import Floats
from engine.scene.snapshot import SceneSnapshot
from engine.scene.vector import Vector
from engine.scene.view_plan import NEAR, ViewPlan, light_reaching, plan_view

_SHADOW_SCALE = 1.5
"""How many pixels the map of what the sun sees has along each side, for each pixel of the picture's longer side."""
_LEAST_SHADOW_SIDE = 512
"""Below it, shadows of small pictures would fall apart."""
_SHADOW_SLACK = 1.5
"""Pixels of that map by which a surface may seem to lie in its own shadow and does not."""


def paint_in_software(scene: SceneSnapshot, width: int, height: int, theme_color: str) -> NDArray[np.uint8]:
    """The picture as height by width by 3 bytes."""
    plan = plan_view(scene)
    lens = Lens(scene.camera, width, height)
    grid = Grid.empty(CameraPencil(lens), near=NEAR)
    _fill(grid, scene)
    shadow = _shadow_map(scene, plan, max(_LEAST_SHADOW_SIDE, round(_SHADOW_SCALE * max(width, height))))
    columns, rows = np.meshgrid(np.arange(width), np.arange(height))
    origins, directions = grid.pencil.rays(columns.ravel(), rows.ravel())
    rise = directions[:, 1] / np.linalg.norm(directions, axis=1)
    picture = np.array(colors_behind(scene.backdrop, theme_color, rise))
    seen = np.flatnonzero(grid.surface.ravel() >= 0)
    points = origins + directions[seen] * grid.depth.ravel()[seen][:, None]
    normals = grid.normal.reshape(-1, 3)[seen].astype(np.float64)
    normals *= -np.sign((normals * directions[seen]).sum(axis=1))[:, None]  # ground may be seen from below
    paints = np.array([channels(item.color) for item in (*scene.bodies, *scene.terrains)]).reshape(-1, 3)
    picture[seen] = paints[grid.surface.ravel()[seen]] * _light(plan, points, normals, shadow)
    return _smoothed(np.clip(picture, 0, 1).reshape(height, width, 3), grid)


def _fill(grid: Grid, scene: SceneSnapshot) -> None:
    for number, body in enumerate(scene.bodies):
        grid.put_body(body, number)
    for number, terrain in enumerate(scene.terrains, start=len(scene.bodies)):
        if terrain.heights:
            grid.put_triangles(_ground(HeightField(terrain)), number)
        else:
            grid.put_body(_slab(terrain), number)


def _slab(terrain: Terrain) -> Body:
    """A flat terrain as the body that it is."""
    middle = terrain.position.plus(Vector(0.0, -TERRAIN_DEPTH / 2, 0.0))
    size = Vector(terrain.size_x, TERRAIN_DEPTH, terrain.size_z)
    return Body(id=terrain.id, shape="box", position=middle, size=size, color=terrain.color, mass=1, friction=1)


def _ground(field: HeightField) -> Floats:
    """The triangles of the surface, and of the walls that lead down to its foot."""
    rows, columns = field.heights.shape
    row, column = np.mgrid[: rows - 1, : columns - 1]
    surface = field.triangles(row.ravel(), column.ravel()).reshape(-1, 3, 3)
    x, z = np.meshgrid(field.x, field.z)
    points = np.stack([x, field.heights, z], axis=-1)
    walls: list[Floats] = []
    for rim in (points[0], points[:, -1], points[-1, ::-1], points[::-1, 0]):
        foot = rim.copy()
        foot[:, 1] = field.foot
        walls.append(np.stack([rim[:-1], rim[1:], foot[:-1]], axis=1))
        walls.append(np.stack([rim[1:], foot[1:], foot[:-1]], axis=1))
    return np.concatenate([surface, *walls])


def _shadow_map(scene: SceneSnapshot, plan: ViewPlan, side: int) -> Grid | None:
    if plan.shadow is None:
        return None
    grid = Grid.empty(SunPencil(plan.shadow, side), near=0.0)
    _fill(grid, scene)
    return grid


def _light(plan: ViewPlan, points: Floats, normals: Floats, shadow: Grid | None) -> Floats:
    total = np.broadcast_to(plan.ambient, points.shape).copy()
    for light in plan.lights:
        toward, brightness = light_reaching(light, points)
        shine = np.maximum((normals * toward).sum(axis=1), 0) * brightness
        if shadow is not None and plan.shadow is not None and light is plan.shadow.light:
            shine = shine * _lit(shadow, points, normals)
        total += shine[:, None] * channels(light.color)
    return total


def _lit(shadow: Grid, points: Floats, normals: Floats) -> Floats:
    """1 where the sun reaches a point, 0 where something is in its way."""
    pencil = shadow.pencil
    if not isinstance(pencil, SunPencil):
        raise TypeError("a map of shadows is seen along sunlight")
    slack = _SHADOW_SLACK * pencil.pixel
    place = pencil.place(points + normals * slack)
    column, row = np.floor(place[:, 0]).astype(np.intp), np.floor(place[:, 1]).astype(np.intp)
    inside = (column >= 0) & (column < pencil.side) & (row >= 0) & (row < pencil.side)
    lit = np.ones(len(points))
    first = shadow.depth[row[inside], column[inside]]
    lit[inside] = place[inside, 2] <= first + slack
    return lit


def _smoothed(picture: Floats, grid: Grid) -> NDArray[np.uint8]:
    """The picture with a little of its neighbours mixed into pixels at the outlines of things."""
    surface = grid.surface
    edge = np.zeros(surface.shape, dtype=bool)
    edge[:, 1:] |= surface[:, 1:] != surface[:, :-1]
    edge[1:] |= surface[1:] != surface[:-1]
    edge[:, :-1] |= edge[:, 1:]
    edge[:-1] |= edge[1:]
    padded = np.pad(picture, ((1, 1), (1, 1), (0, 0)), mode="edge")
    around = (padded[:-2, 1:-1] + padded[2:, 1:-1] + padded[1:-1, :-2] + padded[1:-1, 2:]) / 4
    picture[edge] = (picture[edge] + around[edge]) / 2
    return np.rint(picture * 255).astype(np.uint8)
