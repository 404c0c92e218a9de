"""The requests that are carried out: one task each, in a nursery of their own outside the web app.

Owns running a call, its end as a task, and when its answer may go out. Never decides whether a call is allowed: it gets
calls that the handler has prepared. A call ends when its body does, when it is cancelled, or when its client is gone.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

import structlog
import trio
from mcp_types import TextContent

from actors.call import MESSAGE_CAPACITY, Call, CrashedTool, Ending, Failure, Runnable
from actors.call_body import attempt_tool, run_request, run_tool
from actors.call_log import CallLog
from actors.errors import ActorError
from actors.logged_call import CLIENT_GONE, Caller, CallSource
from actors.published import Published
from actors.session_talk import SessionTalk
from actors.sessions import ActiveSession, CallClaim, End, NoteUnfollowed, SessionsActor
from actors.stateless_talk import StatelessTalk
from actors.tasks import CancelTask, CompleteTask, FailTask, TasksActor
from protocol.decision import CallTool
from protocol.jsonrpc import ErrorCode
from protocol.result import wire_result
from protocol.session import Audience, Session
from protocol.stateless_facts import StatelessFacts
from protocol.task import Task, TaskError
from protocol.tool import ToolOutcome

__all__ = ["MESSAGE_CAPACITY", "Call", "Calls", "CallsClosedError", "RunningCall", "attempt_tool", "run_tool"]

LIST_WAIT_SECONDS = 1.0
"""How long an answer waits for the client to list the tools that its call has changed. Measured with opencode, which
asks within some ten milliseconds; a client that lets this pass once is not waited for again."""

LIST_SETTLE_SECONDS = 0.05
"""How long an answer waits after that. Measured: without it the next model request missed the new tools once in ten."""

TASK_END_SECONDS = 1.0
"""How long the end of a task may take to be noted, also when the engine is ending."""

_log = structlog.stdlib.get_logger("mcp")


_CUT_OFF = "the engine is ending, and it took longer than what the engine waits"
_CLOSED = "the engine is shutting down and takes no more calls"


class CallsClosedError(Exception):
    """Raised for a call that comes while the engine is ending."""


@dataclass(frozen=True, slots=True)
class RunningCall:
    """A call in flight, as a status shows it. `tool` is the name of whatever is called; `task_id` that of its task."""

    tool: str
    session_id: str
    seconds: float
    task_id: str | None = None


class ListRevisions(Protocol):
    """Who knows how far the tool list of an audience has come. `AgentToolLists` does."""

    def revision(self, audience: Audience) -> int | None:
        """The revision now; None for an audience that sees nothing."""
        ...


class Calls:
    """Runs calls. `run` holds the nursery; `start` puts a call into it; `drain` ends it well."""

    def __init__(
        self, sessions: SessionsActor, tasks: TasksActor, tools: ListRevisions, log: CallLog | None = None
    ) -> None:
        """`log` is told of every call of a tool; without one there is one that nobody else sees."""
        self.log = CallLog() if log is None else log
        self._sessions = sessions
        self._tasks = tasks
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

    def start(self, decision: Runnable, active: ActiveSession, *, resumable: bool = False) -> Call:
        """Start a call in its own task, under the claim that its request made.

        Raises `CallsClosedError` once `drain` was called. Whoever starts it cancels it when nobody waits any more, but
        for one that has become a task. `resumable` says that its client can come back to the stream of its answer.
        """
        if self._closed or self._nursery is None:
            raise CallsClosedError(_CLOSED)
        if decision.stateless is None:
            call = Call(decision, SessionTalk(self._sessions, active, resumable=resumable))
        else:
            call = Call(decision, StatelessTalk(decision.stateless, self._tasks))
        if isinstance(decision, CallTool):
            prepared = decision.call
            caller = caller_of(active.session.audience, decision.stateless or active.session)
            name = prepared.entry.definition.name
            call.logged = self.log.begin(caller, name, prepared.arguments, call.cancel_because)
        claim = active.claim_for(decision.request_id)
        claim.attach(call.scope)
        self._running[call] = None
        self._nursery.start_soon(self._run, call, active, claim)
        return call

    def answer(self, send_answer: Callable[[], Awaitable[None]]) -> None:
        """Run what waits for a call and sends its answer, for when no request does. Raises `CallsClosedError`."""
        if self._closed or self._nursery is None:
            raise CallsClosedError(_CLOSED)
        self._answering += 1
        self._nursery.start_soon(self._answer, send_answer)

    async def drain(self) -> None:
        """Take no more calls, and wait until those in flight have ended and are answered. Bound it with a deadline.

        Tasks are cancelled: nobody could ask after them any more.
        """
        self._closed = True
        for call in tuple(self._running):
            if call.task is not None:
                call.cancel()
        while self._running or self._answering:
            await self._ended.wait_beyond(self._ended.version)

    async def cut_off(self) -> None:
        """Cancel what is still in flight after `drain`, and wait until it has ended. Bound it with a deadline."""
        for call in tuple(self._running):
            call.cancel_because(_CUT_OFF)
        while self._running:
            await self._ended.wait_beyond(self._ended.version)

    def running(self) -> tuple[RunningCall, ...]:
        """The calls in flight, oldest first."""
        now = trio.current_time()
        return tuple(
            RunningCall(
                call.name,
                call.decision.session_id,
                now - call.started_at,
                None if call.task is None else call.task.id,
            )
            for call in self._running
        )

    async def _run(self, call: Call, active: ActiveSession, claim: CallClaim) -> None:
        ending: Ending | None = None
        revision = self._tools.revision(active.session.audience)
        try:
            with call.scope:
                await trio.lowlevel.checkpoint_if_cancelled()
                ending = await run_request(call.decision, call)
                _note_end(call, ending)
                await self._let_client_list(active, revision)
        except* Exception:  # noqa: BLE001 - the boundary of a call: what a tool raises while it is being cancelled ends here
            _log.exception("tool_failed", tool=call.name)
        finally:
            if call.scope.cancelled_caught:
                ending = None
                call.cut_off_because = call.cut_off_because or claim.because
            _note_end(call, ending)
            call.finish(ending)
            if call.task is not None:
                await self._end_task(call, call.task, ending, active)
            self._running.pop(call, None)
            self._ended.publish(0)

    async def _end_task(self, call: Call, task: Task, ending: Ending | None, active: ActiveSession) -> None:
        """Note how a task has ended, for whoever asks after it, and that its call is over."""
        with trio.CancelScope(shield=True, deadline=trio.current_time() + TASK_END_SECONDS):
            try:
                await self._tasks.tell(_end_of(task, call, ending))
                await self._sessions.tell(End(active))
            except ActorError as error:
                _log.warning("task_end_not_noted", task=task.id, reason=str(error))

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


def caller_of(audience: Audience, client: Session | StatelessFacts) -> Caller:
    """Who calls a tool: in a session, or in a request that has none."""
    name, version = client.client_name, client.client_version
    return Caller(
        CallSource.MCP,
        audience.agent or None,
        client.id if isinstance(client, Session) else None,
        name if name is None or version is None else f"{name} {version}",
    )


def _note_end(call: Call, ending: Ending | None) -> None:
    """Let the record of a call say how it has ended; one that says so already stays as it is."""
    if call.logged is None:
        return
    match ending:
        case ToolOutcome():
            call.logged.end(ending)
        case CrashedTool(outcome=outcome):
            call.logged.end(outcome)
        case Failure(reason=reason):
            call.logged.fail(reason)
        case _:
            call.logged.give_up(call.cut_off_because or CLIENT_GONE)


def _end_of(task: Task, call: Call, ending: Ending | None) -> CompleteTask | FailTask | CancelTask:
    """What is noted of a task that has ended so. Nothing changes for one that was cancelled before."""
    decision = call.decision
    if ending is None:
        return CancelTask(task.id, task.principal)
    if not isinstance(decision, CallTool):
        raise TypeError("only calls of tools become tasks")
    match ending:
        case ToolOutcome(input_required=None):
            made = wire_result(decision.call.entry, ending, decision.version)
        case CrashedTool(outcome=outcome):
            reason = "".join(block.text for block in outcome.content if isinstance(block, TextContent))
            return FailTask(task.id, TaskError(ErrorCode.INTERNAL_ERROR, reason))
        case Failure(reason=reason, malformed=malformed):
            code = ErrorCode.INVALID_PARAMS if malformed else ErrorCode.INTERNAL_ERROR
            return FailTask(task.id, TaskError(code, reason))
        case _:
            return FailTask(task.id, TaskError(ErrorCode.INTERNAL_ERROR, "the call of this task came to no result"))
    if made.problem is not None:
        _log.error("tool_result_malformed", problem=made.problem)
        if call.logged is not None:
            call.logged.mar(made.problem)
    return CompleteTask(task.id, made.body)
