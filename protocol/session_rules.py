"""What is asked and told in a session, and what becomes of it (2024-11-05 to 2025-11-25).

Owns the tables of methods. Opening a session is the handler's. Source: MCP specification, lifecycle and
server/utilities.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from protocol.answers import error_reply
from protocol.decision import (
    Accepted,
    CancelCall,
    ClientAnswered,
    ItemDecision,
    Reply,
    RootsChanged,
    SetLogLevel,
    Subscribe,
    Unsubscribe,
)
from protocol.feature_rules import (
    call_tool,
    complete,
    get_prompt,
    list_prompts,
    list_resources,
    list_templates,
    list_tools,
    missing_resource,
    read_resource,
    uri_param,
)
from protocol.jsonrpc import ErrorCode, Notification, Request, Response, is_request_id
from protocol.log_level import LEVEL_NAMES, LogLevel
from protocol.offer import Offer
from protocol.resource_list import EMPTY_RESOURCE_LIST
from protocol.scene import NotificationRule, Scene, SessionRule, invalid_params
from protocol.schema import preview

INITIALIZE = "initialize"
"""The request that opens a session. It is no part of one."""


def decide_in_session(message: Request | Notification | Response, scene: Scene) -> ItemDecision:
    """What to do about one message of a session."""
    if isinstance(message, Request):
        rules = served_rules(scene.offer)
        rule = rules.get(message.method)
        return _unknown_method(message, rules) if rule is None else rule(message, scene)
    if isinstance(message, Notification):
        told = _NOTIFICATIONS.get(message.method)
        return Accepted() if told is None else told(message, scene)
    return ClientAnswered(scene.session_id, message) if scene.offer.asks_clients else Accepted()


def served_rules(offer: Offer) -> Mapping[str, SessionRule]:
    """The methods that are answered with that offer."""
    return _served(offer.resources is not None, offer.prompts is not None, offer.completions, offer.logging)


@cache
def _served(resources: bool, prompts: bool, completions: bool, logging: bool) -> Mapping[str, SessionRule]:
    # Asked for each request, and there are sixteen answers in all.
    missing: set[str] = set()
    if not resources:
        missing |= {name for name in _REQUESTS if name.startswith("resources/")}
    if not prompts:
        missing |= {"prompts/list", "prompts/get"}
    if not completions:
        missing.add("completion/complete")
    if not logging:
        missing.add("logging/setLevel")
    return MappingProxyType({method: rule for method, rule in _REQUESTS.items() if method not in missing})


def _unknown_method(request: Request, rules: Mapping[str, SessionRule]) -> Reply:
    known = ", ".join((INITIALIZE, *rules))
    return error_reply(
        request.id, ErrorCode.METHOD_NOT_FOUND, f"method {preview(request.method)} is not served; these are: {known}"
    )


def _ping(request: Request, scene: Scene) -> ItemDecision:
    return scene.result(request, b"{}")


def _set_level(request: Request, scene: Scene) -> ItemDecision:
    level = LogLevel.read(request.params.get("level"))
    if level is None:
        got = preview(request.params.get("level"))
        return invalid_params(request, f"params.level must be one of {LEVEL_NAMES}; it is {got}")
    return SetLogLevel(request.id, scene.session_id, level)


def _subscribe(request: Request, scene: Scene) -> ItemDecision:
    uri = uri_param(request, scene)
    if isinstance(uri, Reply):
        return uri
    if (scene.offer.resources or EMPTY_RESOURCE_LIST).prepare(uri) is None:
        return missing_resource(request, uri, scene)
    return Subscribe(request.id, scene.session_id, uri)


def _unsubscribe(request: Request, scene: Scene) -> ItemDecision:
    # One that is gone, or was never watched, can be given up all the same.
    uri = uri_param(request, scene)
    return uri if isinstance(uri, Reply) else Unsubscribe(request.id, scene.session_id, uri)


def _initialized(_: Notification, __: Scene) -> ItemDecision:
    return Accepted(initialized=True)


def _cancelled(notification: Notification, scene: Scene) -> ItemDecision:
    request_id = notification.params.get("requestId")
    if not is_request_id(request_id, scene.limits):
        # The specification wants malformed cancellations ignored: nobody waits for an answer to one.
        return Accepted()
    reason: object = notification.params.get("reason")
    return CancelCall(scene.session_id, request_id, reason if isinstance(reason, str) else None)


def _roots_changed(_: Notification, scene: Scene) -> ItemDecision:
    return RootsChanged(scene.session_id) if scene.offer.asks_clients else Accepted()


_REQUESTS: Mapping[str, SessionRule] = MappingProxyType(
    {
        "ping": _ping,
        "tools/list": list_tools,
        "tools/call": call_tool,
        "resources/list": list_resources,
        "resources/templates/list": list_templates,
        "resources/read": read_resource,
        "resources/subscribe": _subscribe,
        "resources/unsubscribe": _unsubscribe,
        "prompts/list": list_prompts,
        "prompts/get": get_prompt,
        "completion/complete": complete,
        "logging/setLevel": _set_level,
    }
)
"""What can be asked. A method that is missing here is answered with -32601, and no capability declares it."""

_NOTIFICATIONS: Mapping[str, NotificationRule] = MappingProxyType(
    {
        "notifications/initialized": _initialized,
        "notifications/cancelled": _cancelled,
        "notifications/roots/list_changed": _roots_changed,
    }
)
"""What can be told. Every other notification is accepted and dropped."""
