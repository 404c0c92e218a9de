"""The decision function. Cases [H] 172 to 182 as far as no socket is needed; MCP specification, lifecycle and tools."""

from __future__ import annotations

import json
from typing import Any

import pytest

from protocol.decision import Accepted, CancelCall, EndSession, HiddenOrUnknownTool, OpenSession, OpenStream, Reply
from protocol.handler import SESSION_HEADER, Handler
from protocol.http_facts import HttpFacts
from protocol.tool import ToolOutcome
from protocol.versions import SESSION_VERSIONS
from tests.protocol.samples import (
    HANDLER,
    SERVER,
    TOOLS,
    body_of,
    called,
    decide,
    initialize,
    notification,
    post,
    replied,
    request,
    session,
    tool,
    tools,
)

SESSION = session()


def get(session_id: str | None = None, **changes: Any) -> HttpFacts:
    return post(session_id, **{"method": "GET", "content_type": None, "accept": "text/event-stream", **changes})


# initialize


@pytest.mark.parametrize("request_id", [0, 1, "", "1", "x"])
def test_initialize_is_answered_with_its_id_and_a_session_header(request_id: object) -> None:  # [H] 172, 175
    opening = decide(initialize(request_id=request_id))
    assert isinstance(opening, OpenSession)
    reply = HANDLER.initialize_reply(opening, SESSION)
    body = json.loads(reply.body)
    assert (reply.status, body["jsonrpc"], body["id"]) == (200, "2.0", request_id)
    assert dict(reply.headers) == {"content-type": "application/json", SESSION_HEADER: "session-1"}


def test_initialize_declares_tools_that_change_and_nothing_else() -> None:
    opening = decide(initialize())
    assert isinstance(opening, OpenSession)
    assert json.loads(HANDLER.initialize_reply(opening, SESSION).body)["result"] == {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {"listChanged": True}},
        "serverInfo": {"name": "space", "title": "Space", "version": "0.1.0"},
    }


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        *((version, version) for version in SESSION_VERSIONS),  # [H] 173
        ("2026-07-28", "2025-11-25"),
        ("1999-01-01", "2025-11-25"),
    ],
)
def test_a_known_version_is_echoed_and_any_other_answered_with_the_newest(asked: str, answered: str) -> None:
    opening = decide(initialize(asked))
    assert isinstance(opening, OpenSession)
    assert opening.protocol_version == answered
    body = json.loads(HANDLER.initialize_reply(opening, SESSION).body)
    assert body["result"]["protocolVersion"] == answered


def test_instructions_are_sent_where_there_are_some() -> None:
    opening = decide(initialize())
    assert isinstance(opening, OpenSession)
    with_text = HANDLER.initialize_reply(opening, SESSION, "Draw with +y up.")
    assert json.loads(with_text.body)["result"]["instructions"] == "Draw with +y up."
    assert b"instructions" not in HANDLER.initialize_reply(opening, SESSION, "").body


def test_initialize_tells_who_the_client_is() -> None:
    opening = decide(initialize())
    assert isinstance(opening, OpenSession)
    assert (opening.client_name, opening.client_version, opening.session_id) == ("opencode", "1.18.33", None)


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({}, "protocolVersion"),
        ({"protocolVersion": 20250618}, "protocolVersion"),
        ({"protocolVersion": "2025-06-18", "capabilities": []}, "capabilities"),
        ({"protocolVersion": "2025-06-18", "clientInfo": "me"}, "clientInfo"),
    ],
)
def test_a_malformed_initialize_opens_nothing(params: object, text: str) -> None:
    reply = replied(decide(request("initialize", params)))
    assert (reply.status, body_of(reply)["error"]["code"]) == (200, -32602)
    assert text in body_of(reply)["error"]["message"]
    assert SESSION_HEADER not in dict(reply.headers)


def test_a_client_that_tells_only_its_version_is_let_in() -> None:
    assert isinstance(decide(request("initialize", {"protocolVersion": "2025-06-18"})), OpenSession)


@pytest.mark.parametrize("facts", [post(None, session_query="made-up"), post("gone")])
def test_initialize_with_an_unknown_session_opens_a_new_one(facts: HttpFacts) -> None:  # [H] 182
    opening = decide(initialize(), facts=facts)
    assert isinstance(opening, OpenSession)
    assert opening.session_id is None


def test_a_second_initialize_in_one_session_is_refused() -> None:
    reply = replied(decide(initialize(), SESSION))
    assert (reply.status, body_of(reply)["error"]["code"], body_of(reply)["id"]) == (400, -32600, 1)
    assert "initialized already" in body_of(reply)["error"]["message"]


def test_initialize_negotiates_the_session_that_its_stream_opened() -> None:
    opening = decide(initialize("2025-03-26"), session("2024-11-05", negotiated=False))
    assert isinstance(opening, OpenSession)
    assert (opening.session_id, opening.protocol_version) == ("session-1", "2025-03-26")


def test_initialize_may_carry_a_version_header() -> None:
    assert isinstance(decide(initialize(), facts=post(version="2025-06-18")), OpenSession)


# sessions and versions


@pytest.mark.parametrize(
    "message", [request("tools/list"), request("ping"), request("nonsense"), request("tools/call")]
)
def test_a_request_without_a_session_is_refused_and_opens_none(message: object) -> None:
    reply = replied(decide(message))
    assert (reply.status, body_of(reply)["error"]["code"], body_of(reply)["id"]) == (400, -32001, 1)
    assert "initialize" in body_of(reply)["error"]["message"]
    assert SESSION_HEADER not in dict(reply.headers)


@pytest.mark.parametrize(
    "message",
    [notification("notifications/initialized"), notification("initialize"), {"jsonrpc": "2.0", "id": 1, "result": {}}],
)
def test_a_message_without_an_answer_needs_a_session_too(message: object) -> None:
    assert replied(decide(message)).status == 400


@pytest.mark.parametrize(
    "message", [request("tools/list"), notification("notifications/initialized"), [request("ping")], []]
)
def test_an_unknown_session_is_exactly_404(message: object) -> None:
    reply = replied(decide(message, facts=post("gone")))
    assert (reply.status, body_of(reply)["error"]["code"]) == (404, -32001)


@pytest.mark.parametrize("version", ["2026-07-28", "2025-11-26", "nonsense"])
@pytest.mark.parametrize("message", [request("ping"), notification("notifications/initialized"), initialize()])
def test_a_version_header_that_is_not_served_is_400_with_those_that_are(message: object, version: str) -> None:
    reply = replied(decide(message, SESSION, facts=post("session-1", version)))
    error = body_of(reply)["error"]
    assert (reply.status, error["code"]) == (400, -32022)
    assert error["data"] == {"supported": list(SESSION_VERSIONS), "requested": version}


def test_a_body_that_claims_a_version_which_is_not_served_is_400_too() -> None:
    claim = {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}
    reply = replied(decide(request("server/discover", claim)))
    assert (reply.status, body_of(reply)["error"]["code"], body_of(reply)["id"]) == (400, -32022, 1)


def test_another_served_version_in_the_header_is_tolerated_and_the_negotiated_one_counts() -> None:
    facts = post("session-1", "2024-11-05")
    call = called(decide(request("tools/call", {"name": "space_hello"}), session("2025-06-18"), facts=facts))
    assert call.version == "2025-06-18"


@pytest.mark.parametrize(("header", "version"), [(None, "2024-11-05"), ("2025-11-25", "2025-11-25")])
def test_a_stream_that_never_saw_initialize_serves_calls(header: str | None, version: str) -> None:
    # opencode goes on like this after a dropped stream; its header tells what it had agreed on.
    resumed = session("2024-11-05", negotiated=False)
    facts = post("session-1", header)
    assert called(decide(request("tools/call", {"name": "space_hello"}), resumed, facts=facts)).version == version
    assert "tools" in body_of(decide(request("tools/list"), resumed, facts=facts))["result"]


# methods


def test_ping_is_answered_with_exactly_nothing() -> None:
    assert body_of(decide(request("ping"), SESSION)) == {"jsonrpc": "2.0", "id": 1, "result": {}}


@pytest.mark.parametrize("params", [None, {}, {"cursor": None}, {"_meta": {}}])
def test_the_list_holds_all_tools_on_one_page(params: object) -> None:  # [H] 176
    reply = replied(decide(request("tools/list", params), SESSION))
    result = body_of(reply)["result"]
    assert reply.status == 200
    assert [listed["name"] for listed in result["tools"]] == ["space_hello", "space_shape"]
    assert "nextCursor" not in result


@pytest.mark.parametrize("cursor", ["", "2", 7])
def test_a_cursor_names_no_page(cursor: object) -> None:
    reply = replied(decide(request("tools/list", {"cursor": cursor}), SESSION))
    assert (reply.status, body_of(reply)["error"]["code"]) == (200, -32602)


@pytest.mark.parametrize("version", list(SESSION_VERSIONS))
def test_the_list_is_in_the_form_of_the_session(version: str) -> None:
    listed = tools(tool(title="Hello"))
    result = body_of(decide(request("tools/list"), session(version), listed=listed))["result"]
    assert ("title" in result["tools"][0]) == (version >= "2025-06-18")


@pytest.mark.parametrize("arguments", [{}, None, ...])
def test_a_call_is_prepared_with_its_arguments(arguments: object) -> None:
    params = {"name": "space_hello"} if arguments is ... else {"name": "space_hello", "arguments": arguments}
    call = called(decide(request("tools/call", params, "c1"), SESSION))
    assert (call.request_id, call.session_id, call.version) == ("c1", "session-1", "2025-11-25")
    assert (call.call.entry.definition.name, call.call.arguments, call.progress_token) == ("space_hello", {}, None)


def test_the_answer_to_a_call_has_content_and_is_no_error() -> None:  # [H] 177
    call = called(decide(request("tools/call", {"name": "space_hello"}), SESSION))
    made = HANDLER.call_reply(call, ToolOutcome.text("hello"))
    assert made.reply.status == 200
    assert body_of(made.reply) == {
        "jsonrpc": "2.0",
        "id": 1,
        "result": {"content": [{"type": "text", "text": "hello"}], "isError": False},
    }
    assert (made.is_error, made.problem) == (False, None)


@pytest.mark.parametrize("token", [0, 7, "", "t"])
def test_a_progress_token_keeps_its_type(token: object) -> None:
    params = {"name": "space_hello", "_meta": {"progressToken": token}}
    found = called(decide(request("tools/call", params), SESSION)).progress_token
    assert (found, type(found)) == (token, type(token))


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({}, "params.name"),
        ({"name": 7}, "params.name"),
        ({"name": "space_hello", "arguments": []}, "params.arguments"),
        ({"name": "space_hello", "arguments": "x"}, "params.arguments"),
        ({"name": "space_hello", "_meta": 3}, "params._meta"),
        ({"name": "space_hello", "_meta": {"progressToken": 1.5}}, "progressToken"),
        ({"name": "space_hello", "_meta": {"progressToken": True}}, "progressToken"),
    ],
)
def test_malformed_params_of_a_call_are_a_protocol_error(params: object, text: str) -> None:
    reply = replied(decide(request("tools/call", params), SESSION))
    assert (reply.status, body_of(reply)["error"]["code"]) == (200, -32602)
    assert text in body_of(reply)["error"]["message"]


def test_arguments_that_do_not_match_are_a_result_that_the_model_can_mend() -> None:
    params = {"name": "space_shape", "arguments": {"shape": "ellipse", "widht": 2}}
    reply = replied(decide(request("tools/call", params), SESSION))
    result = body_of(reply)["result"]
    assert (reply.status, result["isError"]) == (200, True)
    assert result["content"][0]["text"].splitlines() == [
        "Invalid arguments for space_shape; it was not run:",
        '- missing required member "width"',
        '- unknown member "widht"; did you mean "width"?',
    ]


def test_an_unknown_tool_is_a_protocol_error_and_a_hidden_one_a_result() -> None:  # [H] 178
    found = decide(request("tools/call", {"name": "space_shap"}), SESSION)
    assert isinstance(found, HiddenOrUnknownTool)
    assert found.name == "space_shap"
    unknown = body_of(HANDLER.unknown_tool_reply(found))
    assert unknown["error"]["code"] == -32602
    assert "Unknown tool" in unknown["error"]["message"]
    assert "space_shape" in unknown["error"]["message"]
    hidden = body_of(HANDLER.refused_tool_reply(found, "hidden on this surface"))
    assert hidden["result"] == {"content": [{"type": "text", "text": "hidden on this surface"}], "isError": True}


def test_a_very_long_tool_name_is_not_repeated() -> None:
    found = decide(request("tools/call", {"name": "x" * 1_000_000}), SESSION)
    assert isinstance(found, HiddenOrUnknownTool)
    assert len(HANDLER.unknown_tool_reply(found).body) < 500


@pytest.mark.parametrize(
    "method",
    ["logging/setLevel", "resources/list", "prompts/list", "completion/complete", "notifications/initialized", ""],
)
def test_a_method_that_is_not_declared_is_not_found_and_those_that_exist_are_named(method: str) -> None:
    reply = replied(decide(request(method), SESSION))
    assert (reply.status, body_of(reply)["error"]["code"]) == (200, -32601)
    assert "tools/call" in body_of(reply)["error"]["message"]


@pytest.mark.parametrize(
    ("message", "initialized"),
    [
        (notification("notifications/initialized"), True),  # [H] 180
        (notification("notifications/roots/list_changed"), False),
        (notification("anything"), False),
        (notification("tools/call", {"name": "space_hello"}), False),
        ({"jsonrpc": "2.0", "id": 1, "result": {}}, False),
        ({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "x"}}, False),
    ],
)
def test_what_wants_no_answer_is_accepted(message: object, initialized: bool) -> None:
    assert decide(message, SESSION) == Accepted(initialized)


@pytest.mark.parametrize("request_id", [1, "1"])
def test_a_cancellation_keeps_the_type_of_the_id(request_id: object) -> None:
    params = {"requestId": request_id, "reason": "user"}
    found = decide(notification("notifications/cancelled", params), SESSION)
    assert isinstance(found, CancelCall)
    assert (found.session_id, found.reason) == ("session-1", "user")
    assert (found.request_id, type(found.request_id)) == (request_id, type(request_id))


@pytest.mark.parametrize("params", [None, {}, {"requestId": None}, {"requestId": True}, {"requestId": 1.5}])
def test_a_malformed_cancellation_is_accepted_and_dropped(params: object) -> None:
    assert decide(notification("notifications/cancelled", params), SESSION) == Accepted()


# HTTP


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "TRACE"])
def test_other_http_methods_are_405_and_those_that_exist_are_named(method: str) -> None:
    reply = replied(HANDLER.refuse_request(HttpFacts(method=method)))
    assert reply.status == 405
    assert dict(reply.headers)["allow"] == "GET, POST, DELETE"


@pytest.mark.parametrize(
    ("facts", "status", "words"),
    [
        (post(content_type=None), 415, "must have the content type application/json; this one has no content type"),
        (post(content_type="text/plain"), 415, 'the content type application/json; this one has "text/plain"'),
        (post(accept="text/html"), 406, "text/event-stream"),
    ],
)
def test_a_post_that_is_no_json_or_takes_no_answer_is_refused_in_json(
    facts: HttpFacts, status: int, words: str
) -> None:
    reply = replied(HANDLER.refuse_request(facts))
    assert reply.status == status
    assert body_of(reply)["error"]["code"] == -32600
    assert words in body_of(reply)["error"]["message"]


@pytest.mark.parametrize(
    "facts", [post(), post(accept="application/json"), post(accept=None), get(), post(method="DELETE")]
)
def test_an_ordinary_request_is_not_refused(facts: HttpFacts) -> None:
    assert HANDLER.refuse_request(facts) is None


def test_a_body_above_the_limit_is_413_and_the_limit_is_named() -> None:
    reply = HANDLER.refuse_body()
    assert reply.status == 413
    assert "4194304" in body_of(reply)["error"]["message"]


def test_a_get_of_a_session_opens_its_stream() -> None:
    assert HANDLER.decide_get(get("session-1"), SESSION) == OpenStream("session-1", "2025-11-25")


def test_a_delete_of_a_session_ends_it() -> None:
    assert HANDLER.decide_delete(post("session-1", method="DELETE"), SESSION) == EndSession("session-1")


@pytest.mark.parametrize("decide_other", [HANDLER.decide_get, HANDLER.decide_delete])
@pytest.mark.parametrize(
    ("facts", "of", "status"),
    [
        (get(), None, 400),
        (get("gone"), None, 404),
        (get("session-1", version_header="2031-01-01"), SESSION, 400),
    ],
)
def test_a_get_or_delete_without_a_live_session_is_refused(
    decide_other: Any, facts: HttpFacts, of: Any, status: int
) -> None:
    assert replied(decide_other(facts, of)).status == status


def test_a_get_that_takes_no_stream_is_406() -> None:
    assert replied(HANDLER.decide_get(get("session-1", accept="application/json"), SESSION)).status == 406


def test_no_answer_is_401_or_speaks_of_a_login() -> None:
    # Clients take either for the start of a login and never come back.
    answers = [
        decide(request("ping")),
        decide(request("ping"), facts=post("gone")),
        decide(b"{", SESSION),
        decide(request("x"), SESSION),
        decide(initialize(), SESSION),
        decide(request("ping"), SESSION, facts=post("session-1", "2026-07-28")),
        HANDLER.refuse_body(),
        HANDLER.refuse_request(post(content_type="x")),
    ]
    for answer in answers:
        assert replied(answer).status != 401
        assert b"oauth" not in replied(answer).body.lower()


def test_a_decision_changes_nothing_and_is_the_same_twice() -> None:
    handler = Handler(SERVER)
    message = request("tools/call", {"name": "space_hello"})
    assert decide(message, SESSION, handler=handler) == decide(message, SESSION, handler=handler)
    assert isinstance(decide(request("tools/list"), SESSION, listed=TOOLS), Reply)
