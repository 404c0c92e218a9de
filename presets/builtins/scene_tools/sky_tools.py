"""The tools of what is behind everything: a sky, or one colour."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.scene.backdrop import DEFAULT_BRIGHTNESS, MAX_BRIGHTNESS, SetBackground, SetSkybox, SkyName
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.scene_tools.arguments import COLOR_HELP, ColorText
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

Brightness = Annotated[float, Field(ge=0, le=MAX_BRIGHTNESS)]


class SetSkyboxArguments(WriteArguments):
    """Which sky."""

    asset: SkyName = Field(description="Name of a sky.")
    brightness: Brightness = Field(
        DEFAULT_BRIGHTNESS, description="Light that the sky gives to everything, on top of the ambient light."
    )


class SetSkyboxResult(ToolResult):
    """The sky."""

    asset: str
    brightness: float
    changed: bool
    revision: int


class SetBackgroundArguments(WriteArguments):
    """Which color."""

    color: ColorText = Field(description=COLOR_HELP)


class SetBackgroundResult(ToolResult):
    """The color. It takes the place of a sky."""

    color: str
    changed: bool
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`scene.set-skybox` and `scene.set-background`."""
    return (
        typed_adapter(
            id="scene.set-skybox",
            mcp_name="space_scene_set_skybox",
            title="Set the sky",
            description="Put a sky behind everything, instead of a background color.",
            arguments=SetSkyboxArguments,
            result=SetSkyboxResult,
            run=_set_skybox,
            idempotent=True,
        ),
        typed_adapter(
            id="scene.set-background",
            mcp_name="space_scene_set_background",
            title="Set the background color",
            description="Put one color behind everything, instead of a sky.",
            arguments=SetBackgroundArguments,
            result=SetBackgroundResult,
            run=_set_background,
            idempotent=True,
        ),
    )


async def _set_skybox(app: App, arguments: SetSkyboxArguments, call: ToolCall) -> SetSkyboxResult:
    del call
    done = await app.execute(SetSkybox(sky=arguments.asset, brightness=arguments.brightness))
    return SetSkyboxResult(
        asset=arguments.asset, brightness=done.result.brightness, changed=done.changed, revision=done.revision
    )


async def _set_background(app: App, arguments: SetBackgroundArguments, call: ToolCall) -> SetBackgroundResult:
    del call
    done = await app.execute(SetBackground(arguments.color))
    return SetBackgroundResult(color=done.result.color or "", changed=done.changed, revision=done.revision)
