"""A small domain for the tests of the ground: notes, an index over them, and commands. Knows nothing of drawings."""

from __future__ import annotations

from collections import Counter as Tally
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import ClassVar, Literal

from hypothesis import strategies as st

from engine.codec import Codec
from engine.errors import ConflictError
from engine.records import Counter, Record, RecordTable, Transaction
from engine.world import Command

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Record):
    """A note. Undo knows it."""

    collection: ClassVar[str] = "note"
    kind: Literal["note"] = "note"
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading(Record):
    """Of the same family as a note."""

    collection: ClassVar[str] = "note"
    kind: Literal["heading"] = "heading"
    level: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor(Record):
    """Where the reader is. Undo leaves it alone."""

    collection: ClassVar[str] = "cursor"
    id: str = "cursor"
    at: str | None = None


RECORD_TYPES: tuple[type[Record], ...] = (Counter, Note, Heading, Cursor)


def note_codec() -> Codec:
    return Codec(RECORD_TYPES)


class TextIndex:
    """How many notes have each text."""

    collections: ClassVar[frozenset[str]] = frozenset({Note.collection})

    def __init__(self) -> None:
        self.tally: Tally[str] = Tally()

    def apply(self, before: Record | None, after: Record | None) -> None:
        if isinstance(before, Note):
            self.tally[before.text] -= 1
            if not self.tally[before.text]:
                del self.tally[before.text]
        if isinstance(after, Note):
            self.tally[after.text] += 1


@dataclass(frozen=True)
class Write(Command[str]):
    """Make a note and return its id."""

    label = "write"
    text: str = "hello"

    def run(self, world: Transaction) -> str:
        note = Note(id=world.new_id("note"), text=self.text)
        world.put(note)
        return note.id


@dataclass(frozen=True)
class Edit(Command[int]):
    """Give every note of the second text the first one, and return how many there were."""

    label = "edit"
    text: str
    was: str

    def run(self, world: Transaction) -> int:
        found = [note for note in world.all(Note) if note.text == self.was]
        for note in found:
            world.put(Note(id=note.id, text=self.text))
        return len(found)


@dataclass(frozen=True)
class Erase(Command[None]):
    """Remove the notes of a text, by way of another text."""

    label = "erase"
    text: str

    def run(self, world: Transaction) -> None:
        for note in list(world.all(Note)):
            if note.text == self.text:
                world.put(Note(id=note.id, text="going"))
                world.remove(Note, note.id)


@dataclass(frozen=True)
class Move(Command[None]):
    """Move the cursor: kept, but no step."""

    label = "move"
    undoable = False
    at: str

    def run(self, world: Transaction) -> None:
        world.put(Cursor(at=self.at))


@dataclass(frozen=True)
class Scribble(Command[None]):
    """Change or remove every note behind the back of the history."""

    label = "scribble"
    undoable = False
    text: str | None

    def run(self, world: Transaction) -> None:
        for note in list(world.all(Note)):
            if self.text is None:
                world.remove(Note, note.id)
            else:
                world.put(Note(id=note.id, text=self.text))


@dataclass(frozen=True)
class Break(Command[None]):
    """Change much, then fail."""

    label = "break"

    def run(self, world: Transaction) -> None:
        for note in list(world.all(Note)):
            world.remove(Note, note.id)
        world.put(Note(id=world.new_id("note"), text="half"))
        world.put(Cursor(at="lost"))
        raise ConflictError("this always fails")


texts = st.sampled_from(["a", "b", "c", ""])
commands: st.SearchStrategy[Command[object]] = st.one_of(
    st.builds(Write, texts), st.builds(Edit, texts, texts), st.builds(Erase, texts), st.builds(Move, texts)
)


def content(table: RecordTable) -> dict[tuple[str, str], Record]:
    """Everything in the table."""
    return {(record.collection, record.id): record for record in table}


def undoable_content(table: RecordTable) -> dict[tuple[str, str], Record]:
    """What undo is answerable for."""
    return {key: record for key, record in content(table).items() if key[0] == Note.collection}


def assert_index_is_true(table: RecordTable) -> None:
    """The index that followed every change says what a new one would say."""
    assert table.index(TextIndex).tally == RecordTable(table).index(TextIndex).tally
