"""The tool that shows a scene to a model: a summary first, then a page of bodies, never more than it can read."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.scene.inspect import Inspect, Inspection
from engine.scene.records import BodyShape
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.page import MAX_PAGE_ENTRIES, PageArguments, within_budget
from presets.builtins.scene_tools.arguments import BOX_HELP, SPACE, BoxArgument, ObjectId
from presets.builtins.scene_tools.results import (
    BODIES_BUDGET,
    SHOWN_IDS,
    BodyResult,
    BoxResult,
    CameraResult,
    LightResult,
    TerrainResult,
)
from presets.schema import ToolResult
from protocol.tool import ToolCall


class InspectArguments(PageArguments):
    """What to look at."""

    include_objects: bool = Field(True, description="False: the summary only.")
    ids: Annotated[list[ObjectId], Field(max_length=MAX_PAGE_ENTRIES)] | None = Field(
        None, description="Only these bodies."
    )
    shape: BodyShape | None = None
    bounds: BoxArgument | None = Field(None, description=BOX_HELP)
    dynamic: bool | None = Field(None, description="Only bodies that move, or only those that do not.")
    selected_only: bool = Field(False, description="Only selected bodies.")


class BackdropResult(ToolResult):
    """What is behind everything: a sky by name, else a color, else the color of the theme."""

    sky: str | None = None
    brightness: float | None = None
    color: str | None = None


class InspectResult(ToolResult):
    """The scene. `total` counts the bodies that meet the filters; `next` is the offset of the page after this."""

    revision: int
    body_count: int
    shapes: dict[str, int]
    bounds: BoxResult | None
    terrains: list[TerrainResult]
    lights: list[LightResult]
    backdrop: BackdropResult
    camera: CameraResult
    selection_count: int
    selection_ids: list[str]
    total: int
    bodies: list[BodyResult]
    next: int | None


def adapters() -> tuple[ToolAdapter, ...]:
    """`scene.inspect`."""
    return (
        typed_adapter(
            id="scene.inspect",
            mcp_name="space_scene_inspect",
            title="Inspect the scene",
            description="Look at the scene: terrains, lights, camera, backdrop, selection, and a page of its bodies in "
            "order of creation. Filters combine; when `next` is present there are more: call again with it as offset. "
            + SPACE,
            arguments=InspectArguments,
            result=InspectResult,
            run=_inspect,
            read_only=True,
            idempotent=True,
        ),
    )


async def _inspect(app: App, arguments: InspectArguments, call: ToolCall) -> InspectResult:
    del call
    command = Inspect(
        ids=None if arguments.ids is None else tuple(arguments.ids),
        shape=arguments.shape,
        bounds=None if arguments.bounds is None else arguments.bounds.value(),
        dynamic=arguments.dynamic,
        selected_only=arguments.selected_only,
        offset=arguments.offset,
        limit=arguments.limit if arguments.include_objects else 0,
    )
    done = await app.execute(command)
    return _written(done.result, done.revision, arguments)


def _written(seen: Inspection, revision: int, arguments: InspectArguments) -> InspectResult:
    entries = (BodyResult.of(entry.body, entry.bounds, selected=entry.selected) for entry in seen.bodies)
    bodies = list(within_budget(entries, BODIES_BUDGET))
    end = arguments.offset + len(bodies)
    backdrop = seen.backdrop
    return InspectResult(
        revision=revision,
        body_count=seen.body_count,
        shapes=dict(seen.shapes),
        bounds=None if seen.bounds is None else BoxResult.of(seen.bounds),
        terrains=[TerrainResult.of(info, selected=info.terrain.id in seen.selection) for info in seen.terrains],
        lights=[LightResult.of(light) for light in seen.lights],
        backdrop=BackdropResult(
            sky=backdrop.sky,
            brightness=None if backdrop.sky is None else backdrop.brightness,
            color=None if backdrop.sky is not None else backdrop.color,
        ),
        camera=CameraResult.of(seen.camera),
        selection_count=len(seen.selection),
        selection_ids=list(seen.selection[:SHOWN_IDS]),
        total=seen.total,
        bodies=bodies,
        next=end if arguments.include_objects and bodies and end < seen.total else None,
    )
