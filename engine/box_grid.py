"""Boxes in the plane by where they are. Owns finding those near a place without a look at each of them.

Each box lies in one cell of a grid: of the finest whose cells are larger than it, so that it reaches no further than
into the next cells. Knows nothing of what the boxes are around.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

Sides = tuple[float, float, float, float]
"""Least x, least y, greatest x, greatest y."""

_Cell = tuple[int, int]


class BoxGrid:
    """Ids with a box each. Adding, discarding and finding cost what is added, discarded and found."""

    def __init__(self, finest: float) -> None:
        """`finest` is about the side of the smallest cells: the length within which some dozen boxes may lie."""
        self._least_level = math.frexp(finest)[1]
        self._levels: dict[int, dict[_Cell, set[str]]] = {}

    def add(self, member: str, sides: Sides) -> None:
        """Put in an id that is not in it."""
        level, cell = self._place(sides)
        cells = self._levels.setdefault(level, {})
        members = cells.get(cell)
        if members is None:
            cells[cell] = {member}
        else:
            members.add(member)

    def discard(self, member: str, sides: Sides) -> None:
        """Take out an id that is in it with that box."""
        level, cell = self._place(sides)
        cells = self._levels[level]
        members = cells[cell]
        members.discard(member)
        if not members:
            del cells[cell]
            if not cells:
                del self._levels[level]

    def near(self, sides: Sides) -> Iterator[str]:
        """The ids of all boxes that touch that one, and of some that only lie near it, in no promised order."""
        left, bottom, right, top = sides
        for level, cells in self._levels.items():
            side = 2.0**level
            first, last = math.floor(left / side) - 1, math.floor(right / side)
            low, high = math.floor(bottom / side) - 1, math.floor(top / side)
            if (last - first + 1) * (high - low + 1) > len(cells):
                for (column, row), members in cells.items():
                    if first <= column <= last and low <= row <= high:
                        yield from members
                continue
            for column in range(first, last + 1):
                for row in range(low, high + 1):
                    yield from cells.get((column, row), ())

    def _place(self, sides: Sides) -> tuple[int, _Cell]:
        left, bottom, right, top = sides
        # The power of two above the extent; dividing by it is exact, so no box falls between two cells.
        level = max(self._least_level, math.frexp(max(right - left, top - bottom))[1])
        side = 2.0**level
        return level, (math.floor(left / side), math.floor(bottom / side))
