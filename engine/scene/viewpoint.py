"""The commands that move the camera, and where it stands to see everything."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

from engine.drawing.geometry import normal_degrees
from engine.errors import InvalidArgumentError
from engine.records import Transaction
from engine.scene.index import SceneIndex
from engine.scene.lens import camera_axes
from engine.scene.measures import MAX_FOV, MIN_FOV, checked, checked_point
from engine.scene.reading import DEFAULT_CAMERA, camera_of
from engine.scene.records import Camera
from engine.scene.vector import Box, Vector, box_around
from engine.view import DEFAULT_VIEW_HEIGHT, DEFAULT_VIEW_WIDTH
from engine.world import Command

MAX_YAW = 3600.0
"""Degrees: ten turns."""
MAX_PITCH = 90.0
"""Degrees: straight up; beyond it the camera would stand on its head."""

_ROOM = 1.1
"""How much room there is around everything in the picture."""
_CLOSEST = 1.0
"""Metres. However small everything is, the camera comes no nearer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCamera(Command[Camera]):
    """Put the camera somewhere, and say how it stands now.

    It looks at `target`, or by `yaw` and `pitch`; what is not given of these and the field of view stays. Raises
    `InvalidArgumentError` for both, for a target at the camera's own place, and for numbers outside the limits.
    """

    label: ClassVar[str] = "set camera"
    position: Vector
    yaw: float | None = None
    pitch: float | None = None
    target: Vector | None = None
    fov: float | None = None

    def run(self, world: Transaction) -> Camera:
        """Set it."""
        before = camera_of(world)
        yaw = before.yaw if self.yaw is None else self.yaw
        pitch = before.pitch if self.pitch is None else self.pitch
        if self.target is not None:
            if self.yaw is not None or self.pitch is not None:
                raise InvalidArgumentError("target and yaw or pitch both say where the camera looks; give one of them.")
            yaw, pitch = _angles(checked_point(self.target, "target"), self.position, yaw)
        fov = before.fov if self.fov is None else self.fov
        return _put(world, checked_camera(replace(before, position=self.position, yaw=yaw, pitch=pitch, fov=fov)))


@dataclass(frozen=True, slots=True)
class ResetCamera(Command[Camera]):
    """Put the camera back to where it stands in a new scene; with `fit`, as far back as it takes to see everything."""

    label: ClassVar[str] = "reset camera"
    fit: bool = False

    def run(self, world: Transaction) -> Camera:
        """Reset it."""
        everything = box_around(world.index(SceneIndex).boxes.values()) if self.fit else None
        camera = DEFAULT_CAMERA if everything is None else _seeing(DEFAULT_CAMERA, everything)
        return _put(world, camera)


def checked_camera(camera: Camera) -> Camera:
    """The camera, its values in normal form. Raises `InvalidArgumentError` for what no camera can have."""
    yaw = checked(camera.yaw, "yaw", -MAX_YAW, MAX_YAW, "degrees")
    return replace(
        camera,
        position=checked_point(camera.position, "position"),
        yaw=normal_degrees(yaw),
        pitch=checked(camera.pitch, "pitch", -MAX_PITCH, MAX_PITCH, "degrees"),
        fov=checked(camera.fov, "fov_degrees", MIN_FOV, MAX_FOV, "degrees"),
    )


def _angles(target: Vector, position: Vector, yaw: float) -> tuple[float, float]:
    """The yaw and the pitch that look from the one to the other; straight up or down, the yaw stays."""
    away = target.minus(position)
    if away.length < 1e-6:
        raise InvalidArgumentError(
            f"The camera stands at its own target ({target.x:g}, {target.y:g}, {target.z:g}); move one of them."
        )
    flat = math.hypot(away.x, away.z)
    pitch = math.degrees(math.atan2(away.y, flat))
    if flat > 1e-9 * away.length:
        yaw = math.degrees(math.atan2(-away.x, -away.z))
    return yaw + 0.0, pitch + 0.0


def _seeing(camera: Camera, box: Box) -> Camera:
    """The camera so far back in its direction that all corners of the box are in a picture of the usual shape."""
    right, up, ahead = camera_axes(camera)
    above = math.tan(math.radians(camera.fov) / 2) / _ROOM
    aside = above * DEFAULT_VIEW_WIDTH / DEFAULT_VIEW_HEIGHT
    away = _CLOSEST
    for corner in (Vector(x, y, z) for x in _both(box, 0) for y in _both(box, 1) for z in _both(box, 2)):
        offset = corner.minus(box.center)
        needed = max(abs(offset.dot(up)) / above, abs(offset.dot(right)) / aside)
        away = max(away, needed - offset.dot(ahead))
    return checked_camera(replace(camera, position=box.center.minus(ahead.times(away))))


def _both(box: Box, axis: int) -> tuple[float, float]:
    return box.low[axis], box.high[axis]


def _put(world: Transaction, camera: Camera) -> Camera:
    if camera != camera_of(world):
        world.put(camera)
    return camera
