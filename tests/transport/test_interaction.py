"""Calls in a session that talk with their client: questions, log messages and answers, on the stream of their POST."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from engine.commands import CreateWorld, DeleteWorld
from protocol.limits import Limits
from tests.transport.mcp_client import BOTH, LIST_CHANGED, ONLY_JSON, McpClient, call, rpc
from tests.transport.raw_http import BOUND_SECONDS, RawConnection
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.talking_tools import ASK, GONE, GREETING, LOG, NOTE, ROOTS, SAMPLE, TWICE, TalkHooks

ALL = {"elicitation": {}, "sampling": {}, "roots": {"listChanged": True}}


async def asking(client: McpClient, tool: str, request_id: int = 1) -> tuple[RawConnection, Any]:
    """A call that has asked, and its question."""
    connection = await client.begin(call(tool, {}, request_id))
    head = await connection.read_head()
    assert head.header("content-type") == "text/event-stream"
    return connection, await connection.next_message()


async def answer(client: McpClient, question: Any, result: Any) -> None:
    response = await client.post({"jsonrpc": "2.0", "id": question["id"], "result": result})
    assert (response.status, response.body) == (202, b"")


def accepted(name: str) -> dict[str, Any]:
    return {"action": "accept", "content": {"name": name}}


async def text_of(connection: RawConnection) -> str:
    said = await connection.next_message()
    assert await connection.next_event() is None
    await connection.finish()
    return said["result"]["content"][0]["text"]


async def test_a_question_travels_on_the_stream_of_its_call_and_is_answered_with_a_post(
    talking: RunningEngine,
) -> None:
    client = await talking.client(capabilities=ALL)
    connection, question = await asking(client, ASK)
    assert question["method"] == "elicitation/create"
    assert question["params"]["requestedSchema"]["required"] == ["name"]
    await answer(client, question, accepted("Ada"))
    assert await text_of(connection) == "accept: Ada"


async def test_the_model_and_the_folders_of_the_client_can_be_asked_for(talking: RunningEngine) -> None:
    client = await talking.client(capabilities=ALL)
    connection, question = await asking(client, SAMPLE)
    assert question["method"] == "sampling/createMessage"
    said = {"role": "assistant", "content": {"type": "text", "text": "hello"}, "model": "m"}
    await answer(client, question, said)
    assert await text_of(connection) == "hello"
    connection, question = await asking(client, ROOTS)
    assert (question["method"], "params" in question) == ("roots/list", False)
    await answer(client, question, {"roots": [{"uri": "file:///w"}]})
    assert await text_of(connection) == "file:///w"


async def test_a_call_may_ask_more_than_once(talking: RunningEngine) -> None:
    client = await talking.client(capabilities=ALL)
    connection, first = await asking(client, TWICE)
    await answer(client, first, accepted("Ada"))
    second = await connection.next_message()
    assert second["id"] != first["id"]
    await answer(client, second, accepted("Alan"))
    assert await text_of(connection) == "Ada and Alan; state None"


async def test_questions_of_calls_that_run_side_by_side_are_told_apart(talking: RunningEngine) -> None:
    client = await talking.client(capabilities=ALL)
    one, first = await asking(client, ASK, 1)
    other, second = await asking(client, ASK, 2)
    await answer(client, second, accepted("second"))
    await answer(client, first, accepted("first"))
    assert (await text_of(one), await text_of(other)) == ("accept: first", "accept: second")


async def test_what_the_client_has_not_declared_is_not_asked(talking: RunningEngine) -> None:
    client = await talking.client(capabilities={"sampling": {}})
    result = await client.call(ASK)
    assert result["isError"] is True
    assert "elicitation/create" in result["content"][0]["text"]


async def test_a_client_that_refuses_is_heard(talking: RunningEngine) -> None:
    client = await talking.client(capabilities=ALL)
    connection, question = await asking(client, ASK)
    error = {"jsonrpc": "2.0", "id": question["id"], "error": {"code": -1, "message": "not now"}}
    assert (await client.post(error)).status == 202
    assert await text_of(connection) == "refused: not now"


@pytest.mark.parametrize("result", [{"action": "perhaps"}, {"action": "accept", "content": {"name": 1}}, {}])
async def test_an_answer_that_is_none_is_told_to_the_tool(talking: RunningEngine, result: Any) -> None:
    client = await talking.client(capabilities=ALL)
    connection, question = await asking(client, ASK)
    await answer(client, question, result)
    said = await connection.next_message()
    assert said["result"]["isError"] is True
    await connection.finish()


async def test_an_answer_from_another_session_is_dropped(talking: RunningEngine) -> None:
    client, stranger = await talking.client(capabilities=ALL), await talking.client(capabilities=ALL)
    connection, question = await asking(client, ASK)
    await answer(stranger, question, accepted("Mallory"))
    await answer(client, {"id": "nobody-asked"}, accepted("x"))
    await answer(client, question, accepted("Ada"))
    assert await text_of(connection) == "accept: Ada"


async def test_a_call_that_is_cancelled_takes_its_question_back(talking: RunningEngine) -> None:
    client = await talking.client(capabilities=ALL)
    connection, question = await asking(client, ASK)
    await client.post(rpc("notifications/cancelled", {"requestId": 1}, None))
    taken_back = await connection.next_message()
    assert taken_back["method"] == "notifications/cancelled"
    assert taken_back["params"]["requestId"] == question["id"]
    assert (await connection.next_message())["error"]["code"] == -32800
    await connection.finish()


async def test_the_end_of_a_session_ends_what_it_was_asked(talking: RunningEngine) -> None:
    client = await talking.client(capabilities=ALL)
    connection, _ = await asking(client, ASK)
    assert (await client.delete()).status == 204
    answered = await connection.next_message()
    assert (answered["id"], answered["error"]["code"]) == (1, -32800)
    assert "its session has ended" in answered["error"]["message"]
    assert await connection.next_event() is None
    with trio.fail_after(BOUND_SECONDS):
        while (await talking.status())["calls"]:
            pass
    await connection.finish()


async def test_a_client_that_takes_only_json_is_asked_on_the_stream_of_its_session(talking: RunningEngine) -> None:
    client = await talking.client(capabilities=ALL)
    stream = await client.following_stream()
    connection = await client.begin(call(ASK), ONLY_JSON)
    question = await stream.next_message()
    await answer(client, question, accepted("Ada"))
    assert (await connection.read_response()).json["result"]["content"][0]["text"] == "accept: Ada"
    await connection.finish()
    await stream.finish()


async def test_nobody_waits_for_the_answer_to_a_question_that_reached_nobody(talking: RunningEngine) -> None:
    client = await talking.client(capabilities=ALL)
    response = await client.post(call(ASK), ONLY_JSON)
    assert response.json["result"]["isError"] is True
    said = response.json["result"]["content"][0]["text"]
    assert "reached nobody" in said
    assert "open the stream of the session with GET" in said


async def test_there_are_only_so_many_questions_to_one_client(tmp_path: Path, talk: TalkHooks) -> None:
    limits = Limits(client_requests=1)
    async with running_engine(tmp_path, limits=limits, more=(talk.capabilities(),)) as engine:
        client = await engine.client(capabilities=ALL)
        connection, question = await asking(client, ASK)
        refused = await client.call(ASK, request_id=2)
        assert "which is the most" in refused["content"][0]["text"]
        await answer(client, question, accepted("Ada"))
        assert await text_of(connection) == "accept: Ada"


async def test_log_messages_come_from_the_level_on_that_the_session_has_set(talking: RunningEngine) -> None:
    client = await talking.client()
    silent = await client.post(call(LOG))
    assert silent.header("content-type") == "application/json"
    assert await client.ask("logging/setLevel", {"level": "info"}) == {"jsonrpc": "2.0", "id": 1, "result": {}}
    connection = await client.begin(call(LOG))
    await connection.read_head()
    message = await connection.next_message()
    assert message["params"] == {"level": "warning", "data": {"what": "a warning"}, "logger": "talk"}
    assert await text_of(connection) == "logged"
    wrong = await client.ask("logging/setLevel", {"level": "loud"})
    assert wrong["error"]["code"] == -32602


async def test_a_question_goes_over_the_single_stream(tmp_path: Path, talk: TalkHooks) -> None:
    async with running_engine(tmp_path, force_sse=True, more=(talk.capabilities(),)) as engine:
        client = await engine.sse_client()
        assert await client.stream.next_message() == LIST_CHANGED
        hello = {"protocolVersion": "2025-06-18", "capabilities": ALL, "clientInfo": {"name": "t", "version": "1"}}
        await client.ask(rpc("initialize", hello, 0))
        question = await client.ask(call(ASK, {}, 1))
        assert question["method"] == "elicitation/create"
        done = await client.ask({"jsonrpc": "2.0", "id": question["id"], "result": accepted("Ada")})
        assert done["result"]["content"][0]["text"] == "accept: Ada"
        await client.stream.finish()


async def test_resources_and_prompts_are_served_in_sessions(talking: RunningEngine) -> None:
    client = await talking.client()
    read = await client.ask("resources/read", {"uri": NOTE})
    assert read["result"] == {"contents": [{"uri": NOTE, "text": f"what stands at {NOTE}"}]}
    assert (await client.ask("resources/read", {"uri": GONE}))["error"]["code"] == -32002
    got = await client.ask("prompts/get", {"name": GREETING, "arguments": {"who": "Ada"}})
    assert got["result"]["messages"][0]["content"]["text"] == "Greet Ada."
    reference = {"ref": {"type": "ref/prompt", "name": GREETING}, "argument": {"name": "who", "value": "G"}}
    completed = await client.ask("completion/complete", reference)
    assert completed["result"]["completion"]["values"] == ["Grace"]


async def test_a_session_that_watches_a_resource_hears_of_its_changes(talking: RunningEngine) -> None:
    client = await talking.client()
    stream = await client.following_stream()
    assert (await client.ask("resources/subscribe", {"uri": NOTE}))["result"] == {}
    talking.space.changes.touch(NOTE)
    told = {"jsonrpc": "2.0", "method": "notifications/resources/updated", "params": {"uri": NOTE}}
    assert await stream.next_message() == told
    assert (await client.ask("resources/unsubscribe", {"uri": NOTE}))["result"] == {}
    talking.space.changes.touch(NOTE)
    await talking.request("PATCH", "/api/context", BOTH, b'{"surface": "scene"}')
    heard = [(await stream.next_message())["method"] for _ in range(3)]
    assert "notifications/resources/updated" not in heard
    await stream.finish()


async def test_what_changed_while_there_was_no_stream_is_told_on_the_next_one(talking: RunningEngine) -> None:
    client = await talking.client()
    await client.ask("resources/subscribe", {"uri": NOTE})
    talking.space.changes.touch(NOTE)
    await trio.testing.wait_all_tasks_blocked(0.01)
    stream = await client.following_stream()
    assert (await stream.next_message())["params"] == {"uri": NOTE}
    await stream.finish()


async def test_changes_of_resources_and_prompts_are_announced_where_they_can_be_seen(talking: RunningEngine) -> None:
    client = await talking.client()
    await client.tool_names()
    stream = await client.following_stream()
    await talking.request("PATCH", "/api/context", BOTH, b'{"surface": "scene"}')
    heard = {(await stream.next_message())["method"] for _ in range(3)}
    assert heard == {f"notifications/{kind}/list_changed" for kind in ("tools", "resources", "prompts")}
    await stream.finish()


async def test_a_session_watches_only_so_many_resources(tmp_path: Path, talk: TalkHooks) -> None:
    async with running_engine(tmp_path, limits=Limits(subscriptions=1), more=(talk.capabilities(),)) as engine:
        client = await engine.client()
        await client.ask("resources/subscribe", {"uri": NOTE})
        refused = await client.ask("resources/subscribe", {"uri": "test://page/1"})
        assert refused["error"]["code"] == -32602
        assert (await client.ask("resources/subscribe", {"uri": NOTE}))["result"] == {}


@pytest.mark.parametrize("uri", ["space://world/nope", "space://agents/nobody", "space://programs/none", "space://no"])
async def test_what_does_not_exist_cannot_be_watched(full_engine: RunningEngine, uri: str) -> None:
    client = await full_engine.client()
    refused = await client.ask("resources/subscribe", {"uri": uri})
    assert refused["error"]["code"] == -32002
    assert refused["error"]["data"] == {"uri": uri}


async def test_a_world_that_is_deleted_or_recovered_is_told_to_who_watches_it(full_engine: RunningEngine) -> None:
    client, space = await full_engine.client(), full_engine.space
    stream = await client.following_stream()
    made = (await space.app.execute(CreateWorld("other"))).result
    watched = {"uri": f"space://world/{made.id}"}
    assert (await client.ask("resources/subscribe", watched))["result"] == {}
    await space.app.execute(DeleteWorld(made.id, "other"))
    assert await updated(stream) == watched
    await space.library.recover_world(made.id)
    assert await updated(stream) == watched
    await stream.finish()


async def updated(stream: RawConnection) -> Any:
    """What is told of the next resource that has changed."""
    while (said := await stream.next_message())["method"] != "notifications/resources/updated":
        pass
    return said["params"]


async def test_params_that_name_nobody_are_at_fault_and_not_the_engine(full_engine: RunningEngine) -> None:
    client = await full_engine.client()
    asked = {"name": "space_context", "arguments": {"agent": "nope"}}
    for answer in (
        await client.ask("prompts/get", asked),
        (await full_engine.stateless().post("prompts/get", asked)).json,
    ):
        assert answer["error"]["code"] == -32602
        assert "there is no agent 'nope'" in answer["error"]["message"]
