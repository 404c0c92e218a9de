"""The tools that put bodies into the scene and select what is in it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from engine.errors import InvalidArgumentError
from engine.scene.bodies import DEFAULT_COLOR, DEFAULT_FRICTION, DEFAULT_MASS, AddBody, AddedBody
from engine.scene.records import BodyShape
from engine.scene.selection import ObjectKind, SelectionMode, SelectObjects
from engine.scene.shape import full_size
from engine.scene.vector import Vector
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App, Done
from presets.builtins.bounds_result import shown
from presets.builtins.scene_tools.arguments import (
    BOX_HELP,
    COLOR_HELP,
    SPACE,
    BoxArgument,
    ColorText,
    Coordinate,
    Extent,
    Friction,
    Mass,
    ObjectId,
    Radius,
    SpinArgument,
    TurnArguments,
    VelocityArgument,
)
from presets.builtins.scene_tools.results import SHOWN_IDS, BodyResult
from presets.schema import ToolResult, WriteArguments
from protocol.tool import ToolCall

DEFAULT_SIDE = 1.0
"""Metres."""
DEFAULT_RADIUS = 0.5
"""Metres."""
DEFAULT_CAPSULE_HEIGHT = 2.0
"""Metres, round ends included."""
MAX_GIVEN_IDS = 5_000
"""Most ids of one call; as many as a scene has bodies."""
_SUNK = 1e-3
"""Metres into the ground from which on it is worth a word."""

ShapeName = Literal["box", "cuboid", "sphere", "cylinder", "capsule"]


class PlacedBodyArguments(WriteArguments, TurnArguments):
    """Where a body is, and what it is like."""

    x: Coordinate = Field(0, description="Middle of the body.")
    y: Coordinate = Field(0, description="Middle of the body: half its height above what it shall stand on.")
    z: Coordinate = Field(0, description="Middle of the body.")
    color: ColorText = Field(DEFAULT_COLOR, description=COLOR_HELP)
    mass: Mass = Field(DEFAULT_MASS, description="Kilograms.")
    friction: Friction = Field(
        DEFAULT_FRICTION, description="Sliding; where two surfaces touch, the smaller one of both counts."
    )
    dynamic: bool = Field(True, description="False: it never moves, and others rest on it.")
    velocity: VelocityArgument | None = Field(None, description="Metres per second.")
    spin: SpinArgument | None = Field(None, description="Degrees per second about the axes of the space.")

    def body(self, shape: BodyShape, size: Vector) -> AddBody:
        """The engine's command."""
        return AddBody(
            shape=shape,
            position=Vector(self.x, self.y, self.z),
            rotation=self.turn().quaternion(),
            size=size,
            color=self.color,
            mass=self.mass,
            friction=self.friction,
            dynamic=self.dynamic,
            velocity=(self.velocity or VelocityArgument()).value(),
            spin=(self.spin or SpinArgument()).value(),
        )


class AddCuboidArguments(PlacedBodyArguments):
    """Where, how large and how."""

    width: Extent = Field(DEFAULT_SIDE, description="Along x.")
    height: Extent = Field(DEFAULT_SIDE, description="Along y.")
    depth: Extent = Field(DEFAULT_SIDE, description="Along z.")


class AddPhysicsBodyArguments(PlacedBodyArguments):
    """Which shape, where, how large and how."""

    shape: ShapeName = Field(description="cuboid means box; cylinders and capsules stand along y.")
    width: Extent | None = Field(None, description=f"Box: along x, default {DEFAULT_SIDE:g}.")
    height: Extent | None = Field(
        None,
        description=f"Box, cylinder: along y, default {DEFAULT_SIDE:g}. Capsule: with its round ends, default "
        f"{DEFAULT_CAPSULE_HEIGHT:g}.",
    )
    depth: Extent | None = Field(None, description=f"Box: along z, default {DEFAULT_SIDE:g}.")
    radius: Radius | None = Field(None, description=f"Sphere, cylinder, capsule: default {DEFAULT_RADIUS:g}.")

    def command(self) -> AddBody:
        """The engine's command. Raises `InvalidArgumentError` for members that the shape does not have."""
        shape: BodyShape = "box" if self.shape == "cuboid" else self.shape
        lacking = {
            "box": ("radius",),
            "sphere": ("width", "height", "depth"),
            "cylinder": ("width", "depth"),
            "capsule": ("width", "depth"),
        }[shape]
        given = [name for name in lacking if getattr(self, name) is not None]
        if given:
            raise InvalidArgumentError(f"A {self.shape} takes no {' and no '.join(given)}; leave that out.")
        height = self.height or (DEFAULT_CAPSULE_HEIGHT if shape == "capsule" else DEFAULT_SIDE)
        size = full_size(
            shape,
            width=self.width or DEFAULT_SIDE,
            height=height,
            depth=self.depth or DEFAULT_SIDE,
            radius=self.radius or DEFAULT_RADIUS,
        )
        return self.body(shape, size)


class AddedBodyResult(ToolResult):
    """The new body. `ground_y` is the terrain under its middle; `note` says what may surprise."""

    body: BodyResult
    ground_y: float | None = None
    note: str | None = None
    revision: int


class SelectObjectArguments(WriteArguments):
    """What to select: at least one of id, ids, all, kind and bounds."""

    id: ObjectId | None = Field(None, description="One object: a body, a terrain or a light.")
    ids: Annotated[list[ObjectId], Field(max_length=MAX_GIVEN_IDS)] | None = Field(
        None, description="Several; an empty list selects nothing."
    )
    all: bool = Field(False, description="Everything.")
    kind: ObjectKind | None = None
    bounds: BoxArgument | None = Field(None, description=BOX_HELP)
    mode: SelectionMode = Field("replace", description="What becomes of the present selection.")


class SelectObjectResult(ToolResult):
    """How many objects met the criteria and how many are selected now; `ids` lists the first of those."""

    matched: int
    selected: int
    ids: list[str]
    changed: bool
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`scene.add-cuboid`, `scene.add-physics-body` and `scene.select-object`."""
    return (
        typed_adapter(
            id="scene.add-cuboid",
            mcp_name="space_scene_add_cuboid",
            title="Add a cuboid",
            description="Put a cuboid into the scene, its middle at (x, y, z). It is a rigid body: it falls when the "
            "scene is simulated, unless dynamic is false. Returns its id and bounds. " + SPACE,
            arguments=AddCuboidArguments,
            result=AddedBodyResult,
            run=_add_cuboid,
        ),
        typed_adapter(
            id="scene.add-physics-body",
            mcp_name="space_scene_add_physics_body",
            title="Add a physics body",
            description="Put a rigid body into the scene: a box, sphere, cylinder or capsule with its middle at "
            "(x, y, z). It moves when the scene is simulated. Returns its id and bounds. " + SPACE,
            arguments=AddPhysicsBodyArguments,
            result=AddedBodyResult,
            run=_add_physics_body,
        ),
        typed_adapter(
            id="scene.select-object",
            mcp_name="space_scene_select_object",
            title="Select objects",
            description="Select objects of the scene by id, kind, bounds, or all; given together, objects must meet "
            "every one of them. What is selected is framed in the picture. Returns what is selected now.",
            arguments=SelectObjectArguments,
            result=SelectObjectResult,
            run=_select_object,
            idempotent=True,
        ),
    )


async def _add_cuboid(app: App, arguments: AddCuboidArguments, call: ToolCall) -> AddedBodyResult:
    del call
    size = Vector(arguments.width, arguments.height, arguments.depth)
    return _added(await app.execute(arguments.body("box", size)))


async def _add_physics_body(app: App, arguments: AddPhysicsBodyArguments, call: ToolCall) -> AddedBodyResult:
    del call
    return _added(await app.execute(arguments.command()))


def _added(done: Done[AddedBody]) -> AddedBodyResult:
    made = done.result
    return AddedBodyResult(
        body=BodyResult.of(made.body, made.bounds),
        ground_y=None if made.ground is None else shown(made.ground),
        note=_note(made),
        revision=done.revision,
    )


def _note(made: AddedBody) -> str | None:
    if made.ground is None:
        falls = "There is no terrain under it; simulated, it falls unless a body holds it."
        return falls if made.body.dynamic else None
    if made.bounds.low.y < made.ground - _SUNK:
        clear = made.body.position.y + made.ground - made.bounds.low.y
        return f"It is partly in the ground; with y {shown(clear):g} it would stand on the ground under its middle."
    return None


async def _select_object(app: App, arguments: SelectObjectArguments, call: ToolCall) -> SelectObjectResult:
    del call
    ids = None if arguments.ids is None else tuple(arguments.ids)
    if arguments.id is not None:
        ids = (arguments.id, *(ids or ()))
    command = SelectObjects(
        ids=ids,
        all=arguments.all,
        kind=arguments.kind,
        bounds=None if arguments.bounds is None else arguments.bounds.value(),
        mode=arguments.mode,
    )
    done = await app.execute(command)
    made = done.result
    return SelectObjectResult(
        matched=made.matched,
        selected=len(made.selection),
        ids=list(made.selection[:SHOWN_IDS]),
        changed=done.changed,
        revision=done.revision,
    )
