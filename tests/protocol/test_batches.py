"""Arrays of messages: a feature of 2025-03-26 alone. MCP specification 2025-03-26, base protocol ("Batching")."""

from __future__ import annotations

import pytest

from protocol.decision import Accepted, CallTool, CancelCall, HiddenOrUnknownTool, Reply, RunBatch
from tests.protocol.samples import HANDLER, body_of, decide, initialize, notification, post, replied, request, session

BATCHING = session("2025-03-26")


def batch(*messages: object) -> RunBatch:
    decision = decide(list(messages), BATCHING)
    assert isinstance(decision, RunBatch), decision
    return decision


def test_each_message_of_a_batch_is_decided_by_itself_and_in_order() -> None:
    found = batch(
        request("ping", request_id=1),
        request("tools/call", {"name": "space_hello"}, 2),
        request("tools/call", {"name": "space_none"}, 3),
        notification("notifications/initialized"),
        notification("notifications/cancelled", {"requestId": 9}),
        {"jsonrpc": "2.0", "id": 4, "result": {}},
        request("nonsense", request_id=5),
        7,
    )
    kinds = [type(item) for item in found.items]
    assert kinds == [Reply, CallTool, HiddenOrUnknownTool, Accepted, CancelCall, Accepted, Reply, Reply]
    assert found.items[3] == Accepted(initialized=True)
    assert [body_of(found.items[number])["error"]["code"] for number in (6, 7)] == [-32601, -32600]
    assert "id" not in body_of(found.items[7])


def test_the_answers_of_a_batch_are_one_array() -> None:
    found = batch(request("ping", request_id=1), request("ping", request_id="1"))
    reply = HANDLER.batch_reply(replied(item).body for item in found.items)
    assert replied(reply).status == 200
    assert [answer["id"] for answer in body_of(reply)] == [1, "1"]


def test_a_batch_without_requests_is_accepted_without_a_body() -> None:
    found = batch(notification("notifications/initialized"), {"jsonrpc": "2.0", "id": 4, "result": {}})
    assert all(isinstance(item, Accepted) for item in found.items)
    assert HANDLER.batch_reply(()) == Accepted()


def test_initialize_inside_a_batch_is_refused_and_the_rest_is_served() -> None:
    found = batch(initialize(request_id=1), request("ping", request_id=2))
    assert body_of(found.items[0])["error"]["code"] == -32600
    assert "alone" in body_of(found.items[0])["error"]["message"]
    assert body_of(found.items[1])["result"] == {}


def test_an_empty_batch_is_refused() -> None:
    reply = replied(decide([], BATCHING))
    assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32600)


@pytest.mark.parametrize("version", ["2024-11-05", "2025-06-18", "2025-11-25"])
def test_a_batch_in_a_session_of_another_version_is_refused_by_name(version: str) -> None:
    reply = replied(decide([request("ping")], session(version)))
    assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32600)
    assert version in body_of(reply)["error"]["message"]


def test_a_batch_without_a_session_is_refused() -> None:
    # Without a header the specification assumes 2025-03-26, but nobody has negotiated it.
    for facts in (post(), post(version="2025-03-26")):
        reply = replied(decide([initialize()], facts=facts))
        assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32600)
