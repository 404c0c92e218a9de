from __future__ import annotations

import pytest

from engine.drawing.document import focus_of, selection_kind
from engine.drawing.geometry import Bounds
from engine.drawing.insert import InsertBox, InsertLine, InsertText
from engine.drawing.layers import AddLayer
from engine.drawing.restyle import UpdateSelectionStyle
from engine.drawing.selection import ClearSelection, DeleteSelected, Look, Select, SelectionMode
from engine.drawing.style import StyleChanges
from engine.errors import ConflictError, EngineError, InvalidArgumentError, NotFoundError
from tests.engine.drawing.samples import Drawing


def selected(drawing: Drawing) -> tuple[str, ...]:
    return focus_of(drawing.table).selection


def three() -> tuple[Drawing, str, str, str]:
    """A red rectangle, a line and a text, from left to right, 100 units apart; the text is selected."""
    drawing = Drawing()
    red = StyleChanges(stroke_color="#FF0000", fill_color="#FF0000")
    box = drawing.insert(InsertBox(kind="rectangle", x=0, y=0, width=10, height=10, style=red)).id
    line = drawing.insert(InsertLine(x1=100, y1=0, x2=110, y2=10)).id
    text = drawing.insert(InsertText(x=200, y=0, text="Hello World", font_size=5)).id
    return drawing, box, line, text


def test_all_selects_every_object_of_the_layer_from_bottom_to_top():
    drawing, box, line, text = three()

    assert drawing.do(Select(all=True)).selection == (box, line, text)


def test_ids_are_selected_in_drawing_order_and_once():
    drawing, box, _, text = three()

    assert drawing.do(Select(ids=(text, box, text))).selection == (box, text)


def test_criteria_together_must_all_be_met():
    drawing, box, line, _ = three()
    left = Bounds(-1, -1, 120, 20)

    assert drawing.do(Select(bounds=left)).selection == (box, line)
    assert drawing.do(Select(bounds=left, kind="line")).selection == (line,)
    assert drawing.do(Select(ids=(box,), kind="line")).selection == ()


@pytest.mark.parametrize(
    ("look", "kinds"),
    [
        (Look(stroke_color="ff0000"), ["rectangle"]),
        (Look(fill_color="#FF0000"), ["rectangle"]),
        (Look(text="WORLD"), ["text"]),
        (Look(stroke_color="#5499F5", text="hello"), ["text"]),
        (Look(fill_color="#5499F538"), []),
    ],
)
def test_objects_are_found_by_their_look(look: Look, kinds: list[str]):
    drawing, *_ = three()

    assert [drawing.object(object_id).kind for object_id in drawing.do(Select(look=look)).selection] == kinds


@pytest.mark.parametrize(("mode", "expected"), [("replace", (0,)), ("add", (0, 2)), ("remove", (2,))])
def test_a_mode_says_what_becomes_of_the_selection_that_was_there(mode: SelectionMode, expected: tuple[int, ...]):
    drawing, *ids = three()

    made = drawing.do(Select(kind="rectangle", mode=mode))

    assert (made.selection, made.matched) == (tuple(ids[index] for index in expected), 1)


def test_a_box_that_only_touches_the_bounds_selects():
    drawing, box, *_ = three()

    assert drawing.do(Select(bounds=Bounds(10, 10, 20, 20))).selection == (box,)
    assert drawing.do(Select(bounds=Bounds(10.01, 10.01, 20, 20))).selection == ()


def test_a_turned_ellipse_is_met_where_its_outline_is_and_not_where_its_box_would_be():
    drawing = Drawing()
    drawing.insert(InsertBox(kind="ellipse", x=-10, y=-1, width=20, height=2, rotation_degrees=45))

    assert drawing.do(Select(bounds=Bounds(7.0, 7.0, 9, 9))).matched == 1
    assert drawing.do(Select(bounds=Bounds(7.2, 7.2, 9, 9))).matched == 0
    assert drawing.do(Select(bounds=Bounds(9, -1, 10, 1))).matched == 0


def test_selecting_on_another_layer_makes_it_active_and_forgets_the_old_selection():
    drawing, _, _, text = three()
    drawing.do(AddLayer())
    drawing.rectangle()

    made = drawing.do(Select(ids=(text,), layer="Layer 1", mode="add"))

    assert (made.layer_id, made.selection) == ("layer-1", (text,))
    assert focus_of(drawing.table).active_layer_id == "layer-1"


@pytest.mark.parametrize(
    ("command", "error", "text"),
    [
        (Select(), InvalidArgumentError, "Say what to select"),
        (Select(mode="add", layer=1), InvalidArgumentError, "Say what to select"),
        (Select(ids=("object-99",)), NotFoundError, "no object 'object-99'"),
        (Select(all=True, layer="sky"), NotFoundError, "no layer with the id or name 'sky'"),
        (Select(look=Look()), InvalidArgumentError, "filter must give at least one"),
        (Select(look=Look(stroke_color="red")), InvalidArgumentError, "filter.stroke_color must be"),
    ],
)
def test_a_selection_that_cannot_be_made_is_refused_and_the_old_one_stays(
    command: Select, error: type[EngineError], text: str
):
    drawing, _, _, last = three()

    with pytest.raises(error, match=text):
        drawing.do(command)

    assert selected(drawing) == (last,)


def test_an_id_of_another_layer_is_refused_with_the_layer_that_would_be_right():
    drawing, box, *_ = three()
    drawing.do(AddLayer())

    with pytest.raises(NotFoundError, match=r"object-1 is on layer-1, not on layer-2.* give layer: 'layer-1'"):
        drawing.do(Select(ids=(box,)))


def test_clearing_counts_what_was_selected():
    drawing, *_ = three()

    assert drawing.do(ClearSelection()) == 1
    assert drawing.do(ClearSelection()) == 0


def test_deleting_takes_the_selected_objects_and_undo_brings_them_back_in_their_places():
    drawing, box, line, text = three()
    drawing.select(box, text)

    assert drawing.do(DeleteSelected()) == (box, text)
    assert drawing.ids() == [line]
    assert selected(drawing) == ()
    drawing.world.undo()

    assert drawing.ids() == [box, line, text]
    assert selected(drawing) == (box, text)


def test_deleting_nothing_is_refused():
    with pytest.raises(ConflictError, match="Nothing is selected, so there is nothing to delete"):
        Drawing().do(DeleteSelected())


def test_the_kind_of_the_selection_is_known_while_something_is_selected():
    drawing = Drawing()
    assert selection_kind(drawing.table) is None
    drawing.rectangle()
    assert selection_kind(drawing.table) == "drawing-object"
    drawing.world.undo()
    assert selection_kind(drawing.table) is None


def test_restyling_counts_what_looks_different():
    drawing, box, line, _ = three()
    drawing.select(box, line)

    made = drawing.do(UpdateSelectionStyle(StyleChanges(stroke_color="#ff0000")))

    assert (made.selected, made.changed) == (2, 1)
    assert drawing.object(line).style.stroke_color == "#FF0000"


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        (StyleChanges(), InvalidArgumentError, "at least one style change"),
        (StyleChanges(opacity=2), InvalidArgumentError, "opacity must be 0"),
        (StyleChanges(fill_color="#FFFFFF"), ConflictError, "None of the selected objects has a filling"),
        (StyleChanges(stroke_width=0), InvalidArgumentError, "object-2 is a line and would vanish"),
    ],
)
def test_a_style_that_cannot_be_given_to_the_selection_is_refused(
    changes: StyleChanges, error: type[EngineError], text: str
):
    drawing, _, line, words = three()
    drawing.select(line, words)

    with pytest.raises(error, match=text):
        drawing.do(UpdateSelectionStyle(changes))


def test_restyling_nothing_is_refused():
    with pytest.raises(ConflictError, match="Nothing is selected"):
        Drawing().do(UpdateSelectionStyle(StyleChanges(opacity=0.5)))
