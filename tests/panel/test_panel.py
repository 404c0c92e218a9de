"""The page itself: that it comes, follows, and finds its engine again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from playwright.sync_api import Page, expect

from tests.live.engine import LiveEngine
from tests.live.opencode import isolated_environment

TOKEN = "sea-glass-417"

pytestmark = [pytest.mark.live, pytest.mark.slow]


def test_the_page_comes_with_five_views_and_says_that_it_is_connected(page: Page) -> None:
    expect(page.get_by_role("navigation").get_by_role("link")).to_have_text(
        ["Live", "Tools", "Calls", "Agents", "Code Mode"]
    )
    expect(page.get_by_role("status").first).to_have_text("Connected")


def test_two_windows_and_the_command_line_change_one_context(
    page: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    other = window(f"{engine.url}/")
    page.get_by_role("button", name="Scene").click()
    expect(other.get_by_role("button", name="Scene")).to_have_attribute("aria-pressed", "true")
    engine.space("context", "set", "surface=canvas")
    for each in (page, other):
        expect(each.get_by_role("button", name="Drawing")).to_have_attribute("aria-pressed", "true")


def test_after_a_restart_of_the_engine_the_page_goes_on_by_itself(page: Page, engine: LiveEngine) -> None:
    state = page.get_by_role("status").first
    expect(state).to_have_text("Connected")
    engine.stop()
    expect(state).to_contain_text("does not answer")
    engine.start()
    expect(state).to_have_text("Connected")
    engine.space("context", "set", "activity=graph")
    expect(page.get_by_role("button", name="Graph")).to_have_attribute("aria-pressed", "true")


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[LiveEngine]:
    """An engine that demands a token."""
    with LiveEngine(tmp_path, isolated_environment(tmp_path), "--token", TOKEN) as engine:
        yield engine


def test_a_token_in_the_address_is_taken_also_by_a_tab_that_shows_the_panel_already(
    window: Callable[..., Page], guarded: LiveEngine
) -> None:
    page = window(f"{guarded.url}/#/tools")
    state = page.get_by_role("status").first
    expect(page.get_by_label("This engine was started with a token")).to_be_focused()
    page.goto(f"{guarded.url}/#token={TOKEN}")
    expect(state).to_have_text("Connected")
    expect(page).to_have_url(f"{guarded.url}/#/tools")
    expect(page.get_by_role("searchbox", name="Find a tool")).to_be_visible()
    # A tab that is connected takes another one as well: here one that is not accepted.
    page.goto(f"{guarded.url}/#token=wrong-one")
    expect(page.get_by_role("alert")).to_have_text("That token was not accepted.")
    page.goto(f"{guarded.url}/#token={TOKEN}")
    expect(state).to_have_text("Connected")
    entries = page.context.new_cdp_session(page).send("Page.getNavigationHistory")["entries"]
    assert not [entry["url"] for entry in entries if "token" in entry["url"]]


def test_a_wrong_token_is_called_wrong_and_no_view_is_shown_without_one(
    window: Callable[..., Page], guarded: LiveEngine
) -> None:
    page = window(f"{guarded.url}/")
    field = page.get_by_label("This engine was started with a token")
    expect(field).to_be_visible()
    expect(page.get_by_role("main")).to_be_hidden()
    expect(page.get_by_role("group", name="Surface")).to_be_hidden()
    expect(page.get_by_role("alert")).to_be_hidden()
    for wrong in ("another", "not sendable: 物"):
        field.fill(wrong)
        page.keyboard.press("Enter")
        expect(page.get_by_role("alert")).to_have_text("That token was not accepted.")
        expect(field).to_have_value(wrong)
        expect(field).to_be_focused()
    text = page.locator("body").inner_text()
    assert "Authorization" not in text
    assert "`" not in text
    assert page.locator(".toast").count() == 0
    field.fill(f" {TOKEN} ")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").first).to_have_text("Connected")
    expect(field).to_have_count(0)
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("button", name="Drawing")).to_have_attribute("aria-pressed", "true")


def test_an_address_that_leads_nowhere_says_so_and_where_there_is_something(page: Page, engine: LiveEngine) -> None:
    failed: list[str] = []
    page.on("response", lambda answer: failed.append(answer.url) if answer.status >= 400 else None)
    for address in ("#/nowhere", "#/calls/abc", "#/tools?x=1", "#/live/further", "#/agents/nobody", "#nowhere"):
        page.goto(f"{engine.url}/{address}")
        alert = page.get_by_role("alert")
        expect(alert.get_by_role("heading")).to_have_text("There is no such view")
        expect(alert).to_contain_text(address.removeprefix("#").removeprefix("/"))
        expect(page.get_by_role("navigation", name="Views").locator("[aria-current]")).to_have_count(0)
    alert.get_by_role("link", name="Tools").click()
    expect(page.get_by_role("searchbox", name="Find a tool")).to_be_visible()
    assert failed == []

    # The link that skips to the view is no address.
    page.get_by_role("link", name="Skip to the view").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("main")).to_be_focused()
    expect(page).to_have_url(f"{engine.url}/#/tools")


def test_another_world_is_entered_with_enter_and_not_by_looking_through_the_list(
    page: Page, engine: LiveEngine
) -> None:
    for name in ("Attic", "Cellar"):
        page.get_by_role("button", name="New world…").click()
        page.get_by_role("dialog").get_by_label("Name").fill(name)
        page.keyboard.press("Enter")
        expect(page.get_by_role("combobox", name="World")).to_have_text(name)
    world = page.get_by_role("combobox", name="World")
    listed = page.get_by_role("listbox", name="World")
    world.focus()
    for leave in ("Escape", "Tab"):
        page.keyboard.press("ArrowDown")
        expect(listed.get_by_role("option", name="Cellar")).to_be_focused()
        page.keyboard.press("ArrowUp")
        expect(listed.get_by_role("option", name="Attic")).to_be_focused()
        page.keyboard.press(leave)
        expect(listed).to_be_hidden()
        assert _active_world(engine) == "Cellar"
        world.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("h")
    page.keyboard.press("Enter")
    expect(world).to_have_text("home")
    expect(world).to_be_focused()
    assert _active_world(engine) == "home"

    # A second click closes it, and an activity means nothing in the scene.
    world.click()
    expect(listed).to_be_visible()
    world.click()
    expect(listed).to_be_hidden()
    page.get_by_role("button", name="Scene").click()
    expect(page.get_by_role("combobox", name="Activity")).to_be_hidden()


def _active_world(engine: LiveEngine) -> str:
    with urlopen(f"{engine.url}/api/worlds", timeout=10) as answer:
        return next(world["name"] for world in json.load(answer)["worlds"] if world["active"])


def test_the_state_of_the_connection_stays_in_sight_and_a_narrow_window_has_room_for_the_view(
    window: Callable[..., Page], engine: LiveEngine
) -> None:
    page = window(f"{engine.url}/#/tools", width=380)
    state = page.get_by_role("status").first
    expect(page.get_by_role("region", name="Drawing")).to_be_visible()
    view = page.get_by_role("main").bounding_box()
    assert view is not None
    assert view["y"] <= 100
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    engine.stop()
    expect(state).to_contain_text("does not answer")
    expect(state).to_be_in_viewport(ratio=1)
