"""Programs over REST: run as an agent runs them, and looked at afterwards."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

import pytest
import trio

from presets.presentation import RUN_CODE_NAME
from tests.transport.mcp_client import JSON_BODY
from tests.transport.raw_http import request_bytes
from tests.transport.running_engine import RunningEngine
from tests.transport.test_rest import assert_problem, send
from tests.transport.tools_on_trial import ECHO, FAIL, IMAGE, SLOW

RUN = f"/api/tools/{RUN_CODE_NAME}/call?agent=code"

HUNGRY = "const all: number[][] = []; for (;;) all.push(new Array(1e6).fill(1));"

BOUND_SECONDS = 30.0
"""Longest wait for a first program: two processes start, on a machine that may be busy."""


async def run(engine: RunningEngine, code: str, description: str = "a test") -> Any:
    """What the run of a program gave."""
    with trio.fail_after(BOUND_SECONDS):
        response = await send(engine, "POST", RUN, {"code": code, "description": description})
    assert response.status == 200, response
    return response.json


async def programs(engine: RunningEngine) -> list[Any]:
    """The rows of all programs."""
    return (await engine.request("GET", "/api/programs")).json["programs"]


async def test_at_first_there_are_no_programs(engine: RunningEngine) -> None:
    assert await programs(engine) == []
    assert_problem(await engine.request("GET", "/api/programs/program-1"), 404, "'program-1'", "100")


@pytest.mark.slow
async def test_a_program_is_run_and_kept_whole(engine: RunningEngine) -> None:
    code = f'const said = await tools.{ECHO}({{text: "hi"}});\nconsole.log("logged");\nreturn said;'
    result = await run(engine, code, "says hi")
    assert (result["is_error"], result["content"][0]["text"]) == (False, 'logged\n{"text": "hi"}')
    about = result["structured_content"]
    (row,) = await programs(engine)
    assert (row["id"], row["agent"], row["description"]) == (about["program_id"], "code", "says hi")
    assert (row["call_count"], row["steps"], row["failure"], row["running"]) == (1, 0, None, False)
    assert datetime.fromisoformat(row["started_at"]).tzinfo is not None
    assert "code" not in row
    whole = (await engine.request("GET", f"/api/programs/{row['id']}")).json
    assert (whole["code"], whole["logs"], whole["result"]) == (code, ["logged"], '{"text": "hi"}')
    (call,) = whole["calls"]
    assert (call["tool"], json.loads(call["arguments"]), call["error"]) == (ECHO, {"text": "hi"}, None)


@pytest.mark.slow
async def test_what_a_program_does_wrong_is_a_result_and_is_kept(engine: RunningEngine) -> None:
    refused = await run(engine, "return await tools.space_trial_ecco({})")
    assert (refused["is_error"], f"Did you mean '{ECHO}'?" in refused["content"][0]["text"]) == (True, True)
    failed = await run(engine, f"await tools.{FAIL}({{}})")
    assert "there is no such thing; try another" in failed["content"][0]["text"]
    assert [row["failure"].partition(":")[0] for row in await programs(engine)] == ["exception", "refused"]


@pytest.mark.slow
async def test_half_characters_and_images_come_through(engine: RunningEngine) -> None:
    result = await run(engine, f'await tools.{IMAGE}({{}}); console.log("\\ud800"); return "\\udfff";')
    assert [block["type"] for block in result["content"]] == ["text", "image"]
    (row,) = await programs(engine)
    whole = await engine.request("GET", f"/api/programs/{row['id']}")
    assert (whole.status, len(whole.json["logs"])) == (200, 1)


@pytest.mark.slow
async def test_a_program_ends_when_nobody_waits_for_it_any_more(engine: RunningEngine) -> None:
    connection = await engine.connect()
    body = json.dumps({"code": f"await tools.{SLOW}({{}})", "description": "waits"}).encode()
    with trio.fail_after(BOUND_SECONDS):
        await connection.send(request_bytes("POST", RUN, JSON_BODY, body))
        await engine.hooks.started.acquire()
        (row,) = await programs(engine)
        assert (row["running"], row["seconds"]) == (True, None)
        assert (await engine.status())["code_runtime"]["leases"] == 1
        await connection.finish()
        await engine.hooks.cancelled.acquire()
        while (await programs(engine))[0]["running"]:  # noqa: ASYNC110 - nothing tells over REST
            await trio.sleep(0.01)
    assert "cancelled" in (await programs(engine))[0]["failure"]
    assert (await engine.status())["code_runtime"]["leases"] == 0


@pytest.mark.slow
async def test_a_session_that_was_given_programs_runs_one(engine: RunningEngine) -> None:
    client = await engine.client()
    answer = await send(engine, "PUT", f"/api/sessions/{client.session}/presentation", {"presentation": "both"})
    assert answer.json["mode"] == "both"
    with trio.fail_after(BOUND_SECONDS):
        result = await client.call(RUN_CODE_NAME, {"code": "return 6 * 7", "description": "a sum"})
    assert result["content"][0]["text"] == "42"
    (row,) = await programs(engine)
    assert (row["agent"], row["presentation"]) == ("standard", "both")


@pytest.mark.slow
async def test_the_status_counts_what_had_to_be_ended_by_force(engine: RunningEngine) -> None:
    client = await engine.client(endpoint="/mcp/code")
    with trio.fail_after(BOUND_SECONDS):
        result = await client.call(
            RUN_CODE_NAME, {"code": "const all = []; for (;;) all.push(new Array(1e6).fill(1));", "description": "eats"}
        )
    assert result["isError"]
    runtime = (await engine.status())["code_runtime"]
    assert sum(runtime["kills"].values()) == 1
    assert (runtime["compiler"]["compiled"], runtime["programs_kept"]) == (1, 1)
