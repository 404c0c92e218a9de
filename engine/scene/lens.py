"""How a camera maps space to pixels and back. The one camera model that rays and both renderers share. Pure.

A picture is a window of `height` by `width` pixels at distance 1 before the camera, seen under the vertical field of
view. Pixels count from the upper left corner, x to the right and y down; the first pixel's middle is at (0.5, 0.5).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from engine.scene.records import Camera
from engine.scene.shape import Floats
from engine.scene.vector import Degrees, Vector


def camera_axes(camera: Camera) -> tuple[Vector, Vector, Vector]:
    """The directions to the right of, above and before the camera."""
    right, up, back = Degrees(camera.yaw, camera.pitch).quaternion().axes()
    return right, up, back.times(-1)


@dataclass(frozen=True)
class Lens:
    """A camera with the size of its picture in pixels."""

    camera: Camera
    width: int
    height: int

    @property
    def origin(self) -> Vector:
        """Where it stands."""
        return self.camera.position

    @cached_property
    def axes(self) -> tuple[Vector, Vector, Vector]:
        """See `camera_axes`."""
        return camera_axes(self.camera)

    @cached_property
    def pixel(self) -> float:
        """How large a pixel is on the window at distance 1."""
        return 2 * math.tan(math.radians(self.camera.fov) / 2) / self.height

    def direction(self, x: float, y: float) -> Vector:
        """Where the ray through that place of the picture leads; of length 1."""
        right, up, ahead = self.axes
        across, above = (x - self.width / 2) * self.pixel, (self.height / 2 - y) * self.pixel
        return ahead.plus(right.times(across)).plus(up.times(above)).unit()

    def place(self, point: Vector) -> tuple[float, float] | None:
        """Where on the picture's plane that point is; None for what is not before the camera."""
        right, up, ahead = self.axes
        away = point.minus(self.origin)
        depth = away.dot(ahead)
        if depth <= 0:
            return None
        scale = 1 / (depth * self.pixel)
        return self.width / 2 + away.dot(right) * scale, self.height / 2 - away.dot(up) * scale

    @cached_property
    def matrix(self) -> Floats:
        """Turns directions of the space into the camera's own (right, up, ahead): `points @ matrix`."""
        return np.array(self.axes).T
