"""The tools of light: add one, and change one."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.scene.lighting import MOST_LIGHTS, AddLight, LightChanges, SetLightState
from engine.scene.measures import MAX_CONE, MAX_INTENSITY, MAX_RANGE, MIN_RANGE
from engine.scene.records import LightKind, PlacedLightKind
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.scene_tools.arguments import (
    COLOR_HELP,
    SPACE,
    ColorText,
    Coordinate,
    ObjectId,
    PointArgument,
)
from presets.builtins.scene_tools.results import LightResult
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

Intensity = Annotated[float, Field(ge=0, le=MAX_INTENSITY)]
Range = Annotated[float, Field(ge=MIN_RANGE, le=MAX_RANGE)]
Cone = Annotated[float, Field(ge=1, le=MAX_CONE)]


class LightArguments(WriteArguments):
    """What a light may be like; each member is optional."""

    x: Coordinate | None = Field(None, description="Where it stands; of a directional light, where its rays come from.")
    y: Coordinate | None = None
    z: Coordinate | None = None
    color: ColorText | None = Field(None, description=COLOR_HELP)
    intensity: Intensity | None = Field(None, description="At 1, a white surface that faces it is white.")
    target: PointArgument | None = Field(None, description="directional, spot: what it shines at.")
    direction: PointArgument | None = Field(None, description="directional, spot: where its rays go; not with target.")
    range: Range | None = Field(None, description="point, spot: metres at which it has half its brightness.")
    cone_degrees: Cone | None = Field(None, description="spot: full angle of its cone.")

    def changes(self, *, enabled: bool | None) -> LightChanges:
        """As the engine's commands take them."""
        return LightChanges(
            enabled=enabled,
            color=self.color,
            intensity=self.intensity,
            x=self.x,
            y=self.y,
            z=self.z,
            direction=None if self.direction is None else self.direction.value(),
            target=None if self.target is None else self.target.value(),
            range=self.range,
            cone_degrees=self.cone_degrees,
        )


class AddLightArguments(LightArguments):
    """Which kind of light, where and how."""

    kind: PlacedLightKind
    enabled: bool = True


class SetLightStateArguments(LightArguments):
    """Which light, and what is to be different."""

    id: ObjectId | None = Field(None, description="Required but with kind ambient, of which there is one light.")
    kind: LightKind | None = Field(None, description="The kind of that light, if you want it checked.")
    enabled: bool | None = Field(None, description="Whether it shines.")


class LightToolResult(ToolResult):
    """The light as it is now."""

    light: LightResult
    changed: bool
    revision: int


_MOST = ", ".join(f"{most} {kind}" for kind, most in MOST_LIGHTS.items() if kind != "ambient")


def adapters() -> tuple[ToolAdapter, ...]:
    """`scene.add-light` and `scene.set-light-state`."""
    return (
        typed_adapter(
            id="scene.add-light",
            mcp_name="space_scene_add_light",
            title="Add a light",
            description=f"Put a light into the scene: at most {_MOST}. Directional and spot lights shine at the middle "
            "of the space unless target or direction is given. Without x, y, z it is at (0, 5, 0). A new scene has an "
            "ambient light and a directional one, `sun`. Returns its id. " + SPACE,
            arguments=AddLightArguments,
            result=LightToolResult,
            run=_add_light,
        ),
        typed_adapter(
            id="scene.set-light-state",
            mcp_name="space_scene_set_light_state",
            title="Change a light",
            description="Switch a light on or off, and change its color, intensity, place or direction. What is not "
            "given stays.",
            arguments=SetLightStateArguments,
            result=LightToolResult,
            run=_set_light_state,
            idempotent=True,
        ),
    )


async def _add_light(app: App, arguments: AddLightArguments, call: ToolCall) -> LightToolResult:
    del call
    done = await app.execute(AddLight(kind=arguments.kind, settings=arguments.changes(enabled=arguments.enabled)))
    return LightToolResult(light=LightResult.of(done.result), changed=done.changed, revision=done.revision)


async def _set_light_state(app: App, arguments: SetLightStateArguments, call: ToolCall) -> LightToolResult:
    del call
    changes = arguments.changes(enabled=arguments.enabled)
    done = await app.execute(SetLightState(kind=arguments.kind, light_id=arguments.id, changes=changes))
    return LightToolResult(light=LightResult.of(done.result), changed=done.changed, revision=done.revision)
