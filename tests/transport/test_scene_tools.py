"""Every tool of the scene through the MCP endpoint: what it does to the state, what is then seen, and how it is undone.

Pictures are painted in software, which is there on every machine. Source: agent-presets, table "Scene".
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.scene.renderer import _Found
from tests.transport.running_engine import running_engine
from tests.transport.surface_trial import Pixels, SurfaceTrial

WIDTH, HEIGHT = 80, 60
VIEW = {"width": WIDTH, "height": HEIGHT}
MIDDLE = HEIGHT // 2, WIDTH // 2
SCENE_CONTEXT = {"surface": "scene", "activity": "drawing", "canvas_visible": True}
OFF_BY_DEFAULT = ("scene-terrain-destructive-tools", "scene-state-tools")

RED, BLUE, GREEN = "#FF0000", "#0000FF", "#00FF00"

ORIGIN = {"x": 0, "y": 0, "z": 0}


@pytest.fixture
async def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncGenerator[SurfaceTrial]:
    """An empty scene whose camera looks at the origin from a little above, with every preset on.

    It is lit from everywhere: painting the shadows of the sun would take nine tenths of the time of each test.
    """
    monkeypatch.setenv("MUJOCO_GL", "disable")
    # What other tests have found out on this machine must not count here, nor the other way round.
    monkeypatch.setattr("engine.scene.renderer._found", _Found())
    async with running_engine(tmp_path, built_in=True) as engine:
        trial = await SurfaceTrial.entered(engine, "scene", SCENE_CONTEXT, VIEW, *OFF_BY_DEFAULT)
        await trial("set_light_state", kind="directional", id="sun", enabled=False)
        await trial("set_light_state", kind="ambient", enabled=True, intensity=0.9)
        await trial("set_background", color="#202020")
        await trial("set_camera", x=0, y=3, z=10, target=ORIGIN)
        yield trial


def color_at(picture: Pixels, place: tuple[int, int] = MIDDLE) -> tuple[int, int, int]:
    red, green, blue = (int(part) for part in picture[place])
    return red, green, blue


def reddish(picture: Pixels) -> Any:
    """Which pixels are clearly red."""
    return (picture[..., 0] > 60) & (picture[..., 0] > 2 * picture[..., 1]) & (picture[..., 0] > 2 * picture[..., 2])


def height_of(pixels: Any) -> float:
    """The middle row of those pixels."""
    return float(np.nonzero(pixels)[0].mean())


async def body(scene: SurfaceTrial, body_id: str = "body-1") -> dict[str, Any]:
    (found,) = (await scene("inspect", ids=[body_id]))["bodies"]
    return found


async def test_every_tool_of_the_table_is_on_offer_and_the_dangerous_ones_only_when_turned_on(
    scene: SurfaceTrial,
) -> None:
    destructive = {"remove_terrain", "get_state", "restore_state"}
    everything = await scene.tool_names()
    assert everything == destructive | {
        *("inspect", "add_cuboid", "add_physics_body", "select_object", "simulate", "add_terrain", "raycast_terrain"),
        *("add_light", "set_light_state", "set_skybox", "set_background", "set_camera", "reset_camera", "screen_ray"),
    }
    for preset in OFF_BY_DEFAULT:
        await scene.override(preset, "auto")
    assert await scene.tool_names() == everything - destructive
    assert "scene-terrain-destructive-tools" in await scene.refused("remove_terrain", id="terrain-1")


async def test_the_status_says_that_software_paints(scene: SurfaceTrial) -> None:
    await scene.picture()
    assert (await scene.rest("GET", "/status"))["world"]["scene_renderer"] == "software"


async def test_a_cuboid_stands_where_it_was_put(scene: SurfaceTrial) -> None:
    change = await scene.change("add_cuboid", color=RED, width=2, mass=3)
    made = await body(scene, change.result["body"]["id"])
    assert (made["size"], made["color"], made["mass"]) == ({"x": 2, "y": 1, "z": 1}, RED, 3)
    seen = reddish(change.picture_after)
    assert seen[MIDDLE]
    rows, columns = np.nonzero(seen)
    assert np.ptp(columns) > 1.5 * np.ptp(rows), "it is wider than high"
    changed_rows, changed_columns = np.nonzero(change.changed_pixels)
    assert (changed_rows.min(), changed_rows.max()) == pytest.approx((rows.min(), rows.max()), abs=1)
    assert (changed_columns.min(), changed_columns.max()) == pytest.approx((columns.min(), columns.max()), abs=1)


@pytest.mark.parametrize("shape", ["box", "sphere", "cylinder", "capsule"])
async def test_a_physics_body_of_each_shape_is_there_and_in_the_picture(scene: SurfaceTrial, shape: str) -> None:
    change = await scene.change("add_physics_body", shape=shape, x=2, color=BLUE, velocity={"y": 1})
    made = await body(scene)
    assert (made["shape"], made["position"]["x"], made["velocity"]["y"]) == (shape, 2, 1)
    columns = np.nonzero(change.changed_pixels)[1]
    assert columns.min() > WIDTH // 2, "all of it is right of the middle"
    red, green, blue = change.picture_after[change.changed_pixels].mean(axis=0)
    assert blue > 3 * max(red, green)


async def test_what_is_selected_is_framed_and_known_to_the_context(scene: SurfaceTrial) -> None:
    await scene("add_cuboid", color=RED)
    plain = await scene.picture()
    assert "selection_kind" not in await scene.context()
    chosen = await scene("select_object", id="body-1")
    assert chosen["ids"] == ["body-1"]
    assert (await scene("inspect"))["selection_ids"] == ["body-1"]
    assert (await scene.context())["selection_kind"] == "scene-object"
    marked = await scene.picture()
    added = marked[np.any(marked != plain, axis=2)]
    assert len(added)
    assert (added[:, 1] > 100).any(), "amber, which neither the red body nor the dark ground has"
    await scene("select_object", id="body-1", mode="remove")
    assert np.array_equal(await scene.picture(), plain)
    assert "selection_kind" not in await scene.context()
    await scene("select_object", id="body-1")
    # Choosing is no step of the history: what is undone is the body, and the choice goes with it.
    assert (await scene.app("undo"))["step"] == "add body"
    assert (await scene.state())["bodies"] == []
    assert (await scene("inspect"))["selection_ids"] == []


async def test_a_simulated_body_falls_and_is_seen_further_down(scene: SurfaceTrial) -> None:
    await scene("add_terrain", y=-1)
    await scene("add_cuboid", y=1.5, color=RED)
    change = await scene.change("simulate", seconds=5, until_at_rest=True)
    assert change.result["all_at_rest"] is True
    (moved,) = change.result["bodies"]
    at = (await body(scene))["position"]
    assert at == moved["position"]
    assert at["y"] == pytest.approx(-0.5, abs=0.01)
    assert height_of(reddish(change.picture_after)) > height_of(reddish(change.picture_before)) + 5


async def test_terrain_is_ground_that_is_seen_and_hit(scene: SurfaceTrial) -> None:
    heights = [[0, 0, 0], [0, 2, 0], [0, 0, 0]]
    change = await scene.change("add_terrain", kind="heightfield", heights=heights, size=8, color=GREEN)
    assert change.result["terrain"]["kind"] == "heightfield"
    assert (await scene("inspect"))["terrains"][0]["bounds"]["max"]["y"] == 2
    red, green, blue = color_at(change.picture_after)
    assert green > 50 > max(red, blue)
    hit = await scene("raycast_terrain", x=0, z=0)
    assert (hit["y"], hit["id"]) == (2, "terrain-1")
    beside = await scene("raycast_terrain", x=2, z=0)
    assert beside["y"] == pytest.approx(1)


async def test_a_ray_down_hits_what_the_picture_shows_there(scene: SurfaceTrial) -> None:
    await scene("add_terrain", kind="perlin", seed=4, height=1.5, samples=9)
    seen = (await scene("screen_ray", x=WIDTH / 2, y=HEIGHT / 2, **VIEW))["hit"]
    assert seen["id"] == "terrain-1"
    down = await scene("raycast_terrain", x=seen["point"]["x"], z=seen["point"]["z"])
    assert down["y"] == pytest.approx(seen["point"]["y"], abs=1e-5)
    assert down["normal"] == pytest.approx(seen["normal"], abs=1e-5)


@pytest.mark.slow
async def test_removed_terrain_is_gone_from_the_picture_too(scene: SurfaceTrial) -> None:
    bare = await scene.picture()
    await scene("add_terrain", color=GREEN)
    change = await scene.change("remove_terrain", id="terrain-1")
    assert change.result["terrain"]["id"] == "terrain-1"
    assert (await scene("inspect"))["terrains"] == []
    assert np.array_equal(change.picture_after, bare)
    assert "terrain-1" in await scene.refused("remove_terrain", id="terrain-1")


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["point", "directional", "spot"])
async def test_a_light_makes_what_it_shines_on_brighter(scene: SurfaceTrial, kind: str) -> None:
    await scene("set_light_state", kind="ambient", enabled=True, intensity=0.2)
    await scene("add_terrain", color="#FFFFFF")
    place: dict[str, Any] = (
        {"direction": {"x": 0, "y": -1, "z": 0}} if kind == "directional" else {"x": 0, "y": 3, "z": 0}
    )
    if kind == "spot":
        place["target"] = ORIGIN
    change = await scene.change("add_light", kind=kind, color=RED, **place)
    assert change.result["light"] in [
        {name: value for name, value in light.items() if name != "selected"}
        for light in (await scene("inspect"))["lights"]
    ]
    before, after = color_at(change.picture_before), color_at(change.picture_after)
    assert after[0] > before[0] + 30
    assert after[1:] == pytest.approx(before[1:], abs=1), "the light is red"


@pytest.mark.slow
async def test_a_light_that_is_put_out_leaves_the_scene_darker(scene: SurfaceTrial) -> None:
    await scene("add_terrain", color="#FFFFFF")
    await scene("set_light_state", kind="ambient", enabled=True, intensity=0.2)
    await scene("set_light_state", kind="directional", id="sun", enabled=True)
    change = await scene.change("set_light_state", kind="directional", id="sun", enabled=False)
    assert change.result["light"]["enabled"] is False
    assert {light["id"]: light["enabled"] for light in (await scene("inspect"))["lights"]}["sun"] is False
    assert color_at(change.picture_after)[0] < color_at(change.picture_before)[0] - 30
    dimmed = await scene.change("set_light_state", kind="ambient", enabled=True, intensity=0.02)
    assert color_at(dimmed.picture_after)[0] < color_at(dimmed.picture_before)[0] - 30


async def test_a_sky_takes_the_place_of_the_background_and_the_other_way_round(scene: SurfaceTrial) -> None:
    skies: list[Pixels] = []
    for asset in ("sunset", "day"):
        change = await scene.change("set_skybox", asset=asset)
        assert (await scene("inspect"))["backdrop"]["sky"] == asset
        assert change.changed_pixels.all()
        skies.append(change.picture_after)
    assert not np.array_equal(skies[0], skies[1])
    change = await scene.change("set_background", color="#3366CC")
    assert "sky" not in (await scene("inspect"))["backdrop"]
    assert color_at(change.picture_after) == (0x33, 0x66, 0xCC)
    assert (change.picture_after == change.picture_after[0, 0]).all()


async def test_the_picture_follows_the_camera(scene: SurfaceTrial) -> None:
    await scene("add_cuboid", color=RED)
    nearer = await scene.change("set_camera", x=0, y=0, z=4, target=ORIGIN)
    assert nearer.result["camera"]["position"] == {"x": 0, "y": 0, "z": 4}
    assert reddish(nearer.picture_after).sum() > 3 * reddish(nearer.picture_before).sum()
    away = await scene.change("set_camera", x=0, y=0, z=4, yaw=180)
    assert not reddish(away.picture_after).any()


async def test_a_camera_that_is_reset_is_as_in_a_new_scene_or_sees_everything(scene: SurfaceTrial) -> None:
    await scene("add_cuboid", color=RED)
    back = await scene.change("reset_camera")
    assert (await scene("inspect"))["camera"] == back.result["camera"]
    assert back.result["camera"]["position"] == {"x": 8, "y": 6, "z": 12}
    fitted = await scene.change("reset_camera", fit=True)
    assert reddish(fitted.picture_after).sum() > reddish(back.picture_after).sum()


async def test_a_ray_through_the_picture_hits_what_is_seen_there_and_nothing_beside_it(scene: SurfaceTrial) -> None:
    await scene("add_physics_body", shape="sphere", x=1, y=0.5, color=RED, radius=1)
    seen = reddish(await scene.picture())
    rows, columns = np.nonzero(seen)
    for row in (rows.min() - 1, rows.min(), int(rows.mean()), rows.max(), rows.max() + 1):
        column = int(columns[rows == min(max(row, rows.min()), rows.max())].mean())
        hit = (await scene("screen_ray", x=column + 0.5, y=float(row) + 0.5, **VIEW)).get("hit")
        assert (hit is not None and hit["id"] == "body-1") == seen[row, column]


async def test_inspect_gives_what_is_there_page_by_page(scene: SurfaceTrial) -> None:
    for x in range(5):
        await scene("add_cuboid", x=x)
    await scene("add_physics_body", shape="sphere", x=9)
    picture, revision = await scene.picture(), await scene.revision()
    first = await scene("inspect", limit=4)
    assert (first["body_count"], first["total"], first["shapes"]) == (6, 6, {"box": 5, "sphere": 1})
    rest = await scene("inspect", limit=4, offset=first["next"])
    listed = [item["id"] for page in (first, rest) for item in page["bodies"]]
    assert listed == [f"body-{number}" for number in range(1, 7)]
    assert "next" not in rest
    near = await scene("inspect", bounds={"min": {"x": -0.4, "y": -1, "z": -1}, "max": {"x": 0.4, "y": 1, "z": 1}})
    assert [item["id"] for item in near["bodies"]] == ["body-1"]
    assert [item["id"] for item in (await scene("inspect", shape="sphere"))["bodies"]] == ["body-6"]
    assert await scene.revision() == revision
    assert np.array_equal(await scene.picture(), picture)


@pytest.mark.slow
async def test_a_restored_state_is_exactly_the_one_that_was_taken(scene: SurfaceTrial) -> None:
    await scene("add_terrain", kind="perlin", seed=7, samples=9, height=1)
    await scene("add_physics_body", shape="capsule", x=0.1, y=2, color=RED, roll=33, spin={"x": 7})
    await scene("add_light", kind="point", x=1, y=3, z=1)
    await scene("simulate", seconds=0.3)
    await scene("set_skybox", asset="night")
    taken, picture = await scene.state(), await scene.picture()
    await scene("remove_terrain", id="terrain-1")
    await scene("simulate", seconds=0.3)
    await scene("reset_camera")
    change = await scene.change("restore_state", state=taken)
    assert change.after == taken
    assert np.array_equal(change.picture_after, picture)


async def test_a_state_goes_through_a_file_and_into_another_world(scene: SurfaceTrial) -> None:
    await scene("add_cuboid", color=RED, yaw=10)
    taken, picture = await scene.state(), await scene.picture()
    await scene("get_state", path="scene.json")
    await scene.override("general-world-tools", "on")
    await scene.app("create_world", name="other")
    assert (await scene.state())["bodies"] == []
    change = await scene.change("restore_state", path="scene.json")
    assert change.after == taken
    assert np.array_equal(change.picture_after, picture)


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("add_cuboid", {}),
        ("add_physics_body", {"shape": "sphere"}),
        ("select_object", {"all": True}),
        ("simulate", {"seconds": 0.1}),
        ("add_terrain", {}),
        ("remove_terrain", {"id": "terrain-1"}),
        ("add_light", {"kind": "point"}),
        ("set_light_state", {"kind": "ambient", "enabled": False}),
        ("set_skybox", {"asset": "day"}),
        ("set_background", {"color": RED}),
        ("set_camera", {"x": 0, "y": 0, "z": 5}),
        ("reset_camera", {}),
        ("restore_state", {"state": {"version": 1}}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
async def test_a_write_that_is_based_on_an_old_revision_is_refused_and_on_the_present_one_done(
    scene: SurfaceTrial, tool: str, arguments: dict[str, Any]
) -> None:
    await scene("add_terrain")
    await scene("add_cuboid", y=3)
    revision = await scene.revision()
    before = await scene.state()
    assert f"revision {revision}" in await scene.refused(tool, **arguments, base_revision=revision - 1)
    assert await scene.state() == before
    await scene(tool, **arguments, base_revision=revision)
    assert await scene.revision() > revision


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("add_cuboid", {"width": 0}, "width"),
        ("add_cuboid", {"x": 1e300}, "x"),
        ("add_cuboid", {"color": "red"}, "color"),
        ("add_physics_body", {"shape": "cone"}, "shape"),
        ("add_physics_body", {"shape": "sphere", "radius": 1000}, "radius: expected at most 500"),
        ("select_object", {"id": "body-99"}, "body-99"),
        ("simulate", {"seconds": 1e6}, "seconds"),
        ("simulate", {}, "dynamic"),
        ("add_terrain", {"kind": "heightfield", "heights": [[0, 1], [0]]}, "heights"),
        ("remove_terrain", {"id": "terrain-9"}, "terrain-9"),
        ("raycast_terrain", {"x": 0}, "z"),
        ("set_light_state", {"kind": "spot", "id": "light-9", "enabled": True}, "light-9"),
        ("set_light_state", {"id": "light-9"}, "no light 'light-9'"),
        ("set_skybox", {"asset": "mars"}, "asset"),
        ("set_camera", {"x": 0, "y": 0, "z": 0, "pitch": 91}, "pitch"),
        ("screen_ray", {"x": -1, "y": 0}, "x"),
        ("restore_state", {"state": {"version": 1, "bodies": [{}]}}, "bodies"),
    ],
)
async def test_what_cannot_be_is_refused_with_its_reason_and_nothing_changes(
    scene: SurfaceTrial, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    before = await scene.state()
    assert reason in await scene.refused(tool, **arguments)
    assert await scene.state() == before
