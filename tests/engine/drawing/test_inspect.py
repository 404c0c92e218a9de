from __future__ import annotations

import pytest

from engine.drawing.document import FIRST_LAYER
from engine.drawing.geometry import Bounds
from engine.drawing.insert import InsertLine
from engine.drawing.inspect import Inspect, Inspection
from engine.drawing.layers import AddLayer
from engine.drawing.records import ObjectKind
from engine.errors import NotFoundError
from tests.engine.drawing.samples import Drawing


def ids(seen: Inspection) -> list[str]:
    return [entry.item.id for entry in seen.objects]


def two_layers() -> Drawing:
    """Objects 1 to 3 on layer 1 (the third a line), 4 and 5 on layer 2, ten units apart; object 5 is selected."""
    drawing = Drawing()
    drawing.rectangle(0)
    drawing.rectangle(20)
    drawing.insert(InsertLine(x1=40, y1=0, x2=50, y2=0))
    drawing.do(AddLayer(name="top"))
    drawing.rectangle(60)
    drawing.rectangle(80)
    return drawing


def test_a_fresh_drawing_shows_its_layer_and_is_not_changed_by_looking():
    drawing = Drawing()

    seen = drawing.do(Inspect())

    assert [(each.layer, each.position, each.object_count) for each in seen.layers] == [(FIRST_LAYER, 1, 0)]
    assert (seen.bounds, seen.total, seen.objects) == (None, 0, ())
    assert drawing.world.revision == 0


def test_the_summary_counts_everything_whatever_is_filtered():
    seen = two_layers().do(Inspect(kind="line", limit=1))

    assert (seen.object_count, seen.bounds, seen.total) == (5, Bounds(0, 0, 90, 4), 1)
    assert [each.kinds for each in seen.layers] == [(("line", 1), ("rectangle", 2)), (("rectangle", 2),)]


def test_pages_follow_each_other_from_bottom_to_top_across_layers():
    drawing = two_layers()

    pages = [ids(drawing.do(Inspect(offset=offset, limit=2))) for offset in (0, 2, 4, 6)]

    assert pages == [["object-1", "object-2"], ["object-3", "object-4"], ["object-5"], []]


@pytest.mark.parametrize(
    ("kind", "layer", "bounds", "only_selected", "wanted", "expected"),
    [
        ("line", None, None, False, None, [3]),
        (None, "top", None, False, None, [4, 5]),
        (None, 1, Bounds(15, 0, 45, 1), False, None, [2, 3]),
        (None, None, Bounds(90, 4, 91, 5), False, None, [5]),
        (None, None, None, True, None, [5]),
        (None, None, None, False, ("object-4", "object-1"), [1, 4]),
        (None, None, None, True, ("object-4", "object-1"), []),
        ("line", None, Bounds(0, 0, 100, 100), True, None, []),
    ],
)
def test_filters_combine(
    kind: ObjectKind | None,
    layer: str | int | None,
    bounds: Bounds | None,
    only_selected: bool,
    wanted: tuple[str, ...] | None,
    expected: list[int],
):
    command = Inspect(kind=kind, layer=layer, bounds=bounds, selected_only=only_selected, ids=wanted)

    seen = two_layers().do(command)

    assert ids(seen) == [f"object-{number}" for number in expected]
    assert seen.total == len(expected)


def test_an_unknown_id_or_layer_is_refused():
    with pytest.raises(NotFoundError, match="no object 'object-9'"):
        two_layers().do(Inspect(ids=("object-9",)))
    with pytest.raises(NotFoundError, match="no layer 3"):
        two_layers().do(Inspect(layer=3))
