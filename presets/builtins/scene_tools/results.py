"""The values that several scene tools answer with. Owns how a scene is written down for a model.

Numbers are rounded to a millionth of their unit, which nobody can see, so that they stay readable.
"""

from __future__ import annotations

from engine.scene.lens import camera_axes
from engine.scene.records import Body, BodyShape, Camera, Light, LightKind, TerrainKind
from engine.scene.terrain import TerrainInfo
from engine.scene.vector import UPRIGHT, Box, Degrees, Quaternion, Vector
from presets.builtins.bounds_result import shown
from presets.schema import ToolResult

SHOWN_IDS = 50
"""How many ids an answer lists before it only counts: enough to work with, and less than a kilobyte."""

BODIES_BUDGET = 20 * 1024
"""Bytes of JSON for the bodies of one answer. The whole answer stays below 40 KiB, which clients pass on uncut."""


class PointResult(ToolResult):
    """A point, a direction or three extents."""

    x: float
    y: float
    z: float

    @classmethod
    def of(cls, vector: Vector) -> PointResult:
        """Write a vector down."""
        return cls(x=shown(vector.x), y=shown(vector.y), z=shown(vector.z))


class BoxResult(ToolResult):
    """A box whose sides are parallel to the axes."""

    min: PointResult
    max: PointResult

    @classmethod
    def of(cls, box: Box) -> BoxResult:
        """Write a box down."""
        return cls(min=PointResult.of(box.low), max=PointResult.of(box.high))


class TurnResult(ToolResult):
    """A turn in degrees: roll about z first, then pitch about x, then yaw about y."""

    yaw: float
    pitch: float
    roll: float

    @classmethod
    def of(cls, turn: Quaternion) -> TurnResult:
        """Write a turn down."""
        yaw, pitch, roll = map(shown, Degrees.of(turn))
        return cls(yaw=yaw, pitch=pitch, roll=roll)


class BodyResult(ToolResult):
    """A body. `position` is its middle; boxes have `size`, the others `radius` and, but for spheres, `height`.

    `rotation_degrees` is there where it is turned, `velocity` (m/s) and `spin` (degrees/s) where it moves.
    """

    id: str
    shape: BodyShape
    position: PointResult
    size: PointResult | None = None
    radius: float | None = None
    height: float | None = None
    rotation_degrees: TurnResult | None = None
    color: str
    mass: float
    friction: float
    dynamic: bool
    velocity: PointResult | None = None
    spin: PointResult | None = None
    bounds: BoxResult
    selected: bool | None = None

    @classmethod
    def of(cls, body: Body, bounds: Box, *, selected: bool | None = None) -> BodyResult:
        """Write a body down."""
        is_box = body.shape == "box"
        return cls(
            id=body.id,
            shape=body.shape,
            position=PointResult.of(body.position),
            size=PointResult.of(body.size) if is_box else None,
            radius=None if is_box else shown(body.size.x / 2),
            height=shown(body.size.y) if body.shape in ("cylinder", "capsule") else None,
            rotation_degrees=None if body.rotation == UPRIGHT else TurnResult.of(body.rotation),
            color=body.color,
            mass=body.mass,
            friction=body.friction,
            dynamic=body.dynamic,
            velocity=PointResult.of(body.velocity) if any(map(shown, body.velocity)) else None,
            spin=PointResult.of(body.spin) if any(map(shown, body.spin)) else None,
            bounds=BoxResult.of(bounds),
            selected=selected,
        )


class TerrainResult(ToolResult):
    """A terrain: the box around its surface, and how many height samples it has along z and x."""

    id: str
    kind: TerrainKind
    bounds: BoxResult
    rows: int | None = None
    columns: int | None = None
    color: str
    friction: float
    selected: bool | None = None

    @classmethod
    def of(cls, info: TerrainInfo, *, selected: bool | None = None) -> TerrainResult:
        """Write a terrain down."""
        terrain = info.terrain
        return cls(
            id=terrain.id,
            kind=terrain.kind,
            bounds=BoxResult.of(info.bounds),
            rows=terrain.rows or None,
            columns=terrain.columns or None,
            color=terrain.color,
            friction=terrain.friction,
            selected=selected,
        )


class LightResult(ToolResult):
    """A light. `direction` is that of its rays, `range` the distance at which it has half its brightness."""

    id: str
    kind: LightKind
    enabled: bool
    color: str
    intensity: float
    position: PointResult | None = None
    direction: PointResult | None = None
    range: float | None = None
    cone_degrees: float | None = None

    @classmethod
    def of(cls, light: Light) -> LightResult:
        """Write a light down."""
        placed, aimed = light.kind in ("point", "spot"), light.kind in ("directional", "spot")
        return cls(
            id=light.id,
            kind=light.kind,
            enabled=light.enabled,
            color=light.color,
            intensity=light.intensity,
            position=PointResult.of(light.position) if placed else None,
            direction=PointResult.of(light.direction) if aimed else None,
            range=light.range if placed else None,
            cone_degrees=light.cone_degrees if light.kind == "spot" else None,
        )


class CameraResult(ToolResult):
    """The camera. `forward` is where it looks; `fov_degrees` is its vertical field of view."""

    position: PointResult
    yaw: float
    pitch: float
    fov_degrees: float
    forward: PointResult

    @classmethod
    def of(cls, camera: Camera) -> CameraResult:
        """Write a camera down."""
        return cls(
            position=PointResult.of(camera.position),
            yaw=shown(camera.yaw),
            pitch=shown(camera.pitch),
            fov_degrees=shown(camera.fov),
            forward=PointResult.of(camera_axes(camera)[2]),
        )
