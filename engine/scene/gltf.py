"""A scene as a binary glTF file, for other programs. Pure; owns what of a scene such a file holds.

glTF's space is the scene's own: right-handed, +y up, metres. The file holds the shapes, their colours and their places,
each under its id; not lights, backdrop and physics.
"""

from __future__ import annotations

import importlib
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.scene.backdrop import channels
from engine.scene.height_field import HeightField
from engine.scene.measures import TERRAIN_DEPTH
from engine.scene.records import Body, Terrain
from engine.scene.shape import Floats, matrix_of
from engine.scene.snapshot import SceneSnapshot
from engine.scene.vector import Quaternion, Vector

_SPHERE_SUBDIVISIONS = 3
"""Of an icosahedron: 1,280 triangles, which look round."""
_SECTIONS = 32
"""Flat sides of what is round."""

_EMPTY_CONTENT = b'{"asset":{"version":"2.0"},"scene":0,"scenes":[{}]} '
_EMPTY_FILE = b"glTF" + struct.pack("<III", 2, 20 + len(_EMPTY_CONTENT), len(_EMPTY_CONTENT)) + b"JSON" + _EMPTY_CONTENT
"""A scene without anything, which trimesh does not write: header, and one chunk of JSON in four-byte words."""

_STANDING = np.array([[1.0, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 0], [0, 0, 0, 1]])
"""What stands along z stands along y after it."""


def to_glb(scene: SceneSnapshot) -> bytes:
    """The scene as the bytes of a `.glb` file; an empty scene as a valid file without meshes."""
    trimesh: Any = importlib.import_module("trimesh")  # 0.3 seconds, which only an export needs
    visual: Any = importlib.import_module("trimesh.visual")
    made: dict[tuple[object, ...], str] = {}
    container = trimesh.Scene()
    if not scene.bodies and not scene.terrains:
        return _EMPTY_FILE
    for item in (*scene.bodies, *scene.terrains):
        body = item if isinstance(item, Body) else None
        alike: tuple[object, ...] = (item.id,) if body is None else (body.shape, body.size, body.color)
        place = _place(item.position, item.rotation) if isinstance(item, Body) else np.eye(4)
        known = made.get(alike)
        if known is not None:
            container.graph.update(frame_to=item.id, frame_from="world", matrix=place, geometry=known)
            continue
        mesh = _body_mesh(trimesh, item) if isinstance(item, Body) else _terrain_mesh(trimesh, item)
        material = visual.material.PBRMaterial(
            baseColorFactor=[*channels(item.color).tolist(), 1.0], metallicFactor=0.0, roughnessFactor=1.0
        )
        mesh.visual = visual.TextureVisuals(material=material)
        made[alike] = f"shape of {item.id}"
        container.add_geometry(mesh, node_name=item.id, geom_name=made[alike], transform=place)
    return container.export(file_type="glb")


def _place(position: Vector, rotation: Quaternion) -> Floats:
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = matrix_of(rotation), position
    return matrix


def _body_mesh(trimesh: Any, body: Body) -> Any:
    width, height, _depth = body.size
    radius = width / 2
    match body.shape:
        case "box":
            return trimesh.creation.box(extents=body.size)
        case "sphere":
            return trimesh.creation.icosphere(subdivisions=_SPHERE_SUBDIVISIONS, radius=radius)
        case "cylinder":
            return trimesh.creation.cylinder(radius=radius, height=height, sections=_SECTIONS, transform=_STANDING)
        case "capsule":
            shape = trimesh.creation.capsule(height=height - width, radius=radius, count=(_SECTIONS, _SECTIONS))
            shape.apply_translation(-shape.bounds.mean(axis=0))
            shape.apply_transform(_STANDING)
            return shape


def _terrain_mesh(trimesh: Any, terrain: Terrain) -> Any:
    if not terrain.heights:
        slab = trimesh.creation.box(extents=(terrain.size_x, TERRAIN_DEPTH, terrain.size_z))
        slab.apply_translation(terrain.position.minus(Vector(0.0, TERRAIN_DEPTH / 2, 0.0)))
        return slab
    field = HeightField(terrain)
    rows, columns = field.heights.shape
    x, z = np.meshgrid(field.x, field.z)
    corners = np.stack([x, field.heights, z], axis=-1).reshape(-1, 3)
    number: NDArray[np.intp] = np.arange(rows * columns, dtype=np.intp).reshape(rows, columns)
    far_left, far_right = number[:-1, :-1].ravel(), number[:-1, 1:].ravel()
    near_left, near_right = number[1:, :-1].ravel(), number[1:, 1:].ravel()
    first = np.stack([far_left, near_left, far_right], axis=1)
    second = np.stack([far_right, near_left, near_right], axis=1)
    return trimesh.Trimesh(vertices=corners, faces=np.concatenate([first, second]), process=False)
