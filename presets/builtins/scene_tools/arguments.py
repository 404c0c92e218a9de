"""The arguments that several scene tools share, and how they become values of the engine. Owns their schemas."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.scene.measures import (
    MAX_COORDINATE,
    MAX_EXTENT,
    MAX_FRICTION,
    MAX_MASS,
    MAX_SPEED,
    MAX_SPIN,
    MIN_EXTENT,
    MIN_MASS,
)
from engine.scene.vector import Box, Degrees, Vector
from engine.view import MAX_VIEW_SIDE, MIN_VIEW_SIDE
from presets.schema import ToolArguments

SPACE = (
    "Space: right-handed, +x right, +y up, +z toward the viewer; metres, kilograms, seconds; angles in degrees, "
    "counter-clockwise."
)
"""The convention as every description and prompt says it. See docs/scene.md."""

Coordinate = Annotated[float, Field(ge=-MAX_COORDINATE, le=MAX_COORDINATE)]
Extent = Annotated[float, Field(ge=MIN_EXTENT, le=MAX_EXTENT)]
Radius = Annotated[float, Field(ge=MIN_EXTENT / 2, le=MAX_EXTENT / 2)]
Angle = Annotated[float, Field(ge=-3600, le=3600)]
Mass = Annotated[float, Field(ge=MIN_MASS, le=MAX_MASS)]
Friction = Annotated[float, Field(ge=0, le=MAX_FRICTION)]
Speed = Annotated[float, Field(ge=-MAX_SPEED, le=MAX_SPEED)]
Spin = Annotated[float, Field(ge=-MAX_SPIN, le=MAX_SPIN)]
ColorText = Annotated[str, Field(pattern="^#?[0-9A-Fa-f]{6}$")]
ObjectId = Annotated[str, Field(min_length=1, max_length=80)]
PictureSide = Annotated[int, Field(ge=MIN_VIEW_SIDE, le=MAX_VIEW_SIDE)]

COLOR_HELP = "#RRGGBB."


class PointArgument(ToolArguments):
    """A point or a direction of the space."""

    x: Coordinate
    y: Coordinate
    z: Coordinate

    def value(self) -> Vector:
        """As the engine takes it."""
        return Vector(self.x, self.y, self.z)


class VelocityArgument(ToolArguments):
    """A velocity in metres per second."""

    x: Speed = 0
    y: Speed = 0
    z: Speed = 0

    def value(self) -> Vector:
        """As the engine takes it."""
        return Vector(float(self.x), float(self.y), float(self.z))


class SpinArgument(ToolArguments):
    """An angular velocity in degrees per second about the axes of the space."""

    x: Spin = 0
    y: Spin = 0
    z: Spin = 0

    def value(self) -> Vector:
        """As the engine takes it."""
        return Vector(float(self.x), float(self.y), float(self.z))


class BoxArgument(ToolArguments):
    """A box by two opposite corners."""

    min: PointArgument
    max: PointArgument

    def value(self) -> Box:
        """The box, its corners put in order."""
        pairs = list(zip(self.min.value(), self.max.value(), strict=True))
        return Box(Vector(*(min(pair) for pair in pairs)), Vector(*(max(pair) for pair in pairs)))


BOX_HELP = "Box {min: {x,y,z}, max: {x,y,z}}; objects whose bounds it touches are meant."


class TurnArguments(ToolArguments):
    """How a body is turned about its middle."""

    yaw: Angle = Field(0, description="Degrees about +y.")
    pitch: Angle = Field(0, description="Degrees about the body's +x.")
    roll: Angle = Field(0, description="Degrees about the body's +z.")

    def turn(self) -> Degrees:
        """As the engine takes it."""
        return Degrees(self.yaw, self.pitch, self.roll)
