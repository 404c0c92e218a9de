"""Whole worlds through the actors: exported, imported, recovered; durable before they are answered."""

from __future__ import annotations

import io
import sqlite3
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest
import trio
import trio.testing
from structlog.testing import capture_logs

from actors.space import Space, SpaceOptions
from actors.world_keeping import TakeWorld
from engine.commands import CreateWorld, DeleteWorld, ListWorlds, SwitchWorld
from engine.drawing.insert import InsertBox
from engine.engine import Engine
from engine.errors import ConflictError, NotFoundError
from engine.store import Store
from engine.stored import Commit
from engine.world_file_error import WorldFileError
from tests.actors.fakes import NOW, running
from tests.engine.world_files import sorted_content

RECTANGLE = InsertBox(kind="rectangle", x=0, y=0, width=2, height=1)


class WatchedStore:
    """A real store; `before_write` runs in its thread before a commit is written."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.before_write: Callable[[Commit], None] = lambda _: None
        self.deleted_worlds = store.deleted_worlds
        self.read_deleted = store.read_deleted
        self.mend_deleted = store.mend_deleted
        self.close = store.close

    def write(self, commit: Commit) -> None:
        self.before_write(commit)
        self._store.write(commit)


@asynccontextmanager
async def space_in(folder: Path) -> AsyncGenerator[tuple[Space, WatchedStore]]:
    """An engine on a real store, without tools."""
    opened = Store.open(folder, now=NOW)
    store = WatchedStore(opened)
    engine = Engine(opened.load(), clock=lambda: NOW)
    async with running(Space(engine, store, SpaceOptions(workspace=folder))) as space:
        yield space, store


async def draw(space: Space, times: int = 2) -> None:
    for _ in range(times):
        await space.app.execute(RECTANGLE)


async def names(space: Space) -> list[str]:
    return [world.name for world in (await space.app.execute(ListWorlds())).result]


async def test_a_world_goes_out_and_comes_in_with_its_history_and_is_there_after_a_restart(tmp_path: Path) -> None:
    async with space_in(tmp_path) as (space, _):
        await draw(space, 3)
        await space.app.undo()
        exported = await space.library.export_world("world-1")
        world = await space.library.import_world(io.BytesIO(exported.data))
        assert (exported.info.id, world.id, world.name, world.active) == ("world-1", "world-2", "home 2", False)
        assert (await space.library.export_world("world-1")).data == exported.data, "the same world, the same bytes"
    async with space_in(tmp_path) as (space, _):
        await space.app.execute(SwitchWorld("world-2"))
        assert space.context.view.value.context.world_id == "world-2"
        status = space.world.status.value
        assert (status.undo_count, status.redo_count) == (2, 1)
        await space.app.redo()
        taken = await space.world.ask(TakeWorld("world-1"))
        copied = await space.world.ask(TakeWorld("world-2"))
        assert copied.content.steps == taken.content.steps


async def test_an_import_is_answered_after_it_is_durable(tmp_path: Path) -> None:
    async with space_in(tmp_path) as (space, store):
        await draw(space)
        data = (await space.library.export_world("world-1")).data
        entered, gate = trio.Event(), threading.Event()

        def hold(commit: Commit) -> None:
            trio.from_thread.run_sync(entered.set)
            assert gate.wait(5)

        store.before_write = hold
        answered: list[str] = []

        async def bring_in() -> None:
            answered.append((await space.library.import_world(io.BytesIO(data))).id)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(bring_in)
            await entered.wait()
            await trio.testing.wait_all_tasks_blocked()
            assert (answered, [world.name for world in space.world.status.value.worlds]) == ([], ["home"])
            gate.set()
        assert answered == ["world-2"]


async def test_an_import_that_the_store_refuses_has_never_happened(tmp_path: Path) -> None:
    def refuse(commit: Commit) -> None:
        raise ConflictError("the disk is full")

    async with space_in(tmp_path) as (space, store):
        await draw(space)
        data = (await space.library.export_world("world-1")).data
        store.before_write = refuse
        with pytest.raises(ConflictError, match="disk is full"):
            await space.library.import_world(io.BytesIO(data), "copy")
        assert await names(space) == ["home"]
        store.before_write = lambda _: None
        assert (await space.library.import_world(io.BytesIO(data), "copy")).id == "world-2"


async def test_a_file_that_is_none_changes_nothing(tmp_path: Path) -> None:
    async with space_in(tmp_path) as (space, _):
        before = space.world.status.value
        with pytest.raises(WorldFileError, match="not packed with gzip"):
            await space.library.import_world(io.BytesIO(b"hello"))
        assert space.world.status.value is before


async def test_a_long_export_does_not_hold_the_world_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, gate = trio.Event(), threading.Event()

    def slow(*_: object) -> bytes:
        trio.from_thread.run_sync(entered.set)
        assert gate.wait(5)
        return b"packed"

    monkeypatch.setattr("actors.world_library.write_world_file", slow)
    async with space_in(tmp_path) as (space, _), trio.open_nursery() as nursery:
        nursery.start_soon(space.library.export_world, "world-1")
        await entered.wait()
        await draw(space)
        assert space.world.status.value.undo_count == 2
        gate.set()


async def test_worlds_are_packed_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    gate = threading.Event()
    at_work: list[int] = []
    most: list[int] = []

    def slow(*_: object) -> bytes:
        at_work.append(1)
        most.append(len(at_work))
        assert gate.wait(5)
        at_work.pop()
        return b"packed"

    monkeypatch.setattr("actors.world_library.write_world_file", slow)
    async with space_in(tmp_path) as (space, _), trio.open_nursery() as nursery:
        for _ in range(3):
            nursery.start_soon(space.library.export_world, "world-1")
        await trio.testing.wait_all_tasks_blocked()
        await trio.to_thread.run_sync(lambda: None)
        gate.set()
    assert most == [1, 1, 1]


async def test_a_deleted_world_is_listed_and_comes_back(tmp_path: Path) -> None:
    async with space_in(tmp_path) as (space, _):
        await draw(space)
        await space.app.execute(CreateWorld("yard"))
        content = (await space.world.ask(TakeWorld("world-1"))).content
        await space.app.execute(DeleteWorld("world-1", "home"))
        assert space.context.view.value.context.world_id == "world-2"
        assert [(world.id, world.name) for world in await space.library.deleted_worlds()] == [("world-1", "home")]
        await space.app.execute(CreateWorld("home"))
        world = await space.library.recover_world("world-1")
        assert (world.id, world.name, world.active) == ("world-1", "home 2", False)
        assert sorted_content((await space.world.ask(TakeWorld("world-1"))).content) == sorted_content(content)
        assert await space.library.deleted_worlds() == ()
        with pytest.raises(NotFoundError, match="kept: none"):
            await space.library.recover_world("world-1")
    async with space_in(tmp_path) as (space, _):
        assert await names(space) == ["home 2", "yard", "home"]


async def test_a_damaged_deleted_world_comes_back_and_the_log_says_what_is_missing(tmp_path: Path) -> None:
    async with space_in(tmp_path) as (space, _):
        await draw(space)
        await space.app.execute(CreateWorld("yard"))
        await space.app.execute(DeleteWorld("world-1", "home"))
        with closing(sqlite3.connect(tmp_path / "space.db")) as connection, connection:
            assert connection.execute("UPDATE records SET data = '{' WHERE id = 'object-1'").rowcount == 1
        with capture_logs() as logs:
            world = await space.library.recover_world("world-1", "rest")
        assert [entry["event"] for entry in logs if entry["log_level"] == "error"] == ["store_report"]
        ids = {record.id for record in (await space.world.ask(TakeWorld(world.id))).content.records}
        assert "object-2" in ids
        assert "object-1" not in ids


async def test_two_who_recover_the_same_world_get_it_once(tmp_path: Path) -> None:
    async with space_in(tmp_path) as (space, _):
        await space.app.execute(CreateWorld("yard"))
        await space.app.execute(DeleteWorld("world-1", "home"))
        ends: list[str] = []

        async def bring_back() -> None:
            try:
                ends.append((await space.library.recover_world("world-1")).name)
            except (ConflictError, NotFoundError) as error:
                ends.append(type(error).__name__)

        async with trio.open_nursery() as nursery:
            nursery.start_soon(bring_back)
            nursery.start_soon(bring_back)
        assert sorted(ends) in (["ConflictError", "home"], ["NotFoundError", "home"])
        assert sorted(await names(space)) == ["home", "yard"]


async def test_what_is_not_there_is_not_exported(tmp_path: Path) -> None:
    async with space_in(tmp_path) as (space, _):
        with pytest.raises(NotFoundError, match=r"world-1 \(home\)"):
            await space.library.export_world("world-9")
