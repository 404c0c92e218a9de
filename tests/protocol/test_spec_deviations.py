"""Where the official SDKs leave the specification and this server must not: a row each, for sessions."""

from __future__ import annotations

import pytest

from protocol.decision import Accepted, HiddenOrUnknownTool, RunBatch
from protocol.handler import SESSION_HEADER
from protocol.http_facts import HttpFacts
from tests.protocol.samples import HANDLER, body_of, decide, notification, post, replied, request, session

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
