"""The panel in a real Chromium, over a real engine: both as processes of their own."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from tests.live.engine import LiveEngine
from tests.live.opencode import isolated_environment

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or "/usr/bin/chromium"

FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync"),
)
"""Nothing but the page may ask for anything, and a test may run as any user."""

WAIT_MS = 15_000
"""How long a test waits for the page to show something, on a machine that is busy."""

expect.set_options(timeout=WAIT_MS)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for all tests; each gets windows of its own."""
    if not Path(CHROMIUM).exists():
        if os.environ.get("SPACE_REQUIRE_LIVE") == "1":
            pytest.fail("chromium is missing; on Debian install the package chromium")
        pytest.skip("chromium is missing; on Debian install the package chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LiveEngine]:
    """An engine with an empty data folder."""
    with LiveEngine(tmp_path, isolated_environment(tmp_path)) as engine:
        yield engine


@pytest.fixture
def window(browser: Browser) -> Iterator[Callable[..., Page]]:
    """Opens windows, each with storage of its own: `window(url)`. What goes wrong in a page fails the test."""
    contexts: list[BrowserContext] = []
    faults: list[str] = []

    def open_window(url: str, *, width: int = 1280, height: int = 800, dark: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            permissions=["clipboard-read", "clipboard-write"],
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on(
            "console",
            lambda message: faults.append(message.text) if "Content Security Policy" in message.text else None,
        )
        page.goto(url)
        return page

    yield open_window
    for context in contexts:
        context.close()
    assert not faults, faults


@pytest.fixture
def page(window: Callable[..., Page], engine: LiveEngine) -> Page:
    """One window on the panel of the engine."""
    return window(f"{engine.url}/")
