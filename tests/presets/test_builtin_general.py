"""The general presets as the document has them, and what their tools do."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path

import jsonschema_rs
import pytest
from mcp_types import ImageContent, TextContent

from engine.shell import ShellCommand, ShellResult
from engine.view import View, ViewBox, ViewRequest
from presets.builtins import general
from presets.definition import DefaultState, Risk
from protocol.tool import JsonObject, ToolError, ToolOutcome
from tests.presets.fake_app import PICTURE, FakeApp, call

ADAPTERS = general.adapters()
SHOWN_BYTES = 50 * 1024


@pytest.fixture
def app(tmp_path: Path) -> FakeApp:
    (tmp_path / "plan.md").write_text("one\ntwo\n")
    (tmp_path / "notes").mkdir()
    return FakeApp(tmp_path)


async def result_of(app: FakeApp, name: str, /, **arguments: object) -> JsonObject:
    """Call as a client does: arguments and result must match the schemas, and the text says the same as the result."""
    (adapter,) = [adapter for adapter in ADAPTERS if adapter.mcp_name == name]
    jsonschema_rs.validate(dict(adapter.input_schema), arguments)
    outcome = await call(app, ADAPTERS, name, **arguments)
    assert adapter.output_schema is not None
    assert outcome.structured is not None
    jsonschema_rs.validate(dict(adapter.output_schema), outcome.structured)
    text = outcome.content[0]
    assert isinstance(text, TextContent)
    assert len(text.text.encode()) < SHOWN_BYTES
    assert json.loads(text.text) == outcome.structured
    return outcome.structured


# The table


def test_the_presets_are_those_of_the_document_with_view_and_history() -> None:
    table = [
        ("general-theme-tools", "auto", "normal", ["space_app_set_theme"]),
        (
            "general-canvas-tools",
            "auto",
            "normal",
            ["space_app_set_canvas_visible", "space_app_set_activity", "space_app_switch_surface"],
        ),
        ("general-view-tools", "auto", "normal", ["space_app_capture_view"]),
        ("general-history-tools", "auto", "normal", ["space_app_undo", "space_app_redo"]),
        (
            "general-world-tools",
            "off",
            "destructive",
            ["space_app_create_world", "space_app_switch_world", "space_app_delete_world"],
        ),
        (
            "general-file-read-tools",
            "off",
            "filesystem-read",
            ["space_app_read_file", "space_app_list_files", "space_app_search"],
        ),
        ("general-file-write-tools", "off", "filesystem-write", ["space_app_write_file"]),
        ("general-resources", "auto", "normal", []),
        ("general-shell-tools", "off", "shell", ["space_app_run_bash"]),
    ]
    names = {adapter.id: adapter.mcp_name for adapter in ADAPTERS}
    assert [
        (preset.name, preset.default_state.value, preset.risk.value, [names[tool_id] for tool_id in preset.tool_ids])
        for preset in general.presets()
    ] == table


def test_the_presets_hold_on_every_surface_in_the_group_general() -> None:
    for preset in general.presets():
        if preset.name != "general-history-tools":
            assert [dict(pattern) for pattern in preset.contexts] == [{"surface": "any"}]
        assert preset.group == "general"


def test_undo_is_offered_where_the_drawing_does_not_offer_its_own() -> None:
    (preset,) = [preset for preset in general.presets() if preset.name == "general-history-tools"]
    assert [dict(pattern) for pattern in preset.contexts] == [
        {"surface": "scene"},
        {"surface": "canvas", "activity": "graph"},
    ]


def test_whatever_is_risky_is_off_and_says_so_in_its_prompt() -> None:
    for preset in general.presets():
        if preset.risk is not Risk.NORMAL:
            assert preset.default_state is DefaultState.OFF
            assert preset.system_prompt


def test_every_adapter_belongs_to_exactly_one_preset() -> None:
    listed = [tool_id for preset in general.presets() for tool_id in preset.tool_ids]
    assert sorted(listed) == sorted(adapter.id for adapter in ADAPTERS)
    assert len(set(listed)) == len(listed)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_every_tool_has_closed_schemas_and_describes_its_arguments(adapter: general.ToolAdapter) -> None:
    assert re.fullmatch(r"app\.[a-z-]+", adapter.id)
    assert adapter.mcp_name == "space_" + adapter.id.replace(".", "_").replace("-", "_")
    assert adapter.title
    assert adapter.output_schema is not None
    for schema in (adapter.input_schema, adapter.output_schema):
        assert schema["type"] == "object"
        assert schema["additionalProperties"] is False
    for name, schema in adapter.input_schema["properties"].items():
        assert schema.get("description"), name


# Theme and context


async def test_a_theme_is_set_and_its_colours_are_told(app: FakeApp) -> None:
    told = await result_of(app, "space_app_set_theme", theme="light")
    assert told == {"theme": "light", "background": "#FFFFFF", "foreground": "#1B1D21", "changed": True}
    assert app.engine.settings.theme == "light"
    assert (await result_of(app, "space_app_set_theme", theme="light"))["changed"] is False


async def test_an_unknown_theme_is_refused_naming_those_that_exist(app: FakeApp) -> None:
    with pytest.raises(ToolError, match="dark, light"):
        await call(app, ADAPTERS, "space_app_set_theme", theme="mauve")


@pytest.mark.parametrize(
    ("name", "arguments", "context"),
    [
        ("space_app_switch_surface", {"surface": "scene"}, ("scene", False, "drawing")),
        ("space_app_set_canvas_visible", {"visible": False}, ("scene", False, "drawing")),
        ("space_app_set_activity", {"activity": "graph"}, ("canvas", True, "graph")),
        ("space_app_set_activity", {"activity": "my-own_1"}, ("canvas", True, "my-own_1")),
        ("space_app_set_activity", {"activity": "none"}, ("canvas", True, None)),
    ],
)
async def test_the_context_is_changed_as_a_user_would(
    app: FakeApp, name: str, arguments: dict[str, object], context: tuple[str, bool, str | None]
) -> None:
    for changed in (True, False):
        told = await result_of(app, name, **arguments)
        assert (told["surface"], told["canvas_visible"], told.get("activity"), told["changed"]) == (*context, changed)
    assert (app.context.surface, app.context.canvas_visible, app.context.activity) == context


async def test_an_activity_brings_the_user_back_from_the_scene(app: FakeApp) -> None:
    await result_of(app, "space_app_switch_surface", surface="scene")
    told = await result_of(app, "space_app_set_activity", activity="drawing")
    assert told == {"surface": "canvas", "canvas_visible": True, "activity": "drawing", "changed": True}


async def test_a_word_of_patterns_is_no_activity(app: FakeApp) -> None:
    with pytest.raises(ToolError, match="'any' names no activity"):
        await call(app, ADAPTERS, "space_app_set_activity", activity="any")
    assert app.context.activity == "drawing"


@pytest.mark.parametrize("activity", ["", "Drawing", "a b", "-x", "x" * 65])
def test_a_name_that_no_activity_can_have_does_not_match_the_schema(activity: str) -> None:
    (adapter,) = [adapter for adapter in ADAPTERS if adapter.mcp_name == "space_app_set_activity"]
    assert not jsonschema_rs.is_valid(dict(adapter.input_schema), {"activity": activity})


# The view


async def test_the_view_is_a_picture_and_what_it_shows(app: FakeApp) -> None:
    asked: list[ViewRequest] = []

    async def view(request: ViewRequest) -> View:
        asked.append(request)
        box = ViewBox(-1.0, -2.0, 30.0, 40.0)
        return View(png=PICTURE, width=300, height=400, surface="canvas", world_id="world-1", revision=7, box=box)

    app.view = view
    outcome = await call(app, ADAPTERS, "space_app_capture_view", width=300, height=400)
    assert asked == [ViewRequest(width=300, height=400)]
    assert outcome.structured == {
        "surface": "canvas",
        "world_id": "world-1",
        "revision": 7,
        "width": 300,
        "height": 400,
        "box": {"x": -1.0, "y": -2.0, "width": 30.0, "height": 40.0},
    }
    assert pictures(outcome) == [("image/png", PICTURE)]


def pictures(outcome: ToolOutcome) -> list[tuple[str, bytes]]:
    return [(item.mime_type, b64decode(item.data)) for item in outcome.content if isinstance(item, ImageContent)]


async def test_a_part_of_the_canvas_can_be_looked_at(app: FakeApp) -> None:
    async def view(request: ViewRequest) -> View:
        assert request.box == ViewBox(0.0, 0.0, 10.0, 5.0)
        return View(png=PICTURE, width=1024, height=768, surface="canvas", world_id="world-1", revision=0)

    app.view = view
    told = await result_of(app, "space_app_capture_view", box={"x": 0, "y": 0, "width": 10, "height": 5})
    assert "box" not in told


async def test_a_picture_that_clients_would_refuse_is_not_sent(app: FakeApp) -> None:
    async def view(request: ViewRequest) -> View:
        png = b"\0" * 4_000_000
        return View(png=png, width=2000, height=2000, surface="canvas", world_id="world-1", revision=0)

    app.view = view
    with pytest.raises(ToolError, match="smaller width and height"):
        await call(app, ADAPTERS, "space_app_capture_view", width=2000, height=2000)


# Worlds


async def test_worlds_are_made_entered_and_deleted_and_each_result_lists_them(app: FakeApp) -> None:
    made = await result_of(app, "space_app_create_world", name="garden")
    assert (made["world"]["id"], made["world"]["active"], made["changed"]) == ("world-2", True, True)
    assert [world["name"] for world in made["worlds"]] == ["home", "garden"]
    assert app.context.world_id == "world-2"
    back = await result_of(app, "space_app_switch_world", id="world-1")
    assert [world["active"] for world in back["worlds"]] == [True, False]
    gone = await result_of(app, "space_app_delete_world", id="world-2", confirm_name="garden")
    assert (gone["world"]["id"], [world["id"] for world in gone["worlds"]]) == ("world-2", ["world-1"])


async def test_a_world_can_be_made_without_entering_it(app: FakeApp) -> None:
    made = await result_of(app, "space_app_create_world", name="garden", activate=False)
    assert made["world"]["active"] is False
    assert app.context.world_id == "world-1"


async def test_switching_to_the_active_world_says_that_nothing_was_done(app: FakeApp) -> None:
    assert (await result_of(app, "space_app_switch_world", id="world-1"))["changed"] is False


async def test_deleting_a_world_asks_for_its_exact_name(app: FakeApp) -> None:
    await call(app, ADAPTERS, "space_app_create_world", name="garden")
    with pytest.raises(ToolError, match="exactly its name"):
        await call(app, ADAPTERS, "space_app_delete_world", id="world-2", confirm_name="home")
    assert len(app.engine.worlds()) == 2


# Files


async def test_a_file_is_read(app: FakeApp) -> None:
    told = await result_of(app, "space_app_read_file", path="plan.md")
    assert told == {
        "path": "plan.md",
        "text": "one\ntwo\n",
        "first_line": 1,
        "line_count": 2,
        "total_lines": 2,
        "size_bytes": 8,
    }


async def test_a_page_of_a_file_says_how_to_go_on(app: FakeApp) -> None:
    told = await result_of(app, "space_app_read_file", path="plan.md", limit=1)
    assert (told["next_offset"], told["note"]) == (2, "Lines 1 to 1 of 2. Go on with offset 2.")


async def test_a_line_that_is_cut_says_so(app: FakeApp, tmp_path: Path) -> None:
    (tmp_path / "min.js").write_text("\x01" * 100_000 + "\nend")
    told = await result_of(app, "space_app_read_file", path="min.js")
    assert told["note"] == "Line 1 is too long to be given whole; this is its beginning. Go on with offset 2."


async def test_a_folder_with_a_file_and_a_folder_has_two_entries(app: FakeApp) -> None:
    told = await result_of(app, "space_app_list_files")
    assert told == {
        "path": ".",
        "entries": [
            {"name": "notes", "path": "notes", "kind": "folder"},
            {"name": "plan.md", "path": "plan.md", "kind": "file", "size_bytes": 8},
        ],
        "total": 2,
    }
    assert (await result_of(app, "space_app_list_files", limit=1))[
        "note"
    ] == "Entries 1 to 1 of 2. Go on with offset 1."


async def test_files_are_searched(app: FakeApp) -> None:
    told = await result_of(app, "space_app_search", pattern="t.o")
    assert told == {"matches": [{"path": "plan.md", "line": 2, "text": "two"}], "total": 1, "total_is_exact": True}
    assert (await result_of(app, "space_app_search", pattern="none"))["note"] == "No line matches."
    cut = await result_of(app, "space_app_search", pattern="o", limit=1)
    assert cut["note"] == "1 of 2 matches. Narrow the search with path, include or pattern."


async def test_a_file_is_written_once(app: FakeApp, tmp_path: Path) -> None:
    arguments = {"path": "a/b.txt", "content": "hällo", "create_folders": True}
    told = await result_of(app, "space_app_write_file", **arguments)
    assert told == {"path": "a/b.txt", "size_bytes": 6, "created": True, "changed": True}
    assert (tmp_path / "a" / "b.txt").read_text() == "hällo"
    told = await result_of(app, "space_app_write_file", **arguments)
    assert (told["created"], told["changed"]) == (False, False)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("space_app_read_file", {"path": "../x"}),
        ("space_app_list_files", {"path": "/"}),
        ("space_app_search", {"pattern": "x", "path": ".."}),
        ("space_app_write_file", {"path": "/tmp/x", "content": ""}),
        ("space_app_run_bash", {"command": "ls", "working_directory": ".."}),
    ],
)
async def test_no_tool_leaves_the_workspace(app: FakeApp, name: str, arguments: dict[str, object]) -> None:
    with pytest.raises(ToolError, match=r"workspace folder"):
        await call(app, ADAPTERS, name, **arguments)


# The shell


def shell(app: FakeApp, result: ShellResult) -> list[ShellCommand]:
    asked: list[ShellCommand] = []

    async def run(command: ShellCommand) -> ShellResult:
        asked.append(command)
        return result

    app.shell = run
    return asked


async def test_a_command_runs_where_and_as_long_as_it_is_told(app: FakeApp, tmp_path: Path) -> None:
    asked = shell(app, ShellResult(exit_code=0, stdout="hi\n", stderr=""))
    told = await result_of(
        app, "space_app_run_bash", command="echo hi", timeout_seconds=5, working_directory=str(tmp_path / "notes")
    )
    assert told == {
        "exit_code": 0,
        "stdout": "hi\n",
        "stderr": "",
        "timed_out": False,
        "truncated": False,
        "background_ended": False,
    }
    assert asked == [ShellCommand(command="echo hi", timeout_seconds=5, working_directory="notes")]


async def test_a_command_that_fails_is_a_result_with_its_code_and_errors(app: FakeApp) -> None:
    shell(app, ShellResult(exit_code=2, stdout="", stderr="no such thing"))
    told = await result_of(app, "space_app_run_bash", command="false")
    assert (told["exit_code"], told["stderr"]) == (2, "no such thing")


async def test_a_command_that_was_ended_has_no_code(app: FakeApp) -> None:
    shell(app, ShellResult(exit_code=None, stdout="", stderr="", timed_out=True, signal=9, stdout_omitted_bytes=3))
    told = await result_of(app, "space_app_run_bash", command="sleep 1000")
    assert (told["timed_out"], told["signal"], told["truncated"]) == (True, 9, True)
    assert "exit_code" not in told


async def test_processes_left_in_the_background_are_told_to_have_been_ended(app: FakeApp) -> None:
    shell(app, ShellResult(exit_code=0, stdout="", stderr="", background_ended=True))
    told = await result_of(app, "space_app_run_bash", command="server &")
    assert told["background_ended"] is True
    assert "in the same command" in told["note"]


async def test_a_line_too_long_to_be_searched_past_is_named(app: FakeApp, tmp_path: Path) -> None:
    (tmp_path / "huge.txt").write_text("short\n" + "needle " * 2_000_000 + "\n")
    told = await result_of(app, "space_app_search", pattern="needle")
    assert (told["total"], told["total_is_exact"]) == (1, False)
    assert "line 2 of 'huge.txt', which is too long" in told["note"]


async def test_output_that_grows_in_json_is_cut_in_its_middle(app: FakeApp) -> None:
    shell(app, ShellResult(exit_code=0, stdout="start" + "\x1b" * 24_000 + "end", stderr="\x1b" * 8_000))
    told = await result_of(app, "space_app_run_bash", command="colours")
    assert told["truncated"] is True
    assert told["stdout"].startswith("start")
    assert told["stdout"].endswith("end")
    assert "bytes left out" in told["stderr"]
