"""The world answers when a change is durable, and not before; what the store refuses has never happened."""

from __future__ import annotations

import threading

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from actors.errors import InternalError
from actors.world import Execute, MergedInWorlds, MergeSteps, Redo, TakePicture, Undo, WorldActor
from engine.commands import CreateWorld, DeleteWorld, ListWorlds, RememberContext, SetTheme, SwitchWorld
from engine.drawing.insert import InsertBox
from engine.drawing.selection import ClearSelection
from engine.errors import ConflictError, NotFoundError, StaleError
from engine.stored import Commit
from tests.actors.fakes import MemoryStore, engine_of, running_actors

RECTANGLE = InsertBox(kind="rectangle", x=0, y=0, width=2, height=1)


@pytest.fixture
def world(store: MemoryStore) -> WorldActor:
    return WorldActor(engine_of(), store)


class Gate:
    """Holds the store's thread in a write until it is opened."""

    def __init__(self) -> None:
        self.entered = trio.Event()
        self._open = threading.Event()

    def hold(self, commit: Commit) -> None:
        trio.from_thread.run_sync(self.entered.set)
        assert self._open.wait(5), "nobody opened the gate"

    def open(self) -> None:
        self._open.set()


async def test_a_command_is_answered_after_it_is_durable(world: WorldActor, store: MemoryStore) -> None:
    gate = Gate()
    store.before_write = gate.hold
    order: list[str] = []

    async def ask() -> None:
        await world.ask(Execute(RECTANGLE))
        order.append(f"answered after {len(store.commits)} commits")

    async with running_actors(world) as nursery:
        before = world.facts.value
        nursery.start_soon(ask)
        await gate.entered.wait()
        await trio.testing.wait_all_tasks_blocked()
        assert order == []
        assert world.facts.value is before, "nothing is published that is not durable"
        gate.open()
        await world.ask(TakePicture("canvas"))
        await trio.testing.wait_all_tasks_blocked()
        assert order == ["answered after 1 commits"]


async def test_what_the_store_refuses_has_never_happened(world: WorldActor, store: MemoryStore) -> None:
    def refuse(commit: Commit) -> None:
        raise ConflictError("the disk is full")

    async with running_actors(world):
        await world.ask(Execute(RECTANGLE))
        drawn, facts, status = await world.ask(TakePicture("canvas")), world.facts.value, world.status.value
        store.before_write = refuse
        for message in (Execute(RECTANGLE), Undo(), Execute(SetTheme("light")), Execute(SwitchWorld("world-2"))):
            with pytest.raises(ConflictError, match="disk is full"):
                await world.ask(message)
        assert await world.ask(TakePicture("canvas")) == drawn
        assert (world.facts.value, world.status.value) == (facts, status)
        store.before_write = lambda _: None
        done = await world.ask(Execute(RECTANGLE))
        assert done.revision == drawn.world.revision + 1
        assert done.facts.serial > facts.serial


async def test_a_store_that_crashes_takes_the_change_back_too(world: WorldActor, store: MemoryStore) -> None:
    def crash(commit: Commit) -> None:
        raise OSError("the cable is out")

    async with running_actors(world):
        before = await world.ask(TakePicture("canvas"))
        store.before_write = crash
        with capture_logs() as logs, pytest.raises(InternalError, match="'world'"):
            await world.ask(Execute(RECTANGLE))
        assert [entry["event"] for entry in logs] == ["step_failed"]
        assert await world.ask(TakePicture("canvas")) == before
        assert world.statistics().failed == 1


async def test_a_command_that_changes_nothing_is_not_written_and_publishes_nothing(
    world: WorldActor, store: MemoryStore
) -> None:
    async with running_actors(world):
        assert len((await world.ask(Execute(ListWorlds()))).result) == 2
        for command in (SetTheme("dark"), SwitchWorld("world-1"), RememberContext("canvas", "drawing", True)):
            done = await world.ask(Execute(command))
            assert not done.changed
        assert store.commits == []
        assert world.facts.version == world.status.version == 0


async def test_a_command_that_is_refused_changes_nothing(world: WorldActor, store: MemoryStore) -> None:
    async with running_actors(world):
        with pytest.raises(NotFoundError, match="world-9"):
            await world.ask(Execute(SwitchWorld("world-9")))
        assert store.commits == []
        assert world.statistics().refused == 1


async def test_a_step_is_undone_and_done_again(world: WorldActor, store: MemoryStore) -> None:
    async with running_actors(world):
        with pytest.raises(ConflictError, match="nothing to undo"):
            await world.ask(Undo())
        await world.ask(Execute(RECTANGLE))
        drawn = await world.ask(TakePicture("canvas"))
        assert (world.status.value.undo_count, world.status.value.redo_count) == (1, 0)
        undone = await world.ask(Undo())
        assert undone.changed
        assert (await world.ask(TakePicture("canvas"))).picture != drawn.picture
        assert (world.status.value.undo_count, world.status.value.redo_count) == (0, 1)
        await world.ask(Redo())
        assert (await world.ask(TakePicture("canvas"))).picture == drawn.picture
        with pytest.raises(ConflictError, match="nothing to redo"):
            await world.ask(Redo())
        assert len(store.commits) == 3


async def test_a_snapshot_is_taken_once_for_each_revision(world: WorldActor) -> None:
    async with running_actors(world):
        first = await world.ask(TakePicture("canvas"))
        assert (await world.ask(TakePicture("canvas"))).picture is first.picture
        await world.ask(Execute(SetTheme("light")))
        lit = await world.ask(TakePicture("canvas"))
        assert lit.picture is first.picture
        assert lit.settings.theme == "light"
        await world.ask(Execute(RECTANGLE))
        second = await world.ask(TakePicture("canvas"))
        assert second.picture != first.picture
        await world.ask(Execute(SwitchWorld("world-2")))
        third = await world.ask(TakePicture("canvas"))
        assert (third.world.id, third.picture) == ("world-2", first.picture)


async def test_worlds_at_equal_revisions_have_snapshots_of_their_own(world: WorldActor) -> None:
    async with running_actors(world):
        await world.ask(Execute(RECTANGLE))
        first = await world.ask(TakePicture("canvas"))
        await world.ask(Execute(SwitchWorld("world-2")))
        await world.ask(Execute(InsertBox(kind="ellipse", x=5, y=5, width=2, height=1)))
        second = await world.ask(TakePicture("canvas"))
        assert first.world.revision == second.world.revision
        assert first.picture != second.picture


async def test_facts_and_status_are_published_with_each_change(world: WorldActor) -> None:
    async with running_actors(world):
        drawn = await world.ask(Execute(RECTANGLE))
        assert world.facts.value == drawn.facts
        assert drawn.facts.selection_kind == "drawing-object"
        assert (await world.ask(Execute(ClearSelection()))).facts.selection_kind is None
        await world.ask(Execute(CreateWorld("yard", activate=True)))
        await world.ask(Execute(DeleteWorld("world-2", "garden")))
        status = world.status.value
        assert [info.name for info in status.worlds] == ["home", "yard"]
        assert (status.active_world.name, status.active_world.active) == ("yard", True)
        assert world.facts.value.world_id == status.active_world.id


async def test_an_asker_that_is_cancelled_does_not_tear_memory_and_disk_apart(
    world: WorldActor, store: MemoryStore
) -> None:
    gate = Gate()
    store.before_write = gate.hold
    async with running_actors(world):
        async with trio.open_nursery() as askers:
            askers.start_soon(world.ask, Execute(RECTANGLE))
            await gate.entered.wait()
            askers.cancel_scope.cancel()
        gate.open()
        drawn = await world.ask(TakePicture("canvas"))
        assert drawn.world.revision == 1
        assert [commit.world.revision for commit in store.commits if commit.world] == [1]


async def test_an_engine_that_is_cancelled_lets_the_commit_end_and_then_closes_the_store(
    world: WorldActor, store: MemoryStore
) -> None:
    gate = Gate()
    store.before_write = gate.hold
    with trio.fail_after(5):
        async with trio.open_nursery() as nursery:
            await nursery.start(world.run)
            await world.tell(Execute(RECTANGLE))
            await gate.entered.wait()
            nursery.cancel_scope.cancel()
            gate.open()
    assert (len(store.commits), store.close_count) == (1, 1)
    assert world.state.active_world.revision == 1


async def test_the_store_is_closed_once_after_the_last_command(world: WorldActor, store: MemoryStore) -> None:
    async with running_actors(world):
        for _ in range(3):
            await world.tell(Execute(RECTANGLE))
        world.close()
        await world.wait_finished()
        assert (len(store.commits), store.close_count) == (3, 1)


async def test_a_change_that_is_based_on_an_older_revision_is_refused(world: WorldActor, store: MemoryStore) -> None:
    async with running_actors(world):
        first = await world.ask(Execute(RECTANGLE, base_revision=0))
        for message in (Execute(RECTANGLE, base_revision=0), Undo(base_revision=0), Redo(base_revision=7)):
            with pytest.raises(StaleError, match="at revision 1"):
                await world.ask(message)
        assert len(store.commits) == 1
        assert (await world.ask(Undo(base_revision=first.revision))).changed


async def test_the_steps_of_a_program_become_one_step_in_every_world_it_was_in(
    world: WorldActor, store: MemoryStore
) -> None:
    async with running_actors(world):
        for _ in range(2):
            await world.ask(Execute(RECTANGLE, step_group="program-1"))
        created = await world.ask(Execute(CreateWorld("second", activate=True), step_group="program-1"))
        for _ in range(3):
            await world.ask(Execute(RECTANGLE, step_group="program-1"))
        assert created.changed
        assert await world.ask(MergeSteps("program-1", "boxes")) == MergedInWorlds(5, 2, 2)
        assert world.status.value.undo_count == 1
        assert (await world.ask(Undo())).result.label == "boxes"
        assert await world.ask(MergeSteps("program-1", "boxes")) == MergedInWorlds()
    assert [len(commit.world.steps) for commit in store.commits[-3:-1] if commit.world] == [1, 1]
