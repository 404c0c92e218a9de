"""In which form a client of direct mode gets its answers: JSON, or a stream of one event where it would rather."""

from __future__ import annotations

import json
from typing import Any

import pytest

from protocol.sse import EVENT_LIMIT
from tests.transport.mcp_client import JSON_BODY, McpClient, call, initialize, rpc
from tests.transport.raw_http import Response
from tests.transport.running_engine import RunningEngine
from tests.transport.stateless_client import StatelessClient
from tests.transport.tools_on_trial import BIG, ECHO

STREAM_FIRST = (*JSON_BODY, ("Accept", "text/event-stream, application/json"))
ONLY_STREAM = (*JSON_BODY, ("Accept", "text/event-stream"))
EITHER = (*JSON_BODY, ("Accept", "*/*"))


def only_event(response: Response) -> Any:
    """The message of a stream that holds one."""
    assert (response.status, response.header("content-type")) == (200, "text/event-stream")
    kind, data = response.body.decode().strip().split("\n")
    assert kind == "event: message"
    return json.loads(data.removeprefix("data: "))


@pytest.mark.parametrize("accept", [STREAM_FIRST, ONLY_STREAM], ids=["first", "only"])
async def test_who_names_event_streams_first_has_every_answer_as_one(
    engine: RunningEngine, accept: tuple[tuple[str, str], ...]
) -> None:
    opened = await McpClient(engine.port).post(initialize("2025-11-25"), accept)
    assert only_event(opened)["result"]["protocolVersion"] == "2025-11-25"
    client = McpClient(engine.port, opened.header("mcp-session-id"), "2025-11-25")
    assert only_event(await client.post(rpc("tools/list"), accept))["result"]["tools"]
    answer = only_event(await client.post(call(ECHO, {"text": "hi\u2028"}), accept))
    assert answer["result"]["structuredContent"] == {"text": "hi\u2028"}


async def test_everybody_else_has_json(engine: RunningEngine) -> None:
    client = await engine.client()
    for response in (await client.post(rpc("tools/list")), await client.post(rpc("tools/list"), EITHER)):
        assert response.header("content-type") == "application/json"
        assert response.json["result"]["tools"]


async def test_what_is_no_answer_is_no_stream(engine: RunningEngine) -> None:
    client = await engine.client()
    noted = await client.post(rpc("notifications/initialized", request_id=None), STREAM_FIRST)
    assert (noted.status, noted.body) == (202, b"")
    refused = await McpClient(engine.port).post(rpc("tools/list"), STREAM_FIRST)
    assert (refused.status, refused.header("content-type")) == (400, "application/json")


async def test_an_answer_that_is_too_long_for_an_event_comes_as_json(engine: RunningEngine) -> None:
    client = await engine.client()
    response = await client.post(call(BIG, {"bytes": EVENT_LIMIT}), STREAM_FIRST)
    assert response.header("content-type") == "application/json"
    assert len(response.json["result"]["content"][0]["text"]) == EVENT_LIMIT


async def test_without_a_session_an_answer_is_json_all_the_same(engine: RunningEngine) -> None:
    client = StatelessClient(engine.port)
    response = await client.send(client.message("tools/list"), accept=STREAM_FIRST)
    assert (response.status, response.header("content-type")) == (200, "application/json")


async def test_without_a_session_who_takes_streams_alone_gets_one(engine: RunningEngine) -> None:
    client = StatelessClient(engine.port)
    listed = await client.send(client.message("tools/list"), accept=ONLY_STREAM)
    assert only_event(listed)["result"]["tools"]
    echo = client.message("tools/call", {"name": ECHO, "arguments": {"text": "hi"}})
    assert only_event(await client.send(echo, accept=ONLY_STREAM))["result"]["structuredContent"] == {"text": "hi"}
