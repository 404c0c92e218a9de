"""What was written is there when the store is opened again, and nothing else is."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.commands import CreateWorld, DeleteWorld, SetTheme, SwitchWorld
from engine.data_folder import FolderInUseError
from engine.engine import Engine, EngineCommand, EngineExecuted
from engine.errors import EngineError
from engine.records import Change
from engine.settings import Settings
from engine.store import Store, StoreError
from engine.stored import Commit, StoredState, WorldCommit, fresh_state
from engine.world import Command, Step
from tests.engine.samples import NOW, Heading, Note, Write, commands, content, note_codec


def open_store(folder: Path) -> Store:
    return Store.open(folder, now=NOW, codec=note_codec())


@contextmanager
def opened(folder: Path) -> Generator[tuple[Store, Engine]]:
    with open_store(folder) as store:
        yield store, Engine(store.load(), clock=lambda: NOW, selection_kind=lambda *_: None)


def do(store: Store, engine: Engine, *commands: Command[object] | EngineCommand[object]) -> None:
    for command in commands:
        store.write(engine.execute(command).commit)


def picture(engine: Engine) -> tuple[object, ...]:
    """Everything that must come back: each world's content and history too."""
    worlds = engine.worlds()
    inside = [content_of(engine, world.id) for world in worlds]
    return (engine.settings, worlds, inside, engine.execute(CreateWorld("probe")).result.id)


def content_of(engine: Engine, world_id: str) -> tuple[object, ...]:
    world = engine._state.entries[world_id].world
    return (content(world.read()), tuple(world._steps), world.undo_count)


def test_a_new_data_folder_holds_one_world_named_home(tmp_path: Path) -> None:
    with open_store(tmp_path / "made" / "here") as store:
        assert store.load() == fresh_state(NOW)


def test_what_was_written_is_there_again(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"), Write("b"), SetTheme("light"), CreateWorld("garden", activate=True), Write("c"))
        store.write(engine.undo().commit)
        expected = picture(engine)
    with opened(tmp_path) as (_, engine):
        assert picture(engine) == expected


def test_the_history_can_be_undone_and_redone_after_reopening(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"), Write("b"), Write("c"))
        store.write(engine.undo().commit)
    with opened(tmp_path) as (store, engine):
        assert [engine.undo().result.label, engine.undo().result.label] == ["write", "write"]
        for _ in range(3):
            engine.redo()
        assert sorted(note.text for note in engine.active_world.read().all(Note)) == ["a", "b", "c"]


def test_steps_that_a_new_step_discards_are_gone_from_the_store(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"), Write("b"), Write("c"))
        for _ in range(2):
            store.write(engine.undo().commit)
        do(store, engine, Write("d"))
    with opened(tmp_path) as (_, engine):
        assert (engine.active_world.undo_count, engine.active_world.redo_count) == (2, 0)
        assert sorted(note.text for note in engine.active_world.read().all(Note)) == ["a", "d"]


def test_writing_nothing_writes_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, _):
        before = store._connection.total_changes
        store.write(Commit())
        assert store._connection.total_changes == before


def test_only_what_has_changed_is_written(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, *[Write(str(number)) for number in range(50)])
        before = store._connection.total_changes
        do(store, engine, Write("one more"))
        assert store._connection.total_changes - before == 4, "the world's row, the note, the counter and the step"


@pytest.mark.slow
@given(st.data())
@settings(max_examples=25, deadline=None)
def test_after_any_commands_a_new_engine_is_as_the_old_one(data: st.DataObject) -> None:
    actions: list[Action] = data.draw(st.lists(all_actions, max_size=15))
    with TemporaryDirectory() as folder:
        with opened(Path(folder)) as (store, engine):
            for action in actions:
                executed = attempt(engine, action)
                if executed is not None and data.draw(st.booleans(), label="the store takes it"):
                    store.write(executed.commit)
                elif executed is not None:
                    engine.revert(executed)
            expected = picture(engine)
        with opened(Path(folder)) as (_, engine):
            assert picture(engine) == expected


Action = Command[object] | EngineCommand[object] | Callable[[Engine], EngineExecuted[object]]

all_actions: st.SearchStrategy[Action] = st.one_of(
    commands,
    st.builds(CreateWorld, st.sampled_from(["two", "three"]), activate=st.booleans()),
    st.builds(SwitchWorld, st.sampled_from(["world-1", "world-2", "world-3"])),
    st.builds(DeleteWorld, st.just("world-2"), st.sampled_from(["two", "three"])),
    st.builds(SetTheme, st.sampled_from(["dark", "light"])),
    st.sampled_from([Engine.undo, Engine.redo]),
)


def attempt(engine: Engine, action: Action) -> EngineExecuted[object] | None:
    try:
        return engine.execute(action) if isinstance(action, Command | EngineCommand) else action(engine)
    except EngineError:
        return None


def test_a_second_engine_is_refused_naming_folder_and_process(tmp_path: Path) -> None:
    with open_store(tmp_path), pytest.raises(FolderInUseError, match=rf"{tmp_path}.*process {os.getpid()}"):
        open_store(tmp_path)


def test_a_closed_store_can_be_opened_again_and_closed_twice(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.close()
    store.close()
    open_store(tmp_path).close()


def test_a_failed_opening_gives_the_folder_back(tmp_path: Path) -> None:
    (tmp_path / "space.db").mkdir()
    for _ in range(2):
        with pytest.raises(StoreError, match=r"space\.db"):
            open_store(tmp_path)


def test_a_data_folder_that_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="file"):
        open_store(tmp_path / "file" / "data")


def test_a_commit_that_cannot_be_encoded_leaves_store_and_engine_as_they_were(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"))
        executed = engine.execute(Write(7))  # pyright: ignore[reportArgumentType]
        with pytest.raises(ValueError, match="Expected `str`"):
            store.write(executed.commit)
        engine.revert(executed)
        do(store, engine, Write("b"))
        expected = picture(engine)
    with opened(tmp_path) as (_, engine):
        assert picture(engine) == expected


def test_a_write_that_fails_in_the_middle_leaves_nothing_behind(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"))
        step = Step(1, "again", ())
        clash = WorldCommit(world_id="world-1", revision=9, position=9, changes=(), steps=(step,))
        with pytest.raises(StoreError, match="UNIQUE"):
            store.write(Commit(settings=Settings(active_world_id="world-1", theme="light"), world=clash))
        expected = picture(engine)
    with opened(tmp_path) as (_, engine):
        assert picture(engine) == expected


def test_a_commit_of_a_world_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, _), pytest.raises(StoreError, match="world-9"):
        store.write(Commit(world=WorldCommit(world_id="world-9", revision=1, position=0, changes=())))


def test_a_full_disk_is_said_and_nothing_is_lost(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"))
        pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
        store._connection.execute(f"PRAGMA max_page_count = {pages}")
        executed = engine.execute(Write("x" * 100_000))
        with pytest.raises(StoreError, match="full"):
            store.write(executed.commit)
        engine.revert(executed)
        expected = picture(engine)
    with opened(tmp_path) as (_, engine):
        assert picture(engine) == expected


def test_a_deleted_world_stays_in_the_store_for_thirty_days_and_is_then_removed(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, CreateWorld("garden", activate=True), Write("rose"), DeleteWorld("world-2", "garden"))
    later = NOW + timedelta(days=30)
    for now, kept in ((later, True), (later + timedelta(seconds=1), False)):
        with Store.open(tmp_path, now=now, codec=note_codec()) as store:
            for table, column in (("worlds", "id"), ("records", "world_id"), ("steps", "world_id")):
                query = f"SELECT count(*) > 0 FROM {table} WHERE {column} = 'world-2'"
                assert store._connection.execute(query).fetchone() == (kept,)
            assert [world.id for world in store.load().worlds] == ["world-1"]


def test_the_number_of_a_purged_world_is_not_used_again(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, CreateWorld("garden"), DeleteWorld("world-2", "garden"))
    with Store.open(tmp_path, now=NOW + timedelta(days=90), codec=note_codec()) as store:
        assert store.load().next_world_number == 3


def test_another_program_may_read_while_the_engine_works(tmp_path: Path) -> None:
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"))
        reader = sqlite3.connect(tmp_path / "space.db")
        assert reader.execute("SELECT count(*) FROM steps").fetchone() == (1,)
        reader.close()


def test_a_family_of_records_comes_back_in_its_classes(tmp_path: Path) -> None:
    heading = Heading(id="note-7", level=0.1)
    with opened(tmp_path) as (store, engine):
        do(store, engine, Write("a"))
        change = Change("note", "note-7", None, heading)
        store.write(Commit(world=WorldCommit(world_id="world-1", revision=2, position=1, changes=(change,))))
    with open_store(tmp_path) as store:
        assert heading in stored_records(store.load())


def stored_records(state: StoredState) -> list[object]:
    return [record for world in state.worlds for record in world.records]
