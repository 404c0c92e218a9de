from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drawing.color import Color, normal_color, parse_color
from engine.errors import InvalidArgumentError


def test_a_colour_of_six_digits_is_opaque():
    assert parse_color("#FF8000") == Color(255, 128, 0, 255)


def test_a_colour_of_eight_digits_keeps_its_alpha():
    assert parse_color("#ff800038") == Color(255, 128, 0, 0x38)


@pytest.mark.parametrize(
    ("written", "normal"),
    [("#ff8800", "#FF8800"), ("ff8800", "#FF8800"), ("#FF8800FF", "#FF8800"), ("#ff88000a", "#FF88000A")],
)
def test_equal_colours_have_one_normal_form(written: str, normal: str):
    assert normal_color(written) == normal


@pytest.mark.parametrize("text", ["", "#", "red", "#FFF", "#FF88000", "#GG0000", "#FF8800\n", "##FF8800", "٣٣٣٣٣٣"])
def test_what_is_no_colour_is_refused_with_the_two_forms_that_are(text: str):
    with pytest.raises(InvalidArgumentError, match=r"stroke_color must be #RRGGBB or #RRGGBBAA"):
        normal_color(text, name="stroke_color")


channels = st.integers(0, 255)


@given(st.builds(Color, channels, channels, channels, channels))
def test_every_colour_comes_back_from_its_text(color: Color):
    assert parse_color(color.text()) == color
