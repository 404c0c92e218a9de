"""The tools of the camera: move it, put it back, and find out what is at a pixel of its picture."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.scene.measures import MAX_FOV, MIN_FOV
from engine.scene.raycast import HitKind, ScreenRay
from engine.scene.vector import Vector
from engine.scene.viewpoint import MAX_PITCH, ResetCamera, SetCamera
from engine.view import DEFAULT_VIEW_HEIGHT, DEFAULT_VIEW_WIDTH, MAX_VIEW_SIDE
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.bounds_result import shown
from presets.builtins.scene_tools.arguments import SPACE, Angle, Coordinate, PictureSide, PointArgument
from presets.builtins.scene_tools.results import CameraResult, PointResult
from presets.schema import ToolArguments, ToolResult, WriteArguments
from protocol.tool import ToolCall

Pixel = Annotated[float, Field(ge=0, le=MAX_VIEW_SIDE)]


class SetCameraArguments(WriteArguments):
    """Where the camera stands and where it looks."""

    x: Coordinate
    y: Coordinate
    z: Coordinate
    yaw: Angle | None = Field(None, description="Degrees: 0 looks along -z, 90 along -x. Default: as it is.")
    pitch: Annotated[float, Field(ge=-MAX_PITCH, le=MAX_PITCH)] | None = Field(
        None, description="Degrees: above 0 looks up. Default: as it is."
    )
    target: PointArgument | None = Field(None, description="What it looks at, instead of yaw and pitch.")
    fov_degrees: Annotated[float, Field(ge=MIN_FOV, le=MAX_FOV)] | None = Field(
        None, description="Vertical field of view. Default: as it is."
    )


class ResetCameraArguments(WriteArguments):
    """Where to."""

    fit: bool = Field(False, description="True: as far back as it takes to see everything.")


class CameraToolResult(ToolResult):
    """The camera as it is now."""

    camera: CameraResult
    changed: bool
    revision: int


class ScreenRayArguments(ToolArguments):
    """Which pixel of which picture."""

    x: Pixel = Field(description="From the left edge; the middle of the first pixel is 0.5.")
    y: Pixel = Field(description="From the top edge, downwards.")
    width: PictureSide = Field(DEFAULT_VIEW_WIDTH, description="Of the picture that the pixel is of.")
    height: PictureSide = Field(DEFAULT_VIEW_HEIGHT, description="Of the picture that the pixel is of.")


class RayHit(ToolResult):
    """What the ray meets first: where, the direction straight out of it, and how far from the camera."""

    kind: HitKind
    id: str
    point: PointResult
    normal: PointResult
    distance: float


class ScreenRayResult(ToolResult):
    """The ray. `hit` is absent where nothing is seen but the backdrop."""

    origin: PointResult
    direction: PointResult
    hit: RayHit | None
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`scene.set-camera`, `scene.reset-camera` and `scene.screen-ray`."""
    return (
        typed_adapter(
            id="scene.set-camera",
            mcp_name="space_scene_set_camera",
            title="Set the camera",
            description="Put the camera at (x, y, z), looking at a target, or by yaw and pitch. " + SPACE,
            arguments=SetCameraArguments,
            result=CameraToolResult,
            run=_set_camera,
            idempotent=True,
        ),
        typed_adapter(
            id="scene.reset-camera",
            mcp_name="space_scene_reset_camera",
            title="Reset the camera",
            description="Put the camera back to where it stands in a new scene; with fit, so that everything is seen.",
            arguments=ResetCameraArguments,
            result=CameraToolResult,
            run=_reset_camera,
            idempotent=True,
        ),
        typed_adapter(
            id="scene.screen-ray",
            mcp_name="space_scene_screen_ray",
            title="What is at a pixel",
            description="The ray through a pixel of the scene's picture (as space_app_capture_view gives it in that "
            "width and height), and what it meets first.",
            arguments=ScreenRayArguments,
            result=ScreenRayResult,
            run=_screen_ray,
            read_only=True,
            idempotent=True,
        ),
    )


async def _set_camera(app: App, arguments: SetCameraArguments, call: ToolCall) -> CameraToolResult:
    del call
    command = SetCamera(
        position=Vector(arguments.x, arguments.y, arguments.z),
        yaw=arguments.yaw,
        pitch=arguments.pitch,
        target=None if arguments.target is None else arguments.target.value(),
        fov=arguments.fov_degrees,
    )
    done = await app.execute(command)
    return CameraToolResult(camera=CameraResult.of(done.result), changed=done.changed, revision=done.revision)


async def _reset_camera(app: App, arguments: ResetCameraArguments, call: ToolCall) -> CameraToolResult:
    del call
    done = await app.execute(ResetCamera(fit=arguments.fit))
    return CameraToolResult(camera=CameraResult.of(done.result), changed=done.changed, revision=done.revision)


async def _screen_ray(app: App, arguments: ScreenRayArguments, call: ToolCall) -> ScreenRayResult:
    del call
    command = ScreenRay(x=arguments.x, y=arguments.y, width=arguments.width, height=arguments.height)
    done = await app.execute(command)
    ray, hit = done.result.ray, done.result.hit
    return ScreenRayResult(
        origin=PointResult.of(ray.origin),
        direction=PointResult.of(ray.direction),
        hit=None
        if hit is None
        else RayHit(
            kind=hit.kind,
            id=hit.id,
            point=PointResult.of(hit.point),
            normal=PointResult.of(hit.normal),
            distance=shown(hit.distance),
        ),
        revision=done.revision,
    )
