"""Where changed objects are seen: exactly where the picture has them."""

from __future__ import annotations

import io
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from engine.drawing.geometry import union_of
from engine.drawing.index import DrawingIndex
from engine.drawing.insert import InsertBox, InsertText
from engine.drawing.layers import AddLayer, ArrangeLayer
from engine.drawing.marks import marks
from engine.drawing.picture import DrawingPicture
from engine.drawing.restyle import UpdateSelectionStyle
from engine.drawing.selection import DeleteSelected
from engine.drawing.snapshot import snapshot
from engine.drawing.style import StyleChanges
from engine.drawing.svg import LONGER_SIDE
from engine.drawing.transform import TransformSelection
from engine.errors import EngineError
from engine.marks import MOST_LABEL_CHARACTERS, Mark, PixelSize
from engine.theme import THEMES
from engine.view import ViewRequest
from engine.world import Command
from tests.engine.drawing.samples import EXAMPLES, Drawing, asides, steps

SVG = "{http://www.w3.org/2000/svg}"


def marks_of(drawing: Drawing, since: int = 0, size: PixelSize | None = None) -> list[Mark]:
    changes = drawing.world.changes_since(since)
    assert changes is not None
    return list(marks(drawing.table, changes, size))


def test_a_mark_is_where_the_svg_has_the_shape() -> None:
    drawing = Drawing()
    drawing.do(InsertBox(kind="rectangle", x=-300, y=50, width=20, height=20))
    since = drawing.world.revision
    drawing.do(InsertBox(kind="rectangle", x=40, y=-10, width=120, height=60))
    drawing.do(UpdateSelectionStyle(changes=StyleChanges(stroke_width=8)))
    root = ElementTree.fromstring(DrawingPicture(snapshot(drawing.table)).svg(THEMES["dark"]))
    left, top, width, height = (float(number) for number in root.attrib["viewBox"].split())
    shape = list(root.iter(f"{SVG}rect"))[-1]
    x, y, wide, high = (float(shape.attrib[name]) for name in ("x", "y", "width", "height"))

    (mark,) = marks_of(drawing, since)

    assert (mark.id, mark.label, mark.change) == ("object-2", "rectangle", "added")
    assert (mark.left, mark.top) == (
        pytest.approx((x - 4 - left) / width, abs=1e-5),
        pytest.approx((y - 4 - top) / height, abs=1e-5),
    )
    assert (mark.width, mark.height) == (
        pytest.approx((wide + 8) / width, abs=1e-5),
        pytest.approx((high + 8) / height, abs=1e-5),
    )


@pytest.mark.parametrize("size", [(200, 100), (100, 200), (64, 64)])
def test_a_mark_is_where_the_png_of_that_size_has_the_shape(size: PixelSize) -> None:
    drawing = Drawing()
    style = StyleChanges(stroke_width=0, fill_color="#FF0000")
    drawing.do(InsertBox(kind="rectangle", x=0, y=0, width=300, height=100))
    since = drawing.world.revision
    drawing.do(InsertBox(kind="rectangle", x=200, y=20, width=60, height=60, style=style))
    rendered = DrawingPicture(snapshot(drawing.table)).png(ViewRequest(width=size[0], height=size[1]), THEMES["light"])
    image = Image.open(io.BytesIO(rendered.png)).convert("RGB")
    red = Image.eval(image.getchannel("R"), lambda value: 255 * (value > 200))
    green = Image.eval(image.getchannel("G"), lambda value: 255 * (value > 200))
    red.paste(0, mask=green)
    box = red.getbbox()
    assert box is not None

    (mark,) = marks_of(drawing, since, size)

    seen = (mark.left, mark.top, mark.left + mark.width, mark.top + mark.height)
    pixels = tuple(part * side for part, side in zip(seen, (*size, *size), strict=True))
    assert pixels == pytest.approx(box, abs=1.01)


def test_what_is_removed_undone_or_hidden_has_no_mark() -> None:
    drawing = Drawing()
    drawing.rectangle()
    drawing.do(DeleteSelected())
    assert marks_of(drawing) == []
    drawing.world.undo()
    assert [mark.id for mark in marks_of(drawing)] == ["object-1"]
    drawing.world.undo()
    assert marks_of(drawing) == []
    drawing.world.redo()
    drawing.do(AddLayer(name="over"))
    drawing.do(ArrangeLayer(layer="layer-1", visible=False))
    assert marks_of(drawing) == []


def test_layers_selections_and_defaults_are_no_marks() -> None:
    drawing = Drawing()
    shape = drawing.rectangle()
    since = drawing.world.revision
    drawing.do(AddLayer(name="over"))
    drawing.do(ArrangeLayer(layer="layer-1", position=2))
    drawing.select(shape)
    assert drawing.world.revision > since
    assert marks_of(drawing, since) == []


def test_what_was_there_is_changed_and_what_came_is_added_the_newest_first() -> None:
    drawing = Drawing()
    drawing.rectangle()
    since = drawing.world.revision
    drawing.rectangle(x=50)
    drawing.select("object-1")
    drawing.do(TransformSelection(dx=5))
    assert [(mark.id, mark.change) for mark in marks_of(drawing, since)] == [
        ("object-1", "changed"),
        ("object-2", "added"),
    ]


def test_a_text_is_called_by_its_first_line() -> None:
    drawing = Drawing()
    drawing.do(InsertText(x=0, y=0, text="\n  A harbour at dusk  \nwith boats"))
    drawing.do(InsertText(x=0, y=0, text="x" * 200))
    long, short = (mark.label for mark in marks_of(drawing))
    assert short == "A harbour at dusk"
    assert (len(long), long[-1]) == (MOST_LABEL_CHARACTERS, "…")


@EXAMPLES
@given(st.lists(steps | asides | st.sampled_from(["undo", "redo"]), max_size=12))
def test_the_index_knows_the_box_around_all_paint_as_the_picture_does(actions: list[Command[object] | str]) -> None:
    drawing = Drawing()
    for action in actions:
        try:
            if isinstance(action, str):
                drawing.world.undo() if action == "undo" else drawing.world.redo()
            else:
                drawing.world.execute(action)
        except EngineError:
            continue
        shown = snapshot(drawing.table)
        index = drawing.table.index(DrawingIndex)
        boxes = [index.content(sheet.layer.id).painted_around for sheet in shown.sheets]
        assert union_of(box for box in boxes if box is not None) == shown.painted_bounds()
        for mark in marks_of(drawing):
            assert 0 <= mark.left <= mark.left + mark.width <= 1 + 1 / LONGER_SIDE
            assert 0 <= mark.top <= mark.top + mark.height <= 1 + 1 / LONGER_SIDE
