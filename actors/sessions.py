"""The sessions actor: sole owner of the MCP sessions, their open streams, their calls in flight, and the counters.

A session that ends (deleted, expired, evicted) takes its stream and its calls along. Streams are outboxes: this actor
writes into them and never waits for their readers. What it is told and what it answers stands in
`actors.session_messages`. Source: remote-mcp, "Sessions" and "Production Hardening".
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar

import structlog
import trio

from actors import ranks
from actors.actor import Actor, handles
from actors.change_counter import ChangeCounter
from actors.event_log import RETRY_FRAME, EventLog
from actors.event_store import EventStore
from actors.outbox import Outbox
from actors.published import Published
from actors.questions import Question, Questions
from actors.session_messages import (
    ActiveSession,
    Announce,
    AnnounceResources,
    AnnounceTo,
    AskClient,
    Begin,
    BeginAlone,
    CallClaim,
    CancelCall,
    CloseStream,
    CloseStreams,
    CountSessions,
    DeleteSession,
    End,
    EndpointCounters,
    FindStream,
    ForgetQuestions,
    FoundStream,
    ListFollowing,
    MarkInitialized,
    Negotiate,
    NoteError,
    NoteUnfollowed,
    OpenAnswerStream,
    OpenSession,
    OpenStream,
    OpenStreamSession,
    Posted,
    Presented,
    PresentSession,
    Push,
    ReadSessions,
    SessionRow,
    SessionsStatus,
    SetLogLevel,
    TakeAnswer,
    Unwatch,
    Watch,
)
from protocol.call_table import CallHandle, CallTable, TooManyCalls
from protocol.client_requests import NotAsked
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.log_level import LogLevel
from protocol.notifications import list_changed, resource_updated
from protocol.session import (
    SESSION_TTL_SECONDS,
    Session,
    SessionTable,
    SessionTableFullError,
    TooManySubscriptionsError,
)
from protocol.sse import encode_message
from protocol.subscription import ListKind
from protocol.versions import REVISIONS

__all__ = [
    "ActiveSession",
    "Announce",
    "AnnounceResources",
    "AnnounceTo",
    "AskClient",
    "Begin",
    "BeginAlone",
    "CallClaim",
    "CancelCall",
    "CloseStream",
    "CloseStreams",
    "CountSessions",
    "DeleteSession",
    "End",
    "EndpointCounters",
    "FindStream",
    "ForgetQuestions",
    "FoundStream",
    "ListFollowing",
    "MarkInitialized",
    "Negotiate",
    "NoteError",
    "NoteUnfollowed",
    "OpenAnswerStream",
    "OpenSession",
    "OpenStream",
    "OpenStreamSession",
    "Posted",
    "PresentSession",
    "Presented",
    "Push",
    "ReadSessions",
    "SessionBook",
    "SessionRow",
    "SessionsActor",
    "SessionsStatus",
    "SetLogLevel",
    "TakeAnswer",
    "Unwatch",
    "Watch",
]

_SESSION_ENDED = "its session has ended"

_log = structlog.stdlib.get_logger("mcp")


@dataclass(slots=True)
class _Attachment:
    """What hangs on one session beside its record."""

    following: Published[ListFollowing] = field(default_factory=lambda: Published(ListFollowing()))
    log_level: Published[LogLevel | None] = field(default_factory=lambda: Published[LogLevel | None](None))
    outbox: Outbox | None = None
    log: EventLog | None = None
    """The events of its stream, once it had one that can be resumed."""
    missed: dict[ListKind | str, None] = field(default_factory=dict[ListKind | str, None])
    """What has changed while there was no stream: lists, and resources that it watches."""
    ended: trio.Event = field(default_factory=trio.Event)
    """Set with the end of the session."""


@dataclass(slots=True)
class SessionBook:
    """What the actor owns. Each step changes it only after everything that can fail."""

    table: SessionTable
    calls: CallTable
    questions: Questions
    events: EventStore = field(default_factory=EventStore)
    attachments: dict[str, _Attachment] = field(default_factory=dict[str, _Attachment])
    claims: dict[int, CallClaim] = field(default_factory=dict[int, CallClaim])
    methods: Counter[str] = field(default_factory=Counter[str])
    post_count: int = 0
    list_changed_count: int = 0
    last_list_changed_at: float | None = None
    last_method: str | None = None
    last_error: str | None = None
    alone_count: int = 0
    """Requests without a session that had calls."""
    streams_closed: bool = False
    """Whether the engine is ending: a stream that is opened all the same has an end at once, and holds nothing up."""


class SessionsActor(Actor[SessionBook]):
    """Owns the sessions. Asks nobody."""

    name: ClassVar[str] = "sessions"
    rank: ClassVar[int] = ranks.SESSIONS
    domain_errors = (*Actor.domain_errors, SessionTableFullError, TooManySubscriptionsError)

    def __init__(
        self,
        *,
        ttl_seconds: float = SESSION_TTL_SECONDS,
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        table = SessionTable(ttl_seconds=ttl_seconds, limit=limits.sessions, subscriptions=limits.subscriptions)
        super().__init__(SessionBook(table, CallTable(limits), Questions(limits.client_requests)))
        self.changes = ChangeCounter()
        """Counts sessions that begin, end or are another, and their streams; not their calls."""
        self._clock = clock
        self._limits = limits
        self._announcements = {kind: encode_message(list_changed(kind)) for kind in ListKind}

    @handles(OpenSession)
    async def _open(self, message: OpenSession) -> Session:
        self._prune()
        opened = self.state.table.open(
            self._clock(),
            message.protocol_version,
            message.client_name,
            message.client_version,
            message.audience,
            message.capabilities,
        )
        return self._attach(opened.session, opened.evicted)

    @handles(OpenStreamSession)
    async def _open_for_stream(self, message: OpenStreamSession) -> Session:
        self._prune()
        opened = self.state.table.open_stream(self._clock(), message.audience)
        return self._attach(opened.session, opened.evicted)

    @handles(Negotiate)
    async def _negotiate(self, message: Negotiate) -> Session | None:
        if self.state.table.get(message.session_id) is None:
            return None
        self.changes.count()
        return self.state.table.negotiate(
            message.session_id,
            message.protocol_version,
            message.client_name,
            message.client_version,
            message.capabilities,
        )

    @handles(PresentSession)
    async def _present(self, message: PresentSession) -> Presented | None:
        before = self.state.table.get(message.session_id)
        session = self.state.table.present(message.session_id, message.presentation)
        if before is None or session is None:
            return None
        if session.audience != before.audience:
            # Each audience counts the revisions of its own list: what was listed says nothing about this one.
            self.state.attachments[session.id].following.publish(ListFollowing())
        self.changes.count()
        return Presented(session, before.audience)

    @handles(MarkInitialized)
    async def _mark_initialized(self, message: MarkInitialized) -> None:
        self.state.table.mark_initialized(message.session_id)
        self.changes.count()

    @handles(Begin)
    async def _begin(self, message: Begin) -> ActiveSession | None:
        book = self.state
        self._prune()
        known = book.table.get(message.session_id)
        if known is None or known.audience.agent != message.agent:
            return None
        session = book.table.begin(message.session_id, self._clock())
        if session is None:
            return None
        attachment = book.attachments[session.id]
        calls = self._begin_calls(session.id, message.claims)
        begun, refused = ((), calls) if isinstance(calls, TooManyCalls) else (calls, None)
        has_stream = _is_open(attachment.outbox)
        return ActiveSession(
            session, attachment.following, has_stream, attachment.log_level, message.claims, begun, refused
        )

    @handles(BeginAlone)
    async def _begin_alone(self, message: BeginAlone) -> ActiveSession:
        self.state.alone_count += 1
        now = self._clock()
        session = Session(
            id=f"request {self.state.alone_count}",
            protocol_version=message.version,
            created_at=now,
            last_seen=now,
            audience=message.audience,
        )
        calls = self._begin_calls(session.id, message.claims, message.principal)
        begun, refused = ((), calls) if isinstance(calls, TooManyCalls) else (calls, None)
        nobody = _Attachment()
        return ActiveSession(session, nobody.following, False, nobody.log_level, message.claims, begun, refused)

    @handles(End)
    async def _end(self, message: End) -> None:
        book, active = self.state, message.active
        if active is not None:
            self._end_calls(active.calls)
            book.table.end(active.session.id, self._clock())
            now = book.table.get(active.session.id)
            same_list = now is not None and now.audience == active.session.audience
            if message.listed is not None and same_list:
                active.following.publish(ListFollowing(max(active.following.value.revision, message.listed)))
        if message.posted is not None:
            book.post_count += 1
            book.methods.update(message.posted.methods)
            book.last_method = message.posted.methods[-1] if message.posted.methods else book.last_method
            book.last_error = message.posted.error

    @handles(DeleteSession)
    async def _delete(self, message: DeleteSession) -> bool:
        session = self.state.table.delete(message.session_id)
        if session is None:
            return False
        self._detach(session)
        return True

    @handles(OpenStream)
    async def _open_stream(self, message: OpenStream) -> Outbox | None:
        self._prune()
        attachment = self.state.attachments.get(message.session_id)
        session = self.state.table.get(message.session_id)
        if attachment is None or session is None:
            return None
        if attachment.log is None and REVISIONS[session.protocol_version].priming_event:
            attachment.log = EventLog()
        outbox = Outbox(self._limits.outbox_frames, attachment.log)
        if attachment.outbox is not None:
            attachment.outbox.close()
        else:
            self.state.table.begin(message.session_id, self._clock())
        attachment.outbox = outbox
        self.changes.count()
        if message.after is not None and attachment.log is not None:
            outbox.resume(attachment.log.after(message.after))
        outbox.prime()
        for frame in message.first:
            outbox.put(frame)
        self._announce_to(outbox, ListKind.TOOLS)
        missed, attachment.missed = attachment.missed, {}
        for what in missed:
            self._announce_to(outbox, what)
        if self.state.streams_closed:
            self._close(attachment)
        return outbox

    @handles(OpenAnswerStream)
    async def _open_answer_stream(self, message: OpenAnswerStream) -> EventLog | None:
        known = self.state.table.get(message.session_id) is not None
        return self.state.events.open(message.session_id) if known else None

    @handles(FindStream)
    async def _find_stream(self, message: FindStream) -> FoundStream | None:
        attachment = self.state.attachments.get(message.session_id)
        if attachment is not None and attachment.log is not None and attachment.log.name == message.name:
            return FoundStream(attachment.log, of_session=True)
        log = self.state.events.find(message.session_id, message.name)
        return None if log is None else FoundStream(log, of_session=False)

    @handles(CloseStream)
    async def _close_stream(self, message: CloseStream) -> None:
        message.outbox.close()
        attachment = self.state.attachments.get(message.session_id)
        if attachment is not None and attachment.outbox is message.outbox:
            attachment.outbox = None
            self.changes.count()
            self.state.table.end(message.session_id, self._clock())

    @handles(CloseStreams)
    async def _close_streams(self, message: CloseStreams) -> None:
        self.state.streams_closed = True
        for attachment in self.state.attachments.values():
            self._close(attachment)

    @handles(Push)
    async def _push(self, message: Push) -> bool:
        attachment = self.state.attachments.get(message.session_id)
        if attachment is None or attachment.outbox is None or not attachment.outbox.is_open:
            return False
        if attachment.outbox.put(message.frame):
            return True
        _log.warning("stream_overflow", session=message.session_id, frames=self._limits.outbox_frames)
        return False

    @handles(Announce)
    async def _announce(self, message: Announce) -> None:
        for session_id, attachment in self.state.attachments.items():
            session = self.state.table.get(session_id)
            if session is None or session.audience not in message.unless_of:
                self._tell(attachment, message.kind)

    @handles(AnnounceTo)
    async def _announce_one(self, message: AnnounceTo) -> None:
        attachment = self.state.attachments.get(message.session_id)
        if attachment is not None:
            self._tell(attachment, ListKind.TOOLS)

    @handles(AnnounceResources)
    async def _announce_resources(self, message: AnnounceResources) -> None:
        session = self.state.table.get(message.session_id)
        if session is not None:
            for uri in sorted(session.subscriptions & message.uris):
                self._tell(self.state.attachments[session.id], uri)

    @handles(NoteUnfollowed)
    async def _note_unfollowed(self, message: NoteUnfollowed) -> None:
        attachment = self.state.attachments.get(message.session_id)
        if attachment is not None and attachment.following.value.revision < message.revision:
            attachment.following.publish(ListFollowing(attachment.following.value.revision, follows=False))

    @handles(CancelCall)
    async def _cancel_call(self, message: CancelCall) -> bool:
        # Clients that give every request one id mean another call by each cancellation.
        for handle in self.state.calls.of_session(message.session_id):
            claim = self.state.claims[handle.serial]
            if handle.request_id == message.request_id and not claim.cancelled:
                claim.cancel()
                return True
        return False

    @handles(SetLogLevel)
    async def _set_log_level(self, message: SetLogLevel) -> None:
        if self.state.table.set_log_level(message.session_id, message.level) is not None:
            self.state.attachments[message.session_id].log_level.publish(message.level)

    @handles(Watch)
    async def _watch(self, message: Watch) -> trio.Event | None:
        known = self.state.table.subscribe(message.session_id, message.uri)
        return None if known is None else self.state.attachments[message.session_id].ended

    @handles(Unwatch)
    async def _unwatch(self, message: Unwatch) -> None:
        if self.state.table.unsubscribe(message.session_id, message.uri) is not None:
            self.state.attachments[message.session_id].missed.pop(message.uri, None)

    @handles(AskClient)
    async def _ask_client(self, message: AskClient) -> tuple[Question, ...] | NotAsked:
        session = self.state.table.get(message.session_id)
        if session is None:
            return NotAsked("the session has ended")
        return self.state.questions.ask(session, message.requests)

    @handles(TakeAnswer)
    async def _take_answer(self, message: TakeAnswer) -> bool:
        return self.state.questions.take(message.session_id, message.response)

    @handles(ForgetQuestions)
    async def _forget_questions(self, message: ForgetQuestions) -> None:
        self.state.questions.forget(message.session_id, message.ids)

    @handles(NoteError)
    async def _note_error(self, message: NoteError) -> None:
        self.state.last_error = message.error

    @handles(CountSessions)
    async def _count(self, message: CountSessions) -> int:
        self._prune()
        return len(self.state.table)

    @handles(ReadSessions)
    async def _read(self, message: ReadSessions) -> SessionsStatus:
        book = self.state
        rows = tuple(
            SessionRow(
                session,
                _is_open(book.attachments[session.id].outbox),
                len(book.calls.of_session(session.id)),
            )
            for session in book.table
        )
        counters = EndpointCounters(
            post_count=book.post_count,
            initialize_count=book.methods["initialize"],
            tools_list_count=book.methods["tools/list"],
            tools_call_count=book.methods["tools/call"],
            list_changed_count=book.list_changed_count,
            last_list_changed_at=book.last_list_changed_at,
            last_method=book.last_method,
            last_error=book.last_error,
        )
        return SessionsStatus(rows, counters)

    async def release(self) -> None:
        """End every stream; nobody would write into them any more."""
        for attachment in self.state.attachments.values():
            if attachment.outbox is not None:
                attachment.outbox.close()

    def _attach(self, session: Session, evicted: Session | None) -> Session:
        if evicted is not None:
            _log.warning("session_evicted", session=evicted.id)
            self._detach(evicted)
        self.state.attachments[session.id] = _Attachment()
        self.changes.count()
        return session

    def _detach(self, session: Session) -> None:
        attachment = self.state.attachments.pop(session.id)
        self.changes.count()
        attachment.ended.set()
        if attachment.outbox is not None:
            attachment.outbox.close()
        if attachment.log is not None:
            attachment.log.end()
        for handle in self.state.calls.of_session(session.id):
            self.state.claims[handle.serial].cancel(_SESSION_ENDED)
        self.state.questions.end_session(session.id)
        self.state.events.end_session(session.id)

    def _begin_calls(
        self, session_id: str, claims: tuple[CallClaim, ...], principal: str | None = None
    ) -> tuple[CallHandle, ...] | TooManyCalls:
        """Note all of these calls, or none of them and why."""
        book = self.state
        calls: list[CallHandle] = []
        for claim in claims:
            handle = book.calls.begin(session_id, claim.request_id, principal)
            if isinstance(handle, TooManyCalls):
                self._end_calls(calls)
                return handle
            calls.append(handle)
            book.claims[handle.serial] = claim
        return tuple(calls)

    def _end_calls(self, calls: Iterable[CallHandle]) -> None:
        for handle in calls:
            self.state.claims.pop(handle.serial, None)
            self.state.calls.end(handle)

    def _prune(self) -> None:
        for session in self.state.table.prune(self._clock()):
            _log.info("session_expired", session=session.id)
            self._detach(session)

    def _tell(self, attachment: _Attachment, what: ListKind | str) -> None:
        """Tell a session that a list, or a resource that it watches, has changed; later, where it has no stream."""
        if _is_open(attachment.outbox):
            assert attachment.outbox is not None  # noqa: S101 - for the type checker
            self._announce_to(attachment.outbox, what)
        elif what is not ListKind.TOOLS:
            # Every stream begins with word of the tools, so of them nothing needs to be kept.
            attachment.missed[what] = None

    def _announce_to(self, outbox: Outbox, what: ListKind | str) -> None:
        frame = self._announcements[what] if isinstance(what, ListKind) else encode_message(resource_updated(what))
        if outbox.announce(what, frame) and what is ListKind.TOOLS:
            self.state.list_changed_count += 1
            self.state.last_list_changed_at = self._clock()

    def _close(self, attachment: _Attachment) -> None:
        """End the stream of a session that stays; whoever can come back is told when."""
        if attachment.outbox is not None:
            attachment.outbox.close(None if attachment.log is None else RETRY_FRAME)


def _is_open(outbox: Outbox | None) -> bool:
    return outbox is not None and outbox.is_open
