"""The tool calls in flight: one task each, in a nursery of their own outside the web app.

Owns running a call, its progress, and when its answer may go out. Never decides whether a call is allowed: it gets
calls that the handler has prepared. A call ends when its tool does, when it is cancelled, or when its client is gone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import structlog
import trio

from actors.errors import ActorError
from actors.published import Published
from actors.sessions import ActiveSession, NoteUnfollowed, SessionsActor
from engine.errors import EngineError
from protocol.decision import CallTool
from protocol.notifications import progress_notification
from protocol.prepared_call import PreparedCall
from protocol.result import outcome_of_error
from protocol.session import Audience
from protocol.tool import ToolCall, ToolError, ToolOutcome

LIST_WAIT_SECONDS = 1.0
"""How long an answer waits for the client to list the tools that its call has changed. Measured with opencode, which
asks within some ten milliseconds; a client that lets this pass once is not waited for again."""

LIST_SETTLE_SECONDS = 0.05
"""How long an answer waits after that. Measured: without it the next model request missed the new tools once in ten."""

PROGRESS_CAPACITY = 64
"""Progress notifications that may wait for the client of one call. Beyond it the tool waits, so none is lost."""

_log = structlog.stdlib.get_logger("mcp")


_CLOSED = "the engine is shutting down and takes no more calls"


class CallsClosedError(Exception):
    """Raised for a call that comes while the engine is ending."""


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call in flight, as a status shows it."""

    tool: str
    session_id: str
    seconds: float


class Call:
    """One call. Whoever waits for it reads `progress` and then `outcome`; anybody may `cancel` it, at any time."""

    def __init__(self, decision: CallTool) -> None:
        self.decision = decision
        self.started_at = trio.current_time()
        self.scope = trio.CancelScope()
        """What the tool runs in."""
        self.sign_of_life = trio.Event()
        """Set at the first progress, or at the end."""
        self.done = trio.Event()
        self.outcome: ToolOutcome | None = None
        """What the tool gave, once `done`; None when the call was cancelled."""
        self._last = float("-inf")
        self._channel = None if decision.progress_token is None else trio.open_memory_channel[bytes](PROGRESS_CAPACITY)

    @property
    def step_group(self) -> str | None:
        """None: a call that a client makes is a step of its own."""
        return None

    @property
    def has_progress(self) -> bool:
        """Whether progress waits to be read."""
        return self._channel is not None and self._channel[1].statistics().current_buffer_used > 0

    def cancel(self) -> None:
        """End the call early. Does nothing once it has ended."""
        self.scope.cancel()

    async def next_progress(self) -> bytes | None:
        """The next progress notification as JSON, or None when no more will come."""
        if self._channel is None:
            await self.done.wait()
            return None
        try:
            return await self._channel[1].receive()
        except trio.EndOfChannel:
            return None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """See `ToolCall`. Waits for room when the client does not keep up."""
        token = self.decision.progress_token
        if token is None or self._channel is None:
            await trio.lowlevel.checkpoint()
            return
        if done < self._last:
            raise ValueError(f"progress must not fall: {done} came after {self._last}")
        self._last = done
        self.sign_of_life.set()
        await self._channel[0].send(progress_notification(token, done, total, message, self.decision.version))

    def finish(self, outcome: ToolOutcome | None) -> None:
        """Let whoever waits go on. For the runner alone."""
        self.outcome = outcome
        if self._channel is not None:
            self._channel[0].close()
        self.sign_of_life.set()
        self.done.set()


class ListRevisions(Protocol):
    """Who knows how far the tool list of an audience has come. `AgentToolLists` does."""

    def revision(self, audience: Audience) -> int | None:
        """The revision now; None for an audience that sees nothing."""
        ...


class Calls:
    """Runs calls. `run` holds the nursery; `start` puts a call into it; `drain` ends it well."""

    def __init__(self, sessions: SessionsActor, tools: ListRevisions) -> None:
        self._sessions = sessions
        self._tools = tools
        self._nursery: trio.Nursery | None = None
        self._running: dict[Call, None] = {}
        self._answering = 0
        self._ended = Published(0)
        self._closed = False

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the nursery of the calls until it is cancelled."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            await trio.sleep_forever()

    def start(self, decision: CallTool, active: ActiveSession) -> Call:
        """Start a call in its own task, under the claim that its request made.

        Raises `CallsClosedError` once `drain` was called. Whoever starts it cancels it when nobody waits any more.
        """
        if self._closed or self._nursery is None:
            raise CallsClosedError(_CLOSED)
        call = Call(decision)
        active.claim_for(decision.request_id).attach(call.scope)
        self._running[call] = None
        self._nursery.start_soon(self._run, call, active)
        return call

    def answer(self, send_answer: Callable[[], Awaitable[None]]) -> None:
        """Run what waits for a call and sends its answer, for when no request does. Raises `CallsClosedError`."""
        if self._closed or self._nursery is None:
            raise CallsClosedError(_CLOSED)
        self._answering += 1
        self._nursery.start_soon(self._answer, send_answer)

    async def drain(self) -> None:
        """Take no more calls, and wait until those in flight have ended and are answered. Bound it with a deadline."""
        self._closed = True
        while self._running or self._answering:
            await self._ended.wait_beyond(self._ended.version)

    async def cut_off(self) -> None:
        """Cancel what is still in flight after `drain`, and wait until it has ended. Bound it with a deadline."""
        for call in tuple(self._running):
            call.cancel()
        while self._running:
            await self._ended.wait_beyond(self._ended.version)

    def running(self) -> tuple[RunningCall, ...]:
        """The calls in flight, oldest first."""
        now = trio.current_time()
        return tuple(
            RunningCall(call.decision.call.entry.definition.name, call.decision.session_id, now - call.started_at)
            for call in self._running
        )

    async def _run(self, call: Call, active: ActiveSession) -> None:
        outcome: ToolOutcome | None = None
        revision = self._tools.revision(active.session.audience)
        try:
            with call.scope:
                await trio.lowlevel.checkpoint_if_cancelled()
                outcome = await run_tool(call.decision.call, call)
                await self._let_client_list(active, revision)
        except* Exception:  # noqa: BLE001 - the boundary of a call: what a tool raises while it is being cancelled ends here
            _log.exception("tool_failed", tool=call.decision.call.entry.definition.name)
        finally:
            if call.scope.cancelled_caught:
                outcome = None
            call.finish(outcome)
            self._running.pop(call, None)
            self._ended.publish(0)

    async def _answer(self, send_answer: Callable[[], Awaitable[None]]) -> None:
        try:
            await send_answer()
        except ActorError as error:
            _log.warning("answer_failed", reason=str(error))
        except Exception:  # noqa: BLE001 - the boundary of an answer: one that cannot be sent must not end the engine
            _log.exception("answer_failed")
        finally:
            self._answering -= 1
            self._ended.publish(0)

    async def _let_client_list(self, active: ActiveSession, before: int | None) -> None:
        """Hold the answer of a call that changed the tool list, until the client has had the chance to fetch it."""
        revision = self._tools.revision(active.session.audience)
        following = active.following
        if revision is None or revision == before or not active.has_stream or not following.value.follows:
            return
        with trio.move_on_after(LIST_WAIT_SECONDS):
            seen = following.version
            while following.value.revision < revision:
                seen = await following.wait_beyond(seen)
            await trio.sleep(LIST_SETTLE_SECONDS)
        if following.value.revision < revision:
            try:
                await self._sessions.tell(NoteUnfollowed(active.session.id, revision))
            except ActorError as error:
                # Nobody waits for this word, and a call must not end the engine because it could not be given.
                _log.warning("report_failed", reason=str(error))


async def run_tool(call: PreparedCall, progress: ToolCall) -> ToolOutcome:
    """Run the body of a tool. What it raises becomes an outcome that says so; cancelling goes through."""
    definition = call.entry.definition
    try:
        return await definition.run(call.arguments, progress)
    except ToolError as error:
        return outcome_of_error(definition.name, error)
    except (EngineError, ActorError) as error:
        return ToolOutcome.error(str(error))
    except Exception as error:  # noqa: BLE001 - the boundary of a tool: whatever its author got wrong ends here
        _log.exception("tool_failed", tool=definition.name)
        return outcome_of_error(definition.name, error)
