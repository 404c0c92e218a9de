"""The table, its indexes and the transaction on it."""

from __future__ import annotations

import pytest

from engine.records import Change, Counter, RecordTable, Transaction
from tests.engine.samples import Cursor, Heading, Note, TextIndex, assert_index_is_true, content

HELLO = Note(id="note-1", text="hello")
WORLD = Note(id="note-2", text="world")


def test_a_record_is_found_by_its_class_and_id() -> None:
    table = RecordTable([HELLO])
    assert table.get(Note, "note-1") == HELLO
    assert table.get(Note, "note-9") is None


def test_a_record_of_another_class_of_the_family_is_not_taken_for_it() -> None:
    table = RecordTable([Heading(id="note-1", level=1.0), WORLD])
    assert table.get(Note, "note-1") is None
    assert table.find("note", "note-1") == Heading(id="note-1", level=1.0)
    assert list(table.all(Note)) == [WORLD]
    assert table.count(Note) == 2


def test_a_put_shows_at_once_and_is_noted_with_what_stood_there_before() -> None:
    table = RecordTable([HELLO])
    transaction = Transaction(table, 0)
    transaction.put(Note(id="note-1", text="bye"))
    assert transaction.get(Note, "note-1") == Note(id="note-1", text="bye")
    assert transaction.changes() == (Change("note", "note-1", HELLO, Note(id="note-1", text="bye")),)


def test_writing_an_equal_record_and_removing_what_is_not_there_change_nothing() -> None:
    transaction = Transaction(RecordTable([HELLO]), 0)
    transaction.put(Note(id="note-1", text="hello"))
    transaction.remove(Note, "note-9")
    assert transaction.changes() == ()


def test_several_changes_of_one_record_become_one() -> None:
    transaction = Transaction(RecordTable([HELLO]), 0)
    transaction.put(Note(id="note-1", text="once"))
    transaction.put(Note(id="note-1", text="twice"))
    assert transaction.changes() == (Change("note", "note-1", HELLO, Note(id="note-1", text="twice")),)


def test_there_and_back_again_is_no_change() -> None:
    transaction = Transaction(RecordTable([HELLO]), 0)
    transaction.remove(Note, "note-1")
    transaction.put(HELLO)
    transaction.put(WORLD)
    transaction.remove(Note, "note-2")
    assert transaction.changes() == ()


def test_a_merged_change_is_undoable_when_any_part_of_it_is() -> None:
    transaction = Transaction(RecordTable(), 0)
    transaction.put(HELLO, undoable=False)
    transaction.put(Note(id="note-1", text="bye"))
    assert [change.undoable for change in transaction.changes()] == [True]


def test_new_ids_count_per_series_and_are_not_undoable() -> None:
    transaction = Transaction(RecordTable([Counter(id="object", next=7)]), 0)
    assert [transaction.new_id("object"), transaction.new_id("layer"), transaction.new_id("object")] == [
        "object-7",
        "layer-1",
        "object-8",
    ]
    assert all(not change.undoable for change in transaction.changes())


def test_an_index_follows_changes_and_their_rollback() -> None:
    table = RecordTable([HELLO])
    assert table.index(TextIndex).tally == {"hello": 1}
    transaction = Transaction(table, 0)
    transaction.put(WORLD)
    transaction.put(Note(id="note-1", text="world"))
    assert transaction.index(TextIndex).tally == {"world": 2}
    transaction.rollback()
    assert table.index(TextIndex).tally == {"hello": 1}
    assert_index_is_true(table)


def test_an_index_hears_nothing_of_other_collections() -> None:
    table = RecordTable([HELLO])
    index = table.index(TextIndex)
    Transaction(table, 0).put(Cursor(at="note-1"))
    assert table.index(TextIndex) is index
    assert index.tally == {"hello": 1}


def test_an_error_within_the_block_rolls_back_and_goes_on() -> None:
    table = RecordTable([HELLO])

    def fail() -> None:
        with Transaction(table, 0) as transaction:
            transaction.remove(Note, "note-1")
            transaction.put(WORLD)
            raise KeyError("a bug")

    with pytest.raises(KeyError, match="a bug"):
        fail()
    assert content(table) == {("note", "note-1"): HELLO}
