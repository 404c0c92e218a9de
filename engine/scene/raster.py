"""A grid of pixels that remembers what is nearest in each: the z-buffer of the software renderer. Pure, on numpy.

Bodies are met by the exact rays of the pixels, so their outlines are exact; ground comes as triangles, many at a time.
The grid sees through any pencil of rays: from one point, as a camera, or side by side, as sunlight for its shadows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.scene.records import Body
from engine.scene.shape import Floats, hit_body, matrix_of

_CHUNK = 400_000
"""Pairs of triangle and pixel that are looked at together; more would only take more memory."""
_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])


class Pencil(Protocol):
    """The rays of a grid of `height` by `width` pixels, and where points appear on it."""

    @property
    def width(self) -> int:
        """In pixels."""
        ...

    @property
    def height(self) -> int:
        """In pixels."""
        ...

    def rays(self, columns: NDArray[np.intp], rows: NDArray[np.intp]) -> tuple[Floats, Floats]:
        """Origins and directions (n by 3 each) of the rays through the middles of those pixels."""
        ...

    def span(self, points: Floats) -> tuple[Floats, Floats]:
        """The lowest and highest place (x, y) on the grid of each group of points (n by k by 3), as n by 2 each.

        Where a group reaches behind the grid's eye, the span of what is before it; an empty one where nothing is.
        """
        ...


@dataclass(frozen=True)
class Grid:
    """What is seen in each pixel: how far along its ray, the outward normal, and which surface (-1: nothing)."""

    pencil: Pencil
    near: float
    depth: Floats
    normal: NDArray[np.float32]
    surface: NDArray[np.int32]

    @classmethod
    def empty(cls, pencil: Pencil, *, near: float) -> Grid:
        """A grid in which nothing is seen. What is nearer than `near` is not."""
        shape = (pencil.height, pencil.width)
        return cls(
            pencil,
            near,
            np.full(shape, np.inf),
            np.zeros((*shape, 3), dtype=np.float32),
            np.full(shape, -1, dtype=np.int32),
        )

    def put_body(self, body: Body, surface: int) -> None:
        """Let the body be seen where it is nearest."""
        corners = _CORNERS * np.array(body.size) @ matrix_of(body.rotation).T + np.array(body.position)
        low, high = self.pencil.span(corners[None])
        box = self._pixels_of(low[0], high[0])
        if box is None:
            return
        left, top, right, bottom = box
        rows, columns = np.mgrid[top:bottom, left:right]
        origins, directions = self.pencil.rays(columns.ravel(), rows.ravel())
        hits = hit_body(body, origins, directions)
        distance = hits.distance.reshape(rows.shape)
        view = np.s_[top:bottom, left:right]
        nearer = (distance < self.depth[view]) & (distance >= self.near)
        self.depth[view][nearer] = distance[nearer]
        self.normal[view][nearer] = hits.normal.reshape(*rows.shape, 3)[nearer]
        self.surface[view][nearer] = surface

    def put_triangles(self, triangles: Floats, surface: int) -> None:
        """Let the triangles (n by 3 corners by 3) be seen where they are nearest, from both sides."""
        low, high = self.pencil.span(triangles)
        first = np.floor(np.clip(low, 0, (self.pencil.width, self.pencil.height))).astype(np.intp)
        last = np.ceil(np.clip(high, 0, (self.pencil.width, self.pencil.height))).astype(np.intp)
        sides = last - first
        seen = np.flatnonzero((sides > 0).all(axis=1))
        # Triangles of about the same size on the grid are looked at together, over the same number of pixels.
        size_class = np.ceil(np.log2(sides[seen])).astype(np.intp)
        for columns_log, rows_log in np.unique(size_class, axis=0):
            alike = seen[(size_class == (columns_log, rows_log)).all(axis=1)]
            width, height = 1 << int(columns_log), 1 << int(rows_log)
            at_once = max(1, _CHUNK // (width * height))
            for start in range(0, len(alike), at_once):
                some = alike[start : start + at_once]
                self._put_alike(triangles[some], first[some], last[some], width, height, surface)

    def _put_alike(
        self,
        triangles: Floats,
        first: NDArray[np.intp],
        last: NDArray[np.intp],
        width: int,
        height: int,
        surface: int,
    ) -> None:
        columns = (first[:, 0, None] + np.arange(width))[:, None, :]
        rows = (first[:, 1, None] + np.arange(height))[:, :, None]
        which, row_step, column_step = np.nonzero((columns < last[:, 0, None, None]) & (rows < last[:, 1, None, None]))
        column, row = columns[which, 0, column_step], rows[which, row_step, 0]
        origins, directions = self.pencil.rays(column, row)
        distance = _meet(triangles, which, origins, directions)
        pixel = row * self.pencil.width + column
        depth = self.depth.ravel()
        nearer = np.flatnonzero((distance >= self.near) & (distance < depth[pixel]))
        if not len(nearer):
            return
        pixel, distance, which = pixel[nearer], distance[nearer], which[nearer]
        np.minimum.at(depth, pixel, distance)
        won = distance == depth[pixel]
        pixel, which = pixel[won], which[won]
        normals = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        normals /= np.maximum(np.linalg.norm(normals, axis=1), 1e-30)[:, None]
        self.normal.reshape(-1, 3)[pixel] = normals[which]
        self.surface.ravel()[pixel] = surface

    def _pixels_of(self, low: Floats, high: Floats) -> tuple[int, int, int, int] | None:
        if not (low <= high).all():
            return None
        left, top = (max(0, int(np.floor(value))) for value in low)
        right = min(self.pencil.width, int(np.ceil(high[0])) + 1)
        bottom = min(self.pencil.height, int(np.ceil(high[1])) + 1)
        return (left, top, right, bottom) if left < right and top < bottom else None


def _meet(triangles: Floats, which: NDArray[np.intp], origins: Floats, directions: Floats) -> Floats:
    """How far along its ray each pair of ray and triangle meets; infinite where it does not."""
    first = triangles[:, 0]
    one, other = triangles[:, 1] - first, triangles[:, 2] - first
    normal = np.cross(one, other)
    area = np.maximum((normal * normal).sum(axis=1), 1e-300)
    along_one, along_other = np.cross(other, normal) / area[:, None], np.cross(normal, one) / area[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        facing = (normal[which] * directions).sum(axis=1)
        away = first[which] - origins
        distance = (normal[which] * away).sum(axis=1) / facing
        point = directions * distance[:, None] - away
        u, v = (along_one[which] * point).sum(axis=1), (along_other[which] * point).sum(axis=1)
        inside = (u >= -_GAP) & (v >= -_GAP) & (u + v <= 1 + _GAP)
    return np.where(inside & np.isfinite(distance), distance, np.inf)


_GAP = 1e-9
"""How far outside a triangle still belongs to it, in parts of the triangle, so that no gaps show between two."""
