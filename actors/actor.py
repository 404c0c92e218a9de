"""The actor: one task, one mailbox, sole owner of one piece of state. Owns the promises that every actor keeps.

1. Messages and replies are frozen. A reply is a value, never a view of live state.
2. A message type names its reply type, and `ask` is typed by it.
3. A mailbox is bounded. A full one makes the sender wait, under a deadline; past it the sender gets an error that names
   the actor and its depth. Nothing is dropped silently.
4. `ask` is cancel-atomic: cancelled before it is picked up, the message never runs; afterwards it runs to its end and
   only the reply is thrown away. A step that does not wait has no such middle: it never ran, or its reply arrives.
5. A step is transactional: an error leaves the state as it was. A domain error goes to the asker as itself; a bug goes
   to the log, to the asker as `InternalError`, and into a counter.
6. Asks run one way, down the order of ranks. An ask that runs up is refused at once.

Never: state outside `state`, a second task inside, a message that is handled while another one is.
"""

from __future__ import annotations

import contextvars
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar, cast, final

import outcome
import structlog
import trio

from actors.errors import ActorError, ActorStoppedError, AskUpwardsError, InternalError, MailboxFullError
from engine.errors import EngineError
from protocol.tool_registry import ToolRegistryError

MAILBOX_CAPACITY = 64
"""Messages that wait for one actor. Steps take well under a millisecond, so a full mailbox means trouble, not load."""

SEND_DEADLINE_SECONDS = 5.0
"""How long a sender waits for room. Below the 60 s after which clients give up, so that they hear the reason."""

ReplyT = TypeVar("ReplyT")
ReplyT_co = TypeVar("ReplyT_co", covariant=True)
StateT = TypeVar("StateT")
ActorT = TypeVar("ActorT", bound="Actor[Any]")
MessageT = TypeVar("MessageT")

_log = structlog.stdlib.get_logger("actors")
_current: contextvars.ContextVar[Actor[Any] | None] = contextvars.ContextVar("current_actor", default=None)


class Message(Generic[ReplyT_co]):
    """Base of all messages. A subclass is a frozen dataclass, and its parameter is the type of the reply."""


@dataclass(frozen=True, slots=True)
class ActorStatistics:
    """One actor at one moment. Seconds are of the trio clock."""

    name: str
    depth: int
    """Messages that wait in the mailbox."""
    capacity: int
    handled: int
    """Steps that ran to their end, with or without an error."""
    refused: int
    """Steps that ended in a domain error."""
    failed: int
    """Steps that ended in a bug of ours."""
    withdrawn: int
    """Messages whose asker was cancelled before they were picked up; they never ran."""
    busy_seconds: float
    longest_seconds: float

    @property
    def seconds_per_message(self) -> float:
        """The mean time of a step."""
        return self.busy_seconds / self.handled if self.handled else 0.0


class _Envelope:
    """A message under way: waiting in the mailbox, picked up, withdrawn, or answered."""

    __slots__ = ("_asker", "message", "picked_up", "reply", "withdrawn")

    def __init__(self, message: Message[Any]) -> None:
        self.message = message
        self.reply: outcome.Outcome[Any] | None = None
        self.picked_up = False
        self.withdrawn = False
        self._asker: trio.lowlevel.Task | None = None

    def answer(self, reply: outcome.Outcome[Any]) -> None:
        """Give the reply to whoever waits for it, now or later."""
        self.reply = reply
        if self._asker is not None:
            asker, self._asker = self._asker, None
            trio.lowlevel.reschedule(asker)

    async def wait(self) -> outcome.Outcome[Any]:
        """Wait for the reply. Cancelled, the message is withdrawn unless it was picked up. For one asker."""
        # Parked by hand: an event for each message would cost as much as the rest of the way.
        if self.reply is None:
            await trio.lowlevel.checkpoint_if_cancelled()
            self._asker = trio.lowlevel.current_task()
            await trio.lowlevel.wait_task_rescheduled(self._abort)
        assert self.reply is not None  # noqa: S101 - only `answer` reschedules, and it sets the reply first
        return self.reply

    def _abort(self, _: object) -> trio.lowlevel.Abort:
        self._asker = None
        return trio.lowlevel.Abort.SUCCEEDED


class _Handler(Protocol):
    def __call__(self, actor: Any, message: Any, /) -> Any: ...


def handles(
    kind: Callable[..., Message[ReplyT]],
) -> Callable[[Callable[[ActorT, Any], Awaitable[ReplyT]]], Callable[[ActorT, Any], Awaitable[ReplyT]]]:
    """Mark a method as the step for messages of that type. Its return type must be the reply type that `kind` names."""

    def mark(method: Callable[[ActorT, Any], Awaitable[ReplyT]]) -> Callable[[ActorT, Any], Awaitable[ReplyT]]:
        method.__dict__["handles"] = kind
        return method

    return mark


class Actor(Generic[StateT]):
    """Base of the actors. A subclass sets `name` and `rank` and marks its steps with `handles`.

    `state` is replaced, never changed in place: so an error in a step takes the step back whole. An actor that owns an
    object which is whole-or-nothing by itself (the engine, a registry) keeps that object as its state and says so.
    """

    name: ClassVar[str]
    rank: ClassVar[int]
    """The place in the order of asks: an actor asks only those of a lower rank."""
    domain_errors: ClassVar[tuple[type[Exception], ...]] = (EngineError, ToolRegistryError, ActorError)
    """What a step may raise as an answer to its asker, its own or one from below. All else is a bug of ours."""

    _steps: ClassVar[dict[type, _Handler]] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        steps = dict(cls._steps)
        for member in vars(cls).values():
            kind = getattr(member, "handles", None)
            if isinstance(kind, type):
                steps[kind] = cast("_Handler", member)
        cls._steps = steps

    def __init__(
        self, state: StateT, *, capacity: int = MAILBOX_CAPACITY, send_deadline: float = SEND_DEADLINE_SECONDS
    ) -> None:
        self.state: StateT = state
        self._capacity = capacity
        self._send_deadline = send_deadline
        self._send, self._receive = trio.open_memory_channel[_Envelope](capacity)
        self._finished = trio.Event()
        self._handled = self._refused = self._failed = self._withdrawn = 0
        self._busy = self._longest = 0.0

    @final
    async def ask(self, message: Message[ReplyT]) -> ReplyT:
        """Send a message and wait for the reply.

        Raises the domain errors of the step, `MailboxFullError`, `ActorStoppedError`, `AskUpwardsError` and
        `InternalError`. Cancelled before the message was picked up, the message never runs.
        """
        envelope = await self._post(message)
        try:
            reply = await envelope.wait()
        except trio.Cancelled:
            envelope.withdrawn = not envelope.picked_up
            raise
        return cast("ReplyT", reply.unwrap())

    @final
    async def tell(self, message: Message[Any]) -> None:
        """Send a message and go on. An error of its step is logged by the actor; there is nobody else to hear it."""
        await self._post(message)

    @final
    def close(self) -> None:
        """Take no more messages. Those accepted before are handled, then the actor ends. Idempotent."""
        self._send.close()

    @final
    async def wait_finished(self) -> None:
        """Wait until the task of this actor has ended."""
        await self._finished.wait()

    @final
    def statistics(self) -> ActorStatistics:
        """The figures of this actor now."""
        return ActorStatistics(
            name=self.name,
            depth=self._receive.statistics().current_buffer_used,
            capacity=self._capacity,
            handled=self._handled,
            refused=self._refused,
            failed=self._failed,
            withdrawn=self._withdrawn,
            busy_seconds=self._busy,
            longest_seconds=self._longest,
        )

    @final
    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Handle messages, one at a time, until `close` was called and the mailbox is empty.

        Calls `prepare` first and `release` last. An error of either ends the task, and with it the engine.
        """
        _current.set(self)
        try:
            await self.prepare()
            task_status.started()
            async for envelope in self._receive:
                if envelope.withdrawn:
                    self._withdrawn += 1
                else:
                    await self._step(envelope)
        finally:
            self._answer_the_rest()
            await self.release()
            self._finished.set()

    async def prepare(self) -> None:
        """What must be done before the first message. Raising fails the start of the engine."""

    async def release(self) -> None:
        """Give back what the actor holds (a store, streams). Runs in the actor's task, also when it was cancelled."""

    async def _step(self, envelope: _Envelope) -> None:
        envelope.picked_up = True
        kind = type(envelope.message)
        before: StateT = self.state
        started = trio.current_time()
        try:
            handler = self._steps[kind]
            reply = outcome.Value(await handler(self, envelope.message))
        except trio.Cancelled:
            self.state = before
            envelope.answer(outcome.Error(ActorStoppedError(self.name)))
            raise
        except self.domain_errors as error:
            self.state = before
            self._refused += 1
            reply = outcome.Error(error)
        except Exception:  # noqa: BLE001 - the boundary of a step: a bug must reach the log and leave the actor alive
            self.state = before
            self._failed += 1
            _log.exception("step_failed", actor=self.name, message=kind.__name__)
            reply = outcome.Error(InternalError(self.name, kind.__name__))
        seconds = trio.current_time() - started
        self._handled += 1
        self._busy += seconds
        self._longest = max(self._longest, seconds)
        envelope.answer(reply)

    async def _post(self, message: Message[Any]) -> _Envelope:
        asker = _current.get()
        if asker is not None and asker.rank <= self.rank:
            raise AskUpwardsError(asker.name, self.name)
        envelope = _Envelope(message)
        try:
            self._send.send_nowait(envelope)
        except trio.WouldBlock:
            await self._wait_for_room(envelope)
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            raise ActorStoppedError(self.name) from None
        return envelope

    async def _wait_for_room(self, envelope: _Envelope) -> None:
        try:
            with trio.fail_after(self._send_deadline):
                await self._send.send(envelope)
        except trio.TooSlowError:
            depth = self._receive.statistics().current_buffer_used
            raise MailboxFullError(self.name, depth, self._send_deadline) from None
        except (trio.ClosedResourceError, trio.BrokenResourceError):
            raise ActorStoppedError(self.name) from None

    def _answer_the_rest(self) -> None:
        """Nobody may wait for an actor that has ended: what the mailbox still holds is answered."""
        self._send.close()
        while True:
            try:
                envelope = self._receive.receive_nowait()
            except (trio.WouldBlock, trio.EndOfChannel):
                break
            envelope.answer(outcome.Error(ActorStoppedError(self.name)))
        self._receive.close()
