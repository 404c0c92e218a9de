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

from actors import ranks
from actors.actor import Actor, handles
from actors.outbox import Outbox
from actors.published import Published
from actors.session_messages import (
    ActiveSession,
    Announce,
    AnnounceTo,
    Begin,
    CallClaim,
    CancelCall,
    CloseStream,
    CloseStreams,
    DeleteSession,
    End,
    EndpointCounters,
    ListFollowing,
    MarkInitialized,
    Negotiate,
    NoteError,
    NoteUnfollowed,
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
)
from protocol.call_table import CallHandle, CallTable, TooManyCalls
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.notifications import TOOLS_LIST_CHANGED
from protocol.session import SESSION_TTL_SECONDS, Session, SessionTable, SessionTableFullError
from protocol.sse import encode_message

__all__ = [
    "ActiveSession",
    "Announce",
    "AnnounceTo",
    "Begin",
    "CallClaim",
    "CancelCall",
    "CloseStream",
    "CloseStreams",
    "DeleteSession",
    "End",
    "EndpointCounters",
    "ListFollowing",
    "MarkInitialized",
    "Negotiate",
    "NoteError",
    "NoteUnfollowed",
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
]

_log = structlog.stdlib.get_logger("mcp")


@dataclass(slots=True)
class _Attachment:
    """What hangs on one session beside its record."""

    following: Published[ListFollowing] = field(default_factory=lambda: Published(ListFollowing()))
    outbox: Outbox | None = None


@dataclass(slots=True)
class SessionBook:
    """What the actor owns. Each step changes it only after everything that can fail."""

    table: SessionTable
    calls: CallTable
    attachments: dict[str, _Attachment] = field(default_factory=dict[str, _Attachment])
    claims: dict[int, CallClaim] = field(default_factory=dict[int, CallClaim])
    methods: Counter[str] = field(default_factory=Counter[str])
    post_count: int = 0
    list_changed_count: int = 0
    last_list_changed_at: float | None = None
    last_method: str | None = None
    last_error: str | None = None
    streams_closed: bool = False
    """Whether the engine is ending: a stream that is opened all the same has an end at once, and holds nothing up."""


class SessionsActor(Actor[SessionBook]):
    """Owns the sessions. Asks nobody."""

    name: ClassVar[str] = "sessions"
    rank: ClassVar[int] = ranks.SESSIONS
    domain_errors = (*Actor.domain_errors, SessionTableFullError)

    def __init__(
        self,
        *,
        ttl_seconds: float = SESSION_TTL_SECONDS,
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(SessionBook(SessionTable(ttl_seconds=ttl_seconds, limit=limits.sessions), CallTable(limits)))
        self._clock = clock
        self._limits = limits
        self._announcement = encode_message(TOOLS_LIST_CHANGED)

    @handles(OpenSession)
    async def _open(self, message: OpenSession) -> Session:
        self._prune()
        opened = self.state.table.open(
            self._clock(),
            message.protocol_version,
            message.client_name,
            message.client_version,
            message.audience,
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
        return self.state.table.negotiate(
            message.session_id, message.protocol_version, message.client_name, message.client_version
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
        return Presented(session, before.audience)

    @handles(MarkInitialized)
    async def _mark_initialized(self, message: MarkInitialized) -> None:
        self.state.table.mark_initialized(message.session_id)

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
        calls: list[CallHandle] = []
        refused: TooManyCalls | None = None
        for claim in message.claims:
            handle = book.calls.begin(session.id, claim.request_id)
            if isinstance(handle, TooManyCalls):
                refused = handle
                break
            calls.append(handle)
            book.claims[handle.serial] = claim
        if refused is not None:
            self._end_calls(calls)
            calls.clear()
        return ActiveSession(
            session, attachment.following, _is_open(attachment.outbox), message.claims, tuple(calls), refused
        )

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
        if attachment is None:
            return None
        outbox = Outbox(self._announcement, self._limits.outbox_frames)
        if attachment.outbox is not None:
            attachment.outbox.close()
        else:
            self.state.table.begin(message.session_id, self._clock())
        attachment.outbox = outbox
        for frame in message.first:
            outbox.put(frame)
        self._announce_to(outbox)
        if self.state.streams_closed:
            outbox.close()
        return outbox

    @handles(CloseStream)
    async def _close_stream(self, message: CloseStream) -> None:
        message.outbox.close()
        attachment = self.state.attachments.get(message.session_id)
        if attachment is not None and attachment.outbox is message.outbox:
            attachment.outbox = None
            self.state.table.end(message.session_id, self._clock())

    @handles(CloseStreams)
    async def _close_streams(self, message: CloseStreams) -> None:
        self.state.streams_closed = True
        for attachment in self.state.attachments.values():
            if attachment.outbox is not None:
                attachment.outbox.close()

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
            told = session is None or session.audience not in message.unless_of
            if attachment.outbox is not None and told:
                self._announce_to(attachment.outbox)

    @handles(AnnounceTo)
    async def _announce_one(self, message: AnnounceTo) -> None:
        attachment = self.state.attachments.get(message.session_id)
        if attachment is not None and attachment.outbox is not None:
            self._announce_to(attachment.outbox)

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

    @handles(NoteError)
    async def _note_error(self, message: NoteError) -> None:
        self.state.last_error = message.error

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
        return session

    def _detach(self, session: Session) -> None:
        attachment = self.state.attachments.pop(session.id)
        if attachment.outbox is not None:
            attachment.outbox.close()
        for handle in self.state.calls.of_session(session.id):
            self.state.claims[handle.serial].cancel()

    def _end_calls(self, calls: Iterable[CallHandle]) -> None:
        for handle in calls:
            self.state.claims.pop(handle.serial, None)
            self.state.calls.end(handle)

    def _prune(self) -> None:
        for session in self.state.table.prune(self._clock()):
            _log.info("session_expired", session=session.id)
            self._detach(session)

    def _announce_to(self, outbox: Outbox) -> None:
        if outbox.announce():
            self.state.list_changed_count += 1
            self.state.last_list_changed_at = self._clock()


def _is_open(outbox: Outbox | None) -> bool:
    return outbox is not None and outbox.is_open
