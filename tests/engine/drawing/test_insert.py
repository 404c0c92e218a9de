from __future__ import annotations

import math

import pytest

from engine.drawing.document import focus_of
from engine.drawing.font import text_size
from engine.drawing.geometry import Bounds, Point
from engine.drawing.insert import (
    InsertBox,
    InsertCommand,
    InsertLine,
    InsertPolygon,
    InsertStroke,
    InsertText,
)
from engine.drawing.layers import ArrangeLayer
from engine.drawing.pen import SetDefaults, SetTool
from engine.drawing.records import BoxObject, DrawingTool, Polygon, Stroke, Text
from engine.drawing.style import Style, StyleChanges
from engine.errors import InvalidArgumentError
from tests.engine.drawing.samples import Drawing


@pytest.mark.parametrize(
    ("width", "height", "center"), [(10, 4, (5, 2)), (-10, 4, (-5, 2)), (10, -4, (5, -2)), (-10, -4, (-5, -2))]
)
def test_width_goes_right_and_height_goes_up_where_they_are_positive(
    width: float, height: float, center: tuple[float, float]
):
    made = Drawing().insert(InsertBox(kind="rectangle", x=0, y=0, width=width, height=height))

    assert isinstance(made, BoxObject)
    assert (made.center, made.size) == (center, (10, 4))


def test_a_new_object_is_on_top_and_the_whole_selection():
    drawing = Drawing()
    first, second = drawing.rectangle(), drawing.rectangle()

    assert drawing.ids() == [first, second]
    assert focus_of(drawing.table).selection == (second,)


def test_a_new_object_has_the_default_style_but_for_what_is_given():
    drawing = Drawing()
    drawing.do(SetDefaults(StyleChanges(stroke_color="#010203", stroke_width=9)))

    made = drawing.insert(
        InsertBox(kind="ellipse", x=0, y=0, width=1, height=1, style=StyleChanges(stroke_width=3, fill_color="#ABCDEF"))
    )

    assert made.style == Style(stroke_color="#010203", stroke_width=3, fill_color="#ABCDEF")


def test_who_names_a_filling_gets_it_though_filling_is_off_by_default():
    drawing = Drawing()
    drawing.do(SetDefaults(StyleChanges(fill_enabled=False)))
    named = InsertBox(kind="ellipse", x=0, y=0, width=1, height=1, style=StyleChanges(fill_color="#ABCDEF"))

    assert drawing.insert(named).style.fill_enabled
    assert not drawing.object(drawing.rectangle()).style.fill_enabled


def test_a_polygon_may_repeat_its_first_corner_and_be_moved():
    made = Drawing().insert(InsertPolygon(points=((0, 0), (4, 0), (0, 4), (0, 0)), dx=1, dy=2))

    assert isinstance(made, Polygon)
    assert made.points == ((1, 2), (5, 2), (1, 6))


def test_text_stands_on_its_lower_left_corner_and_is_as_large_as_measured():
    made = Drawing().do(InsertText(x=10, y=20, text="Hello\nyou", font_size=10))

    width, height = text_size("Hello\nyou")
    assert made.bounds == pytest.approx(Bounds(10, 20, 10 + 10 * width, 20 + 10 * height))
    assert height == 2.4


def test_text_can_be_placed_by_its_middle_and_turned_about_it():
    made = Drawing().insert(InsertText(x=10, y=20, text="Hello", anchor="center", rotation_degrees=-90))

    assert isinstance(made, Text)
    assert (made.center, made.rotation) == (Point(10, 20), -90)


def test_points_of_a_stroke_that_are_too_near_are_dropped_and_counted():
    made = Drawing().do(InsertStroke(points=((0, 0), (0.3, 0), (0.36, 0), (0.5, 0), (5, 0))))

    assert isinstance(made.item, Stroke)
    assert made.item.points == ((0, 0), (0.36, 0), (5, 0))
    assert made.dropped_points == 2


@pytest.mark.parametrize(("active", "width"), [("select", 2), ("brush", 4), ("marker", 7), ("pen", 2)])
def test_a_stroke_is_drawn_with_the_active_tool_where_that_draws_strokes(active: DrawingTool, width: float):
    drawing = Drawing()
    drawing.do(SetTool(active))

    assert drawing.insert(InsertStroke(points=((0, 0), (5, 0)))).style.stroke_width == width


def test_a_width_and_an_opacity_that_are_given_are_taken_as_they_are():
    style = StyleChanges(stroke_width=1, opacity=1)
    made = Drawing().insert(InsertStroke(points=((0, 0), (5, 0)), tool="marker", style=style))

    assert made.style == Style(stroke_width=1, opacity=1)


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (InsertBox(kind="rectangle", x=0, y=0, width=0.0001, height=1), "width must be at least 0.001"),
        (InsertBox(kind="ellipse", x=0, y=0, width=1, height=0), "height must be at least 0.001"),
        (InsertBox(kind="ellipse", x=math.nan, y=0, width=1, height=1), "x must be a finite number"),
        (InsertBox(kind="ellipse", x=999_999, y=0, width=9, height=9), "would reach beyond ±1000000"),
        (InsertBox(kind="rectangle", x=0, y=0, width=1, height=1, rotation_degrees=math.inf), "rotation_degrees must"),
        (InsertPolygon(points=((0, 0), (1, 1))), "at least 3 different corners; the 2 points given"),
        (
            InsertPolygon(points=((0, 0), (1, 1), (0, 0), (1, 1))),
            "at least 3 different corners; the 4 points given lie at 2",
        ),
        (InsertPolygon(points=((0, 0), (1e-5, 0), (0, 1e-5))), "all lie within 0.001"),
        (InsertPolygon(points=((0, 0), (1, math.inf), (0, 1))), r"points\[1\].y must be a finite number"),
        (InsertText(x=0, y=0, text=" \n "), "text must hold something that can be seen"),
        (InsertText(x=0, y=0, text="bell\a"), r"character 4 is U\+0007"),
        (InsertText(x=0, y=0, text="half \ud800"), r"U\+D800"),
        (InsertText(x=0, y=0, text="n" * 2001), "at most 2000 characters"),
        (InsertText(x=0, y=0, text="a", font_size=0), "font_size must be 0.01 to"),
        (InsertText(x=0, y=0, text="a", style=StyleChanges(fill_color="#FFFFFF")), "give stroke_color instead"),
        (InsertLine(x1=1, y1=1, x2=1, y2=1.0005), "at least 0.001 document units long"),
        (InsertLine(x1=0, y1=0, x2=1, y2=1, style=StyleChanges(fill_color="#FFFFFF")), "A line has no filling"),
        (InsertLine(x1=0, y1=0, x2=1, y2=1, style=StyleChanges(stroke_width=0)), "line of width 0 cannot be seen"),
        (InsertStroke(points=((0, 0), (0.1, 0))), "of 2 given, 1 could be kept"),
        (InsertStroke(points=()), "of 0 given, 0 could be kept"),
        (InsertStroke(points=((0, 0), (5, 5)), style=StyleChanges(fill_enabled=True)), "A stroke has no filling"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_changes_nothing(command: InsertCommand, text: str):
    drawing = Drawing()
    drawing.rectangle()
    before = drawing.records()

    with pytest.raises(InvalidArgumentError, match=text):
        drawing.do(command)

    assert drawing.records() == before


def test_a_shape_may_have_no_outline():
    made = Drawing().do(InsertBox(kind="rectangle", x=0, y=0, width=1, height=1, style=StyleChanges(stroke_width=0)))

    assert not made.is_invisible


@pytest.mark.parametrize(
    "style",
    [
        StyleChanges(opacity=0),
        StyleChanges(stroke_width=0, fill_enabled=False),
        StyleChanges(stroke_color="#00000000", fill_color="#FFFFFF00"),
    ],
)
def test_what_cannot_be_seen_says_so(style: StyleChanges):
    made = Drawing().do(InsertBox(kind="rectangle", x=0, y=0, width=1, height=1, style=style))

    assert made.is_invisible


def test_what_is_drawn_on_a_hidden_layer_says_that_it_cannot_be_seen():
    drawing = Drawing()
    drawing.do(ArrangeLayer(layer=1, visible=False))

    assert drawing.do(InsertLine(x1=0, y1=0, x2=1, y2=1)).is_invisible
