from __future__ import annotations

import pytest

from engine.drawing.document import FIRST_LAYER, active_layer, focus_of, layers_of
from engine.drawing.insert import InsertStroke
from engine.drawing.layers import (
    MAX_LAYERS,
    ActivateLayer,
    AddLayer,
    ArrangeLayer,
    DeleteLayer,
    DuplicateLayer,
    RenameLayer,
)
from engine.drawing.records import Stroke
from engine.errors import ConflictError, InvalidArgumentError, NotFoundError
from tests.engine.drawing.samples import Drawing


def names(drawing: Drawing) -> list[str]:
    return [layer.name for layer in layers_of(drawing.table)]


def test_a_fresh_drawing_has_one_layer_without_having_changed():
    drawing = Drawing()

    assert layers_of(drawing.table) == [FIRST_LAYER]
    assert active_layer(drawing.table) == FIRST_LAYER
    assert drawing.world.revision == 0


def test_a_new_layer_is_on_top_active_and_named_by_its_number():
    drawing = Drawing()
    drawing.rectangle()

    info = drawing.do(AddLayer())

    assert (info.id, info.name, info.position, info.visible, info.active) == ("layer-2", "Layer 2", 2, True, True)
    assert focus_of(drawing.table).selection == ()


def test_the_name_of_a_new_layer_avoids_one_that_is_taken():
    drawing = Drawing()
    drawing.do(RenameLayer(name="Layer 2"))

    assert drawing.do(AddLayer()).name == "Layer 2 (2)"


def test_a_taken_name_is_refused_and_its_owner_named():
    drawing = Drawing()
    drawing.do(AddLayer(name="sky"))

    with pytest.raises(ConflictError, match=r"'sky' is taken by layer-2"):
        drawing.do(RenameLayer(name="sky", layer=1))
    with pytest.raises(ConflictError, match="'sky' is taken"):
        drawing.do(AddLayer(name="sky"))
    assert names(drawing) == ["Layer 1", "sky"]


@pytest.mark.parametrize("name", ["", " sky", "sky ", "two\nlines", "bell\a", "half\ud800", "n" * 101])
def test_a_name_that_cannot_be_shown_in_one_line_is_refused(name: str):
    with pytest.raises(InvalidArgumentError, match="name must"):
        Drawing().do(AddLayer(name=name))


def test_renaming_to_the_same_name_changes_nothing():
    drawing = Drawing()

    assert drawing.do(RenameLayer(name="Layer 1")).name == "Layer 1"
    assert drawing.world.revision == 0


def test_a_layer_is_found_by_id_then_name_then_place():
    drawing = Drawing()
    drawing.do(AddLayer(name="7"))

    assert drawing.do(ActivateLayer(layer="layer-1")).id == "layer-1"
    assert drawing.do(ActivateLayer(layer="7")).id == "layer-2"
    assert drawing.do(ActivateLayer(layer=1)).id == "layer-1"
    with pytest.raises(NotFoundError, match=r"no layer 7: layers count from 1 \(bottom\) to 2"):
        drawing.do(ActivateLayer(layer=7))
    with pytest.raises(NotFoundError, match=r"The layers are layer-1 \('Layer 1'\), layer-2 \('7'\)"):
        drawing.do(ActivateLayer(layer="1"))


def test_activating_another_layer_clears_the_selection_and_activating_the_same_keeps_it():
    drawing = Drawing()
    drawing.do(AddLayer())
    made = drawing.rectangle()
    drawing.do(ActivateLayer(layer="layer-2"))
    assert focus_of(drawing.table).selection == (made,)

    drawing.do(ActivateLayer(layer="layer-1"))

    assert focus_of(drawing.table).selection == ()


def test_a_copy_lies_directly_above_and_has_its_own_objects():
    drawing = Drawing()
    originals = [drawing.rectangle(), drawing.insert(InsertStroke(points=((0, 0), (5, 5)))).id]
    drawing.do(AddLayer(name="top"))

    info = drawing.do(DuplicateLayer(layer="Layer 1"))

    assert names(drawing) == ["Layer 1", "Layer 1 Copy", "top"]
    assert (info.position, info.active, info.object_count) == (2, True, 2)
    copies = drawing.ids(info.id)
    assert not set(copies) & set(originals)
    assert isinstance(drawing.object(copies[1]), Stroke)


def test_copies_are_numbered():
    drawing = Drawing()
    for _ in range(3):
        drawing.do(DuplicateLayer())

    assert names(drawing) == ["Layer 1", "Layer 1 Copy", "Layer 1 Copy 2", "Layer 1 Copy 3"]


def test_a_copy_of_a_layer_with_a_very_long_name_still_has_a_valid_one():
    drawing = Drawing()
    drawing.do(RenameLayer(name="n" * 100))

    assert drawing.do(DuplicateLayer()).name == "n" * 95 + " Copy"


def test_hiding_and_moving_a_layer_is_one_step_and_activates_it():
    drawing = Drawing()
    drawing.do(AddLayer(name="b"))
    drawing.do(AddLayer(name="c"))
    before = drawing.world.undo_count

    info = drawing.do(ArrangeLayer(layer="c", visible=False, position=1))

    assert (info.position, info.visible, info.active) == (1, False, True)
    assert names(drawing) == ["c", "Layer 1", "b"]
    assert drawing.world.undo_count == before + 1
    drawing.world.undo()
    assert names(drawing) == ["Layer 1", "b", "c"]


def test_the_layer_of_a_fresh_drawing_can_be_hidden():
    drawing = Drawing()
    drawing.do(ArrangeLayer(layer=1, visible=False))

    assert [layer.visible for layer in layers_of(drawing.table)] == [False]


def test_a_place_that_there_is_not_is_refused():
    drawing = Drawing()

    with pytest.raises(InvalidArgumentError, match=r"position must be from 1 \(bottom\) to 1"):
        drawing.do(ArrangeLayer(layer=1, position=2))


def test_the_only_layer_cannot_be_deleted():
    with pytest.raises(ConflictError, match="is the only layer"):
        Drawing().do(DeleteLayer())


@pytest.mark.parametrize(("deleted", "active"), [(1, "layer-2"), (2, "layer-3"), (3, "layer-2")])
def test_the_layer_that_takes_the_place_of_a_deleted_one_becomes_active(deleted: int, active: str):
    drawing = Drawing()
    drawing.do(AddLayer())
    drawing.do(AddLayer())
    drawing.do(ActivateLayer(layer=deleted))

    assert drawing.do(DeleteLayer()).active_layer_id == active


def test_deleting_another_layer_keeps_the_active_one_and_its_selection():
    drawing = Drawing()
    drawing.rectangle()
    drawing.do(AddLayer())
    kept = drawing.rectangle()

    gone = drawing.do(DeleteLayer(layer="layer-1"))

    assert (gone.name, gone.object_count, gone.active_layer_id) == ("Layer 1", 1, "layer-2")
    assert focus_of(drawing.table).selection == (kept,)


def test_a_drawing_has_a_greatest_number_of_layers():
    drawing = Drawing()
    for _ in range(MAX_LAYERS - 1):
        drawing.do(AddLayer())

    with pytest.raises(ConflictError, match=f"has {MAX_LAYERS} layers"):
        drawing.do(AddLayer())
    with pytest.raises(ConflictError, match=f"has {MAX_LAYERS} layers"):
        drawing.do(DuplicateLayer())
