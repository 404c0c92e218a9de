from __future__ import annotations

import math

import pytest

from engine.drawing.style import MAX_STROKE_WIDTH, Style, StyleChanges, stroke_tool_style
from engine.errors import InvalidArgumentError


def test_changes_touch_only_what_they_name():
    style = StyleChanges(stroke_color="#ff0000", opacity=0.5).checked().apply_to(Style())

    assert style == Style(stroke_color="#FF0000", opacity=0.5)


def test_a_change_to_zero_or_false_is_a_change():
    changes = StyleChanges(stroke_width=0, opacity=0, fill_enabled=False)

    assert changes.names() == ("stroke_width", "opacity", "fill_enabled")
    assert changes.checked().apply_to(Style()) == Style(stroke_width=0, opacity=0, fill_enabled=False)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (StyleChanges(stroke_width=-1), "stroke_width must be 0 to"),
        (StyleChanges(stroke_width=math.nan), "stroke_width must be 0 to"),
        (StyleChanges(stroke_width=MAX_STROKE_WIDTH * 2), "stroke_width must be 0 to"),
        (StyleChanges(opacity=1.5), "opacity must be 0"),
        (StyleChanges(opacity=math.inf), "opacity must be 0"),
        (StyleChanges(fill_color="blue"), "fill_color must be #RRGGBB"),
    ],
)
def test_a_value_that_no_style_can_have_is_refused_by_name(changes: StyleChanges, text: str):
    with pytest.raises(InvalidArgumentError, match=text):
        changes.checked()


def test_nearer_changes_win_over_farther_ones():
    near, far = StyleChanges(opacity=0.1), StyleChanges(opacity=0.9, stroke_width=7)

    assert near.over(far) == StyleChanges(opacity=0.1, stroke_width=7)


@pytest.mark.parametrize(
    ("tool", "width", "expected"),
    [
        ("pen", 2, Style(stroke_width=2)),
        ("brush", 2, Style(stroke_width=4, opacity=0.65)),
        ("brush", 10, Style(stroke_width=18, opacity=0.65)),
        ("marker", 2, Style(stroke_width=7, opacity=0.35)),
        ("marker", 10, Style(stroke_width=28, opacity=0.35)),
    ],
)
def test_brush_and_marker_are_wider_and_more_transparent_than_the_pen(tool: str, width: float, expected: Style):
    assert stroke_tool_style(tool, Style(stroke_width=width)) == expected
