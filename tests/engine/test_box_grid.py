"""A grid of boxes misses none that touches what is asked for, whatever their sizes and wherever their edges lie."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.box_grid import BoxGrid, Sides

# On the edges of cells of every size, just beside them, and anywhere.
places = st.one_of(
    st.integers(-40, 40).map(lambda number: number * 16.0),
    st.integers(-40, 40).map(lambda number: number * 16.0 + 1e-9),
    st.floats(-1e6, 1e6),
)
extents = st.one_of(st.just(0.0), st.integers(-4, 20).map(lambda power: 2.0**power), st.floats(0.0, 1e6))


@st.composite
def boxes(draw: st.DrawFn) -> Sides:
    x, y = draw(places), draw(places)
    return x, y, x + draw(extents), y + draw(extents)


def touches(one: Sides, other: Sides) -> bool:
    return one[0] <= other[2] and other[0] <= one[2] and one[1] <= other[3] and other[1] <= one[3]


@given(st.lists(boxes(), max_size=30), st.lists(boxes(), min_size=1, max_size=5), st.sets(st.integers(0, 29)))
def test_what_is_near_holds_all_that_touches_once_and_nothing_that_is_gone(
    given_boxes: list[Sides], asked: list[Sides], gone: set[int]
):
    grid = BoxGrid(16.0)
    there = {f"box-{number}": box for number, box in enumerate(given_boxes)}
    for member, box in there.items():
        grid.add(member, box)
    for member in [f"box-{number}" for number in gone if number < len(given_boxes)]:
        grid.discard(member, there.pop(member))

    for box in asked:
        near = list(grid.near(box))
        assert len(near) == len(set(near))
        assert set(near) <= there.keys()
        assert {member for member, own in there.items() if touches(own, box)} <= set(near)


def test_boxes_far_away_are_not_looked_at():
    grid = BoxGrid(16.0)
    for column in range(100):
        grid.add(f"box-{column}", (column * 100.0, 0.0, column * 100.0 + 1.0, 1.0))

    assert list(grid.near((500.0, 0.0, 501.0, 1.0))) == ["box-5"]


def test_an_emptied_grid_finds_nothing_and_can_be_filled_again():
    grid = BoxGrid(16.0)
    grid.add("box", (0.0, 0.0, 1.0, 1.0))
    grid.discard("box", (0.0, 0.0, 1.0, 1.0))

    assert list(grid.near((-1e9, -1e9, 1e9, 1e9))) == []
    grid.add("box", (0.0, 0.0, 1.0, 1.0))
    assert list(grid.near((-1e9, -1e9, 1e9, 1e9))) == ["box"]
