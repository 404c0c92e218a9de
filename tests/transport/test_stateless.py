"""Clients that know no sessions: what is asked and answered, and what none of it leaves behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.lowlevel

from actors.context import SetOverride
from presets.definition import OverrideState
from protocol.limits import Limits
from tests.transport.mcp_client import BOTH, ONLY_JSON, rpc
from tests.transport.raw_http import BOUND_SECONDS, RawConnection
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.stateless_client import PREFIX, VERSION
from tests.transport.talking_tools import ASK, ASKING_PROMPT, GONE, GREETING, LATE, LOG, NOTE, TWICE
from tests.transport.tools_on_trial import CRASH, ECHO, FAIL, PROGRESS, SCENE_ONLY, SLOW

FORMS = {"elicitation": {}}
BASH = "space_app_run_bash"


def accepted(name: str) -> dict[str, Any]:
    """The answer of a user who has filled in the form."""
    return {"action": "accept", "content": {"name": name}}


async def no_calls(engine: RunningEngine) -> None:
    with trio.fail_after(BOUND_SECONDS):
        while (await engine.status())["calls"]:
            await trio.lowlevel.checkpoint()


async def test_the_server_describes_itself_with_what_the_agent_is_told(talking: RunningEngine) -> None:
    found = await talking.stateless().ask("server/discover")
    assert found["supportedVersions"] == [VERSION]
    assert set(found["capabilities"]) == {"tools", "resources", "prompts", "completions", "logging", "extensions"}
    assert "Space is an engine" in found["instructions"]
    assert found["_meta"][f"{PREFIX}serverInfo"]["name"] == "space"


async def test_no_session_is_made_and_one_that_is_named_is_not_looked_at(engine: RunningEngine) -> None:
    client = engine.stateless()
    client.headers = (("Mcp-Session-Id", "nobody"),)
    response = await client.post("tools/list")
    assert response.status == 200
    assert response.header("mcp-session-id") is None
    assert ECHO in [tool["name"] for tool in response.json["result"]["tools"]]
    assert (await engine.status())["mcp"]["session_count"] == 0


async def test_a_call_runs_and_its_answer_says_that_it_is_complete(engine: RunningEngine) -> None:
    result = await engine.stateless().call(ECHO, {"text": "x"})
    assert (result["resultType"], result["structuredContent"], result["isError"]) == ("complete", {"text": "x"}, False)
    assert (await engine.status())["mcp"]["tools_call_count"] == 1


async def test_the_tools_follow_the_context_and_a_hidden_one_is_refused_with_the_reason(engine: RunningEngine) -> None:
    client = engine.stateless()
    assert SCENE_ONLY not in [tool["name"] for tool in (await client.ask("tools/list"))["tools"]]
    refused = await client.call(SCENE_ONLY)
    assert refused["isError"] is True
    assert "scene" in refused["content"][0]["text"]
    unknown = await client.post("tools/call", {"name": "space_nothing_like_it", "arguments": {}})
    assert unknown.json["error"]["code"] == -32602


async def test_another_agent_is_asked_at_its_own_endpoint_and_nobody_where_there_is_none(engine: RunningEngine) -> None:
    client = engine.stateless()
    client.endpoint = "/mcp/no-such-agent"
    response = await client.post("tools/list")
    assert response.status == 404
    assert "no-such-agent" in response.json["error"]["message"]


async def test_a_presentation_in_the_query_is_that_of_the_request(engine: RunningEngine) -> None:
    client = engine.stateless()
    client.endpoint = "/mcp?presentation=nonsense"
    response = await client.post("tools/list")
    assert response.status == 400
    assert "nonsense" in response.json["error"]["message"]


async def test_tools_that_fail_say_so_in_their_results(
    engine: RunningEngine, errors_logged: list[dict[str, Any]]
) -> None:
    client = engine.stateless()
    assert "no such thing" in (await client.call(FAIL))["content"][0]["text"]
    assert "a bug of the tool" in (await client.call(CRASH))["content"][0]["text"]
    errors_logged.clear()


async def test_progress_goes_over_the_stream_of_its_own_request_and_has_no_event_ids(engine: RunningEngine) -> None:
    client = engine.stateless()
    connection = await client.begin(client.message("tools/call", {"name": PROGRESS, "arguments": {"steps": 1}}, 1, "t"))
    engine.hooks.go.set()
    await engine.hooks.fed.send(None)
    head = await connection.read_head()
    assert head.header("content-type") == "text/event-stream"
    assert head.header("x-accel-buffering") == "no"
    first, second = await connection.next_event(), await connection.next_event()
    assert first is not None
    assert second is not None
    assert (first.id, second.id) == (None, None)
    assert (first.json["method"], first.json["params"]["progressToken"]) == ("notifications/progress", "t")
    assert second.json["result"]["resultType"] == "complete"
    assert await connection.next_event() is None
    await connection.finish()


@pytest.mark.parametrize(("level", "heard"), [(None, []), ("error", []), ("info", ["warning"]), ("debug", 2)])
async def test_log_messages_go_to_whoever_asked_for_them_and_nobody_else(
    talking: RunningEngine, level: str | None, heard: Any
) -> None:
    client = talking.stateless(**({} if level is None else {"logLevel": level}))
    message = client.message("tools/call", {"name": LOG, "arguments": {}})
    connection = await client.begin(message)
    head = await connection.read_head()
    if not heard:
        assert head.header("content-type") == "application/json"
    else:
        levels: list[str] = []
        while "params" in (said := await connection.next_message()):
            levels.append(said["params"]["level"])
        assert levels == (["debug", "warning"] if heard == 2 else heard)
        assert said["result"]["content"][0]["text"] == "logged"
    await connection.finish()


@pytest.mark.parametrize("vanish", [RawConnection.finish, RawConnection.reset], ids=["FIN", "RST"])
async def test_a_client_that_goes_away_cancels_its_call(engine: RunningEngine, vanish: Any) -> None:
    client = engine.stateless()
    connection = await client.begin(client.message("tools/call", {"name": SLOW, "arguments": {}}))
    with trio.fail_after(BOUND_SECONDS):
        await engine.hooks.started.acquire()
        await vanish(connection)
        await engine.hooks.cancelled.acquire()
    await no_calls(engine)


async def test_calls_count_towards_the_limit_of_all_and_make_room_when_they_end(tmp_path: Path) -> None:
    async with running_engine(tmp_path, limits=Limits(calls_total=1)) as engine:
        client = engine.stateless()
        connection = await client.begin(client.message("tools/call", {"name": SLOW, "arguments": {}}))
        with trio.fail_after(BOUND_SECONDS):
            await engine.hooks.started.acquire()
        refused = await client.post("tools/call", {"name": ECHO, "arguments": {"text": "x"}})
        assert "1 calls in flight" in refused.json["error"]["message"]
        engine.hooks.go.set()
        await connection.read_response()
        await connection.finish()
        await no_calls(engine)
        with trio.fail_after(BOUND_SECONDS):
            while (await client.post("tools/call", {"name": ECHO, "arguments": {"text": "x"}})).json.get("error"):
                pass


async def test_resources_are_listed_read_and_missing_ones_named(talking: RunningEngine) -> None:
    client = talking.stateless()
    listed = [resource["uri"] for resource in (await client.ask("resources/list"))["resources"]]
    assert NOTE in listed
    assert LATE not in listed
    read = await client.ask("resources/read", {"uri": NOTE})
    assert read["contents"][0]["text"] == f"what stands at {NOTE}"
    assert read["ttlMs"] == 0
    page = await client.ask("resources/read", {"uri": "test://page/7"})
    assert page["contents"][0]["text"] == "test://page/7 {'number': '7'}"
    for uri in (GONE, "test://never-was"):
        error = (await client.post("resources/read", {"uri": uri})).json["error"]
        assert (error["code"], error["data"]) == (-32602, {"uri": uri})


async def test_prompts_are_listed_run_and_completed(talking: RunningEngine) -> None:
    client = talking.stateless()
    assert GREETING in [prompt["name"] for prompt in (await client.ask("prompts/list"))["prompts"]]
    got = await client.ask("prompts/get", {"name": GREETING, "arguments": {"who": "Ada"}})
    assert got["messages"][0]["content"]["text"] == "Greet Ada."
    missing = await client.post("prompts/get", {"name": GREETING, "arguments": {}})
    assert missing.json["error"]["code"] == -32602
    completion = await client.ask(
        "completion/complete",
        {"ref": {"type": "ref/prompt", "name": GREETING}, "argument": {"name": "who", "value": "A"}},
    )
    assert completion["completion"]["values"] == ["Ada", "Alan"]


async def test_a_question_ends_the_call_and_its_answer_begins_it_anew(talking: RunningEngine) -> None:
    client = talking.stateless(FORMS)
    asked = await client.call(ASK)
    assert asked["resultType"] == "input_required"
    assert asked["inputRequests"]["who"]["method"] == "elicitation/create"
    assert (await talking.status())["calls"] == []
    done = await client.call(ASK, inputResponses={"who": accepted("Ada")})
    assert done["content"][0]["text"] == "accept: Ada"
    again = await client.call(ASK, inputResponses={"who": accepted("Ada"), "other": {}})
    assert again["resultType"] == "complete"


async def test_several_questions_are_answered_over_as_many_rounds(talking: RunningEngine) -> None:
    client = talking.stateless(FORMS)
    first = await client.call(TWICE)
    second = await client.call(TWICE, inputResponses={"first": accepted("Ada")}, requestState=first["requestState"])
    assert set(second["inputRequests"]) == {"second"}
    assert second["requestState"] != first["requestState"]
    done = await client.call(TWICE, inputResponses={"second": accepted("Alan")}, requestState=second["requestState"])
    assert done["content"][0]["text"] == "Ada and Alan; state {'round': 2}"


async def test_a_state_that_was_changed_or_belongs_to_another_call_is_refused(talking: RunningEngine) -> None:
    client = talking.stateless(FORMS)
    state = (await client.call(TWICE))["requestState"]
    answers = {"first": accepted("Ada")}
    for name, given in ((TWICE, f"{state}-TAMPERED"), (ASK, state)):
        params = {"name": name, "arguments": {}, "inputResponses": answers, "requestState": given}
        response = await client.post("tools/call", params)
        assert response.json["error"]["code"] == -32602


async def test_an_answer_that_is_none_is_an_error_and_no_result(talking: RunningEngine) -> None:
    params = {"name": ASK, "arguments": {}, "inputResponses": {"who": {"action": "perhaps"}}}
    response = await talking.stateless(FORMS).post("tools/call", params)
    assert response.json["error"]["code"] == -32602
    assert "accept, decline or cancel" in response.json["error"]["message"]


async def test_a_client_that_cannot_be_asked_is_told_what_it_would_have_to_declare(talking: RunningEngine) -> None:
    response = await talking.stateless().post("tools/call", {"name": ASK, "arguments": {}})
    assert (response.status, response.header("content-type")) == (400, "application/json")
    error = response.json["error"]
    assert (error["code"], error["data"]) == (-32021, {"requiredCapabilities": {"elicitation": {}}})


async def test_to_agree_is_to_agree_to_this_call_alone_and_once(full_engine: RunningEngine) -> None:
    await full_engine.space.context.ask(SetOverride("general-shell-tools", OverrideState.ON))
    client = full_engine.stateless({"elicitation": {"form": {}}})
    yes: dict[str, Any] = {"inputResponses": {"space_confirm": {"action": "accept"}}}
    counting = {"command": "echo x >> ran; wc -l < ran"}
    unasked = await client.call(BASH, counting, **yes)
    assert unasked["resultType"] == "input_required", "nobody was asked, so nobody has agreed"
    state = {"requestState": unasked["requestState"]}
    for other in ("standard", "code"):
        elsewhere = full_engine.stateless({"elicitation": {"form": {}}}, endpoint=f"/mcp/{other}")
        arguments = {"command": "echo y >> ran"} if other == "standard" else counting
        stolen = await elsewhere.post("tools/call", {"name": BASH, "arguments": arguments, **yes, **state})
        assert "belongs to another request" in stolen.json["error"]["message"]
    done = await client.call(BASH, counting, **yes, **state)
    assert done["structuredContent"]["stdout"].strip() == "1"
    again = await client.post("tools/call", {"name": BASH, "arguments": counting, **yes, **state})
    assert again.json["error"]["code"] == -32602
    assert "used already" in again.json["error"]["message"]
    assert "Nothing was run" in again.json["error"]["message"]


async def test_an_answer_that_is_none_leaves_a_call_undone_and_says_so(full_engine: RunningEngine) -> None:
    await full_engine.space.context.ask(SetOverride("general-shell-tools", OverrideState.ON))
    client = full_engine.stateless({"elicitation": {"form": {}}})
    asked = await client.call(BASH, {"command": "echo"})
    answers = {"inputResponses": {"space_confirm": {"action": "perhaps"}}, "requestState": asked["requestState"]}
    wrong = await client.post("tools/call", {"name": BASH, "arguments": {"command": "echo"}, **answers})
    assert wrong.json["error"]["code"] == -32602
    assert "space_app_run_bash was not run and changed nothing" in wrong.json["error"]["message"]


async def test_a_prompt_may_ask_as_well(talking: RunningEngine) -> None:
    client = talking.stateless(FORMS)
    asked = await client.ask("prompts/get", {"name": ASKING_PROMPT})
    assert asked["resultType"] == "input_required"
    done = await client.ask("prompts/get", {"name": ASKING_PROMPT, "inputResponses": {"who": accepted("Ada")}})
    assert done["messages"][0]["content"]["text"] == "Greet Ada."


async def test_a_client_that_takes_only_json_gets_json(talking: RunningEngine) -> None:
    client = talking.stateless(logLevel="debug")
    message = client.message("tools/call", {"name": LOG, "arguments": {}})
    response = await client.send(message, accept=ONLY_JSON)
    assert response.header("content-type") == "application/json"
    assert response.json["result"]["content"][0]["text"] == "logged"


async def test_a_notification_is_accepted_and_dropped(engine: RunningEngine) -> None:
    client = engine.stateless()
    message = rpc("notifications/cancelled", {"requestId": 1}, None)
    response = await client.send(message, headers=(("MCP-Protocol-Version", VERSION),), accept=BOTH)
    assert (response.status, response.body) == (202, b"")


async def test_both_generations_are_served_side_by_side(engine: RunningEngine) -> None:
    client, other = await engine.client(), engine.stateless()
    assert (await client.call(ECHO, {"text": "x"}))["structuredContent"] == {"text": "x"}
    assert (await other.call(ECHO, {"text": "y"}))["structuredContent"] == {"text": "y"}
    assert (await engine.status())["mcp"]["session_count"] == 1


async def test_forced_sse_knows_no_clients_without_sessions(sse_engine: RunningEngine) -> None:
    response = await sse_engine.stateless().post("server/discover")
    assert (response.status, response.body) == (500, b"Use SSE transport")
