"""The page itself: that it comes, follows, and finds its engine again."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.live.engine import LiveEngine

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
