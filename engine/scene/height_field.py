"""The surface of a terrain: its height and slope anywhere, and where rays meet it. Owns how samples become a surface.

Each cell between four samples is two triangles, cut as the physics cuts it: from the sample with the smaller x and the
larger z to the one opposite. So what rests on a terrain rests on the surface that is answered and painted here.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from engine.scene.measures import TERRAIN_DEPTH
from engine.scene.records import Terrain
from engine.scene.shape import Floats
from engine.scene.vector import Box, Vector

_SAMPLE = np.dtype("<f4")
_EDGE = 1e-9
"""How far outside a triangle a point may be and still be on it, in parts of the triangle; rounding leaves no gaps."""


def encode_heights(heights: Floats) -> str:
    """Samples as a record keeps them."""
    return b64encode(np.ascontiguousarray(heights, dtype=_SAMPLE).tobytes()).decode("ascii")


def decode_heights(terrain: Terrain) -> Floats:
    """The samples of a terrain as rows by columns. Raises `ValueError` when they are not as many as it says."""
    raw = b64decode(terrain.heights, validate=True)
    return np.frombuffer(raw, dtype=_SAMPLE).reshape(terrain.rows, terrain.columns).astype(np.float64)


def terrain_bounds(terrain: Terrain) -> Box:
    """The box around its surface."""
    x, y, z = terrain.position
    half_x, half_z = terrain.size_x / 2, terrain.size_z / 2
    return Box(Vector(x - half_x, y + terrain.lowest, z - half_z), Vector(x + half_x, y + terrain.highest, z + half_z))


class SurfacePoint(NamedTuple):
    """A point on a surface, and the direction that leads straight out of it."""

    point: Vector
    normal: Vector


@dataclass(frozen=True)
class HeightField:
    """The surface of one terrain, its samples unpacked. A flat one has four samples."""

    terrain: Terrain

    @cached_property
    def heights(self) -> Floats:
        """The y of each sample: rows along z, columns along x, both from the smallest on."""
        if not self.terrain.heights:
            return np.full((2, 2), self.terrain.position.y)
        return decode_heights(self.terrain) + self.terrain.position.y

    @cached_property
    def x(self) -> Floats:
        """The x of each column."""
        x, half = self.terrain.position.x, self.terrain.size_x / 2
        return np.linspace(x - half, x + half, self.heights.shape[1])

    @cached_property
    def z(self) -> Floats:
        """The z of each row."""
        z, half = self.terrain.position.z, self.terrain.size_z / 2
        return np.linspace(z - half, z + half, self.heights.shape[0])

    @property
    def foot(self) -> float:
        """The y at which it ends below."""
        return self.terrain.position.y + self.terrain.lowest - TERRAIN_DEPTH

    def surface_at(self, x: float, z: float) -> SurfacePoint | None:
        """The surface above or below that place; None beside the terrain."""
        if not (self.x[0] <= x <= self.x[-1] and self.z[0] <= z <= self.z[-1]):
            return None
        column = min(int(np.searchsorted(self.x, x, side="right")) - 1, len(self.x) - 2)
        row = min(int(np.searchsorted(self.z, z, side="right")) - 1, len(self.z) - 2)
        dx, dz = float(self.x[column + 1] - self.x[column]), float(self.z[row + 1] - self.z[row])
        across, along = (x - float(self.x[column])) / dx, (z - float(self.z[row])) / dz
        (far_left, far_right), (near_left, near_right) = self.heights[row : row + 2, column : column + 2].tolist()
        if across + along <= 1:
            slope_x, slope_z = far_right - far_left, near_left - far_left
            y = far_left + slope_x * across + slope_z * along
        else:
            slope_x, slope_z = near_right - near_left, near_right - far_right
            y = near_right - slope_x * (1 - across) - slope_z * (1 - along)
        return SurfacePoint(Vector(x, y, z), Vector(-slope_x / dx, 1.0, -slope_z / dz).unit())

    def hit(self, origin: Vector, direction: Vector) -> tuple[float, Vector] | None:
        """Where a ray first meets the surface from above, in lengths of its direction, and the normal there."""
        cells = self._cells_on_the_way(origin, direction)
        if not len(cells):
            return None
        triangles = self.triangles(cells[:, 0], cells[:, 1]).reshape(-1, 3, 3)
        distance, normals = hit_triangles(triangles, np.array(origin), np.array(direction))
        nearest = int(np.argmin(distance))
        if not np.isfinite(distance[nearest]):
            return None
        return float(distance[nearest]), Vector(*normals[nearest].tolist()).unit()

    def triangles(self, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Floats:
        """The two triangles of each of those cells (n by 2 by 3 corners by 3), counter-clockwise seen from above."""
        x, z, y = self.x, self.z, self.heights
        left, right, far, near = x[columns], x[columns + 1], z[rows], z[rows + 1]
        far_left = np.stack([left, y[rows, columns], far], axis=-1)
        far_right = np.stack([right, y[rows, columns + 1], far], axis=-1)
        near_left = np.stack([left, y[rows + 1, columns], near], axis=-1)
        near_right = np.stack([right, y[rows + 1, columns + 1], near], axis=-1)
        first = np.stack([far_left, near_left, far_right], axis=1)
        second = np.stack([far_right, near_left, near_right], axis=1)
        return np.stack([first, second], axis=1)

    def _cells_on_the_way(self, origin: Vector, direction: Vector) -> NDArray[np.intp]:
        """Row and column of every cell that the ray passes over."""
        begin, end = 0.0, np.inf
        cuts: list[Floats] = []
        for start, step, lines in ((origin.x, direction.x, self.x), (origin.z, direction.z, self.z)):
            if step == 0:
                if not lines[0] <= start <= lines[-1]:
                    return np.empty((0, 2), dtype=np.intp)
                continue
            at = (lines - start) / step
            begin, end = max(begin, float(at.min())), min(end, float(at.max()))
            cuts.append(at)
        if begin > end:
            return np.empty((0, 2), dtype=np.intp)
        if not cuts:  # straight up or down
            middles = np.array([0.0])
        else:
            inner = np.concatenate(cuts)
            times = np.sort(np.concatenate([[begin], inner[(inner > begin) & (inner < end)], [end]]))
            middles = (times[:-1] + times[1:]) / 2
        columns = np.searchsorted(self.x, origin.x + direction.x * middles, side="right") - 1
        rows = np.searchsorted(self.z, origin.z + direction.z * middles, side="right") - 1
        return np.stack([np.clip(rows, 0, len(self.z) - 2), np.clip(columns, 0, len(self.x) - 2)], axis=-1)


def hit_triangles(triangles: Floats, origin: Floats, direction: Floats) -> tuple[Floats, Floats]:
    """Where one ray meets each of many triangles on their front; infinite where it does not. And their normals."""
    first = triangles[:, 0]
    one, other = triangles[:, 1] - first, triangles[:, 2] - first
    normals = np.cross(one, other)
    facing = normals @ direction
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = np.sum((first - origin) * normals, axis=-1) / facing
        point = origin + direction * distance[:, None] - first
        area = np.sum(normals * normals, axis=-1)
        to_other = np.sum(np.cross(one, point) * normals, axis=-1) / area
        to_one = np.sum(np.cross(point, other) * normals, axis=-1) / area
        met = (
            (facing < 0) & (distance > 0) & (to_one >= -_EDGE) & (to_other >= -_EDGE) & (to_one + to_other <= 1 + _EDGE)
        )
    return np.where(met, distance, np.inf), normals
