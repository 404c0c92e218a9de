"""Whatever is drawn can be taken back and done again exactly, and the index always agrees with the table."""

from __future__ import annotations

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from engine.drawing.document import focus_of, layers_of, object_of, pen_of
from engine.drawing.geometry import Bounds
from engine.drawing.index import DrawingIndex
from engine.drawing.insert import InsertBox
from engine.drawing.layers import ActivateLayer, AddLayer, DeleteLayer
from engine.drawing.pen import SetDefaults, SetTool
from engine.drawing.records import DrawingFocus, Layer
from engine.drawing.selection import ClearSelection, DeleteSelected, Select
from engine.drawing.style import StyleChanges
from engine.errors import EngineError
from engine.records import Record, RecordTable, Transaction
from engine.world import Command
from tests.engine.drawing.samples import EXAMPLES, Drawing, asides, steps

LayerFacts = tuple[Layer, list[str], dict[str, Bounds], dict[str, int], Bounds | None, list[str]]

SOME_BOX = Bounds(-300, -300, 300, 300)


def index_facts(table: RecordTable) -> list[LayerFacts]:
    index = table.index(DrawingIndex)
    facts: list[LayerFacts] = []
    for layer in index.layers():
        content = index.content(layer.id)
        facts.append(
            (
                layer,
                list(content.ids()),
                dict(content.bounds),
                dict(content.kinds),
                content.around,
                content.painted_in(SOME_BOX),
            )
        )
    return facts


def assert_index_is_exact(table: RecordTable) -> None:
    assert index_facts(table) == index_facts(RecordTable(table))


def content_of(drawing: Drawing) -> dict[tuple[str, str], Record]:
    """What undo restores: layers and objects."""
    return {key: r for key, r in drawing.records().items() if key[0] in {"drawing-layer", "drawing-object"}}


@EXAMPLES
@given(st.lists(steps | asides, max_size=14), st.data())
def test_undo_and_redo_restore_every_state_between_and_keep_the_index_exact(
    commands: list[Command[object]], data: st.DataObject
):
    drawing = Drawing()
    drawing.rectangle()
    table = drawing.table
    index_facts(table)
    states = {1: content_of(drawing)}
    drawing.world.undo()
    states[0] = content_of(drawing)
    drawing.world.redo()
    for command in commands:
        with suppress(EngineError):
            drawing.do(command)
        states[drawing.world.undo_count] = content_of(drawing)
        assert_index_is_exact(table)
    for back in data.draw(st.lists(st.booleans(), max_size=20)):
        with suppress(EngineError):
            (drawing.world.undo if back else drawing.world.redo)()
        assert content_of(drawing) == states[drawing.world.undo_count]
        assert_index_is_exact(table)
        focus = focus_of(table)
        assert focus.active_layer_id in {layer.id for layer in layers_of(table)}
        assert all(object_of(table, object_id) for object_id in focus.selection)


@EXAMPLES
@given(st.lists(steps, max_size=8))
def test_a_drawing_never_loses_its_last_layer(commands: list[Command[object]]):
    drawing = Drawing()
    for command in commands:
        with suppress(EngineError):
            drawing.do(command)
        assert layers_of(drawing.table)
    while drawing.world.undo_count:
        drawing.world.undo()
        assert layers_of(drawing.table)


def test_a_refused_command_leaves_the_index_exact():
    class Fails(Command[None]):
        label = "fail"

        def run(self, world: Transaction) -> None:
            DeleteLayer(layer="layer-2").run(world)
            InsertBox(kind="ellipse", x=0, y=0, width=5, height=5).run(world)
            raise EngineError("no")

    drawing = Drawing()
    drawing.rectangle()
    drawing.do(AddLayer())
    drawing.rectangle(50, 50)
    index_facts(drawing.table)
    before = drawing.records()

    with suppress(EngineError):
        drawing.do(Fails())

    assert drawing.records() == before
    assert_index_is_exact(drawing.table)


def test_undoing_the_deletion_of_a_layer_restores_content_order_active_layer_and_selection():
    drawing = Drawing()
    first = drawing.rectangle()
    second = drawing.rectangle(20)
    drawing.do(AddLayer(name="top"))
    drawing.do(ActivateLayer(layer="layer-1"))
    drawing.select(first)

    drawing.do(DeleteLayer())
    assert focus_of(drawing.table) == DrawingFocus(active_layer_id="layer-2")
    drawing.world.undo()

    assert [layer.id for layer in layers_of(drawing.table)] == ["layer-1", "layer-2"]
    assert drawing.ids() == [first, second]
    assert focus_of(drawing.table) == DrawingFocus(active_layer_id="layer-1", selection=(first,))


def test_the_selection_never_names_what_a_redo_took_away():
    drawing = Drawing()
    drawing.rectangle()
    drawing.do(AddLayer())
    on_second = drawing.rectangle()
    drawing.do(ActivateLayer(layer="layer-1"))
    drawing.do(DeleteLayer(layer="layer-2"))
    drawing.world.undo()
    drawing.do(Select(ids=(on_second,), layer="layer-2"))

    drawing.world.redo()

    assert focus_of(drawing.table) == DrawingFocus(active_layer_id="layer-1")


def test_selecting_tools_defaults_and_activating_are_no_steps():
    drawing = Drawing()
    drawing.rectangle()
    for command in (
        Select(all=True),
        ClearSelection(),
        SetTool("pen"),
        SetDefaults(StyleChanges(opacity=0.5)),
        ActivateLayer(layer=1),
    ):
        drawing.do(command)

    assert drawing.world.undo_count == 1


def test_undo_leaves_the_tool_and_the_defaults_alone():
    drawing = Drawing()
    drawing.rectangle()
    drawing.do(SetDefaults(StyleChanges(stroke_color="#112233")))
    drawing.do(SetTool("marker"))

    drawing.world.undo()

    assert (pen_of(drawing.table).tool, pen_of(drawing.table).style.stroke_color) == ("marker", "#112233")


def test_an_id_is_never_used_again():
    drawing = Drawing()
    drawing.rectangle()
    drawing.world.undo()

    assert drawing.rectangle() == "object-2"


def test_undoing_a_deletion_restores_the_selection_that_was_deleted():
    drawing = Drawing()
    first, second = drawing.rectangle(), drawing.rectangle()
    drawing.select(first)
    drawing.do(DeleteSelected())
    drawing.select(second)

    drawing.world.undo()

    assert focus_of(drawing.table).selection == (first,)
