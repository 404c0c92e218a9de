"""Whether a stateless request may be looked at: the checks that come before its method, from the bottom to the top.

Owns their order, their codes and their statuses; the first one that fails is the answer. Source: MCP specification
2026-07-28, base protocol and transports.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from protocol.answers import error_reply
from protocol.client_capabilities import Capability, required_capabilities
from protocol.decision import Reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import (
    Batch,
    ErrorCode,
    Message,
    Notification,
    ParseFault,
    Request,
    RequestId,
    Response,
    encodable,
)
from protocol.mcp_headers import method_problem, name_problem, parameter_problem, version_problem
from protocol.offer import Offer
from protocol.schema import preview
from protocol.stateless_facts import Claims, claimed_version, read_claims
from protocol.tool import JsonObject, TaskSupport
from protocol.versions import REVISIONS, STATELESS_VERSIONS, Generation

NAMED_BY: Mapping[str, str] = MappingProxyType(
    {
        "tools/call": "name",
        "prompts/get": "name",
        "resources/read": "uri",
        "tasks/get": "taskId",
        "tasks/update": "taskId",
        "tasks/cancel": "taskId",
    }
)
"""The methods whose requests repeat a member of their params in `Mcp-Name`, and which member."""

TASK_METHODS = frozenset({"tasks/get", "tasks/update", "tasks/cancel"})
"""The methods of the extension for tasks."""

IN_SESSIONS_ONLY = frozenset(
    {
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    }
)
"""What clients of older revisions ask; said by name, since a client that mixes them up is easily helped."""

ECHOED_VERSION_CHARS = 64
"""How much of a version that is not served comes back to the client, characters. Real ones have ten."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Why a check has failed, and what the error holds as `data`."""

    reason: str
    data: JsonObject | None = None


@dataclass(frozen=True, slots=True)
class _Climber:
    """What the checks look at."""

    facts: HttpFacts
    request: Request
    claims: Claims
    served: Collection[str]
    offer: Offer


@dataclass(frozen=True, slots=True)
class _Rung:
    status: int
    code: ErrorCode
    check: Callable[[_Climber], Fault | None]


def is_stateless(facts: HttpFacts, message: Message | ParseFault) -> bool:
    """Whether a POST is to be judged without a session: the body is asked first, the header is the cross-check.

    So is everything whose header names a version that no session speaks, for it can only be refused.
    """
    # On the way of every request: a union of types to test for, or a generator, costs as much as all the rest.
    if isinstance(message, (Request, Notification)) and claimed_version(message.params) is not None:
        return True
    for version in facts.versions:  # noqa: SIM110
        if not speaks_in_sessions(version):
            return True
    return False


def speaks_in_sessions(version: str) -> bool:
    """Whether sessions of that version are served."""
    revision = REVISIONS.get(version)
    return revision is not None and revision.generation is Generation.SESSIONS


def climb(
    facts: HttpFacts, message: Message | ParseFault, served: Collection[str], offer: Offer
) -> tuple[Request, Claims] | Notification | Reply:
    """A request that may be looked at, with what it claims; or the answer to one that may not.

    `served` are the methods that are answered now. A notification needs nothing but a version that is served.
    """
    match message:
        case ParseFault(code=code, reason=reason, id=request_id):
            return error_reply(request_id, code, reason, 400)
        case Batch():
            return error_reply(None, ErrorCode.INVALID_REQUEST, "arrays of messages are not served; send one", 400)
        case Response():
            reason = "nothing is asked of clients in requests here, so there is nothing to answer"
            return error_reply(None, ErrorCode.INVALID_REQUEST, reason, 400)
        case Notification():
            fault = _notified_version(facts, message)
            return message if fault is None else _refused(None, 400, ErrorCode.UNSUPPORTED_VERSION, fault)
        case Request():
            claims = read_claims(message.params)
            if isinstance(claims, str):
                return _refused(message.id, 400, ErrorCode.INVALID_PARAMS, Fault(f"{claims}{_hint(facts)}"))
    climber = _Climber(facts, message, claims, served, offer)
    for rung in _RUNGS:
        fault = rung.check(climber)
        if fault is not None:
            return _refused(message.id, rung.status, rung.code, fault)
    return message, claims


def unsupported(requested: object) -> Fault:
    """Why a version is not served, with those that are."""
    supported = list(STATELESS_VERSIONS)
    text = encodable(requested[:ECHOED_VERSION_CHARS]) if isinstance(requested, str) else preview(requested)
    return Fault(
        f"protocol version {preview(requested)} is not served; these are: {', '.join(supported)}",
        {"supported": supported, "requested": text},
    )


def _headers_agree(climber: _Climber) -> Fault | None:
    request = climber.request
    problem = version_problem(climber.facts, climber.claims.version) or method_problem(climber.facts, request.method)
    if problem is None:
        member = NAMED_BY.get(request.method)
        name: object = None if member is None else request.params.get(member)
        # Without a name in the body there is nothing to compare: what is wrong then is the body.
        problem = name_problem(climber.facts, member, name) if member and isinstance(name, str) else None
    return None if problem is None else Fault(problem)


def _version_served(climber: _Climber) -> Fault | None:
    return None if climber.claims.version in STATELESS_VERSIONS else unsupported(climber.claims.version)


def _parameters_agree(climber: _Climber) -> Fault | None:
    if climber.request.method != "tools/call":
        return None
    name: object = climber.request.params.get("name")
    entry = climber.offer.tools.get(name) if isinstance(name, str) else None
    arguments: object = climber.request.params.get("arguments", {})
    if entry is None or not isinstance(arguments, dict):
        return None
    problem = parameter_problem(climber.facts, entry.face.header_parameters, cast("JsonObject", arguments))
    return None if problem is None else Fault(problem)


def _method_served(climber: _Climber) -> Fault | None:
    method = climber.request.method
    if method in climber.served:
        return None
    if method in IN_SESSIONS_ONLY:
        return Fault(f"method {method} exists in sessions only; protocol version {climber.claims.version} has none")
    return Fault(f"method {preview(method)} is not served; these are: {', '.join(climber.served)}")


def _capability_declared(climber: _Climber) -> Fault | None:
    if Capability.TASKS in climber.claims.client or not _needs_tasks(climber):
        return None
    needed = required_capabilities((Capability.TASKS,))
    return Fault("the client has to declare the extension for tasks, to be answered here", _required(needed))


def _needs_tasks(climber: _Climber) -> bool:
    if climber.request.method in TASK_METHODS:
        return True
    if climber.request.method != "tools/call" or not climber.offer.tasks:
        return False
    name: object = climber.request.params.get("name")
    entry = climber.offer.tools.get(name) if isinstance(name, str) else None
    return entry is not None and entry.definition.task_support is TaskSupport.REQUIRED


_RUNGS = (
    _Rung(400, ErrorCode.HEADER_MISMATCH, _headers_agree),
    _Rung(400, ErrorCode.UNSUPPORTED_VERSION, _version_served),
    _Rung(400, ErrorCode.HEADER_MISMATCH, _parameters_agree),
    _Rung(404, ErrorCode.METHOD_NOT_FOUND, _method_served),
    _Rung(400, ErrorCode.MISSING_CAPABILITY, _capability_declared),
)
"""The checks of a request whose envelope and `_meta` are in order (400 with -32600 and -32602), bottom first."""


def _notified_version(facts: HttpFacts, notification: Notification) -> Fault | None:
    claimed = claimed_version(notification.params)
    named = (*facts.versions, *(() if claimed is None else (claimed,)))
    return next((unsupported(version) for version in named if version not in STATELESS_VERSIONS), None)


def _hint(facts: HttpFacts) -> str:
    strange = [version for version in facts.versions if version not in REVISIONS]
    return f". The header names protocol version {preview(strange[0])}, which is not served" if strange else ""


def _required(capabilities: JsonObject) -> JsonObject:
    return {"requiredCapabilities": capabilities}


def _refused(request_id: RequestId | None, status: int, code: ErrorCode, fault: Fault) -> Reply:
    return error_reply(request_id, code, fault.reason, status, fault.data)
