"""The four main views with something in them, as pictures: for the README, and for whoever wants to see a change.

`make pictures` puts them into `docs/`; otherwise they are made and thrown away, so that each run finds a view that has
come to nothing.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from tests.live.engine import LiveEngine
from tests.transport.mcp_client import BOTH, initialize, rpc

pytestmark = [pytest.mark.live, pytest.mark.slow]

SMALLEST_BYTES = 20_000
"""A picture of a view with nothing in it is smaller."""

SKETCH = """\
// A bay at dusk: sky, sun, water, and the light on it. y goes up.
const box = (x: number, y: number, width: number, height: number, fill_color: string) =>
  tools.space_drawing_insert_shape({ shape: "rectangle", x, y, width, height, fill_color, stroke_width: 0 });
const sky = ["#f6bf74", "#e58a6d", "#b0607f", "#6d4a86", "#3b3a75", "#1f2a57"];
for (const [i, color] of sky.entries()) await box(0, i * 60, 960, 61, color);
await tools.space_drawing_insert_shape({
  shape: "circle", x: 405, y: -40, width: 150, height: 150, fill_color: "#ffe9b8", stroke_width: 0,
});
await box(0, -240, 960, 240, "#27406b");
for (let i = 0; i < 7; i++) await box(420 + i * 7, -22 - i * 30, 120 - i * 14, 8, "#f6bf74");
console.log("the bay is there");
return { sky: sky.length, glints: 7 };
"""

HILLS = (
    ([(0, 0), (0, 60), (130, 120), (250, 50), (340, 0)], "#1a2140"),
    ([(560, 0), (690, 70), (790, 150), (880, 90), (960, 130), (960, 0)], "#141a33"),
)

BOAT = (
    ([(630, -110), (660, -140), (770, -140), (800, -110)], "#0e1226"),
    ([(712, -100), (712, 40), (790, -100)], "#f4efe2"),
    ([(704, -100), (704, 10), (650, -100)], "#e9dcc0"),
)


class Client:
    """A client with a session, as far as a picture needs one."""

    def __init__(self, engine: LiveEngine, name: str, agent: str | None = None) -> None:
        self._connection = HTTPConnection("127.0.0.1", engine.port, timeout=60)
        self._target = "/mcp" if agent is None else f"/mcp/{agent}"
        self._headers = dict(BOTH)
        self._post(initialize(name=name))
        self._post(rpc("notifications/initialized", request_id=None))

    def call(self, tool: str, arguments: dict[str, Any]) -> None:
        self._post(rpc("tools/call", {"name": tool, "arguments": arguments}))

    def close(self) -> None:
        self._connection.close()

    def _post(self, message: dict[str, Any]) -> None:
        self._connection.request("POST", self._target, json.dumps(message), self._headers)
        response = self._connection.getresponse()
        response.read()
        assert response.status in (200, 202), response.status
        session = response.getheader("Mcp-Session-Id")
        if session is not None:
            self._headers["Mcp-Session-Id"] = session


@pytest.fixture
def coder(engine: LiveEngine) -> Iterator[Client]:
    """A client that writes programs."""
    with closing(Client(engine, "opencode", "code")) as client:
        yield client


@pytest.fixture
def drawer(engine: LiveEngine) -> Iterator[Client]:
    """A client that calls tools."""
    with closing(Client(engine, "opencode")) as client:
        yield client


def test_the_four_main_views_have_something_to_show(
    window: Callable[..., Page], engine: LiveEngine, coder: Client, drawer: Client, tmp_path: Path
) -> None:
    folder = Path(os.environ.get("SPACE_PICTURES") or tmp_path)
    engine.space("call", "space_app_set_theme", '{"theme": "dark"}')
    coder.call("space_run_code", {"code": SKETCH, "description": "A bay at dusk"})
    page = window(f"{engine.url}/#/live", width=1280, height=800)
    page.get_by_role("button", name="Keep marks").click()
    for corners, color in (*HILLS, *BOAT):
        points = [{"x": x, "y": y} for x, y in corners]
        drawer.call(
            "space_drawing_insert_shape", {"shape": "polygon", "points": points, "fill_color": color, "stroke_width": 0}
        )
    drawer.call("space_app_run_bash", {"command": "rm -rf build"})
    drawer.call("space_graph_add_node", {"label": "bay"})

    pictures: dict[str, bytes] = {}
    expect(page.get_by_role("list", name="What was just changed").get_by_role("listitem").first).to_be_visible()
    expect(page.locator(".stage")).to_have_attribute("data-revision", re.compile(r"[1-9]\d*"))
    pictures["live"] = page.screenshot()

    page.goto(f"{engine.url}/#/tools")
    page.get_by_role("searchbox").or_(page.get_by_placeholder(re.compile("not offered"))).first.fill("bash")
    expect(page.get_by_text("because of its risk (shell)").first).to_be_visible()
    pictures["tools"] = page.screenshot()

    page.goto(f"{engine.url}/#/calls")
    page.get_by_text("space_app_run_bash").first.click()
    expect(page.get_by_text("opencode").first).to_be_visible()
    pictures["calls"] = page.screenshot()

    page.goto(f"{engine.url}/#/agents/space/code")
    expect(page.get_by_text("instructions", exact=True).first).to_be_visible()
    pictures["agents"] = page.screenshot()

    for name, data in pictures.items():
        assert len(data) > SMALLEST_BYTES, name
        (folder / f"panel-{name}.png").write_bytes(data)
