"""The drawing presets and their tools, as an agent meets them.

Cases of the existing engine (D) are noted by their numbers; 060 and 061 do not hold here, because what deletes is off
until somebody turns it on.
"""

from __future__ import annotations

import json
import re
from typing import Any

import jsonschema_rs
import pytest

from presets.adapters import ToolAdapter
from presets.builtins import drawing
from presets.context import ContextSnapshot
from presets.definition import DefaultState, Risk
from presets.overrides import NO_OVERRIDES
from presets.registry import PresetRegistry
from presets.resolution import resolve
from protocol.tool import ToolError
from tests.presets.fake_app import FakeApp, SilentCall
from tests.presets.samples import DRAWING, GRAPH, SCENE

ADAPTERS = drawing.adapters()
BY_NAME = {adapter.mcp_name.removeprefix("space_drawing_"): adapter for adapter in ADAPTERS}

TABLE = {
    "drawing-shape-tools": ("auto", "normal", ["inspect", "set_tool", "insert_shape", "insert_line", "insert_stroke"]),
    "drawing-layer-tools": ("auto", "normal", ["add_layer", "duplicate_layer", "rename_layer", "set_active_layer"]),
    "drawing-layer-destructive-tools": ("off", "destructive", ["delete_layer"]),
    "drawing-color-tools": ("auto", "normal", ["set_defaults", "update_selection_style", "sample_color"]),
    "drawing-history-tools": ("auto", "normal", ["undo", "redo"]),
    "drawing-selection-tools": ("auto", "normal", ["select", "transform_selection", "clear_selection"]),
    "drawing-selection-destructive-tools": ("off", "destructive", ["delete_selected"]),
}
"""The table of the document."""


class Tools:
    """A fresh engine, and its drawing tools by their short names; every call is checked against its schemas."""

    def __init__(self) -> None:
        self.app = FakeApp()

    async def __call__(self, tool: str, /, **arguments: object) -> dict[str, Any]:
        adapter = BY_NAME[tool]
        jsonschema_rs.validate(dict(adapter.input_schema), arguments)
        outcome = await adapter.make_run(self.app)(arguments, SilentCall())
        assert outcome.structured is not None
        assert adapter.output_schema is not None
        jsonschema_rs.validate(dict(adapter.output_schema), dict(outcome.structured))
        return dict(outcome.structured)

    async def refused(self, tool: str, /, **arguments: object) -> str:
        """The error of a call that must fail, and must leave the world as it is."""
        before = self.app.engine.active_world.revision
        with pytest.raises(ToolError) as error:
            await self(tool, **arguments)
        assert self.app.engine.active_world.revision == before
        return str(error.value)

    async def rectangle(self, x: float = 0, y: float = 0, width: float = 10, height: float = 4, **style: object) -> str:
        made = await self("insert_shape", shape="rectangle", x=x, y=y, width=width, height=height, **style)
        return made["id"]

    async def object(self, object_id: str, **arguments: object) -> dict[str, Any]:
        (found,) = (await self("inspect", ids=[object_id], **arguments))["objects"]
        return found


@pytest.fixture
def tools() -> Tools:
    return Tools()


def offered(context: ContextSnapshot) -> set[str]:
    return set(resolve(PresetRegistry(drawing.presets()), context, NO_OVERRIDES).tool_ids)


def test_the_presets_are_those_of_the_documents_table():
    names = {adapter.id: adapter.mcp_name.removeprefix("space_drawing_") for adapter in ADAPTERS}

    written = {
        preset.name: (preset.default_state.value, preset.risk.value, [names[tool_id] for tool_id in preset.tool_ids])
        for preset in drawing.presets()
    }

    assert written == TABLE
    assert list(written) == list(TABLE)
    assert {preset.group for preset in drawing.presets()} == {"drawing"}


def test_what_destroys_is_off_by_default():
    for preset in drawing.presets():
        assert (preset.risk is Risk.DESTRUCTIVE) == (preset.default_state is DefaultState.OFF)


def test_the_drawing_tools_are_there_while_drawing_and_nowhere_else():  # 058
    while_drawing = offered(DRAWING)

    assert "drawing.transform-selection" in while_drawing
    assert not {"drawing.delete-layer", "drawing.delete-selected"} & while_drawing
    assert len(while_drawing) == 17
    assert offered(GRAPH) == offered(SCENE) == set()


def test_every_tool_belongs_to_exactly_one_preset():
    listed = [tool_id for preset in drawing.presets() for tool_id in preset.tool_ids]

    assert sorted(listed) == sorted(adapter.id for adapter in ADAPTERS)
    assert len(set(listed)) == 19


@pytest.mark.parametrize("tool", ["insert_shape", "insert_line", "insert_stroke"])
def test_inserting_tools_say_that_y_goes_up(tool: str):  # 064, 065
    assert "+y moves up" in BY_NAME[tool].description


def test_the_prompt_says_that_y_goes_up():  # 063
    (prompt,) = [preset.system_prompt for preset in drawing.presets() if preset.name == "drawing-shape-tools"]
    assert prompt is not None
    assert "+y moves up" in prompt


def test_the_transform_takes_degrees_and_a_scale():  # 062
    assert {"rotation_degrees", "scale"} <= set(BY_NAME["transform_selection"].input_schema["properties"])


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_schemas_are_plain_closed_objects_and_valid(adapter: ToolAdapter):
    assert adapter.output_schema is not None
    for schema in (adapter.input_schema, adapter.output_schema):
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
        assert not {"anyOf", "oneOf", "allOf", "$ref", "$defs"} & set(schema)
        assert "$ref" not in json.dumps(schema)
        jsonschema_rs.meta.validate(dict(schema))
    assert all(re.fullmatch(r"[a-z][a-z0-9_]*", name) for name in adapter.input_schema["properties"])


async def test_a_shape_reaches_right_and_up_from_its_corner(tools: Tools):  # 066, 067, 068
    made = await tools("insert_shape", shape="rectangle", x=0, y=0, width=10, height=4)

    shape = await tools.object(made["id"])
    assert (shape["center"], shape["size"]) == ({"x": 5, "y": 2}, {"x": 10, "y": 4})
    assert made["bounds"] == shape["bounds"] == {"left": 0, "bottom": 0, "right": 10, "top": 4}
    assert (made["kind"], made["layer_id"], made["layer_name"]) == ("rectangle", "layer-1", "Layer 1")


async def test_the_points_of_a_stroke_come_back_in_order(tools: Tools):  # 070
    points = [{"x": 0, "y": 0}, {"x": 0, "y": 5}, {"x": 2, "y": 7}]
    made = await tools("insert_stroke", points=points)

    stroke = await tools.object(made["id"], include_points=True, max_points=3)

    assert stroke["points"] == points
    assert stroke["points_truncated"] is False


async def test_points_of_a_stroke_are_cut_where_they_are_too_many_and_can_be_read_on(tools: Tools):  # 085, 086
    made = await tools("insert_stroke", points=[{"x": 0, "y": 0}, {"x": 0, "y": 5}, {"x": 2, "y": 7}])

    cut = await tools.object(made["id"], include_points=True, max_points=2)
    rest = await tools.object(made["id"], include_points=True, max_points=2, points_offset=2)

    assert (len(cut["points"]), cut["points_truncated"], cut["point_count"]) == (2, True, 3)
    assert (rest["points"], rest["points_truncated"]) == ([{"x": 2, "y": 7}], False)


async def test_inspect_without_arguments_lists_what_is_on_the_active_layer(tools: Tools):  # 071
    await tools.rectangle()

    seen = await tools("inspect")

    (shape,) = seen["objects"]
    assert (shape["kind"], shape["layer_id"], shape["selected"]) == ("rectangle", seen["active_layer_id"], True)
    assert "points" not in shape
    assert seen["layers"][0]["kinds"] == {"rectangle": 1}


async def test_inspect_of_a_fresh_world_shows_the_layer_that_is_drawn_on(tools: Tools):
    seen = await tools("inspect")

    (layer,) = seen["layers"]
    assert (layer["id"], layer["name"], layer["position"], layer["active"]) == ("layer-1", "Layer 1", 1, True)
    assert (seen["active_tool"], seen["total"], seen["selection_ids"]) == ("select", 0, [])
    assert seen["defaults"] == {
        "stroke_color": "#5499F5",
        "fill_color": "#5499F538",
        "stroke_width": 2,
        "opacity": 1,
        "fill_enabled": True,
    }


async def test_inspect_says_of_every_object_whether_it_is_selected(tools: Tools):
    await tools.rectangle()
    await tools.rectangle()

    assert [each["selected"] for each in (await tools("inspect"))["objects"]] == [False, True]


async def test_inspect_without_objects_is_only_the_summary(tools: Tools):
    await tools.rectangle()

    seen = await tools("inspect", include_objects=False)

    assert (seen["objects"], seen["total"], "next" in seen) == ([], 1, False)


async def test_inspect_pages_through_a_drawing_without_missing_or_repeating(tools: Tools):
    made = [await tools.rectangle(x) for x in range(120)]
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await tools("inspect", limit=200, offset=offset)
        assert len(json.dumps(page)) < 40 * 1024
        seen += [each["id"] for each in page["objects"]]
        offset = page.get("next")

    assert seen == made


async def test_the_largest_answers_of_inspect_stay_below_40_kib(tools: Tools):
    for number in range(150):
        await tools("add_layer", name="ж" * 96 + f"{number:03}")
    for number in range(30):
        await tools("insert_shape", shape="text", x=0, y=number, text="\\ж" * 1000)
    points = [{"x": -123456.123456 - n, "y": -123456.654321 + n} for n in range(500)]
    for _ in range(4):
        await tools("insert_shape", shape="polygon", points=points)
    await tools("select", all=True)

    texts = await tools("inspect", limit=200)
    polygons = await tools("inspect", kind="polygon", include_points=True, max_points=400)

    for seen in (texts, polygons):
        assert 20 * 1024 < len(json.dumps(seen, ensure_ascii=False).encode()) < 40 * 1024
        assert seen["objects"]
        assert seen["next"]
        assert seen["layers_next"]


async def test_layers_are_paged_too(tools: Tools):
    for number in range(99):
        await tools("add_layer", name=f"{number} " + "n" * 90)
    seen: list[str] = []
    offset: int | None = 0
    while offset is not None:
        page = await tools("inspect", layers_offset=offset)
        seen += [layer["id"] for layer in page["layers"]]
        offset = page.get("layers_next")

    assert seen == [f"layer-{number}" for number in range(1, 101)]


async def test_a_box_with_negative_extents_selects_as_well(tools: Tools):  # 072
    made = await tools.rectangle()
    await tools("clear_selection")

    done = await tools("select", bounds={"x": 10, "y": 4, "width": -10, "height": -4})

    assert (done["selected"], done["matched"], done["ids"]) == (1, 1, [made])


async def test_a_transform_turns_and_scales(tools: Tools):  # 075, 076
    made = await tools.rectangle()

    await tools("transform_selection", rotation_degrees=90, scale=0.5)

    shape = await tools.object(made)
    assert (shape["size"], shape["rotation_degrees"]) == ({"x": 5, "y": 2}, 90)


async def test_a_box_selects_by_the_turned_extent(tools: Tools):  # 077
    made = await tools.rectangle(2, 3.5)
    where = {"x": 6.5, "y": 7, "width": 1, "height": 0.4}
    await tools("transform_selection", scale=0.5)
    assert (await tools("select", bounds=where))["selected"] == 0
    await tools("select", ids=[made])
    await tools("transform_selection", rotation_degrees=90, scale=2)

    assert (await tools("select", bounds=where))["ids"] == [made]


async def test_a_style_change_without_any_change_is_refused(tools: Tools):  # 078
    await tools.rectangle()

    assert "at least one style change" in await tools.refused("update_selection_style")
    assert "at least one style change" in await tools.refused("update_selection_style", changes={})


async def test_a_style_change_shows_on_the_selected_shape(tools: Tools):  # 079
    made = await tools.rectangle()

    done = await tools("update_selection_style", stroke_color="#FF0000", thickness=5, changes={"opacity": 0.5})

    style = (await tools.object(made))["style"]
    assert (done["selected"], done["changed"]) == (1, 1)
    assert (style["stroke_color"], style["stroke_width"], style["opacity"]) == ("#FF0000", 5, 0.5)


async def test_two_words_for_the_width_must_not_contradict_each_other(tools: Tools):
    await tools.rectangle()

    text = await tools.refused("update_selection_style", thickness=1, stroke_width=2)

    assert "stroke_width and thickness mean the same, but are 2 and 1" in text


async def test_colors_keep_their_alpha(tools: Tools):
    made = await tools.rectangle(fill_color="#11223344", stroke_color="aabbcc")

    style = (await tools.object(made))["style"]
    assert (style["fill_color"], style["stroke_color"]) == ("#11223344", "#AABBCC")


async def test_a_circle_is_an_ellipse(tools: Tools):
    made = await tools("insert_shape", shape="circle", x=0, y=0, width=10, height=10)

    assert made["kind"] == "ellipse"


async def test_a_polygon_is_drawn_through_its_corners(tools: Tools):
    corners = [{"x": 0, "y": 0}, {"x": 10, "y": 0}, {"x": 5, "y": 8}]
    made = await tools("insert_shape", shape="polygon", points=corners, x=100)

    assert (made["kind"], made["point_count"]) == ("polygon", 3)
    assert made["bounds"] == {"left": 100, "bottom": 0, "right": 110, "top": 8}


async def test_a_text_is_written_where_it_is_put(tools: Tools):
    made = await tools("insert_shape", shape="text", x=5, y=6, text="Hi", font_size=10, anchor="center")

    item = await tools.object(made["id"])
    assert (item["text"], item["font_size"], item["center"]) == ("Hi", 10, {"x": 5, "y": 6})
    assert "note" not in made


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"shape": "rectangle", "x": 0, "y": 0}, "A rectangle needs x, y, width, height; width and height are missing"),
        ({"shape": "ellipse", "x": 0, "width": 1, "height": 1}, "y is missing"),
        ({"shape": "text", "x": 0, "y": 0}, "A text needs text"),
        ({"shape": "text", "text": "a"}, "A text needs x, y; x and y are missing"),
        ({"shape": "text", "x": 0, "y": 0, "text": "a", "width": 5}, "A text takes no width"),
        ({"shape": "polygon"}, "A polygon needs points"),
        ({"shape": "circle", "x": 0, "y": 0, "width": 1, "height": 1, "text": "a"}, "A circle takes no text"),
        ({"shape": "rectangle", "x": 0, "y": 0, "width": 0.0005, "height": 1}, "width must be at least 0.001"),
    ],
)
async def test_a_shape_that_is_not_whole_is_refused_with_what_it_needs(
    tools: Tools, arguments: dict[str, object], text: str
):
    assert text in await tools.refused("insert_shape", **arguments)


async def test_what_cannot_be_seen_is_answered_with_a_note(tools: Tools):
    made = await tools("insert_line", x1=0, y1=0, x2=1, y2=1, opacity=0)
    assert "fully transparent" in made["note"]

    foreign = await tools("insert_shape", shape="text", x=0, y=0, text="日本")
    assert "not in the font" in foreign["note"]

    await tools("set_active_layer", layer=1, visible=False)
    hidden = await tools("insert_line", x1=0, y1=0, x2=1, y2=1)
    assert "layer-1 is hidden" in hidden["note"]


async def test_a_box_that_is_half_of_each_form_is_refused(tools: Tools):
    await tools.rectangle()

    for bounds in ({}, {"left": 0, "right": 1}, {"x": 0, "y": 0, "width": 1, "height": 1, "left": 0}):
        assert "bounds must give either" in await tools.refused("select", bounds=bounds)
        assert "bounds must give either" in await tools.refused("inspect", bounds=bounds)


async def test_the_tool_in_the_hand_decides_how_strokes_look(tools: Tools):
    points = [{"x": 0, "y": 0}, {"x": 50, "y": 5}]
    done = await tools("set_tool", tool="marker")
    assert (done["tool"], done["changed"]) == ("marker", True)

    marked = await tools("insert_stroke", points=points)
    penned = await tools("insert_stroke", points=points, tool="pen")

    assert (marked["style"]["stroke_width"], marked["style"]["opacity"]) == (7, 0.35)
    assert (penned["style"]["stroke_width"], penned["style"]["opacity"]) == (2, 1)


async def test_dropped_points_are_counted(tools: Tools):
    made = await tools("insert_stroke", points=[{"x": 0, "y": 0}, {"x": 0.1, "y": 0}, {"x": 9, "y": 0}])

    assert (made["point_count"], made["dropped_points"]) == (2, 1)


async def test_layers_are_kept_with_the_layer_tools(tools: Tools):
    added = await tools("add_layer", name="sky", visible=False)
    assert (added["layer"]["id"], added["layer"]["visible"], added["layer"]["active"]) == ("layer-2", False, True)
    await tools("rename_layer", name="clouds", layer="sky")
    moved = await tools("set_active_layer", layer="clouds", visible=True, position=1)
    assert (moved["layer"]["position"], moved["layer"]["visible"]) == (1, True)
    copied = await tools("duplicate_layer", layer="Layer 1")
    assert (copied["layer"]["name"], copied["layer"]["position"]) == ("Layer 1 Copy", 3)

    gone = await tools("delete_layer", layer=2)

    assert (gone["name"], gone["active_layer_id"]) == ("Layer 1", copied["layer"]["id"])
    assert [layer["name"] for layer in (await tools("inspect"))["layers"]] == ["clouds", "Layer 1 Copy"]


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [("duplicate_layer", {}), ("rename_layer", {"name": "x"}), ("delete_layer", {}), ("set_active_layer", {})],
)
async def test_a_layer_that_does_not_exist_is_refused_with_those_that_do(
    tools: Tools, tool: str, arguments: dict[str, object]
):
    assert "no layer 7" in await tools.refused(tool, layer=7, **arguments)
    assert "layer-1 ('Layer 1')" in await tools.refused(tool, layer="sea", **arguments)


async def test_a_layer_may_be_named_like_a_number(tools: Tools):
    await tools("add_layer", name="1")

    assert (await tools("set_active_layer", layer="1"))["layer"]["id"] == "layer-2"
    assert (await tools("set_active_layer", layer=1))["layer"]["id"] == "layer-1"


async def test_defaults_are_changed_all_or_not_at_all(tools: Tools):
    before = (await tools("inspect"))["defaults"]
    with pytest.raises(jsonschema_rs.ValidationError):
        await tools("set_defaults", color="#FF0000", stroke_width=-1)
    assert (await tools("inspect"))["defaults"] == before

    done = await tools("set_defaults", color="#FF0000", fill_color="#00FF0080", changes={"opacity": 0.5})

    assert done["changed"] is True
    assert (done["defaults"]["stroke_color"], done["defaults"]["fill_color"]) == ("#FF0000", "#00FF0080")
    assert done["defaults"]["opacity"] == 0.5


async def test_what_is_given_beside_changes_wins(tools: Tools):
    changes = {"stroke_color": "#111111", "thickness": 9, "fill_color": "#222222"}

    done = await tools("set_defaults", color="#333333", stroke_width=4, changes=changes)

    assert (done["defaults"]["stroke_color"], done["defaults"]["fill_color"]) == ("#333333", "#333333")
    assert done["defaults"]["stroke_width"] == 4


async def test_defaults_without_a_change_say_so(tools: Tools):
    assert (await tools("set_defaults"))["changed"] is False


async def test_a_sampled_color_is_returned_and_becomes_the_default(tools: Tools):
    await tools.rectangle(fill_color="#FF00FF80", stroke_width=0)

    done = await tools("sample_color", x=5, y=2)

    assert done["color"] == "#FF00FF80"
    assert (done["red"], done["green"], done["blue"], done["alpha"]) == (255, 0, 255, 128)
    defaults = (await tools("inspect"))["defaults"]
    assert (defaults["stroke_color"], defaults["fill_color"]) == ("#FF00FF80", "#FF00FF80")
    assert done["defaults"] == defaults


async def test_a_color_can_be_sampled_without_touching_the_defaults(tools: Tools):
    await tools.rectangle(fill_color="#112233", stroke_width=0)
    before = (await tools("inspect"))["defaults"]

    done = await tools("sample_color", x=5, y=2, set_defaults=False)

    assert (done["color"], done["defaults_set"]) == ("#112233", False)
    assert (await tools("inspect"))["defaults"] == before


async def test_sampling_nothing_gives_a_transparent_color_and_says_what_follows(tools: Tools):
    done = await tools("sample_color", x=500, y=500)

    assert (done["color"], done["defaults"]["stroke_color"]) == ("#00000000", "#00000000")
    assert "cannot be seen until" in done["note"]
    assert (await tools("sample_color", x=500, y=500, set_defaults=False))["note"] == "Nothing is drawn there."


async def test_undo_and_redo_name_the_step_and_say_when_there_is_none(tools: Tools):
    assert "nothing to undo" in await tools.refused("undo")
    assert "nothing to redo" in await tools.refused("redo")
    await tools.rectangle()

    undone = await tools("undo")
    assert (undone["step"], undone["undo_count"], undone["redo_count"]) == ("insert shape", 0, 1)
    assert (await tools("inspect"))["total"] == 0
    assert (await tools("redo"))["redo_count"] == 0
    assert (await tools("inspect"))["total"] == 1


async def test_objects_are_selected_by_look(tools: Tools):
    red = await tools.rectangle(stroke_color="#FF0000")
    await tools.rectangle()

    assert (await tools("select", filter={"stroke_color": "#ff0000"}))["ids"] == [red]


async def test_a_selection_says_nothing_it_was_not_told(tools: Tools):
    assert "Say what to select" in await tools.refused("select")
    assert "Say what to select" in await tools.refused("select", all=False)


async def test_selecting_and_clearing_move_the_context(tools: Tools):
    await tools.rectangle()
    assert tools.app.context.selection_kind == "drawing-object"

    done = await tools("clear_selection")

    assert done["cleared"] == 1
    assert tools.app.context.selection_kind is None


async def test_long_lists_of_ids_are_cut_and_counted(tools: Tools):
    for number in range(60):
        await tools.rectangle(number)

    done = await tools("select", all=True)

    assert (done["selected"], len(done["ids"])) == (60, 50)
    assert len((await tools("inspect"))["selection_ids"]) == 50
    gone = await tools("delete_selected")
    assert (gone["deleted"], len(gone["ids"])) == (60, 50)


async def test_deleting_and_transforming_nothing_is_refused(tools: Tools):
    assert "nothing to delete" in await tools.refused("delete_selected")
    assert "nothing to transform" in await tools.refused("transform_selection", dx=1)
    assert "nothing to restyle" in await tools.refused("update_selection_style", opacity=1)


async def test_a_transform_that_changes_nothing_is_refused(tools: Tools):
    await tools.rectangle()

    assert "changes nothing" in await tools.refused("transform_selection")


async def test_looking_is_marked_as_looking():
    assert [adapter.mcp_name for adapter in ADAPTERS if adapter.read_only] == ["space_drawing_inspect"]


@pytest.mark.parametrize("tool", ["set_defaults", "update_selection_style"])
async def test_only_the_top_of_a_style_change_takes_a_base_revision(tool: str) -> None:
    members = BY_NAME[tool].input_schema["properties"]
    assert "base_revision" in members
    assert "base_revision" not in members["changes"]["properties"]
    assert {"stroke_color", "fill_color", "thickness"} <= set(members["changes"]["properties"])
    with pytest.raises(jsonschema_rs.ValidationError):
        await Tools()(tool, changes={"opacity": 0.5, "base_revision": 0})


@pytest.mark.parametrize("tool", ["insert_line", "insert_stroke"])
def test_what_has_no_inside_offers_no_filling(tool: str) -> None:
    members = BY_NAME[tool].input_schema["properties"]
    assert {"stroke_color", "stroke_width", "opacity", "base_revision"} <= set(members)
    assert not [name for name in members if name.startswith("fill")]


def test_the_points_to_show_are_counted_in_whole_numbers() -> None:
    assert BY_NAME["inspect"].input_schema["properties"]["max_points"]["type"] == "integer"
