"""What a drawing is asked all the time, kept ready: the order of painting, the bounds and the counts of each layer.

Owns derived data only; follows the table change by change, so that neither inserting nor inspecting looks at every
object. Taking a change back leaves the index as it was.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from typing import ClassVar

from engine.box_grid import BoxGrid
from engine.drawing.extents import bounds_of, paint_reach
from engine.drawing.geometry import Bounds, union_of
from engine.drawing.records import DrawingObject, Layer
from engine.records import Record

CELL_SIDE = 64.0
"""Of the finest cells that objects are sorted into, in document units; some shapes of a usual drawing fill one."""
SORT_LIMIT = 4_000
"""Ids that are put in order by sorting; with more, going through all objects in order is as fast."""


class _Around:
    """The box around boxes that come and go. Found anew only after one went that may have been at its border."""

    def __init__(self) -> None:
        self._box: Bounds | None = None
        # At first not, so that an index that is built costs nothing for a box that nobody asks for.
        self._is_known = False

    def found_by(self, find: Callable[[], Bounds | None]) -> Bounds | None:
        """The box around all of them; where it is not known, as this finds it. None where there is none."""
        if not self._is_known:
            self._box = find()
            self._is_known = True
        return self._box

    def add(self, box: Bounds) -> None:
        """Follow a box that came."""
        if self._is_known:
            self._box = box if self._box is None else self._box.union(box)

    def discard(self, gone: Bounds) -> None:
        """Follow a box that went."""
        around = self._box
        if self._is_known and around is not None:
            left, bottom, right, top = gone
            self._is_known = left > around.left and bottom > around.bottom and right < around.right and top < around.top


class LayerContent:
    """The objects of one layer: ids in order of painting, bounds by id, counts by kind. Changed by the index alone."""

    def __init__(self) -> None:
        self._keys: list[tuple[int, str]] = []
        self._orders: dict[str, int] = {}
        self._grid = BoxGrid(CELL_SIDE)
        self._bounds: dict[str, Bounds] = {}
        self._reach: dict[str, float] = {}
        self._kinds: Counter[str] = Counter()
        self._around = _Around()
        self._painted = _Around()

    def __len__(self) -> int:
        return len(self._keys)

    def ids(self) -> Iterator[str]:
        """The ids from bottom to top."""
        return (object_id for _, object_id in self._keys)

    def page(self, offset: int, limit: int) -> list[str]:
        """Up to `limit` ids from bottom to top, `offset` of them left out."""
        return [object_id for _, object_id in self._keys[offset : offset + limit]]

    def touching(self, box: Bounds) -> list[str]:
        """The ids of the objects whose true bounds share at least a point with the box, from bottom to top."""
        left, bottom, right, top = box
        bounds = self._bounds
        return self.in_order(
            {
                object_id
                for object_id in self._grid.near(box)
                if (b := bounds[object_id])[0] <= right and b[2] >= left and b[1] <= top and b[3] >= bottom
            }
        )

    def in_order(self, ids: AbstractSet[str]) -> list[str]:
        """Those of the ids that are of this layer, from bottom to top."""
        if len(ids) > SORT_LIMIT:
            return [object_id for _, object_id in self._keys if object_id in ids]
        return sorted(ids & self._orders.keys(), key=self._orders.__getitem__)

    def painted_in(self, box: Bounds) -> list[str]:
        """The ids of the objects whose paint may reach into the box, from bottom to top."""
        left, bottom, right, top = box
        bounds, reach = self._bounds, self._reach
        return [
            object_id
            for _, object_id in self._keys
            if (b := bounds[object_id])[0] - (r := reach[object_id]) <= right
            and b[2] + r >= left
            and b[1] - r <= top
            and b[3] + r >= bottom
        ]

    @property
    def top_order(self) -> int:
        """The order of the topmost object; 0 where there is none."""
        return self._keys[-1][0] if self._keys else 0

    @property
    def bounds(self) -> Mapping[str, Bounds]:
        """The true bounds of each object, by id, in no promised order."""
        return self._bounds

    @property
    def kinds(self) -> Mapping[str, int]:
        """How many objects there are of each kind that occurs."""
        return self._kinds

    @property
    def around(self) -> Bounds | None:
        """The box around all objects; None where there is none."""
        return self._around.found_by(lambda: union_of(self._bounds.values()))

    @property
    def painted_around(self) -> Bounds | None:
        """The box around all that is painted of the objects; None where there is none."""
        return self._painted.found_by(self._find_painted)

    def _find_painted(self) -> Bounds | None:
        boxes, reach = self._bounds.items(), self._reach
        if not boxes:
            return None
        # Number by number: a box for each object would be work for the garbage collector, which stops everything.
        return Bounds(
            min(box[0] - reach[object_id] for object_id, box in boxes),
            min(box[1] - reach[object_id] for object_id, box in boxes),
            max(box[2] + reach[object_id] for object_id, box in boxes),
            max(box[3] + reach[object_id] for object_id, box in boxes),
        )

    def add(self, item: DrawingObject) -> None:
        """Follow an object that came."""
        key = (item.order, item.id)
        if self._keys and key < self._keys[-1]:
            insort(self._keys, key)
        else:
            self._keys.append(key)
        self._orders[item.id] = item.order
        self._kinds[item.kind] += 1
        self._set_bounds(item.id, bounds_of(item), paint_reach(item))

    def discard(self, item: DrawingObject) -> None:
        """Follow an object that went."""
        key = (item.order, item.id)
        if self._keys[-1] == key:
            self._keys.pop()
        else:
            del self._keys[bisect_left(self._keys, key)]
        del self._orders[item.id]
        self._kinds[item.kind] -= 1
        if not self._kinds[item.kind]:
            del self._kinds[item.kind]
        self._drop_bounds(item.id)

    def move(self, item: DrawingObject) -> None:
        """Follow an object that stayed in its place of the order but may have another outline or stroke."""
        bounds, reach = bounds_of(item), paint_reach(item)
        if bounds != self._bounds[item.id] or reach != self._reach[item.id]:
            self._drop_bounds(item.id)
            self._set_bounds(item.id, bounds, reach)

    def _set_bounds(self, object_id: str, bounds: Bounds, reach: float) -> None:
        self._bounds[object_id] = bounds
        self._reach[object_id] = reach
        self._grid.add(object_id, bounds)
        self._around.add(bounds)
        self._painted.add(bounds.grown(reach))

    def _drop_bounds(self, object_id: str) -> None:
        gone = self._bounds.pop(object_id)
        self._grid.discard(object_id, gone)
        self._around.discard(gone)
        self._painted.discard(gone.grown(self._reach.pop(object_id)))


class DrawingIndex:
    """The layers in order, and the content of each. Read it within the owner's step and never change what it gives."""

    collections: ClassVar[frozenset[str]] = frozenset({Layer.collection, DrawingObject.collection})

    def __init__(self) -> None:
        self._layers: dict[str, Layer] = {}
        self._contents: dict[str, LayerContent] = {}

    def layers(self) -> list[Layer]:
        """The layers from bottom to top."""
        return sorted(self._layers.values(), key=lambda layer: (layer.order, layer.id))

    def content(self, layer_id: str) -> LayerContent:
        """The objects of a layer; empty for a layer that has none or does not exist."""
        return self._contents.get(layer_id) or LayerContent()

    def apply(self, before: Record | None, after: Record | None) -> None:
        """See `engine.records.Index`."""
        if isinstance(after, Layer):
            self._layers[after.id] = after
        elif isinstance(before, Layer):
            del self._layers[before.id]
        old = before if isinstance(before, DrawingObject) else None
        new = after if isinstance(after, DrawingObject) else None
        if old is not None and new is not None and (old.layer_id, old.order) == (new.layer_id, new.order):
            self._contents[new.layer_id].move(new)
            return
        if old is not None:
            content = self._contents[old.layer_id]
            content.discard(old)
            if not len(content):
                del self._contents[old.layer_id]
        if new is not None:
            content = self._contents.get(new.layer_id)
            if content is None:
                content = self._contents[new.layer_id] = LayerContent()
            content.add(new)
