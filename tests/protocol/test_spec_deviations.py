"""Where the official SDKs leave the specification and this server must not: a row each where no socket is needed."""

from __future__ import annotations

import pytest

from protocol.decision import Accepted, CallTool, HiddenOrUnknownTool, RunBatch
from protocol.handler import SESSION_HEADER
from protocol.http_facts import HttpFacts
from tests.protocol.samples import HANDLER, body_of, decide, notification, post, replied, request, session
from tests.protocol.stateless_samples import STATELESS, VERSION, facts_of, modern
from tests.protocol.stateless_samples import decide as decide_any

SESSION = session()


def test_a_batch_in_a_2025_03_26_session_is_received() -> None:
    assert isinstance(decide([request("ping")], session("2025-03-26")), RunBatch)


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
def test_a_batch_in_a_later_session_is_no_legal_body(version: str) -> None:
    assert replied(decide([request("ping")], session(version))).status == 400


@pytest.mark.parametrize("request_id", [None, 1.5, True])
def test_a_request_with_a_bad_id_is_an_invalid_request_and_no_notification(request_id: object) -> None:
    reply = replied(decide(request("tools/list", request_id=request_id), SESSION))
    assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("body", [b"junk", b"{}", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}', b"[]"])
def test_junk_without_a_session_opens_none_and_names_none(body: bytes) -> None:
    reply = replied(decide(body))
    assert reply.status == 400
    assert SESSION_HEADER not in dict(reply.headers)
    stream = replied(HANDLER.decide_get(HttpFacts(method="GET"), None))
    assert (stream.status, SESSION_HEADER in dict(stream.headers)) == (400, False)


def test_an_unknown_tool_is_a_protocol_error() -> None:
    found = decide(request("tools/call", {"name": "nope"}), SESSION)
    assert isinstance(found, HiddenOrUnknownTool)
    assert body_of(HANDLER.unknown_tool_reply(found))["error"]["code"] == -32602


def test_an_invalid_cursor_is_an_error() -> None:
    assert body_of(decide(request("tools/list", {"cursor": "zzz"}), SESSION))["error"]["code"] == -32602


def test_a_parse_error_is_json_rpc() -> None:
    reply = replied(decide(b"{", SESSION))
    assert (reply.status, dict(reply.headers)["content-type"]) == (400, "application/json")
    assert body_of(reply)["error"]["code"] == -32700


def test_a_missing_content_type_is_415_in_json() -> None:
    reply = replied(HANDLER.refuse_request(post(content_type=None)))
    assert (reply.status, body_of(reply)["error"]["code"]) == (415, -32600)


def test_arguments_that_do_not_match_are_a_result_and_no_protocol_error() -> None:
    found = decide(request("tools/call", {"name": "space_shape", "arguments": {}}), SESSION)
    assert body_of(found)["result"]["isError"] is True


def test_an_answer_to_a_request_that_nobody_made_is_dropped() -> None:
    assert decide({"jsonrpc": "2.0", "id": 99, "result": {}}, SESSION) == Accepted()


def test_a_notification_that_nobody_knows_is_dropped() -> None:
    assert decide(notification("notifications/unheard-of"), SESSION) == Accepted()


# both generations on one endpoint


@pytest.mark.parametrize("message", [request("tools/list"), modern("tools/list")])
def test_a_batch_without_a_session_is_refused_whatever_is_in_it(message: object) -> None:
    reply = replied(decide_any([message], post(None, VERSION)))
    assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32600)


def test_a_stateless_body_without_a_version_header_is_a_header_mismatch() -> None:
    message = modern("tools/list")
    reply = replied(decide_any(message, facts_of(message, mcp_protocol_version=None)))
    assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32020)


def test_a_stateless_body_with_the_header_of_a_session_is_a_header_mismatch_and_no_missing_session() -> None:
    message = modern("tools/list")
    reply = replied(decide_any(message, facts_of(message, mcp_protocol_version="2025-11-25")))
    assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32020)


@pytest.mark.parametrize("request_id", [None, 1.5, True])
def test_a_stateless_request_with_a_bad_id_is_an_invalid_request_too(request_id: object) -> None:
    message = modern("tools/list", request_id=request_id)
    reply = replied(decide_any(message, facts_of(message)))
    assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("body", [b"junk", b"{}", b"[]", b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'])
@pytest.mark.parametrize("version", [None, "2025-11-25", VERSION])
def test_junk_names_no_session_in_any_generation(body: bytes, version: str | None) -> None:
    reply = replied(decide_any(body, post(None, version)))
    assert reply.status == 400
    assert SESSION_HEADER not in dict(reply.headers)


@pytest.mark.parametrize("method", ["GET", "DELETE"])
def test_a_get_of_a_stateless_client_is_405_and_allows_post(method: str) -> None:
    reply = replied(STATELESS.refuse_request(HttpFacts(method=method, version_header=VERSION)))
    assert (reply.status, dict(reply.headers)["allow"]) == (405, "POST")


@pytest.mark.parametrize(("stateless", "code"), [(False, -32002), (True, -32602)])
def test_an_unknown_resource_has_the_code_of_its_generation(stateless: bool, code: int) -> None:
    params = {"uri": "space://nothing"}
    message = modern("resources/read", params) if stateless else request("resources/read", params)
    found = decide_any(message, None if stateless else post("session-1"), of=None if stateless else SESSION)
    assert (body_of(found)["error"]["code"], body_of(found)["error"]["data"]) == (code, params)


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("prompts/get", {"name": "nope"}),
        ("prompts/get", {"name": "draw"}),
        ("tools/list", {"cursor": "zzz"}),
        ("resources/list", {"cursor": "zzz"}),
        ("prompts/list", {"cursor": "zzz"}),
    ],
)
@pytest.mark.parametrize("stateless", [False, True])
def test_an_unknown_prompt_a_missing_argument_and_a_bad_cursor_are_invalid_params(
    method: str, params: dict[str, object], stateless: bool
) -> None:
    message = modern(method, params) if stateless else request(method, params)
    found = decide_any(message, None if stateless else post("session-1"), of=None if stateless else SESSION)
    assert body_of(found)["error"]["code"] == -32602


def test_an_unknown_tool_is_a_protocol_error_without_a_session_too() -> None:
    found = decide_any(modern("tools/call", {"name": "nope"}))
    assert isinstance(found, HiddenOrUnknownTool)
    assert body_of(STATELESS.unknown_tool_reply(found))["error"]["code"] == -32602


def test_a_request_that_names_no_log_level_wants_no_log_messages() -> None:
    found = decide_any(modern("tools/call", {"name": "space_hello"}))
    assert isinstance(found, CallTool)
    assert found.stateless is not None
    assert found.stateless.log_level is None


def test_no_result_of_a_session_says_what_only_stateless_ones_say() -> None:
    for method in ("tools/list", "resources/list", "prompts/list", "ping"):
        result = body_of(decide_any(request(method), post("session-1"), of=SESSION))["result"]
        assert not {"resultType", "ttlMs", "cacheScope", "_meta"} & set(result)
