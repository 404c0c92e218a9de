"""What is to be done about a message: the values that the handler answers with and a transport carries out.

Owns these values only. Match them all: a kind that a transport forgets is a fault of its types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from protocol.client_capabilities import NO_CAPABILITIES, ClientCapabilities
from protocol.completion import PreparedCompletion
from protocol.jsonrpc import RequestId, Response
from protocol.log_level import LogLevel
from protocol.prepared_call import PreparedCall, UnknownTool
from protocol.prompt import PreparedPrompt
from protocol.resource import PreparedRead
from protocol.stateless_facts import StatelessFacts
from protocol.subscription import SubscriptionFilter
from protocol.tool import JsonObject

JSON_HEADERS: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
"""The headers of an answer that holds one JSON-RPC message."""

NO_ARGUMENTS: JsonObject = MappingProxyType({})
"""The arguments of a call that has none."""


@dataclass(frozen=True, slots=True)
class RefusedCall:
    """A call of a tool that cannot run as it came, and why."""

    name: str
    arguments: JsonObject
    reason: str
    stateless: StatelessFacts | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer is known. `body` is JSON-RPC, or empty. `refused` is the call that it refuses, where it is one.

    Direct: send it as it stands. On an HTTP+SSE stream: below status 400 the body goes out as an event and the POST is
    answered with 202; from 400 on the POST itself is answered with it, since the message never became part of the talk.
    """

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = JSON_HEADERS
    refused: RefusedCall | None = None


@dataclass(frozen=True, slots=True)
class Accepted:
    """Answer 202 with an empty body: nothing else will come. `initialized` marks the client's "I am ready"."""

    initialized: bool = False


@dataclass(frozen=True, slots=True)
class CancelCall:
    """Cancel the call if it still runs, and answer 202 with an empty body in any case."""

    session_id: str
    request_id: RequestId
    reason: str | None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """`initialize` is in order: open a session, or negotiate `session_id`, which a stream opened before.

    Then answer with `Handler.initialize_reply`.
    """

    request_id: RequestId
    protocol_version: str
    client_name: str | None
    client_version: str | None
    session_id: str | None
    capabilities: ClientCapabilities = NO_CAPABILITIES


@dataclass(frozen=True, slots=True)
class CallTool:
    """Run the tool, then answer with `Handler.call_reply`. Arguments match the schema already.

    `session_id` is empty, and `stateless` is there, where the call came without a session. With `may_become_task` the
    tool may say that it goes on as a task: then create one, and answer with `Handler.task_created_reply`.
    """

    request_id: RequestId
    session_id: str
    version: str
    call: PreparedCall
    progress_token: RequestId | None
    stateless: StatelessFacts | None = None
    may_become_task: bool = False


@dataclass(frozen=True, slots=True)
class HiddenOrUnknownTool:
    """No visible tool has the name. Answer with `Handler.refused_tool_reply` where it exists but is hidden now, else
    with `Handler.unknown_tool_reply`.
    """

    request_id: RequestId
    unknown: UnknownTool
    stateless: StatelessFacts | None = None
    arguments: JsonObject = field(default_factory=lambda: NO_ARGUMENTS)

    @property
    def name(self) -> str:
        """The name that was called."""
        return self.unknown.name


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadResource:
    """Read the resource, then answer with `Handler.read_reply`.

    Where it turns out not to exist answer with `Handler.missing_resource_reply`, where it cannot be read with
    `Handler.failure_reply`.
    """

    request_id: RequestId
    session_id: str
    version: str
    read: PreparedRead
    progress_token: RequestId | None = None
    stateless: StatelessFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GetPrompt:
    """Run the prompt, then answer with `Handler.prompt_reply`, or `Handler.failure_reply`."""

    request_id: RequestId
    session_id: str
    version: str
    prompt: PreparedPrompt
    progress_token: RequestId | None = None
    stateless: StatelessFacts | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Complete:
    """Ask the completer, then answer with `Handler.completion_reply`, or `Handler.failure_reply`."""

    request_id: RequestId
    session_id: str
    version: str
    completion: PreparedCompletion
    stateless: StatelessFacts | None = None


@dataclass(frozen=True, slots=True)
class SetLogLevel:
    """From now on the session gets log messages from this level on. Answer with `Handler.empty_reply`."""

    request_id: RequestId
    session_id: str
    level: LogLevel


@dataclass(frozen=True, slots=True)
class Subscribe:
    """The session watches a resource from now on. Answer with `Handler.empty_reply`."""

    request_id: RequestId
    session_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """The session watches a resource no more. Answer with `Handler.empty_reply`."""

    request_id: RequestId
    session_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class ClientAnswered:
    """The client has answered a request of ours, or believes so. Answer 202 with an empty body in any case."""

    session_id: str
    response: Response


@dataclass(frozen=True, slots=True)
class RootsChanged:
    """The client works in other folders now. Answer 202 with an empty body."""

    session_id: str


@dataclass(frozen=True, slots=True)
class Listen:
    """Open an event stream that stays open. Its first message is `acknowledged(request_id, kept)`; afterwards go what
    `kept` names and nothing else, each with the id. Where the server ends it, its last is `Handler.listen_end_reply`.
    """

    request_id: RequestId
    version: str
    kept: SubscriptionFilter
    stateless: StatelessFacts


@dataclass(frozen=True, slots=True)
class GetTask:
    """Answer with `Handler.task_reply`, or with `Handler.unknown_task_reply` where the principal has no such task."""

    request_id: RequestId
    task_id: str
    stateless: StatelessFacts


@dataclass(frozen=True, slots=True)
class UpdateTask:
    """Give the task the answers that it waits for, and answer with `Handler.empty_reply`, or as `GetTask`."""

    request_id: RequestId
    task_id: str
    answers: Mapping[str, object]
    stateless: StatelessFacts


@dataclass(frozen=True, slots=True)
class CancelTask:
    """Cancel the task if it still runs; answer with `Handler.empty_reply` in any case, or as `GetTask`."""

    request_id: RequestId
    task_id: str
    stateless: StatelessFacts


@dataclass(frozen=True, slots=True)
class RunBatch:
    """Carry out each item, all at once if you like; then answer with `Handler.batch_reply` on the bodies of those that
    have one, in any order. Items are of one session, and never open it.
    """

    items: tuple[ItemDecision, ...]


@dataclass(frozen=True, slots=True)
class OpenStream:
    """Open the stream of notifications of the session."""

    session_id: str
    version: str


@dataclass(frozen=True, slots=True)
class EndSession:
    """End the session, its stream and its calls, and answer 204 with an empty body."""

    session_id: str


ItemDecision = (
    Reply
    | Accepted
    | CancelCall
    | CallTool
    | HiddenOrUnknownTool
    | ReadResource
    | GetPrompt
    | Complete
    | SetLogLevel
    | Subscribe
    | Unsubscribe
    | ClientAnswered
    | RootsChanged
)
"""What one message of a session can come to. Those with a `stateless` member can come without one too."""

StatelessDecision = (
    Reply
    | Accepted
    | CallTool
    | HiddenOrUnknownTool
    | ReadResource
    | GetPrompt
    | Complete
    | Listen
    | GetTask
    | UpdateTask
    | CancelTask
)
"""What a message without a session can come to."""

Decision = ItemDecision | StatelessDecision | OpenSession | RunBatch

Asked = (
    CallTool
    | HiddenOrUnknownTool
    | ReadResource
    | GetPrompt
    | Complete
    | SetLogLevel
    | Subscribe
    | Unsubscribe
    | Listen
    | GetTask
    | UpdateTask
    | CancelTask
)
"""The decisions about requests: each waits for a reply with its `request_id`."""
