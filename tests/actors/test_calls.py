"""Calls: one task each, progress with back-pressure, an end in every case, and an answer that goes out in time."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.calls import (
    LIST_SETTLE_SECONDS,
    LIST_WAIT_SECONDS,
    MESSAGE_CAPACITY,
    Call,
    Calls,
    CallsClosedError,
)
from actors.catalog import ApplyBatch, CatalogActor
from actors.errors import ActorStoppedError
from actors.listeners import ListenersActor
from actors.sessions import (
    ActiveSession,
    Begin,
    CallClaim,
    CancelCall,
    DeleteSession,
    End,
    OpenSession,
    OpenStream,
    SessionsActor,
)
from actors.tasks import TasksActor
from engine.errors import ConflictError
from protocol.session import Audience, Session
from protocol.tool import JsonObject, ToolCall, ToolError, ToolOutcome, ToolRun
from protocol.tool_registry import ToolRegistry
from tests.actors.fakes import VERSION, call_of, text_of, tool

BOUND_SECONDS = 10.0
"""Above every time that is measured here."""


class Everybody:
    """Everybody sees every tool."""

    def __init__(self, catalog: CatalogActor) -> None:
        self._catalog = catalog

    def revision(self, audience: Audience) -> int:
        return self._catalog.tools.value.revision


class Rig:
    """A catalog with one tool, one session with a stream, and calls of that tool."""

    def __init__(self) -> None:
        self.sessions = SessionsActor()
        self.catalog = CatalogActor(ToolRegistry("space_"))
        self.listeners = ListenersActor()
        self.tasks = TasksActor(self.listeners)
        self.calls = Calls(self.sessions, self.tasks, Everybody(self.catalog))
        self.session: Session | None = None

    @asynccontextmanager
    async def running(self, run: ToolRun, *, stream: bool = True) -> AsyncGenerator[trio.Nursery]:
        with trio.fail_after(BOUND_SECONDS):
            async with trio.open_nursery() as nursery:
                for start in (self.sessions.run, self.listeners.run, self.tasks.run, self.catalog.run, self.calls.run):
                    await nursery.start(start)
                await self.catalog.ask(ApplyBatch("tests", (tool(run=run),)))
                self.session = await self.sessions.ask(OpenSession(VERSION, "tests", None))
                if stream:
                    await self.sessions.ask(OpenStream(self.session.id))
                yield nursery
                nursery.cancel_scope.cancel()

    async def begin(self, *ids: int) -> ActiveSession:
        assert self.session is not None
        active = await self.sessions.ask(Begin(self.session.id, tuple(map(CallClaim, ids or (1,)))))
        assert active is not None
        return active

    async def start(self, *, request_id: int = 1, token: int | None = None) -> Call:
        active = await self.begin(request_id)
        decision = call_of(self.catalog.tools.value, active.session.id, request_id=request_id, token=token)
        return self.calls.start(decision, active)

    async def call(self) -> ToolOutcome | None:
        call = await self.start()
        await call.done.wait()
        return call.outcome

    async def add_tool(self, name: str = "space_new") -> int:
        return await self.catalog.ask(ApplyBatch("tests", (tool(name),)))

    async def list_tools(self, after: float, *, revision: int | None = None) -> None:
        """The client lists the tools after that time; so it has been told their revision, or an older one."""
        await trio.sleep(after)
        listed = self.catalog.tools.value.revision if revision is None else revision
        await self.sessions.ask(End(await self.begin(99), listed=listed))


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def hello(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text("hello")


async def never(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    await trio.sleep_forever()
    raise AssertionError("it never wakes")


def tool_that_raises(error: BaseException) -> ToolRun:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        raise error

    return run


async def test_a_call_ends_with_the_outcome_of_its_tool(rig: Rig) -> None:
    async with rig.running(hello):
        call = await rig.start()
        assert [running.tool for running in rig.calls.running()] == ["space_hello"]
        assert await call.next_message() is None
        assert text_of(call.outcome) == "hello"
        assert call.sign_of_life.is_set()
        assert rig.calls.running() == ()


async def test_calls_in_flight_are_told_with_their_time_oldest_first(rig: Rig, autojump_clock: MockClock) -> None:
    async with rig.running(never):
        await rig.start(request_id=1)
        await trio.sleep(3)
        await rig.start(request_id=2)
        await trio.sleep(1)
        assert [running.seconds for running in rig.calls.running()] == [4, 1]


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ToolError("there is no layer 7"), "there is no layer 7"),
        (ConflictError("nothing is selected"), "nothing is selected"),
        (ActorStoppedError("world"), "actor 'world' has stopped"),
    ],
)
async def test_what_a_tool_cannot_do_is_told_as_a_failed_result(rig: Rig, error: Exception, said: str) -> None:
    async with rig.running(tool_that_raises(error)):
        with capture_logs() as logs:
            outcome = await rig.call()
        assert outcome is not None
        assert outcome.is_error
        assert said in text_of(outcome)
        assert logs == []


@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), ExceptionGroup("secret", [ValueError("secret")])])
async def test_a_bug_of_a_tool_is_logged_and_told_without_its_details(rig: Rig, error: Exception) -> None:
    async with rig.running(tool_that_raises(error)):
        with capture_logs() as logs:
            outcome = await rig.call()
        assert outcome is not None
        assert outcome.is_error
        assert "bug of the tool" in text_of(outcome)
        assert "secret" not in text_of(outcome)
        assert [entry["event"] for entry in logs] == ["tool_failed"]


async def test_a_tool_that_fails_while_it_is_cancelled_takes_nothing_else_along(rig: Rig) -> None:
    async def fail_in_the_end() -> None:
        try:
            await trio.sleep_forever()
        finally:
            raise ValueError("cleaning up failed")

    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail_in_the_end)
            nursery.start_soon(trio.sleep_forever)
        raise AssertionError("it never ends by itself")

    async with rig.running(run):
        call = await rig.start()
        await trio.testing.wait_all_tasks_blocked()
        with capture_logs() as logs:
            call.cancel()
            await call.done.wait()
        assert call.outcome is None
        assert [entry["event"] for entry in logs] == ["tool_failed"]
        assert rig.calls.running() == ()
        await rig.calls.drain()


async def test_progress_arrives_in_order_with_the_token_of_the_request(rig: Rig) -> None:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await call.progress(1, 2, "half")
        await call.progress(2, 2)
        return ToolOutcome.text("done")

    async with rig.running(run):
        call = await rig.start(token=7)
        seen = [
            json.loads(frame)["params"] for frame in [await call.next_message(), await call.next_message()] if frame
        ]
        assert seen == [
            {"progressToken": 7, "progress": 1, "total": 2, "message": "half"},
            {"progressToken": 7, "progress": 2, "total": 2},
        ]
        assert await call.next_message() is None
        assert text_of(call.outcome) == "done"


async def test_the_first_progress_is_a_sign_of_life(rig: Rig, autojump_clock: MockClock) -> None:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await trio.sleep(5)
        await call.progress(1)
        await trio.sleep_forever()
        raise AssertionError("it never wakes")

    async with rig.running(run):
        call = await rig.start(token=1)
        assert not call.has_messages
        started = trio.current_time()
        await call.sign_of_life.wait()
        assert trio.current_time() - started == 5
        await trio.testing.wait_all_tasks_blocked()
        assert call.has_messages
        assert not call.done.is_set()


async def test_a_tool_waits_while_its_client_does_not_keep_up_with_the_progress(rig: Rig) -> None:
    told: list[int] = []

    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        for step in range(MESSAGE_CAPACITY + 2):
            await call.progress(step)
            told.append(step)
        return ToolOutcome.text("done")

    async with rig.running(run):
        call = await rig.start(token=1)
        await trio.testing.wait_all_tasks_blocked()
        assert len(told) == MESSAGE_CAPACITY
        frames = 0
        while await call.next_message() is not None:
            frames += 1
        assert frames == MESSAGE_CAPACITY + 2, "none is lost"


async def test_without_a_token_progress_goes_nowhere_and_never_waits(rig: Rig) -> None:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        for step in range(MESSAGE_CAPACITY * 2):
            await call.progress(step)
        return ToolOutcome.text("done")

    async with rig.running(run):
        call = await rig.start()
        assert await call.next_message() is None
        assert text_of(call.outcome) == "done"


async def test_progress_that_falls_is_a_bug_of_the_tool(rig: Rig) -> None:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await call.progress(2)
        await call.progress(1)
        return ToolOutcome.text("done")

    async with rig.running(run):
        call = await rig.start(token=1)
        with capture_logs() as logs:
            await call.done.wait()
        assert call.outcome is not None
        assert call.outcome.is_error
        assert [entry["event"] for entry in logs] == ["tool_failed"]


@pytest.mark.parametrize("by", ["its waiter", "a cancellation", "the end of the session"])
async def test_a_call_that_is_cancelled_has_no_outcome(rig: Rig, by: str) -> None:
    ended = trio.Event()

    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        try:
            return await never(arguments, call)
        finally:
            ended.set()

    async with rig.running(run):
        call = await rig.start()
        await trio.testing.wait_all_tasks_blocked()
        assert rig.session is not None
        match by:
            case "its waiter":
                call.cancel()
            case "a cancellation":
                assert await rig.sessions.ask(CancelCall(rig.session.id, 1))
            case _:
                assert await rig.sessions.ask(DeleteSession(rig.session.id))
        assert await call.next_message() is None
        assert ended.is_set()
        assert call.outcome is None
        assert rig.calls.running() == ()


async def test_a_call_that_was_cancelled_before_it_began_never_runs_its_tool(rig: Rig) -> None:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        raise AssertionError("it must not run")

    async with rig.running(run):
        active = await rig.begin(1)
        assert await rig.sessions.ask(CancelCall(active.session.id, 1))
        call = rig.calls.start(call_of(rig.catalog.tools.value, active.session.id), active)
        await call.done.wait()
        assert call.outcome is None


async def test_a_cancellation_after_the_end_changes_nothing(rig: Rig) -> None:
    async with rig.running(hello):
        call = await rig.start()
        await call.done.wait()
        call.cancel()
        assert text_of(call.outcome) == "hello"


async def test_a_drain_waits_for_calls_and_their_answers_and_takes_no_more(rig: Rig, autojump_clock: MockClock) -> None:
    answered: list[float] = []

    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await trio.sleep(3)
        return ToolOutcome.text("done")

    async with rig.running(run):
        call = await rig.start()

        async def answer() -> None:
            await call.done.wait()
            await trio.sleep(2)
            answered.append(trio.current_time() - call.started_at)

        rig.calls.answer(answer)
        active = await rig.begin(2)
        await rig.calls.drain()
        assert answered == [5]
        with pytest.raises(CallsClosedError, match="shutting down"):
            rig.calls.start(call_of(rig.catalog.tools.value, active.session.id, request_id=2), active)
        with pytest.raises(CallsClosedError, match="shutting down"):
            rig.calls.answer(answer)
        await rig.calls.drain()


@pytest.mark.parametrize("error", [ActorStoppedError("sessions"), ZeroDivisionError()])
async def test_an_answer_that_cannot_be_sent_is_logged_and_ends_nothing_else(rig: Rig, error: Exception) -> None:
    async def answer() -> None:
        raise error

    async with rig.running(hello):
        with capture_logs() as logs:
            rig.calls.answer(answer)
            await rig.calls.drain()
        assert [entry["event"] for entry in logs] == ["answer_failed"]


async def test_before_it_runs_no_call_is_taken(rig: Rig) -> None:
    async with rig.running(hello):
        idle = Calls(rig.sessions, rig.tasks, Everybody(rig.catalog))
        active = await rig.begin()
        with pytest.raises(CallsClosedError):
            idle.start(call_of(rig.catalog.tools.value, active.session.id), active)


# A call that changes the tool list is answered once the client had the chance to fetch the new one, as was measured.


def adding_a_tool(rig: Rig) -> ToolRun:
    count = 0

    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        nonlocal count
        count += 1
        await rig.add_tool(f"space_new_{count}")
        return ToolOutcome.text("changed")

    return run


async def seconds_of(rig: Rig) -> float:
    started = trio.current_time()
    assert text_of(await rig.call()) == "changed"
    return trio.current_time() - started


async def test_an_answer_is_held_until_the_client_has_listed_the_new_tools_and_a_little_longer(
    rig: Rig, autojump_clock: MockClock
) -> None:
    async with rig.running(adding_a_tool(rig)) as nursery:
        nursery.start_soon(rig.list_tools, 0.25)
        assert await seconds_of(rig) == pytest.approx(0.25 + LIST_SETTLE_SECONDS)


async def test_a_listing_of_the_old_tools_does_not_let_the_answer_go(rig: Rig, autojump_clock: MockClock) -> None:
    async with rig.running(adding_a_tool(rig)) as nursery:
        old = rig.catalog.tools.value.revision

        async def list_twice() -> None:
            await rig.list_tools(0.1, revision=old)
            await rig.list_tools(0.3)

        nursery.start_soon(list_twice)
        assert await seconds_of(rig) == pytest.approx(0.4 + LIST_SETTLE_SECONDS)


async def test_a_client_that_does_not_list_is_waited_for_once_and_not_again(
    rig: Rig, autojump_clock: MockClock
) -> None:
    async with rig.running(adding_a_tool(rig)):
        assert await seconds_of(rig) == pytest.approx(LIST_WAIT_SECONDS)
        await trio.testing.wait_all_tasks_blocked()
        assert await seconds_of(rig) == 0


async def test_a_client_that_lists_again_is_waited_for_again(rig: Rig, autojump_clock: MockClock) -> None:
    async with rig.running(adding_a_tool(rig)) as nursery:
        assert await seconds_of(rig) == pytest.approx(LIST_WAIT_SECONDS)
        await rig.list_tools(0)
        nursery.start_soon(rig.list_tools, 0.1)
        assert await seconds_of(rig) == pytest.approx(0.1 + LIST_SETTLE_SECONDS)


async def test_a_client_without_a_stream_cannot_hear_of_the_change_and_is_not_waited_for(
    rig: Rig, autojump_clock: MockClock
) -> None:
    async with rig.running(adding_a_tool(rig), stream=False):
        assert await seconds_of(rig) == 0


async def test_a_call_that_changes_no_tool_is_answered_at_once(rig: Rig, autojump_clock: MockClock) -> None:
    async with rig.running(hello):
        call = await rig.start()
        await call.done.wait()
        assert trio.current_time() == call.started_at


async def test_a_call_that_is_cancelled_while_its_answer_is_held_ends_at_once(
    rig: Rig, autojump_clock: MockClock
) -> None:
    async with rig.running(adding_a_tool(rig)):
        call = await rig.start()
        await trio.testing.wait_all_tasks_blocked()
        call.cancel()
        await call.done.wait()
        assert trio.current_time() == call.started_at
        assert call.outcome is None
