"""The tools of color and style: the defaults, the style of the selection, and the color at a point."""

from __future__ import annotations

from pydantic import Field

from engine.drawing.geometry import Point
from engine.drawing.pen import SetDefaults
from engine.drawing.raster import sample_color, sample_region
from engine.drawing.restyle import UpdateSelectionStyle
from engine.drawing.snapshot import TakeSnapshot
from engine.drawing.style import StyleChanges
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.drawing_tools.arguments import (
    COORDINATES,
    ColorText,
    Coordinate,
    StyleChangeMembers,
    StyleMembers,
)
from presets.builtins.drawing_tools.results import StyleResult
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

_CHANGES_HELP = "The same members in one object; what is given beside it wins."


class SetDefaultsArguments(StyleMembers, WriteArguments):
    """What is to change."""

    color: ColorText | None = Field(None, description="Sets stroke_color and fill_color at once.")
    changes: StyleChangeMembers | None = Field(None, description=_CHANGES_HELP)

    def style_changes(self) -> StyleChanges:
        """The nearest word wins: a member of its own, then `color`, then `changes`."""
        inner = StyleChanges() if self.changes is None else self.changes.style_changes()
        both = StyleChanges(stroke_color=self.color, fill_color=self.color)
        return super().style_changes().over(both.over(inner))


class SetDefaultsResult(ToolResult):
    """The style of what is inserted next, and whether it is different from before."""

    defaults: StyleResult
    changed: bool
    revision: int


class UpdateSelectionStyleArguments(StyleChangeMembers, WriteArguments):
    """What is to change, at least one member."""

    changes: StyleChangeMembers | None = Field(None, description=_CHANGES_HELP)

    def style_changes(self) -> StyleChanges:
        """What is given beside `changes` wins over what is in it."""
        inner = StyleChanges() if self.changes is None else self.changes.style_changes()
        return super().style_changes().over(inner)


class UpdateSelectionStyleResult(ToolResult):
    """How many objects are selected, and how many of them look different now."""

    selected: int
    changed: int
    revision: int


class SampleColorArguments(WriteArguments):
    """Where."""

    x: Coordinate
    y: Coordinate
    set_defaults: bool = Field(True, description="Also make it the default stroke and fill color.")


class SampleColorResult(ToolResult):
    """The color, with its channels from 0 to 255, and the defaults after it. `note` says what may surprise."""

    color: str
    red: int
    green: int
    blue: int
    alpha: int
    defaults_set: bool
    defaults: StyleResult | None = None
    note: str | None = None
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """The three tools of color."""
    return (
        typed_adapter(
            id="drawing.set-defaults",
            mcp_name="space_drawing_set_defaults",
            title="Set the default style",
            description="Change the style of what is inserted next. All changes are made or none. Returns the "
            "defaults, also when nothing is given. Colors are #RRGGBB or #RRGGBBAA.",
            arguments=SetDefaultsArguments,
            result=SetDefaultsResult,
            run=_set_defaults,
            idempotent=True,
        ),
        typed_adapter(
            id="drawing.update-selection-style",
            mcp_name="space_drawing_update_selection_style",
            title="Restyle the selection",
            description="Change the style of the selected objects; give at least one style change. "
            "Colors are #RRGGBB or #RRGGBBAA.",
            arguments=UpdateSelectionStyleArguments,
            result=UpdateSelectionStyleResult,
            run=_update_selection_style,
            idempotent=True,
        ),
        typed_adapter(
            id="drawing.sample-color",
            mcp_name="space_drawing_sample_color",
            title="Sample a color",
            description="Read the color of the drawing at a point, all visible layers blended, and make it the "
            "default stroke and fill color unless set_defaults is false. Where nothing is drawn it is #00000000. "
            + COORDINATES,
            arguments=SampleColorArguments,
            result=SampleColorResult,
            run=_sample_color,
            idempotent=True,
        ),
    )


async def _set_defaults(app: App, arguments: SetDefaultsArguments, call: ToolCall) -> SetDefaultsResult:
    del call
    done = await app.execute(SetDefaults(arguments.style_changes()))
    return SetDefaultsResult(defaults=StyleResult.of(done.result.style), changed=done.changed, revision=done.revision)


async def _update_selection_style(
    app: App, arguments: UpdateSelectionStyleArguments, call: ToolCall
) -> UpdateSelectionStyleResult:
    del call
    done = await app.execute(UpdateSelectionStyle(arguments.style_changes()))
    return UpdateSelectionStyleResult(
        selected=done.result.selected, changed=done.result.changed, revision=done.revision
    )


async def _sample_color(app: App, arguments: SampleColorArguments, call: ToolCall) -> SampleColorResult:
    del call
    point = Point(arguments.x, arguments.y)
    seen = await app.execute(TakeSnapshot(sample_region(point)))
    color = await app.in_thread(lambda: sample_color(seen.result, point))
    text, revision, defaults, note = color.text(), seen.revision, None, None
    if arguments.set_defaults:
        done = await app.execute(SetDefaults(StyleChanges(stroke_color=text, fill_color=text)))
        revision, defaults = done.revision, StyleResult.of(done.result.style)
    if color.alpha == 0:
        note = "Nothing is drawn there." + (
            " The defaults are transparent now: what is inserted next cannot be seen until space_drawing_set_defaults "
            "gives it a color."
            if arguments.set_defaults
            else ""
        )
    return SampleColorResult(
        color=text,
        red=color.red,
        green=color.green,
        blue=color.blue,
        alpha=color.alpha,
        defaults_set=arguments.set_defaults,
        defaults=defaults,
        note=note,
        revision=revision,
    )
