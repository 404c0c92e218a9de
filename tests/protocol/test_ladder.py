"""The checks that a stateless request has to pass, in their order. MCP specification 2026-07-28, base protocol."""

from __future__ import annotations

from typing import Any

import pytest

from protocol.decision import Accepted, CallTool, Listen, OpenSession
from protocol.handler import SESSION_HEADER, Handler
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import parse
from tests.protocol.samples import SERVER, body_of, initialize, notification, post, replied, request, session
from tests.protocol.stateless_samples import (
    EVERYTHING,
    OFFER,
    PREFIX,
    STATELESS,
    TASKS,
    VERSION,
    decide,
    facts_of,
    meta,
    modern,
)


def refused(decision: object, status: int, code: int, request_id: object = 1) -> Any:
    """The error of a reply, which has that status, code and id, and is JSON."""
    reply = replied(decision)
    body = body_of(reply)
    assert (reply.status, body["error"]["code"], body.get("id")) == (status, code, request_id)
    assert dict(reply.headers)["content-type"] == "application/json"
    return body["error"]


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in meta().items() if key != f"{PREFIX}{name}"}


@pytest.mark.parametrize(
    ("body", "code", "request_id"),
    [
        (b"{", -32700, None),
        (b"[]", -32600, None),
        (b'[{"jsonrpc":"2.0","id":1,"method":"tools/list"}]', -32600, None),
        (b'{"jsonrpc":"2.0","id":1,"result":{}}', -32600, None),
        (b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}', -32600, None),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}', -32600, None),
        (b'{"id":1,"method":"tools/list"}', -32600, 1),
    ],
)
def test_what_is_no_single_request_is_400(body: bytes, code: int, request_id: object) -> None:
    refused(decide(body), 400, code, request_id)


@pytest.mark.parametrize(
    ("params", "words"),
    [
        (None, "_meta"),
        ({}, "_meta"),
        ({"_meta": []}, "_meta"),
        ({"_meta": without("protocolVersion")}, "protocolVersion"),
        ({"_meta": without("clientCapabilities")}, "clientCapabilities"),
        ({"_meta": meta(version=20260728)}, "protocolVersion"),
        ({"_meta": meta(client=[])}, "clientCapabilities"),
        ({"_meta": meta(client={"sampling": True})}, "sampling"),
        ({"_meta": meta(logLevel="loud")}, "logLevel"),
    ],
)
def test_a_request_that_does_not_say_who_asks_is_400_with_invalid_params(params: Any, words: str) -> None:
    message = request("tools/list", params)
    assert words in refused(decide(message, facts_of(message)), 400, -32602)["message"]


def test_a_client_need_not_say_its_name() -> None:
    assert body_of(decide(modern("tools/list")))["result"]["resultType"] == "complete"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"mcp_protocol_version": None}, "MCP-Protocol-Version is missing"),
        ({"mcp_protocol_version": "2025-11-25"}, "must be the same"),
        ({"mcp_method": None}, "Mcp-Method is missing"),
        ({"mcp_method": "Tools/Call"}, "must be the same"),
        ({"mcp_name": None}, "Mcp-Name is missing"),
        ({"mcp_name": "space_shape"}, "must be the same"),
        ({"mcp_name": "=?base64?bm8?="}, "cannot be read"),
    ],
)
def test_a_header_that_is_missing_or_says_something_else_is_a_mismatch(changes: Any, words: str) -> None:
    message = modern("tools/call", {"name": "space_hello"})
    assert words in refused(decide(message, facts_of(message, **changes)), 400, -32020)["message"]


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
def test_a_header_that_comes_twice_is_a_mismatch_even_where_both_say_the_same(name: str) -> None:
    message = modern("tools/call", {"name": "space_hello"})
    again = dict(facts_of(message).mcp_headers)[name]
    assert "2 times" in refused(decide(message, facts_of(message, (name, again))), 400, -32020)["message"]


def test_blanks_around_a_header_do_not_count() -> None:
    message = modern("tools/call", {"name": "space_hello"})
    facts = facts_of(message, mcp_name="  space_hello\t", mcp_method=" tools/call ")
    assert isinstance(decide(message, facts), CallTool)


def test_a_version_that_is_not_served_is_told_with_those_that_are() -> None:
    message = modern("server/discover", version="v999.0.0")
    error = refused(decide(message, facts_of(message, mcp_protocol_version="v999.0.0")), 400, -32022)
    assert error["data"] == {"supported": [VERSION], "requested": "v999.0.0"}


def test_a_version_that_header_and_body_do_not_agree_on_is_a_mismatch_before_it_is_unsupported() -> None:
    message = modern("server/discover", version="v999.0.0")
    refused(decide(message, facts_of(message)), 400, -32020)


def test_a_claim_of_an_older_revision_is_unsupported_here() -> None:
    message = modern("tools/list", version="2025-11-25")
    refused(decide(message, facts_of(message, mcp_protocol_version="2025-11-25")), 400, -32022)


@pytest.mark.parametrize(
    "method",
    [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
        "notifications/roots/list_changed",
        "tasks/result",
        "tasks/list",
        "unknown/method",
        "",
    ],
)
def test_a_method_that_is_gone_or_was_never_there_is_404(method: str) -> None:
    refused(decide(modern(method)), 404, -32601)


@pytest.mark.parametrize(
    ("missing", "methods"),
    [
        ({"resources": None}, ["resources/list", "resources/templates/list", "resources/read"]),
        ({"prompts": None}, ["prompts/list", "prompts/get"]),
        ({"completions": False}, ["completion/complete"]),
        ({"tasks": False}, ["tasks/get", "tasks/update", "tasks/cancel"]),
    ],
)
def test_a_method_whose_feature_is_not_offered_is_404(missing: Any, methods: list[str]) -> None:
    offer = type(OFFER)(**{name: getattr(OFFER, name) for name in OFFER.__slots__} | missing)
    for method in methods:
        refused(decide(modern(method), offer=offer), 404, -32601)


@pytest.mark.parametrize("method", ["tasks/get", "tasks/update", "tasks/cancel"])
def test_tasks_are_for_clients_that_know_them(method: str) -> None:
    error = refused(decide(modern(method, {"taskId": "t", "inputResponses": {}})), 400, -32021)
    assert error["data"] == {"requiredCapabilities": TASKS}


def test_a_tool_that_always_becomes_a_task_is_for_clients_that_know_tasks() -> None:
    error = refused(decide(modern("tools/call", {"name": "space_job"})), 400, -32021)
    assert error["data"]["requiredCapabilities"] == TASKS
    found = decide(modern("tools/call", {"name": "space_job"}, client=TASKS))
    assert isinstance(found, CallTool)
    assert found.may_become_task


def test_a_tool_that_can_become_a_task_does_not_for_a_client_that_knows_none() -> None:
    for client, may in [({}, False), (TASKS, True)]:
        found = decide(modern("tools/call", {"name": "space_slow"}, client=client))
        assert isinstance(found, CallTool)
        assert found.may_become_task is may


def test_everything_about_the_sender_goes_along_with_a_call() -> None:
    about = {"logLevel": "warning", "progressToken": "p", "traceparent": "00-1", "clientInfo": {"name": "me"}}
    found = decide(modern("tools/call", {"name": "space_hello"}, "x", client=EVERYTHING, **about))
    assert isinstance(found, CallTool)
    assert found.stateless is not None
    sender = found.stateless
    assert (found.request_id, found.session_id, found.version, found.progress_token) == ("x", "", VERSION, "p")
    assert (sender.log_level, sender.client_name, dict(sender.trace)) == ("warning", "me", {"traceparent": "00-1"})
    assert sender.state is None
    assert len(sender.client.known) == 6


# whose message it is


def test_a_body_that_claims_its_version_is_judged_without_its_session() -> None:
    found = decide(modern("tools/call", {"name": "space_hello"}), of=session())
    assert isinstance(found, CallTool)
    assert found.session_id == ""


def test_an_initialize_without_a_claim_opens_a_session_beside_it() -> None:
    assert isinstance(decide(initialize(), post(None, "2025-11-25")), OpenSession)
    assert isinstance(decide(initialize(), post()), OpenSession)


def test_a_session_goes_on_beside_it() -> None:
    answer = body_of(decide(request("ping"), post("session-1"), of=session()))
    assert answer == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("version", ["2025-11-26", "nonsense", VERSION])
def test_a_message_of_a_session_with_a_header_that_no_session_speaks_is_400(version: str) -> None:
    facts = post("session-1", version)
    assert STATELESS.is_stateless(facts, parse(b'{"jsonrpc":"2.0","id":1,"method":"ping"}'))
    refused(decide(request("ping"), facts, of=session()), 400, -32602)


def test_a_server_that_serves_sessions_only_refuses_the_others() -> None:
    handler = Handler(SERVER)
    message = modern("tools/list")
    error = refused(decide(message, handler=handler), 400, -32022)
    assert VERSION not in error["data"]["supported"]


@pytest.mark.parametrize("method", ["notifications/cancelled", "notifications/roots/list_changed", "x"])
def test_a_notification_is_accepted_and_dropped(method: str) -> None:
    for message in (notification(method), notification(method, {"_meta": meta()})):
        assert decide(message, post(None, VERSION)) == Accepted()


@pytest.mark.parametrize(("claim", "header"), [("2031-01-01", VERSION), (VERSION, "2031-01-01"), (7, VERSION)])
def test_a_notification_of_a_version_that_is_not_served_is_400(claim: object, header: str) -> None:
    message = notification("notifications/cancelled", {"_meta": meta(version=claim)})
    refused(decide(message, post(None, header)), 400, -32022, None)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_client_without_sessions_sends_posts_and_nothing_else(method: str) -> None:
    reply = replied(STATELESS.refuse_request(HttpFacts(method=method, version_header=VERSION)))
    assert (reply.status, dict(reply.headers)["allow"]) == (405, "POST")
    assert STATELESS.refuse_request(HttpFacts(method=method, version_header="2025-11-25")) is None


def test_no_session_is_named_on_any_answer() -> None:
    for message in (modern("tools/list"), modern("initialize"), modern("x")):
        assert SESSION_HEADER not in dict(replied(decide(message)).headers)


def test_listening_needs_a_filter() -> None:
    assert isinstance(decide(modern("subscriptions/listen", {"notifications": {}})), Listen)
    assert "notifications" in refused(decide(modern("subscriptions/listen")), 200, -32602)["message"]
