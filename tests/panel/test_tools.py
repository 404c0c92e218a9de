"""The view "Tools": why a tool is not offered, what turns it on, and whose tools are looked at."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.live.engine import LiveEngine
from tests.live.opencode import isolated_environment

pytestmark = [pytest.mark.live, pytest.mark.slow]

UNIT = '''\
from space_unit import Call, preset, tool


@tool
async def roll(call: Call) -> dict[str, int]:
    """Roll <img src=x onerror=alert(1)> a die."""
    return {"number": 4}


dice = preset("dice", tools=[roll], contexts=[{"surface": "any"}])
'''


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    """One engine for all tests of this view; each finds it as it begins."""
    folder = tmp_path_factory.mktemp("tools")
    with LiveEngine(folder, isolated_environment(folder)) as engine:
        yield engine


@pytest.fixture
def engine(running: LiveEngine) -> Iterator[LiveEngine]:
    """The engine, which is as it began again afterwards."""
    yield running
    for preset in ask(running, "GET", "/status")["overrides"]:
        ask(running, "PUT", f"/api/presets/{preset}/override", {"state": "auto"})
    ask(running, "PATCH", "/api/context", {"surface": "canvas", "activity": "drawing"})


@pytest.fixture
def tools(window: Callable[..., Page], engine: LiveEngine) -> Page:
    """One window on the tools of the engine."""
    return window(f"{engine.url}/#/tools")


def ask(engine: LiveEngine, method: str, path: str, body: object = None) -> Any:
    """What the engine answers to a request; the `space` command would take a second for it."""
    data = None if body is None else json.dumps(body).encode()
    request = Request(engine.url + path, data, {"Content-Type": "application/json"}, method=method)
    with urlopen(request, timeout=30) as answer:
        return json.load(answer)


def _row(page: Page, name: str) -> Locator:
    return page.locator(f'.tool:visible[data-tool="{name}"]')


def _choice(page: Page, preset: str, state: str) -> Locator:
    return page.get_by_role("radiogroup", name=f"{preset}:").get_by_role("radio", name=state, exact=True)


def _preset(engine: LiveEngine, name: str) -> Any:
    return next(row for row in ask(engine, "GET", "/api/presets")["presets"] if row["name"] == name)


def test_who_types_a_name_reads_why_it_is_not_offered_and_turns_it_on_with_the_button_beside_it(
    tools: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    other = window(f"{engine.url}/#/tools/space_app_run_bash")
    tools.get_by_role("searchbox", name="Find a tool").fill("run bash")
    row = _row(tools, "space_app_run_bash")
    expect(row).to_contain_text("off by default because of its risk (shell)")
    row.get_by_role("button", name="Turn on general-shell-tools").click()

    question = tools.get_by_role("dialog", name="Turn on general-shell-tools?")
    expect(question).to_contain_text("run commands and code on this computer")
    expect(question).to_contain_text("space_app_run_bash")
    expect(question).to_contain_text("until the engine ends")
    question.get_by_role("button", name="Cancel").click()
    expect(row).to_contain_text("off by default")
    assert _preset(engine, "general-shell-tools")["override_state"] == "auto"

    row.get_by_role("button", name="Turn on general-shell-tools").click()
    question.get_by_role("button", name="Turn on").click()
    for each in (row, _row(other, "space_app_run_bash")):
        expect(each.get_by_text("offered", exact=True)).to_be_visible()
    expect(row.get_by_role("button")).to_have_count(0)
    expect(row.get_by_role("link")).to_be_focused()

    # Off and auto never ask, and what was agreed to once is not asked again on this page.
    tools.get_by_role("searchbox", name="Find a tool").fill("")
    for state in ("Off", "On"):
        _choice(tools, "general-shell-tools", state).click()
        expect(_choice(other, "general-shell-tools", state)).to_be_checked()
    expect(tools.get_by_role("dialog")).to_have_count(0)
    _choice(other, "general-shell-tools", "Off").click()
    _choice(other, "general-shell-tools", "On").click()
    expect(other.get_by_role("dialog")).to_be_visible()


def test_a_tool_of_another_context_is_reached_by_going_there_and_the_change_says_what_it_did(tools: Page) -> None:
    changes = tools.get_by_role("complementary", name="Changes of context")
    tools.get_by_role("searchbox", name="Find a tool").fill("space_scene_add_light")
    row = _row(tools, "space_scene_add_light")
    expect(row).to_contain_text("hidden in this context (surface=canvas)")
    row.get_by_role("button", name="Go to the scene").click()
    expect(row.get_by_text("offered", exact=True)).to_be_visible()
    expect(tools.get_by_role("button", name="Scene")).to_have_attribute("aria-pressed", "true")

    latest = changes.get_by_role("listitem").first
    expect(latest).to_contain_text("surface canvas → scene")
    expect(latest).to_contain_text("just now")
    latest.get_by_text(re.compile(r"tools shown")).click()
    latest.get_by_role("link", name="space_scene_add_light").click()
    expect(row.get_by_role("heading")).to_have_text("Add a light")


def test_presets_are_chosen_with_the_arrow_keys_and_nothing_is_lost_when_the_list_comes_anew(
    tools: Page, engine: LiveEngine
) -> None:
    expect(tools.get_by_role("region", name="Drawing")).to_contain_text("5 of 7 active")
    tools.get_by_role("button", name="drawing-color-tools").click()
    tool = _row(tools, "space_drawing_sample_color").get_by_role("link")
    expect(tool).to_be_visible()
    kept = tool.element_handle()

    _choice(tools, "drawing-color-tools", "Auto").press("ArrowLeft")
    expect(_choice(tools, "drawing-color-tools", "Off")).to_be_checked()
    expect(_choice(tools, "drawing-color-tools", "Off")).to_be_focused()
    line = tools.get_by_role("region", name="Drawing").get_by_role("listitem").filter(has_text="drawing-color-tools")
    expect(line.first).to_contain_text("you turned it off")
    assert _preset(engine, "drawing-color-tools")["override_state"] == "off"

    # Somebody else turns it back, and the row that this page has is the one that it had.
    ask(engine, "PUT", "/api/presets/drawing-color-tools/override", {"state": "auto"})
    expect(_choice(tools, "drawing-color-tools", "Auto")).to_be_checked()
    expect(_choice(tools, "drawing-color-tools", "Auto")).not_to_be_focused()
    assert kept is not None
    assert kept.evaluate("(link) => link.isConnected")


def test_a_tool_has_an_address_with_what_it_does_and_takes(window: Callable[..., Page], engine: LiveEngine) -> None:
    page = window(f"{engine.url}/#/tools/space_drawing_insert_shape")
    row = _row(page, "space_drawing_insert_shape")
    expect(row).to_contain_text("Put a rectangle, ellipse, circle, polygon or text")
    expect(row.get_by_role("row").nth(1)).to_contain_text("shape required")
    row.get_by_text("JSON schema", exact=True).click()
    expect(row.locator("pre").first).to_contain_text('"additionalProperties": false')

    other = _row(page, "space_drawing_insert_line")
    other.get_by_role("link").click()
    expect(page).to_have_url(f"{engine.url}/#/tools/space_drawing_insert_line")
    expect(other).to_contain_text("Draw a straight line")
    page.go_back()
    expect(row).to_contain_text("Put a rectangle")
    expect(other.get_by_text("Draw a straight line")).to_be_hidden()


def test_a_name_that_no_tool_has_is_answered_with_those_that_are_meant(
    window: Callable[..., Page], engine: LiveEngine
) -> None:
    page = window(f"{engine.url}/#/tools/space_drawing_inser_shape")
    expect(page.get_by_role("searchbox", name="Find a tool")).to_have_value("space_drawing_inser_shape")
    answer = page.get_by_role("status", name="No such tool")
    expect(answer).to_contain_text("There is no tool 'space_drawing_inser_shape'. Did you mean")
    answer.get_by_role("link", name="space_drawing_insert_shape").click()
    expect(answer).to_be_hidden()
    expect(_row(page, "space_drawing_insert_shape")).to_contain_text("Put a rectangle")


def test_with_the_eyes_of_an_agent_a_person_sees_what_that_agent_sees(tools: Page) -> None:
    search = tools.get_by_role("searchbox", name="Find a tool")
    search.fill("set_theme")
    row = _row(tools, "space_app_set_theme")
    expect(row.get_by_text("offered", exact=True)).to_be_visible()
    tools.get_by_role("combobox", name="As agent").select_option("minimal")
    expect(row).to_contain_text("hidden by agent 'minimal'")
    tools.get_by_role("combobox", name="As agent").select_option("code")
    expect(row.get_by_text("in programs", exact=True)).to_be_visible()
    expect(row).to_contain_text("from inside a program")

    search.fill("")
    expect(tools.get_by_role("region", name="Tools without a preset")).to_contain_text("space_run_code")
    tools.get_by_label("State", exact=True).select_option("-")
    expect(_row(tools, "space_app_set_theme")).to_have_count(0)
    expect(_row(tools, "space_app_run_bash")).to_be_visible()


def test_a_unit_brings_its_preset_and_leaves_a_word_that_can_be_cleared(
    window: Callable[..., Page], engine: LiveEngine
) -> None:
    unit = Path(ask(engine, "GET", "/status")["engine"]["data"]) / "units" / "dice"
    unit.mkdir(parents=True)
    (unit / "unit.toml").touch()
    (unit / "unit.py").write_text(UNIT)
    page = window(f"{engine.url}/#/tools")
    page.get_by_role("region", name="Dice").get_by_role("button", name="dice").click()
    _row(page, "space_dice_roll").get_by_role("link").click()
    # What a file says is text.
    expect(_row(page, "space_dice_roll")).to_contain_text("Roll <img src=x onerror=alert(1)> a die.")
    expect(page.locator(".tools-view img")).to_have_count(0)

    _choice(page, "dice", "Off").click()
    expect(_row(page, "space_dice_roll")).to_contain_text("the user turned preset")
    shutil.rmtree(unit)
    gone = page.get_by_role("region", name="Your word about presets that are gone")
    expect(gone).to_contain_text("dice")
    gone.get_by_role("button", name="Clear").click()
    expect(gone).to_have_count(0)


def test_nothing_leaves_a_narrow_window(window: Callable[..., Page], engine: LiveEngine) -> None:
    page = window(f"{engine.url}/#/tools/space_app_run_bash", width=380)
    expect(_row(page, "space_app_run_bash")).to_be_visible()
    page.get_by_role("button", name="Collapse all").click()
    page.get_by_role("button", name="Expand all").click()
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_a_tool_is_found_by_what_it_does_and_by_words_that_are_nearly_right(tools: Page) -> None:
    failed: list[str] = []
    tools.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    search = tools.get_by_role("searchbox", name="Find a tool")
    for words in ("run a command", "command RUN", "shell"):
        search.fill(words)
        expect(_row(tools, "space_app_run_bash")).to_be_visible()
    # What has the word in its name comes before what has it in its description.
    search.fill("theme")
    expect(tools.locator(".tool:visible").first).to_have_attribute("data-tool", "space_app_set_theme")

    search.fill("")
    search.press_sequentially("inzert shpae", delay=30)
    answer = tools.get_by_role("status", name="No such tool")
    expect(answer).to_contain_text("Perhaps you mean")
    expect(answer.get_by_role("link", name="space_drawing_insert_shape")).to_be_visible()
    # Only what is written as a name is asked about, and once, when nobody types any more.
    search.fill("")
    with tools.expect_response(re.compile(r"/api/tools/")):
        search.press_sequentially("zzz_qqq_www", delay=30)
    expect(answer).to_contain_text("There is no tool 'zzz_qqq_www'")
    search.fill("zzz")
    search.fill("zzz_qqq_www")
    expect(answer).to_contain_text("There is no tool 'zzz_qqq_www'")
    assert [url.rsplit("/", 1)[1] for url in failed] == ["zzz_qqq_www"]


def test_what_has_not_changed_yet_takes_no_room_and_later_stands_below_the_tools_of_a_narrow_window(
    window: Callable[..., Page], tmp_path: Path
) -> None:
    with LiveEngine(tmp_path, isolated_environment(tmp_path)) as engine:
        page = window(f"{engine.url}/#/tools", width=380)
        line = page.get_by_role("region", name="General").get_by_role("listitem").filter(has_text="general-shell-tools")
        expect(line.first).to_contain_text("off by default")
        expect(_choice(page, "general-shell-tools", "Auto")).to_be_checked()
        changes = page.get_by_role("complementary", name="Changes of context")
        expect(changes).to_be_hidden()
        ask(engine, "PATCH", "/api/context", {"surface": "scene"})
        expect(changes).to_be_visible()
        above, below = page.get_by_role("region", name="General").bounding_box(), changes.bounding_box()
        assert above is not None
        assert below is not None
        assert below["y"] > above["y"]

        # What is expanded is collapsed, whether it is all or not.
        page.get_by_role("button", name="drawing-color-tools").click()
        expect(_row(page, "space_drawing_sample_color")).to_be_visible()
        expect(page.get_by_role("button", name="Expand all")).to_be_enabled()
        page.get_by_role("button", name="Collapse all").click()
        expect(_row(page, "space_drawing_sample_color")).to_have_count(0)
        expect(page.get_by_role("button", name="Collapse all")).to_be_disabled()
