"""One running engine: it starts whole, announces each change once, and ends in order with nothing left."""

from __future__ import annotations

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs
from trio.testing import MockClock

from actors.actor import Message
from actors.calls import Call
from actors.catalog import ApplyBatch
from actors.context import EditCapabilities, FollowEngine, PatchContext, SetContext, SetOverride
from actors.errors import ActorStoppedError
from actors.outbox import Outbox
from actors.resolution import CapabilityEdit
from actors.sessions import Begin, CallClaim, NoteError, OpenSession, OpenStream, ReadSessions
from actors.space import Space
from actors.world import Execute
from engine.drawing.insert import InsertBox
from engine.errors import EngineError
from protocol.notifications import TOOLS_LIST_CHANGED
from protocol.sse import encode_message
from protocol.tool import JsonObject, ToolCall, ToolOutcome, ToolRun
from tests.actors.fakes import LIMIT_SECONDS, VERSION, MemoryStore, call_of, running, text_of, tool
from tests.presets.samples import adapter, preset

CHANGED = encode_message(TOOLS_LIST_CHANGED)
PLAIN_VERSION = "2025-06-18"
"""The newest version whose streams are not numbered."""

RECTANGLE = InsertBox(kind="rectangle", x=0, y=0, width=2, height=1)


async def open_stream(space: Space) -> Outbox:
    session = await space.sessions.ask(OpenSession(PLAIN_VERSION, None, None))
    outbox = await space.sessions.ask(OpenStream(session.id))
    assert outbox is not None
    return outbox


async def start_call(space: Space, run: ToolRun) -> Call:
    await space.catalog.ask(ApplyBatch("tests", (tool(run=run),)))
    session = await space.sessions.ask(OpenSession(VERSION, None, None))
    active = await space.sessions.ask(Begin(session.id, (CallClaim(1),)))
    assert active is not None
    return space.calls.start(call_of(space.catalog.tools.value, session.id), active)


async def test_when_it_has_started_the_built_in_tools_of_the_context_are_there(space: Space) -> None:
    with trio.fail_after(LIMIT_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(space.run)
            names = space.catalog.tools.value.names
            assert {"space_drawing_insert_shape", "space_app_set_theme"} <= set(names)
            assert space.context.view.value.context.world_id == "world-1"
            space.stop()


async def test_statistics_show_every_actor_from_the_top_of_the_order_down(space: Space) -> None:
    async with running(space):
        names = [figures.name for figures in space.supervisor.statistics()]
        assert names == [
            "units",
            "context",
            "agents",
            "resolution",
            "mcp sync",
            "catalog",
            "stream",
            "tasks",
            "listeners",
            "sessions",
            "blocks",
            "own-blocks",
            "world",
            "providers",
        ]


async def test_each_change_of_the_list_is_announced_once_and_others_not_at_all(space: Space) -> None:
    edit = CapabilityEdit(
        add_adapters=(adapter("a.draw"), adapter("a.graph")),
        add_presets=(
            preset("draw", "a.draw", contexts=({"activity": "drawing"},)),
            preset("graph", "a.graph", contexts=({"activity": "graph"},)),
        ),
    )
    async with running(space, edit):
        outbox = await open_stream(space)
        assert await outbox.next() == CHANGED

        async def announced(message: Message[object]) -> int:
            before = (await space.sessions.ask(ReadSessions())).counters.list_changed_count
            await space.context.ask(message)
            await trio.testing.wait_all_tasks_blocked()
            count = (await space.sessions.ask(ReadSessions())).counters.list_changed_count - before
            for _ in range(count):
                assert await outbox.next() == CHANGED
            return count

        assert await announced(PatchContext({"activity": "graph"})) == 1
        assert await announced(PatchContext({"weather": "rain"})) == 0
        assert await announced(SetOverride("graph", "on")) == 0
        assert await announced(SetOverride("draw", "on")) == 1
        assert await announced(SetContext({"surface": "canvas", "canvas_visible": True})) == 0


async def test_a_new_body_behind_the_same_face_is_announced_to_nobody(space: Space) -> None:
    async with running(space):
        outbox = await open_stream(space)
        await space.catalog.ask(ApplyBatch("tests", (tool(source="old"),)))
        await trio.testing.wait_all_tasks_blocked()
        assert await outbox.next() == CHANGED
        await space.catalog.ask(ApplyBatch("tests", (tool(source="new"),)))
        await trio.testing.wait_all_tasks_blocked()
        await space.drain(1)
        assert await outbox.next() is None


async def test_changes_that_come_close_together_become_one_announcement_and_the_last_is_never_lost(
    space: Space,
) -> None:
    async with running(space):
        outbox = await open_stream(space)
        assert await outbox.next() == CHANGED
        for number in range(20):
            await space.catalog.ask(ApplyBatch("tests", (tool(f"space_{number}"),)))
        await trio.testing.wait_all_tasks_blocked()
        assert await outbox.next() == CHANGED
        await space.drain(1)
        assert await outbox.next() is None


async def test_an_announcement_waits_for_sessions_that_are_overloaded(space: Space, autojump_clock: MockClock) -> None:
    """The sessions actor runs late here, behind a full mailbox. Without patience the announcement would be lost."""
    with trio.fail_after(60), capture_logs() as logs:
        async with trio.open_nursery() as nursery:
            await nursery.start(space.catalog.run)
            nursery.start_soon(space._announcer.run)
            await trio.testing.wait_all_tasks_blocked()
            for _ in range(space.sessions.statistics().capacity):
                await space.sessions.tell(NoteError("busy"))
            await space.catalog.ask(ApplyBatch("tests", (tool(),)))
            await trio.sleep(12)
            await nursery.start(space.sessions.run)
            await trio.testing.wait_all_tasks_blocked()
            assert space.sessions.statistics().handled == space.sessions.statistics().capacity + 1
            nursery.cancel_scope.cancel()
    assert [entry["event"] for entry in logs].count("announcement_waits") == 2


async def test_a_drain_lets_calls_end_and_then_every_stream(space: Space) -> None:
    release = trio.Event()

    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await release.wait()
        return ToolOutcome.text("done")

    async with running(space):
        outbox = await open_stream(space)
        call = await start_call(space, run)
        results: list[bool] = []

        async def drain() -> None:
            results.append(await space.drain(LIMIT_SECONDS))

        async with trio.open_nursery() as nursery:
            nursery.start_soon(drain)
            await trio.testing.wait_all_tasks_blocked()
            assert outbox.is_open, "the answer of the call may still travel over it"
            release.set()
        assert results == [True]
        assert text_of(call.outcome) == "done"
        assert not outbox.is_open


async def test_a_drain_that_takes_too_long_says_so_and_ends_the_streams(
    space: Space, autojump_clock: MockClock
) -> None:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await trio.sleep_forever()
        raise AssertionError("it never wakes")

    async with running(space):
        outbox = await open_stream(space)
        call = await start_call(space, run)
        started = trio.current_time()
        assert not await space.drain(2)
        assert trio.current_time() - started == pytest.approx(2)
        assert not outbox.is_open
    assert call.done.is_set()
    assert call.outcome is None
    assert "the engine is ending" in (call.cut_off_because or "")


async def test_it_ends_in_order_and_leaves_no_task_behind(space: Space, store: MemoryStore) -> None:
    before = trio.lowlevel.current_statistics().tasks_living
    async with running(space):
        outbox = await open_stream(space)
        for _ in range(3):
            await space.world.tell(Execute(RECTANGLE))
        space.stop()
        space.stop()
        await space.wait_ended()
        assert (len(store.commits), store.close_count) == (3, 1)
        assert await outbox.next() == CHANGED
        assert await outbox.next() is None
        with pytest.raises(ActorStoppedError, match="'context'"):
            await space.context.ask(PatchContext({"activity": "graph"}))
    assert trio.lowlevel.current_statistics().tasks_living == before


async def test_a_call_that_still_runs_when_the_actors_have_ended_is_cancelled(space: Space) -> None:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await trio.sleep_forever()
        raise AssertionError("it never wakes")

    async with running(space):
        call = await start_call(space, run)
        await trio.testing.wait_all_tasks_blocked()
    assert call.done.is_set()
    assert call.outcome is None


async def test_capabilities_that_cannot_be_registered_fail_the_start_and_close_the_store(
    space: Space, store: MemoryStore
) -> None:
    broken = CapabilityEdit(add_presets=(preset("broken", "a.none"),))
    with trio.fail_after(LIMIT_SECONDS), pytest.RaisesGroup(pytest.RaisesExc(EngineError, match=r"'a\.none'")):
        await space.run([broken])
    assert store.close_count == 1


async def test_a_crash_of_an_actor_ends_the_engine_and_is_raised(
    space: Space, store: MemoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(envelope: object) -> None:
        raise ZeroDivisionError("a fault of the runtime itself")

    with pytest.RaisesGroup(ZeroDivisionError, flatten_subgroups=True):
        async with running(space):
            monkeypatch.setattr(space.catalog, "_step", crash)
            await space.catalog.tell(ApplyBatch("tests", (tool(),)))
            await space.wait_ended()
            await trio.sleep_forever()
    assert store.close_count == 1


async def test_what_exists_may_change_while_it_runs(space: Space) -> None:
    async with running(space):
        outbox = await open_stream(space)
        assert await outbox.next() == CHANGED
        edit = CapabilityEdit(add_adapters=(adapter("a.x"),), add_presets=(preset("x", "a.x"),))
        await space.context.ask(EditCapabilities(edit))
        assert await outbox.next() == CHANGED
        await space.context.ask(FollowEngine(space.world.facts.value))
        assert space.catalog.tools.value.names == ("space_a_x",)
