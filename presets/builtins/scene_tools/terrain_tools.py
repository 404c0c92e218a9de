"""The tools of terrain: add, remove, and find the surface at a place."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from engine.errors import InvalidArgumentError
from engine.scene.height_image import heights_of_image
from engine.scene.measures import (
    MAX_HEIGHT,
    MAX_SAMPLES,
    MAX_TERRAIN_SIZE,
    MIN_TERRAIN_SIZE,
)
from engine.scene.raycast import HitKind, RaycastTerrain
from engine.scene.records import TerrainKind
from engine.scene.terrain import (
    DEFAULT_NOISE_HEIGHT,
    DEFAULT_NOISE_SAMPLES,
    DEFAULT_OCTAVES,
    DEFAULT_TERRAIN_COLOR,
    DEFAULT_TERRAIN_FRICTION,
    DEFAULT_TERRAIN_SIZE,
    MAX_OCTAVES,
    MAX_SEED,
    AddTerrain,
    NoiseRecipe,
    RemoveTerrain,
    heights_from,
)
from engine.scene.vector import Vector
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.scene_tools.arguments import COLOR_HELP, SPACE, ColorText, Coordinate, Friction, ObjectId
from presets.builtins.scene_tools.results import PointResult, TerrainResult
from presets.schema import ToolArguments, ToolResult, WriteArguments
from protocol.tool import ToolCall

MAX_PATH_LENGTH = 1000
"""Characters of a path."""

TerrainSide = Annotated[float, Field(ge=MIN_TERRAIN_SIZE, le=MAX_TERRAIN_SIZE)]
Height = Annotated[float, Field(ge=-MAX_HEIGHT, le=MAX_HEIGHT)]
Relief = Annotated[float, Field(ge=0, le=MAX_HEIGHT)]
Samples = Annotated[int, Field(ge=2, le=MAX_SAMPLES)]
HeightRow = Annotated[list[Height], Field(min_length=2, max_length=MAX_SAMPLES)]


class AddTerrainArguments(WriteArguments):
    """Which kind of ground, where and how large."""

    kind: TerrainKind = Field("flat", description="heightfield needs heights or image; perlin makes hills from a seed.")
    x: Coordinate = Field(0, description="Middle.")
    y: Coordinate = Field(0, description="Of its foot, from which heights count; of the surface where it is flat.")
    z: Coordinate = Field(0, description="Middle.")
    size: TerrainSide = Field(DEFAULT_TERRAIN_SIZE, description="Along x, and along z unless size_z is given.")
    size_z: TerrainSide | None = Field(None, description="Along z.")
    heights: Annotated[list[HeightRow], Field(min_length=2, max_length=MAX_SAMPLES)] | None = Field(
        None, description="heightfield: rows of metres, the first row at the smallest z, each from the smallest x on."
    )
    image: Annotated[str, Field(min_length=1, max_length=MAX_PATH_LENGTH)] | None = Field(
        None, description="heightfield: PNG or JPEG of the workspace; white is high, its top is the smallest z."
    )
    height: Relief | None = Field(
        None, description=f"image: metres of white; perlin: from lowest to highest. Default {DEFAULT_NOISE_HEIGHT:g}."
    )
    samples: Samples | None = Field(
        None,
        description=f"image: along its longer side, default as the image up to {MAX_SAMPLES}; perlin: along each side, "
        f"default {DEFAULT_NOISE_SAMPLES}.",
    )
    seed: Annotated[int, Field(ge=0, le=MAX_SEED)] | None = Field(None, description="perlin: default 0.")
    feature_size: TerrainSide | None = Field(
        None, description="perlin: width of the largest hills in metres, default a third of the terrain."
    )
    octaves: Annotated[int, Field(ge=1, le=MAX_OCTAVES)] | None = Field(
        None, description=f"perlin: how many sizes of hills, default {DEFAULT_OCTAVES}."
    )
    color: ColorText = Field(DEFAULT_TERRAIN_COLOR, description=COLOR_HELP)
    friction: Friction = DEFAULT_TERRAIN_FRICTION

    def check(self) -> None:
        """Raise `InvalidArgumentError` for members that the kind lacks or does not have."""
        taken = {
            "flat": (),
            "heightfield": ("heights", "image", "height", "samples"),
            "perlin": ("height", "samples", "seed", "feature_size", "octaves"),
        }[self.kind]
        every = ("heights", "image", "height", "samples", "seed", "feature_size", "octaves")
        given = [name for name in every if getattr(self, name) is not None and name not in taken]
        if given:
            raise InvalidArgumentError(f"A terrain of kind {self.kind} takes no {' and no '.join(given)}.")
        if self.kind == "heightfield":
            if (self.heights is None) == (self.image is None):
                raise InvalidArgumentError("A terrain of kind heightfield needs either heights or image.")
            if self.heights is not None and (self.height is not None or self.samples is not None):
                raise InvalidArgumentError("height and samples are for an image; heights have both already.")

    def command(self, heights: tuple[tuple[float, ...], ...] | None) -> AddTerrain:
        """The engine's command."""
        noise = None
        if self.kind == "perlin":
            noise = NoiseRecipe(
                seed=self.seed or 0,
                height=DEFAULT_NOISE_HEIGHT if self.height is None else self.height,
                feature_size=self.feature_size,
                octaves=self.octaves or DEFAULT_OCTAVES,
                samples=self.samples or DEFAULT_NOISE_SAMPLES,
            )
        return AddTerrain(
            kind=self.kind,
            position=Vector(self.x, self.y, self.z),
            size_x=self.size,
            size_z=self.size if self.size_z is None else self.size_z,
            heights=heights,
            noise=noise,
            color=self.color,
            friction=self.friction,
        )


class TerrainToolResult(ToolResult):
    """The terrain."""

    terrain: TerrainResult
    revision: int


class RaycastTerrainArguments(ToolArguments):
    """Where."""

    x: Coordinate
    z: Coordinate
    include_objects: bool = Field(False, description="Also bodies: the top of whatever is highest there.")


class RaycastTerrainResult(ToolResult):
    """The highest surface at that place: its y, the direction straight out of it, and what it belongs to."""

    y: float
    point: PointResult
    normal: PointResult
    kind: HitKind
    id: str
    revision: int


class RemoveTerrainArguments(WriteArguments):
    """Which terrain."""

    id: ObjectId


class RemovedTerrainResult(ToolResult):
    """The terrain as it was."""

    removed: Literal[True]
    terrain: TerrainResult
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`scene.add-terrain`, `scene.raycast-terrain` and `scene.remove-terrain`."""
    return (
        typed_adapter(
            id="scene.add-terrain",
            mcp_name="space_scene_add_terrain",
            title="Add terrain",
            description="Put ground into the scene: flat, a height field from numbers or an image, or hills from a "
            "seed. Bodies rest on it. Returns its id and bounds. " + SPACE,
            arguments=AddTerrainArguments,
            result=TerrainToolResult,
            run=_add_terrain,
        ),
        typed_adapter(
            id="scene.raycast-terrain",
            mcp_name="space_scene_raycast_terrain",
            title="Find the ground",
            description="The height and the slope of the ground at a place (x, z), as bodies rest on it. Fails where "
            "there is none.",
            arguments=RaycastTerrainArguments,
            result=RaycastTerrainResult,
            run=_raycast_terrain,
            read_only=True,
            idempotent=True,
        ),
        typed_adapter(
            id="scene.remove-terrain",
            mcp_name="space_scene_remove_terrain",
            title="Remove terrain",
            description="Take a terrain away; simulated, what rested on it falls. Undo brings it back.",
            arguments=RemoveTerrainArguments,
            result=RemovedTerrainResult,
            run=_remove_terrain,
        ),
    )


async def _add_terrain(app: App, arguments: AddTerrainArguments, call: ToolCall) -> TerrainToolResult:
    del call
    arguments.check()
    heights = None if arguments.heights is None else tuple(map(tuple, arguments.heights))
    if arguments.image is not None:
        data = await app.in_thread(partial(app.files.read_bytes, arguments.image))
        values = await app.in_thread(partial(heights_of_image, data, samples=arguments.samples))
        heights = heights_from(values, DEFAULT_NOISE_HEIGHT if arguments.height is None else arguments.height)
    done = await app.execute(arguments.command(heights))
    return TerrainToolResult(terrain=TerrainResult.of(done.result), revision=done.revision)


async def _raycast_terrain(app: App, arguments: RaycastTerrainArguments, call: ToolCall) -> RaycastTerrainResult:
    del call
    command = RaycastTerrain(x=arguments.x, z=arguments.z, include_bodies=arguments.include_objects)
    done = await app.execute(command)
    hit = done.result
    point = PointResult.of(hit.point)
    return RaycastTerrainResult(
        y=point.y, point=point, normal=PointResult.of(hit.normal), kind=hit.kind, id=hit.id, revision=done.revision
    )


async def _remove_terrain(app: App, arguments: RemoveTerrainArguments, call: ToolCall) -> RemovedTerrainResult:
    del call
    done = await app.execute(RemoveTerrain(arguments.id))
    return RemovedTerrainResult(removed=True, terrain=TerrainResult.of(done.result), revision=done.revision)
