"""The records of a scene: bodies, terrains, lights, backdrop, camera and selection. Owns their form alone.

The space is right-handed with +y up; metres, kilograms and seconds; angles in degrees, turns as unit quaternions;
colours `#RRGGBB`. Commands keep the limits of `engine.scene.measures`, so readers need not check again.
See docs/scene.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from engine.records import Record
from engine.scene.vector import DOWN, ORIGIN, UPRIGHT, Quaternion, Vector

BodyShape = Literal["box", "sphere", "cylinder", "capsule"]
TerrainKind = Literal["flat", "heightfield", "perlin"]
PlacedLightKind = Literal["point", "directional", "spot"]
LightKind = Literal["ambient", "point", "directional", "spot"]

FIRST_VIEWPOINT = Vector(8.0, 6.0, 12.0)
"""Where the camera of a new scene stands: it sees some ten metres around the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Body(Record):
    """A rigid body. `size` is the extents of the unturned shape: a sphere's are all its diameter; cylinders and
    capsules stand along y, and the height of a capsule includes its round ends.

    `velocity` is that of its middle, `spin` its angular velocity in degrees per second about the axes of the space.
    A body that is not `dynamic` never moves and has no velocity.
    """

    collection: ClassVar[str] = "scene.body"
    shape: BodyShape
    position: Vector
    rotation: Quaternion = UPRIGHT
    size: Vector
    color: str
    mass: float
    friction: float
    dynamic: bool = True
    velocity: Vector = ORIGIN
    spin: Vector = ORIGIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Terrain(Record):
    """Ground that never moves. `position` is the middle of its foot; `size_x` and `size_z` are its sides.

    A flat one has no samples. Else `heights` are rows * columns heights over the foot, as base64 of little-endian
    32-bit floats: row by row from the smallest z on, each from the smallest x on. `lowest` and `highest` are of those.
    """

    collection: ClassVar[str] = "scene.terrain"
    kind: TerrainKind
    position: Vector
    size_x: float
    size_z: float
    color: str
    friction: float
    rows: int = 0
    columns: int = 0
    heights: str = ""
    lowest: float = 0.0
    highest: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Light(Record):
    """A light. A point light has a position, a directional one a direction (that of its rays), a spot light both.

    At `range` metres, point and spot lights have half their brightness. `cone_degrees` is the full angle of a spot.
    """

    collection: ClassVar[str] = "scene.light"
    kind: LightKind
    color: str = "#FFFFFF"
    intensity: float = 1.0
    enabled: bool = True
    position: Vector = ORIGIN
    direction: Vector = DOWN
    range: float = 10.0
    cone_degrees: float = 45.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Backdrop(Record):
    """What is behind everything: a sky by name, else a colour, else the colour of the theme. There is one.

    `brightness` is how much light the sky gives to everything from all sides, on top of the ambient light.
    """

    collection: ClassVar[str] = "scene.backdrop"
    id: str = "backdrop"
    sky: str | None = None
    brightness: float = 0.0
    color: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Camera(Record):
    """Where the picture is taken from: turned by `pitch`, then by `yaw`; at 0 and 0 it looks along -z. There is one."""

    collection: ClassVar[str] = "scene.camera"
    id: str = "camera"
    position: Vector = FIRST_VIEWPOINT
    yaw: float = 33.7
    pitch: float = -21.0
    fov: float = 45.0
    """The vertical field of view, in degrees."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneSelection(Record):
    """The ids of the bodies, terrains and lights that are selected, in order of creation. There is one.

    Undo takes it along. It may name what is gone; read it through `engine.scene.reading.selected_ids`.
    """

    collection: ClassVar[str] = "scene.selection"
    id: str = "selection"
    ids: tuple[str, ...] = ()


RECORD_TYPES: tuple[type[Record], ...] = (Body, Terrain, Light, Backdrop, Camera, SceneSelection)
"""Every class of record that a scene keeps."""
