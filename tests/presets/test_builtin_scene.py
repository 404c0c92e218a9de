"""The scene presets and their tools, as an agent meets them.

Case 053 of the existing engine (a cuboid can be added in a scene context) is noted by its number.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import jsonschema_rs
import numpy as np
import pytest
from PIL import Image

from engine.scene.bodies import AddBody
from engine.scene.physics import GRAVITY
from engine.scene.vector import Vector
from presets.adapters import ToolAdapter
from presets.builtins import scene
from presets.context import ContextSnapshot
from presets.definition import DefaultState, Risk
from presets.overrides import NO_OVERRIDES
from presets.registry import PresetRegistry
from presets.resolution import resolve
from protocol.tool import ToolError
from tests.presets.fake_app import FakeApp, SilentCall
from tests.presets.samples import DRAWING, GRAPH, SCENE

ResultT = TypeVar("ResultT")

ADAPTERS = scene.adapters()
BY_NAME = {adapter.mcp_name.removeprefix("space_scene_"): adapter for adapter in ADAPTERS}

TABLE = {
    "scene-object-tools": (
        "auto",
        "normal",
        ["inspect", "add_cuboid", "add_physics_body", "select_object", "simulate"],
    ),
    "scene-terrain-tools": ("auto", "normal", ["add_terrain", "raycast_terrain"]),
    "scene-terrain-destructive-tools": ("off", "destructive", ["remove_terrain"]),
    "scene-lighting-tools": ("auto", "normal", ["add_light", "set_light_state"]),
    "scene-skybox-tools": ("auto", "normal", ["set_skybox", "set_background"]),
    "scene-camera-tools": ("auto", "normal", ["set_camera", "reset_camera", "screen_ray"]),
    "scene-state-tools": ("off", "destructive", ["get_state", "restore_state"]),
}
"""The table of the document, with inspect and simulate."""


class HookedApp(FakeApp):
    """An app in which something can happen while a thread works."""

    between: Callable[[], None] = staticmethod(lambda: None)

    async def in_thread(self, function: Callable[[], ResultT]) -> ResultT:
        self.between()
        return function()


class CountingCall(SilentCall):
    """A call that remembers its progress."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[tuple[float, float | None]] = []

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        self.seen.append((done, total))


class Tools:
    """A fresh engine, and its scene tools by their short names; every call is checked against its schemas."""

    def __init__(self, workspace: Path) -> None:
        self.app = HookedApp(workspace)
        self.call = CountingCall()

    async def __call__(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        adapter = BY_NAME[tool]
        jsonschema_rs.validate(dict(adapter.input_schema), arguments)
        outcome = await adapter.make_run(self.app)(arguments, self.call)
        assert outcome.structured is not None
        assert adapter.output_schema is not None
        jsonschema_rs.validate(dict(adapter.output_schema), dict(outcome.structured))
        return dict(outcome.structured)

    async def refused(self, tool: str, /, **arguments: object) -> str:
        """The error of a call that must fail, and must leave the world as it is."""
        before = self.app.engine.active_world.revision
        with pytest.raises(ToolError) as error:
            await self(tool, **arguments)
        assert self.app.engine.active_world.revision == before
        return str(error.value)

    async def body(self, body_id: str) -> dict[str, Any]:
        (found,) = (await self("inspect", ids=[body_id]))["bodies"]
        return found


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(tmp_path)


def offered(context: ContextSnapshot) -> set[str]:
    return set(resolve(PresetRegistry(scene.presets()), context, NO_OVERRIDES).tool_ids)


def test_the_presets_are_those_of_the_documents_table():
    names = {adapter.id: adapter.mcp_name.removeprefix("space_scene_") for adapter in ADAPTERS}

    written = {
        preset.name: (preset.default_state.value, preset.risk.value, [names[tool_id] for tool_id in preset.tool_ids])
        for preset in scene.presets()
    }

    assert written == TABLE
    assert list(written) == list(TABLE)
    assert {preset.group for preset in scene.presets()} == {"scene"}


def test_what_destroys_is_off_by_default():
    for preset in scene.presets():
        assert (preset.risk is Risk.DESTRUCTIVE) == (preset.default_state is DefaultState.OFF)


def test_the_scene_tools_are_there_on_the_scene_and_nowhere_else():  # 053
    on_the_scene = offered(SCENE)

    assert "scene.add-cuboid" in on_the_scene
    assert not {"scene.remove-terrain", "scene.get-state", "scene.restore-state"} & on_the_scene
    assert len(on_the_scene) == 14
    assert offered(GRAPH) == offered(DRAWING) == set()


def test_every_tool_belongs_to_exactly_one_preset():
    listed = [tool_id for preset in scene.presets() for tool_id in preset.tool_ids]

    assert sorted(listed) == sorted(adapter.id for adapter in ADAPTERS)
    assert len(set(listed)) == 17


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_schemas_are_plain_closed_objects_and_valid(adapter: ToolAdapter):
    assert adapter.output_schema is not None
    for schema in (adapter.input_schema, adapter.output_schema):
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs"} & set(schema)
        assert "$ref" not in json.dumps(schema)
        jsonschema_rs.meta.validate(dict(schema))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in adapter.input_schema["properties"])


@pytest.mark.parametrize("tool", ["add_cuboid", "add_physics_body", "add_terrain", "set_camera", "inspect", "simulate"])
def test_tools_with_places_say_where_up_is_and_in_which_units(tool: str):
    assert "+y up" in BY_NAME[tool].description
    assert "metres" in BY_NAME[tool].description
    assert "degrees" in BY_NAME[tool].description


def test_what_changes_the_scene_may_name_the_revision_it_is_based_on():
    reading = {"inspect", "raycast_terrain", "screen_ray", "get_state"}

    for name, adapter in BY_NAME.items():
        assert ("base_revision" in adapter.input_schema["properties"]) == (name not in reading)
        assert adapter.read_only == (name in reading - {"get_state"})


async def test_a_cuboid_is_as_it_was_asked_for_and_nothing_is_ignored(tools: Tools):
    made = await tools(
        "add_cuboid", x=1, y=2, z=3, width=2, height=4, depth=6, color="ff8800", mass=7, friction=0.2, yaw=90,
        velocity={"x": 1}, spin={"y": 90},
    )  # fmt: skip

    body = await tools.body("body-1")
    assert body | {"selected": None} == made["body"] | {"selected": None}
    assert (body["position"], body["size"]) == ({"x": 1, "y": 2, "z": 3}, {"x": 2, "y": 4, "z": 6})
    assert (body["color"], body["mass"], body["friction"], body["dynamic"]) == ("#FF8800", 7, 0.2, True)
    assert body["rotation_degrees"] == {"yaw": 90, "pitch": 0, "roll": 0}
    assert (body["velocity"], body["spin"]) == ({"x": 1, "y": 0, "z": 0}, {"x": 0, "y": 90, "z": 0})
    assert body["bounds"] == {"min": {"x": -2, "y": 0, "z": 2}, "max": {"x": 4, "y": 4, "z": 4}}


async def test_a_cuboid_without_a_word_is_a_metre_wide_and_at_the_origin(tools: Tools):
    body = (await tools("add_cuboid"))["body"]

    assert (body["size"], body["position"], body["mass"]) == ({"x": 1, "y": 1, "z": 1}, {"x": 0, "y": 0, "z": 0}, 1)


@pytest.mark.parametrize(
    ("arguments", "shape", "facts"),
    [
        ({"shape": "cuboid", "width": 3}, "box", {"size": {"x": 3, "y": 1, "z": 1}}),
        ({"shape": "sphere", "radius": 2}, "sphere", {"radius": 2}),
        ({"shape": "cylinder", "height": 3}, "cylinder", {"radius": 0.5, "height": 3}),
        ({"shape": "capsule"}, "capsule", {"radius": 0.5, "height": 2}),
    ],
)
async def test_bodies_of_every_shape(tools: Tools, arguments: dict[str, Any], shape: str, facts: dict[str, Any]):
    body = (await tools("add_physics_body", mass=5, **arguments))["body"]

    assert (body["shape"], body["mass"]) == (shape, 5)
    assert facts.items() <= body.items()


async def test_members_that_a_shape_does_not_have_are_refused(tools: Tools):
    assert "A sphere takes no width and no height" in await tools.refused(
        "add_physics_body", shape="sphere", width=1, height=1
    )
    assert "A box takes no radius" in await tools.refused("add_physics_body", shape="box", radius=1)


async def test_a_body_in_the_ground_is_answered_with_where_it_would_stand(tools: Tools):
    assert "no terrain under it" in (await tools("add_cuboid"))["note"]
    await tools("add_terrain", y=1)

    made = await tools("add_cuboid", y=1)

    assert made["ground_y"] == 1
    assert "with y 1.5 it would stand" in made["note"]
    assert "note" not in await tools("add_cuboid", y=1.5)


@pytest.mark.slow
async def test_ten_boxes_dropped_on_hills_come_to_rest_on_them(tools: Tools):
    await tools("add_terrain", kind="perlin", seed=4, height=1.5, octaves=2)
    for number in range(10):
        await tools("add_cuboid", x=number % 5 * 2 - 4, y=4, z=number // 5 * 2 - 1)

    done = await tools("simulate", seconds=20, until_at_rest=True)

    assert done["all_at_rest"] is True
    assert (done["moving_count"], done["moved_count"], done["lost_count"]) == (10, 10, 0)
    assert done["seconds"] < 20
    for moved in done["bodies"]:
        at = moved["position"]
        ground = await tools("raycast_terrain", x=at["x"], z=at["z"])
        assert 0.3 < at["y"] - ground["y"] < 1.3
        assert (await tools.body(moved["id"]))["position"] == at


async def test_a_fall_takes_the_time_it_takes(tools: Tools):
    await tools("add_physics_body", shape="sphere", y=100)

    done = await tools("simulate", seconds=2, timestep=0.001)

    (moved,) = done["bodies"]
    assert math.isclose(moved["position"]["y"], 100 - GRAVITY * 2, abs_tol=0.03)
    assert (done["steps"], done["seconds"], moved["at_rest"]) == (2000, 2, False)


async def test_simulating_tells_how_far_it_is(tools: Tools):
    for number in range(100):
        await tools("add_physics_body", shape="sphere", x=number * 2)

    await tools("simulate", seconds=3)

    done = [step for step, _total in tools.call.seen]
    assert done == sorted(done)
    assert tools.call.seen[-1] == (1500, 1500)
    assert len(done) == 3


async def test_a_simulation_is_refused_when_the_scene_changes_meanwhile(tools: Tools):
    await tools("add_cuboid", y=5)
    change = AddBody(shape="box", size=Vector(1, 1, 1))

    def once() -> None:
        tools.app.between = lambda: None
        tools.app.engine.execute(change)

    tools.app.between = once
    with pytest.raises(ToolError, match="changed while it was simulated"):
        await tools("simulate")

    assert (await tools.body("body-1"))["position"]["y"] == 5


async def test_simulating_nothing_or_for_too_long_is_refused(tools: Tools):
    assert "Nothing in the scene can move" in await tools.refused("simulate")
    for number in range(200):
        await tools("add_cuboid", x=number * 2)
    assert "at most 50 s and call again" in await tools.refused("simulate", seconds=60)


async def test_a_write_on_an_old_revision_is_refused(tools: Tools):
    made = await tools("add_cuboid", y=3)
    await tools("add_cuboid")

    assert "revision" in await tools.refused("simulate", base_revision=made["revision"])
    assert "revision" in await tools.refused("set_background", color="#112233", base_revision=made["revision"])
    now = (await tools("inspect"))["revision"]
    assert (await tools("simulate", base_revision=now))["moved_count"] == 2


async def test_objects_are_selected_by_id_kind_and_box(tools: Tools):
    await tools("add_cuboid")
    await tools("add_physics_body", shape="sphere", x=10)
    await tools("add_terrain")

    assert (await tools("select_object", id="body-1"))["ids"] == ["body-1"]
    box = {"min": {"x": 11, "y": 1, "z": 1}, "max": {"x": 9, "y": -1, "z": -1}}
    assert (await tools("select_object", bounds=box))["ids"] == ["body-2", "terrain-1"]
    assert (await tools("select_object", kind="terrain", all=True, mode="remove"))["ids"] == ["body-2"]
    done = await tools("select_object", id="body-1", ids=["sun"], mode="add")
    assert (done["ids"], done["matched"], done["selected"]) == (["body-1", "body-2", "sun"], 2, 3)
    seen = await tools("inspect", selected_only=True)
    assert [body["id"] for body in seen["bodies"]] == ["body-1", "body-2"]
    assert (await tools("select_object", ids=[]))["selected"] == 0
    assert "Say what to select" in await tools.refused("select_object")
    assert "no object 'x'" in await tools.refused("select_object", id="x")


async def test_the_ground_is_found_with_its_slope_and_what_stands_on_it(tools: Tools):
    made = await tools("add_terrain", kind="heightfield", heights=[[0, 2], [0, 2]], size=4, x=1, y=10)
    assert (made["terrain"]["rows"], made["terrain"]["columns"]) == (2, 2)
    await tools("add_physics_body", shape="sphere", x=1, y=14)

    ground = await tools("raycast_terrain", x=1, z=0)
    top = await tools("raycast_terrain", x=1, z=0, include_objects=True)

    assert (ground["y"], ground["id"], ground["kind"]) == (11, "terrain-1", "terrain")
    assert math.isclose(ground["normal"]["x"], -1 / math.sqrt(5), abs_tol=1e-6)
    assert (top["y"], top["id"], top["normal"]) == (14.5, "body-1", {"x": 0, "y": 1, "z": 0})
    assert "There is nothing at x 9, z 9" in await tools.refused("raycast_terrain", x=9, z=9)


async def test_an_image_of_the_workspace_becomes_terrain(tools: Tools, tmp_path: Path):
    file = io.BytesIO()
    Image.fromarray(np.array([[0, 255, 0], [0, 0, 0], [0, 0, 0]], dtype=np.uint8)).save(file, "PNG")
    (tmp_path / "hill.png").write_bytes(file.getvalue())

    await tools("add_terrain", kind="heightfield", image="hill.png", height=5, size=4)

    assert (await tools("raycast_terrain", x=0, z=-2))["y"] == 5
    assert (await tools("raycast_terrain", x=0, z=2))["y"] == 0
    (tmp_path / "text.png").write_text("no image")
    assert "not a PNG or JPEG" in await tools.refused("add_terrain", kind="heightfield", image="text.png")
    assert "x.png" in await tools.refused("add_terrain", kind="heightfield", image="x.png")
    assert "holds '..'" in await tools.refused("add_terrain", kind="heightfield", image="../secret.png")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"kind": "heightfield"}, "needs either heights or image"),
        ({"kind": "heightfield", "heights": [[0, 1], [0, 1]], "image": "a.png"}, "needs either heights or image"),
        ({"kind": "heightfield", "heights": [[0, 1], [0, 1, 2]]}, "heights[1] has 3 numbers"),
        ({"kind": "heightfield", "heights": [[0, 1], [0, 1]], "height": 2}, "for an image"),
        ({"seed": 3}, "A terrain of kind flat takes no seed"),
        ({"kind": "perlin", "heights": [[0, 1], [0, 1]]}, "takes no heights"),
    ],
)
async def test_a_terrain_that_is_not_whole_is_refused_with_what_it_needs(
    tools: Tools, arguments: dict[str, Any], text: str
):
    assert text in await tools.refused("add_terrain", **arguments)


async def test_terrain_is_removed_once(tools: Tools):
    made = await tools("add_terrain", size=6, size_z=8)

    gone = await tools("remove_terrain", id="terrain-1")

    assert (gone["removed"], gone["terrain"]) == (True, made["terrain"])
    assert "no terrain 'terrain-1'" in await tools.refused("remove_terrain", id="terrain-1")


async def test_lights_come_back_as_they_are_and_are_changed(tools: Tools):
    made = await tools("add_light", kind="spot", x=1, y=4, z=1, color="#FF0000", intensity=2, cone_degrees=30, range=5)
    assert made["light"] == {
        "id": "light-1", "kind": "spot", "enabled": True, "color": "#FF0000", "intensity": 2, "range": 5,
        "position": {"x": 1, "y": 4, "z": 1}, "cone_degrees": 30, "direction": made["light"]["direction"],
    }  # fmt: skip

    off = await tools("set_light_state", kind="spot", id="light-1", enabled=False, color="#00FF00")
    same = await tools("set_light_state", kind="spot", id="light-1", enabled=False)
    dim = await tools("set_light_state", kind="ambient", enabled=True, intensity=0.1)

    assert (off["light"]["enabled"], off["light"]["color"], off["changed"]) == (False, "#00FF00", True)
    assert (same["changed"], dim["light"]["intensity"]) == (False, 0.1)
    assert [light["id"] for light in (await tools("inspect"))["lights"]] == ["ambient", "sun", "light-1"]
    assert "no light 'x'" in await tools.refused("set_light_state", kind="point", id="x", enabled=True)
    assert "no light 'x'. Lights: ambient (ambient)" in await tools.refused("set_light_state", id="x")


async def test_the_ninth_point_light_is_refused(tools: Tools):
    for _ in range(8):
        await tools("add_light", kind="point")

    assert "There are 8 point lights, which is the most" in await tools.refused("add_light", kind="point")


async def test_skies_and_backgrounds_are_told_by_inspect(tools: Tools):
    assert (await tools("inspect"))["backdrop"] == {}
    sky = await tools("set_skybox", asset="day")
    assert (sky["asset"], sky["brightness"], sky["changed"]) == ("day", 0.1, True)
    assert (await tools("inspect"))["backdrop"] == {"sky": "day", "brightness": 0.1}
    assert (await tools("set_background", color="336699"))["color"] == "#336699"
    assert (await tools("inspect"))["backdrop"] == {"color": "#336699"}


async def test_the_camera_is_set_and_reset(tools: Tools):
    start = (await tools("inspect"))["camera"]
    done = await tools("set_camera", x=0, y=0, z=10, yaw=90, pitch=0, fov_degrees=60)
    assert done["camera"]["forward"] == {"x": -1, "y": 0, "z": 0}
    looking = await tools("set_camera", x=0, y=0, z=10, target={"x": 0, "y": 0, "z": 0})
    assert (looking["camera"]["yaw"], looking["camera"]["forward"]["z"]) == (0, -1)
    assert "give one of them" in await tools.refused(
        "set_camera", x=0, y=0, z=0, yaw=1, target={"x": 1, "y": 1, "z": 1}
    )

    assert (await tools("reset_camera"))["camera"] == start
    await tools("add_cuboid", x=500)
    far = (await tools("reset_camera", fit=True))["camera"]
    assert abs(far["position"]["x"] - 500) < 20


async def test_a_pixel_tells_what_is_there(tools: Tools):
    await tools("set_camera", x=0, y=0, z=10, yaw=0, pitch=0)
    await tools("add_cuboid")

    ray = await tools("screen_ray", x=320, y=240, width=640, height=480)
    beside = await tools("screen_ray", x=0, y=0)

    assert ray["direction"] == {"x": 0, "y": 0, "z": -1}
    assert ray["hit"] == {
        "kind": "body", "id": "body-1", "distance": 9.5,
        "point": {"x": 0, "y": 0, "z": 0.5}, "normal": {"x": 0, "y": 0, "z": 1},
    }  # fmt: skip
    assert "hit" not in beside
    assert "x must be from 0 to 100 pixels" in await tools.refused("screen_ray", x=101, y=0, width=100, height=100)


async def test_a_state_is_given_and_restored_in_the_answer_and_in_a_file(tools: Tools, tmp_path: Path):
    await tools("add_cuboid", y=3, yaw=17)
    await tools("simulate", seconds=0.5)
    given = await tools("get_state")
    await tools("get_state", path="kept.json")
    await tools("add_physics_body", shape="sphere")

    done = await tools("restore_state", state=given["state"])
    assert (done["body_count"], done["light_count"], done["changed"]) == (1, 2, True)
    assert (await tools("get_state"))["state"] == given["state"]
    assert json.loads((tmp_path / "kept.json").read_text()) == given["state"]
    assert (await tools("restore_state", path="kept.json"))["changed"] is False


async def test_a_state_that_is_too_large_for_an_answer_asks_for_a_path(tools: Tools):
    await tools("add_terrain", kind="perlin", samples=257)

    assert "give path" in await tools.refused("get_state")
    kept = await tools("get_state", path="big.json")
    assert (kept["size_bytes"] > 300_000, kept["terrain_count"], "state" in kept) == (True, 1, False)
    await tools("remove_terrain", id="terrain-1")
    assert (await tools("restore_state", path="big.json"))["terrain_count"] == 1


async def test_what_is_no_state_is_refused(tools: Tools, tmp_path: Path):
    (tmp_path / "bad.json").write_text("{")

    assert "Give either state" in await tools.refused("restore_state")
    assert "This is no state of a scene: version" in await tools.refused("restore_state", state={})
    assert "holds no JSON" in await tools.refused("restore_state", path="bad.json")
    answer = await tools("get_state")
    assert "pass its `state` alone" in await tools.refused("restore_state", state=answer)


async def test_inspect_pages_through_a_scene_within_what_a_model_can_read(tools: Tools):
    for number in range(300):
        body = AddBody(
            shape="cylinder", size=Vector(1, 2, 1), position=Vector(-1234.567891, number, 9876.543219),
            velocity=Vector(1.234567, 2.345678, 3.456789), spin=Vector(1.234567, 2.345678, 3.456789),
        )  # fmt: skip
        tools.app.engine.execute(body)
    for kind, most in (("point", 8), ("spot", 4), ("directional", 3)):
        for _ in range(most):
            await tools("add_light", kind=kind, x=123.456789, y=234.567891, z=345.678912)
    for _ in range(16):
        await tools("add_terrain", kind="perlin", samples=2)
    await tools("select_object", all=True)
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await tools("inspect", limit=200, offset=offset)
        assert len(json.dumps(page)) < 40 * 1024
        seen += [each["id"] for each in page["bodies"]]
        offset = page.get("next")

    assert seen == [f"body-{number}" for number in range(1, 301)]


async def test_inspect_without_objects_is_only_the_summary(tools: Tools):
    await tools("add_cuboid")

    seen = await tools("inspect", include_objects=False)

    assert (seen["bodies"], seen["total"], seen["shapes"], "next" in seen) == ([], 1, {"box": 1}, False)
