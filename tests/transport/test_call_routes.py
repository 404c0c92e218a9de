"""Calls over REST: every way in which a tool is called is seen, while it runs and afterwards, and can be ended."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.agents import AgentOptions
from presets.presentation import CALL_TOOL_NAME, RUN_CODE_NAME
from tests.transport.mcp_client import JSON_BODY, call, rpc
from tests.transport.raw_http import request_bytes
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.talking_tools import JOB, TalkHooks
from tests.transport.test_rest import assert_problem, send
from tests.transport.tools_on_trial import ECHO, FAIL, IMAGE, PROGRESS, RISKY, SLOW

BOUND_SECONDS = 30.0
"""Longest wait, on a machine that may be busy."""


async def listed(engine: RunningEngine, query: str = "") -> Any:
    """What `GET /api/calls` says."""
    response = await engine.request("GET", f"/api/calls{query}")
    assert response.status == 200, response
    return response.json


async def rows(engine: RunningEngine) -> list[Any]:
    """The calls, the oldest change first."""
    return (await listed(engine))["calls"]


async def whole(engine: RunningEngine, call_id: int) -> Any:
    """One call with all that is kept of it."""
    response = await engine.request("GET", f"/api/calls/{call_id}")
    assert response.status == 200, response
    return response.json


async def cancel(engine: RunningEngine, call_id: int) -> Any:
    """End a call as a person does."""
    response = await send(engine, "POST", f"/api/calls/{call_id}/cancel", {})
    assert response.status == 200, response
    return response.json


async def until(engine: RunningEngine, **wanted: object) -> Mapping[str, Any]:
    """The last row, once it is like that."""
    with trio.fail_after(BOUND_SECONDS):
        while True:
            found = await rows(engine)
            if found and all(found[-1][name] == value for name, value in wanted.items()):
                return found[-1]
            await trio.sleep(0.01)


async def test_at_first_there_are_no_calls(engine: RunningEngine) -> None:
    said = await listed(engine)
    assert (said["calls"], said["kept"], said["version"]) == ([], 0, 0)
    assert said["engine"] == engine.space.versions.engine
    assert_problem(await engine.request("GET", "/api/calls/1"), 404, "'1'", "space calls")
    assert_problem(await engine.request("GET", "/api/calls/first"), 404, "'first'")
    assert_problem(await engine.request("GET", "/api/calls?limit=1001"), 422, "1000")
    assert_problem(await engine.request("GET", "/api/calls?after=-1"), 422, "after")


async def test_a_call_of_a_session_is_seen_whole(engine: RunningEngine) -> None:
    client = await engine.client(name="panel-tests")
    await client.call(ECHO, {"text": "it's"})
    (row,) = await rows(engine)
    assert (row["source"], row["tool"], row["state"], row["error"]) == ("mcp", ECHO, "done", None)
    assert (row["agent"], row["session_id"], row["client"]) == ("standard", client.session, "panel-tests 1")
    assert (row["arguments_preview"], row["cancellable"], row["program_id"]) == ('{"text":"it\'s"}', False, None)
    assert row["seconds"] >= 0
    found = await whole(engine, row["id"])
    assert (found["arguments"], found["arguments_cut"], found["result_cut"]) == ({"text": "it's"}, False, False)
    assert found["result"] == {
        "content": [{"type": "text", "text": "it's"}],
        "structured_content": {"text": "it's"},
        "is_error": False,
    }
    assert shlex.split(found["command"]) == ["space", "call", ECHO, '{"text":"it\'s"}']


async def test_a_call_without_a_session_names_its_client(engine: RunningEngine) -> None:
    await engine.stateless().call(ECHO, {"text": "hi"})
    (row,) = await rows(engine)
    assert (row["source"], row["tool"], row["state"], row["session_id"]) == ("mcp", ECHO, "done", None)
    assert row["agent"] == "standard"


async def test_a_call_over_rest_is_seen(engine: RunningEngine) -> None:
    await send(engine, "POST", f"/api/tools/{ECHO}/call", {"text": "hi"})
    await send(engine, "POST", f"/api/tools/{ECHO}/call?agent=code", {"text": "hi"})
    first, second = await rows(engine)
    assert (first["source"], first["state"], first["agent"], first["client"]) == ("rest", "done", None, None)
    assert (second["agent"], second["state"], "present" in second["error"]) == ("code", "refused", False)
    assert (await whole(engine, second["id"]))["command"].endswith("--agent code")


async def test_pictures_are_kept_and_failures_say_why(engine: RunningEngine) -> None:
    client = await engine.client()
    await client.call(IMAGE)
    await client.call(FAIL)
    picture, failed = await rows(engine)
    assert [block["type"] for block in (await whole(engine, picture["id"]))["result"]["content"]] == ["image"]
    assert (failed["state"], failed["error"]) == ("failed", "there is no such thing; try another")
    assert (await whole(engine, failed["id"]))["result"]["is_error"]


async def test_refused_calls_are_seen_with_the_reason(engine: RunningEngine) -> None:
    client = await engine.client()
    await client.ask("tools/call", {"name": RISKY, "arguments": {"a": 1}})
    await client.ask("tools/call", {"name": ECHO, "arguments": {"text": 5}})
    await client.post(call("space_nothing", {"b": 2}))
    hidden, invalid, unknown = await rows(engine)
    assert {row["state"] for row in (hidden, invalid, unknown)} == {"refused"}
    assert (hidden["tool"], hidden["arguments_preview"]) == (RISKY, '{"a":1}')
    assert "trial-risky-tools" in hidden["error"]
    assert (invalid["tool"], invalid["error"]) == (
        ECHO,
        f"Invalid arguments for {ECHO}; it was not run: text: expected string, got a whole number, 5",
    )
    assert "text" in (await whole(engine, invalid["id"]))["result"]["content"][0]["text"]
    assert (unknown["tool"], "space_nothing" in unknown["error"]) == ("space_nothing", True)
    assert {row["client"] for row in (hidden, invalid, unknown)} == {"tests 1"}


async def test_calls_that_are_refused_in_a_batch_without_a_session_and_over_rest_are_seen(
    engine: RunningEngine,
) -> None:
    client = await engine.client(version="2025-03-26")
    await client.post([call(RISKY, request_id=1), call(ECHO, {"text": 5}, request_id=2)])
    stateless = engine.stateless()
    await stateless.post("tools/call", {"name": RISKY, "arguments": {}})
    await stateless.post("tools/call", {"name": ECHO, "arguments": {"text": 5}})
    await send(engine, "POST", f"/api/tools/{RISKY}/call", {})
    await send(engine, "POST", f"/api/tools/{ECHO}/call", {"text": 5})
    await send(engine, "POST", "/api/tools/space_nothing/call", {})
    found = await rows(engine)
    assert {row["state"] for row in found} == {"refused"}
    assert [row["source"] for row in found] == ["mcp"] * 4 + ["rest"] * 3
    assert sorted(row["tool"] for row in found) == sorted([RISKY, ECHO] * 3 + ["space_nothing"])


async def test_a_running_call_shows_its_progress(engine: RunningEngine) -> None:
    client = await engine.client()
    connection = await client.begin(call(PROGRESS, {"steps": 2}))
    await engine.hooks.started.acquire()
    row = await until(engine, state="running")
    assert (row["cancellable"], row["progress"], row["seconds"]) == (True, None, None)
    engine.hooks.fed.send_nowait(None)
    row = await until(engine, progress={"done": 1, "total": 2, "message": "step 1"})
    found = await whole(engine, row["id"])
    assert (found["result"], found["arguments"]) == (None, {"steps": 2})
    engine.hooks.fed.send_nowait(None)
    engine.hooks.go.set()
    await connection.read_response()
    await until(engine, state="done")
    await connection.finish()


async def test_a_person_ends_a_call_of_a_session_and_its_client_hears_it(engine: RunningEngine) -> None:
    client = await engine.client()
    connection = await client.begin(call(SLOW))
    await engine.hooks.started.acquire()
    row = await until(engine, state="running")
    ended = await cancel(engine, row["id"])
    assert (ended["state"], ended["error"], ended["cancellable"]) == ("cancelled", "a person has cancelled it", False)
    answer = (await connection.read_response()).json
    assert "a person has cancelled it" in answer["error"]["message"]
    await engine.hooks.cancelled.acquire()
    assert_problem(await send(engine, "POST", f"/api/calls/{row['id']}/cancel", {}), 409, "cancelled")
    assert_problem(await send(engine, "POST", "/api/calls/99/cancel", {}), 404, "'99'")
    await connection.finish()


async def test_a_person_ends_a_call_over_rest(engine: RunningEngine) -> None:
    connection = await engine.connect()
    await connection.send(request_bytes("POST", f"/api/tools/{SLOW}/call", JSON_BODY, b"{}"))
    await engine.hooks.started.acquire()
    row = await until(engine, state="running", source="rest")
    assert (await cancel(engine, row["id"]))["state"] == "cancelled"
    answer = (await connection.read_response()).json
    assert (answer["is_error"], "a person has cancelled it" in answer["content"][0]["text"]) == (True, True)
    await connection.finish()


async def test_a_call_whose_client_goes_is_cancelled(engine: RunningEngine) -> None:
    connection = await engine.connect()
    await connection.send(request_bytes("POST", f"/api/tools/{SLOW}/call", JSON_BODY, b"{}"))
    await engine.hooks.started.acquire()
    await connection.finish()
    row = await until(engine, state="cancelled")
    assert row["error"] == "its client has cancelled it, or is gone"


async def test_a_person_ends_a_task(talking: RunningEngine, talk: TalkHooks) -> None:
    client = talking.stateless({"extensions": {"io.modelcontextprotocol/tasks": {}}})
    created = await client.ask("tools/call", {"name": JOB, "arguments": {}})
    await talk.started.acquire()
    row = await until(talking, state="running")
    assert (row["task_id"], row["progress"]["message"]) == (created["taskId"], "half way")
    assert (await cancel(talking, row["id"]))["state"] == "cancelled"
    task = await client.ask("tasks/get", {"taskId": created["taskId"]})
    assert task["status"] == "cancelled"


async def test_a_reader_goes_on_from_the_version_that_it_was_given(engine: RunningEngine) -> None:
    client = await engine.client()
    for number in range(5):
        await client.call(ECHO, {"text": str(number)})
    newest = await listed(engine, "?limit=2")
    assert [row["arguments_preview"] for row in newest["calls"]] == ['{"text":"3"}', '{"text":"4"}']
    seen: list[int] = []
    version = 0
    while True:
        page = await listed(engine, f"?after={version}&limit=2")
        if not page["calls"]:
            break
        version = page["version"]
        seen += [row["id"] for row in page["calls"]]
    assert (seen, version) == ([1, 2, 3, 4, 5], newest["version"])
    assert newest["kept"] == 5


async def test_a_call_by_name_shows_the_tool_that_it_reaches(tmp_path: Path) -> None:
    composition = "- row: preset-groups\n  groups: all\n- row: tool-finder\n"
    agents = tmp_path / "agents"
    (agents / "finder").mkdir(parents=True)
    (agents / "finder" / "composition.yml").write_text(composition, encoding="utf-8")
    async with running_engine(tmp_path, agents=AgentOptions(user_root=agents)) as engine:
        client = await engine.client(endpoint="/mcp/finder")
        await client.call(CALL_TOOL_NAME, {"name": ECHO, "arguments": {"text": "hi"}})
        await client.call(CALL_TOOL_NAME, {"name": RISKY, "arguments": {}})
        reached, refused = await rows(engine)
    assert (reached["tool"], reached["via"], reached["state"]) == (ECHO, CALL_TOOL_NAME, "done")
    assert reached["arguments_preview"] == '{"text":"hi"}'
    assert (refused["tool"], refused["via"], refused["state"]) == (RISKY, CALL_TOOL_NAME, "refused")


@pytest.mark.slow
async def test_the_calls_of_a_program_are_seen_and_one_can_be_ended(engine: RunningEngine) -> None:
    code = (
        f'await tools.{ECHO}({{text: "hi"}});'
        f"try {{ await tools.{SLOW}({{}}) }} catch (error) {{ return String(error.message) }}"
    )
    answers: list[Any] = []

    async def run() -> None:
        body = {"code": code, "description": "two calls"}
        answers.append((await send(engine, "POST", f"/api/tools/{RUN_CODE_NAME}/call?agent=code", body)).json)

    with trio.fail_after(BOUND_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run)
            await engine.hooks.started.acquire()
            outer, echo, slow = sorted(await rows(engine), key=lambda row: row["id"])
            await cancel(engine, slow["id"])
    assert "a person has cancelled it" in answers[0]["content"][0]["text"]
    (program,) = (await engine.request("GET", "/api/programs")).json["programs"]
    assert {row["program_id"] for row in (outer, echo, slow)} == {program["id"]}
    assert [(row["source"], row["tool"]) for row in (outer, echo, slow)] == [
        ("rest", RUN_CODE_NAME),
        ("program", ECHO),
        ("program", SLOW),
    ]
    assert [row["state"] for row in sorted(await rows(engine), key=lambda row: row["id"])] == [
        "done",
        "done",
        "cancelled",
    ]


async def test_other_requests_are_no_calls(engine: RunningEngine) -> None:
    client = await engine.client()
    await client.post(rpc("tools/list"))
    await engine.request("GET", "/api/tools")
    assert json.dumps(await rows(engine)) == "[]"
