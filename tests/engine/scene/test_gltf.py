"""Exported scenes open in other programs, everything in its place."""

from __future__ import annotations

import io
import json
import struct

import numpy as np
import pytest
import trimesh

from engine.scene.gltf import to_glb
from engine.scene.records import BodyShape
from engine.scene.shape import bounds_of
from engine.scene.terrain import NoiseRecipe
from engine.scene.vector import Degrees, Vector
from tests.engine.scene.samples import SIZES, Scene


def opened(scene: Scene) -> trimesh.Scene:
    return trimesh.load_scene(io.BytesIO(to_glb(scene.snapshot())), file_type="glb")


@pytest.mark.parametrize("shape", list(SIZES))
def test_a_body_keeps_its_place_its_turn_and_its_id(shape: BodyShape):
    scene = Scene()
    body = scene.body(shape, Vector(1, 2, 3), rotation=Degrees(30, 20, 10).quaternion())

    exported = opened(scene)

    box = bounds_of(body)
    assert exported.graph.nodes_geometry == ["body-1"]
    assert np.allclose(exported.bounds, [box.low, box.high], atol=0.02)


def test_terrain_is_exported_as_it_is():
    scene = Scene()
    scene.ground(kind="perlin", noise=NoiseRecipe(height=3, samples=9), position=Vector(0, 1, 0))

    assert np.allclose(opened(scene).bounds, [[-10, 1, -10], [10, 4, 10]])


def test_colors_are_in_the_materials_and_equal_shapes_are_stored_once():
    scene = Scene()
    for x in range(3):
        scene.body("box", Vector(x * 2, 0, 0), color="#FF8000")

    data = to_glb(scene.snapshot())

    (length,) = struct.unpack_from("<I", data, 12)
    content = json.loads(data[20 : 20 + length])
    assert len(content["meshes"]) == 1
    assert len([node for node in content["nodes"] if "mesh" in node]) == 3
    assert np.allclose(
        content["materials"][0]["pbrMetallicRoughness"]["baseColorFactor"], [1, 128 / 255, 0, 1], atol=0.01
    )


def test_the_same_scene_gives_the_same_bytes_and_an_empty_one_a_file():
    scene = Scene()
    assert len(opened(scene).geometry) == 0
    scene.body("sphere")

    assert to_glb(scene.snapshot()) == to_glb(scene.snapshot())
