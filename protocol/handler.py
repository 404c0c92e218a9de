"""The decision function of MCP: a message and what is known about its sender, to what is to be done.

Owns what comes before the rules of a generation (whose message it is, and whether it may be looked at), and the replies
to what was carried out. Holds no state, does no I/O, and does not know which transport carries it. What a client gets
wrong ends in a `Reply` that says what would be right; nothing here raises for it. No answer is ever 401, because
clients take that for the start of a login.

The rules of each generation are a table from methods to functions, in `session_rules` and `stateless_rules`.
Source: remote-mcp; MCP specification, lifecycle and transports.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from mcp_types import Implementation, InitializeResult, PromptMessage, ServerCapabilities
from pydantic_core import to_json

from protocol.answers import INPUT_REQUIRED, TASK, Answers, error_reply, refusal
from protocol.cache_hint import NOT_KEPT
from protocol.client_capabilities import NO_CAPABILITIES, Capability, ClientCapabilities, required_capabilities
from protocol.completion import CompletionOutcome, completion_members
from protocol.decision import (
    Accepted,
    Asked,
    CallTool,
    Complete,
    Decision,
    EndSession,
    GetPrompt,
    GetTask,
    HiddenOrUnknownTool,
    ItemDecision,
    Listen,
    OpenSession,
    OpenStream,
    ReadResource,
    Reply,
    RunBatch,
    SetLogLevel,
    Subscribe,
    Unsubscribe,
    UpdateTask,
)
from protocol.decision import CancelTask as CancelTaskDecision
from protocol.feature_rules import missing_resource_error
from protocol.http_facts import HttpFacts
from protocol.input_request import ElicitUrl, InputRequired, all_needs, keep, possible, wire_request
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
    json_type,
)
from protocol.ladder import ECHOED_VERSION_CHARS, is_stateless, speaks_in_sessions
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.offer import Offer, capabilities
from protocol.prompt import PromptOutcome
from protocol.resource import ResourceOutcome
from protocol.result import error_result, fit_block, wire_result
from protocol.scene import Scene, invalid_params
from protocol.schema import preview
from protocol.server_info import ServerInfo
from protocol.session import Session
from protocol.session_rules import INITIALIZE, decide_in_session
from protocol.stateless_facts import SUBSCRIPTION_CLAIM, claimed_version, client_text
from protocol.stateless_rules import Stateless, decide_stateless
from protocol.task import Task, created_members, task_members
from protocol.tool import JsonObject, ToolOutcome
from protocol.tool_list import ToolList
from protocol.versions import (
    FIRST_STREAMABLE_VERSION,
    OLDEST_VERSION,
    REVISIONS,
    SESSION_VERSIONS,
    STATELESS_VERSIONS,
    Revision,
    negotiate,
)

__all__ = ["SERVED_METHODS", "SESSION_HEADER", "CallReply", "Handler", "ServerInfo", "error_reply"]

SESSION_HEADER = "mcp-session-id"
"""The header that names a session."""

SERVED_METHODS = "GET, POST, DELETE"
"""What the endpoint answers, for the header `Allow`."""


@dataclass(frozen=True, slots=True)
class CallReply:
    """The answer to a call, and what the log should know about it: `problem` is a bug of the tool."""

    reply: Reply
    is_error: bool
    problem: str | None


class Handler:
    """The rules of the endpoint for one server. Frozen in effect; share it freely.

    Without `stateless` only clients with sessions are served. `streamable` says that the transport is Streamable HTTP:
    then every client knows the content of the revision that brought it.
    """

    def __init__(
        self,
        server: ServerInfo,
        limits: Limits = DEFAULT_LIMITS,
        *,
        stateless: Stateless | None = None,
        streamable: bool = False,
    ) -> None:
        self._server = server
        self._limits = limits
        self._stateless = stateless
        self._oldest_content = FIRST_STREAMABLE_VERSION if streamable else OLDEST_VERSION
        self._answers = Answers(server)

    def refuse_request(self, facts: HttpFacts) -> Reply | None:
        """What is wrong with a request before its body is read; None where nothing is.

        405 for a method that is not served, 415 for a body that is not declared as JSON, 406 for a client that takes
        neither form of answer.
        """
        if facts.method not in {"GET", "POST", "DELETE"}:
            return _not_allowed(
                f"{preview(facts.method)} is not served here; use one of {SERVED_METHODS}", SERVED_METHODS
            )
        if facts.method != "POST" and self._stateless and any(each in STATELESS_VERSIONS for each in facts.versions):
            return _not_allowed(f"a client of protocol version {facts.versions[0]} sends POST and nothing else", "POST")
        if facts.method == "POST" and not facts.has_json_body:
            got = "no content type" if facts.content_type is None else preview(facts.content_type)
            return refusal(415, f"a POST must have the content type application/json; this one has {got}")
        if facts.method == "POST" and not (facts.accepts_json or facts.accepts_event_stream):
            accept = preview(facts.accept)
            return refusal(406, f"answers are application/json or text/event-stream; accept is {accept}")
        return None

    def refuse_body(self) -> Reply:
        """The answer to a body above the limit: 413. Close the connection rather than read on."""
        return refusal(413, f"the body is longer than {self._limits.body_bytes} bytes, which is the most")

    def is_stateless(self, facts: HttpFacts, message: Message | ParseFault) -> bool:
        """Whether a POST is decided without a session. Then begin none, and give `decide` none."""
        return self._stateless is not None and is_stateless(facts, message)

    def decide(
        self,
        facts: HttpFacts,
        message: Message | ParseFault,
        session: Session | None,
        offer: ToolList | Offer,
        *,
        stateless: bool | None = None,
    ) -> Decision:
        """What to do about a POST. `session` is the one that `facts.session_id` names, None where it does not exist.

        Where only tools are on offer nothing comes of it but what concerns tools. `stateless` is what `is_stateless`
        said, for whoever has asked that already; None where nobody has.
        """
        whole = offer if isinstance(offer, Offer) else Offer(tools=offer)
        alone = self.is_stateless(facts, message) if stateless is None else stateless
        if self._stateless is not None and alone:
            return decide_stateless(facts, message, whole, self._stateless, self._answers, self._limits)
        if isinstance(message, ParseFault):
            return error_reply(message.id, message.code, message.reason, 400)
        revision = _revision(facts, message, session)
        if isinstance(revision, Reply):
            return revision
        if isinstance(message, Request) and message.method == INITIALIZE:
            return _initialize(message, session)
        request_id = message.id if isinstance(message, Request) else None
        if session is None and facts.session_id is not None:
            return _unknown_session(request_id)
        if isinstance(message, Batch) and (session is None or not revision.batches):
            return refusal(400, _illegal_batch(revision if session is not None else None))
        if session is None:
            return _no_session(request_id)
        scene = Scene(
            offer=whole,
            revision=revision,
            limits=self._limits,
            answers=self._answers,
            hints={},
            session_id=session.id,
        )
        return _decide_batch(message, scene) if isinstance(message, Batch) else decide_in_session(message, scene)

    def decide_get(self, facts: HttpFacts, session: Session | None) -> OpenStream | Reply:
        """What to do about a GET of a client that has a session: its stream of notifications."""
        refused = _refuse_version(facts) or _refuse_session(facts, session)
        if refused is not None:
            return refused
        assert session is not None  # noqa: S101 - `_refuse_session` has seen to it; for the type checker
        if not facts.accepts_event_stream:
            return self.refuse_stream(facts)
        return OpenStream(session.id, _speaks(facts, session).version)

    def refuse_stream(self, facts: HttpFacts) -> Reply:
        """The answer to a GET of a client that does not take the stream which it would get."""
        return refusal(406, f"a GET answers with text/event-stream; accept is {preview(facts.accept)}")

    def decide_delete(self, facts: HttpFacts, session: Session | None) -> EndSession | Reply:
        """What to do about a DELETE: the session ends, and is unknown for ever after."""
        refused = _refuse_version(facts) or _refuse_session(facts, session)
        if refused is not None:
            return refused
        assert session is not None  # noqa: S101 - `_refuse_session` has seen to it; for the type checker
        return EndSession(session.id)

    def initialize_reply(
        self, decision: OpenSession, session: Session, instructions: str | None = None, offer: Offer | None = None
    ) -> Reply:
        """The answer to `initialize` once the session exists. It alone carries the session header.

        `instructions` is what clients put into the prompt of their model, None for nothing. `offer` is what is
        declared, tools alone where it is not given.
        """
        revision = REVISIONS[decision.protocol_version]
        title = self._server.title if revision.title else None
        declared = capabilities(Offer() if offer is None else offer, revision)
        result = InitializeResult(
            protocol_version=decision.protocol_version,
            capabilities=ServerCapabilities.model_validate(declared),
            server_info=Implementation(name=self._server.name, version=self._server.version, title=title),
            instructions=encodable(instructions) if instructions else None,
        )
        answer = self._answers.in_session(decision.request_id, encode(result))
        return Reply(answer.status, answer.body, (*answer.headers, (SESSION_HEADER, session.id)))

    def call_reply(self, decision: CallTool, outcome: ToolOutcome) -> CallReply:
        """The answer to a call that ran, or that has to ask its client first."""
        if outcome.input_required is not None:
            reply, problem = self._ask(decision, outcome.input_required)
            return CallReply(reply, problem is not None, problem)
        made = wire_result(decision.call.entry, outcome, self._content_version(decision.version))
        return CallReply(self._result(decision, made.body), made.is_error, made.problem)

    def task_created_reply(self, decision: CallTool, task: Task) -> Reply:
        """The answer to a call that goes on as a task. Only where `decision.may_become_task`."""
        return self._answers.stateless(decision.request_id, encode(created_members(task)), kind=TASK)

    def refused_tool_reply(self, decision: HiddenOrUnknownTool | CallTool, reason: str) -> Reply:
        """The answer to a call that may not run, because its tool is hidden now or for another reason of this moment.

        A result, so that the model reads the reason.
        """
        return self._result(decision, error_result(reason))

    def unknown_tool_reply(self, decision: HiddenOrUnknownTool) -> Reply:
        """The answer to a call of a tool that does not exist."""
        return error_reply(decision.request_id, ErrorCode.INVALID_PARAMS, str(decision.unknown))

    def read_reply(self, decision: ReadResource, outcome: ResourceOutcome) -> Reply:
        """The answer to a reading, or what its client is asked first."""
        if outcome.input_required is not None:
            return self._ask(decision, outcome.input_required)[0]
        body = encode({"contents": list(outcome.contents)})
        if decision.stateless is None:
            return self._answers.in_session(decision.request_id, body)
        usual = None if self._stateless is None else self._stateless.hints.get("resources/read")
        cache = outcome.cache or usual or NOT_KEPT
        return self._answers.stateless(decision.request_id, body, cache=cache)

    def missing_resource_reply(self, decision: ReadResource) -> Reply:
        """The answer to a reading of what turned out not to exist."""
        code = REVISIONS[decision.version].missing_resource
        return missing_resource_error(decision.request_id, decision.read.uri, code)

    def prompt_reply(self, decision: GetPrompt, outcome: PromptOutcome) -> Reply:
        """The messages of a prompt, or what its client is asked first."""
        if outcome.input_required is not None:
            return self._ask(decision, outcome.input_required)[0]
        revision = REVISIONS[self._content_version(decision.version)]
        body: dict[str, object] = {"messages": [_fit_message(message, revision) for message in outcome.messages]}
        description = outcome.description or decision.prompt.definition.description
        if description is not None:
            body["description"] = description
        return self._result(decision, encode(body))

    def completion_reply(self, decision: Complete, outcome: CompletionOutcome) -> Reply:
        """Suggestions."""
        return self._result(decision, encode({"completion": completion_members(outcome)}))

    def empty_reply(self, decision: Asked) -> Reply:
        """The answer to a request that wanted something done, and is done."""
        return self._result(decision, b"{}")

    def failure_reply(self, decision: Asked, reason: str, code: ErrorCode = ErrorCode.INTERNAL_ERROR) -> Reply:
        """The answer to a request that could not be carried out. For calls of tools there is `call_reply` instead."""
        return error_reply(decision.request_id, code, reason)

    def malformed_answer_reply(self, decision: Asked, reason: str) -> Reply:
        """The answer to a request that brought an answer which is none, as `MalformedAnswer` says."""
        return error_reply(decision.request_id, ErrorCode.INVALID_PARAMS, reason)

    def task_reply(self, decision: GetTask, task: Task) -> Reply:
        """How a task is, with its result once there is one."""
        return self._result(decision, encode(task_members(task)))

    def unknown_task_reply(self, decision: GetTask | UpdateTask | CancelTaskDecision) -> Reply:
        """The answer about a task that does not exist, or not for this caller."""
        reason = f"there is no task {preview(decision.task_id)}; it may have expired, or given way to newer ones"
        return error_reply(decision.request_id, ErrorCode.INVALID_PARAMS, reason)

    def listen_end_reply(self, decision: Listen) -> Reply:
        """The last message of a stream of subscriptions that the server ends."""
        meta = b',"%b":%b' % (SUBSCRIPTION_CLAIM.encode(), to_json(decision.request_id))
        return self._answers.stateless(decision.request_id, b"{}", meta=meta)

    def batch_reply(self, bodies: Iterable[bytes]) -> Reply | Accepted:
        """The answer to a batch: its answers as one array, or nothing where it held no request."""
        answers = tuple(bodies)
        return Reply(200, encode_batch(answers)) if answers else Accepted()

    def _content_version(self, version: str) -> str:
        """The revision whose content a client knows that has agreed on `version`. They sort by their dates."""
        return max(version, self._oldest_content)

    def _result(self, decision: Asked, body: bytes) -> Reply:
        if isinstance(decision, SetLogLevel | Subscribe | Unsubscribe) or decision.stateless is None:
            return self._answers.in_session(decision.request_id, body)
        return self._answers.stateless(decision.request_id, body)

    def _ask(self, decision: CallTool | ReadResource | GetPrompt, required: InputRequired) -> tuple[Reply, str | None]:
        """What the client is asked before the request can go on, and what the log should know."""
        facts, revision = decision.stateless, REVISIONS[decision.version]
        if facts is None or self._stateless is None:
            return _ask_in_session(decision, required, revision)
        asked = keep(required.requests, lambda request: possible(request, facts.client, revision))
        if required.requests and not asked:
            lacking = facts.client.lacking(all_needs(required.requests.values()))
            return _missing_capability(decision.request_id, lacking), None
        body: dict[str, Any] = {}
        if asked:
            body["inputRequests"] = {key: wire_request(request, revision) for key, request in asked.items()}
        try:
            if required.state is not None:
                body["requestState"] = self._stateless.sealer.seal(required.state, facts.binding, once=required.once)
            encoded = encode(body)
        except ValueError as error:
            problem = f"what the client is to be asked cannot be sent: {error}"
            return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, problem), problem
        return self._answers.stateless(decision.request_id, encoded, kind=INPUT_REQUIRED), None


def _not_allowed(reason: str, allowed: str) -> Reply:
    refused = refusal(405, reason)
    return Reply(refused.status, refused.body, (*refused.headers, ("allow", allowed)))


def _missing_capability(request_id: RequestId, lacking: Iterable[Capability]) -> Reply:
    data = {"requiredCapabilities": required_capabilities(lacking)}
    reason = "the client has to be asked before this can go on, and has not declared that it can be asked"
    return error_reply(request_id, ErrorCode.MISSING_CAPABILITY, reason, 400, data)


def _ask_in_session(
    decision: CallTool | ReadResource | GetPrompt, required: InputRequired, revision: Revision
) -> tuple[Reply, str | None]:
    """In a session questions are asked while the call runs. What can be told at its end is which pages to visit."""
    pages = [request for request in required.requests.values() if isinstance(request, ElicitUrl)]
    named = pages and len(pages) == len(required.requests) and all(page.elicitation_id for page in pages)
    if named and revision.url_elicitation_error:
        data = {"elicitations": [wire_request(page, revision)["params"] for page in pages]}
        reason = "the user has to visit a page first; send the request again afterwards"
        return error_reply(decision.request_id, ErrorCode.URL_ELICITATION_REQUIRED, reason, data=data), None
    problem = "a question was left to the end of a request, where a client with a session cannot be asked any more"
    return error_reply(decision.request_id, ErrorCode.INTERNAL_ERROR, problem), problem


def _fit_message(message: PromptMessage, revision: Revision) -> object:
    return {"role": message.role, "content": fit_block(message.content, revision)}


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
    """400 where header or body name a revision that has no sessions."""
    for named in (*facts.versions, claim):
        if named is None or (isinstance(named, str) and speaks_in_sessions(named)):
            continue
        reason = f"protocol version {preview(named)} is not served; these are: {', '.join(SESSION_VERSIONS)}"
        requested = encodable(named[:ECHOED_VERSION_CHARS]) if isinstance(named, str) else preview(named)
        data = {"supported": list(SESSION_VERSIONS), "requested": requested}
        return error_reply(request_id, ErrorCode.UNSUPPORTED_VERSION, reason, 400, data)
    return None


def _revision(facts: HttpFacts, message: Message, session: Session | None) -> Revision | Reply:
    """The revision that rules a POST of a session. A claim in the body is one of the other generation."""
    claim = claimed_version(message.params) if isinstance(message, Request | Notification) else None
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


def _decide_batch(batch: Batch, scene: Scene) -> Decision:
    if not batch.items:
        return refusal(400, "the array of messages is empty; send at least one")
    return RunBatch(tuple(_decide_item(item, scene) for item in batch.items))


def _decide_item(item: Request | Notification | Response | ParseFault, scene: Scene) -> ItemDecision:
    if isinstance(item, ParseFault):
        return error_reply(item.id, item.code, item.reason)
    if isinstance(item, Request) and item.method == INITIALIZE:
        reason = f"{item.method} must not be part of an array of messages; send it alone"
        return error_reply(item.id, ErrorCode.INVALID_REQUEST, reason)
    return decide_in_session(item, scene)


def _initialize(request: Request, session: Session | None) -> OpenSession | Reply:
    if session is not None and session.negotiated:
        reason = "this session is initialized already; send initialize without a session id to open another one"
        return error_reply(request.id, ErrorCode.INVALID_REQUEST, reason, 400)
    version = request.params.get("protocolVersion")
    if not isinstance(version, str):
        got = "absent" if version is None else json_type(version)
        return invalid_params(request, f"params.protocolVersion must be a string such as '2025-11-25'; it is {got}")
    for member in ("capabilities", "clientInfo"):
        value = request.params.get(member, {})
        if not isinstance(value, Mapping):
            return invalid_params(request, f"params.{member} must be an object, not {json_type(value)}")
    client = cast("JsonObject", request.params.get("clientInfo", {}))
    declared = ClientCapabilities.read(request.params.get("capabilities", {}))
    return OpenSession(
        request.id,
        negotiate(version),
        client_text(client.get("name")),
        client_text(client.get("version")),
        None if session is None else session.id,
        # What cannot be read is as if it were not there: older clients wrote all sorts of things.
        declared if isinstance(declared, ClientCapabilities) else NO_CAPABILITIES,
    )
