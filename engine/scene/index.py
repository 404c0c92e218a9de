"""What a scene is asked all the time, kept ready: its objects in order, the box around each, surfaces of terrains.

Owns derived data only; follows the table change by change. Taking a change back leaves the index as it was.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import ClassVar

from engine.box_grid import BoxGrid, Sides
from engine.records import Record
from engine.scene.height_field import HeightField, terrain_bounds
from engine.scene.records import Body, Light, Terrain
from engine.scene.shape import bounds_of
from engine.scene.vector import Box

SortKey = tuple[int, str]

CELL_SIDE = 4.0
"""Of the finest cells that bodies are sorted into by x and z, in metres: some boxes that stand close together."""


def order_of(record_id: str) -> SortKey:
    """Sorts ids of one series by their numbers, which is the order of their creation: `body-9` before `body-10`."""
    return len(record_id), record_id


class SceneIndex:
    """The bodies, terrains and lights of a scene. Read it within the owner's step and never change what it gives."""

    collections: ClassVar[frozenset[str]] = frozenset({Body.collection, Terrain.collection, Light.collection})

    def __init__(self) -> None:
        self._ids: dict[type[Record], list[SortKey]] = {Body: [], Terrain: [], Light: []}
        self._boxes: dict[str, Box] = {}
        self._bodies = BoxGrid(CELL_SIDE)
        self._kinds: Counter[str] = Counter()
        self._fields: dict[str, HeightField] = {}

    def ids(self, kind: type[Record]) -> list[str]:
        """The ids of every `Body`, `Terrain` or `Light`, in order of creation."""
        return [record_id for _, record_id in self._ids[kind]]

    def page(self, kind: type[Record], offset: int, limit: int) -> list[str]:
        """Up to `limit` of those ids, `offset` of them left out."""
        return [record_id for _, record_id in self._ids[kind][offset : offset + limit]]

    def count(self, kind: type[Record]) -> int:
        """How many there are of `Body`, `Terrain` or `Light`."""
        return len(self._ids[kind])

    @property
    def boxes(self) -> Mapping[str, Box]:
        """The box around each body and each terrain's surface, by id."""
        return self._boxes

    @property
    def kinds(self) -> Mapping[str, int]:
        """How many bodies there are of each shape that occurs."""
        return self._kinds

    def touching(self, kind: type[Record], box: Box) -> list[str]:
        """The ids of the bodies or terrains whose box shares at least a point with that one, in order of creation."""
        (lx, ly, lz), (hx, hy, hz) = box
        boxes = self._boxes
        near = self._bodies.near(_footprint(box)) if kind is Body else self.ids(kind)
        found = (
            record_id
            for record_id in near
            if (b := boxes[record_id])[0][0] <= hx
            and b[1][0] >= lx
            and b[0][1] <= hy
            and b[1][1] >= ly
            and b[0][2] <= hz
            and b[1][2] >= lz
        )
        return sorted(found, key=order_of)

    def field(self, terrain: Terrain) -> HeightField:
        """The surface of a terrain of this scene, unpacked once."""
        field = self._fields.get(terrain.id)
        if field is None or field.terrain is not terrain:
            field = self._fields[terrain.id] = HeightField(terrain)
        return field

    def apply(self, before: Record | None, after: Record | None) -> None:
        """See `engine.records.Index`."""
        if before is not None and after is None:
            keys = self._keys(before)
            del keys[bisect_left(keys, order_of(before.id))]
        elif after is not None and before is None:
            keys = self._keys(after)
            key = order_of(after.id)
            if keys and key < keys[-1]:
                insort(keys, key)
            else:
                keys.append(key)
        if isinstance(before, Body):
            self._kinds[before.shape] -= 1
            if not self._kinds[before.shape]:
                del self._kinds[before.shape]
            self._bodies.discard(before.id, _footprint(self._boxes[before.id]))
        if isinstance(before, Terrain):
            self._fields.pop(before.id, None)
        if isinstance(after, Body):
            self._kinds[after.shape] += 1
            box = self._boxes[after.id] = bounds_of(after)
            self._bodies.add(after.id, _footprint(box))
        elif isinstance(after, Terrain):
            self._boxes[after.id] = terrain_bounds(after)
        elif before is not None and after is None:
            self._boxes.pop(before.id, None)

    def _keys(self, record: Record) -> list[SortKey]:
        return self._ids[type(record)]


def _footprint(box: Box) -> Sides:
    (left, _, back), (right, _, front) = box
    return left, back, right, front


def in_order(ids: Sequence[str]) -> list[str]:
    """The ids by kind (bodies, lights, terrains), and within a kind in order of creation."""
    return sorted(ids, key=lambda record_id: (record_id.partition("-")[0], order_of(record_id)))
