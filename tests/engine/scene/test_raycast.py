"""Rays against bodies: as MuJoCo meets them, and as the picture shows them."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidArgumentError
from engine.scene.lens import Lens
from engine.scene.mujoco_frame import from_mujoco, to_mujoco
from engine.scene.mujoco_library import mujoco
from engine.scene.physics import compile_scene
from engine.scene.raycast import CastRay, ScreenRay
from engine.scene.records import BodyShape
from engine.scene.vector import Degrees, Vector
from engine.scene.viewpoint import SetCamera
from tests.engine.scene.samples import EXAMPLES, SIZES, Scene, angles


@pytest.mark.parametrize("shape", list(SIZES))
def test_rays_meet_bodies_where_the_physics_has_them(shape: BodyShape):
    @EXAMPLES
    @given(st.builds(Degrees, angles, angles, angles), angles, st.floats(-90, 90), st.floats(-1, 1), st.floats(-1, 1))
    def check(turn: Degrees, yaw: float, pitch: float, aside: float, above: float) -> None:
        scene = Scene()
        body = scene.body(shape, Vector(1, 2, 3), rotation=turn.quaternion())
        view = Degrees(yaw, pitch).quaternion()
        direction = view.turn(Vector(0, 0, -1))
        origin = Vector(1, 2, 3).plus(view.turn(Vector(aside, above, 6)))
        model = compile_scene((body,), (), timestep=0.002)
        data = mujoco().MjData(model)
        mujoco().mj_forward(model, data)
        outward, which = np.zeros((3, 1)), np.zeros((1, 1), np.int32)
        ray = (np.array(to_mujoco(origin)), np.array(to_mujoco(direction)))

        hit = scene.do(CastRay(origin=origin, direction=direction)).hit
        theirs = mujoco().mj_ray(model, data, *ray, None, 1, -1, which, outward)

        if hit is None:
            assert theirs < 0 or abs(hit_depth(origin, direction, theirs)) < 1e-3
        elif abs(hit.normal.dot(direction)) > 1e-3:
            assert math.isclose(hit.distance, theirs, abs_tol=1e-6)
            assert hit.id == "body-1"
            normal = from_mujoco(*outward.ravel().tolist())
            assert hit.normal.minus(normal).length < 1e-3 or is_on_an_edge(hit.normal, normal)

    check()


def hit_depth(origin: Vector, direction: Vector, distance: float) -> float:
    """How square the ray looks at the middle; rays that graze a body are met by one and missed by the other."""
    there = origin.plus(direction.times(distance)).minus(Vector(1, 2, 3))
    return there.unit().dot(direction)


def is_on_an_edge(one: Vector, other: Vector) -> bool:
    return abs(one.dot(other)) < 1e-6


def test_the_nearest_body_is_met_and_not_the_one_around_the_eye():
    scene = Scene()
    scene.body("sphere", Vector(0, 0, 0), size=Vector(4, 4, 4))
    scene.body("sphere", Vector(0, 0, -5))
    scene.body("sphere", Vector(0, 0, -8))

    hit = scene.do(CastRay(origin=Vector(0, 0, 0), direction=Vector(0, 0, -3))).hit

    assert hit is not None
    assert (hit.id, hit.distance, hit.point, hit.normal) == ("body-2", 4.5, Vector(0, 0, -4.5), Vector(0, 0, 1))


def test_a_ray_along_a_side_of_a_box_meets_it():
    scene = Scene()
    scene.body("box", Vector(0, 0, 0), size=Vector(2, 2, 2))

    hit = scene.do(CastRay(origin=Vector(0, 1, 5), direction=Vector(0, 0, -1))).hit

    assert hit is not None
    assert hit.distance == 4


def test_a_ray_without_direction_or_outside_the_space_is_refused():
    with pytest.raises(InvalidArgumentError, match="has no direction"):
        Scene().do(CastRay(origin=Vector(0, 0, 0), direction=Vector(0, 0, 0)))
    with pytest.raises(InvalidArgumentError, match=r"origin\.x must be"):
        Scene().do(CastRay(origin=Vector(math.inf, 0, 0), direction=Vector(0, 0, 1)))


@EXAMPLES
@given(st.floats(0, 800), st.floats(0, 600), angles, st.floats(-89, 89), st.floats(10, 120))
def test_a_pixel_and_the_point_seen_there_find_each_other(x: float, y: float, yaw: float, pitch: float, fov: float):
    scene = Scene()
    camera = scene.do(SetCamera(position=Vector(3, 2, 1), yaw=yaw, pitch=pitch, fov=fov))

    ray = scene.do(ScreenRay(x=x, y=y, width=800, height=600)).ray
    place = Lens(camera, 800, 600).place(ray.origin.plus(ray.direction.times(7)))

    assert place is not None
    assert math.dist(place, (x, y)) < 1e-6


def test_the_middle_of_the_picture_looks_ahead_and_its_upper_half_up():
    scene = Scene()
    scene.do(SetCamera(position=Vector(0, 0, 0), yaw=0, pitch=0, fov=90))

    middle = scene.do(ScreenRay(x=400, y=300, width=800, height=600)).ray.direction
    top = scene.do(ScreenRay(x=400, y=0, width=800, height=600)).ray.direction
    right = scene.do(ScreenRay(x=800, y=300, width=800, height=600)).ray.direction

    assert middle == Vector(0, 0, -1)
    assert top.minus(Vector(0, 1, -1).unit()).length < 1e-12
    assert right.x > 0


@pytest.mark.parametrize(("x", "y", "width"), [(-1, 0, 800), (801, 0, 800), (0, math.nan, 800), (0, 0, 5)])
def test_a_pixel_outside_the_picture_is_refused(x: float, y: float, width: int):
    with pytest.raises(InvalidArgumentError):
        Scene().do(ScreenRay(x=x, y=y, width=width, height=600))
