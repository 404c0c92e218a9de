from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drawing.extents import bounds_of
from engine.drawing.geometry import Bounds, Point
from engine.drawing.insert import InsertBox, InsertLine, InsertPolygon, InsertStroke, InsertText
from engine.drawing.records import BoxObject, PathObject, Text
from engine.drawing.selection import Select
from engine.drawing.transform import TransformSelection
from engine.errors import ConflictError, EngineError, InvalidArgumentError
from tests.engine.drawing.samples import EXAMPLES, Drawing, coordinates, inserts


def box_of(drawing: Drawing, object_id: str) -> BoxObject:
    item = drawing.object(object_id)
    assert isinstance(item, BoxObject)
    return item


def test_a_shape_is_scaled_and_turned_about_the_middle_of_the_selection():
    drawing = Drawing()
    made = drawing.rectangle(0, 0, 10, 4)

    done = drawing.do(TransformSelection(rotation_degrees=90, scale=0.5))

    shape = box_of(drawing, made)
    assert (shape.center, shape.size, shape.rotation) == ((5, 2), (5, 2), 90)
    assert (done.count, done.bounds, done.origin) == (1, Bounds(4, -0.5, 6, 4.5), (5, 2))


def test_several_objects_keep_their_places_to_each_other():
    drawing = Drawing()
    left, right = drawing.rectangle(0, 0, 10, 10), drawing.rectangle(90, 0, 10, 10)
    drawing.select(left, right)

    drawing.do(TransformSelection(rotation_degrees=90))

    assert box_of(drawing, left).center == pytest.approx(Point(50, -40))
    assert box_of(drawing, right).center == pytest.approx(Point(50, 50))


def test_scale_comes_before_turning_and_turning_before_moving():
    drawing = Drawing()
    made = drawing.insert(InsertLine(x1=1, y1=0, x2=2, y2=0)).id

    drawing.do(TransformSelection(dx=10, dy=1, rotation_degrees=90, scale_x=3, scale_y=1, origin=(0, 0)))

    item = drawing.object(made)
    assert isinstance(item, PathObject)
    assert item.points == ((10, 4), (10, 7))


def test_the_stroke_width_stays():
    drawing = Drawing()
    made = drawing.rectangle()

    drawing.do(TransformSelection(scale=3))

    assert drawing.object(made).style.stroke_width == 2


def test_text_grows_with_its_box():
    drawing = Drawing()
    made = drawing.insert(InsertText(x=0, y=0, text="Hello", font_size=10)).id
    before = box_of(drawing, made).size

    drawing.do(TransformSelection(scale_x=3, scale_y=2))

    item = drawing.object(made)
    assert isinstance(item, Text)
    assert (item.font_size, item.stretch, item.size) == (20, 1.5, (before.x * 3, before.y * 2))


def test_a_turned_box_scales_evenly_but_not_unevenly():
    drawing = Drawing()
    made = drawing.rectangle()
    drawing.do(TransformSelection(rotation_degrees=30))

    with pytest.raises(InvalidArgumentError, match=r"object-1 is a rectangle turned by 30 degrees; scaled unevenly"):
        drawing.do(TransformSelection(scale_x=2))
    drawing.do(TransformSelection(scale=2))

    assert box_of(drawing, made).size == (20, 8)


def test_a_turned_polygon_scales_unevenly():
    drawing = Drawing()
    drawing.insert(InsertPolygon(points=((0, 0), (4, 0), (0, 4)), rotation_degrees=30))
    before = bounds_of(drawing.object("object-1"))

    done = drawing.do(TransformSelection(scale_x=2))

    assert done.bounds.width == pytest.approx(2 * before.width)
    assert done.bounds.height == pytest.approx(before.height)


@pytest.mark.parametrize(
    ("transform", "text"),
    [
        (TransformSelection(), "changes nothing"),
        (TransformSelection(rotation_degrees=720, scale_x=1), "changes nothing"),
        (TransformSelection(scale=0), "scale must be greater than 0"),
        (TransformSelection(scale_x=-1), "scale_x must be greater than 0"),
        (TransformSelection(scale_y=math.nan), "scale_y must be a finite number"),
        (TransformSelection(dx=math.inf), "dx must be a finite number"),
        (TransformSelection(rotation_degrees=math.nan), "rotation_degrees must be a finite number"),
        (TransformSelection(origin=(0, math.inf), scale=2), "origin.y must be a finite number"),
        (TransformSelection(dx=999_999), "object-1 would reach beyond ±1000000"),
        (TransformSelection(scale=1_000_000), "would reach beyond"),
        (TransformSelection(scale=0.0001), "would get an extent of 0.0004"),
    ],
)
def test_a_transform_that_cannot_be_made_is_refused_and_changes_nothing(transform: TransformSelection, text: str):
    drawing = Drawing()
    drawing.rectangle()
    before = drawing.records()

    with pytest.raises(InvalidArgumentError, match=text):
        drawing.do(transform)

    assert drawing.records() == before


def test_one_object_that_cannot_be_transformed_keeps_all_as_they_were():
    drawing = Drawing()
    drawing.rectangle()
    drawing.rectangle(900_000, 0)
    drawing.do(Select(all=True))
    before = drawing.records()

    with pytest.raises(InvalidArgumentError, match="object-2 would reach beyond"):
        drawing.do(TransformSelection(dx=200_000))

    assert drawing.records() == before


def test_transforming_nothing_is_refused():
    with pytest.raises(ConflictError, match="Nothing is selected"):
        Drawing().do(TransformSelection(dx=1))


@EXAMPLES
@given(st.lists(inserts, min_size=1, max_size=4), coordinates, coordinates, st.floats(-360, 360), st.floats(0.5, 2))
def test_a_transform_and_its_opposite_bring_everything_back(
    commands: list[InsertBox | InsertStroke], dx: float, dy: float, angle: float, scale: float
):
    drawing = Drawing()
    for command in commands:
        try:
            drawing.do(command)
        except EngineError:
            return
    drawing.do(Select(all=True))
    before = [bounds_of(drawing.object(object_id)) for object_id in drawing.ids()]
    try:
        done = drawing.do(TransformSelection(dx=dx, dy=dy, rotation_degrees=angle, scale=scale))
    except InvalidArgumentError:
        return
    there = (done.origin.x + dx, done.origin.y + dy)
    drawing.do(TransformSelection(dx=-dx, dy=-dy, rotation_degrees=-angle, scale=1 / scale, origin=there))

    after = [bounds_of(drawing.object(object_id)) for object_id in drawing.ids()]
    for was, now in zip(before, after, strict=True):
        assert now == pytest.approx(was, abs=1e-6)
