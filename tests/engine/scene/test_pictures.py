"""Pictures: what is in the scene is seen where rays find it, lit as it should be, by every renderer that is there."""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from engine.errors import ConflictError
from engine.scene.backdrop import SetBackground, SetSkybox
from engine.scene.gl_context import PLATFORMS, GlPlatform
from engine.scene.lens import Lens
from engine.scene.lighting import AddLight, LightChanges, SetLightState
from engine.scene.mujoco_picture import MujocoPainter
from engine.scene.picture import paint, picture
from engine.scene.raycast import ScreenRay
from engine.scene.records import BodyShape
from engine.scene.renderer import UNKNOWN_RENDERER, _Found, detect_renderer, platform_of, probe, renderer_name
from engine.scene.selection import SelectObjects
from engine.scene.software_picture import paint_in_software
from engine.scene.terrain import NoiseRecipe
from engine.scene.vector import Degrees, Vector
from engine.scene.viewpoint import SetCamera
from engine.theme import THEMES
from engine.view import ViewRequest
from tests.engine.scene.samples import SIZES, Scene

WIDTH, HEIGHT = 160, 120
BLACK = "#000000"

Painter = Callable[[Scene], NDArray[np.uint8]]


def in_software(scene: Scene) -> NDArray[np.uint8]:
    return paint_in_software(scene.snapshot(), WIDTH, HEIGHT, BLACK)


def by_mujoco(scene: Scene) -> NDArray[np.uint8]:
    platform = platform_of(detect_renderer())
    if platform is None:
        pytest.skip("this machine has no OpenGL that MuJoCo could render with")
    with MujocoPainter(platform) as painter:
        return painter.paint(scene.snapshot(), WIDTH, HEIGHT, BLACK)


# An OpenGL context of its own for every picture takes a quarter of a second where no graphics card is.
painters = pytest.mark.parametrize("paint_scene", [in_software, pytest.param(by_mujoco, marks=pytest.mark.slow)])


def looking(at: Vector = Vector(0, 0, 0), **more: float) -> Scene:  # noqa: B008 - frozen
    scene = Scene()
    scene.do(SetCamera(position=at.plus(Vector(0, 0, 5)), yaw=0, pitch=0, fov=more.get("fov", 60)))
    return scene


def glowing(scene: Scene) -> Scene:
    """All light from all sides, so that colours are seen as they are."""
    scene.do(SetLightState(kind="ambient", light_id=None, changes=LightChanges(intensity=1)))
    scene.do(SetLightState(kind="directional", light_id="sun", changes=LightChanges(enabled=False)))
    return scene


@painters
def test_a_body_has_its_color_and_the_rest_is_the_background(paint_scene: Painter):
    scene = glowing(looking())
    scene.body("box", size=Vector(1, 1, 1), color="#FF8040")

    pixels = paint_scene(scene).astype(int)

    assert np.abs(pixels[HEIGHT // 2, WIDTH // 2] - (255, 128, 64)).max() <= 2
    assert pixels[5, 5].tolist() == [0, 0, 0]


@pytest.mark.slow
@painters
@pytest.mark.parametrize("shape", list(SIZES))
def test_bodies_are_seen_exactly_where_rays_find_them(shape: BodyShape, paint_scene: Painter):
    scene = glowing(looking())
    scene.body(shape, Vector(0.3, -0.2, 0), rotation=Degrees(30, 20, 10).quaternion(), color="#FFFFFF")

    seen = paint_scene(scene)[..., 0] > 127
    rows, columns = np.nonzero(seen)
    box = (columns.min(), columns.max() + 1, rows.min(), rows.max() + 1)

    found = np.array(
        [
            [
                scene.do(ScreenRay(x=x + 0.5, y=y + 0.5, width=WIDTH, height=HEIGHT)).hit is not None
                for x in range(40, 130)
            ]
            for y in range(20, 110)
        ]
    )
    rows, columns = np.nonzero(found)
    expected = (columns.min() + 40, columns.max() + 41, rows.min() + 20, rows.max() + 21)
    # Round bodies are many-sided in OpenGL, and so a little smaller.
    assert np.abs(np.array(box) - expected).max() <= (0 if shape == "box" else 1)
    assert (seen[20:110, 40:130] != found).mean() < 0.01


@painters
@pytest.mark.parametrize(("x", "y"), [(0.0, 0.0), (1.3, 0.8), (-2.2, 1.1), (2.0, -1.4)])
def test_the_ray_of_a_pixel_hits_the_small_box_that_is_seen_there_to_half_a_pixel(
    paint_scene: Painter, x: float, y: float
):
    scene = glowing(looking())
    camera = scene.snapshot().camera
    small = 12 * Lens(camera, WIDTH, HEIGHT).pixel * 5  # twelve pixels wide, seen from 5 metres
    scene.body("box", Vector(x, y, -0.01 / 2), size=Vector(small, small, 0.01), color="#FFFFFF")

    light = paint_scene(scene)[..., 0].astype(float)
    rows, columns = np.mgrid[:HEIGHT, :WIDTH] + 0.5
    center_x, center_y = (light * columns).sum() / light.sum(), (light * rows).sum() / light.sum()

    place = Lens(camera, WIDTH, HEIGHT).place(Vector(x, y, 0))
    assert place is not None
    assert abs(center_x - place[0]) < 0.5
    assert abs(center_y - place[1]) < 0.5
    hit = scene.do(ScreenRay(x=center_x, y=center_y, width=WIDTH, height=HEIGHT)).hit
    assert hit is not None
    assert hit.id == "body-1"
    assert abs(hit.point.x - x) < small / 24
    assert abs(hit.point.y - y) < small / 24


@painters
def test_the_nearer_body_hides_the_farther_one(paint_scene: Painter):
    scene = glowing(looking())
    scene.body("sphere", Vector(0, 0, 1), color="#00FF00")
    scene.body("box", Vector(0, 0, 0), size=Vector(2, 2, 2), color="#FF0000")

    middle, beside = (paint_scene(scene)[HEIGHT // 2, column].tolist() for column in (WIDTH // 2, WIDTH // 2 - 22))

    assert middle[1] > 200 > middle[0]
    assert beside[0] > 200 > beside[1]


@painters
def test_ground_is_seen_and_shaded_by_its_slope(paint_scene: Painter):
    scene = looking()
    scene.do(SetCamera(position=Vector(0, 12, 0), pitch=-90, yaw=0))
    scene.do(SetLightState(kind="ambient", light_id=None, changes=LightChanges(intensity=0.2)))
    changes = LightChanges(direction=Vector(1, -1, 0), intensity=0.8)
    scene.do(SetLightState(kind="directional", light_id="sun", changes=changes))
    roof = ((0.0, 4.0, 0.0), (0.0, 4.0, 0.0))
    scene.ground(kind="heightfield", heights=roof, size_x=8.0, size_z=8.0, color="#FFFFFF")

    pixels = paint_scene(scene).astype(int)

    left, right = pixels[HEIGHT // 2, WIDTH // 2 - 15, 0], pixels[HEIGHT // 2, WIDTH // 2 + 15, 0]
    assert abs(left - 255) <= 4  # it faces the light
    assert abs(right - 255 * 0.2) <= 4  # the light only grazes it


@painters
def test_ground_under_and_behind_the_camera_does_not_disturb_the_picture(paint_scene: Painter):
    scene = glowing(looking())
    scene.ground(kind="perlin", noise=NoiseRecipe(height=0.2, samples=9), color="#00FF00", position=Vector(0, -1, 0))

    pixels = paint_scene(scene)

    assert pixels[HEIGHT - 3, WIDTH // 2].tolist()[1] > 250
    assert pixels[3, WIDTH // 2].tolist() == [0, 0, 0]


@painters
def test_a_lamp_lights_what_is_near_it_in_its_color(paint_scene: Painter):
    scene = looking()
    scene.do(SetLightState(kind="ambient", light_id=None, changes=LightChanges(intensity=0)))
    scene.do(SetLightState(kind="directional", light_id="sun", changes=LightChanges(enabled=False)))
    scene.body("sphere", color="#FFFFFF", size=Vector(2, 2, 2))
    scene.do(AddLight(kind="point", settings=LightChanges(x=0, y=0, z=3, color="#0000FF", range=2.0)))

    pixels = paint_scene(scene).astype(int)

    red, _green, blue = pixels[HEIGHT // 2, WIDTH // 2].tolist()
    assert red == 0
    assert abs(blue - 255 / (1 + (2 / 2) ** 2)) < 6  # at its range, a light has half its brightness


@painters
def test_a_spot_lights_only_its_cone(paint_scene: Painter):
    scene = looking()
    scene.do(SetLightState(kind="ambient", light_id=None, changes=LightChanges(intensity=0)))
    scene.do(SetLightState(kind="directional", light_id="sun", changes=LightChanges(enabled=False)))
    scene.ground(
        kind="heightfield", heights=((0.0,) * 65,) * 64 + ((0.001,) * 65,), position=Vector(0, -1, 0), color="#FFFFFF"
    )
    scene.do(SetCamera(position=Vector(0, 8, 0), yaw=0, pitch=-90))
    scene.do(AddLight(kind="spot", settings=LightChanges(x=0, y=7, z=0, cone_degrees=20, range=100.0)))

    pixels = paint_scene(scene)

    assert pixels[HEIGHT // 2, WIDTH // 2].min() > 230
    assert pixels[HEIGHT // 2, 20].max() == 0


@painters
def test_a_body_casts_a_shadow_on_the_ground(paint_scene: Painter):
    scene = Scene()
    scene.ground(color="#FFFFFF", size_x=10.0, size_z=10.0)
    scene.do(SetCamera(position=Vector(0, 12, 0), yaw=0, pitch=-90))
    sun = LightChanges(direction=Vector(1, -1, 0))
    scene.do(SetLightState(kind="directional", light_id="sun", changes=sun))
    bright = paint_scene(scene)[HEIGHT // 2, WIDTH // 2 + 30].astype(int)
    scene.body("box", Vector(0, 3, 0), size=Vector(1, 1, 1))

    dark = paint_scene(scene)[HEIGHT // 2, WIDTH // 2 + 30].astype(int)  # three metres beside what casts it

    assert (bright - dark).min() > 100


@painters
def test_skies_and_backgrounds_are_behind_everything(paint_scene: Painter):
    scene = looking()
    scene.do(SetBackground("#204060"))
    assert (np.abs(paint_scene(scene).astype(int) - (0x20, 0x40, 0x60)) <= 1).all()
    scene.do(SetSkybox(sky="sunset"))

    pixels = paint_scene(scene).astype(int)

    assert np.abs(pixels[HEIGHT // 2 - 1, WIDTH // 2] - (0xF2, 0xA2, 0x5C)).max() < 30  # the horizon
    assert pixels[0, WIDTH // 2, 2] > pixels[0, WIDTH // 2, 0] * 0.7  # bluer above
    assert pixels[-1, WIDTH // 2].max() < 90  # dark below


@painters
def test_a_sky_lights_what_is_under_it(paint_scene: Painter):
    scene = looking()
    scene.body("sphere", color="#FFFFFF")
    scene.do(SetSkybox(sky="overcast", brightness=0))
    before = paint_scene(scene)[HEIGHT // 2 + 5, WIDTH // 2].astype(int)
    scene.do(SetSkybox(sky="overcast", brightness=0.3))

    assert (paint_scene(scene)[HEIGHT // 2 + 5, WIDTH // 2].astype(int) - before).min() > 20


@pytest.mark.slow
def test_both_renderers_show_the_same():
    scene = looking()
    scene.do(SetCamera(position=Vector(6, 5, 9), target=Vector(0, 0.5, 0)))
    scene.do(SetSkybox(sky="day"))
    scene.ground(kind="perlin", noise=NoiseRecipe(seed=2, samples=17))
    for number, shape in enumerate(SIZES):
        scene.body(shape, Vector(number * 1.5 - 2, 3, 0), rotation=Degrees(20, 30, 40).quaternion(), color="#E4572E")
    scene.do(AddLight(kind="point", settings=LightChanges(x=-3, y=4, z=3, color="#88AAFF")))

    difference = np.abs(in_software(scene).astype(int) - by_mujoco(scene).astype(int)).max(axis=2)

    assert np.median(difference) <= 3
    assert (difference > 40).mean() < 0.05


def test_an_empty_scene_is_a_picture_too():
    assert (in_software(Scene()) == 0).all()


def png_of(scene: Scene, width: int, height: int) -> Image.Image:
    taken = picture(scene.table)
    rendered = taken.png(ViewRequest(width=width, height=height), THEMES["light"])
    assert rendered.png.startswith(b"\x89PNG")
    assert struct.unpack(">II", rendered.png[16:24]) == (rendered.width, rendered.height)
    return Image.open(io.BytesIO(rendered.png)).convert("RGB")


@pytest.mark.slow
def test_a_picture_has_the_wanted_size_and_the_color_of_the_theme():
    image = png_of(Scene(), width=64, height=48)

    assert image.size == (64, 48)
    assert image.getpixel((3, 3)) == (255, 255, 255)


@pytest.mark.slow
def test_what_is_selected_is_framed():
    scene = looking()
    scene.body("box", size=Vector(1, 1, 1))
    before = np.asarray(png_of(scene, width=WIDTH, height=HEIGHT)).astype(int)

    scene.do(SelectObjects(all=True))
    after = np.asarray(png_of(scene, width=WIDTH, height=HEIGHT)).astype(int)

    marked = (after == (0xFF, 0xB0, 0x00)).all(axis=2)
    assert 40 < marked.sum() < 400
    assert not (before == (0xFF, 0xB0, 0x00)).all(axis=2).any()
    assert not marked[:20].any()


def test_a_scene_has_no_svg():
    with pytest.raises(ConflictError, match="no SVG picture"):
        picture(Scene().table).svg(THEMES["dark"])


def test_more_lights_than_opengl_knows_are_painted_in_software():
    scene = looking()
    for _ in range(8):
        scene.do(AddLight(kind="point", settings=LightChanges()))

    _pixels, renderer = paint(scene.snapshot(), 32, 24, BLACK, renderer="mujoco-egl")

    assert renderer == "software"


@pytest.mark.slow
def test_a_renderer_that_fails_is_replaced_by_software():
    missing = next((platform for platform in PLATFORMS if not probe(platform)), None)
    if missing is None:
        pytest.skip("this machine has every OpenGL there is")

    name = "mujoco-egl" if missing == "egl" else "mujoco-osmesa"
    pixels, renderer = paint(looking().snapshot(), 32, 24, BLACK, renderer=name)

    assert (renderer, pixels.shape) == ("software", (24, 32, 3))


def test_the_renderer_of_this_machine_is_found_out_once():
    found = detect_renderer()

    assert found in ("mujoco-egl", "mujoco-osmesa", "software")
    assert renderer_name() == detect_renderer() == found


class NoLongerWantedError(Exception):
    """What a checkpoint raises here."""


def no_longer_wanted() -> None:
    raise NoLongerWantedError


def test_a_probe_that_is_no_longer_wanted_leaves_no_process_and_no_pipe():
    before = open_files()

    with pytest.raises(NoLongerWantedError):
        probe("egl", no_longer_wanted)

    assert open_files() == before
    assert probes() == []


def test_a_renderer_that_is_no_longer_wanted_is_found_out_by_the_next_who_asks(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("engine.scene.renderer._found", _Found())
    monkeypatch.delenv("MUJOCO_GL", raising=False)

    with pytest.raises(NoLongerWantedError):
        detect_renderer(no_longer_wanted)

    assert renderer_name() == UNKNOWN_RENDERER
    monkeypatch.setenv("MUJOCO_GL", "disable")
    assert detect_renderer(no_longer_wanted) == renderer_name() == "software"


def test_who_waits_for_another_to_find_out_may_stop_waiting(monkeypatch: pytest.MonkeyPatch):
    found = _Found()
    monkeypatch.setattr("engine.scene.renderer._found", found)

    with found.finding_out, pytest.raises(NoLongerWantedError):
        detect_renderer(no_longer_wanted)


def open_files() -> list[str]:
    """What the descriptors of this process point at."""
    return sorted(os.readlink(entry.path) for entry in os.scandir("/proc/self/fd") if os.path.lexists(entry.path))


def probes() -> list[str]:
    """The commands of the probes that this process has started and that still run."""
    children = [pid for task in Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split()]
    commands = [Path(f"/proc/{pid}/cmdline").read_text() for pid in children]
    return [command for command in commands if "gl_probe" in command]


def test_a_probe_that_cannot_succeed_says_so():
    platform: GlPlatform = "no-such-platform"  # pyright: ignore[reportAssignmentType]

    assert probe(platform) is False
