"""What the sessions actor is told and what it answers: messages, replies, and the claim that stands for a call.

Owns these values alone. The actor in `actors.sessions` handles them. Source: remote-mcp, "Sessions" and "Production
Hardening".
"""

from __future__ import annotations

from dataclasses import dataclass

import trio

from actors.actor import Message
from actors.event_log import EventLog
from actors.outbox import Outbox
from actors.published import Published
from actors.questions import Question
from protocol.call_table import CallHandle, TooManyCalls
from protocol.client_capabilities import NO_CAPABILITIES, ClientCapabilities
from protocol.client_requests import NotAsked
from protocol.input_request import InputRequest
from protocol.jsonrpc import RequestId, Response
from protocol.log_level import LogLevel
from protocol.session import EVERYBODY, Audience, Session
from protocol.subscription import ListKind


@dataclass(frozen=True, slots=True)
class ListFollowing:
    """How a client keeps up with the tool list: the revision it listed last, and whether it follows announcements.

    `follows` is False once it has let an announcement pass without listing again; nobody waits for it after that.
    """

    revision: int = -1
    follows: bool = True


class CallClaim:
    """A call that a request announces, before anybody knows whether it will run. Cancelling it cancels what it became.

    Made by the request, cancelled by the sessions actor (a cancellation, the end of the session) or by the request.
    """

    __slots__ = ("_cancelled", "_scopes", "because", "request_id")

    def __init__(self, request_id: RequestId) -> None:
        self.request_id = request_id
        self.because: str | None = None
        """Why it was cancelled, where that was not its client."""
        self._scopes: list[trio.CancelScope] = []
        self._cancelled = False

    @property
    def cancelled(self) -> bool:
        """Whether it was cancelled."""
        return self._cancelled

    def attach(self, scope: trio.CancelScope) -> None:
        """Let this scope be cancelled with the claim; at once, when that has happened already."""
        self._scopes.append(scope)
        if self._cancelled:
            scope.cancel()

    def cancel(self, because: str | None = None) -> None:
        """Cancel what runs for this claim, now or later. Idempotent; the first reason counts."""
        if not self._cancelled:
            self.because = because
        self._cancelled = True
        for scope in self._scopes:
            scope.cancel()


@dataclass(frozen=True, slots=True)
class ActiveSession:
    """A session in which an activity has begun. `following` and `log_level` are published by the sessions actor.

    `calls` are the handles of the claims that came with it, or the reason why there can be no more calls. A request
    without a session has a session to itself here, which is in no table: nobody else can name it.
    """

    session: Session
    following: Published[ListFollowing]
    has_stream: bool
    log_level: Published[LogLevel | None]
    claims: tuple[CallClaim, ...] = ()
    calls: tuple[CallHandle, ...] = ()
    refused: TooManyCalls | None = None

    def claim_for(self, request_id: RequestId) -> CallClaim:
        """The claim that a call of this id runs under."""
        return next(claim for claim in self.claims if claim.request_id == request_id)


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as `/status` shows it."""

    session: Session
    has_stream: bool
    calls: int


@dataclass(frozen=True, slots=True)
class EndpointCounters:
    """What came in and went out since the start. Times are epoch seconds."""

    post_count: int
    initialize_count: int
    tools_list_count: int
    tools_call_count: int
    list_changed_count: int
    last_list_changed_at: float | None
    last_method: str | None
    last_error: str | None


@dataclass(frozen=True, slots=True)
class SessionsStatus:
    """The sessions and the counters."""

    sessions: tuple[SessionRow, ...]
    counters: EndpointCounters


@dataclass(frozen=True, slots=True)
class OpenSession(Message[Session]):
    """Open a session for a client that has sent `initialize`. Raises `SessionTableFullError`."""

    protocol_version: str
    client_name: str | None
    client_version: str | None
    audience: Audience = EVERYBODY
    capabilities: ClientCapabilities = NO_CAPABILITIES


@dataclass(frozen=True, slots=True)
class OpenStreamSession(Message[Session]):
    """Open a session for a stream that may send `initialize` later, or never. Raises `SessionTableFullError`."""

    audience: Audience = EVERYBODY


@dataclass(frozen=True, slots=True)
class Presented:
    """A session that has its tools in another form now, and whose list it had before."""

    session: Session
    before: Audience


@dataclass(frozen=True, slots=True)
class PresentSession(Message[Presented | None]):
    """Let a session have its tools in this form from now on (None: as its agent has them). None for an unknown one.

    Nothing is announced: whether its list differs is for the asker to say, with `AnnounceTo`.
    """

    session_id: str
    presentation: str | None


@dataclass(frozen=True, slots=True)
class Negotiate(Message[Session | None]):
    """Note what `initialize` agreed on in a session that a stream opened. None when the session is gone."""

    session_id: str
    protocol_version: str
    client_name: str | None
    client_version: str | None
    capabilities: ClientCapabilities = NO_CAPABILITIES


@dataclass(frozen=True, slots=True)
class MarkInitialized(Message[None]):
    """The client has sent `notifications/initialized`."""

    session_id: str


@dataclass(frozen=True, slots=True)
class Begin(Message[ActiveSession | None]):
    """A request of that session begins, with the calls that it announces; None for an unknown session.

    Sessions that are too old are pruned first. Of the claims all are taken or none. A session is known only at the
    endpoint of its own agent.
    """

    session_id: str
    claims: tuple[CallClaim, ...] = ()
    agent: str = EVERYBODY.agent


@dataclass(frozen=True, slots=True)
class BeginAlone(Message[ActiveSession]):
    """A request without a session begins, with what it announces. It counts towards the calls of all sessions, and
    towards those of its `principal`.
    """

    version: str
    audience: Audience
    claims: tuple[CallClaim, ...]
    principal: str = ""


@dataclass(frozen=True, slots=True)
class Posted:
    """What a POST was: its methods, and the text of the error it was answered with, if it was."""

    methods: tuple[str, ...]
    error: str | None = None


@dataclass(frozen=True, slots=True)
class End(Message[None]):
    """A request has ended, with its calls. `active` is None for one that named no session that exists.

    `listed` is the revision of the tool list that its client has been told.
    """

    active: ActiveSession | None
    posted: Posted | None = None
    listed: int | None = None


@dataclass(frozen=True, slots=True)
class DeleteSession(Message[bool]):
    """End a session with its stream and its calls. False for an unknown one."""

    session_id: str


@dataclass(frozen=True, slots=True)
class OpenStream(Message[Outbox | None]):
    """Open the stream of a session; None for an unknown one. A newer stream replaces the older, which ends.

    The frames given come first, then the announcement that the list may have changed, then what else changed while
    there was no stream. With `after` its client comes back: what it has missed since that event comes before.
    """

    session_id: str
    first: tuple[bytes, ...] = ()
    after: int | None = None


@dataclass(frozen=True, slots=True)
class CloseStream(Message[None]):
    """That stream of the session has ended. An older one that was replaced is ignored."""

    session_id: str
    outbox: Outbox


@dataclass(frozen=True, slots=True)
class CloseStreams(Message[None]):
    """End every stream, cleanly: what is queued is still written. One that is opened afterwards ends at once."""


@dataclass(frozen=True, slots=True)
class Push(Message[bool]):
    """Queue a frame for the stream of a session. False when it has none, or none that keeps up."""

    session_id: str
    frame: bytes


@dataclass(frozen=True, slots=True)
class OpenAnswerStream(Message[EventLog | None]):
    """Begin the stream of one answer, which its client can come back for; None for an unknown session."""

    session_id: str


@dataclass(frozen=True, slots=True)
class FoundStream:
    """A stream that a client comes back for. `of_session` says that it is the session's own: open it anew."""

    log: EventLog
    of_session: bool


@dataclass(frozen=True, slots=True)
class FindStream(Message[FoundStream | None]):
    """The stream of that name; None where the session has none, or it is kept no more."""

    session_id: str
    name: str


@dataclass(frozen=True, slots=True)
class Announce(Message[None]):
    """Tell every stream that a list has changed, but for those of sessions of an audience that is named.

    A session that has no stream is told of lists other than that of tools when it opens one.
    """

    unless_of: frozenset[Audience] = frozenset()
    kind: ListKind = ListKind.TOOLS


@dataclass(frozen=True, slots=True)
class AnnounceResources(Message[None]):
    """Tell a session that resources which it watches have changed, now or when it opens a stream."""

    session_id: str
    uris: frozenset[str]


@dataclass(frozen=True, slots=True)
class AnnounceTo(Message[None]):
    """Tell the stream of this session alone that its tool list has changed. One without a stream hears nothing."""

    session_id: str


@dataclass(frozen=True, slots=True)
class NoteUnfollowed(Message[None]):
    """The client was told of a change of the list, and did not ask for that revision in time."""

    session_id: str
    revision: int


@dataclass(frozen=True, slots=True)
class CancelCall(Message[bool]):
    """Cancel the call that this request id means. False when there is none (it has ended, or was cancelled, already).

    Of several calls with that id it is the one that began first and was not cancelled yet.
    """

    session_id: str
    request_id: RequestId


@dataclass(frozen=True, slots=True)
class SetLogLevel(Message[None]):
    """The client wants log messages from this level on."""

    session_id: str
    level: LogLevel


@dataclass(frozen=True, slots=True)
class Watch(Message[trio.Event | None]):
    """The client watches a resource. The reply is set when the session ends; None where it has ended already.

    Raises `TooManySubscriptionsError`.
    """

    session_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class Unwatch(Message[None]):
    """The client watches a resource no more."""

    session_id: str
    uri: str


@dataclass(frozen=True, slots=True)
class AskClient(Message[tuple[Question, ...] | NotAsked]):
    """Prepare questions for a client, all or none. Whoever asks sends them, and forgets those it waits for no more."""

    session_id: str
    requests: tuple[InputRequest, ...]


@dataclass(frozen=True, slots=True)
class TakeAnswer(Message[bool]):
    """A client has answered. False where nobody waits for that."""

    session_id: str
    response: Response


@dataclass(frozen=True, slots=True)
class ForgetQuestions(Message[None]):
    """Nobody waits for the answers to these any more."""

    session_id: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class NoteError(Message[None]):
    """A request was refused before it was handled; it counts as nothing but the last error."""

    error: str


@dataclass(frozen=True, slots=True)
class CountSessions(Message[int]):
    """How many sessions there are now."""


@dataclass(frozen=True, slots=True)
class ReadSessions(Message[SessionsStatus]):
    """The sessions and the counters now."""
