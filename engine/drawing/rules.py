"""What every record of a drawing keeps, checked on records that came from elsewhere. Owns the check alone.

The limits are those of the commands; what ends up in an SVG is checked as strictly as there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache

from engine.drawing.extents import bounds_of
from engine.drawing.geometry import MAX_COORDINATE, normal_degrees
from engine.drawing.insert import MAX_FONT_SIZE, MAX_POINTS, MIN_FONT_SIZE
from engine.drawing.records import BoxObject, DrawingObject, DrawingPen, Layer, PathObject, Text
from engine.drawing.style import Style, StyleChanges
from engine.drawing.words import checked_name, checked_text
from engine.errors import InvalidArgumentError
from engine.records import Record
from engine.rules import Key, Rules

MAX_ORDER = 2**53
"""Far beyond any number of objects, and exact in every program that reads JSON."""

_LEAST_POINTS = {"polygon": 3, "line": 2, "stroke": 2}
_MOST_POINTS = {"polygon": MAX_POINTS, "line": 2, "stroke": MAX_POINTS}


def check(record: Record) -> None:
    """See `Rules.check`."""
    match record:
        case Layer():
            checked_name(record.name)
            _check_order(record.order)
        case DrawingObject():
            _check_order(record.order)
            _check_style(record.style)
            _check_figure(record)
        case DrawingPen():
            _check_style(record.style)
        case _:
            pass


def references(record: Record) -> Iterable[Key]:
    """See `Rules.references`. The focus may name what is gone."""
    return ((Layer.collection, record.layer_id),) if isinstance(record, DrawingObject) else ()


RULES = Rules(
    collections=frozenset({Layer.collection, DrawingObject.collection, DrawingPen.collection}),
    check=check,
    references=references,
    series={Layer.collection: "layer", DrawingObject.collection: "object"},
)
"""The rules of the drawing."""


def _check_order(order: int) -> None:
    if not -MAX_ORDER <= order <= MAX_ORDER:
        raise InvalidArgumentError("order is beyond every number that a drawing counts to")


@lru_cache(maxsize=4096)  # a drawing has few styles and many objects
def _check_style(style: Style) -> None:
    asked = StyleChanges(
        stroke_color=style.stroke_color,
        fill_color=style.fill_color,
        stroke_width=style.stroke_width,
        opacity=style.opacity,
    )
    if asked.checked() != asked:
        raise InvalidArgumentError("a colour is not in its normal form, such as #FF8800")


def _check_figure(item: DrawingObject) -> None:
    if isinstance(item, BoxObject):
        numbers = (*item.center, *item.size, item.rotation)
        if not all(map(math.isfinite, numbers)) or min(item.size) <= 0:
            raise InvalidArgumentError("center, size and rotation must be finite, and size positive")
        if item.rotation != normal_degrees(item.rotation):
            raise InvalidArgumentError("rotation must be above -180 and at most 180 degrees")
        if isinstance(item, Text):
            _check_text(item)
    elif isinstance(item, PathObject):
        least, most = _LEAST_POINTS[item.kind], _MOST_POINTS[item.kind]
        if not least <= len(item.points) <= most:
            raise InvalidArgumentError(f"a {item.kind} has {least} to {most} points, not {len(item.points)}")
        if not all(math.isfinite(number) for point in item.points for number in point):
            raise InvalidArgumentError("points must be finite")
    if not all(-MAX_COORDINATE <= number <= MAX_COORDINATE for number in bounds_of(item)):
        raise InvalidArgumentError(f"it reaches beyond ±{MAX_COORDINATE:.0f}")


def _check_text(item: Text) -> None:
    checked_text(item.text)
    if not MIN_FONT_SIZE <= item.font_size <= MAX_FONT_SIZE:
        raise InvalidArgumentError(f"font_size must be {MIN_FONT_SIZE:g} to {MAX_FONT_SIZE:g}")
    if not (math.isfinite(item.stretch) and item.stretch > 0):
        raise InvalidArgumentError("stretch must be finite and positive")
