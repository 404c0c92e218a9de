"""The tools that change what the user sees and does: theme, surface, canvas and activity. They act as a user would."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from engine.commands import SetTheme
from engine.errors import InvalidArgumentError
from engine.theme import THEMES
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.context import RESERVED_ACTIVITIES, FactValue
from presets.schema import ToolArguments, ToolResult
from protocol.tool import ToolCall

MAX_ACTIVITY_CHARACTERS = 64
"""An activity is a word that people choose from a list."""

NO_ACTIVITY = "none"
"""What ends the current activity; no activity can have this name."""


class SetThemeArguments(ToolArguments):
    """Which theme."""

    theme: str = Field(
        description="Name of the theme.", min_length=1, max_length=100, json_schema_extra={"enum": list(THEMES)}
    )


class ThemeResult(ToolResult):
    """The theme that is set. Colours are #RRGGBB."""

    theme: str
    background: str = Field(description="Colour of an empty canvas.")
    foreground: str = Field(description="A colour that can be read upon it.")
    changed: bool = Field(description="False when this theme was set already.")


class SetCanvasVisibleArguments(ToolArguments):
    """Whether the canvas is visible."""

    visible: bool = Field(description="true shows the canvas and moves to it; false hides it and moves to the scene.")


class SetActivityArguments(ToolArguments):
    """Which activity."""

    activity: Annotated[
        str,
        Field(
            pattern="^[a-z0-9][a-z0-9_-]*$",
            max_length=MAX_ACTIVITY_CHARACTERS,
            description=(
                "'drawing', 'graph' or the name of another activity; 'none' ends the current one. "
                "An activity takes place on the canvas, so the canvas is shown."
            ),
        ),
    ]


class SwitchSurfaceArguments(ToolArguments):
    """Which surface."""

    surface: Literal["canvas", "scene"] = Field(
        description="'canvas' shows the canvas, with the activities on it; 'scene' hides it and shows the 3D scene."
    )


class ContextResult(ToolResult):
    """What the user sees and does now. The tools on offer follow it: list them again after a change."""

    surface: str
    canvas_visible: bool
    activity: str | None = Field(None, description="Left out when there is no activity.")
    changed: bool = Field(description="False when everything was so already.")


async def set_theme(app: App, arguments: SetThemeArguments, call: ToolCall) -> ThemeResult:
    """Body of `space_app_set_theme`."""
    done = await app.execute(SetTheme(arguments.theme))
    theme = done.result
    return ThemeResult(theme=theme.name, background=theme.background, foreground=theme.foreground, changed=done.changed)


async def set_canvas_visible(app: App, arguments: SetCanvasVisibleArguments, call: ToolCall) -> ContextResult:
    """Body of `space_app_set_canvas_visible`."""
    return await _patched(app, {"canvas_visible": arguments.visible})


async def set_activity(app: App, arguments: SetActivityArguments, call: ToolCall) -> ContextResult:
    """Body of `space_app_set_activity`."""
    if arguments.activity == NO_ACTIVITY:
        return await _patched(app, {"activity": None})
    if arguments.activity in RESERVED_ACTIVITIES:
        raise InvalidArgumentError(
            f"{arguments.activity!r} names no activity; give a name such as 'drawing', or 'none' to end the current one"
        )
    return await _patched(app, {"activity": arguments.activity})


async def switch_surface(app: App, arguments: SwitchSurfaceArguments, call: ToolCall) -> ContextResult:
    """Body of `space_app_switch_surface`."""
    return await _patched(app, {"surface": arguments.surface})


async def _patched(app: App, changes: Mapping[str, FactValue | None]) -> ContextResult:
    before = await app.get_context()
    after = await app.patch_context(changes)
    return ContextResult(
        surface=after.surface,
        canvas_visible=after.canvas_visible,
        activity=after.activity,
        changed=(before.surface, before.canvas_visible, before.activity)
        != (after.surface, after.canvas_visible, after.activity),
    )


def adapters() -> tuple[ToolAdapter, ...]:
    """Every adapter of this topic."""
    return (
        typed_adapter(
            id="app.set-theme",
            mcp_name="space_app_set_theme",
            title="Set theme",
            description="Choose the colours of the empty canvas. What is drawn keeps its colours.",
            arguments=SetThemeArguments,
            result=ThemeResult,
            run=set_theme,
            idempotent=True,
        ),
        typed_adapter(
            id="app.set-canvas-visible",
            mcp_name="space_app_set_canvas_visible",
            title="Show or hide the canvas",
            description="Show the canvas over the 3D scene, or hide it. The tools on offer change with it.",
            arguments=SetCanvasVisibleArguments,
            result=ContextResult,
            run=set_canvas_visible,
            idempotent=True,
        ),
        typed_adapter(
            id="app.set-activity",
            mcp_name="space_app_set_activity",
            title="Set activity",
            description=(
                "Choose what is done on the canvas: 'drawing' offers the drawing tools, 'graph' those of the graph."
            ),
            arguments=SetActivityArguments,
            result=ContextResult,
            run=set_activity,
            idempotent=True,
        ),
        typed_adapter(
            id="app.switch-surface",
            mcp_name="space_app_switch_surface",
            title="Switch surface",
            description="Go to the canvas or to the 3D scene. The tools on offer change with it.",
            arguments=SwitchSurfaceArguments,
            result=ContextResult,
            run=switch_surface,
            idempotent=True,
        ),
    )
