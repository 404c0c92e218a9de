"""The two ways in which the software renderer looks at a scene: through the camera, and along sunlight. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from engine.scene.lens import Lens
from engine.scene.shape import Floats
from engine.scene.vector import Vector
from engine.scene.view_plan import NEAR, ShadowRegion


@dataclass(frozen=True)
class CameraPencil:
    """The rays of a camera. Their directions reach to distance 1 before it, so lengths along them are depths."""

    lens: Lens

    @property
    def width(self) -> int:
        """In pixels."""
        return self.lens.width

    @property
    def height(self) -> int:
        """In pixels."""
        return self.lens.height

    @cached_property
    def origin(self) -> Floats:
        """Where the camera stands."""
        return np.array(self.lens.origin)

    def rays(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """See `Pencil`."""
        lens = self.lens
        right, up, ahead = lens.matrix.T
        across = (columns + 0.5 - lens.width / 2) * lens.pixel
        above = (lens.height / 2 - rows - 0.5) * lens.pixel
        return self.origin, ahead + across[:, None] * right + above[:, None] * up

    def span(self, points: Floats) -> tuple[Floats, Floats]:
        """See `Pencil`. Edges that lead behind the camera count up to where they leave its view."""
        lens = self.lens
        local = (points - self.origin) @ lens.matrix
        behind = local[..., 2] < NEAR
        low, high = self._extent(local, ~behind)
        cut = behind.any(axis=1) & ~behind.all(axis=1)
        if cut.any():
            for a, b in _pairs(points.shape[1]):
                start, end = local[cut][:, a], local[cut][:, b]
                crosses = (start[:, 2] < NEAR) != (end[:, 2] < NEAR)
                with np.errstate(divide="ignore", invalid="ignore"):
                    part = (NEAR - start[:, 2]) / (end[:, 2] - start[:, 2])
                    at = start + (end - start) * np.where(crosses, part, 0.0)[:, None]
                at[:, 2] = NEAR
                low_there, high_there = self._extent(at[:, None], crosses[:, None])
                low[cut] = np.minimum(low[cut], low_there)
                high[cut] = np.maximum(high[cut], high_there)
        return low, high

    def _extent(self, local: Floats, counts: NDArray[np.bool_]) -> tuple[Floats, Floats]:
        lens = self.lens
        scale = 1 / (np.where(counts, local[..., 2], 1.0) * lens.pixel)
        place = np.stack([lens.width / 2 + local[..., 0] * scale, lens.height / 2 - local[..., 1] * scale], axis=-1)
        low = np.where(counts[..., None], place, np.inf).min(axis=1)
        high = np.where(counts[..., None], place, -np.inf).max(axis=1)
        return low, high


@dataclass(frozen=True)
class SunPencil:
    """Rays side by side along a directional light, over the region in which it casts shadows."""

    region: ShadowRegion
    side: int

    @property
    def width(self) -> int:
        """In pixels."""
        return self.side

    @property
    def height(self) -> int:
        """In pixels."""
        return self.side

    @property
    def pixel(self) -> float:
        """Metres between two rays."""
        return 2 * self.region.radius / self.side

    @cached_property
    def _axes(self) -> tuple[Floats, Floats, Floats]:
        ahead = self.region.light.direction
        aside = Vector(1.0, 0.0, 0.0) if abs(ahead.x) < abs(ahead.z) else Vector(0.0, 0.0, 1.0)
        right = aside.cross(ahead).unit()
        return np.array(right), np.array(ahead.cross(right)), np.array(ahead)

    @cached_property
    def _corner(self) -> Floats:
        """Where the upper left corner of the grid is: before everything that can cast a shadow."""
        right, down, ahead = self._axes
        back = _BEFORE_ALL * self.region.radius
        return np.array(self.region.center) - ahead * back - (right + down) * self.region.radius

    def rays(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """See `Pencil`."""
        right, down, ahead = self._axes
        across, below = (columns + 0.5) * self.pixel, (rows + 0.5) * self.pixel
        origins = self._corner + across[:, None] * right + below[:, None] * down
        return origins, np.broadcast_to(ahead, origins.shape)

    def span(self, points: Floats) -> tuple[Floats, Floats]:
        """See `Pencil`."""
        place = self.place(points)[..., :2]
        return place.min(axis=1), place.max(axis=1)

    def place(self, points: Floats) -> Floats:
        """Where points are on the grid (x, y in pixels), and how far along the light in metres."""
        right, down, ahead = self._axes
        away = points - self._corner
        return np.stack([away @ right / self.pixel, away @ down / self.pixel, away @ ahead], axis=-1)


_BEFORE_ALL = 20.0
"""How many radii before the middle of the region the light begins; what is farther out casts no shadow into it."""


def _pairs(count: int) -> list[tuple[int, int]]:
    return [(a, b) for a in range(count) for b in range(a + 1, count)]
