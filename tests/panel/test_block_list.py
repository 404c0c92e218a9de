"""The list of an agent's blocks: moving, switching, changing and making them, with the keyboard and with the mouse."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.request import Request, urlopen

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from blocks.placement import Standing, placed_orders
from tests.live.engine import LiveEngine
from tests.live.opencode import isolated_environment

pytestmark = [pytest.mark.live, pytest.mark.slow]

AGENT = "/api/agent-blocks/standard"

ANSWER_SECONDS = 10.0

SCRIPT_MS = 20_000
"""For a script that has to be ended: its own limit, and the start of another process, on a machine that is busy."""


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveEngine]:
    """One engine for all tests here: each begins with an agent as it comes."""
    folder = tmp_path_factory.mktemp("engine")
    with LiveEngine(folder, isolated_environment(folder)) as engine:
        yield engine


@pytest.fixture(autouse=True)
def _as_it_comes(engine: LiveEngine) -> None:
    rest(engine, "POST", f"{AGENT}/reset")


def rest(engine: LiveEngine, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
    """The engine's answer, as another client would get it."""
    data = None if method == "GET" else json.dumps(body or {}).encode()
    request = Request(f"{engine.url}{path}", data, {"Content-Type": "application/json"}, method=method)
    with urlopen(request, timeout=ANSWER_SECONDS) as answer:
        return json.load(answer)


def call(engine: LiveEngine, tool: str, arguments: Mapping[str, Any] | None = None) -> None:
    answer = rest(engine, "POST", f"/api/tools/{tool}/call", arguments)
    assert not answer["is_error"], answer


def config_of(engine: LiveEngine, agent: str = AGENT) -> Any:
    return rest(engine, "GET", agent)["config"]


def prompt_order(engine: LiveEngine) -> list[str]:
    """The blocks in the order in which the model reads them."""
    return [block["name"] for block in rest(engine, "GET", f"{AGENT}/preview")["blocks"]]


def opened(page: Page, where: str = "space/standard") -> Locator:
    """The list of blocks of that agent."""
    page.goto(f"{page.url.split('#')[0]}#/agents/{where}")
    blocks = page.get_by_role("region", name="Context blocks")
    expect(blocks.get_by_role("listitem").first).to_be_visible()
    return blocks


def names(blocks: Locator) -> Locator:
    return blocks.locator(".block-name")


def editor(blocks: Locator, name: str) -> Locator:
    """The row of a block, whose editor is open."""
    row = blocks.get_by_role("listitem").filter(has=blocks.page.get_by_role("button", name=f"Move {name}", exact=True))
    chevron = row.get_by_role("button", name=f"Edit {name}", exact=True)
    if chevron.get_attribute("aria-expanded") == "false":
        chevron.click()
    return row


def drag(page: Page, what: Locator, to: Locator, *, beyond: int = 0) -> None:
    """Move a handle onto another one with the mouse, as slowly as a hand does."""
    start, end = what.bounding_box(), to.bounding_box()
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 8, start["y"] + 20, steps=3)
    page.mouse.move(end["x"] + 8, end["y"] + 8 + beyond, steps=8)
    page.mouse.up()


def add_block(blocks: Locator, name: str, content: str, *, script: bool = False, role: str = "user") -> None:
    blocks.get_by_role("button", name="Add Context Block").click()
    dialog = blocks.page.get_by_role("dialog", name="Add a context block")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_role("group", name="Role").get_by_role("button", name=role).click()
    dialog.get_by_role("button", name="Script" if script else "Simple").click()
    dialog.get_by_label("Script" if script else "Text", exact=True).fill(content)
    dialog.get_by_role("button", name="Add block").click()
    expect(dialog).to_be_hidden()


def test_a_block_is_moved_with_the_mouse_and_the_model_reads_it_there(page: Page, engine: LiveEngine) -> None:
    blocks = opened(page)
    expect(names(blocks)).to_have_text(["instructions", "tools", "preset-prompts", "context", "world"])
    drag(page, blocks.get_by_role("button", name="Move world"), blocks.get_by_role("button", name="Move tools"))
    moved = ["instructions", "world", "tools", "preset-prompts", "context"]
    expect(names(blocks)).to_have_text(moved)
    expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
    assert prompt_order(engine) == moved

    # A block that nobody could see when the order was saved comes to its neighbour, in the list as in the prompt.
    call(engine, "space_drawing_insert_shape", {"shape": "ellipse", "x": 0, "y": 0, "width": 9, "height": 9})
    call(engine, "space_drawing_select", {"all": True})
    expect(names(blocks)).to_have_text([*moved, "selection"])
    assert prompt_order(engine) == [*moved, "selection"]
    call(engine, "space_drawing_clear_selection")
    expect(names(blocks)).to_have_text(moved)


def test_a_block_is_moved_with_the_keyboard_and_stays_in_its_role(page: Page, engine: LiveEngine) -> None:
    rest(engine, "PATCH", f"{AGENT}/config", {"overrides": {"context": {"order": 650}}})
    rest(engine, "POST", f"{AGENT}/custom", _custom("Rules", "Be kind."))
    blocks = opened(page)
    expect(names(blocks)).to_have_text(["instructions", "tools", "preset-prompts", "world", "context", "Rules"])
    handle = blocks.get_by_role("button", name="Move world")
    handle.focus()
    for _ in range(3):
        page.keyboard.press("Alt+ArrowUp")
    moved = ["world", "instructions", "tools", "preset-prompts", "context", "Rules"]
    expect(names(blocks)).to_have_text(moved)
    expect(handle).to_be_focused()
    expect(blocks.get_by_text("world is now 1 of 5 system blocks.")).to_be_attached()
    expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
    config = config_of(engine)
    assert prompt_order(engine) == moved
    assert config["overrides"] == {}, "an order of its own would be stronger than the list"

    page.keyboard.press("Alt+ArrowUp")
    expect(page.get_by_role("log")).to_contain_text("Blocks move within their role")
    drag(
        page,
        blocks.get_by_role("button", name="Move tools"),
        blocks.get_by_role("button", name="Move Rules"),
        beyond=80,
    )
    expect(names(blocks)).to_have_text(["world", "instructions", "preset-prompts", "context", "tools", "Rules"])
    assert rest(engine, "GET", f"{AGENT}/preview")["blocks"][-1]["role"] == "user"
    blocks.get_by_role("button", name="Edit context").focus()
    page.keyboard.press("ArrowDown")
    expect(blocks.get_by_role("button", name="Edit tools")).to_be_focused()


def test_a_move_is_made_in_the_order_that_another_window_has_made_meanwhile(page: Page, engine: LiveEngine) -> None:
    blocks = opened(page)
    start, end = (
        blocks.get_by_role("button", name=f"Move {name}").bounding_box() for name in ("instructions", "tools")
    )
    assert start is not None
    assert end is not None
    page.mouse.move(start["x"] + 8, start["y"] + 8)
    page.mouse.down()
    page.mouse.move(start["x"] + 8, start["y"] + 20, steps=3)
    elsewhere = ["world", "instructions", "tools", "preset-prompts", "context"]
    with page.expect_response(lambda answer: answer.url.endswith(AGENT)):
        rest(engine, "PATCH", f"{AGENT}/config", {"blockOrder": elsewhere})
    page.mouse.move(end["x"] + 8, end["y"] + 20, steps=8)
    page.mouse.up()
    both = ["world", "tools", "instructions", "preset-prompts", "context"]
    expect(names(blocks)).to_have_text(both)
    expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
    assert prompt_order(engine) == both

    # Also what comes while the move is on its way stays, and nobody is asked.
    quicker = ["tools", "world", "instructions", "preset-prompts", "context"]

    def overtake(route: Route) -> None:
        rest(engine, "PATCH", f"{AGENT}/config", {"blockOrder": quicker})
        route.continue_()

    page.route("**/config", overtake, times=1)
    blocks.get_by_role("button", name="Move context").focus()
    page.keyboard.press("Alt+ArrowUp")
    both = ["tools", "world", "instructions", "context", "preset-prompts"]
    expect(names(blocks)).to_have_text(both)
    expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert prompt_order(engine) == both


def test_a_new_block_goes_to_every_client_unless_the_person_says_otherwise(page: Page, engine: LiveEngine) -> None:
    blocks = opened(page)
    blocks.get_by_role("button", name="Add Context Block").click()
    dialog = page.get_by_role("dialog", name="Add a context block")
    role = dialog.get_by_role("group", name="Role")
    expect(role.get_by_role("button", name="system")).to_have_attribute("aria-pressed", "true")
    warning = dialog.get_by_text("only through the prompt space_context")
    expect(warning).to_be_hidden()
    role.get_by_role("button", name="user").click()
    expect(warning).to_be_visible()
    page.keyboard.press("Escape")
    add_block(blocks, "Aside", "By the way.")
    row = editor(blocks, "Aside")
    expect(row.get_by_text("only through the prompt space_context")).to_be_visible()
    row.get_by_role("group", name="Role").get_by_role("button", name="system").click()
    expect(row.get_by_text("only through the prompt space_context")).to_be_hidden()

    # A story's agent gets its whole prompt from the engine.
    rest(engine, "POST", "/api/stories", {"id": "ferry", "name": "Ferry"})
    blocks = opened(page, "story/ferry/generation.writer")
    blocks.get_by_role("button", name="Add Context Block").click()
    dialog = page.get_by_role("dialog", name="Add a context block")
    role = dialog.get_by_role("group", name="Role")
    expect(role.get_by_role("button", name="user")).to_have_attribute("aria-pressed", "true")
    expect(dialog.get_by_text("only through the prompt space_context")).to_be_hidden()


def test_what_others_have_written_is_shown_with_every_character_of_it(page: Page, engine: LiveEngine) -> None:
    rest(engine, "POST", f"{AGENT}/custom", _custom("Rules", "Be\u200b kind."))
    blocks = opened(page)
    row = blocks.get_by_role("listitem").last
    expect(row.locator(".block-preview")).to_have_text("Be‹U+200B› kind.")
    page.get_by_role("article").get_by_role("button", name="Import…").click()
    dialog = page.get_by_role("dialog", name="Import a configuration")
    script = {**_custom("Cast\u202e", "return 1; // \u202e"), "id": "cb-cast", "type": "script"}
    dialog.get_by_label("The configuration as text").fill(json.dumps({"config": {"customBlocks": [script]}}))
    expect(dialog.get_by_label("Script Cast‹U+202E›")).to_contain_text("// ‹U+202E›")


def test_a_block_that_the_agent_makes_says_what_the_person_wants(page: Page, engine: LiveEngine) -> None:
    blocks = opened(page)
    switch = blocks.get_by_role("switch", name="Use tools")
    expect(switch).to_be_checked()
    switch.click()
    expect(switch).not_to_be_checked()

    row = editor(blocks, "instructions")
    default = rest(engine, "GET", AGENT)["builtinBlocks"][0]["content"]
    expect(row.locator(".block-default")).to_have_text(f"{default[:200]}…")
    row.get_by_role("button", name="Show all").click()
    expect(row.locator(".block-default")).to_have_text(default)
    modes = row.get_by_role("group", name="Content mode of instructions")

    modes.get_by_role("button", name="Append").click()
    text = row.get_by_label("Text after the default content")
    expect(text).to_be_focused()
    page.keyboard.type("Never hurry.")
    page.keyboard.press("Control+s")
    expect(row.get_by_text("Saved", exact=True)).to_be_visible()
    assert config_of(engine)["overrides"] == {
        "instructions": {"contentMode": "append", "customContent": "Never hurry."},
        "tools": {"enabled": False},
    }
    modes.get_by_role("button", name="None").click()
    expect(row.get_by_text("Your text is kept")).to_be_visible()
    modes.get_by_role("button", name="Prepend").click()
    expect(row.get_by_label("Text before the default content")).to_have_value("Never hurry.")

    row.get_by_role("button", name="Reset this block").click()
    expect(modes.get_by_role("button", name="None")).to_have_attribute("aria-pressed", "true")
    page.get_by_role("log").get_by_role("button", name="Undo").click()
    expect(row.get_by_label("Text before the default content")).to_have_value("Never hurry.")
    row.get_by_role("button", name="Reset this block").click()

    modes.get_by_role("button", name="Override").click()
    text = row.get_by_label("Text in place of the default content")
    expect(text).to_have_value(default)
    text.fill("")
    page.keyboard.press("Tab")
    expect(row.get_by_text("blanked")).to_be_visible()
    expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
    assert "[@block=instructions]\n\n\n[@block=" in rest(engine, "GET", f"{AGENT}/preview")["messages"][0]["content"]


def test_a_block_of_ones_own_is_made_changed_deleted_and_brought_back(page: Page, engine: LiveEngine) -> None:
    blocks = opened(page)
    blocks.get_by_role("button", name="Add Context Block").click()
    dialog = page.get_by_role("dialog", name="Add a context block")
    dialog.get_by_label("Name").fill("物語")
    expect(dialog.get_by_text("none of a–z and 0–9")).to_be_visible()
    dialog.get_by_role("button", name="Add block").click()
    expect(dialog.get_by_role("alert")).to_have_text("Give the block a text.")
    dialog.get_by_label("Text", exact=True).fill("Short sentences.")
    dialog.get_by_role("group", name="Role").get_by_role("button", name="system").click()
    dialog.get_by_role("button", name="Add block").click()
    expect(names(blocks)).to_have_text(["instructions", "tools", "preset-prompts", "context", "world", "物語"])
    expect(blocks.get_by_role("button", name="Edit 物語")).to_be_focused()

    row = editor(blocks, "物語")
    expect(row.get_by_text("none of a–z and 0–9")).to_be_visible()
    field = row.get_by_label("Name")
    field.fill("Style")
    page.keyboard.press("Tab")
    expect(row.get_by_text("none of a–z and 0–9")).to_be_hidden()
    row = editor(blocks, "Style")
    row.get_by_label("Name").fill("  ")
    page.keyboard.press("Tab")
    expect(row.get_by_text("A block needs a name")).to_be_visible()
    page.goto(f"{engine.url}/#/live")
    expect(blocks).to_have_count(0)
    row = editor(opened(page), "Style")
    expect(row.get_by_label("Name")).to_have_value("  ")
    row.get_by_label("Name").fill("Style")
    row.get_by_label("Text", exact=True).fill("Long sentences.")
    row.get_by_role("switch", name="Use Style").click()
    row.get_by_role("group", name="Role").get_by_role("button", name="user").click()
    expect(blocks.get_by_role("list", name="User message").get_by_role("button", name="Move Style")).to_be_visible()
    expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
    [block] = config_of(engine)["customBlocks"]
    assert (block["name"], block["role"], block["content"]) == ("Style", "user", "Long sentences.")
    assert not block["enabled"]

    # Both switches are one for the person: the other one alone cannot keep a block off.
    rest(engine, "PATCH", f"{AGENT}/config", {"overrides": {block["id"]: {"enabled": False}}})
    row.get_by_role("switch", name="Use Style").click()
    expect(row.get_by_role("switch", name="Use Style")).to_be_checked()
    expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
    assert "Style" in prompt_order(engine)

    row.get_by_role("button", name="Delete this block").click()
    expect(blocks.get_by_role("button", name="Move Style")).to_have_count(0)
    assert config_of(engine)["customBlocks"] == []
    page.get_by_role("log").get_by_role("button", name="Undo").click()
    expect(blocks.get_by_role("button", name="Move Style")).to_be_visible()
    assert config_of(engine)["customBlocks"][0]["content"] == "Long sentences."


def test_a_script_is_run_while_it_is_written(page: Page, engine: LiveEngine) -> None:
    rest(engine, "POST", "/api/stories", {"id": "harbour", "name": "Harbour"})
    rest(
        engine,
        "POST",
        "/api/stories/harbour/fragments",
        {"id": "ch-marazi", "type": "character", "name": "Marazi", "content": "Keeps the light."},
    )
    blocks = opened(page, "story/harbour/generation.writer")
    add_block(blocks, "Cast", 'return "Nobody yet"', script=True)
    row = editor(blocks, "Cast")
    script = row.get_by_label("Script", exact=True)
    output = row.get_by_role("region", name="Output of the script")
    expect(output.get_by_text("Nobody yet")).to_be_visible()
    expect(output.get_by_text("in the sandbox")).to_be_visible()

    script.fill("const who = ;")
    page.keyboard.press("End")
    row.get_by_text("Fragments of the story").click()
    for _ in ";":
        script.press("Backspace")
    row.get_by_role("button", name='Insert await ctx.getFragment("ch-marazi")').click()
    script.press_sequentially(";\nreturn `Here: ${who.name}`;")
    expect(output.get_by_text("Here: Marazi")).to_be_visible()
    expect(row.locator(".code-numbers")).to_have_text(re.compile(r"1\s2\s*"))

    script.fill('const a = 1;\nthrow new Error("no cast")')
    expect(output.get_by_text("no cast")).to_be_visible()
    expect(output.get_by_text("Error in line 2")).to_be_visible()
    script.fill("return 5")
    expect(output.get_by_text("No output")).to_be_visible()
    script.fill("while (true) {}")
    # Which of its limits it meets first depends on how busy the machine is.
    ended = re.compile(r"more than 1 seconds of processor time|longer than \d+ seconds")
    expect(output.get_by_text(ended)).to_be_visible(timeout=SCRIPT_MS)

    # What is overtaken by a newer text says nothing any more: nobody waits for its answer.
    script.fill("while (true) { 1 }")
    expect(output.get_by_text("Running…")).to_be_visible()
    with page.expect_event("requestfailed", lambda request: request.url.endswith("/eval-script")):
        script.fill("return 'out of it'")
    expect(output.get_by_text("out of it")).to_be_visible(timeout=SCRIPT_MS)

    # The keyboard gets out of the field, whatever Tab does in it.
    script.press("Tab")
    expect(script).not_to_be_focused()
    row.get_by_role("button", name="Tab indents").click()
    expect(script).to_be_focused()
    script.press("Home")
    script.press("Tab")
    expect(script).to_have_value("  return 'out of it'")
    script.press("Shift+Tab")
    expect(script).to_have_value("return 'out of it'")
    script.press("Escape")
    script.press("Tab")
    expect(script).not_to_be_focused()
    expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
    agent = "/api/stories/harbour/agent-blocks/generation.writer"
    assert config_of(engine, agent)["customBlocks"][0]["content"] == "return 'out of it'"


def test_what_is_half_typed_outlives_other_windows_other_views_and_an_engine_that_does_not_answer(
    page: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    rest(engine, "POST", f"{AGENT}/custom", _custom("Rules", "Be kind."))
    blocks = opened(page)
    text = editor(blocks, "Rules").get_by_label("Text", exact=True)
    other = opened(window(f"{engine.url}/"))
    other.get_by_role("button", name="Add Context Block").click()
    dialog = other.page.get_by_role("dialog", name="Add a context block")
    dialog.get_by_label("Name").fill("Elsewhere")
    dialog.get_by_label("Text", exact=True).fill("Another window.")

    # Nobody has paused yet when the other window's block comes.
    text.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type(" Be")
    dialog.get_by_role("button", name="Add block").click()
    expect(blocks.get_by_role("button", name="Move Elsewhere")).to_be_visible()
    expect(text).to_be_focused()
    page.keyboard.type(" brief.")
    expect(text).to_have_value("Be kind. Be brief.")
    expect(other.locator("li", has_text="Rules").locator(".block-preview")).to_have_text("Be kind. Be brief.")

    page.keyboard.type(" Be l")
    page.goto(f"{engine.url}/#/live")
    page.go_back()
    text = editor(opened(page), "Rules").get_by_label("Text", exact=True)
    expect(text).to_have_value("Be kind. Be brief. Be l")

    # The whole restart of an engine is another test's, in test_agents.py.
    page.route("**/api/**", lambda route: route.abort())
    text.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("ively.")
    page.keyboard.press("Control+s")
    saving = page.get_by_role("status", name="Saving")
    expect(saving).to_have_text("1 not saved: the engine does not answer yet")
    expect(text).to_have_value("Be kind. Be brief. Be lively.")
    page.unroute("**/api/**")
    expect(saving).to_have_text("Everything is saved")
    expect(text).to_have_value("Be kind. Be brief. Be lively.")
    assert config_of(engine)["customBlocks"][0]["content"] == "Be kind. Be brief. Be lively."


def test_a_block_deleted_elsewhere_does_not_take_along_what_is_typed_in_it(page: Page, engine: LiveEngine) -> None:
    made = rest(engine, "POST", f"{AGENT}/custom", _custom("Rules", "Be kind."))["customBlocks"][0]
    blocks = opened(page)
    row = editor(blocks, "Rules")
    text = row.get_by_label("Text", exact=True)
    text.fill("Be kind, or")
    rest(engine, "DELETE", f"{AGENT}/custom/{made['id']}")
    expect(row.get_by_text("deleted in another window")).to_be_visible()
    expect(text).to_have_value("Be kind, or")
    row.get_by_role("button", name="Let it go").click()
    expect(blocks.get_by_role("button", name="Move Rules")).to_have_count(0)


def test_two_versions_of_one_text_are_both_shown(page: Page, engine: LiveEngine) -> None:
    made = rest(engine, "POST", f"{AGENT}/custom", _custom("Rules", "Be kind."))["customBlocks"][0]
    blocks = opened(page)
    row = editor(blocks, "Rules")
    text = row.get_by_label("Text", exact=True)
    for theirs, mine, picked in (("Be quick.", "Be slow.", "Keep mine"), ("Be loud.", "Be still.", "Take theirs")):
        text.fill(mine)
        rest(engine, "PUT", f"{AGENT}/custom/{made['id']}", {"content": theirs})
        expect(row.get_by_text("saving asks which to keep")).to_be_visible()
        expect(text).to_have_value(mine)
        text.press("Control+s")
        dialog = page.get_by_role("dialog", name="Changed in two places")
        expect(dialog).to_contain_text(theirs)
        expect(dialog).to_contain_text(mine)
        dialog.get_by_role("button", name=picked).click()
        kept = mine if picked == "Keep mine" else theirs
        expect(text).to_have_value(kept)
        expect(page.get_by_role("status", name="Saving")).to_have_text("Everything is saved")
        assert config_of(engine)["customBlocks"][0]["content"] == kept


def test_the_list_places_blocks_as_the_engine_does(page: Page) -> None:
    """The page has the engine's rule in its own words, so both are asked the same, at random."""
    chance = random.Random(8)
    cases = [_random_state(chance) for _ in range(300)]
    expected = [_engine_order(case) for case in cases]
    found = page.evaluate(
        """async (cases) => {
          const { blocksOf } = await import("/panel/views/agents/block_order.js");
          return cases.map((each) => blocksOf(each).map((block) => block.id));
        }""",
        cases,
    )
    assert found == expected


def _custom(name: str, content: str) -> dict[str, Any]:
    return {"name": name, "role": "user", "type": "simple", "content": content, "order": 100}


def _random_state(chance: random.Random) -> dict[str, Any]:
    ids = [f"cb-{letter * 4}" for letter in "abcdefgh"]
    blocks = [
        {"id": one, "role": chance.choice(["system", "user"]), "order": chance.choice([-1, 0, 2, 100, 200, 200.5, 300])}
        for one in chance.sample(ids, chance.randint(0, 8))
    ]
    builtin = [{**one, "source": "builtin", "content": ""} for one in blocks[: len(blocks) // 2]]
    custom = [{**one, "name": "n", "enabled": True, "type": "simple", "content": ""} for one in blocks[len(builtin) :]]
    overrides = {one: {"order": chance.randint(-3, 5)} for one in chance.sample(ids, chance.randint(0, 2))}
    order = chance.sample(ids, chance.randint(0, 8))
    return {
        "builtinBlocks": builtin,
        "config": {"customBlocks": custom, "overrides": overrides, "blockOrder": order},
    }


def _engine_order(state: Mapping[str, Any]) -> list[str]:
    config = state["config"]
    blocks = [*state["builtinBlocks"], *config["customBlocks"]]
    orders = placed_orders([Standing(one["id"], one["role"], one["order"]) for one in blocks], config["blockOrder"])
    placed = [
        (one["role"], config["overrides"].get(one["id"], {}).get("order", order), one["id"])
        for one, order in zip(blocks, orders, strict=True)
    ]
    return [
        one[2] for role in ("system", "user") for one in sorted((p for p in placed if p[0] == role), key=lambda p: p[1])
    ]
