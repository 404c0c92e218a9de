"""What pictures can be asked for."""

from __future__ import annotations

import math

import pytest

from engine.errors import InvalidArgumentError
from engine.view import MAX_VIEW_SIDE, MIN_VIEW_SIDE, ViewBox, ViewRequest


@pytest.mark.parametrize("side", [MIN_VIEW_SIDE, MAX_VIEW_SIDE])
def test_a_picture_may_be_as_small_and_as_large_as_the_limits(side: int) -> None:
    assert ViewRequest(width=side, height=side).surface is None


@pytest.mark.parametrize("side", [MIN_VIEW_SIDE - 1, MAX_VIEW_SIDE + 1, 0, -5])
@pytest.mark.parametrize("name", ["width", "height"])
def test_a_picture_outside_the_limits_is_refused_by_name(name: str, side: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"{name} is {side} pixels"):
        ViewRequest(**{name: side})  # pyright: ignore[reportArgumentType]


def test_an_empty_surface_is_refused() -> None:
    with pytest.raises(InvalidArgumentError, match="leave it out"):
        ViewRequest(surface="")


@pytest.mark.parametrize("numbers", [(0, 0, 0, 1), (0, 0, 1, -1), (math.nan, 0, 1, 1), (0, math.inf, 1, 1)])
def test_a_box_that_is_none_is_refused(numbers: tuple[float, float, float, float]) -> None:
    with pytest.raises(InvalidArgumentError, match="box"):
        ViewBox(*numbers)
