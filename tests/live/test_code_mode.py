"""opencode works with one program as the agent `code`, while another client calls tools natively.

Only the model is scripted. Source: tool-presentation; opencode as an MCP client.
"""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.live.conftest import MODES, Live, Session
from tests.live.engine import LiveEngine, wait_until
from tests.live.opencode import OpenCode, isolated_environment, users_configuration
from tests.live.scripted_model import Call, ScriptedModel, Step

pytestmark = [pytest.mark.live, pytest.mark.slow]

RUN_CODE = "space_run_code"
DONE = Step(text="Done.")
CIRCLES = 3

PROGRAM = """\
const widths = [40, 60, 80];
const drawn = await Promise.all(widths.map((width, i) => tools.space_drawing_insert_shape({
  shape: "rectangle", x: i * 100, y: 0, width, height: 50, fill_color: "#3366CC",
})));
// Somebody else draws meanwhile.
let circles = 0;
for (let tries = 0; circles < COUNT && tries < 400; tries++) {
  const { objects } = await tools.space_drawing_inspect({ kind: "ellipse" });
  circles = objects!.length;
}
await tools.space_drawing_insert_shape({ shape: "rectangle", x: 0, y: 200, width: 10, height: 10 });
await tools.space_app_capture_view({ width: 320, height: 240 });
const { objects } = await tools.space_drawing_inspect({ kind: "rectangle" });
console.log(`${drawn.length} drawn together`);
return { rectangles: objects!.map(each => each.size!.x), circles };
"""


class NativeClient:
    """A client of MCP in direct mode at the endpoint of the standard agent, for a thread."""

    def __init__(self, url: str) -> None:
        self._url = f"{url}/mcp"
        self._headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        client = {"name": "native", "version": "1"}
        params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client}
        reply, session = self._post("initialize", params)
        assert "result" in reply, reply
        self._headers["Mcp-Session-Id"] = session

    def names(self) -> list[str]:
        """The tools that it is offered."""
        return [tool["name"] for tool in self._post("tools/list", {})[0]["result"]["tools"]]

    def call(self, tool: str, **arguments: Any) -> Any:
        """The structured result of a tool, which must be a success."""
        result = self._post("tools/call", {"name": tool, "arguments": arguments})[0]["result"]
        assert not result.get("isError"), result
        return result["structuredContent"]

    def _post(self, method: str, params: Any) -> tuple[Any, str]:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(urllib.request.Request(self._url, body, self._headers), timeout=30) as reply:
            return json.loads(reply.read()), reply.headers.get("Mcp-Session-Id", "")


@pytest.fixture(scope="module", params=["direct", pytest.param("force-sse", marks=pytest.mark.nightly)])
def live(
    request: pytest.FixtureRequest, opencode_binary: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Live]:
    """An engine in each of its modes, and opencode as `space opencode --agent code` sets it up."""
    mode = str(request.param)
    root = tmp_path_factory.mktemp(f"code-{mode}")
    environment = isolated_environment(root)
    project = root / "project"
    project.mkdir()
    with ScriptedModel() as model, LiveEngine(root, environment, *MODES[mode]) as engine:
        own = root / "config" / "opencode"
        own.mkdir()
        (own / "opencode.json").write_text(json.dumps(users_configuration(model.url)), encoding="utf-8")
        launch = engine.ask("opencode", "--agent", "code", "--dir", str(root / "isolated"))
        changed = {**environment, **launch["environment"]}
        isolated = {name: value for name, value in changed.items() if value is not None}
        with OpenCode(opencode_binary, project, isolated) as opencode:
            yield Live(engine, opencode, model, mode)


def program(circles: int) -> Step:
    code = PROGRAM.replace("COUNT", str(circles))
    return Step(calls=(Call(RUN_CODE, {"code": code, "description": "three boxes beside the circles"}),))


def test_the_model_has_one_tool_and_is_told_how_to_reach_the_others(live: Live, session: Session) -> None:
    assert live.opencode.mcp_status() == {"space": {"status": "connected"}}
    (request,) = session.turn(DONE)
    assert request.tools == (f"space_{RUN_CODE}",)


def test_one_program_draws_looks_and_reports_while_another_client_draws_natively(live: Live, session: Session) -> None:
    if live.mode == "force-sse":
        pytest.skip("there is one stream at a time in this mode")
    native = NativeClient(live.engine.url)
    assert RUN_CODE not in native.names()
    before = live.engine.ask("status")["world"]["undo_count"]
    failures: list[BaseException] = []

    def draw_circles() -> None:
        try:
            wait_until(
                lambda: len(native.call("space_drawing_inspect", kind="rectangle")["objects"]) >= CIRCLES,
                "the program has begun to draw",
            )
            for number in range(CIRCLES):
                native.call("space_drawing_insert_shape", shape="circle", x=number * 100, y=100, width=20, height=20)
        except BaseException as error:
            failures.append(error)
            raise

    other = threading.Thread(target=draw_circles)
    other.start()
    try:
        _, after = session.turn(program(CIRCLES), DONE)
    finally:
        other.join()
    assert failures == []
    said, result, split = after.results[0].splitlines()
    assert said == "3 drawn together"
    assert json.loads(result) == {"rectangles": [40, 60, 80, 10], "circles": CIRCLES}
    assert after.images == 1
    # Three circles, and two steps of the program: before them and after them. The model is told of it.
    assert "2" in split
    assert live.engine.ask("status")["world"]["undo_count"] == before + CIRCLES + 2


def test_one_program_is_one_step_that_one_undo_takes_back(live: Live, session: Session) -> None:
    before = live.engine.ask("status")["world"]["undo_count"]
    _, after = session.turn(program(0), DONE)
    assert "3 drawn together" in after.results[0]
    assert after.images == 1
    assert live.engine.ask("status")["world"]["undo_count"] == before + 1
    undo = Step(calls=(Call(RUN_CODE, {"code": "return tools.space_drawing_undo({})", "description": "take it back"}),))
    _, undone = session.turn(undo, DONE)
    assert "three boxes beside the circles" in undone.results[0]


def test_the_program_of_the_next_request_has_the_tools_of_the_context_that_the_last_one_went_to(
    live: Live, session: Session
) -> None:
    go = Call(RUN_CODE, {"code": "return tools.space_app_switch_surface({surface: 'scene'})", "description": "go"})
    build = Call(RUN_CODE, {"code": "return (await tools.space_scene_inspect({})).revision", "description": "look"})
    draw = Call(RUN_CODE, {"code": "return tools.space_drawing_inspect({})", "description": "draw"})
    _, _, elsewhere, last = session.turn(Step(calls=(go,)), Step(calls=(build,)), Step(calls=(draw,)), DONE)
    assert elsewhere.results[0].isdigit()
    assert "Property 'space_drawing_inspect' does not exist" in last.results[0]
    live.engine.space("context", "set", "surface=canvas")


def test_a_mistake_comes_back_with_its_place_and_the_corrected_program_runs(live: Live, session: Session) -> None:
    wrong = Call(RUN_CODE, {"code": "return tools.space_drawing_inspect({limt: 3})", "description": "look"})
    right = Call(
        RUN_CODE, {"code": "return (await tools.space_drawing_inspect({limit: 3})).revision", "description": "x"}
    )
    _, told, last = session.turn(Step(calls=(wrong,)), Step(calls=(right,)), DONE)
    assert "line 1, column" in told.results[0]
    assert "Did you mean to write 'limit'?" in told.results[0]
    assert last.results[0].isdigit()
