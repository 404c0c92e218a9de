"""The stream actor: sole owner of the single event stream of the HTTP+SSE transport (`--force-sse`).

There is one stream at a time. A reconnect ends the old one, with its session and its calls, before the new one begins.
Frames travel through the outbox of the stream's session. Source: remote-mcp, "Stream Lifecycle".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import structlog

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.outbox import Outbox
from actors.sessions import CloseStream, DeleteSession, OpenStream, OpenStreamSession, SessionsActor
from protocol.session import EVERYBODY, Audience, SessionTableFullError
from protocol.sse import encode_event

_log = structlog.stdlib.get_logger("mcp")


@dataclass(frozen=True, slots=True)
class StreamStatus:
    """The single stream. A reconnect is counted only when a stream was still open."""

    session_id: str | None = None
    connect_count: int = 0
    reconnect_count: int = 0

    @property
    def connected(self) -> bool:
        """Whether a stream is open."""
        return self.session_id is not None


@dataclass(frozen=True, slots=True)
class OpenedStream:
    """A stream that was opened: its session, and the outbox to write from."""

    session_id: str
    outbox: Outbox


@dataclass(frozen=True, slots=True)
class Connect(Message[OpenedStream]):
    """Open the stream; the old one ends first. Its first frame is the endpoint event, the second `list_changed`.

    `endpoint` is the path that the client posts to, without the session.
    """

    endpoint: str
    audience: Audience = EVERYBODY


@dataclass(frozen=True, slots=True)
class Disconnect(Message[None]):
    """That stream has ended. A late word about an old stream is ignored."""

    session_id: str
    outbox: Outbox


@dataclass(frozen=True, slots=True)
class ReadStream(Message[StreamStatus]):
    """The stream now."""


class StreamActor(Actor[StreamStatus]):
    """Owns the single stream. Asks the sessions."""

    name: ClassVar[str] = "stream"
    rank: ClassVar[int] = ranks.STREAM
    domain_errors = (*Actor.domain_errors, SessionTableFullError)

    def __init__(self, sessions: SessionsActor) -> None:
        super().__init__(StreamStatus())
        self._sessions = sessions

    @handles(Connect)
    async def _connect(self, message: Connect) -> OpenedStream:
        old = self.state
        if old.session_id is not None:
            await self._sessions.ask(DeleteSession(old.session_id))
        session = await self._sessions.ask(OpenStreamSession(message.audience))
        endpoint = encode_event(f"{message.endpoint}?sessionId={session.id}".encode(), event="endpoint")
        outbox = await self._sessions.ask(OpenStream(session.id, (endpoint,)))
        if outbox is None:
            raise RuntimeError("a session vanished while its stream was opened")
        self.state = StreamStatus(session.id, old.connect_count + 1, old.reconnect_count + old.connected)
        _log.info("sse_connected", session=session.id, reconnect=old.connected)
        return OpenedStream(session.id, outbox)

    @handles(Disconnect)
    async def _disconnect(self, message: Disconnect) -> None:
        await self._sessions.ask(CloseStream(message.session_id, message.outbox))
        if self.state.session_id != message.session_id:
            return
        await self._sessions.ask(DeleteSession(message.session_id))
        self.state = replace(self.state, session_id=None)
        _log.info("sse_disconnected", session=message.session_id)

    @handles(ReadStream)
    async def _read(self, message: ReadStream) -> StreamStatus:
        return self.state
