"""Where the official SDKs do other things over HTTP than the specification says, and this endpoint does not."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.transport.mcp_client import BOTH, ENDPOINT, JSON_BODY, Headers, call, initialize, rpc
from tests.transport.raw_http import Response
from tests.transport.running_engine import RunningEngine
from tests.transport.stateless_client import VERSION
from tests.transport.talking_tools import GONE, GREETING
from tests.transport.tools_on_trial import ECHO


async def post(engine: RunningEngine, body: Any, headers: Headers = BOTH, *, host: str = "127.0.0.1") -> Response:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await engine.request("POST", ENDPOINT, headers, raw, host=host)


async def test_an_array_is_taken_in_a_session_of_the_revision_that_has_them_and_in_no_other(
    engine: RunningEngine,
) -> None:
    old, new = await engine.client("2025-03-26"), await engine.client("2025-06-18")
    assert [one["result"] for one in (await old.post([rpc("ping")])).json] == [{}]
    refused = await new.post([rpc("ping")])
    assert (refused.status, refused.json["error"]["code"]) == (400, -32600)


async def test_a_batch_may_hold_everything_that_a_session_can_ask(talking: RunningEngine) -> None:
    client = await talking.client("2025-03-26")
    batch = [
        rpc("resources/read", {"uri": "test://note"}, "r"),
        rpc("prompts/get", {"name": GREETING, "arguments": {"who": "Ada"}}, "p"),
        rpc("logging/setLevel", {"level": "info"}, "l"),
        rpc("resources/subscribe", {"uri": "test://note"}, "s"),
        rpc(
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": GREETING}, "argument": {"name": "who", "value": ""}},
            "c",
        ),
        {"jsonrpc": "2.0", "id": "space-99", "result": {}},
        rpc("notifications/roots/list_changed", None, None),
    ]
    answers = {one["id"]: one["result"] for one in (await client.post(batch)).json}
    assert set(answers) == {"r", "p", "l", "s", "c"}
    assert (answers["l"], answers["s"]) == ({}, {})


async def test_a_body_that_claims_its_version_is_judged_by_it_where_the_header_is_missing(
    engine: RunningEngine,
) -> None:
    client = engine.stateless()
    response = await client.send(client.message("tools/list"), headers=())
    assert (response.status, response.json["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("request_id", [None, 1.5, True])
async def test_an_id_that_is_none_makes_no_notification(engine: RunningEngine, request_id: Any) -> None:
    client = await engine.client()
    response = await client.post({"jsonrpc": "2.0", "id": request_id, "method": "ping"})
    assert (response.status, response.json["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("body", [b"{", b"[]", b"17", json.dumps(rpc("ping")).encode()])
async def test_what_is_no_initialize_makes_no_session(engine: RunningEngine, body: bytes) -> None:
    response = await post(engine, body)
    assert response.status == 400
    assert response.header("mcp-session-id") is None
    assert response.header("content-type") == "application/json"
    assert (await engine.status())["mcp"]["session_count"] == 0


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_what_is_no_post_is_not_allowed_to_clients_without_sessions(engine: RunningEngine, method: str) -> None:
    headers = (("Accept", "text/event-stream"), ("MCP-Protocol-Version", VERSION))
    response = await engine.request(method, ENDPOINT, headers)
    assert (response.status, response.header("allow")) == (405, "POST")


async def test_a_missing_resource_has_the_code_of_its_generation(talking: RunningEngine) -> None:
    session, alone = await talking.client(), talking.stateless()
    for uri in (GONE, "test://never-was"):
        assert (await session.ask("resources/read", {"uri": uri}))["error"]["code"] == -32002
        error = (await alone.post("resources/read", {"uri": uri})).json["error"]
        assert (error["code"], error["data"]) == (-32602, {"uri": uri})


async def test_an_unknown_tool_is_an_error_of_the_protocol(engine: RunningEngine) -> None:
    answer = await (await engine.client()).post(call("space_nothing_like_it"))
    assert answer.json["error"]["code"] == -32602


@pytest.mark.parametrize(
    "params", [{"name": "nobody"}, {"name": GREETING}, {"name": GREETING, "arguments": {"x": "y"}}]
)
async def test_an_unknown_prompt_and_missing_arguments_are_invalid_params(talking: RunningEngine, params: Any) -> None:
    session, alone = await talking.client(), talking.stateless()
    assert (await session.ask("prompts/get", params))["error"]["code"] == -32602
    assert (await alone.post("prompts/get", params)).json["error"]["code"] == -32602


@pytest.mark.parametrize("method", ["tools/list", "resources/list", "resources/templates/list", "prompts/list"])
async def test_a_cursor_of_nobody_is_refused(talking: RunningEngine, method: str) -> None:
    session, alone = await talking.client(), talking.stateless()
    assert (await session.ask(method, {"cursor": "nonsense"}))["error"]["code"] == -32602
    assert (await alone.post(method, {"cursor": "nonsense"})).json["error"]["code"] == -32602


async def test_a_foreign_origin_is_refused_and_a_host_without_a_port_is_served(engine: RunningEngine) -> None:
    evil = await post(engine, initialize(), (*BOTH, ("Origin", "http://evil.example.com")))
    assert evil.status == 403
    assert (await post(engine, initialize(), host="localhost")).status == 200
    assert (await post(engine, initialize(), host="evil.example.com")).status == 421


async def test_a_body_that_cannot_be_parsed_is_answered_in_json(engine: RunningEngine) -> None:
    for headers in (BOTH, (*BOTH, ("MCP-Protocol-Version", VERSION))):
        response = await post(engine, b"{nonsense", headers)
        assert (response.status, response.header("content-type")) == (400, "application/json")
        assert response.json["error"]["code"] == -32700


async def test_a_body_without_its_type_is_415_in_json(engine: RunningEngine) -> None:
    for headers in ((("Accept", "*/*"),), (("Content-Type", "application/json-seq"),)):
        response = await post(engine, initialize(), headers)
        assert (response.status, response.header("content-type")) == (415, "application/json")


@pytest.mark.parametrize("header", ["MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"])
async def test_a_header_that_comes_twice_is_refused(engine: RunningEngine, header: str) -> None:
    client = engine.stateless()
    message = client.message("tools/call", {"name": ECHO, "arguments": {"text": "x"}})
    head = client.head(message)
    twice = (*head, *(pair for pair in head if pair[0] == header))
    response = await client.send(message, headers=twice)
    assert (response.status, response.json["error"]["code"]) == (400, -32020)


async def test_a_header_counts_without_the_blanks_around_it_and_decoded(engine: RunningEngine) -> None:
    client = engine.stateless()
    message = client.message("tools/call", {"name": ECHO, "arguments": {"text": "x"}})
    encoded = "=?base64?c3BhY2VfdHJpYWxfZWNobw==?="
    headers = (("mcp-protocol-VERSION", f" {VERSION}\t"), ("MCP-METHOD", "tools/call "), ("mcp-name", encoded))
    response = await client.send(message, headers=headers)
    assert response.status == 200, response


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "else"]
)
async def test_methods_that_are_gone_are_404(engine: RunningEngine, method: str) -> None:
    response = await engine.stateless().post(method)
    assert (response.status, response.json["error"]["code"]) == (404, -32601)


async def test_a_version_that_is_not_served_is_named_with_those_that_are(engine: RunningEngine) -> None:
    client = engine.stateless()
    message = client.message("tools/list")
    message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
    headers = (("MCP-Protocol-Version", "2099-01-01"), ("Mcp-Method", "tools/list"))
    response = await client.send(message, headers=headers)
    assert response.status == 400
    assert response.json["error"]["code"] == -32022
    assert response.json["error"]["data"] == {"supported": [VERSION], "requested": "2099-01-01"}


async def test_a_session_that_asks_for_the_newest_revision_gets_the_newest_that_has_sessions(
    engine: RunningEngine,
) -> None:
    response = await post(engine, initialize(VERSION), JSON_BODY)
    assert response.json["result"]["protocolVersion"] == "2025-11-25"
