"""The rules of the drawing hold for all that its commands make, and refuse what they would not."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drawing.geometry import MAX_COORDINATE, Point
from engine.drawing.records import DrawingFocus, DrawingPen, Layer, Line, Polygon, Rectangle, Stroke, Text
from engine.drawing.rules import MAX_ORDER, RULES
from engine.drawing.style import Style
from engine.errors import EngineError, InvalidArgumentError
from engine.records import Record
from engine.world import Command
from tests.engine.drawing.samples import EXAMPLES, Drawing, asides, steps

BOX = Rectangle(id="object-1", layer_id="layer-1", order=1, style=Style(), center=Point(0, 0), size=Point(2, 1))
TEXT = Text(
    id="object-1",
    layer_id="layer-1",
    order=1,
    style=Style(),
    center=Point(0, 0),
    size=Point(2, 1),
    text="a",
    font_size=1,
)


def path(kind: type[Line | Polygon | Stroke], *points: tuple[float, float]) -> Record:
    return kind(id="object-1", layer_id="layer-1", order=1, style=Style(), points=tuple(Point(*p) for p in points))


@EXAMPLES
@given(st.lists(steps | asides, max_size=14))
def test_whatever_is_drawn_keeps_the_rules(commands: list[Command[object]]) -> None:
    drawing = Drawing()
    for command in commands:
        with suppress(EngineError):
            drawing.do(command)
    for record in drawing.records().values():
        if record.collection in RULES.collections:
            RULES.check(record)
    assert all(drawing.records()[key] for r in drawing.records().values() for key in RULES.references(r))


@pytest.mark.parametrize(
    "record",
    [
        replace(BOX, size=Point(0, 1)),
        replace(BOX, size=Point(math.inf, 1)),
        replace(BOX, center=Point(math.nan, 0)),
        replace(BOX, center=Point(MAX_COORDINATE, 0)),
        replace(BOX, rotation=-180.0),
        replace(BOX, rotation=math.nan),
        replace(BOX, order=MAX_ORDER + 1),
        replace(BOX, style=Style(fill_color="#ff0000")),
        replace(BOX, style=Style(fill_color='red" onload="x')),
        replace(BOX, style=Style(stroke_width=-1.0)),
        replace(BOX, style=Style(stroke_width=math.nan)),
        replace(BOX, style=Style(opacity=2.0)),
        replace(TEXT, text="\x00"),
        replace(TEXT, text=" "),
        replace(TEXT, font_size=0.0),
        replace(TEXT, font_size=math.nan),
        replace(TEXT, stretch=0.0),
        replace(TEXT, stretch=math.nan),
        path(Line, (0, 0)),
        path(Line, (0, 0), (1, 1), (2, 2)),
        path(Polygon, (0, 0), (1, 1)),
        path(Stroke, (0, 0)),
        path(Stroke, (0, 0), (math.nan, 1)),
        path(Stroke, *[(number, 0) for number in range(10_001)]),
        Layer(id="layer-1", name="a\nb", order=1),
        Layer(id="layer-1", name="", order=1),
        Layer(id="layer-1", name="a", order=-(10**30)),
        DrawingPen(style=Style(opacity=math.inf)),
    ],
    ids=range(28),
)
def test_a_record_that_no_command_makes_is_refused(record: Record) -> None:
    with pytest.raises(InvalidArgumentError):
        RULES.check(record)


def test_an_object_needs_its_layer_and_the_focus_needs_nothing() -> None:
    assert list(RULES.references(BOX)) == [("drawing-layer", "layer-1")]
    assert list(RULES.references(DrawingFocus(active_layer_id="layer-9", selection=("object-9",)))) == []
