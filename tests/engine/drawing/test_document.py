from __future__ import annotations

from engine.drawing.document import FIRST_LAYER, focus_of, selection_kind
from engine.drawing.records import DrawingFocus
from engine.records import RecordTable
from tests.engine.drawing.samples import Drawing


def test_a_stored_selection_of_objects_that_are_gone_is_read_without_them():
    drawing = Drawing()
    kept = drawing.rectangle()
    stored = {**drawing.records(), ("drawing-focus", "focus"): focus("layer-1", "object-7", kept)}

    assert focus_of(RecordTable(stored.values())) == focus("layer-1", kept)


def test_a_stored_active_layer_that_is_gone_gives_way_to_the_topmost():
    table = RecordTable([FIRST_LAYER, focus("layer-7", "object-7")])

    assert focus_of(table) == focus("layer-1")
    assert selection_kind(table) is None


def focus(layer_id: str, *selection: str) -> DrawingFocus:
    return DrawingFocus(active_layer_id=layer_id, selection=selection)
