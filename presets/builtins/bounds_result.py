"""A box of the canvas as tools answer with it, and how they write a number down."""

from __future__ import annotations

from engine.drawing.geometry import Bounds
from presets.schema import ToolResult

_DECIMALS = 6
"""A millionth of any unit, which nobody can see, so that numbers stay readable."""


def shown(number: float) -> float:
    """The number as it is written down."""
    return round(number, _DECIMALS) + 0.0


class BoundsResult(ToolResult):
    """A box whose sides are parallel to the axes; top is above bottom."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def of(cls, bounds: Bounds) -> BoundsResult:
        """Write a box down."""
        left, bottom, right, top = map(shown, bounds)
        return cls(left=left, bottom=bottom, right=right, top=top)
