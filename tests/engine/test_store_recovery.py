"""A deleted world is kept for 30 days and comes back whole; an imported one is kept like any other."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from engine.codec import UndecodableError
from engine.commands import CreateWorld, DeleteWorld
from engine.engine import Engine
from engine.errors import NotFoundError
from engine.keeping import ImportWorld, RecoverWorld
from engine.store import Store, StoreError
from engine.store_loading import decoded
from engine.store_rows import DELETED_WORLDS_ARE_KEPT
from engine.world import WorldContent
from tests.engine.samples import NOW, Write, note_codec
from tests.engine.world_files import file_of, read_notes, sorted_content, world_of

LATER = NOW + timedelta(days=12)


@contextmanager
def opened(folder: Path, now: datetime = NOW) -> Generator[tuple[Store, Engine]]:
    with Store.open(folder, now=now, codec=note_codec()) as store:
        yield store, Engine(store.load(), clock=lambda: now, selection_kind=lambda *_: None)


def with_a_deleted_garden(folder: Path) -> WorldContent:
    """Make a garden with a history, delete it, and return what was in it."""
    with opened(folder) as (store, engine):
        store.write(engine.execute(CreateWorld("garden", activate=True)).commit)
        for text in "abc":
            store.write(engine.execute(Write(text)).commit)
        store.write(engine.undo().commit)
        content = engine.content_of("world-2")
        store.write(engine.execute(DeleteWorld("world-2", "garden")).commit)
    return sorted_content(content)


def recover(store: Store, engine: Engine, now: datetime = LATER) -> None:
    world = decoded(store.read_deleted("world-2", now), note_codec())
    store.write(engine.execute(RecoverWorld(world)).commit)


def test_a_deleted_world_is_listed_with_its_time(tmp_path: Path) -> None:
    with_a_deleted_garden(tmp_path)
    with opened(tmp_path, LATER) as (store, _):
        (world,) = store.deleted_worlds(LATER)
    assert (world.id, world.name, world.deleted_at) == ("world-2", "garden", NOW)
    assert world.recoverable_until == NOW + timedelta(days=30)


def test_a_recovered_world_has_its_content_its_history_and_its_place_after_a_restart(tmp_path: Path) -> None:
    content = with_a_deleted_garden(tmp_path)
    with opened(tmp_path, LATER) as (store, engine):
        recover(store, engine)
        assert sorted_content(engine.content_of("world-2")) == content
        assert store.deleted_worlds(LATER) == ()
        worlds = engine.worlds()
    with opened(tmp_path, LATER) as (_, engine):
        assert engine.worlds() == worlds
        assert sorted_content(engine.content_of("world-2")) == content


def test_a_world_is_recoverable_to_the_last_moment_and_gone_after_it(tmp_path: Path) -> None:
    with_a_deleted_garden(tmp_path)
    last = NOW + DELETED_WORLDS_ARE_KEPT
    too_late = last + timedelta(seconds=1)
    with opened(tmp_path, last) as (store, _):
        assert store.read_deleted("world-2", last).rows.records
        with pytest.raises(NotFoundError, match="kept: none"):
            store.read_deleted("world-2", too_late)
    with opened(tmp_path, too_late) as (store, _):
        assert store.deleted_worlds(NOW) == (), "it was purged"


@pytest.mark.parametrize("world_id", ["world-1", "world-9", "", "'; --"])
def test_what_is_not_deleted_is_not_found(tmp_path: Path, world_id: str) -> None:
    with_a_deleted_garden(tmp_path)
    with opened(tmp_path) as (store, _):
        for ask in (store.read_deleted, store.mend_deleted):
            with pytest.raises(NotFoundError, match=r"world-2 \(garden\)"):
                ask(world_id, NOW)


def test_a_recovery_of_what_has_changed_since_it_was_read_is_refused(tmp_path: Path) -> None:
    with_a_deleted_garden(tmp_path)
    with opened(tmp_path) as (store, engine):
        old = decoded(store.read_deleted("world-2", NOW), note_codec())
        recover(store, engine, NOW)
        store.write(engine.execute(DeleteWorld("world-1", "home")).commit)
        store.write(engine.execute(Write("later")).commit)
        store.write(engine.execute(CreateWorld("other", activate=True)).commit)
        store.write(engine.execute(DeleteWorld("world-2", "garden")).commit)
        executed = engine.execute(RecoverWorld(old))
        with pytest.raises(StoreError, match="changed since"):
            store.write(executed.commit)
        engine.revert(executed)
        assert [world.name for world in store.deleted_worlds(NOW)] == ["garden", "home"]


def test_a_damaged_deleted_world_comes_back_without_what_cannot_be_decoded(tmp_path: Path) -> None:
    with_a_deleted_garden(tmp_path)
    with closing(sqlite3.connect(tmp_path / "space.db")) as connection, connection:
        assert connection.execute("UPDATE records SET data = '{' WHERE id = 'note-1'").rowcount == 1
    with opened(tmp_path) as (store, engine):
        with pytest.raises(UndecodableError):
            decoded(store.read_deleted("world-2", NOW), note_codec())
        world, reports = store.mend_deleted("world-2", NOW)
        assert [("note note-1" in report, "world-2" in report) for report in reports] == [(True, True)]
        store.write(engine.execute(RecoverWorld(world)).commit)
    with opened(tmp_path) as (_, engine):
        ids = {record.id for record in engine.content_of("world-2").records}
        assert ids == {"note-2", "note"}


@pytest.mark.parametrize("harm", ["DELETE FROM steps WHERE sequence = 2", "UPDATE worlds SET position = 7"])
def test_a_history_with_a_gap_is_not_decoded_as_if_it_were_whole(tmp_path: Path, harm: str) -> None:
    with_a_deleted_garden(tmp_path)
    with closing(sqlite3.connect(tmp_path / "space.db")) as connection, connection:
        connection.execute(harm)
    with Store.open(tmp_path, now=NOW, codec=note_codec()) as store, pytest.raises(UndecodableError, match="missing"):
        decoded(store.read_deleted("world-2", NOW), note_codec())


def test_an_imported_world_is_there_after_a_restart(tmp_path: Path) -> None:
    file = read_notes(file_of(world_of([Write("a"), Write("b"), Write("c")], undo=1), note_codec()))
    with opened(tmp_path) as (store, engine):
        store.write(engine.execute(ImportWorld(file, "yard")).commit)
        store.write(engine.execute(DeleteWorld("world-1", "home")).commit)
        store.write(engine.redo().commit)
        store.write(engine.execute(Write("d")).commit)
        content = sorted_content(engine.content_of("world-2"))
    with opened(tmp_path) as (_, engine):
        assert sorted_content(engine.content_of("world-2")) == content
        assert engine.active_world.undo_count == 4
