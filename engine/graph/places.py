"""Free places for nodes: a raster that winds outwards around the origin. Owns where a node goes when nobody says where.

Follows the positions of the nodes one by one, and always gives the free place that comes first in the spiral, whatever
happened before, so the same map gives the same place.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Iterator

from engine.drawing.geometry import Point

PLACE_WIDTH = 260.0
"""From place to place along x, in graph units: the widest node, and room for an arrow beside it."""
PLACE_HEIGHT = 130.0
"""From place to place along y, in graph units: the highest node, and room for an arrow and its label below it."""
TAKEN_WIDTH = 240.0
"""A node this near along x, middle to middle, takes a place; a little less than a step, so neighbours do not."""
TAKEN_HEIGHT = 110.0
"""The same along y."""

_Cell = tuple[int, int]


class Places:
    """Which places of the raster are taken, and which free one comes first."""

    def __init__(self) -> None:
        self._taken: Counter[_Cell] = Counter()
        self._freed: list[int] = []
        # Every free place before this number in the spiral is in the heap.
        self._frontier = 0

    def first_free(self) -> Point:
        """The middle of the free place that comes first in the spiral."""
        while self._freed:
            cell = _cell_at(self._freed[0])
            if cell not in self._taken:
                return _middle(cell)
            heapq.heappop(self._freed)
        while _cell_at(self._frontier) in self._taken:
            self._frontier += 1
        return _middle(_cell_at(self._frontier))

    def is_free(self, position: Point) -> bool:
        """Whether no place that a node at the position would take is taken."""
        return not any(cell in self._taken for cell in _cells_around(position))

    def take(self, position: Point) -> None:
        """Follow a node that came."""
        for cell in _cells_around(position):
            self._taken[cell] += 1

    def free(self, position: Point) -> None:
        """Follow a node that went."""
        for cell in _cells_around(position):
            self._taken[cell] -= 1
            if not self._taken[cell]:
                del self._taken[cell]
                number = _number_of(cell)
                if number < self._frontier:
                    heapq.heappush(self._freed, number)


def _middle(cell: _Cell) -> Point:
    return Point(cell[0] * PLACE_WIDTH, cell[1] * PLACE_HEIGHT)


def _cells_around(position: Point) -> Iterator[_Cell]:
    x, y = position
    left, right = math.ceil((x - TAKEN_WIDTH) / PLACE_WIDTH), math.floor((x + TAKEN_WIDTH) / PLACE_WIDTH)
    low, high = math.ceil((y - TAKEN_HEIGHT) / PLACE_HEIGHT), math.floor((y + TAKEN_HEIGHT) / PLACE_HEIGHT)
    for column in range(left, right + 1):
        for row in range(low, high + 1):
            yield column, row


def _cell_at(number: int) -> _Cell:
    """The cell of that number in the spiral: right, then counter-clockwise in rings."""
    if number == 0:
        return 0, 0
    ring = (math.isqrt(number) + 1) // 2
    side, along = divmod(number - (2 * ring - 1) ** 2, 2 * ring)
    match side:
        case 0:
            return ring, along - ring + 1
        case 1:
            return ring - 1 - along, ring
        case 2:
            return -ring, ring - 1 - along
        case _:
            return along - ring + 1, -ring


def _number_of(cell: _Cell) -> int:
    column, row = cell
    ring = max(abs(column), abs(row))
    if ring == 0:
        return 0
    first = (2 * ring - 1) ** 2
    if column == ring and row > -ring:
        return first + row + ring - 1
    if row == ring:
        return first + 2 * ring + ring - 1 - column
    if column == -ring:
        return first + 4 * ring + ring - 1 - row
    return first + 6 * ring + column + ring - 1
