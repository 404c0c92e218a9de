"""The notifications that this server sends, as bytes. Owns their form; when they are sent is the streams' business.

Where one goes to a stream of subscriptions it carries the id of the request that opened the stream.
"""

from __future__ import annotations

from typing import Any

from protocol.jsonrpc import RequestId, encode_notification
from protocol.log_level import LogLevel
from protocol.stateless_facts import SUBSCRIPTION_CLAIM
from protocol.subscription import ListKind, SubscriptionFilter
from protocol.task import Task, task_members
from protocol.versions import REVISIONS

TOOLS_LIST_CHANGED = encode_notification("notifications/tools/list_changed")
"""Tells a client to fetch the list of tools again."""

RESOURCES_LIST_CHANGED = encode_notification("notifications/resources/list_changed")
"""Tells a client to fetch the lists of resources and of templates again."""

PROMPTS_LIST_CHANGED = encode_notification("notifications/prompts/list_changed")
"""Tells a client to fetch the list of prompts again."""


def progress_notification(
    token: RequestId, done: float, total: float | None, message: str | None, version: str
) -> bytes:
    """How far a call is. `token` is the one of the request; `message` is left out where the version does not know it.

    Raises `KeyError` for a version that is not served.
    """
    params: dict[str, object] = {"progressToken": token, "progress": done}
    if total is not None:
        params["total"] = total
    if message is not None and REVISIONS[version].progress_message:
        params["message"] = message
    return encode_notification("notifications/progress", params)


def message_notification(level: LogLevel, data: object, logger: str | None = None) -> bytes:
    """A log message. `data` is any JSON value; raises `ValueError` for one that is not.

    To a client without sessions it may go only where the request asked for that level, and only on its own stream.
    """
    params: dict[str, object] = {"level": level.value, "data": data}
    if logger is not None:
        params["logger"] = logger
    return encode_notification("notifications/message", params)


def list_changed(kind: ListKind, subscription: RequestId | None = None) -> bytes:
    """Tells a client to fetch a list again. `subscription` is the stream it goes to, None in a session."""
    return encode_notification(f"notifications/{kind.value}/list_changed", _told({}, subscription) or None)


def resource_updated(uri: str, subscription: RequestId | None = None) -> bytes:
    """Tells a client that watches a resource to read it again."""
    return encode_notification("notifications/resources/updated", _told({"uri": uri}, subscription))


def acknowledged(subscription: RequestId, kept: SubscriptionFilter) -> bytes:
    """The first message of a stream of subscriptions: what will be told there, and nothing else."""
    params = _told({"notifications": kept.wire}, subscription)
    return encode_notification("notifications/subscriptions/acknowledged", params)


def task_changed(task: Task, subscription: RequestId) -> bytes:
    """Tells a client that watches a task how it is now."""
    return encode_notification("notifications/tasks", _told(task_members(task), subscription))


def cancelled_notification(request_id: RequestId, reason: str | None = None) -> bytes:
    """Tells a client that nobody waits any more for its answer to a request of ours."""
    params: dict[str, object] = {"requestId": request_id}
    if reason is not None:
        params["reason"] = reason
    return encode_notification("notifications/cancelled", params)


def elicitation_complete(elicitation_id: str) -> bytes:
    """Tells a client that its user has done on a page what they were sent there for. In sessions only."""
    return encode_notification("notifications/elicitation/complete", {"elicitationId": elicitation_id})


def _told(params: dict[str, Any], subscription: RequestId | None) -> dict[str, Any]:
    return params if subscription is None else {**params, "_meta": {SUBSCRIPTION_CLAIM: subscription}}
