"""Terrain as MuJoCo has it: a slab where it is flat, else a height field. Shared by physics and pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from engine.scene.height_field import HeightField
from engine.scene.measures import TERRAIN_DEPTH
from engine.scene.mujoco_frame import half_extents, to_mujoco
from engine.scene.mujoco_library import geom_type, mujoco
from engine.scene.records import Terrain
from engine.scene.vector import Vector


def add_terrain_geom(spec: Any, terrain: Terrain) -> Any:
    """Put the terrain into the world of an `MjSpec`, and give the geom that it is there."""
    x, y, z = terrain.position
    spread = terrain.highest - terrain.lowest
    if not terrain.heights or spread <= 0:
        middle = Vector(x, y + terrain.lowest - TERRAIN_DEPTH / 2, z)
        slab = half_extents(Vector(terrain.size_x, TERRAIN_DEPTH, terrain.size_z))
        return spec.worldbody.add_geom(type=geom_type("box"), pos=to_mujoco(middle), size=slab)
    # MuJoCo's rows go along its y, which is our z turned round; its samples reach from 0 to 1.
    rows = (HeightField(terrain).heights - y - terrain.lowest)[::-1] / spread
    spec.add_hfield(
        name=terrain.id,
        nrow=terrain.rows,
        ncol=terrain.columns,
        size=(terrain.size_x / 2, terrain.size_z / 2, spread, TERRAIN_DEPTH),
        userdata=np.ravel(rows).tolist(),
    )
    return spec.worldbody.add_geom(
        type=mujoco().mjtGeom.mjGEOM_HFIELD, hfieldname=terrain.id, pos=to_mujoco(Vector(x, y + terrain.lowest, z))
    )
