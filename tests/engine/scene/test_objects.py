"""Bodies, lights, camera and backdrop: what is kept, and what is refused with nothing changed."""

from __future__ import annotations

import math

import pytest

from engine.errors import ConflictError, EngineError, InvalidArgumentError, NotFoundError
from engine.scene.backdrop import SetBackground, SetSkybox
from engine.scene.bodies import AddBody
from engine.scene.inspect import Inspect
from engine.scene.lens import camera_axes
from engine.scene.lighting import AddLight, LightChanges, SetLightState
from engine.scene.reading import AMBIENT, SUN, backdrop_of, lights_of, selection_kind
from engine.scene.records import Camera
from engine.scene.selection import SelectObjects
from engine.scene.vector import Box, Degrees, Quaternion, Vector
from engine.scene.viewpoint import ResetCamera, SetCamera
from engine.world import Command
from tests.engine.scene.samples import Scene

UNIT = Vector(1, 1, 1)


def refused(scene: Scene, command: Command[object], kind: type[EngineError] = InvalidArgumentError) -> str:
    before, revision = scene.records(), scene.world.revision
    with pytest.raises(kind) as error:
        scene.do(command)
    assert (scene.records(), scene.world.revision) == (before, revision)
    return str(error.value)


def test_a_body_comes_back_with_id_and_bounds():
    added = Scene().do(AddBody(shape="box", position=Vector(1, 2, 3), size=Vector(2, 4, 6), color="ff8800"))

    assert (added.body.id, added.body.color, added.ground) == ("body-1", "#FF8800", None)
    assert added.bounds == Box(Vector(0, 0, 0), Vector(2, 4, 6))


@pytest.mark.parametrize(
    ("shape", "size", "low", "high"),
    [
        ("box", Vector(2, 4, 6), Vector(-2, -1, -3), Vector(2, 1, 3)),
        ("cylinder", Vector(2, 4, 2), Vector(-2, -1, -1), Vector(2, 1, 1)),
        ("capsule", Vector(2, 4, 2), Vector(-2, -1, -1), Vector(2, 1, 1)),
        ("sphere", Vector(2, 2, 2), Vector(-1, -1, -1), Vector(1, 1, 1)),
    ],
)
def test_the_bounds_of_a_body_are_those_of_the_turned_shape(shape: str, size: Vector, low: Vector, high: Vector):
    lying = Degrees(roll=90).quaternion()

    added = Scene().do(AddBody(shape=shape, size=size, rotation=lying))  # pyright: ignore[reportArgumentType]

    assert added.bounds.low.minus(low).length < 1e-7
    assert added.bounds.high.minus(high).length < 1e-7


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"size": Vector(0, 1, 1)}, "width must be from 0.01 to 1000 metres; got 0"),
        ({"size": Vector(1, math.nan, 1)}, "height must be"),
        ({"shape": "sphere", "size": Vector(2000, 2000, 2000)}, "radius must be from 0.005 to 500 metres; got 1000"),
        ({"shape": "capsule", "size": Vector(0, 2, 0)}, "radius must be from 0.005 to 500 metres; got 0"),
        ({"shape": "cylinder", "size": Vector(1, 2000, 1)}, "height must be from 0.01 to 1000 metres; got 2000"),
        ({"mass": 0}, "mass must be from 0.001"),
        ({"mass": math.inf}, "mass must be"),
        ({"friction": -1}, "friction must be"),
        ({"position": Vector(0, 20_000, 0)}, "position.y must be from -10000 to 10000 metres"),
        ({"velocity": Vector(0, 0, 1e9)}, "velocity.z must be"),
        ({"rotation": Quaternion(2, 0, 0, 0)}, "quaternion of length 1"),
        ({"rotation": Quaternion(math.nan, 0, 0, 0)}, "quaternion of length 1"),
        ({"color": "red"}, "color must be #RRGGBB"),
        ({"color": "#11223344"}, "nothing in a scene is transparent"),
        ({"dynamic": False, "velocity": Vector(1, 0, 0)}, "not dynamic never moves"),
        ({"shape": "sphere", "size": Vector(1, 2, 1)}, "one diameter"),
        ({"shape": "cylinder", "size": Vector(1, 2, 3)}, "A cylinder is round"),
        ({"shape": "capsule", "size": UNIT}, "must be higher than 1"),
    ],
)
def test_what_no_body_can_have_is_refused_with_what_would_be_right(values: dict[str, object], text: str):
    scene = Scene()
    scene.body()

    command = AddBody(**{"shape": "box", "size": UNIT, **values})  # pyright: ignore[reportArgumentType]

    assert text in refused(scene, command)


def test_a_new_scene_has_an_ambient_light_and_a_sun():
    assert lights_of(Scene().table) == (AMBIENT, SUN)


def test_there_are_at_most_eight_point_four_directional_and_four_spot_lights():
    scene = Scene()
    for kind, most in (("point", 8), ("directional", 3), ("spot", 4)):  # the sun is a directional one
        for _ in range(most):
            scene.do(AddLight(kind=kind, settings=LightChanges()))  # pyright: ignore[reportArgumentType]
        text = refused(scene, AddLight(kind=kind, settings=LightChanges()), ConflictError)  # pyright: ignore[reportArgumentType]
        assert "which is the most" in text

    assert len(lights_of(scene.table)) == 17


def test_a_light_shines_from_its_place_at_its_target():
    light = Scene().do(
        AddLight(kind="spot", settings=LightChanges(x=0, y=4, z=3, target=Vector(0, 0, 0), cone_degrees=30))
    )

    assert light.direction.minus(Vector(0, -0.8, -0.6)).length < 1e-12
    assert (light.id, light.cone_degrees, light.position) == ("light-1", 30, Vector(0, 4, 3))


@pytest.mark.parametrize(
    ("kind", "values", "text"),
    [
        ("point", {"target": UNIT}, "A light of kind point has no target"),
        ("directional", {"range": 5}, "no range"),
        ("spot", {"target": UNIT, "direction": UNIT}, "give one of them"),
        ("spot", {"x": 0, "y": 0, "z": 0}, "stands at its own target"),
        ("spot", {"direction": Vector(0, 0, 0)}, "has no direction"),
        ("spot", {"cone_degrees": 200}, "cone_degrees must be"),
        ("point", {"intensity": -1}, "intensity must be"),
    ],
)
def test_what_a_light_cannot_have_is_refused(kind: str, values: dict[str, object], text: str):
    settings = LightChanges(**values)  # pyright: ignore[reportArgumentType]

    assert text in refused(Scene(), AddLight(kind=kind, settings=settings))  # pyright: ignore[reportArgumentType]


def test_a_light_is_changed_by_id_and_the_ambient_one_without():
    scene = Scene()

    sun = scene.do(SetLightState(kind="directional", light_id="sun", changes=LightChanges(enabled=False)))
    ambient = scene.do(SetLightState(kind="ambient", light_id=None, changes=LightChanges(intensity=0.5)))

    assert (sun.enabled, ambient.intensity) == (False, 0.5)
    assert lights_of(scene.table) == (ambient, sun)


def test_a_light_is_changed_by_its_id_alone():
    scene = Scene()

    sun = scene.do(SetLightState(light_id="sun", changes=LightChanges(intensity=2)))

    assert (sun.id, sun.intensity, sun.enabled) == ("sun", 2, True)
    assert "enabled, color, intensity" in refused(scene, SetLightState(light_id="sun", changes=LightChanges()))
    assert "Say which light, by id. Lights: ambient" in refused(
        scene, SetLightState(kind="point", light_id=None, changes=LightChanges(enabled=True))
    )


def test_a_light_that_is_not_there_or_of_another_kind_is_refused():
    scene = Scene()
    off = LightChanges(enabled=False)

    unknown = refused(scene, SetLightState(kind="point", light_id="light-9", changes=off), NotFoundError)
    other = refused(scene, SetLightState(kind="point", light_id="sun", changes=off))

    assert "no light 'light-9'. Lights: ambient (ambient), sun (directional)" in unknown
    assert unknown == refused(scene, SetLightState(light_id="light-9", changes=LightChanges()), NotFoundError)
    assert other == "sun is a light of kind directional, not point."


def test_the_camera_looks_at_its_target():
    camera = Scene().do(SetCamera(position=Vector(10, 0, 0), target=Vector(0, 10, 0), fov=60))

    assert camera_axes(camera)[2].minus(Vector(-1, 1, 0).unit()).length < 1e-12
    assert (camera.yaw, round(camera.pitch, 9), camera.fov) == (90, 45, 60)


def test_what_is_not_said_of_the_camera_stays():
    scene = Scene()
    scene.do(SetCamera(position=Vector(0, 5, 0), yaw=10, pitch=-20, fov=70))

    camera = scene.do(SetCamera(position=Vector(1, 5, 0), yaw=20))

    assert (camera.yaw, camera.pitch, camera.fov) == (20, -20, 70)


def test_looking_straight_down_keeps_the_yaw():
    camera = Scene().do(SetCamera(position=Vector(0, 9, 0), target=Vector(0, 0, 0)))

    assert (camera.yaw, camera.pitch) == (Camera().yaw, -90)


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"target": Vector(0, 0, 0)}, "stands at its own target"),
        ({"target": UNIT, "yaw": 3}, "give one of them"),
        ({"pitch": 91}, "pitch must be from -90 to 90"),
        ({"fov": 180}, "fov_degrees must be from 5 to 150"),
        ({"yaw": math.nan}, "yaw must be"),
    ],
)
def test_a_camera_that_cannot_be_is_refused(values: dict[str, object], text: str):
    command = SetCamera(position=Vector(0, 0, 0), **values)  # pyright: ignore[reportArgumentType]

    assert text in refused(Scene(), command)


def test_reset_puts_the_camera_back_and_changes_nothing_there():
    scene = Scene()
    scene.do(SetCamera(position=Vector(0, 5, 0)))

    assert scene.do(ResetCamera()) == Camera()
    revision = scene.world.revision
    scene.do(ResetCamera())
    assert scene.world.revision == revision


def test_sky_and_background_take_each_others_place():
    scene = Scene()
    scene.do(SetSkybox(sky="night", brightness=0.3))
    assert (backdrop_of(scene.table).sky, backdrop_of(scene.table).brightness) == ("night", 0.3)

    scene.do(SetBackground("#102030"))

    assert (backdrop_of(scene.table).sky, backdrop_of(scene.table).color) == (None, "#102030")
    assert "Skies: day, sunset" in refused(scene, SetSkybox(sky="green"), NotFoundError)


def test_objects_are_selected_by_box_shape_and_id():
    scene = Scene()
    for x in range(5):
        scene.body("sphere" if x % 2 else "box", Vector(x * 10, 0, 0))
    terrain = scene.ground()

    box = Box(Vector(-1, -1, -1), Vector(25, 1, 1))
    assert scene.do(SelectObjects(bounds=box)).selection == ("body-1", "body-2", "body-3", terrain)
    assert scene.do(SelectObjects(bounds=box, kind="sphere")).selection == ("body-2",)
    assert scene.do(SelectObjects(ids=("sun",), mode="add")).selection == ("body-2", "sun")
    assert selection_kind(scene.table) == "scene-object"
    assert scene.do(SelectObjects(ids=("body-2",), mode="remove")).selection == ("sun",)
    assert scene.do(SelectObjects(ids=())).selection == ()
    assert selection_kind(scene.table) is None
    assert scene.do(SelectObjects(all=True)).matched == 8


def test_selecting_nothing_in_particular_or_what_is_not_there_is_refused():
    scene = Scene()

    assert "Say what to select" in refused(scene, SelectObjects())
    assert "no object 'body-7'" in refused(scene, SelectObjects(ids=("body-7",)), NotFoundError)


def test_inspecting_pages_in_order_of_creation_without_missing_or_repeating():
    scene = Scene()
    made = [scene.body(at=Vector(x, 0, 0)).id for x in range(25)]

    seen = [entry.body.id for start in (0, 10, 20) for entry in scene.do(Inspect(offset=start, limit=10)).bodies]

    assert seen == made


def test_filters_of_inspecting_combine():
    scene = Scene()
    scene.body(at=Vector(0, 0, 0))
    scene.body("sphere", Vector(5, 0, 0), dynamic=False)
    scene.body("sphere", Vector(50, 0, 0))
    scene.do(SelectObjects(ids=("body-2", "body-3")))
    near = Box(Vector(-10, -10, -10), Vector(10, 10, 10))

    def found(**filters: object) -> list[str]:
        return [entry.body.id for entry in scene.do(Inspect(**filters)).bodies]  # pyright: ignore[reportArgumentType]

    assert found(shape="sphere", bounds=near) == ["body-2"]
    assert found(selected_only=True, dynamic=True) == ["body-3"]
    assert found(ids=("body-3", "body-1"), dynamic=True) == ["body-1", "body-3"]
    seen = scene.do(Inspect(limit=0))
    assert (seen.body_count, seen.shapes, seen.total) == (3, (("box", 1), ("sphere", 2)), 3)
    with pytest.raises(NotFoundError, match="no body 'x'"):
        found(ids=("x",))
