"""Pixels are read from pictures of one pixel, which `sample_color` can decode, and from sizes in the PNG's header."""

from __future__ import annotations

import struct

import pytest

from engine.drawing.color import Color
from engine.drawing.font import line_width
from engine.drawing.geometry import Bounds, Point
from engine.drawing.insert import InsertBox, InsertLine, InsertText
from engine.drawing.layers import AddLayer, ArrangeLayer
from engine.drawing.raster import render_png, sample_color, sample_region
from engine.drawing.snapshot import snapshot
from engine.drawing.style import StyleChanges
from engine.errors import InvalidArgumentError
from tests.engine.drawing.samples import Drawing

RED = StyleChanges(fill_color="#FF0000", stroke_width=0)


def color_at(drawing: Drawing, x: float, y: float) -> str:
    return sample_color(snapshot(drawing.table, sample_region(Point(x, y))), Point(x, y)).text()


def size_of(png: bytes) -> tuple[int, int]:
    width, height = struct.unpack_from(">II", png, 16)
    return width, height


def block(drawing: Drawing, x: float, y: float, style: StyleChanges = RED, side: float = 10) -> None:
    drawing.insert(InsertBox(kind="rectangle", x=x, y=y, width=side, height=side, style=style))


def test_a_picture_has_the_size_that_was_asked_for():
    drawing = Drawing()
    block(drawing, 0, 0)

    assert size_of(render_png(snapshot(drawing.table), 200, 100, "#000000")) == (200, 100)


def test_an_empty_drawing_is_a_picture_of_the_background():
    assert size_of(render_png(snapshot(Drawing().table), 64, 48, "#FFFFFF")) == (64, 48)


def test_a_side_beyond_what_renderers_take_is_refused():
    with pytest.raises(InvalidArgumentError, match="width must be 1 to"):
        render_png(snapshot(Drawing().table), 100_000, 10, None)


def test_a_sample_is_the_colour_at_the_point_with_up_being_up():
    drawing = Drawing()
    block(drawing, 0, 0)
    block(drawing, 0, 10, StyleChanges(fill_color="#0000FF", stroke_width=0))

    assert (color_at(drawing, 5, 5), color_at(drawing, 5, 15)) == ("#FF0000", "#0000FF")


def test_a_sample_does_not_blur_across_an_edge():
    drawing = Drawing()
    block(drawing, 0, 0)

    assert (color_at(drawing, 9.99, 5), color_at(drawing, 10.01, 5)) == ("#FF0000", "#00000000")


def test_where_nothing_is_drawn_the_colour_is_transparent():
    assert color_at(Drawing(), 3, 4) == "#00000000"


def test_a_transparent_colour_keeps_its_alpha():
    drawing = Drawing()
    block(drawing, 0, 0, StyleChanges(fill_color="#FF000080", stroke_width=0))

    assert color_at(drawing, 5, 5) == "#FF000080"


def test_visible_layers_are_blended_and_hidden_ones_are_not_seen():
    drawing = Drawing()
    block(drawing, 0, 0)
    drawing.do(AddLayer())
    block(drawing, 0, 0, StyleChanges(fill_color="#0000FF", stroke_width=0, opacity=0.5))

    blended = sample_color(snapshot(drawing.table), Point(5, 5))
    assert blended == pytest.approx(Color(128, 0, 128), abs=1)
    drawing.do(ArrangeLayer(layer=2, visible=False))
    assert color_at(drawing, 5, 5) == "#FF0000"


def test_the_stroke_of_a_line_can_be_sampled_beside_its_outline():
    drawing = Drawing()
    drawing.insert(InsertLine(x1=0, y1=0, x2=100, y2=0, style=StyleChanges(stroke_width=8, stroke_color="#00FF00")))

    assert (color_at(drawing, 50, 3.9), color_at(drawing, 50, -4.1)) == ("#00FF00", "#00000000")


def test_what_lies_at_the_rim_of_the_document_is_as_sharp_as_at_its_middle():
    drawing = Drawing()
    block(drawing, 999_000.25, -999_000.25, side=0.5)

    assert color_at(drawing, 999_000.5, -999_000.0) == "#FF0000"
    assert color_at(drawing, 999_000.2, -999_000.0) == "#00000000"


def test_text_is_rendered_upright_in_the_font_that_comes_along():
    drawing = Drawing()
    drawing.insert(InsertText(x=0, y=0, text="L", font_size=100, style=StyleChanges(stroke_color="#FFFFFF")))
    width = 100 * line_width("L")

    # An L has a stem at the left and a foot at the baseline, which is 24 units above the bottom of the box.
    assert color_at(drawing, width * 0.2, 70) == "#FFFFFF"
    assert color_at(drawing, width * 0.7, 28) == "#FFFFFF"
    assert color_at(drawing, width * 0.7, 70) == "#00000000"
    assert color_at(drawing, width * 0.2, 15) == "#00000000"


def test_turning_text_by_90_degrees_lets_it_run_upwards():
    drawing = Drawing()
    drawing.insert(
        InsertText(
            x=0, y=0, text="—————", font_size=20, anchor="center", rotation_degrees=90,
            style=StyleChanges(stroke_color="#FFFFFF"),
        )
    )  # fmt: skip
    (bounds,) = [box for box in [snapshot(drawing.table).painted_bounds()] if box is not None]
    seen = {color_at(drawing, x / 4, bounds.top - 5) for x in range(-40, 40)}

    assert bounds.height > bounds.width
    assert "#FFFFFF" in seen


def test_a_part_of_the_drawing_can_be_rendered():
    drawing = Drawing()
    block(drawing, 0, 0)
    whole = render_png(snapshot(drawing.table), 64, 64, None)

    part = render_png(snapshot(drawing.table), 64, 64, None, box=Bounds(2, 2, 4, 4))

    assert size_of(part) == (64, 64)
    assert part != whole
