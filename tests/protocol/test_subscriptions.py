"""Streams of subscriptions, and the notifications of both generations."""

from __future__ import annotations

import json
from typing import Any

import pytest

from protocol.decision import Listen
from protocol.limits import Limits
from protocol.log_level import LogLevel
from protocol.notifications import (
    PROMPTS_LIST_CHANGED,
    RESOURCES_LIST_CHANGED,
    TOOLS_LIST_CHANGED,
    acknowledged,
    cancelled_notification,
    elicitation_complete,
    list_changed,
    message_notification,
    resource_updated,
)
from protocol.offer import Offer
from protocol.subscription import ListKind, SubscriptionFilter, read_filter
from tests.protocol.samples import body_of, replied
from tests.protocol.stateless_samples import OFFER, PREFIX, STATELESS, decide, modern

ID = f"{PREFIX}subscriptionId"


def listen(asked: object, request_id: object = 7, offer: Offer = OFFER) -> Listen:
    found = decide(modern("subscriptions/listen", {"notifications": asked}, request_id), offer=offer)
    assert isinstance(found, Listen), found
    return found


def told(message: bytes) -> Any:
    body = json.loads(message)
    assert (body["jsonrpc"], "id" in body) == ("2.0", False)
    return body["method"], body.get("params")


def test_what_is_asked_for_and_offered_is_kept() -> None:
    asked = {
        "toolsListChanged": True,
        "promptsListChanged": False,
        "resourcesListChanged": True,
        "resourceSubscriptions": ["space://b", "space://a"],
        "taskIds": ["t"],
        "other": 7,
    }
    found = listen(asked)
    assert found.kept == SubscriptionFilter(
        frozenset({ListKind.TOOLS, ListKind.RESOURCES}), frozenset({"space://a", "space://b"}), frozenset({"t"})
    )
    bare = listen(asked, offer=Offer())
    assert bare.kept == SubscriptionFilter(frozenset({ListKind.TOOLS}))


@pytest.mark.parametrize("request_id", [0, 7, "7", ""])
def test_the_first_message_tells_what_is_kept_with_the_id_of_its_request(request_id: object) -> None:
    found = listen({"toolsListChanged": True, "resourceSubscriptions": ["space://a"]}, request_id)
    method, params = told(acknowledged(found.request_id, found.kept))
    assert method == "notifications/subscriptions/acknowledged"
    assert params["notifications"] == {"toolsListChanged": True, "resourceSubscriptions": ["space://a"]}
    assert (params["_meta"][ID], type(params["_meta"][ID])) == (request_id, type(request_id))


def test_every_message_of_a_stream_carries_its_id_and_none_of_a_session_does() -> None:
    assert told(list_changed(ListKind.PROMPTS, 7)) == ("notifications/prompts/list_changed", {"_meta": {ID: 7}})
    assert told(list_changed(ListKind.PROMPTS)) == ("notifications/prompts/list_changed", None)
    assert told(resource_updated("a://b", "x"))[1] == {"uri": "a://b", "_meta": {ID: "x"}}
    assert told(resource_updated("a://b"))[1] == {"uri": "a://b"}
    changed = {ListKind.TOOLS: TOOLS_LIST_CHANGED, ListKind.PROMPTS: PROMPTS_LIST_CHANGED}
    changed[ListKind.RESOURCES] = RESOURCES_LIST_CHANGED
    assert {kind: list_changed(kind) for kind in ListKind} == changed


def test_a_stream_that_the_server_ends_has_a_result() -> None:
    reply = STATELESS.listen_end_reply(listen({}, "x"))
    body = body_of(reply)
    assert (body["id"], body["result"]["resultType"], body["result"]["_meta"][ID]) == ("x", "complete", "x")
    assert f"{PREFIX}serverInfo" in body["result"]["_meta"]


@pytest.mark.parametrize(
    "asked",
    [
        None,
        [],
        "all",
        {"toolsListChanged": "yes"},
        {"resourceSubscriptions": "a://b"},
        {"resourceSubscriptions": [7]},
        {"resourceSubscriptions": ["x" * 5000]},
        {"resourceSubscriptions": [f"a://{number}" for number in range(300)]},
        {"taskIds": {}},
    ],
)
def test_a_filter_that_is_none_is_invalid_params(asked: object) -> None:
    reply = replied(decide(modern("subscriptions/listen", {"notifications": asked})))
    assert body_of(reply)["error"]["code"] == -32602


def test_a_member_that_is_null_asks_for_nothing() -> None:
    assert read_filter({"notifications": {"toolsListChanged": None}}, Limits()) == SubscriptionFilter()


def test_a_log_message_has_a_level_and_any_data() -> None:
    assert told(message_notification(LogLevel.INFO, {"a": 1}, "world")) == (
        "notifications/message",
        {"level": "info", "data": {"a": 1}, "logger": "world"},
    )
    assert told(message_notification(LogLevel.ERROR, "x"))[1] == {"level": "error", "data": "x"}


def test_a_question_can_be_taken_back_and_a_page_reported_as_visited() -> None:
    assert told(cancelled_notification("space-1", "timeout"))[1] == {"requestId": "space-1", "reason": "timeout"}
    assert told(elicitation_complete("e1")) == ("notifications/elicitation/complete", {"elicitationId": "e1"})
