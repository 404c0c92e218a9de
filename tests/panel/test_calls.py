"""The view "Calls": who is connected, what runs and can be ended, and the last calls, however many there are."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.live.engine import LiveEngine, wait_until

pytestmark = [pytest.mark.live, pytest.mark.slow]

MANY = 10_000
"""Calls that the engine keeps, and the list shows."""

BATCH = 64
"""Calls of one request: the most that the engine takes at once."""

FILTER_MS = 200
"""From a letter in the filter to the list of those that match."""

MOST_ROWS = 80
"""Rows on the page, however many calls there are."""

INSPECT = "space_drawing_inspect"

RUN = {"code": f"return await tools.{INSPECT}({{}})", "description": "Look around"}

UNIT = '''\
import trio

from space_unit import Call, preset, tool


@tool
async def dig(call: Call, depth: int) -> dict[str, int]:
    """Dig for a while."""
    await call.progress(3, 10, "<i>three metres</i>")
    await trio.sleep(60)
    return {"depth": depth}


spade = preset("spade", tools=[dig], contexts=[{"surface": "any"}])
'''

FILTER = """([text]) => {
    const field = document.querySelector(".calls-search");
    const began = performance.now();
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    document.querySelector(".calls-body").getBoundingClientRect();
    return performance.now() - began;
}"""
"""Types into the filter, and measures until the list is laid out again."""

SCROLL = """async () => {
    const list = document.querySelector(".calls-scroll");
    const times = [];
    for (let step = 0; step < 60; step++) {
        const began = performance.now();
        list.scrollTop += 2500;
        list.dispatchEvent(new Event("scroll"));
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
        times.push(performance.now() - began);
    }
    const top = list.scrollTop, rows = document.querySelectorAll(".calls-body .call-row");
    const seen = [...rows].filter((row) => {
        const box = row.getBoundingClientRect(), frame = list.getBoundingClientRect();
        return box.bottom > frame.top && box.top < frame.bottom;
    });
    return { times, top, seen: seen.length, rows: rows.length };
}"""
"""Scrolls through the list, and says how long two frames took at each step."""


class RawClient:
    """An MCP client of the revision that knows batches. Owns its connection."""

    def __init__(self, engine: LiveEngine, name: str = "panel-tests") -> None:
        self._connection = HTTPConnection("127.0.0.1", engine.port, timeout=60)
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        client = {"name": name, "version": "7"}
        initialize = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": client}
        self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": initialize})
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, message: Any) -> Any:
        """Send a message or a batch; what came back."""
        self._connection.request("POST", "/mcp", json.dumps(message), self._headers)
        response = self._connection.getresponse()
        session = response.getheader("Mcp-Session-Id")
        if session is not None:
            self._headers["Mcp-Session-Id"] = session
        body = response.read()
        return json.loads(body) if body.startswith((b"{", b"[")) else None

    def call(self, *calls: tuple[str, Any]) -> Any:
        """Call tools, as many as a batch has."""
        return self.post(
            [
                {
                    "jsonrpc": "2.0",
                    "id": number,
                    "method": "tools/call",
                    "params": {"name": name, "arguments": arguments},
                }
                for number, (name, arguments) in enumerate(calls, 1)
            ]
        )

    def close(self) -> None:
        """Close the connection. The session stays."""
        self._connection.close()


@pytest.fixture
def client(engine: LiveEngine) -> Iterator[RawClient]:
    """One client with a session."""
    client = RawClient(engine)
    yield client
    client.close()


@pytest.fixture
def calls(window: Callable[..., Page], engine: LiveEngine) -> Page:
    """One window on the calls of the engine."""
    return window(f"{engine.url}/#/calls")


def _rows(page: Page) -> Locator:
    return page.get_by_role("grid", name="Calls").get_by_role("row")


def _row(page: Page, call_id: int) -> Locator:
    return page.locator(f"#call-{call_id}")


def _detail(page: Page) -> Locator:
    return page.get_by_role("region", name="The call", exact=True)


def _count(page: Page) -> Locator:
    return page.locator(".calls-tools > [role=status]")


def test_ten_thousand_calls_scroll_filter_and_follow_with_few_rows_on_the_page(
    calls: Page, client: RawClient, record_property: Callable[[str, object], None]
) -> None:
    expect(calls.get_by_text("No tool has been called")).to_be_visible()
    client.call((INSPECT, {}), ("rare_bird", {"wing": "left"}))
    for number in range(MANY // BATCH + 1):
        client.call(*((f"absent_{number}_{index}", {}) for index in range(BATCH)))
    last = 2 + (MANY // BATCH + 1) * BATCH
    grid = calls.get_by_role("grid", name="Calls")
    expect(grid).to_have_attribute("aria-rowcount", str(MANY))
    expect(_count(calls)).to_have_text("10,000 calls")
    expect(_row(calls, last)).to_be_visible()
    assert _rows(calls).count() < MOST_ROWS

    scrolled = calls.evaluate(SCROLL)
    record_property("two_frames_ms", sorted(scrolled["times"])[30])
    print(
        f"two frames while scrolling: median {sorted(scrolled['times'])[30]:.0f} ms, {max(scrolled['times']):.0f} most"
    )
    assert scrolled["top"] > 100_000
    assert scrolled["seen"] >= 5
    assert scrolled["rows"] < MOST_ROWS

    # Scrolled away, what is seen stays where it is, and a button says what came.
    seen = calls.evaluate("document.elementFromPoint(300, 600).closest('.call-row').id")
    client.call(("late_owl", {}), ("late_owl", {}))
    news = calls.get_by_role("button", name="2 new")
    expect(news).to_be_visible()
    assert calls.evaluate("document.elementFromPoint(300, 600).closest('.call-row').id") == seen
    news.click()
    expect(_row(calls, last + 2)).to_be_visible()
    expect(news).to_be_hidden()
    expect(_row(calls, last + 2)).to_have_class(re.compile("is-active"))

    for key, index in (("End", MANY), ("Home", 1), ("ArrowDown", 2), ("ArrowUp", 1)):
        calls.keyboard.press(key)
        expect(_row(calls, last + 3 - index)).to_have_class(re.compile("is-active"))
        expect(grid).to_have_attribute("aria-activedescendant", f"call-{last + 3 - index}")
        expect(_row(calls, last + 3 - index)).to_be_in_viewport()
    calls.keyboard.press("PageDown")
    expect(_row(calls, last + 2)).not_to_have_class(re.compile("is-active"))
    calls.keyboard.press("PageUp")
    expect(_row(calls, last + 2)).to_have_class(re.compile("is-active"))

    times = [calls.evaluate(FILTER, [text]) for text in ("absent_1", "absent_99_7", "no such thing", "late owl", "")]
    print(f"filter of 10,000 calls: {', '.join(f'{time:.0f}' for time in times)} ms")
    assert max(times) < FILTER_MS
    search = calls.get_by_role("searchbox", name="Find calls")
    search.fill("LATE_OWL")
    expect(_count(calls)).to_have_text("2 of 10,000 calls")
    expect(_rows(calls)).to_have_count(2)
    # A filtered list follows as well.
    client.call(("late_owl", {}))
    expect(_rows(calls)).to_have_count(3)
    calls.get_by_role("combobox", name="State").select_option("done")
    expect(calls.get_by_text("No call is like that")).to_be_visible()
    calls.get_by_role("button", name="Clear").click()
    expect(_count(calls)).to_have_text("10,000 calls")
    expect(search).to_be_focused()


def test_a_call_is_seen_whole_has_an_address_and_is_copied_as_a_command(
    calls: Page, client: RawClient, engine: LiveEngine
) -> None:
    text = "it's <img src=x onerror=alert(1)>"
    client.call(("space_drawing_insert_shape", {"shape": "text", "text": text, "x": 0, "y": 0}))
    client.call(("space_app_capture_view", {"width": 64, "height": 48}))
    client.call(("space_app_run_bash", {"command": "ls"}))
    engine.space("call", "--agent", "code", "space_run_code", json.dumps(RUN))
    expect(_rows(calls)).to_have_count(5)
    detail = _detail(calls)
    expect(detail).to_be_hidden()

    _row(calls, 1).click()
    expect(calls).to_have_url(f"{engine.url}/#/calls/1")
    expect(detail.get_by_role("heading", level=2)).to_have_text("space_drawing_insert_shape")
    expect(detail).to_contain_text("panel-tests 7")
    expect(detail).to_contain_text(json.dumps(text))
    expect(calls.locator("img")).to_have_count(0)
    detail.get_by_role("button", name="Copy arguments").click()
    assert json.loads(calls.evaluate("navigator.clipboard.readText()"))["text"] == text
    detail.get_by_role("button", name="Copy as space call").click()
    expect(calls.get_by_role("log").get_by_text("Copied.")).to_have_count(2)
    command: str = calls.evaluate("navigator.clipboard.readText()")
    assert command.startswith("space call space_drawing_insert_shape '{")

    # The arrow keys look through the list; the pane follows, and Back leads out of it.
    calls.get_by_role("grid", name="Calls").press("ArrowUp")
    picture = detail.get_by_role("img", name="A picture of the result")
    expect(picture).to_be_visible()
    assert picture.evaluate("(image) => image.naturalWidth") == 64
    expect(calls).to_have_url(f"{engine.url}/#/calls/2")
    calls.keyboard.press("ArrowUp")
    expect(detail).to_contain_text("preset 'general-shell-tools' is off by default because of its risk (shell)")
    expect(detail.get_by_text("refused", exact=True)).to_be_visible()
    calls.go_back()
    expect(detail).to_be_hidden()

    _row(calls, 5).click()
    expect(detail).to_contain_text("a program")
    detail.get_by_role("link", name=re.compile("^program-")).click()
    expect(calls).to_have_url(re.compile("#/programs/program-"))
    calls.go_back()
    expect(detail.get_by_role("heading", level=2)).to_have_text(INSPECT)
    detail.get_by_role("link", name="Close the call").click()
    expect(detail).to_be_hidden()
    expect(calls.get_by_role("grid", name="Calls")).to_be_focused()
    calls.keyboard.press("Enter")
    expect(detail).to_be_visible()
    calls.keyboard.press("Escape")
    expect(detail).to_be_hidden()

    calls.goto(f"{engine.url}/#/calls/999")
    expect(detail).to_contain_text("there is no call '999'")
    calls.get_by_role("combobox", name="Source").select_option("program")
    expect(_rows(calls)).to_have_count(1)


def test_a_call_that_runs_stands_on_top_with_its_progress_and_is_cancelled_in_another_window(
    calls: Page, window: Callable[..., Page], engine: LiveEngine, client: RawClient
) -> None:
    unit = Path(engine.ask("status")["engine"]["data"]) / "units" / "spade"
    unit.mkdir(parents=True)
    (unit / "unit.toml").touch()
    (unit / "unit.py").write_text(UNIT)
    wait_until(lambda: "space_spade_dig" in engine.space("tools"), "the tool of the unit")
    other = window(f"{engine.url}/#/calls", width=380, height=800, dark=True)
    with ThreadPoolExecutor(1) as thread:
        digging = thread.submit(client.call, ("space_spade_dig", {"depth": 7}))
        running = calls.get_by_role("region", name="Running calls")
        expect(running.get_by_role("listitem")).to_have_count(1)
        expect(running).to_contain_text("<i>three metres</i>")
        bar = running.get_by_role("progressbar", name="Progress of space_spade_dig")
        assert bar.evaluate("(bar) => bar.value") == pytest.approx(0.3)
        elapsed = running.locator(".running-elapsed")
        first = elapsed.text_content() or ""
        expect(elapsed).not_to_have_text(first)
        running.get_by_role("link", name="space_spade_dig").click()
        expect(_detail(calls).get_by_text("running", exact=True)).to_be_visible()

        assert other.evaluate("document.documentElement.scrollWidth <= innerWidth")
        other.get_by_role("button", name="Cancel space_spade_dig").click()
        for each in (calls, other):
            expect(each.get_by_role("region", name="Running calls")).to_be_hidden()
        expect(_detail(calls).get_by_text("cancelled", exact=True)).to_be_visible()
        expect(_detail(calls)).to_contain_text("a person has cancelled it")
        expect(_detail(calls).get_by_role("button", name="Cancel")).to_be_hidden()
        assert "cancelled" in json.dumps(digging.result(30))


def test_who_is_connected_and_what_the_actors_do_is_said_and_a_new_engine_begins_a_new_list(
    calls: Page, engine: LiveEngine
) -> None:
    connected = calls.get_by_role("region", name="Connected clients")
    expect(connected).to_contain_text("Nobody is connected")
    client = RawClient(engine)
    row = connected.get_by_role("row").nth(1)
    expect(row).to_contain_text("panel-tests 7")
    expect(row).to_contain_text("2025-03-26")
    expect(row.get_by_role("link", name="standard")).to_be_visible()
    expect(row.get_by_role("cell").last).to_have_text("now")
    client.call((INSPECT, {}), (INSPECT, {}))

    calls.get_by_text("Actors of the engine").click()
    world = calls.get_by_role("row").filter(has=calls.get_by_role("rowheader", name="world", exact=True))
    before = int(world.get_by_role("cell").nth(1).text_content() or "")
    client.call(*[(INSPECT, {})] * 10)
    client.close()
    calls.wait_for_function(
        "([row, before]) => Number(row.cells[2].textContent) >= before + 10", arg=[world.element_handle(), before]
    )
    calls.get_by_text("Actors of the engine").click()

    _row(calls, 2).click()
    expect(_detail(calls)).to_be_visible()
    engine.stop()
    engine.start()
    expect(connected).to_contain_text("Nobody is connected")
    expect(_rows(calls)).to_have_count(0)
    expect(_detail(calls)).to_be_hidden()
    engine.space("call", INSPECT, "{}")
    expect(_rows(calls)).to_have_count(1)
    expect(_row(calls, 1)).to_contain_text("REST")


def test_clients_of_one_kind_stand_together_and_those_of_whom_nothing_is_heard_stand_apart(
    calls: Page, engine: LiveEngine
) -> None:
    calls.clock.install()
    connected = calls.get_by_role("region", name="Connected clients")
    for _ in range(3):
        RawClient(engine).close()
    RawClient(engine, "another").close()
    rows = connected.get_by_role("row")
    expect(connected.get_by_role("heading")).to_have_text("Connected now: 4")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("panel-tests 7 × 3")
    expect(rows.nth(2)).to_contain_text("another 7")

    calls.clock.fast_forward(70_000)
    expect(connected.get_by_role("heading")).to_have_text("Nobody is connected")
    expect(rows).to_have_count(0)
    connected.get_by_text("Earlier: 4 sessions").click()
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("1 min ago")


def test_what_is_not_seen_in_a_name_is_shown_and_turns_nothing_round(
    calls: Page, window: Callable[..., Page], engine: LiveEngine
) -> None:
    client = RawClient(engine, "evil\u202eecaf\0\u200bx")
    client.call(("space_\u202elooc", {"\u202ea": 1}))
    client.call((INSPECT, {"b\u202e": "\x1b"}))
    client.close()
    shown = "evil\u2039U+202E\u203aecaf\u2039U+0000\u203a\u2039U+200B\u203ax"
    expect(calls.get_by_role("region", name="Connected clients").get_by_role("row").nth(1)).to_contain_text(
        f"{shown} 7"
    )
    expect(_row(calls, 1)).to_contain_text(f"{shown} · standard")
    expect(_row(calls, 1)).to_contain_text("space_\u2039U+202E\u203alooc")
    _row(calls, 1).click()
    expect(_detail(calls)).to_contain_text(shown)
    expect(_detail(calls)).to_contain_text("\u2039U+202E\u203aa")
    live = window(f"{engine.url}/#/live")
    expect(live.get_by_role("region", name="Just now")).to_contain_text("No agent has changed")
    expect(live.locator(".stage")).to_have_attribute("data-revision", "0")
    for page in (calls, live):
        assert not re.search("[\0\x1b\u200b\u202e]", page.locator("body").inner_text())


def test_a_row_says_why_its_call_was_refused_and_a_program_that_its_check_refused_is_refused_everywhere(
    calls: Page, window: Callable[..., Page], engine: LiveEngine, client: RawClient
) -> None:
    client.call(("space_drawing_insert_shape", {"shape": "blob"}))
    with pytest.raises(RuntimeError, match="refused"):
        engine.space("call", "--agent", "code", "space_run_code", json.dumps({**RUN, "code": "const n: number = 'a';"}))
    expect(_rows(calls)).to_have_count(2)
    look = _row(calls, 1).locator(".call-look")
    expect(look).to_have_text(re.compile("^shape: expected one of"))
    assert look.evaluate("(cell) => cell.scrollHeight <= cell.clientHeight + 1")
    expect(_row(calls, 1)).to_contain_text("panel-tests · standard")
    expect(_row(calls, 2)).to_contain_text("REST · code")
    expect(_row(calls, 2).locator(".badge")).to_have_text("refused")
    expect(_row(calls, 2).locator(".badge")).to_have_class("badge warn")
    calls.get_by_role("combobox", name="State").select_option("failed")
    expect(_rows(calls)).to_have_count(0)
    programs = window(f"{engine.url}/#/programs")
    expect(programs.locator(".badge").filter(has_text="refused").first).to_have_class("badge warn")

    # On a narrow window the reason takes the place of who it was.
    narrow = window(f"{engine.url}/#/calls", width=380, height=800)
    expect(_row(narrow, 1).locator(".call-look")).to_be_visible()
    assert narrow.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_calls_that_could_not_be_loaded_are_loaded_again_without_a_change(
    calls: Page, engine: LiveEngine, client: RawClient
) -> None:
    client.call((INSPECT, {}))
    expect(_rows(calls)).to_have_count(1)
    calls.route("**/api/calls*/**", lambda route: route.fulfill(status=503, json={"detail": "Too busy."}))
    calls.route("**/api/calls?*", lambda route: route.abort())
    client.call((INSPECT, {}))
    expect(calls.get_by_text("This list is old. The engine does not answer.")).to_be_visible()
    _row(calls, 1).click()
    expect(_detail(calls)).to_contain_text("Too busy.")
    calls.unroute_all()
    expect(_rows(calls)).to_have_count(2)
    expect(_detail(calls).get_by_role("heading", level=2)).to_have_text(INSPECT)
    expect(calls.get_by_text("Too busy.").or_(calls.get_by_text("is old")).locator("visible=true")).to_have_count(0)
