"""The listeners actor: sole owner of the open streams of clients that know no sessions (`subscriptions/listen`).

Each stream is an outbox of its own, and several of one client know nothing of each other. What goes to one is what its
filter names, for the audience and the credential that opened it. This actor never waits for a reader: a client that
does not read is cut off. Source: MCP specification 2026-07-28, `subscriptions/listen`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import structlog
import trio

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.outbox import Outbox
from engine.errors import ConflictError
from protocol.decision import Listen
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.notifications import acknowledged, list_changed, resource_updated, task_changed
from protocol.session import Audience
from protocol.sse import EventTooLargeError, encode_message
from protocol.subscription import ListKind
from protocol.task import Task

MOST_LISTENERS = 1000
"""Most streams that are open at a time: as many as there may be sessions."""

_log = structlog.stdlib.get_logger("mcp")


class TooManyListenersError(ConflictError):
    """Raised for one stream more than may be open."""


class Listener:
    """One open stream. `ended` is set when it is over, whoever ended it."""

    __slots__ = ("audience", "decision", "ended", "last", "outbox")

    def __init__(self, decision: Listen, audience: Audience, outbox: Outbox, last: bytes) -> None:
        self.decision = decision
        self.audience = audience
        self.outbox = outbox
        self.last = last
        """The frame that says that the server ends the stream."""
        self.ended = trio.Event()

    def end(self, last: bytes | None = None) -> None:
        """Take nothing more, and say a last word."""
        self.outbox.close(last)
        self.ended.set()


@dataclass(frozen=True, slots=True)
class OpenListener(Message[Listener]):
    """Open a stream; its first frame says what will be told on it. `last` is the frame with which the server ends it.

    Raises `TooManyListenersError`.
    """

    decision: Listen
    audience: Audience
    last: bytes


@dataclass(frozen=True, slots=True)
class CloseListener(Message[None]):
    """That stream is over."""

    listener: Listener


@dataclass(frozen=True, slots=True)
class CloseListeners(Message[None]):
    """End every stream with its last word. One that is opened afterwards ends at once."""


@dataclass(frozen=True, slots=True)
class AnnounceList(Message[None]):
    """A list has changed for everybody but these audiences."""

    kind: ListKind
    unless_of: frozenset[Audience] = frozenset()


@dataclass(frozen=True, slots=True)
class AnnounceResourcesTo(Message[None]):
    """Resources have changed that a listener watches."""

    listener: Listener
    uris: frozenset[str]


@dataclass(frozen=True, slots=True)
class AnnounceTask(Message[None]):
    """A task is another one than it was."""

    task: Task


@dataclass(frozen=True, slots=True)
class CountListeners(Message[int]):
    """How many streams are open."""


@dataclass(slots=True)
class ListenerBook:
    """What the actor owns."""

    listeners: dict[Listener, None] = field(default_factory=dict[Listener, None])
    closed: bool = False


class ListenersActor(Actor[ListenerBook]):
    """Owns the streams. Asks nobody."""

    name: ClassVar[str] = "listeners"
    rank: ClassVar[int] = ranks.LISTENERS

    def __init__(self, limits: Limits = DEFAULT_LIMITS, *, most: int = MOST_LISTENERS) -> None:
        super().__init__(ListenerBook())
        self._limits = limits
        self._most = most

    @handles(OpenListener)
    async def _open(self, message: OpenListener) -> Listener:
        if len(self.state.listeners) >= self._most:
            raise TooManyListenersError(f"{self._most} streams of subscriptions are open, which is the most")
        decision = message.decision
        first = encode_message(acknowledged(decision.request_id, decision.kept))
        listener = Listener(decision, message.audience, Outbox(self._limits.outbox_frames), message.last)
        listener.outbox.put(first)
        if self.state.closed:
            listener.end(listener.last)
        else:
            self.state.listeners[listener] = None
        return listener

    @handles(CloseListener)
    async def _close(self, message: CloseListener) -> None:
        self.state.listeners.pop(message.listener, None)
        message.listener.end()

    @handles(CloseListeners)
    async def _close_all(self, message: CloseListeners) -> None:
        self.state.closed = True
        for listener in self.state.listeners:
            listener.end(listener.last)
        self.state.listeners.clear()

    @handles(AnnounceList)
    async def _announce_list(self, message: AnnounceList) -> None:
        for listener in self.state.listeners:
            decision = listener.decision
            if message.kind in decision.kept.lists and listener.audience not in message.unless_of:
                listener.outbox.announce(message.kind, encode_message(list_changed(message.kind, decision.request_id)))

    @handles(AnnounceResourcesTo)
    async def _announce_resources(self, message: AnnounceResourcesTo) -> None:
        listener = message.listener
        for uri in sorted(listener.decision.kept.uris & message.uris):
            listener.outbox.announce(uri, encode_message(resource_updated(uri, listener.decision.request_id)))

    @handles(AnnounceTask)
    async def _announce_task(self, message: AnnounceTask) -> None:
        task = message.task
        for listener in tuple(self.state.listeners):
            decision = listener.decision
            if task.id not in decision.kept.task_ids or decision.stateless.principal != task.principal:
                continue
            try:
                frame = encode_message(task_changed(task, decision.request_id))
            except EventTooLargeError as error:
                # Whoever asks after the task gets its whole result.
                _log.warning("task_not_told", size=error.size, limit=error.limit)
                continue
            if not listener.outbox.put(frame):
                _log.warning("stream_overflow", frames=self._limits.outbox_frames)
                self.state.listeners.pop(listener)
                listener.end()

    @handles(CountListeners)
    async def _count(self, message: CountListeners) -> int:
        return len(self.state.listeners)

    async def release(self) -> None:
        """End every stream; nobody would write into them any more."""
        for listener in self.state.listeners:
            listener.end(listener.last)
