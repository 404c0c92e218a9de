"""What is to be done about a message: the values that the handler answers with and a transport carries out.

Owns these values only. Match them all: a kind that a transport forgets is a fault of its types.
"""

from __future__ import annotations

from dataclasses import dataclass

from protocol.jsonrpc import RequestId
from protocol.prepared_call import PreparedCall, UnknownTool

JSON_HEADERS: tuple[tuple[str, str], ...] = (("content-type", "application/json"),)
"""The headers of an answer that holds one JSON-RPC message."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer is known. `body` is JSON-RPC, or empty.

    Direct: send it as it stands. On an HTTP+SSE stream: below status 400 the body goes out as an event and the POST is
    answered with 202; from 400 on the POST itself is answered with it, since the message never became part of the talk.
    """

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = JSON_HEADERS


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


@dataclass(frozen=True, slots=True)
class CallTool:
    """Run the tool, then answer with `Handler.call_reply`. Arguments match the schema already."""

    request_id: RequestId
    session_id: str
    version: str
    call: PreparedCall
    progress_token: RequestId | None


@dataclass(frozen=True, slots=True)
class HiddenOrUnknownTool:
    """No visible tool has the name. Answer with `Handler.refused_tool_reply` where it exists but is hidden now, else
    with `Handler.unknown_tool_reply`.
    """

    request_id: RequestId
    unknown: UnknownTool

    @property
    def name(self) -> str:
        """The name that was called."""
        return self.unknown.name


@dataclass(frozen=True, slots=True)
class RunBatch:
    """Carry out each item, all at once if you like; then answer with `Handler.batch_reply` on the bodies of those that
    have one, in any order. Items are never `OpenSession`.
    """

    items: tuple[Reply | Accepted | CancelCall | CallTool | HiddenOrUnknownTool, ...]


@dataclass(frozen=True, slots=True)
class OpenStream:
    """Open the stream of notifications of the session."""

    session_id: str
    version: str


@dataclass(frozen=True, slots=True)
class EndSession:
    """End the session, its stream and its calls, and answer 204 with an empty body."""

    session_id: str


ItemDecision = Reply | Accepted | CancelCall | CallTool | HiddenOrUnknownTool
Decision = ItemDecision | OpenSession | RunBatch
