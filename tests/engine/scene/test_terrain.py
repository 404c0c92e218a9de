"""Terrain: what is under a place, the same for rays, physics and pictures."""

from __future__ import annotations

import io
import math
import zlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from engine.scene.height_field import HeightField, decode_heights
from engine.scene.height_image import heights_of_image
from engine.scene.mujoco_frame import to_mujoco
from engine.scene.mujoco_library import mujoco
from engine.scene.physics import compile_scene
from engine.scene.raycast import CastRay, RaycastTerrain
from engine.scene.reading import selected_ids, terrains_of
from engine.scene.selection import SelectObjects
from engine.scene.terrain import AddTerrain, NoiseRecipe, RemoveTerrain
from engine.scene.vector import Box, Vector
from tests.engine.scene.samples import EXAMPLES, Scene

WAVY = ((0.0, 3.0, 1.0), (2.0, 0.0, 2.0), (1.0, 4.0, 0.0))


def wavy() -> Scene:
    scene = Scene()
    scene.ground(kind="heightfield", heights=WAVY, position=Vector(1, 2, 3), size_x=10.0, size_z=6.0)
    return scene


def test_the_first_row_lies_at_the_smallest_z_and_begins_at_the_smallest_x():
    scene = wavy()

    for row, z in enumerate((0.0, 3.0, 6.0)):
        for column, x in enumerate((-4.0, 1.0, 6.0)):
            assert scene.do(RaycastTerrain(x=x, z=z)).point.y == 2 + WAVY[row][column]


def test_a_cell_is_two_flat_triangles_with_their_normals():
    hit = wavy().do(RaycastTerrain(x=-3.9, z=0.1))

    # From 0 to 3 over 5 metres along x, from 0 to 2 over 3 metres along z.
    assert hit.normal.minus(Vector(-3 / 5, 1, -2 / 3).unit()).length < 1e-12
    assert math.isclose(hit.point.y, 2 + 0.1 * 3 / 5 + 0.1 * 2 / 3)


@EXAMPLES
@given(st.floats(-3.9, 5.9), st.floats(0.1, 5.9), st.floats(-1, 1), st.floats(-1, 1))
def test_rays_meet_the_ground_where_the_physics_has_it(x: float, z: float, slope_x: float, slope_z: float):
    scene = wavy()
    direction = Vector(slope_x, -1, slope_z).unit()
    origin = Vector(x, 7, z).minus(direction.times(5))
    model = compile_scene((), terrains_of(scene.table), timestep=0.002)
    data = mujoco().MjData(model)
    mujoco().mj_forward(model, data)

    hit = scene.do(CastRay(origin=origin, direction=direction)).hit
    theirs = mujoco().mj_ray(
        model,
        data,
        np.array(to_mujoco(origin)),
        np.array(to_mujoco(direction)),
        None,
        1,
        -1,
        np.zeros((1, 1), np.int32),
    )

    there = origin.plus(direction.times(theirs))
    if theirs > 0 and -3.999 < there.x < 5.999 and 0.001 < there.z < 5.999:
        assert hit is not None
        assert math.isclose(hit.distance, theirs, abs_tol=1e-4)
        assert scene.do(RaycastTerrain(x=hit.point.x, z=hit.point.z)).point.minus(hit.point).length < 1e-6
        # On the edge between two triangles, either has its say.
        around = [(hit.point.x + dx, hit.point.z + dz) for dx in (-1e-6, 1e-6) for dz in (-1e-6, 1e-6)]
        normals = [scene.do(RaycastTerrain(x=x, z=z)).normal for x, z in around]
        assert min(normal.minus(hit.normal).length for normal in normals) < 1e-6


def test_a_ray_straight_down_and_one_from_below():
    scene = wavy()

    down = scene.do(CastRay(origin=Vector(1, 50, 3), direction=Vector(0, -1, 0))).hit
    assert down is not None
    assert (down.point, down.kind, down.id) == (Vector(1, 2, 3), "terrain", "terrain-1")
    assert scene.do(CastRay(origin=Vector(1, -50, 3), direction=Vector(0, 1, 0))).hit is None


def test_the_highest_terrain_counts_and_bodies_where_asked_for():
    scene = Scene()
    scene.ground()
    scene.ground(position=Vector(0, 3, 0), size_x=2.0, size_z=2.0)
    scene.body("box", Vector(0.5, 9, 0))

    assert scene.do(RaycastTerrain(x=0.5, z=0)).id == "terrain-2"
    assert scene.do(RaycastTerrain(x=5, z=0)).id == "terrain-1"
    top = scene.do(RaycastTerrain(x=0.5, z=0, include_bodies=True))
    assert (top.id, top.point, top.normal) == ("body-1", Vector(0.5, 10, 0), Vector(0, 1, 0))


def test_beside_the_terrain_there_is_nothing_and_the_error_says_where_it_is():
    scene = Scene()
    with pytest.raises(NotFoundError, match="the scene has no terrain"):
        scene.do(RaycastTerrain(x=0, z=0))
    scene.ground(size_x=4.0, size_z=6.0)
    with pytest.raises(NotFoundError, match="terrain-1 from x -2 to 2, z -3 to 3"):
        scene.do(RaycastTerrain(x=2.1, z=0))
    assert scene.do(RaycastTerrain(x=2, z=3)).point.y == 0


def test_hills_are_the_same_for_a_seed_and_others_for_another():
    def heights(seed: int) -> str:
        recipe = NoiseRecipe(seed=seed, height=4, samples=33)
        return Scene().do(AddTerrain(kind="perlin", noise=recipe)).terrain.heights

    assert heights(7) == heights(7)
    assert heights(7) != heights(8)


def test_hills_reach_from_the_foot_to_the_height_and_are_smooth():
    info = Scene().do(AddTerrain(kind="perlin", noise=NoiseRecipe(height=4, octaves=1, samples=65)))

    heights = decode_heights(info.terrain)
    assert (heights.min(), heights.max()) == (0, 4)
    assert np.abs(np.diff(heights, axis=0)).max() < 1
    assert info.bounds == Box(Vector(-10, 0, -10), Vector(10, 4, 10))


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"size_x": 0.0}, "size must be from 0.1"),
        ({"size_x": math.nan}, "size must be"),
        ({"heights": WAVY}, "flat terrain has no heights"),
        ({"kind": "heightfield"}, "needs heights"),
        ({"kind": "heightfield", "heights": ((0.0,), (1.0,))}, "numbers? of heights in a row must be from 2"),
        ({"kind": "heightfield", "heights": ((0.0, 1.0), (1.0,))}, r"heights\[1\] has 1 numbers"),
        ({"kind": "heightfield", "heights": ((0.0, math.inf), (1.0, 1.0))}, "heights must be finite"),
        ({"kind": "heightfield", "heights": ((0.0, 1e6), (1.0, 1.0))}, "heights must be finite and from -2000"),
        ({"kind": "perlin", "noise": NoiseRecipe(seed=-1)}, "seed must be"),
        ({"kind": "perlin", "noise": NoiseRecipe(samples=100_000)}, "samples must be from 2 to 257"),
        ({"kind": "perlin", "noise": NoiseRecipe(feature_size=1e-9)}, "feature_size must be"),
    ],
)
def test_a_terrain_that_cannot_be_is_refused(values: dict[str, object], text: str):
    scene = Scene()
    with pytest.raises(InvalidArgumentError, match=text):
        scene.ground(**values)
    assert scene.world.revision == 0


def test_a_removed_terrain_is_gone_from_the_selection_and_undo_brings_both_back():
    scene = wavy()
    scene.do(SelectObjects(all=True))
    before = scene.records()

    scene.do(RemoveTerrain("terrain-1"))

    assert "terrain-1" not in selected_ids(scene.table)
    with pytest.raises(NotFoundError, match=r"no terrain 'terrain-1'. Terrains: none\."):
        scene.do(RemoveTerrain("terrain-1"))
    scene.world.undo()
    assert scene.records() == before


def test_there_are_at_most_sixteen_terrains():
    scene = Scene()
    for _ in range(16):
        scene.ground()
    with pytest.raises(ConflictError, match="16 terrains"):
        scene.ground()


def png(pixels: np.ndarray, **more: object) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG", **more)
    return file.getvalue()


def test_an_image_gives_heights_black_low_and_white_high_its_first_row_first():
    heights = heights_of_image(png(np.array([[0, 255, 0], [51, 0, 0]], dtype=np.uint8)))

    assert np.allclose(heights, [[0, 1, 0], [0.2, 0, 0]])


def test_sixteen_bits_of_grey_are_kept():
    heights = heights_of_image(png(np.array([[0, 1], [32768, 65535]], dtype=np.uint16)))

    assert np.allclose(heights, [[0, 1 / 65535], [32768 / 65535, 1]], atol=1e-9)


def test_colors_count_by_brightness_and_transparency_as_black():
    pixels = np.array([[[255, 255, 255, 255], [255, 255, 255, 0]], [[0, 0, 0, 255], [0, 255, 0, 255]]], dtype=np.uint8)

    heights = heights_of_image(png(pixels))

    assert np.allclose(heights, [[1, 0], [0, 150 / 255]], atol=0.005)


def test_large_images_are_reduced_to_what_a_terrain_takes():
    gradient = np.tile(np.linspace(0, 255, 1000).astype(np.uint8), (500, 1))

    assert heights_of_image(png(gradient)).shape == (128, 257)
    assert heights_of_image(png(gradient), samples=10).shape == (5, 10)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "empty"),
        (b"no image", "a text that begins with 'no image'"),
        ("é".encode() * 50, f"a text that begins with '{'é' * 20}'"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, "a broken PNG image"),
        (b"\xff\xd8\xff", "a broken JPEG image"),
        (b"GIF89a" + b"\0" * 20, "a GIF image"),
        (b"\0\1\2\xfe" * 5, "20 bytes of another kind"),
    ],
)
def test_what_is_no_image_is_refused_with_what_it_is_and_what_is_taken(data: bytes, kind: str):
    with pytest.raises(InvalidArgumentError) as error:
        heights_of_image(data)

    assert str(error.value) == (
        f"The file is not a PNG or JPEG image that can be read: it is {kind}; a terrain takes one of those, whole, "
        "with pixels from 2 to 8192 on each side."
    )


def test_an_image_that_is_cut_off_is_refused_as_broken():
    noise = np.arange(64 * 64, dtype=np.uint8).reshape(64, 64)

    with pytest.raises(InvalidArgumentError, match=r"a broken PNG image \(.*\); a terrain takes") as error:
        heights_of_image(png(noise)[:-40])

    assert "object at" not in str(error.value)


def test_an_image_that_would_fill_the_memory_is_refused_before_it_is_unpacked():
    small = png(np.zeros((2, 2), dtype=np.uint8))
    head = small[12:29].replace((2).to_bytes(4, "big") * 2, (100_000).to_bytes(4, "big") * 2)
    bomb = small[:12] + head + zlib.crc32(head).to_bytes(4, "big") + small[33:]
    with pytest.raises(InvalidArgumentError, match="too many pixels; a terrain takes from 2 to 8192"):
        heights_of_image(bomb)


def test_the_surface_of_a_flat_terrain_is_its_y():
    scene = Scene()
    scene.ground(position=Vector(0, 1.5, 0))

    surface = HeightField(terrains_of(scene.table)[0]).surface_at(3, -4)

    assert surface == (Vector(3, 1.5, -4), Vector(0, 1, 0))
