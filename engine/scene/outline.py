"""The frame around something in a scene, and where its lines are on a picture. Pure.

The marks of what is selected and of what was changed are the same frames.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from engine.scene.height_field import terrain_bounds
from engine.scene.lens import Lens
from engine.scene.records import Body, Light, Terrain
from engine.scene.vector import UPRIGHT, Quaternion, Vector
from engine.scene.view_plan import NEAR

_LIGHT_FRAME = 0.15
"""Half the side of the frame around a light, in metres."""


class Frame(NamedTuple):
    """A turned box: its middle, its turn, half its extents."""

    center: Vector
    turn: Quaternion
    half: Vector

    def edges(self) -> Iterator[tuple[Vector, Vector]]:
        """Its twelve edges."""
        signs = (-1.0, 1.0)
        for a in signs:
            for b in signs:
                yield self._at(-1.0, a, b), self._at(1.0, a, b)
                yield self._at(a, -1.0, b), self._at(a, 1.0, b)
                yield self._at(a, b, -1.0), self._at(a, b, 1.0)

    def _at(self, x: float, y: float, z: float) -> Vector:
        corner = Vector(x * self.half.x, y * self.half.y, z * self.half.z)
        return self.center.plus(self.turn.turn(corner))


def frame_around(item: Body | Terrain | Light) -> Frame | None:
    """The frame around that; None for a light that is nowhere in particular."""
    if isinstance(item, Body):
        return Frame(item.position, item.rotation, item.size.times(0.5))
    if isinstance(item, Terrain):
        box = terrain_bounds(item)
        return Frame(box.center, UPRIGHT, box.size.times(0.5))
    if item.kind in ("point", "spot"):
        return Frame(item.position, UPRIGHT, Vector(_LIGHT_FRAME, _LIGHT_FRAME, _LIGHT_FRAME))
    return None


def line_on_picture(lens: Lens, start: Vector, end: Vector) -> tuple[tuple[float, float], tuple[float, float]] | None:
    """The ends, in pixels, of the line between two points of the space, cut where it comes too near to the camera.

    None for a line that is not before the camera. It may lie beside the picture.
    """
    ahead = lens.axes[2]
    first, last = (point.minus(lens.origin).dot(ahead) - NEAR for point in (start, end))
    if first < 0 and last < 0:
        return None
    if first < 0:
        start = start.plus(end.minus(start).times(first / (first - last)))
    elif last < 0:
        end = end.plus(start.minus(end).times(last / (last - first)))
    here, there = lens.place(start), lens.place(end)
    return None if here is None or there is None else (here, there)
