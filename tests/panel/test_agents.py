"""The view of the agents: what a model reads, who may change it, and that nobody's change is lost."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Dialog, Locator, Page, Route, expect

from tests.live.engine import LiveEngine, wait_until
from tests.live.opencode import isolated_environment

pytestmark = [pytest.mark.live, pytest.mark.slow]

ANSWER_SECONDS = 10.0
"""How long the engine may take over one request."""

PREVIEW = "/api/agent-blocks/standard/preview"

SCRIPT = "return '<img src=x onerror=alert(1)>' + ctx.story.name;"
"""A script of somebody else's, whose text would do harm if anything took it for markup."""


@pytest.fixture(scope="module")
def _running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    folder = tmp_path_factory.mktemp("agents")
    with LiveEngine(folder, isolated_environment(folder)) as engine:
        yield engine


@pytest.fixture
def engine(_running: LiveEngine) -> LiveEngine:
    """One engine for all tests here, with every agent as it comes and no story."""
    for agent in ("standard", "minimal"):
        _send(_running, "POST", f"/api/agent-blocks/{agent}/reset", {})
    for story in _get(_running, "/api/stories")["stories"]:
        _send(_running, "POST", f"/api/stories/{story['id']}/archive", {})
    _send(_running, "PATCH", "/api/context", {"surface": "canvas"})
    return _running


def test_an_agent_is_picked_by_link_and_keyboard_and_an_unusable_one_says_why(page: Page, engine: LiveEngine) -> None:
    folder = engine.workspace.parent / "engine" / "agents" / "mine"
    folder.mkdir(parents=True)
    (folder / "composition.yml").write_text("- row: restrct\n", encoding="utf-8")
    page.goto(f"{engine.url}/#/agents")
    agents = page.get_by_role("navigation", name="Agents")
    standard = agents.get_by_role("link", name="Standard")
    expect(standard).to_contain_text("default")
    # Something is shown at once, and Back does not lead to where nothing was.
    expect(page).to_have_url(f"{engine.url}/#/agents/space/standard")
    expect(page.get_by_role("heading", level=1)).to_have_text("Standard")
    standard.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(f"{engine.url}/#/agents/space/code")
    expect(page.get_by_role("heading", level=1)).to_have_text("Code")
    expect(page.get_by_text("programs call the tools")).to_be_visible()
    page.go_back()
    expect(page).to_have_url(f"{engine.url}/#/agents/space/standard")
    page.go_back()
    expect(page).to_have_url(f"{engine.url}/")
    page.go_forward()
    agents.get_by_role("link", name="mine").click()
    expect(page.get_by_text("This agent cannot be used.")).to_be_visible()
    expect(page.get_by_role("article")).to_contain_text("Did you mean 'restrict'?")
    expect(page.get_by_role("button", name="Export…")).to_be_hidden()
    # Where there is room for one of them only, the list comes first.
    page.set_viewport_size({"width": 380, "height": 700})
    page.get_by_role("link", name="All agents").click()
    expect(standard).to_be_visible()
    expect(page).to_have_url(f"{engine.url}/#/agents")
    assert page.evaluate("document.documentElement.scrollWidth") <= 380


def test_an_agent_is_called_what_the_language_of_the_browser_calls_it(page: Page, engine: LiveEngine) -> None:
    page.goto(f"{engine.url}/#/agents/space/standard")
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Standard")
    expect(heading).to_have_attribute("title", "标准模式")
    languages = "Object.defineProperty(navigator, 'languages', { get: () => ['de', 'zh-CN', 'en'] })"
    page.add_init_script(languages)
    page.reload()
    expect(heading).to_have_text("标准模式")
    expect(heading).to_have_attribute("title", "Standard")
    expect(heading).to_have_attribute("lang", "zh")
    link = page.get_by_role("navigation", name="Agents").get_by_role("link", name="标准模式")
    expect(link).not_to_contain_text("Standard")


def test_an_agent_of_ones_own_is_copied_and_removed(page: Page, engine: LiveEngine) -> None:
    page.goto(f"{engine.url}/#/agents/space/standard")
    page.get_by_role("button", name="Copy agent…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Id").fill("Not an id")
    dialog.get_by_role("button", name="Copy").click()
    expect(dialog.get_by_role("alert")).to_contain_text("is no id of an agent")
    dialog.get_by_label("Id").fill("careful")
    dialog.get_by_label("Name").fill("Careful")
    dialog.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Careful")
    expect(page).to_have_url(f"{engine.url}/#/agents/space/careful")
    page.get_by_role("button", name="Remove…").click()
    page.get_by_role("button", name="Remove the agent").click()
    expect(page).to_have_url(f"{engine.url}/#/agents/space/standard")
    expect(page.get_by_role("navigation", name="Agents").get_by_role("link", name="Careful")).to_have_count(0)


def test_a_story_is_created_where_there_is_none_and_its_agents_say_which_model_they_get_and_why(
    page: Page, engine: LiveEngine
) -> None:
    page.goto(f"{engine.url}/#/agents")
    page.get_by_role("button", name="Create a story…").click()
    question = page.get_by_role("dialog", name="Create a story")
    question.get_by_label("Name").fill("Salt")
    question.get_by_role("button", name="Create", exact=True).click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Writer")
    model = _section(page, "Model")
    model.locator("summary").click()
    expect(model).to_contain_text("There is no provider of models yet")
    model.get_by_role("button", name="Add a provider…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Address").fill("http://127.0.0.1:9/v1")
    dialog.get_by_label("Default model").fill("small")
    dialog.get_by_role("button", name="Add").click()
    expect(model).to_contain_text("since it is the default provider")
    model.get_by_label("Set for").select_option("generation")
    model.get_by_label("Provider").select_option("main")
    field = model.get_by_label("Model")
    field.fill("large")
    field.press("Enter")
    temperature = model.get_by_label("Temperature")
    temperature.fill("0.4")
    temperature.press("Enter")
    expect(model).to_contain_text("A run asks large of main, temperature 0.4, by what is set for generation.")
    page.get_by_role("switch", name="Plan before writing").check()
    wait_until(lambda: _story(engine)["settings"].get("generationMode") == "prewriter", "the mode is saved")
    assert _story(engine)["settings"]["modelOverrides"] == {
        "generation": {"providerId": "main", "modelId": "large", "temperature": 0.4}
    }
    page.get_by_role("link", name="Librarian Analyze").click()
    page.get_by_role("switch", name="Analyze after each generation").uncheck()
    path = f"/api/stories/{_story(engine)['id']}/agent-blocks/librarian.analyze"
    wait_until(lambda: _get(engine, path)["config"]["disableAutoAnalysis"], "the switch is saved")


def test_the_preview_is_cut_exactly_into_blocks_and_follows_every_change_as_text(
    page: Page, engine: LiveEngine
) -> None:
    page.goto(f"{engine.url}/#/agents/space/standard")
    message = page.get_by_role("region", name="system message")
    expect(message.locator("summary", has_text="instructions")).to_contain_text("as standard defines it")
    _send(engine, "PATCH", "/api/context", {"surface": "graph"})
    expect(message).to_contain_text("surface=graph")
    text = "<b>bold</b> &amp; [@block=world]"
    _patch(engine, "standard", {"overrides": {"tools": {"contentMode": "override", "customContent": text}}})
    block = message.locator("details").filter(has_text="your text (override)")
    # A line of a text that looks like a marker is escaped, so it opens no block.
    expect(block.locator("pre")).to_have_text("[@block=tools]\n<b>bold</b> &amp; [@block=world]")
    expect(message.locator("b")).to_have_count(0)
    whole = _get(engine, PREVIEW)
    shown = [block.text_content() for block in message.locator("pre").all()]
    assert "\n\n".join(each or "" for each in shown) == whole["messages"][0]["content"]
    expect(page.get_by_role("region", name="What the model reads")).to_contain_text(f"≈ {whole['tokens']} tokens")


def test_a_tool_is_switched_off_in_one_window_and_the_other_shows_it(
    page: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    other = window(f"{engine.url}/#/agents/space/standard")
    page.goto(f"{engine.url}/#/agents/space/standard")
    for each in (page, other):
        _section(each, "Tools").locator("summary").first.click()
    page.get_by_role("switch", name="space_app_set_theme").uncheck()
    expect(other.get_by_role("switch", name="space_app_set_theme")).not_to_be_checked()
    # Another tool, and at the same time: neither window undoes what the other has done.
    other.get_by_role("switch", name="space_drawing_undo").uncheck()
    page.get_by_role("switch", name="space_drawing_redo").uncheck()
    wait_until(lambda: len(_config(engine)["disabledTools"]) == 3, "all three are off")
    for each in (page, other):
        expect(_section(each, "Tools")).to_contain_text("19 of 22 on")
        expect(each.get_by_role("switch", name="space_drawing_redo")).not_to_be_checked()
        expect(each.get_by_role("switch", name="space_drawing_undo")).not_to_be_checked()


def test_two_people_change_one_text_and_both_versions_are_shown_until_one_is_picked(
    page: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    _patch(engine, "standard", {"overrides": {"world": {"contentMode": "append", "customContent": "As it was."}}})
    other = window(f"{engine.url}/#/agents/space/standard")
    page.goto(f"{engine.url}/#/agents/space/standard")
    mine, theirs = (_open_text(each, "world") for each in (page, other))
    send = _type_and_hold(page, mine, "As I want it.", "PATCH")
    theirs.fill("As they want it.")
    theirs.blur()
    wait_until(lambda: _text(engine) == "As they want it.", "their change is saved")
    send()
    dialog = page.get_by_role("dialog", name="Changed in two places")
    expect(dialog.get_by_label("Theirs", exact=True)).to_have_text("As they want it.")
    expect(dialog.get_by_label("Mine", exact=True)).to_have_text("As I want it.")
    page.keyboard.press("Escape")
    expect(mine).to_have_value("As I want it.")
    assert _text(engine) == "As they want it."
    page.get_by_role("button", name="Show both versions…").click()
    dialog.get_by_role("button", name="Keep mine").click()
    wait_until(lambda: _text(engine) == "As I want it.", "mine is saved")
    expect(theirs).to_have_value("As I want it.")

    # The other way round: what is not used can still be copied.
    send = _type_and_hold(other, theirs, "Once more.", "PATCH")
    mine.fill("And again.")
    mine.blur()
    wait_until(lambda: _text(engine) == "And again.", "mine is saved")
    send()
    other.get_by_role("button", name="Take theirs").click()
    expect(theirs).to_have_value("And again.")
    other.get_by_role("button", name="Copy mine").click()
    assert other.evaluate("navigator.clipboard.readText()") == "Once more."
    assert _text(engine) == "And again."


def test_two_people_set_a_temperature_at_once_and_the_second_is_asked_which_one_counts(
    page: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    _send(engine, "POST", "/api/stories", {"name": "Salt"})
    address = f"{engine.url}/#/agents/story/{_story(engine)['id']}/generation.writer"
    other = window(address)
    page.goto(address)
    mine, theirs = (_section(each, "Model") for each in (page, other))
    for each in (mine, theirs):
        each.locator("summary").click()
        each.get_by_label("Temperature").focus()
    mine.get_by_label("Temperature").fill("0.3")
    theirs.get_by_label("Temperature").fill("0.9")
    theirs.get_by_label("Model").fill("large")
    wait_until(lambda: "modelOverrides" in _story(engine)["settings"], "theirs is saved")
    mine.get_by_label("Temperature").press("Enter")
    dialog = page.get_by_role("dialog", name="Changed in two places")
    expect(dialog.get_by_label("Theirs", exact=True)).to_have_text("0.9")
    dialog.get_by_role("button", name="Keep mine").click()
    theirs.get_by_label("Model").press("Enter")
    wanted = {"generation.writer": {"temperature": 0.3, "modelId": "large"}}
    wait_until(lambda: _story(engine)["settings"]["modelOverrides"] == wanted, "each has what counts of it")
    expect(theirs.get_by_label("Temperature")).to_have_value("0.3")


def test_what_a_window_has_changed_itself_is_no_conflict_to_it_and_what_another_has_is(
    page: Page, engine: LiveEngine
) -> None:
    outcome = page.evaluate(
        """async () => {
          const { configStore } = await import("/panel/views/agents/config_store.js");
          const store = configStore("/api/agent-blocks/standard");
          store.start();
          while (store.state === null) await new Promise((resolve) => setTimeout(resolve, 10));
          const base = store.state;
          const put = (text) => () => ({ overrides: { world: { contentMode: "append", customContent: text } } });
          const outcomes = [];
          for (const text of ["one", "two", "one"]) {
            outcomes.push((await store.change("it", put(text), { base })).outcome);
          }
          const patch = JSON.stringify(put("theirs")());
          await fetch("/api/agent-blocks/standard/config", {
            method: "PATCH", body: patch, headers: { "Content-Type": "application/json" },
          });
          const last = store.change("it", put("mine"), { base });
          while (store.conflict === null) await new Promise((resolve) => setTimeout(resolve, 10));
          const said = store.conflict.differences.map((each) => each.fields.map((field) => [field.theirs, field.mine]));
          store.conflict.resolve(new Set());
          outcomes.push((await last).outcome);
          return { outcomes, said };
        }"""
    )
    assert outcome == {"outcomes": ["saved", "saved", "saved", "theirs"], "said": [[["theirs", "mine"]]]}
    assert _text(engine) == "theirs"


def test_a_block_that_somebody_deletes_while_it_is_edited_comes_back_whole_when_mine_is_kept(
    page: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    block = {"id": "cb-abcd", "name": "Style", "role": "system", "type": "simple", "content": "Short sentences."}
    _send(engine, "POST", "/api/agent-blocks/standard/custom", block)
    other = window(f"{engine.url}/#/agents/space/standard")
    page.goto(f"{engine.url}/#/agents/space/standard")
    mine = _open_text(page, "Style")
    send = _type_and_hold(page, mine, "Long sentences.", "PUT")
    _open_text(other, "Style")
    other.get_by_role("button", name="Delete this block").click()
    wait_until(lambda: _config(engine)["customBlocks"] == [], "it is deleted")
    send()
    dialog = page.get_by_role("dialog", name="Changed in two places")
    expect(dialog.get_by_label("Theirs", exact=True)).to_have_text("(nothing)")
    dialog.get_by_role("button", name="Keep mine").click()
    back = {**block, "content": "Long sentences.", "enabled": True}
    wait_until(lambda: [one | {"order": 0} for one in _config(engine)["customBlocks"]] == [back | {"order": 0}], "back")


def test_what_is_typed_while_the_engine_restarts_is_saved_when_it_is_back(page: Page, engine: LiveEngine) -> None:
    _patch(engine, "standard", {"overrides": {"world": {"contentMode": "append", "customContent": "Before."}}})
    page.goto(f"{engine.url}/#/agents/space/standard")
    field = _open_text(page, "world")
    field.fill("Half a")
    engine.stop()
    field.press("End")
    field.press_sequentially(" sentence.")
    field.blur()
    state = page.get_by_role("status", name="Saving")
    expect(state).to_have_text("1 not saved: the engine does not answer yet")
    expect(field).to_have_value("Half a sentence.")
    engine.start()
    expect(state).to_have_text("Everything is saved")
    assert _text(engine) == "Half a sentence."
    expect(field).to_have_value("Half a sentence.")


def test_what_is_too_large_for_the_engine_is_refused_before_it_is_sent(page: Page, engine: LiveEngine) -> None:
    page.goto(f"{engine.url}/#/agents/space/standard")
    page.get_by_role("article").get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import a configuration")
    take = dialog.get_by_role("button", name="Replace")
    dialog.get_by_label("The configuration as text").fill(json.dumps({"config": {"disabledTools": []}}))
    expect(take).to_be_enabled()
    for size, said in ((5, "the engine takes at most 4 MiB"), (17, "large.json: It has 17 MiB")):
        large = {"name": "large.json", "mimeType": "application/json", "buffer": _large(size)}
        dialog.get_by_label("From a file").set_input_files(files=[large])  # type: ignore[list-item]
        expect(dialog.get_by_role("alert")).to_contain_text(said)
        expect(take).to_be_disabled()


def _large(mebibytes: int) -> bytes:
    return json.dumps({"config": {"disabledTools": ["x" * mebibytes * 1024 * 1024]}}).encode()


def test_an_agent_that_there_is_not_is_said_so_once_and_nobody_is_asked_about_it(
    page: Page, engine: LiveEngine
) -> None:
    failed: list[str] = []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    for address in ("space/nobody", "space/..%2f", "story/none/generation.writer"):
        page.goto(f"{engine.url}/#/agents/{address}")
        expect(page.get_by_role("heading", level=1)).to_have_text("There is no such agent")
        expect(page.get_by_role("main").get_by_role("alert")).to_have_count(1)
        expect(page.get_by_role("button", name="Copy agent…")).to_have_count(0)
    page.get_by_role("alert").get_by_role("link", name="All agents").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Standard")
    assert failed == []


def test_an_import_shows_its_scripts_as_text_before_it_is_taken_and_can_be_undone(
    page: Page, engine: LiveEngine
) -> None:
    alerts: list[str] = []

    def dismiss(dialog: Dialog) -> None:
        alerts.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    _patch(engine, "standard", {"disabledTools": ["space_drawing_undo"]})
    before = _config(engine)
    page.goto(f"{engine.url}/#/agents/space/standard")
    page.get_by_role("article").get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import a configuration")
    area = dialog.get_by_label("The configuration as text")
    take = dialog.get_by_role("button", name="Replace")
    area.fill("{")
    expect(dialog.get_by_role("alert")).to_contain_text("This is no configuration")
    expect(take).to_be_disabled()
    area.fill(json.dumps({"config": {"customBlocks": [{"id": "x", "name": "X", "role": "system", "type": "simple"}]}}))
    take.click()
    expect(dialog.get_by_role("alert")).to_contain_text("customBlocks.0.id: must be 'cb-' and 4 to 12 of a-z and 0-9")
    assert _config(engine) == before

    block = {"id": "cb-abcd", "name": "Hero", "role": "system", "type": "script", "content": SCRIPT}
    area.fill(json.dumps({"agentName": "code", "config": {"customBlocks": [block]}}))
    scripts = dialog.get_by_role("region", name="Scripts that come in")
    expect(scripts.get_by_label("Script Hero")).to_have_text(SCRIPT)
    expect(dialog).to_contain_text("It was exported from code.")
    assert _config(engine) == before
    dialog.get_by_role("button", name="Replace it, with 1 script").click()
    expect(page.get_by_role("region", name="system message")).to_contain_text("<img src=x onerror=alert(1)>home")
    expect(page.locator("img[src='x']")).to_have_count(0)
    page.get_by_role("button", name="Undo", exact=True).click()
    wait_until(lambda: _config(engine) == before, "the old configuration is back")
    assert not alerts


def test_a_configuration_goes_out_as_a_file_and_comes_in_from_it_and_a_reset_can_be_undone(
    page: Page, engine: LiveEngine, tmp_path: Path
) -> None:
    _patch(engine, "standard", {"overrides": {"tools": {"enabled": False}}, "disabledTools": ["space_drawing_undo"]})
    changed = _config(engine)
    page.goto(f"{engine.url}/#/agents/space/standard")
    page.get_by_role("button", name="Export…").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    assert json.loads(file.read_text(encoding="utf-8"))["config"] == changed
    page.get_by_role("button", name="Close").click()

    page.get_by_role("button", name="Reset…").click()
    question = page.get_by_role("dialog")
    expect(question).to_contain_text("1 tool switched off: space_drawing_undo")
    question.get_by_role("button", name="Reset to defaults").click()
    wait_until(lambda: _config(engine)["disabledTools"] == [], "it is as it comes")
    page.get_by_role("button", name="Undo", exact=True).click()
    wait_until(lambda: _config(engine) == changed, "the reset is undone")

    page.goto(f"{engine.url}/#/agents/space/minimal")
    page.get_by_role("article").get_by_role("button", name="Import…").click()
    page.get_by_label("From a file").set_input_files(file)
    page.get_by_role("button", name="Replace the configuration").click()
    wait_until(lambda: _config(engine, "minimal") == changed, "the other agent has it")


def test_the_agents_of_space_go_out_and_come_in_as_one_bundle_which_never_undoes_what_came_after(
    page: Page, engine: LiveEngine, tmp_path: Path
) -> None:
    _patch(engine, "minimal", {"overrides": {"tools": {"enabled": False}}})
    page.goto(f"{engine.url}/#/agents/space/standard")
    transfers = page.get_by_role("group", name="Configurations of Space’s own agents")
    transfers.get_by_role("button", name="Export all…").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    file = tmp_path / download.value.suggested_filename
    download.value.save_as(file)
    bundle = json.loads(file.read_text(encoding="utf-8"))
    assert bundle == {"agentBlockConfigs": {"minimal": _config(engine, "minimal")}}
    page.get_by_role("button", name="Close").click()

    before = _config(engine), _config(engine, "minimal")
    block = {"id": "cb-abcd", "name": "Hero", "role": "system", "type": "script", "content": SCRIPT}
    transfers.get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import agents of Space")
    area = dialog.get_by_label("The configuration as text")
    area.fill('{"agentName": "standard", "config": {}}')
    expect(dialog.get_by_role("alert")).to_contain_text("it is the configuration of one agent, standard")
    area.fill(json.dumps({"agentBlockConfigs": {"standrd": {}, "minimal": {"blockOrder": 1}}}))
    dialog.get_by_role("button", name="Replace").click()
    expect(dialog.get_by_role("alert")).to_contain_text("standrd: there is no agent of that name")
    expect(dialog.get_by_role("alert")).to_contain_text("minimal.blockOrder: ")
    bundle["agentBlockConfigs"] = {
        "standard": {"customBlocks": [block], "disabledTools": ["space_no_such_tool"]},
        "minimal": {"disabledTools": ["space_drawing_undo"]},
    }
    file.write_text(json.dumps(bundle), encoding="utf-8")
    dialog.get_by_label("From a file").set_input_files(file)
    expect(dialog.get_by_label("Script Hero of standard")).to_have_text(SCRIPT)
    assert (_config(engine), _config(engine, "minimal")) == before
    dialog.get_by_role("button", name="Replace them, with 1 script").click()
    results = dialog.get_by_role("list", name="Results")
    expect(results.get_by_text("standard: replaced, with the script Hero")).to_contain_text(
        "tools that this agent does not have"
    )
    expect(dialog).to_contain_text("What came in holds scripts, which run whenever a prompt is made.")
    assert _config(engine, "minimal")["disabledTools"] == ["space_drawing_undo"]

    _patch(engine, "minimal", {"disabledTools": ["space_drawing_redo"]})
    dialog.get_by_role("button", name="Undo").click()
    expect(results.get_by_role("listitem").filter(has_text="standard")).to_contain_text("brought back")
    expect(results.get_by_role("listitem").filter(has_text="minimal")).to_contain_text("stays: ")
    assert _config(engine) == before[0]
    assert _config(engine, "minimal")["disabledTools"] == ["space_drawing_redo"]


def test_a_story_has_a_bundle_of_its_own_and_its_active_branch_is_chosen_where_it_has_several(
    page: Page, engine: LiveEngine
) -> None:
    _send(engine, "POST", "/api/stories", {"name": "Salt"})
    path = f"/api/stories/{_story(engine)['id']}"
    page.goto(f"{engine.url}/#/agents/story/{_story(engine)['id']}/generation.writer")
    branch = page.get_by_role("combobox", name="Branch")
    expect(page.get_by_role("heading", level=1)).to_have_text("Writer")
    expect(branch).to_be_hidden()
    _send(engine, "POST", f"{path}/branches", {"name": "Storm"})
    expect(branch).to_be_visible()
    active = _get(engine, f"{path}/branches")
    expect(branch).to_have_text(
        next(one["name"] for one in active["branches"] if one["id"] == active["activeBranchId"])
    )
    for name in ("Storm", "Main"):
        branch.click()
        page.get_by_role("listbox", name="Branch").get_by_role("option", name=name).click()
        expect(page.get_by_text(f"The story goes on in {name}.")).to_be_visible()
        index = _get(engine, f"{path}/branches")
        assert [one["name"] for one in index["branches"] if one["id"] == index["activeBranchId"]] == [name]

    transfers = page.get_by_role("group", name="Configurations of the story’s agents")
    transfers.get_by_role("button", name="Export all…").click()
    expect(page.get_by_text("Every agent of Salt is as it comes")).to_be_visible()
    transfers.get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import agents of Salt")
    bundle = {"agentBlockConfigs": {"librarian.analyze": {"disableAutoAnalysis": True}}}
    dialog.get_by_label("The configuration as text").fill(json.dumps(bundle))
    dialog.get_by_role("button", name="Replace the configurations").click()
    expect(dialog.get_by_role("list", name="Results")).to_have_text("librarian.analyze: replaced")
    assert _get(engine, f"{path}/agent-blocks/librarian.analyze")["config"]["disableAutoAnalysis"]
    dialog.get_by_role("button", name="Undo").click()
    expect(dialog.get_by_role("list", name="Results")).to_have_text("librarian.analyze: brought back")
    assert not _get(engine, f"{path}/agent-blocks/librarian.analyze")["config"]["disableAutoAnalysis"]


def test_providers_are_tried_changed_and_deleted_and_a_key_never_comes_out(page: Page, engine: LiveEngine) -> None:
    _send(engine, "POST", "/api/stories", {"name": "Salt"})
    provider = {"baseURL": "http://127.0.0.1:9/v1", "apiKey": "sk-secret", "defaultModel": "small", "temperature": 0.5}
    _send(engine, "PUT", "/api/providers/near", provider)
    page.goto(f"{engine.url}/#/agents/story/{_story(engine)['id']}/generation.writer")
    _section(page, "Model").locator("summary").click()
    page.get_by_role("button", name="Providers…").click()
    dialog = page.get_by_role("dialog", name="Providers of models")
    row = dialog.get_by_role("listitem").filter(has_text="near")
    expect(row).to_contain_text("http://127.0.0.1:9/v1 · small · a key is stored")
    row.get_by_role("button", name="Test").click()
    expect(row.get_by_role("status")).to_contain_text("127.0.0.1:9")

    row.get_by_role("button", name="Change…").click()
    form = page.get_by_role("dialog", name="Change near")
    expect(form.get_by_label("Key", exact=True)).to_have_value("")
    form.get_by_label("Address").fill("http://127.0.0.1:8/v1")
    form.get_by_role("button", name="Save").click()
    expect(form.get_by_role("alert")).to_contain_text("must be given anew, or null")
    form.get_by_label("Forget the stored key").check()
    form.get_by_label("Default model").fill("large")
    form.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("http://127.0.0.1:8/v1 · large · no key")
    row.get_by_role("button", name="Switch off").click()
    expect(row.get_by_role("button", name="Switch on")).to_be_focused()
    now = _get(engine, "/api/providers/near")
    assert (now["enabled"], now["hasKey"], now["temperature"]) == (False, False, 0.5)

    row.get_by_role("button", name="Delete…").click()
    page.get_by_role("button", name="Delete the provider").click()
    expect(row).to_have_count(0)
    assert "sk-secret" not in page.content()
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_label("Provider").get_by_role("option", name="near", exact=True)).to_have_count(0)


def test_the_list_of_blocks_shows_the_sizes_of_the_prompt_and_which_script_fails(
    page: Page, engine: LiveEngine
) -> None:
    block = {"id": "cb-abcd", "name": "Hero", "role": "system", "type": "script", "content": "return '1'"}
    _send(engine, "POST", "/api/agent-blocks/standard/custom", block)
    page.goto(f"{engine.url}/#/agents/space/standard")
    row = page.get_by_role("listitem").filter(has=page.get_by_role("button", name="Edit Hero"))
    (size,) = [one["tokens"] for one in _get(engine, PREVIEW)["blocks"] if one["name"] == "Hero"]
    expect(row.locator(".block-tokens")).to_have_text(f"{size} tokens")
    expect(row.get_by_text("error", exact=True)).to_have_count(0)
    _send(engine, "PUT", "/api/agent-blocks/standard/custom/cb-abcd", {"content": "throw new Error('no hero')"})
    expect(row.get_by_text("error", exact=True)).to_have_attribute("title", re.compile("no hero"))
    _send(engine, "PUT", "/api/agent-blocks/standard/custom/cb-abcd", {"content": "return '2'"})
    expect(row.get_by_text("error", exact=True)).to_have_count(0)


def _section(page: Page, heading: str) -> Locator:
    return page.locator("details").filter(has=page.get_by_role("heading", name=heading, exact=True))


def _open_text(page: Page, block: str) -> Locator:
    """The field of the text that is put to a builtin block."""
    edit = page.get_by_role("button", name=f"Edit {block}")
    edit.click()
    return page.get_by_role("listitem").filter(has=edit).locator("textarea")


def _type_and_hold(page: Page, field: Locator, text: str, method: str) -> Callable[[], None]:
    """Have the page send what is typed, and keep that request from the engine until the function is called."""
    requests = "**/api/agent-blocks/**"

    def hold(route: Route) -> None:
        if route.request.method != method:
            route.continue_()

    page.route(requests, hold)
    with page.expect_request(lambda request: request.method == method):
        field.fill(text)
        field.blur()
    # What is held is sent as it is once nobody holds anything any more.
    return lambda: page.unroute(requests)


def _config(engine: LiveEngine, agent: str = "standard") -> dict[str, Any]:
    return _get(engine, f"/api/agent-blocks/{agent}")["config"]


def _text(engine: LiveEngine) -> str | None:
    return _config(engine)["overrides"].get("world", {}).get("customContent")


def _story(engine: LiveEngine) -> dict[str, Any]:
    (story,) = _get(engine, "/api/stories")["stories"]
    return story


def _get(engine: LiveEngine, path: str) -> Any:
    with urlopen(f"{engine.url}{path}", timeout=ANSWER_SECONDS) as answer:
        return json.load(answer)


def _patch(engine: LiveEngine, agent: str, patch: dict[str, Any]) -> None:
    _send(engine, "PATCH", f"/api/agent-blocks/{agent}/config", patch)


def _send(engine: LiveEngine, method: str, path: str, body: dict[str, Any]) -> None:
    headers = {"Content-Type": "application/json"}
    request = Request(f"{engine.url}{path}", json.dumps(body).encode(), headers, method=method)
    with urlopen(request, timeout=ANSWER_SECONDS):
        pass
