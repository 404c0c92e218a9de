"""Damage is set aside, reported, never overwritten, and does not stop the rest."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from engine.engine import Engine
from engine.records import Counter
from engine.store import Store, StoreError
from engine.store_schema import SCHEMA_VERSION
from engine.stored import StoredState, fresh_state
from tests.engine.samples import NOW, Note, Write, note_codec


def load(folder: Path) -> StoredState:
    with Store.open(folder, now=NOW, codec=note_codec()) as store:
        return store.load()


def filled(folder: Path, *texts: str, undo: int = 0) -> Path:
    with Store.open(folder, now=NOW, codec=note_codec()) as store:
        engine = Engine(store.load(), clock=lambda: NOW, selection_kind=lambda *_: None)
        for text in texts:
            store.write(engine.execute(Write(text)).commit)
        for _ in range(undo):
            store.write(engine.undo().commit)
    return folder / "space.db"


def damage(file: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        assert connection.execute(statement, values).rowcount > 0


def set_aside_rows(file: Path) -> list[tuple[str, str, str]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute("SELECT what, name, data FROM set_aside ORDER BY number").fetchall()


def overwrite_a_page(file: Path) -> None:
    with file.open("r+b") as raw:
        raw.seek(4096)
        raw.write(b"\xa5" * 8192)


def cut_short(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: 3 * 4096])


def be_text(file: Path) -> None:
    file.write_text("this is no database, but it was somebody's work\n" * 100)


def be_of_another_program(file: Path) -> None:
    file.unlink()
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("CREATE TABLE songs (title TEXT)")


@pytest.mark.parametrize("breaking", [overwrite_a_page, cut_short, be_text, be_of_another_program])
def test_a_broken_file_is_kept_under_another_name_and_reported(
    tmp_path: Path, breaking: Callable[[Path], None]
) -> None:
    file = filled(tmp_path, *[str(number) * 200 for number in range(60)])
    breaking(file)
    broken = file.read_bytes()
    state = load(tmp_path)
    assert (state.worlds, state.settings) == (fresh_state(NOW).worlds, fresh_state(NOW).settings)
    (report,) = state.reports
    assert "space.db.broken-1" in report
    assert (tmp_path / "space.db.broken-1").read_bytes() == broken


def test_a_broken_file_never_takes_the_name_of_an_earlier_one(tmp_path: Path) -> None:
    (tmp_path / "space.db.broken-1").write_text("first")
    (tmp_path / "space.db.broken-2-wal").write_text("a part of the second")
    (tmp_path / "space.db").write_text("third")
    (tmp_path / "space.db-wal").write_text("its log")
    assert "space.db.broken-3" in load(tmp_path).reports[0]
    assert (tmp_path / "space.db.broken-1").read_text() == "first"
    assert (tmp_path / "space.db.broken-3").read_text() == "third"
    assert (tmp_path / "space.db.broken-3-wal").read_text() == "its log"


def test_the_log_of_a_file_that_is_gone_is_kept_too(tmp_path: Path) -> None:
    (tmp_path / "space.db-wal").write_text("all that is left")
    assert "broken-1" in load(tmp_path).reports[0]
    assert (tmp_path / "space.db.broken-1-wal").read_text() == "all that is left"


def test_the_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    file = filled(tmp_path, "a")
    with closing(sqlite3.connect(file)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    before = file.read_bytes()
    with pytest.raises(StoreError, match="newer version"):
        load(tmp_path)
    assert file.read_bytes() == before
    assert not list(tmp_path.glob("*.broken-*"))


def test_an_empty_file_is_a_new_store(tmp_path: Path) -> None:
    (tmp_path / "space.db").touch()
    assert load(tmp_path) == fresh_state(NOW)


def test_a_record_that_cannot_be_decoded_is_set_aside_and_the_rest_is_there(tmp_path: Path) -> None:
    file = filled(tmp_path, "a", "b", "c")
    damage(file, "UPDATE records SET data = '{\"id\":' WHERE id = 'note-2'")
    state = load(tmp_path)
    assert sorted(note.text for note in state.worlds[0].records if isinstance(note, Note)) == ["a", "c"]
    (report,) = state.reports
    assert "note note-2" in report
    assert set_aside_rows(file) == [("record", "note note-2", '{"id":')]
    assert load(tmp_path).reports == (), "it is reported once"


def test_a_record_of_a_collection_that_no_domain_knows_is_set_aside(tmp_path: Path) -> None:
    file = filled(tmp_path, "a")
    damage(file, "INSERT INTO records VALUES ('world-1', 'ghost', 'ghost-1', '{}')")
    assert "collection 'ghost' is unknown" in load(tmp_path).reports[0]
    assert set_aside_rows(file) == [("record", "ghost ghost-1", "{}")]


def test_a_counter_that_is_lost_goes_on_behind_every_id_that_was_used(tmp_path: Path) -> None:
    file = filled(tmp_path, "a", "b", "c", undo=2)
    damage(file, "UPDATE records SET data = 'gone' WHERE collection = 'counter'")
    for _ in range(2):
        assert Counter(id="note", next=4) in load(tmp_path).worlds[0].records


@pytest.mark.parametrize(
    ("undo", "broken", "kept", "position", "lost"),
    [
        (0, 2, ["c", "d"], 2, [2, 1]),
        (0, 4, [], 0, [4, 1, 2, 3]),
        (2, 3, ["a", "b"], 2, [3, 4]),
        (2, 1, ["b", "c", "d"], 1, [1]),
        (4, 1, [], 0, [1, 2, 3, 4]),
    ],
)
def test_a_history_ends_where_a_step_cannot_be_decoded(
    tmp_path: Path, undo: int, broken: int, kept: list[str], position: int, lost: list[int]
) -> None:
    file = filled(tmp_path, "a", "b", "c", "d", undo=undo)
    damage(file, "UPDATE steps SET changes = '[1]' WHERE sequence = ?", broken)
    for reports in (len(lost), 0):
        state = load(tmp_path)
        assert len(state.reports) == reports
        (world,) = state.worlds
        texts = [change.after.text for step in world.steps for change in step.changes if isinstance(change.after, Note)]
        assert texts == kept
        assert [step.sequence for step in world.steps] == list(range(1, len(kept) + 1))
        assert world.position == position
    assert [name for _, name, _ in set_aside_rows(file)] == [f"{number} write" for number in lost]


def test_a_mended_history_can_be_undone_and_written_on(tmp_path: Path) -> None:
    file = filled(tmp_path, "a", "b", "c", "d", undo=1)
    damage(file, "UPDATE steps SET changes = '[1]' WHERE sequence = 1")
    with Store.open(tmp_path, now=NOW, codec=note_codec()) as store:
        engine = Engine(store.load(), clock=lambda: NOW, selection_kind=lambda *_: None)
        store.write(engine.undo().commit)
        store.write(engine.execute(Write("e")).commit)
        assert (engine.active_world.undo_count, engine.active_world.redo_count) == (2, 0)
    (world,) = load(tmp_path).worlds
    assert sorted(note.text for note in world.records if isinstance(note, Note)) == ["a", "b", "e"]
    assert (world.position, len(world.steps)) == (2, 2)


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE settings SET value = '7' WHERE name = 'theme'", "theme"),
        ("UPDATE settings SET value = '\"mauve\"' WHERE name = 'theme'", "mauve"),
        ("UPDATE settings SET value = '{' WHERE name = 'canvas_visible'", "canvas_visible"),
        ("UPDATE settings SET value = '\"world-9\"' WHERE name = 'active_world_id'", "world-9"),
        ("UPDATE settings SET value = 'null' WHERE name = 'next_world_number'", "next_world_number"),
        ("INSERT INTO settings VALUES ('volume', '11')", "volume"),
    ],
)
def test_a_setting_that_makes_no_sense_falls_back_and_is_reported_once(
    tmp_path: Path, statement: str, words: str
) -> None:
    file = filled(tmp_path, "a")
    damage(file, statement)
    state = load(tmp_path)
    assert (state.settings, state.next_world_number) == (fresh_state(NOW).settings, 2)
    (report,) = state.reports
    assert words in report
    assert load(tmp_path).reports == ()


def test_a_store_without_a_world_gets_an_empty_one_under_a_new_id(tmp_path: Path) -> None:
    file = filled(tmp_path, "a")
    damage(file, "UPDATE worlds SET deleted_at = ?", NOW.isoformat())
    state = load(tmp_path)
    assert [(world.id, world.name, world.records) for world in state.worlds] == [("world-2", "home", ())]
    assert state.settings.active_world_id == "world-2"
    assert len(state.reports) == 2
    assert load(tmp_path).worlds == state.worlds


@pytest.mark.parametrize("text", ["yesterday", "2026-01-02"])
def test_a_time_that_is_no_time_in_utc_does_not_stop_the_rest(tmp_path: Path, text: str) -> None:
    file = filled(tmp_path, "a")
    damage(file, "UPDATE worlds SET created_at = ?", text)
    damage(file, "INSERT INTO worlds VALUES (7, 'world-7', 'old', 'x', ?, 0, 0)", text)
    assert [(world.id, world.created_at) for world in load(tmp_path).worlds] == [("world-1", NOW)]


def test_a_missing_step_in_the_middle_ends_the_history_too(tmp_path: Path) -> None:
    file = filled(tmp_path, "a", "b", "c")
    damage(file, "DELETE FROM steps WHERE sequence = 2")
    (world,) = load(tmp_path).worlds
    assert (len(world.steps), world.position) == (1, 1)
