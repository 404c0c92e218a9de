"""The command that adds a body, and the rules that every body keeps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from engine.errors import ConflictError, InvalidArgumentError
from engine.records import Transaction
from engine.scene.index import SceneIndex
from engine.scene.measures import (
    MAX_BODIES,
    MAX_EXTENT,
    MAX_FRICTION,
    MAX_MASS,
    MAX_SPEED,
    MAX_SPIN,
    MIN_EXTENT,
    MIN_MASS,
    checked,
    checked_color,
    checked_point,
    checked_rate,
    checked_turn,
)
from engine.scene.raycast import ground_under
from engine.scene.records import Body, BodyShape
from engine.scene.vector import ORIGIN, UPRIGHT, Box, Quaternion, Vector
from engine.world import Command

DEFAULT_MASS = 1.0
"""Kilograms."""
DEFAULT_FRICTION = 0.6
"""About that of wood on wood."""
DEFAULT_COLOR = "#9AA7B8"
"""A grey that shows light and shade on light and dark backdrops."""


@dataclass(frozen=True, slots=True)
class AddedBody:
    """The new body, the box around it, and the y of the terrain under its middle, if there is one."""

    body: Body
    bounds: Box
    ground: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AddBody(Command[AddedBody]):
    """Put a body into the scene, its middle at `position`. `size` is as in `Body`.

    Raises `InvalidArgumentError` for what no body can have, and `ConflictError` beyond `MAX_BODIES`.
    """

    label: ClassVar[str] = "add body"
    shape: BodyShape
    position: Vector = ORIGIN
    rotation: Quaternion = UPRIGHT
    size: Vector
    color: str = DEFAULT_COLOR
    mass: float = DEFAULT_MASS
    friction: float = DEFAULT_FRICTION
    dynamic: bool = True
    velocity: Vector = ORIGIN
    spin: Vector = ORIGIN

    def run(self, world: Transaction) -> AddedBody:
        """Add it."""
        body = checked_body(
            Body(
                id="body",
                shape=self.shape,
                position=self.position,
                rotation=self.rotation,
                size=self.size,
                color=self.color,
                mass=self.mass,
                friction=self.friction,
                dynamic=self.dynamic,
                velocity=self.velocity,
                spin=self.spin,
            )
        )
        index = world.index(SceneIndex)
        if index.count(Body) >= MAX_BODIES:
            raise ConflictError(f"The scene has {MAX_BODIES} bodies, which is the most.")
        body = replace(body, id=world.new_id("body"))
        world.put(body)
        bounds = index.boxes[body.id]
        ground = ground_under(world, body.position.x, body.position.z)
        return AddedBody(body, bounds, None if ground is None else ground.point.y)


def checked_body(body: Body) -> Body:
    """The body with its values in normal form. Raises `InvalidArgumentError` for what no body can have."""
    size = _checked_size(body)
    width, height, depth = size
    if body.shape != "box" and width != depth:
        raise InvalidArgumentError(f"A {body.shape} is round: width {width:g} and depth {depth:g} must be the same.")
    if body.shape == "sphere" and width != height:
        raise InvalidArgumentError(f"A sphere has one diameter, but width is {width:g} and height {height:g}.")
    if body.shape == "capsule" and height <= width:
        raise InvalidArgumentError(
            f"A capsule with radius {width / 2:g} must be higher than {width:g}, its two round ends; got {height:g}."
        )
    velocity = checked_rate(body.velocity, "velocity", MAX_SPEED, "metres per second")
    spin = checked_rate(body.spin, "spin", MAX_SPIN, "degrees per second")
    if not body.dynamic and (velocity != ORIGIN or spin != ORIGIN):
        raise InvalidArgumentError("A body that is not dynamic never moves: give it no velocity and no spin.")
    return replace(
        body,
        position=checked_point(body.position, "position"),
        rotation=checked_turn(body.rotation, "rotation"),
        size=size,
        color=checked_color(body.color),
        mass=checked(body.mass, "mass", MIN_MASS, MAX_MASS, "kilograms"),
        friction=checked(body.friction, "friction", 0.0, MAX_FRICTION),
        velocity=velocity,
        spin=spin,
    )


def _checked_size(body: Body) -> Vector:
    """The extents within their limits, spoken of as the shape is described: the round ones by their radius."""
    names = {
        "box": ("width", "height", "depth"),
        "sphere": ("radius", "radius", "radius"),
        "cylinder": ("radius", "height", "radius"),
        "capsule": ("radius", "height", "radius"),
    }[body.shape]
    return Vector(*(_checked_extent(extent, name) for extent, name in zip(body.size, names, strict=True)))


def _checked_extent(extent: float, name: str) -> float:
    if name == "radius":
        checked(extent / 2, name, MIN_EXTENT / 2, MAX_EXTENT / 2, "metres")
    return checked(extent, name, MIN_EXTENT, MAX_EXTENT, "metres")
