"""Where a request is decided: what is on offer, in which revision it is asked, and by whom. Owns the value only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from protocol.answers import Answers, error_reply
from protocol.cache_hint import CacheHint
from protocol.decision import Decision, ItemDecision, Reply
from protocol.jsonrpc import ErrorCode, Notification, Request, RequestId, bad_id, is_request_id, json_type
from protocol.limits import Limits
from protocol.offer import Offer
from protocol.stateless_facts import StatelessFacts
from protocol.tool import JsonObject
from protocol.versions import Revision


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What a rule may look at. `session_id` is empty, and `stateless` is there, where there is no session."""

    offer: Offer
    revision: Revision
    limits: Limits
    answers: Answers
    hints: Mapping[str, CacheHint]
    session_id: str = ""
    stateless: StatelessFacts | None = None

    def result(self, request: Request, body: bytes) -> Reply:
        """The answer to a request that is known at once, in the form of the generation."""
        if self.stateless is None:
            return self.answers.in_session(request.id, body)
        return self.answers.stateless(request.id, body, cache=self.hints.get(request.method))


SessionRule = Callable[[Request, Scene], ItemDecision]
NotificationRule = Callable[[Notification, Scene], ItemDecision]
Rule = Callable[[Request, Scene], Decision]


def invalid_params(request: Request, reason: str, data: object = None) -> Reply:
    """The answer to a request whose params will not do."""
    return error_reply(request.id, ErrorCode.INVALID_PARAMS, f"{request.method}: {reason}", data=data)


def text_param(request: Request, member: str, what: str) -> str | Reply:
    """A member of the params that must be a string; `what` says what it is for."""
    value: object = request.params.get(member)
    if isinstance(value, str):
        return value
    got = "absent" if value is None else json_type(value)
    return invalid_params(request, f"params.{member} must be {what}; it is {got}")


def object_param(request: Request, member: str) -> JsonObject | Reply:
    """A member of the params that must be an object where it is there; an empty one where it is not."""
    value: object = request.params.get(member)
    if value is None:
        return {}
    if isinstance(value, dict):
        return cast("JsonObject", value)
    return invalid_params(request, f"params.{member} must be an object, not {json_type(value)}")


def progress_token(request: Request, limits: Limits) -> RequestId | Reply | None:
    """The token under which the client wants to hear of progress, None where it does not."""
    meta: object = request.params.get("_meta", {})
    if not isinstance(meta, Mapping):
        return invalid_params(request, f"params._meta must be an object, not {json_type(meta)}")
    token = cast("JsonObject", meta).get("progressToken")
    if token is None or is_request_id(token, limits):
        return token
    return invalid_params(request, bad_id(token, limits, "progressToken"))
