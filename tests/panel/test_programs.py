"""The view "Code Mode": the last programs with what they did, one that runs, and the SDK of an agent."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.live.engine import SPACE, LiveEngine
from tests.live.opencode import isolated_environment

pytestmark = [pytest.mark.live, pytest.mark.slow]

PROGRAM_SECONDS = 60.0
"""How long a program of these tests may take, with a runtime that starts, on a machine that is busy."""

ROW = """\
// @ts-nocheck
for (let i = 0; i < 3; i++) {
  await tools.space_drawing_insert_shape({ shape: "ellipse", x: i * 30, y: 0, width: 20, height: 20 });
  console.log(`shape ${i} <b>`);
}
return { total: (await tools.space_drawing_inspect({})).total };
"""

FAULTY = """\
const ids = ["shape-x"];
await tools.space_drawing_select({ ids });
"""

REFUSED = """\
const name = "row";
return await tools.space_drawing_inser_shape({});
"""

ENDLESS = """\
await tools.space_drawing_insert_shape({ shape: "ellipse", x: 0, y: 0, width: 20, height: 20 });
for (;;) await new Promise((resolve) => setTimeout(resolve, 50));
"""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    """One engine for all tests of this view."""
    folder = tmp_path_factory.mktemp("programs")
    with LiveEngine(folder, isolated_environment(folder)) as engine:
        yield engine


@pytest.fixture
def programs(window: Callable[..., Page], engine: LiveEngine) -> Page:
    """One window on the programs of the engine."""
    return window(f"{engine.url}/#/programs")


def _run(engine: LiveEngine, code: str, description: str) -> None:
    """Run a program as the command `space run` does; it may fail."""
    _send(engine, "POST", "/api/tools/space_run_code/call?agent=code", {"code": code, "description": description})


def _send(engine: LiveEngine, method: str, path: str, body: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    request = Request(f"{engine.url}{path}", json.dumps(body).encode(), headers, method=method)
    with urlopen(request, timeout=PROGRAM_SECONDS):
        pass


def _section(page: Page, name: str) -> Locator:
    return page.get_by_role("region", name=name, exact=True)


def test_a_program_is_shown_with_its_code_its_calls_what_it_printed_and_what_it_gave(
    programs: Page, engine: LiveEngine
) -> None:
    expect(programs.get_by_text("No program has been run")).to_be_visible()
    expect(programs.get_by_role("status", name="Code runtime")).to_contain_text("Programs can be run")
    _run(engine, ROW, "A row of circles")
    link = programs.get_by_role("link", name="A row of circles")
    expect(link).to_contain_text("done")
    expect(link).to_contain_text(re.compile(r"code · .+ · 4 calls · 1 step$"))
    # The newest is shown where nothing was picked, and Back does not lead to where nothing was.
    expect(programs.get_by_role("heading", name="A row of circles")).to_be_visible()
    assert re.fullmatch(rf"{re.escape(engine.url)}/#/programs/program-\w+", programs.url)
    assert programs.evaluate("history.length") == 2

    expect(_section(programs, "Program").locator(".code-line")).to_have_count(6)
    expect(_section(programs, "Program").locator(".code-keyword").first).to_have_text("for")
    calls = _section(programs, "Calls").get_by_role("listitem")
    expect(calls).to_have_count(4)
    expect(calls.nth(1)).to_contain_text('"x": 30')
    expect(calls.nth(1).get_by_role("link")).to_have_attribute("href", "#/tools/space_drawing_insert_shape")
    expect(_section(programs, "Printed")).to_contain_text("shape 2 <b>")
    expect(_section(programs, "Returned")).to_contain_text('"total": 3')

    programs.get_by_role("button", name="Copy as file").click()
    expect(programs.get_by_text("Copied.")).to_be_visible()
    copied = programs.evaluate("navigator.clipboard.readText()")
    first, rest = ROW.split("\n", 1)
    assert copied == f"{first}\n// A row of circles\n// space run --agent code FILE.ts\n{rest}"


def test_a_program_that_failed_says_where_and_which_call_it_was(programs: Page, engine: LiveEngine) -> None:
    _run(engine, FAULTY, "Select what is not there")
    programs.get_by_role("link", name="Select what is not there").click()
    expect(programs.locator("pre.program-failure")).to_contain_text("There is no object 'shape-x'")
    expect(_section(programs, "Calls").get_by_role("listitem")).to_contain_text("There is no object 'shape-x'")
    expect(_section(programs, "Returned")).to_contain_text("It has returned nothing.")

    _run(engine, REFUSED, "Misspelt")
    programs.get_by_role("link", name="Misspelt").click()
    expect(programs.locator("pre.program-failure")).to_contain_text("Did you mean 'space_drawing_insert_shape'?")
    expect(programs.locator(".is-faulty")).to_have_text("return await tools.space_drawing_inser_shape({});")
    programs.go_back()
    expect(programs.get_by_role("heading", name="Select what is not there")).to_be_visible()


def test_a_program_that_runs_is_followed_and_cancelled(programs: Page, engine: LiveEngine, tmp_path: Path) -> None:
    file = tmp_path / "endless.ts"
    file.write_text(ENDLESS)
    command = [SPACE, "run", str(file), "--description", "Without end", "--url", engine.url]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as running:
        try:
            programs.get_by_role("link", name="Without end").click()
            expect(programs.get_by_text(re.compile(r"\d s so far"))).to_be_visible()
            calls = _section(programs, "Calls")
            expect(calls.get_by_role("listitem")).to_contain_text("space_drawing_insert_shape")
            programs.get_by_role("button", name="Cancel").click()
            expect(programs.locator("pre.program-failure")).to_contain_text("the program was cancelled")
            expect(programs.get_by_role("link", name="Without end")).to_contain_text("1 step")
            expect(calls.get_by_role("listitem")).to_have_count(1)
            assert "cancelled" in running.communicate(timeout=30)[0]
        finally:
            running.kill()


def test_the_sdk_is_that_of_the_agent_and_the_context_and_can_be_searched(
    window: Callable[..., Page], engine: LiveEngine
) -> None:
    page = window(f"{engine.url}/#/programs/sdk")
    expect(page.get_by_role("combobox", name="Agent", exact=True)).to_have_value("code")
    text = page.get_by_label("The SDK", exact=True)
    expect(text.get_by_text("space_drawing_insert_shape(args: {")).to_have_count(1)
    _send(engine, "PATCH", "/api/context", {"surface": "scene"})
    expect(text.get_by_text("space_scene_add_light(args: {")).to_have_count(1)
    expect(text.get_by_text("space_drawing_insert_shape(args: {")).to_have_count(0)

    search = page.get_by_role("searchbox", name="Search in the SDK")
    search.fill("SPACE_SCENE_")
    found = page.get_by_text(re.compile(r"^1 of \d+$"))
    expect(found).to_be_visible()
    search.press("Enter")
    expect(page.get_by_text(re.compile(r"^2 of \d+$"))).to_be_visible()
    assert page.evaluate("CSS.highlights.get('text-search').size") > 2

    page.get_by_role("combobox", name="Form").select_option("Level catalogue: names alone")
    expect(text.get_by_text("space_scene_add_light(args: {")).to_have_count(0)
    expect(text.get_by_text("space_scene_add_light")).to_have_count(1)
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_text("Copied.")).to_be_visible()
    assert json.dumps(page.evaluate("navigator.clipboard.readText()")).count("space_scene_") > 5


def test_nothing_of_code_mode_leaves_a_narrow_window(window: Callable[..., Page], engine: LiveEngine) -> None:
    _run(engine, ROW, "For a narrow window")
    page = window(f"{engine.url}/#/programs", width=380)
    expect(page.get_by_role("link", name="For a narrow window")).to_be_visible()
    expect(page).to_have_url(f"{engine.url}/#/programs")
    page.get_by_role("link", name="For a narrow window").first.click()
    expect(_section(page, "Returned")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.get_by_role("link", name="All programs").click()
    expect(page.get_by_role("link", name="For a narrow window")).to_be_visible()
    page.get_by_role("link", name="SDK").click()
    expect(page.get_by_label("The SDK", exact=True)).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_without_a_runtime_the_view_says_why_and_shows_the_sdk_of_another_agent(
    window: Callable[..., Page], tmp_path: Path
) -> None:
    environment = {**isolated_environment(tmp_path), "SPACE_DENO": str(tmp_path / "no-deno")}
    with LiveEngine(tmp_path, environment) as engine:
        page = window(f"{engine.url}/#/programs/sdk")
        runtime = page.get_by_role("status", name="Code runtime")
        expect(runtime).to_contain_text("Programs cannot be run.")
        expect(runtime).to_contain_text("no-deno")
        agent = page.get_by_role("combobox", name="Agent", exact=True)
        expect(agent.get_by_role("option", name="code, cannot be used")).to_be_disabled()
        expect(agent).to_have_value("standard")
        expect(page.get_by_label("The SDK", exact=True)).to_be_visible()


def test_addresses_of_code_mode_that_lead_nowhere_say_so_and_ask_once(
    window: Callable[..., Page], engine: LiveEngine
) -> None:
    page = window(f"{engine.url}/#/live")
    failed: list[str] = []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    page.goto(f"{engine.url}/#/programs/program-none")
    expect(page.get_by_text("there is no program 'program-none'")).to_be_visible()
    with page.expect_response(lambda answer: answer.url.endswith("/api/programs")):
        _run(engine, "return 1;", "another")
    expect(page.get_by_role("link", name="another")).to_be_visible()
    assert len(failed) == 1

    page.goto(f"{engine.url}/#/programs/sdk/nobody")
    expect(page.get_by_role("alert").filter(has_text="nobody")).to_contain_text("There is no agent nobody")
    expect(page.get_by_label("The SDK", exact=True)).to_contain_text("tools.")
    assert len(failed) == 1
