"""Where changed bodies, terrains and lights are seen: where the camera has them in the picture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.marks import Mark, PixelSize
from engine.scene.backdrop import SetBackground
from engine.scene.lighting import AddLight, LightChanges
from engine.scene.marks import marks
from engine.scene.records import BodyShape
from engine.scene.selection import SelectObjects
from engine.scene.software_picture import paint_in_software
from engine.scene.vector import Degrees, Vector
from engine.scene.viewpoint import SetCamera
from engine.view import DEFAULT_VIEW_HEIGHT, DEFAULT_VIEW_WIDTH
from engine.world import Command
from tests.engine.scene.samples import EXAMPLES, SIZES, Scene, asides, steps

SIZE = (80, 60)
SMOOTH = 1.5
"""Pixels by which the painter's smooth edges go beyond what they belong to."""


def marks_of(scene: Scene, since: int = 0, size: PixelSize | None = SIZE) -> list[Mark]:
    changes = scene.world.changes_since(since)
    assert changes is not None
    return list(marks(scene.table, changes, size))


def looking() -> Scene:
    scene = Scene()
    scene.do(SetCamera(position=Vector(0, 0, 5), yaw=0, pitch=0, fov=60))
    return scene


@pytest.mark.parametrize("shape", list(SIZES))
@pytest.mark.parametrize("turn", [Degrees(), Degrees(30, 40, 20)])
def test_a_body_is_within_its_mark_and_a_box_fills_it(shape: BodyShape, turn: Degrees) -> None:
    scene = looking()
    body = scene.body(shape, at=Vector(0.4, 0.3, 0), rotation=turn.quaternion(), color="#FFFFFF")
    pixels = paint_in_software(scene.snapshot(), *SIZE, "#000000")
    rows, columns = np.nonzero(pixels.sum(axis=2) > 0)

    (mark,) = marks_of(scene)

    assert (mark.id, mark.label, mark.change) == (body.id, shape, "added")
    painted = (columns.min(), rows.min(), columns.max() + 1, rows.max() + 1)
    left, top = mark.left * SIZE[0], mark.top * SIZE[1]
    right, bottom = left + mark.width * SIZE[0], top + mark.height * SIZE[1]
    assert left <= painted[0] + SMOOTH
    assert top <= painted[1] + SMOOTH
    assert right >= painted[2] - SMOOTH
    assert bottom >= painted[3] - SMOOTH
    if shape == "box":
        assert (left, top, right, bottom) == pytest.approx(painted, abs=SMOOTH)


def test_a_body_that_the_simulation_moved_is_changed_where_it_is_now() -> None:
    scene = looking()
    scene.ground(position=Vector(0, -3, 0))
    falling, fixed = scene.body(at=Vector(0, 1, 0)), scene.body(at=Vector(1.5, 0, 0), dynamic=False)
    before = {mark.id: mark for mark in marks_of(scene)}
    since = scene.world.revision
    scene.run(0.5)
    (mark,) = marks_of(scene, since)
    assert (mark.id, mark.change) == (falling.id, "changed")
    assert mark.top > before[falling.id].top
    assert fixed.id in before


@pytest.mark.parametrize(
    "place",
    [Vector(0, 0, 9), Vector(40, 0, 0), Vector(0, -40, 0), Vector(0, 0, 5.7)],
    ids=["behind", "right", "below", "at the back of the camera"],
)
def test_what_is_outside_of_the_picture_has_no_mark(place: Vector) -> None:
    scene = looking()
    scene.body("sphere", at=place)
    assert marks_of(scene) == []


def test_a_beam_that_passes_by_a_corner_of_the_picture_has_no_mark() -> None:
    scene = looking()
    # The box around it on the plane of the picture reaches into the corner; the beam itself does not.
    corner = Vector(4.3, 3.4, 0)
    scene.body("box", at=corner, size=Vector(6.0, 0.05, 0.05), rotation=Degrees(roll=-45).quaternion())
    assert marks_of(scene) == []
    scene.body("box", at=Vector(3.0, 2.4, 0), size=Vector(6.0, 0.05, 0.05), rotation=Degrees(roll=-45).quaternion())
    assert [mark.id for mark in marks_of(scene)] == ["body-2"]


@pytest.mark.parametrize("yaw", [0.0, 180.0])
def test_a_beam_that_comes_from_behind_the_camera_is_marked_up_to_the_side_of_the_picture(yaw: float) -> None:
    scene = looking()
    turn = Degrees(yaw=yaw).quaternion()
    scene.body("box", at=Vector(0.5, 0, 4), size=Vector(0.1, 0.1, 10.0), rotation=turn)
    (mark,) = marks_of(scene)
    assert 0.5 < mark.left < 0.6
    assert mark.left + mark.width == pytest.approx(1)


def test_a_body_around_the_camera_is_marked_within_the_picture() -> None:
    scene = looking()
    scene.body("box", at=Vector(0, 0, 5), size=Vector(900.0, 900.0, 900.0))
    (mark,) = marks_of(scene)
    assert (mark.left, mark.top, mark.width, mark.height) == pytest.approx((0, 0, 1, 1))


def test_lights_that_stand_somewhere_are_marked_and_the_rest_of_the_scene_is_not() -> None:
    scene = looking()
    scene.do(AddLight(kind="point", settings=LightChanges(x=0.5, y=0.5, z=0.0)))
    scene.do(AddLight(kind="directional", settings=LightChanges()))
    scene.do(SetBackground(color="#102030"))
    scene.do(SelectObjects(all=True))
    assert [(mark.id, mark.label) for mark in marks_of(scene)] == [("light-1", "point light")]


def test_a_camera_that_turns_away_leaves_no_mark_and_marks_nothing_that_stayed() -> None:
    scene = looking()
    scene.body()
    since = scene.world.revision
    scene.do(SetCamera(position=Vector(0, 0, 6)))
    assert marks_of(scene, since) == []
    scene.do(SetCamera(position=Vector(0, 0, 6), yaw=180))
    assert marks_of(scene) == []


def test_without_a_size_the_picture_is_that_of_a_request_without_one() -> None:
    scene = looking()
    scene.body(at=Vector(2, 0, 0))
    assert marks_of(scene, size=None) == marks_of(scene, size=(DEFAULT_VIEW_WIDTH, DEFAULT_VIEW_HEIGHT))
    assert marks_of(scene, size=(300, 100)) != marks_of(scene, size=(100, 100))


@EXAMPLES
@given(st.lists(steps | asides, max_size=10))
def test_every_mark_lies_within_the_picture(actions: list[Command[object]]) -> None:
    scene = Scene()
    for action in actions:
        try:
            scene.do(action)
        except EngineError:
            continue
    for mark in marks_of(scene):
        assert 0 <= mark.left <= mark.left + mark.width <= 1 + 1e-9
        assert 0 <= mark.top <= mark.top + mark.height <= 1 + 1e-9
