from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drawing.extents import bounds_of, corners_of, painted_bounds
from engine.drawing.geometry import (
    MAX_COORDINATE,
    Bounds,
    Motion,
    Point,
    bounds_of_points,
    checked_number,
    cos_sin,
    normal_degrees,
    union_of,
)
from engine.drawing.insert import InsertBox, InsertLine, InsertText
from engine.drawing.records import Rectangle
from engine.drawing.style import StyleChanges
from engine.errors import InvalidArgumentError
from tests.engine.drawing.samples import Drawing, coordinates, extents

angles = st.floats(-720, 720)
points = st.builds(Point, coordinates, coordinates)


@pytest.mark.parametrize(("degrees", "normal"), [(0, 0), (-0.0, 0), (180, 180), (-180, 180), (270, -90), (450, 90)])
def test_an_angle_is_kept_between_minus_180_and_180(degrees: float, normal: float):
    assert normal_degrees(degrees) == normal


@given(angles)
def test_a_normal_angle_points_the_same_way(degrees: float):
    assert -180 < normal_degrees(degrees) <= 180
    assert cos_sin(degrees) == pytest.approx(
        (math.cos(math.radians(degrees)), math.sin(math.radians(degrees))), abs=1e-12
    )


def test_quarter_turns_are_exact():
    turn = Motion(origin=Point(0.1, 0.2), rotation_degrees=90)
    corner = [Point(3.3, 4.7)]

    for _ in range(4):
        corner = turn.move_all(corner)

    assert corner[0] == pytest.approx(Point(3.3, 4.7), abs=1e-12)
    assert cos_sin(90) == (0.0, 1.0)


def test_positive_rotation_is_counter_clockwise():
    (moved,) = Motion(origin=Point(0, 0), rotation_degrees=90).move_all([Point(1, 0)])

    assert moved == Point(0, 1)


def test_a_motion_scales_then_turns_then_moves():
    motion = Motion(origin=Point(0, 0), dx=10, rotation_degrees=90, scale_x=2)

    assert motion.move_all([Point(3, 0)]) == [Point(10, 6)]


@given(points, points, angles, st.floats(0.1, 10))
def test_a_motion_about_a_point_leaves_that_point_in_place(origin: Point, point: Point, angle: float, scale: float):
    motion = Motion(origin=origin, rotation_degrees=angle, scale_x=scale, scale_y=scale)

    assert motion.move_all([origin]) == [origin]
    (moved,) = motion.move_all([point])
    assert math.dist(moved, origin) == pytest.approx(scale * math.dist(point, origin), abs=1e-6)


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf, MAX_COORDINATE * 1.001])
def test_a_number_that_no_document_can_hold_is_refused_by_name(number: float):
    with pytest.raises(InvalidArgumentError, match="width must be a finite number"):
        checked_number(number, "width")


def test_touching_boxes_overlap():
    assert Bounds(0, 0, 1, 1).overlaps(Bounds(1, 1, 2, 2))
    assert not Bounds(0, 0, 1, 1).overlaps(Bounds(1.0001, 0, 2, 1))


def test_the_union_of_no_boxes_is_none():
    assert union_of([]) is None
    assert union_of([Bounds(0, 0, 1, 1), Bounds(-1, 2, 0, 3)]) == Bounds(-1, 0, 1, 3)


@given(coordinates, coordinates, extents, extents, angles)
def test_the_bounds_of_a_turned_rectangle_are_those_of_its_corners(
    x: float, y: float, width: float, height: float, angle: float
):
    made = Drawing().insert(InsertBox(kind="rectangle", x=x, y=y, width=width, height=height, rotation_degrees=angle))
    assert isinstance(made, Rectangle)

    assert bounds_of(made) == pytest.approx(bounds_of_points(corners_of(made)), abs=1e-6)


@given(extents, extents, angles)
def test_the_bounds_of_a_turned_ellipse_hug_its_outline(width: float, height: float, angle: float):
    made = Drawing().insert(
        InsertBox(kind="ellipse", x=-width / 2, y=-height / 2, width=width, height=height, rotation_degrees=angle)
    )
    cos, sin = cos_sin(angle)
    outline = [
        Point(width / 2 * c * cos - height / 2 * s * sin, width / 2 * c * sin + height / 2 * s * cos)
        for c, s in ((math.cos(t / 50), math.sin(t / 50)) for t in range(315))
    ]

    assert bounds_of(made) == pytest.approx(bounds_of_points(outline), abs=1e-3 * max(width, height))


def test_paint_reaches_half_the_stroke_width_beyond_the_outline_but_not_for_text():
    drawing = Drawing()
    line = drawing.insert(InsertLine(x1=0, y1=0, x2=10, y2=0, style=StyleChanges(stroke_width=4)))
    text = drawing.insert(InsertText(x=0, y=0, text="Hi", style=StyleChanges(stroke_width=4)))

    assert painted_bounds(line) == Bounds(-2, -2, 12, 2)
    assert painted_bounds(text) == bounds_of(text)
