"""Physics: things fall, rest, slide and collide as they should, the same each time, as MuJoCo does it."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConflictError, InvalidArgumentError
from engine.scene.backdrop import SetSkybox
from engine.scene.bodies import AddBody
from engine.scene.height_field import HeightField
from engine.scene.physics import Simulation, steps_of
from engine.scene.raycast import RaycastTerrain
from engine.scene.reading import terrains_of
from engine.scene.records import BodyShape
from engine.scene.simulate import ApplySimulation, StartSimulation
from engine.scene.terrain import NoiseRecipe
from engine.scene.vector import Degrees, Vector
from engine.world import World
from tests.engine.scene.samples import SIZES, Scene

G = 9.81


def test_a_box_falls_and_rests_on_the_ground_at_half_its_height():
    scene = Scene()
    scene.ground(position=Vector(0, 0.5, 0))
    scene.body("box", Vector(0, 3, 0))

    motion = scene.run(3)

    assert motion.resting == {"body-1"}
    assert scene.now("body-1").position.minus(Vector(0, 1.5, 0)).length < 0.002


@pytest.mark.parametrize("shape", ["sphere", "cylinder", "capsule"])
def test_round_bodies_rest_on_the_ground_too(shape: BodyShape):
    scene = Scene()
    scene.ground()
    half = SIZES[shape].y / 2
    scene.body(shape, Vector(0, half + 0.2, 0))

    scene.run(1)

    assert abs(scene.now("body-1").position.y - half) < 0.002


def test_a_box_rests_on_hills_where_rays_find_them():
    scene = Scene()
    scene.ground(kind="perlin", noise=NoiseRecipe(seed=3, octaves=2))
    scene.body("sphere", Vector(2, 5, 2), friction=10.0)
    scene.run(6)

    at = scene.now("body-1").position
    ground = scene.do(RaycastTerrain(x=at.x, z=at.z))

    # A ball touches a slope beside its middle: its distance from the surface along the normal is its radius.
    assert abs((at.y - ground.point.y) * ground.normal.y - 0.5) < 0.03
    assert ground.point == HeightField(terrains_of(scene.table)[0]).surface_at(at.x, at.z)[0]  # pyright: ignore[reportOptionalSubscript]


@pytest.mark.parametrize(
    ("of_body", "of_slope", "angle"), [(0.6, 0.6, 25), (0.6, 0.6, 40), (0.1, 0.6, 15), (0.6, 0.1, 15), (0, 0, 20)]
)
def test_a_box_slides_down_a_slope_as_the_smaller_friction_lets_it(of_body: float, of_slope: float, angle: float):
    scene = Scene()
    turn = Degrees(roll=angle).quaternion()
    up = turn.turn(Vector(0, 1, 0))
    slope = {"size": Vector(60, 1, 10), "rotation": turn, "dynamic": False, "friction": of_slope}
    scene.body("box", up.times(-0.5), **slope)
    start = up.times(0.25)
    scene.body("box", start, size=Vector(1, 0.5, 1), rotation=turn, friction=of_body)

    scene.run(1)

    steep, friction = math.radians(angle), min(of_body, of_slope)
    slides = max(0, G * (math.sin(steep) - friction * math.cos(steep))) / 2
    assert abs(scene.now("body-2").position.minus(start).length - slides) < 0.01 + 0.01 * slides


def test_momentum_is_kept_when_bodies_meet_in_the_air():
    scene = Scene()
    scene.body("sphere", Vector(-2, 0, 0.1), mass=2, velocity=Vector(3, 0, 0))
    scene.body("sphere", Vector(2, 0, 0), mass=1, velocity=Vector(-3, 0, 0), spin=Vector(0, 90, 0))

    motion = scene.run(1)

    total = Vector(0, 0, 0)
    for body in motion.bodies:
        total = total.plus(body.velocity.times(body.mass))
    assert total.minus(Vector(3, -3 * G, 0)).length < 1e-6
    assert motion.bodies[0].velocity.z > 0.01


def test_a_free_body_flies_as_newton_says_and_keeps_spinning():
    scene = Scene()
    scene.body("box", Vector(0, 0, 0), size=Vector(1, 1, 1), velocity=Vector(1, 10, -2), spin=Vector(0, 90, 0))

    scene.run(1)

    body = scene.now("body-1")
    assert body.position.minus(Vector(1, 10 - G / 2, -2)).length < 0.02
    assert body.spin.minus(Vector(0, 90, 0)).length < 1e-6
    assert abs(Degrees.of(body.rotation).yaw - 90) < 1e-6


@given(st.builds(Degrees, st.floats(-180, 180), st.floats(-80, 80), st.floats(-180, 180)))
def test_velocity_and_spin_go_in_and_come_out_the_same(turn: Degrees):
    scene = Scene()
    given_body = scene.body("box", velocity=Vector(1, 2, 3), spin=Vector(30, 20, 10), rotation=turn.quaternion())

    (body,) = Simulation((given_body,), ()).motion().bodies

    assert body.velocity == given_body.velocity
    assert body.spin.minus(given_body.spin).length < 1e-9


def test_bodies_that_are_not_dynamic_stay_and_carry_others():
    scene = Scene()
    table = scene.body("box", Vector(0, 1, 0), size=Vector(4, 0.2, 4), dynamic=False)
    scene.body("box", Vector(0, 3, 0), size=Vector(1, 1, 1))

    scene.run(2)

    assert scene.now("body-1") == table
    assert abs(scene.now("body-2").position.y - 1.6) < 0.002


def heap() -> Scene:
    scene = Scene()
    scene.ground(kind="perlin", noise=NoiseRecipe(seed=5, samples=17))
    for number, shape in enumerate(list(SIZES) * 2):
        scene.body(shape, Vector(number % 2 * 0.3, 3 + number, number % 3 * 0.2))
    return scene


def test_the_same_scene_moves_the_same_to_the_last_bit_however_the_run_is_divided():
    one = heap().run(1.5, chunk=750)
    other = heap().run(1.5, chunk=37)

    assert one == other
    assert len({body.position for body in one.bodies}) == 8


def test_nothing_of_an_earlier_run_is_left_in_the_next():
    scene = heap()
    scene.run(0.5)
    middle = scene.snapshot()
    onward = scene.run(0.5)

    again = Simulation(middle.bodies, middle.terrains)
    again.advance(250)

    assert again.motion() == onward


def test_a_run_is_one_step_of_the_history():
    scene = heap()
    before, count = scene.records(), scene.world.undo_count

    scene.run(0.2)
    after = scene.records()
    assert scene.world.undo_count == count + 1
    scene.world.undo()
    assert scene.records() == before
    scene.world.redo()
    assert scene.records() == after


def test_an_outcome_is_refused_when_the_bodies_changed_meanwhile_and_not_when_the_sky_did():
    scene = heap()
    start = scene.do(StartSimulation())
    run = Simulation(start.bodies, start.terrains)
    run.advance(10)
    scene.do(SetSkybox(sky="night"))
    scene.do(ApplySimulation(start, run.motion()))
    before = scene.records()

    with pytest.raises(ConflictError, match="changed while it was simulated"):
        scene.do(ApplySimulation(start, run.motion()))
    assert scene.records() == before


def test_what_falls_off_the_ground_stops_far_below_and_is_named():
    scene = Scene()
    scene.body("box", Vector(0, -990, 0))

    motion = scene.run(3)

    assert motion.lost == ("body-1",)
    assert scene.now("body-1").position == Vector(0, -1000, 0)
    assert scene.now("body-1").velocity == Vector(0, 0, 0)


def test_where_nothing_can_move_there_is_nothing_to_simulate():
    scene = Scene()
    scene.ground()
    scene.body(dynamic=False)

    with pytest.raises(ConflictError, match="Nothing in the scene can move"):
        scene.do(StartSimulation())


def test_motion_that_explodes_is_refused_and_says_what_to_do():
    scene = Scene()
    body = scene.body()
    run = Simulation((replace(body, velocity=Vector(1e12, 0, 0)),), ())

    with pytest.raises(ConflictError, match=r"became unstable after .* nothing was changed: use a smaller timestep"):
        run.advance(10)


def test_nothing_gets_faster_than_a_scene_can_hold():
    scene = Scene()
    scene.body("box", Vector(0, 900, 0), velocity=Vector(0, -1000, 0))

    scene.run(0.5)

    assert scene.now("body-1").velocity == Vector(0, -1000, 0)


@pytest.mark.parametrize(
    ("seconds", "timestep", "moving", "text"),
    [
        (0.001, 0.002, 1, "seconds must be from 0.002 to 60"),
        (61, 0.002, 1, "seconds must be"),
        (math.nan, 0.002, 1, "seconds must be"),
        (60, 0.002, 2000, "at most 5 s and call again"),
    ],
)
def test_a_run_that_is_too_long_is_refused_before_it_begins(seconds: float, timestep: float, moving: int, text: str):
    with pytest.raises(InvalidArgumentError, match=text):
        steps_of(seconds, timestep, moving)


def test_the_time_step_has_limits():
    with pytest.raises(InvalidArgumentError, match=r"timestep must be from 0\.0005 to 0\.01"):
        Simulation((), (), timestep=0.1)


@pytest.mark.slow
def test_two_thousand_bodies_move():
    scene = Scene()
    scene.ground(size_x=200.0, size_z=200.0)
    for number in range(2000):
        scene.body("box", Vector(number % 50 * 2 - 50, 1.2, number // 50 * 2 - 40))

    motion = scene.run(0.2)

    assert len(motion.bodies) == 2000
    assert all(abs(body.position.y - 1.0) < 0.2 for body in motion.bodies)


def test_more_bodies_at_one_place_than_memory_has_room_for_are_refused_in_our_words() -> None:
    scene = Scene()
    for _ in range(1000):
        scene.do(AddBody(shape="box", position=Vector(0, 5, 0), size=Vector(1, 1, 1)))
    before = scene.records()
    with pytest.raises(ConflictError, match="Too many bodies touch or overlap"):
        scene.run(0.01)
    assert scene.records() == before


def test_a_run_is_not_put_into_another_world_that_looks_the_same() -> None:
    one, other = World("world-1", "one"), World("world-2", "other")
    body = AddBody(shape="box", position=Vector(0, 5, 0), size=Vector(1, 1, 1))
    for world in (one, other):
        world.execute(body)
    start = one.execute(StartSimulation()).result
    simulation = Simulation(start.bodies, start.terrains)
    simulation.advance(10)
    motion = simulation.motion()
    with pytest.raises(ConflictError, match="scene of world-1 was simulated, and world-2 is active"):
        other.execute(ApplySimulation(start, motion))
    assert other.undo_count == 1
    assert one.execute(ApplySimulation(start, motion)).result == 1
