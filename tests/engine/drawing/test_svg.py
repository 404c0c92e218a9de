from __future__ import annotations

import base64
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.drawing.curve import overshoot, smooth_segments
from engine.drawing.font import FONT_FAMILY, FONT_FILE, WEB_FONT_FILE, is_covered, line_width, text_size
from engine.drawing.geometry import Bounds, Point, bounds_of_points
from engine.drawing.insert import InsertBox, InsertLine, InsertPolygon, InsertStroke, InsertText
from engine.drawing.layers import AddLayer, ArrangeLayer, RenameLayer
from engine.drawing.restyle import UpdateSelectionStyle
from engine.drawing.snapshot import TakeSnapshot, snapshot
from engine.drawing.style import StyleChanges
from engine.drawing.svg import EMPTY_BOX, frame_of, render_svg
from engine.drawing.transform import TransformSelection
from engine.errors import InvalidArgumentError
from tests.engine.drawing.samples import EXAMPLES, Drawing, coordinates

SVG = "{http://www.w3.org/2000/svg}"


def rendered(drawing: Drawing, box: Bounds | None = None, background: str | None = None) -> ElementTree.Element:
    return ElementTree.fromstring(render_svg(snapshot(drawing.table), background=background, box=box))


def only(drawing: Drawing, tag: str) -> ElementTree.Element:
    (element,) = rendered(drawing).iter(SVG + tag)
    return element


def view_box(root: ElementTree.Element) -> list[float]:
    return [float(number) for number in root.attrib["viewBox"].split()]


def test_up_in_the_document_is_up_in_the_picture():
    drawing = Drawing()
    drawing.insert(InsertLine(x1=0, y1=0, x2=10, y2=30))

    line = only(drawing, "line")

    assert (line.attrib["y1"], line.attrib["y2"]) == ("0", "-30")


def test_counter_clockwise_in_the_document_is_counter_clockwise_in_the_picture():
    drawing = Drawing()
    drawing.insert(InsertBox(kind="ellipse", x=0, y=0, width=20, height=10, rotation_degrees=30))

    assert only(drawing, "ellipse").attrib["transform"] == "rotate(-30 10 -5)"


def test_text_stands_upright_and_is_escaped():
    drawing = Drawing()
    drawing.insert(InsertText(x=0, y=0, text='a < b & "c" ]]>\nline two', font_size=10))

    text = only(drawing, "text")

    assert [span.text for span in text] == ['a < b & "c" ]]>', "line two"]
    assert [float(span.attrib["y"]) for span in text] == pytest.approx([-2.4, 9.6])
    assert "scale" not in text.attrib["transform"]
    assert text.attrib["fill"] == "#5499F5"


def test_a_stretched_text_is_stretched_in_the_picture():
    drawing = Drawing()
    drawing.insert(InsertText(x=0, y=0, text="wide"))
    drawing.do(TransformSelection(scale_x=2, scale_y=1))

    assert only(drawing, "text").attrib["transform"].endswith(" scale(2 1)")


def test_alpha_becomes_the_opacity_of_its_paint_and_opacity_that_of_the_object():
    drawing = Drawing()
    style = StyleChanges(fill_color="#FF000080", stroke_color="#00FF00", opacity=0.5)
    drawing.insert(InsertBox(kind="rectangle", x=0, y=0, width=1, height=1, style=style))

    attributes = only(drawing, "rect").attrib

    assert (attributes["fill"], attributes["fill-opacity"]) == ("#FF0000", "0.502")
    assert (attributes["stroke"], attributes.get("stroke-opacity"), attributes["opacity"]) == ("#00FF00", None, "0.5")


def test_a_shape_without_filling_or_outline_has_none():
    drawing = Drawing()
    style = StyleChanges(fill_enabled=False, stroke_width=0)
    drawing.insert(InsertPolygon(points=((0, 0), (4, 0), (0, 4)), style=style))

    attributes = only(drawing, "polygon").attrib

    assert not {"fill", "stroke"} & set(attributes)
    assert rendered(drawing).attrib["fill"] == "none"
    assert attributes["points"] == "0,0 4,0 0,-4"


def test_strokes_have_round_ends_and_joints():
    drawing = Drawing()
    drawing.insert(InsertStroke(points=((0, 0), (5, 5), (10, 0))))

    root = rendered(drawing)

    assert (root.attrib["stroke-linecap"], root.attrib["stroke-linejoin"]) == ("round", "round")
    assert "fill" not in only(drawing, "path").attrib


def test_layers_are_groups_with_their_ids_and_names_from_bottom_to_top():
    drawing = Drawing()
    drawing.do(RenameLayer(name='"sky" & <sea>'))
    drawing.rectangle()
    drawing.do(AddLayer(name="top"))

    groups = list(rendered(drawing).iter(SVG + "g"))

    assert [group.attrib for group in groups] == [
        {"id": "layer-1", "data-name": '"sky" & <sea>'},
        {"id": "layer-2", "data-name": "top"},
    ]
    assert [child.attrib["id"] for child in groups[0]] == ["object-1"]


def test_hidden_layers_are_left_out_and_do_not_count_for_the_box():
    drawing = Drawing()
    drawing.rectangle(0, 0, 100, 100)
    drawing.do(AddLayer())
    drawing.rectangle(900, 900)
    drawing.do(ArrangeLayer(layer=2, visible=False))

    root = rendered(drawing)

    assert len(list(root.iter(SVG + "rect"))) == 1
    assert view_box(root) == pytest.approx([-6.1, -106.1, 112.2, 112.2])


def test_the_background_fills_the_whole_picture_and_none_leaves_it_transparent():
    drawing = Drawing()

    root = rendered(drawing, background="#102030")

    (ground,) = root.iter(SVG + "rect")
    assert ground.attrib["fill"] == "#102030"
    assert [float(ground.attrib[name]) for name in ("x", "y", "width", "height")] == view_box(root)
    assert not list(rendered(drawing).iter(SVG + "rect"))


def test_an_empty_drawing_shows_the_room_around_the_origin():
    assert view_box(rendered(Drawing())) == [EMPTY_BOX.left, -EMPTY_BOX.top, EMPTY_BOX.width, EMPTY_BOX.height]


def test_a_box_shows_only_what_reaches_into_it():
    drawing = Drawing()
    drawing.rectangle(0)
    drawing.rectangle(100)

    root = rendered(drawing, box=Bounds(99, 0, 120, 10))

    assert [rect.attrib["id"] for rect in root.iter(SVG + "rect")] == ["object-2"]
    assert view_box(root) == pytest.approx([99, -10, 21, 10], abs=0.01)


def test_the_font_is_embedded_only_where_there_is_text():
    drawing = Drawing()
    drawing.rectangle()
    assert not list(rendered(drawing).iter(SVG + "style"))

    drawing.insert(InsertText(x=0, y=0, text="Hi"))

    style = only(drawing, "style").text or ""
    embedded = re.search(r"base64,([^)]+)\)", style)
    assert embedded is not None
    assert base64.b64decode(embedded.group(1)) == WEB_FONT_FILE.read_bytes()
    assert f'"{FONT_FAMILY}"' in style


@pytest.mark.parametrize(
    ("size", "frame", "pixels"),
    [
        ((None, None), (0, 0, 20, 10), (1024, 512)),
        ((100, None), (0, 0, 20, 10), (100, 50)),
        ((None, 100), (0, 0, 20, 10), (200, 100)),
        ((100, 100), (0, -5, 20, 15), (100, 100)),
        ((400, 100), (-10, 0, 30, 10), (400, 100)),
    ],
)
def test_the_box_grows_to_the_shape_of_the_picture(
    size: tuple[int | None, int | None], frame: tuple[float, ...], pixels: tuple[int, int]
):
    made, made_size = frame_of(Bounds(0, 0, 20, 10), *size)

    assert made == pytest.approx(frame)
    assert made_size == pixels


def test_a_box_without_room_a_size_or_a_background_that_cannot_be_is_refused():
    empty = snapshot(Drawing().table)
    with pytest.raises(InvalidArgumentError, match="box must be at least"):
        render_svg(empty, background=None, box=Bounds(0, 0, 0, 5))
    with pytest.raises(InvalidArgumentError, match="width must be 1 to 16384 pixels; got 0"):
        render_svg(empty, background=None, width=0)
    with pytest.raises(InvalidArgumentError, match="background must be #RRGGBB"):
        render_svg(empty, background="blue")


def test_a_snapshot_of_a_region_follows_a_change_of_the_stroke_width():
    drawing = Drawing()
    drawing.rectangle(0)
    beside = Bounds(13, 1, 14, 2)
    assert drawing.do(TakeSnapshot(beside)).sheets[0].objects == ()

    drawing.do(UpdateSelectionStyle(StyleChanges(stroke_width=8)))

    assert len(drawing.do(TakeSnapshot(beside)).sheets[0].objects) == 1


def test_a_snapshot_of_a_region_holds_what_may_be_seen_there_and_no_more():
    drawing = Drawing()
    drawing.rectangle(0)
    drawing.rectangle(100)

    near = drawing.do(TakeSnapshot(Bounds(11, 1, 12, 2)))

    assert [item.id for sheet in near.sheets for item in sheet.objects] == ["object-1"]
    assert drawing.world.undo_count == 2


points = st.lists(st.builds(Point, coordinates, coordinates), min_size=2, max_size=12)


@EXAMPLES
@given(points)
def test_the_curve_of_a_stroke_meets_every_point_and_stays_within_its_reach(path: list[Point]):
    around = bounds_of_points(path).grown(overshoot(path) + 1e-9)
    curve = [path[0]]
    for first, second, end in smooth_segments(path):
        curve += [on_curve(curve[-1], first, second, end, step / 8) for step in range(1, 9)]

    assert curve[8::8] == [pytest.approx(point) for point in path[1:]]
    assert all(around.overlaps(Bounds(*point, *point)) for point in curve)


def on_curve(start: Point, first: Point, second: Point, end: Point, part: float) -> Point:
    rest = 1 - part
    weights = (rest**3, 3 * rest**2 * part, 3 * rest * part**2, part**3)
    corners = (start, first, second, end)
    return Point(
        sum(weight * corner.x for weight, corner in zip(weights, corners, strict=True)),
        sum(weight * corner.y for weight, corner in zip(weights, corners, strict=True)),
    )


def test_a_picture_has_room_for_the_swing_of_a_stroke():
    drawing = Drawing()
    drawing.insert(InsertStroke(points=((0, 0), (10, 10), (20, 10), (30, 0)), style=StyleChanges(stroke_width=0.01)))

    painted = snapshot(drawing.table).painted_bounds()

    assert painted is not None
    assert 11 < painted.top < 12


def test_a_stroke_that_ends_where_it_began_is_smooth_there():
    ring = [Point(1, 0), Point(0, 1), Point(-1, 0), Point(0, -1), Point(1, 0)]
    segments = list(smooth_segments(ring))

    first_arm, last_arm = segments[0][0], segments[-1][1]

    assert (first_arm.y, last_arm.y) == pytest.approx((1 / 3, -1 / 3))


def test_the_font_is_measured_as_its_table_says():
    assert line_width("H") > line_width("i") > 0
    assert line_width("Hi") == line_width("H") + line_width("i")
    assert text_size("a\n\nb")[1] == pytest.approx(3.6)
    assert FONT_FILE.stat().st_size < 100_000


def test_characters_that_the_font_lacks_are_known_and_measured_by_their_kind():
    assert is_covered("Grüße, Ελλάδα, Привет → ∑\n")
    assert not is_covered("日本")
    assert line_width("日本") == 2
    assert line_width("\u05d0") == 0.6
