"""The decision function of MCP: a message and what is known about its sender, to what is to be done.

Owns the rules; holds no state, does no I/O, and does not know which transport carries it. What a client gets wrong ends
in a `Reply` that says what would be right; nothing here raises for it. No answer is ever 401, because clients take that
for the start of a login.

Each generation of MCP is one table from methods to functions. Source: remote-mcp; MCP specification, lifecycle,
transports and server/tools.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import cast

from mcp_types import Implementation, InitializeResult, ServerCapabilities, ToolsCapability

from protocol.decision import (
    Accepted,
    CallTool,
    CancelCall,
    Decision,
    EndSession,
    HiddenOrUnknownTool,
    ItemDecision,
    OpenSession,
    OpenStream,
    Reply,
    RunBatch,
)
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
    encode,
    encode_batch,
    encode_error,
    encode_result,
    is_request_id,
    json_type,
)
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.prepared_call import InvalidArguments, UnknownTool, prepare_call
from protocol.result import error_result, wire_result
from protocol.schema import preview
from protocol.session import Session
from protocol.tool import JsonObject, ToolOutcome
from protocol.tool_list import ToolList
from protocol.versions import REVISIONS, Generation, Revision, negotiate

SESSION_HEADER = "mcp-session-id"
"""The header that names a session."""

SERVED_METHODS = "GET, POST, DELETE"
"""What the endpoint answers, for the header `Allow`."""

VERSION_CLAIM = "io.modelcontextprotocol/protocolVersion"
"""The member of `_meta` with which clients that know no sessions name their revision."""

ECHOED_VERSION_CHARS = 64
"""How much of a version that is not served comes back to the client, characters. Real ones have ten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerInfo:
    """How the server presents itself to clients."""

    name: str
    version: str
    title: str | None = None


@dataclass(frozen=True, slots=True)
class CallReply:
    """The answer to a call, and what the log should know about it: `problem` is a bug of the tool."""

    reply: Reply
    is_error: bool
    problem: str | None


@dataclass(frozen=True, slots=True)
class _Scene:
    """What a method function may look at."""

    session: Session
    revision: Revision
    tools: ToolList
    limits: Limits


_OpeningRule = Callable[[Request, Session | None], OpenSession | Reply]
_RequestRule = Callable[[Request, _Scene], ItemDecision]
_NotificationRule = Callable[[Notification, _Scene], ItemDecision]


class Handler:
    """The rules of the endpoint for one server. Frozen in effect; share it freely."""

    def __init__(self, server: ServerInfo, limits: Limits = DEFAULT_LIMITS) -> None:
        self._server = server
        self._limits = limits

    def refuse_request(self, facts: HttpFacts) -> Reply | None:
        """What is wrong with a request before its body is read; None where nothing is.

        405 for a method that is not served, 415 for a body that is not declared as JSON, 406 for a client that takes
        neither form of answer.
        """
        if facts.method not in {"GET", "POST", "DELETE"}:
            refused = _refusal(405, f"{preview(facts.method)} is not served here; use one of {SERVED_METHODS}")
            return Reply(refused.status, refused.body, (*refused.headers, ("allow", SERVED_METHODS)))
        if facts.method == "POST" and not facts.has_json_body:
            got = "no content type" if facts.content_type is None else preview(facts.content_type)
            return _refusal(415, f"a POST must have the content type application/json; this one has {got}")
        if facts.method == "POST" and not (facts.accepts_json or facts.accepts_event_stream):
            accept = preview(facts.accept)
            return _refusal(406, f"answers are application/json or text/event-stream; accept is {accept}")
        return None

    def refuse_body(self) -> Reply:
        """The answer to a body above the limit: 413. Close the connection rather than read on."""
        return _refusal(413, f"the body is longer than {self._limits.body_bytes} bytes, which is the most")

    def decide(
        self, facts: HttpFacts, message: Message | ParseFault, session: Session | None, tools: ToolList
    ) -> Decision:
        """What to do about a POST. `session` is the one that `facts.session_id` names, None where it does not exist."""
        if isinstance(message, ParseFault):
            return Reply(400, encode_error(message.id, message.code, message.reason))
        revision = _revision(facts, message, session)
        if isinstance(revision, Reply):
            return revision
        opening = _OPENING.get(message.method) if isinstance(message, Request) else None
        if isinstance(message, Request) and opening is not None:
            return opening(message, session)
        request_id = message.id if isinstance(message, Request) else None
        if session is None and facts.session_id is not None:
            return _unknown_session(request_id)
        if isinstance(message, Batch) and (session is None or not revision.batches):
            return _refusal(400, _illegal_batch(revision if session is not None else None))
        if session is None:
            return _no_session(request_id)
        scene = _Scene(session, revision, tools, self._limits)
        return _decide_batch(message, scene) if isinstance(message, Batch) else _decide_one(message, scene)

    def decide_get(self, facts: HttpFacts, session: Session | None) -> OpenStream | Reply:
        """What to do about a GET of a client that has a session: its stream of notifications."""
        refused = _refuse_version(facts) or _refuse_session(facts, session)
        if refused is not None:
            return refused
        assert session is not None  # noqa: S101 - `_refuse_session` has seen to it; for the type checker
        if not facts.accepts_event_stream:
            return _refusal(406, f"a GET answers with text/event-stream; accept is {preview(facts.accept)}")
        return OpenStream(session.id, _speaks(facts, session).version)

    def decide_delete(self, facts: HttpFacts, session: Session | None) -> EndSession | Reply:
        """What to do about a DELETE: the session ends, and is unknown for ever after."""
        refused = _refuse_version(facts) or _refuse_session(facts, session)
        if refused is not None:
            return refused
        assert session is not None  # noqa: S101 - `_refuse_session` has seen to it; for the type checker
        return EndSession(session.id)

    def initialize_reply(self, decision: OpenSession, session: Session, instructions: str | None = None) -> Reply:
        """The answer to `initialize` once the session exists. It alone carries the session header.

        `instructions` is what clients put into the prompt of their model, None for nothing.
        """
        title = self._server.title if REVISIONS[decision.protocol_version].title else None
        result = InitializeResult(
            protocol_version=decision.protocol_version,
            capabilities=ServerCapabilities(tools=ToolsCapability(list_changed=True)),
            server_info=Implementation(name=self._server.name, version=self._server.version, title=title),
            instructions=encodable(instructions) if instructions else None,
        )
        answer = _result(decision.request_id, encode(result))
        return Reply(answer.status, answer.body, (*answer.headers, (SESSION_HEADER, session.id)))

    def call_reply(self, decision: CallTool, outcome: ToolOutcome) -> CallReply:
        """The answer to a call that ran."""
        made = wire_result(decision.call.entry, outcome, decision.version)
        return CallReply(_result(decision.request_id, made.body), made.is_error, made.problem)

    def refused_tool_reply(self, decision: HiddenOrUnknownTool | CallTool, reason: str) -> Reply:
        """The answer to a call that may not run, because its tool is hidden now or for another reason of this moment.

        A result, so that the model reads the reason.
        """
        return _result(decision.request_id, error_result(reason))

    def unknown_tool_reply(self, decision: HiddenOrUnknownTool) -> Reply:
        """The answer to a call of a tool that does not exist."""
        return error_reply(decision.request_id, ErrorCode.INVALID_PARAMS, str(decision.unknown))

    def batch_reply(self, bodies: Iterable[bytes]) -> Reply | Accepted:
        """The answer to a batch: its answers as one array, or nothing where it held no request."""
        answers = tuple(bodies)
        return Reply(200, encode_batch(answers)) if answers else Accepted()


def error_reply(request_id: RequestId | None, code: ErrorCode, message: str, status: int = 200) -> Reply:
    """An answer that is a JSON-RPC error. Its status is 200 where the message was understood as one of a session."""
    return Reply(status, encode_error(request_id, code, message))


def _result(request_id: RequestId, result: bytes) -> Reply:
    return Reply(200, encode_result(request_id, result))


def _refusal(status: int, reason: str) -> Reply:
    """An answer below the level of messages. It is JSON-RPC all the same: without it clients try other transports."""
    return error_reply(None, ErrorCode.INVALID_REQUEST, reason, status)


def _unknown_session(request_id: RequestId | None) -> Reply:
    # Exactly 404: clients begin a new session by themselves on that, and on nothing else.
    reason = "no session has this id, or it has ended; send initialize without a session id to open a new one"
    return error_reply(request_id, ErrorCode.SESSION_ERROR, reason, 404)


def _no_session(request_id: RequestId | None) -> Reply:
    reason = "no session is named; send initialize, then the Mcp-Session-Id of its answer with every message"
    return error_reply(request_id, ErrorCode.SESSION_ERROR, reason, 400)


def _refuse_session(facts: HttpFacts, session: Session | None) -> Reply | None:
    if session is not None:
        return None
    return _no_session(None) if facts.session_id is None else _unknown_session(None)


def _refuse_version(facts: HttpFacts, claim: object = None, request_id: RequestId | None = None) -> Reply | None:
    """400 where header or body name a revision that is not served."""
    for named in (facts.version, claim):
        if named is None or (isinstance(named, str) and named in REVISIONS):
            continue
        reason = f"protocol version {preview(named)} is not served; these are: {', '.join(REVISIONS)}"
        requested = encodable(named[:ECHOED_VERSION_CHARS]) if isinstance(named, str) else preview(named)
        data = {"supported": list(REVISIONS), "requested": requested}
        return Reply(400, encode_error(request_id, ErrorCode.UNSUPPORTED_VERSION, reason, data))
    return None


def _revision(facts: HttpFacts, message: Message, session: Session | None) -> Revision | Reply:
    """The revision that rules a POST: the body is asked first, the header is the cross-check."""
    claim = None
    if isinstance(message, Request | Notification):
        meta = message.params.get("_meta")
        claim = cast("JsonObject", meta).get(VERSION_CLAIM) if isinstance(meta, Mapping) else None
    request_id = message.id if isinstance(message, Request) else None
    return _refuse_version(facts, claim, request_id) or _speaks(facts, session)


def _speaks(facts: HttpFacts, session: Session | None) -> Revision:
    """What was negotiated; before that what the header says; before that what such a session begins with."""
    if session is not None and session.negotiated:
        return REVISIONS[session.protocol_version]
    if facts.version is not None:
        return REVISIONS[facts.version]
    return REVISIONS[_VERSION_WITHOUT_HEADER if session is None else session.protocol_version]


_VERSION_WITHOUT_HEADER = "2025-03-26"
"""What the specification assumes of a client that names neither a version nor a session."""


def _illegal_batch(revision: Revision | None) -> str:
    if revision is None:
        return "an array of messages is legal only in a session of protocol version 2025-03-26"
    return (
        f"protocol version {revision.version}, which this session speaks, has no arrays of messages; send them singly"
    )


def _decide_batch(batch: Batch, scene: _Scene) -> Decision:
    if not batch.items:
        return _refusal(400, "the array of messages is empty; send at least one")
    return RunBatch(tuple(_decide_item(item, scene) for item in batch.items))


def _decide_item(item: Request | Notification | Response | ParseFault, scene: _Scene) -> ItemDecision:
    if isinstance(item, ParseFault):
        return error_reply(item.id, item.code, item.reason)
    if isinstance(item, Request) and item.method in _OPENING:
        reason = f"{item.method} must not be part of an array of messages; send it alone"
        return error_reply(item.id, ErrorCode.INVALID_REQUEST, reason)
    return _decide_one(item, scene)


def _decide_one(message: Request | Notification | Response, scene: _Scene) -> ItemDecision:
    generation = scene.revision.generation
    if isinstance(message, Request):
        rule = _REQUESTS[generation].get(message.method)
        return _unknown_method(message, generation) if rule is None else rule(message, scene)
    if isinstance(message, Notification):
        told = _NOTIFICATIONS[generation].get(message.method)
        return Accepted() if told is None else told(message, scene)
    # We ask clients nothing, so no answer of theirs is awaited.
    return Accepted()


def _unknown_method(request: Request, generation: Generation) -> Reply:
    known = ", ".join((*_OPENING, *_REQUESTS[generation]))
    return error_reply(
        request.id, ErrorCode.METHOD_NOT_FOUND, f"method {preview(request.method)} is not served; these are: {known}"
    )


def _invalid_params(request: Request, reason: str) -> Reply:
    return error_reply(request.id, ErrorCode.INVALID_PARAMS, f"{request.method}: {reason}")


def _initialize(request: Request, session: Session | None) -> OpenSession | Reply:
    if session is not None and session.negotiated:
        reason = "this session is initialized already; send initialize without a session id to open another one"
        return error_reply(request.id, ErrorCode.INVALID_REQUEST, reason, 400)
    version = request.params.get("protocolVersion")
    if not isinstance(version, str):
        got = "absent" if version is None else json_type(version)
        return _invalid_params(request, f"params.protocolVersion must be a string such as '2025-11-25'; it is {got}")
    for member in ("capabilities", "clientInfo"):
        value = request.params.get(member, {})
        if not isinstance(value, Mapping):
            return _invalid_params(request, f"params.{member} must be an object, not {json_type(value)}")
    client = cast("JsonObject", request.params.get("clientInfo", {}))
    return OpenSession(
        request.id,
        negotiate(version),
        _string_or_none(client.get("name")),
        _string_or_none(client.get("version")),
        None if session is None else session.id,
    )


def _string_or_none(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _ping(request: Request, _: _Scene) -> ItemDecision:
    return _result(request.id, b"{}")


def _list_tools(request: Request, scene: _Scene) -> ItemDecision:
    cursor = request.params.get("cursor")
    if cursor is not None:
        return _invalid_params(request, f"cursor {preview(cursor)} names no page; the list has one page, leave it out")
    return _result(request.id, b'{"tools":%b}' % scene.tools.wire(scene.revision.version))


def _call_tool(request: Request, scene: _Scene) -> ItemDecision:
    name = request.params.get("name")
    if not isinstance(name, str):
        got = "absent" if name is None else json_type(name)
        return _invalid_params(request, f"params.name must be the name of a tool; it is {got}")
    arguments = request.params.get("arguments")
    if arguments is not None and not isinstance(arguments, dict):
        return _invalid_params(request, f"params.arguments must be an object, not {json_type(arguments)}")
    meta: object = request.params.get("_meta", {})
    if not isinstance(meta, Mapping):
        return _invalid_params(request, f"params._meta must be an object, not {json_type(meta)}")
    token = cast("JsonObject", meta).get("progressToken")
    if token is not None and not is_request_id(token, scene.limits):
        return _invalid_params(request, f"progressToken must be a string or a whole number, not {preview(token)}")
    call = prepare_call(scene.tools, name, cast("JsonObject | None", arguments))
    if isinstance(call, UnknownTool):
        return HiddenOrUnknownTool(request.id, call)
    if isinstance(call, InvalidArguments):
        # A result and no error: the model sees it and mends its call.
        return _result(request.id, error_result(str(call)))
    return CallTool(request.id, scene.session.id, scene.revision.version, call, token)


def _initialized(_: Notification, __: _Scene) -> ItemDecision:
    return Accepted(initialized=True)


def _cancelled(notification: Notification, scene: _Scene) -> ItemDecision:
    request_id = notification.params.get("requestId")
    if not is_request_id(request_id, scene.limits):
        # The specification wants malformed cancellations ignored: nobody waits for an answer to one.
        return Accepted()
    return CancelCall(scene.session.id, request_id, _string_or_none(notification.params.get("reason")))


_OPENING: Mapping[str, _OpeningRule] = MappingProxyType({"initialize": _initialize})
"""Requests that need no session, because they open one."""

_REQUESTS: Mapping[Generation, Mapping[str, _RequestRule]] = MappingProxyType(
    {Generation.SESSIONS: {"ping": _ping, "tools/list": _list_tools, "tools/call": _call_tool}}
)
"""What each generation asks. A method that is missing here is answered with -32601, and no capability declares it."""

_NOTIFICATIONS: Mapping[Generation, Mapping[str, _NotificationRule]] = MappingProxyType(
    {Generation.SESSIONS: {"notifications/initialized": _initialized, "notifications/cancelled": _cancelled}}
)
"""What each generation tells. Every other notification is accepted and dropped."""
