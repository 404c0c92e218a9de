from __future__ import annotations

from engine.drawing.geometry import Bounds, Point
from engine.drawing.index import SORT_LIMIT, DrawingIndex, LayerContent
from engine.drawing.records import Rectangle
from engine.drawing.style import Style
from engine.records import RecordTable


def row_of(count: int) -> LayerContent:
    """Objects 10 apart, each 5 wide; the leftmost is on top."""
    objects = [
        Rectangle(
            id=f"object-{number}",
            layer_id="layer-1",
            order=count - number,
            style=Style(),
            center=Point(10.0 * number, 0.0),
            size=Point(5.0, 5.0),
        )
        for number in range(count)
    ]
    return RecordTable(objects).index(DrawingIndex).content("layer-1")


def test_what_a_box_touches_comes_from_bottom_to_top_however_much_it_is():
    count = SORT_LIMIT + 10
    content = row_of(count)

    assert content.touching(Bounds(100, -1, 120, 1)) == ["object-12", "object-11", "object-10"]
    assert content.touching(Bounds(0, -1, 10.0 * count, 1)) == list(content.ids())


def test_ids_of_other_layers_have_no_place_in_the_order():
    content = row_of(3)

    assert content.in_order({"object-0", "object-2", "object-9"}) == ["object-2", "object-0"]
