"""A scene as pixels, by MuJoCo's off-screen renderer. Owns handing the scene over; needs OpenGL (`gl_context`)."""

from __future__ import annotations

import math
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from engine.scene.backdrop import channels, colors_behind
from engine.scene.gl_context import GlPlatform, gl_context
from engine.scene.lens import Lens
from engine.scene.mujoco_frame import geom_size, to_mujoco, turn_to_mujoco
from engine.scene.mujoco_library import geom_type, mujoco
from engine.scene.mujoco_terrain import add_terrain_geom
from engine.scene.records import Backdrop, Body, Light, Terrain
from engine.scene.shape import Floats
from engine.scene.snapshot import SceneSnapshot
from engine.scene.view_plan import NEAR, SPOT_EXPONENT, ViewPlan, plan_view

MOST_GL_LIGHTS = 7
"""OpenGL's fixed pipeline knows eight lights, and the ambient light is one of them."""

_SKY_SIDE = 128
"""Pixels along each side of the cube that the backdrop is painted on."""
_SHADOW_MAP_SIDE = 4096
_SHADOW_ROOM = 1.6
"""How much wider than what is lit MuJoCo's map of shadows is; toward its rim, it dots surfaces with false shadows."""
_SAMPLES = 4
"""Of each pixel, so that edges are smooth."""


def can_paint(scene: SceneSnapshot) -> bool:
    """Whether MuJoCo can show all of the scene's lights."""
    return len(plan_view(scene).lights) <= MOST_GL_LIGHTS


class MujocoPainter:
    """Paints scenes with one OpenGL context, which it keeps: making one takes longer than a picture does.

    For one thread from its first picture on, which has no other painter meanwhile, and also closes it; a context
    manager that does so.
    """

    def __init__(self, platform: GlPlatform) -> None:
        self._platform: GlPlatform = platform
        self._stage: _Stage | None = None
        self._held = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def paint(self, scene: SceneSnapshot, width: int, height: int, theme_color: str) -> NDArray[np.uint8]:
        """The picture as height by width by 3 bytes. Raises `NoContextError`, and MuJoCo's `FatalError`.

        After an error nothing is kept, and the next picture begins anew.
        """
        try:
            return self._paint(scene, self._stage_for(scene, width, height, theme_color), width, height)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Give the context back. Idempotent; the next picture would make another."""
        self._stage = None
        self._held.close()

    def _stage_for(self, scene: SceneSnapshot, width: int, height: int, theme_color: str) -> _Stage:
        """What is the same for the next picture: the terrains and the sky on the graphics card, and room for pixels."""
        key = _StageKey(scene.terrains, scene.backdrop, theme_color, width, height)
        if self._stage is not None and self._stage.key == key:
            return self._stage
        self.close()
        library = mujoco()
        model = _model(scene, width, height, theme_color)
        data = library.MjData(model)
        library.mj_forward(model, data)
        self._held.enter_context(gl_context(self._platform))
        context = library.MjrContext(model, library.mjtFontScale.mjFONTSCALE_50.value)
        self._held.callback(context.free)
        library.mjr_setBuffer(library.mjtFramebuffer.mjFB_OFFSCREEN.value, context)
        self._stage = _Stage(key, model, data, context)
        return self._stage

    def _paint(self, scene: SceneSnapshot, stage: _Stage, width: int, height: int) -> NDArray[np.uint8]:
        library = mujoco()
        plan = plan_view(scene)
        view = _view(scene, plan, stage.model, stage.data, Lens(scene.camera, width, height))
        if plan.shadow is not None:
            stage.context.shadowClip = plan.shadow.radius * _SHADOW_ROOM
        window = library.MjrRect(0, 0, width, height)
        pixels = np.empty((height, width, 3), dtype=np.uint8)
        library.mjr_render(window, view, stage.context)
        library.mjr_readPixels(pixels, None, window, stage.context)
        return pixels[::-1]


@dataclass(frozen=True, slots=True)
class _StageKey:
    terrains: tuple[Terrain, ...]
    backdrop: Backdrop
    theme_color: str
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class _Stage:
    key: _StageKey
    model: Any
    data: Any
    context: Any


def _model(scene: SceneSnapshot, width: int, height: int, theme_color: str) -> Any:
    """The terrains and the sky; bodies, lights and the camera are put into the view directly."""
    library = mujoco()
    spec = library.MjSpec()
    visual = spec.visual
    visual.global_.offwidth, visual.global_.offheight = width, height
    visual.quality.shadowsize = _SHADOW_MAP_SIDE
    visual.quality.offsamples = _SAMPLES
    for terrain in scene.terrains:
        geom = add_terrain_geom(spec, terrain)
        geom.rgba = (*channels(terrain.color).tolist(), 1.0)
    sky = spec.add_texture(name="sky", type=library.mjtTexture.mjTEXTURE_SKYBOX, nchannel=3)
    sky.width, sky.height = _SKY_SIDE, 6 * _SKY_SIDE
    sky.data = _sky_cube(scene, theme_color).tobytes()
    return spec.compile()


def _sky_cube(scene: SceneSnapshot, theme_color: str) -> NDArray[np.uint8]:
    """Six faces: right, left, up, down, front, back. Skies are the same all around, so only y matters."""
    step = (np.arange(_SKY_SIDE) + 0.5) / _SKY_SIDE * 2 - 1
    down, across = np.meshgrid(step, step, indexing="ij")
    length = np.sqrt(1 + down**2 + across**2)
    side, up = -down / length, 1 / length
    faces = [side, side, up, -up, side, side]
    colors = [colors_behind(scene.backdrop, theme_color, rise) for rise in faces]
    return np.rint(np.concatenate(colors) * 255).astype(np.uint8)


def _view(scene: SceneSnapshot, plan: ViewPlan, model: Any, data: Any, lens: Lens) -> Any:
    library = mujoco()
    room = model.ngeom + len(scene.bodies) + 1
    view = library.MjvScene(model, maxgeom=room)
    every = library.mjtCatBit.mjCAT_ALL.value
    library.mjv_updateScene(model, data, library.MjvOption(), library.MjvPerturb(), library.MjvCamera(), every, view)
    for geom in view.geoms[: view.ngeom]:
        geom.specular = 0.0
    for body in scene.bodies:
        _put_body(view, body)
    _put_camera(view, lens, plan)
    view.nlight = 0
    _put_ambient(view, plan.ambient)
    for light in plan.lights:
        _put_light(view, light, plan)
    view.flags[library.mjtRndFlag.mjRND_SHADOW] = plan.shadow is not None
    view.flags[library.mjtRndFlag.mjRND_SKYBOX] = True
    view.flags[library.mjtRndFlag.mjRND_REFLECTION] = False
    return view


def _put_body(view: Any, body: Body) -> None:
    library = mujoco()
    turn = np.empty(9)
    library.mju_quat2Mat(turn, np.array(turn_to_mujoco(body.rotation)))
    geom = view.geoms[view.ngeom]
    library.mjv_initGeom(
        geom,
        geom_type(body.shape),
        np.array(geom_size(body.shape, body.size)),
        np.array(to_mujoco(body.position)),
        turn,
        np.array([*channels(body.color), 1.0], dtype=np.float32),
    )
    geom.specular = 0.0
    view.ngeom += 1


def _put_camera(view: Any, lens: Lens, plan: ViewPlan) -> None:
    _right, up, ahead = lens.axes
    top = NEAR * math.tan(math.radians(lens.camera.fov) / 2)
    for camera in view.camera:
        camera.pos = to_mujoco(lens.origin)
        camera.forward, camera.up = to_mujoco(ahead), to_mujoco(up)
        camera.frustum_center = 0.0
        camera.frustum_width = 0.0  # as the shape of the picture wants it
        camera.frustum_bottom, camera.frustum_top = -top, top
        camera.frustum_near, camera.frustum_far = NEAR, plan.far
        camera.orthographic = 0


def _put_ambient(view: Any, ambient: Floats) -> None:
    light = _next_light(view)
    light.type = mujoco().mjtLightType.mjLIGHT_DIRECTIONAL
    light.dir = (0.0, 0.0, -1.0)
    light.ambient = ambient


def _put_light(view: Any, light: Light, plan: ViewPlan) -> None:
    shown = _next_light(view)
    kinds = mujoco().mjtLightType
    shown.diffuse = channels(light.color) * light.intensity
    shown.dir = to_mujoco(light.direction)
    match light.kind:
        case "directional":
            shown.type = kinds.mjLIGHT_DIRECTIONAL
            if plan.shadow is not None and light is plan.shadow.light:
                shown.castshadow = 1
                away = light.direction.times(-plan.shadow.radius * _SHADOW_ROOM)
                shown.pos = to_mujoco(plan.shadow.center.plus(away))
        case "spot":
            shown.type = kinds.mjLIGHT_SPOT
            shown.cutoff = light.cone_degrees / 2
            shown.exponent = SPOT_EXPONENT
        case _:
            # This renderer leaves out lights of MuJoCo's kind POINT; a spot that shines all around is the same.
            shown.type = kinds.mjLIGHT_SPOT
    if light.kind != "directional":
        shown.pos = to_mujoco(light.position)
        shown.attenuation = (1.0, 0.0, 1 / light.range**2)


def _next_light(view: Any) -> Any:
    light = view.lights[view.nlight]
    view.nlight += 1
    light.headlight, light.castshadow, light.texid = 0, 0, -1
    light.pos = light.ambient = light.diffuse = light.specular = (0.0, 0.0, 0.0)
    light.attenuation = (1.0, 0.0, 0.0)
    light.cutoff, light.exponent = 180.0, 0.0
    return light
