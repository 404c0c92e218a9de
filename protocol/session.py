"""MCP sessions: who is connected since when, and when a session has been left alone for too long.

Owns the table of sessions. Never reads a clock (times are epoch seconds, given by the caller) and never waits. A clock
that is set back lets sessions live longer, never shorter.
Sessions live in memory only; after a restart each client is told 404 and begins anew.
Source: remote-mcp, "Sessions"; MCP specification, transports ("Session Management").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from uuid import uuid4

from protocol.client_capabilities import NO_CAPABILITIES, ClientCapabilities
from protocol.limits import DEFAULT_LIMITS
from protocol.log_level import LogLevel
from protocol.versions import OLDEST_VERSION, SESSION_VERSIONS

SESSION_TTL_SECONDS = 3600.0
"""How long a session stays without any activity, seconds: the document's default."""

CLIENT_TEXT_CHARS = 100
"""How much of a client's name and version is kept, characters: it is for logs and the status only."""


class SessionTableFullError(Exception):
    """Raised when the limit of sessions is reached and every one of them is busy. Nothing was opened."""


class TooManySubscriptionsError(Exception):
    """Raised when a session watches as many resources as it may. Nothing was changed."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"this session watches {limit} resources, which is the most; unsubscribe from one first")


@dataclass(frozen=True, slots=True)
class Audience:
    """Who sees one and the same tool list: the agent at whose endpoint a session was opened, and the form it asked for.

    Without a presentation it is that of the agent. Sessions of one audience need no list of their own.
    """

    agent: str = ""
    presentation: str | None = None


EVERYBODY = Audience()
"""The audience where there are no agents."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session at one moment. Times are in epoch seconds.

    `negotiated` is False for a session that a stream brought along, until it sees `initialize`: it serves calls all
    the same, because clients that lost their stream go on without initializing. `initialized` says that the client has
    sent `notifications/initialized`. `last_seen` is when its last activity began or ended, `in_flight` how many go on.
    `audience` decides which tools it sees. `capabilities` are what its client said with `initialize`. `log_level` is
    from where on it wants log messages, None until it says so; `subscriptions` are the uris that it watches.
    """

    id: str
    protocol_version: str
    created_at: float
    last_seen: float
    client_name: str | None = None
    client_version: str | None = None
    negotiated: bool = False
    initialized: bool = False
    in_flight: int = 0
    audience: Audience = EVERYBODY
    capabilities: ClientCapabilities = NO_CAPABILITIES
    log_level: LogLevel | None = None
    subscriptions: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class OpenedSession:
    """A session that was opened, and the one that had to make room for it, where the table was full."""

    session: Session
    evicted: Session | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTableStatus:
    """A look at the table; the counts are since it was made."""

    session_count: int
    busy_count: int
    opened_count: int
    expired_count: int
    evicted_count: int
    deleted_count: int
    limit: int
    ttl_seconds: float


def _uuid() -> str:
    return str(uuid4())


class SessionTable:
    """Sessions by id.

    `ttl_seconds` of 0 or less means that no session ever expires. When `limit` sessions exist, the one that has been
    idle for longest makes room for a new one; a session with activity in flight is never taken away for that or for
    its age. An open stream counts as an activity. `subscriptions` is how many resources one session may watch.
    """

    def __init__(
        self,
        *,
        ttl_seconds: float = SESSION_TTL_SECONDS,
        limit: int = DEFAULT_LIMITS.sessions,
        subscriptions: int = DEFAULT_LIMITS.subscriptions,
        new_id: Callable[[], str] = _uuid,
    ) -> None:
        self._ttl = ttl_seconds
        self._limit = limit
        self._subscriptions = subscriptions
        self._new_id = new_id
        self._sessions: dict[str, Session] = {}
        # The idle ones in the order in which they became idle, so that pruning looks at nothing that stays.
        self._idle: dict[str, None] = {}
        self._opened = self._expired = self._evicted = self._deleted = 0

    def open(
        self,
        now: float,
        protocol_version: str,
        client_name: str | None = None,
        client_version: str | None = None,
        audience: Audience = EVERYBODY,
        capabilities: ClientCapabilities = NO_CAPABILITIES,
    ) -> OpenedSession:
        """Open a session for a client that has sent `initialize`. It is idle from the start.

        Raises `SessionTableFullError`, and `ValueError` for a version that is not served.
        """
        blank = self._blank(now, audience)
        return self._open(_negotiated(blank, protocol_version, client_name, client_version, capabilities))

    def open_stream(self, now: float, audience: Audience = EVERYBODY) -> OpenedSession:
        """Open a session for a stream that will send `initialize` later, or never.

        Until then it speaks the oldest version. Raises `SessionTableFullError`.
        """
        return self._open(self._blank(now, audience))

    def negotiate(
        self,
        session_id: str,
        protocol_version: str,
        client_name: str | None = None,
        client_version: str | None = None,
        capabilities: ClientCapabilities = NO_CAPABILITIES,
    ) -> Session:
        """Note what `initialize` agreed on for a session that a stream opened.

        Raises `KeyError` for an unknown session, and `ValueError` for a version that is not served.
        """
        session = self._sessions[session_id]
        session = _negotiated(session, protocol_version, client_name, client_version, capabilities)
        self._sessions[session_id] = session
        return session

    def present(self, session_id: str, presentation: str | None) -> Session | None:
        """Note the form in which the session wants its tools from now on. None for an unknown session."""
        session = self._sessions.get(session_id)
        if session is None:
            return None
        return self._replace(session_id, audience=Audience(session.audience.agent, presentation))

    def mark_initialized(self, session_id: str) -> Session | None:
        """Note `notifications/initialized`. None for an unknown session."""
        return self._replace(session_id, initialized=True)

    def set_log_level(self, session_id: str, level: LogLevel) -> Session | None:
        """Note from which level on the client wants log messages. None for an unknown session."""
        return self._replace(session_id, log_level=level)

    def subscribe(self, session_id: str, uri: str) -> Session | None:
        """Note that the client watches a resource. None for an unknown session.

        Raises `TooManySubscriptionsError` where it watches as many as it may.
        """
        session = self._sessions.get(session_id)
        if session is None or uri in session.subscriptions:
            return session
        if len(session.subscriptions) >= self._subscriptions:
            raise TooManySubscriptionsError(self._subscriptions)
        return self._replace(session_id, subscriptions=session.subscriptions | {uri})

    def unsubscribe(self, session_id: str, uri: str) -> Session | None:
        """Note that the client watches a resource no more; one that it did not watch is no error."""
        session = self._sessions.get(session_id)
        return None if session is None else self._replace(session_id, subscriptions=session.subscriptions - {uri})

    def get(self, session_id: str | None) -> Session | None:
        """The session of that id, or None. Looking at a session is no activity."""
        return None if session_id is None else self._sessions.get(session_id)

    def begin(self, session_id: str, now: float) -> Session | None:
        """Begin an activity of a session (a request, a stream). None for an unknown session.

        Each one that began must `end`, also when it fails.
        """
        session = self._sessions.get(session_id)
        if session is None:
            return None
        self._idle.pop(session_id, None)
        return self._active(session, session.in_flight + 1, now)

    def end(self, session_id: str, now: float) -> None:
        """End an activity; from the end of the last one the time to live is measured. Unknown sessions are ignored."""
        session = self._sessions.get(session_id)
        if session is None or session.in_flight == 0:
            return
        self._active(session, session.in_flight - 1, now)
        if session.in_flight == 1:
            self._idle[session_id] = None

    def prune(self, now: float) -> tuple[Session, ...]:
        """Take away and return the sessions that have been idle for more than the time to live, oldest first."""
        expired: list[Session] = []
        while self._ttl > 0 and self._idle:
            session = self._sessions[next(iter(self._idle))]
            if not now - session.last_seen > self._ttl:
                break
            expired.append(self._remove(session.id))
        self._expired += len(expired)
        return tuple(expired)

    def delete(self, session_id: str) -> Session | None:
        """Take a session away, busy or not, and return it; None for an unknown one."""
        if session_id not in self._sessions:
            return None
        self._deleted += 1
        return self._remove(session_id)

    def status(self) -> SessionTableStatus:
        """A frozen look at the table."""
        return SessionTableStatus(
            session_count=len(self._sessions),
            busy_count=len(self._sessions) - len(self._idle),
            opened_count=self._opened,
            expired_count=self._expired,
            evicted_count=self._evicted,
            deleted_count=self._deleted,
            limit=self._limit,
            ttl_seconds=self._ttl,
        )

    def __len__(self) -> int:
        return len(self._sessions)

    def __iter__(self) -> Iterator[Session]:
        """The sessions in order of opening, as they are now."""
        return iter(tuple(self._sessions.values()))

    def _blank(self, now: float, audience: Audience) -> Session:
        return Session(
            id=self._new_id(),
            protocol_version=OLDEST_VERSION,
            created_at=now,
            last_seen=now,
            audience=audience,
        )

    def _open(self, session: Session) -> OpenedSession:
        if session.id in self._sessions:
            raise ValueError(f"session id {session.id!r} was made twice; ids must be unique")
        evicted = None
        if len(self._sessions) >= self._limit:
            if not self._idle:
                raise SessionTableFullError(f"all {self._limit} sessions are busy; close one, or raise the limit")
            evicted = self._remove(next(iter(self._idle)))
            self._evicted += 1
        self._sessions[session.id] = session
        self._idle[session.id] = None
        self._opened += 1
        return OpenedSession(session, evicted)

    def _remove(self, session_id: str) -> Session:
        self._idle.pop(session_id, None)
        return self._sessions.pop(session_id)

    def _active(self, session: Session, in_flight: int, now: float) -> Session:
        """The same session with another activity. Written out: `dataclasses.replace` takes 5 µs."""
        changed = Session(
            id=session.id,
            protocol_version=session.protocol_version,
            created_at=session.created_at,
            last_seen=now,
            client_name=session.client_name,
            client_version=session.client_version,
            negotiated=session.negotiated,
            initialized=session.initialized,
            in_flight=in_flight,
            audience=session.audience,
            capabilities=session.capabilities,
            log_level=session.log_level,
            subscriptions=session.subscriptions,
        )
        self._sessions[session.id] = changed
        return changed

    def _replace(self, session_id: str, **changes: object) -> Session | None:
        session = self._sessions.get(session_id)
        if session is None:
            return None
        changed = replace(session, **changes)  # pyright: ignore[reportArgumentType]
        self._sessions[session_id] = changed
        return changed


def _negotiated(
    session: Session,
    version: str,
    client_name: str | None,
    client_version: str | None,
    capabilities: ClientCapabilities,
) -> Session:
    if version not in SESSION_VERSIONS:
        raise ValueError(f"protocol version {version!r} has no sessions; these have: {', '.join(SESSION_VERSIONS)}")
    return replace(
        session,
        protocol_version=version,
        client_name=None if client_name is None else client_name[:CLIENT_TEXT_CHARS],
        client_version=None if client_version is None else client_version[:CLIENT_TEXT_CHARS],
        negotiated=True,
        capabilities=capabilities,
    )
