"""Records: the one form in which a world holds what is in it. Owns the table of a world and the transaction on it.

A world is a flat table of frozen records, grouped in collections; drawing, graph and scene bring their own record
classes. Whoever changes a world does it through a `Transaction`, which notes each change with what stood there before.
So undo, durability and "an error changes nothing" are written once, here, for every domain.
This module never looks into a record and never does I/O.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Protocol, Self, TypeVar

from engine.collector import collector_paused


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What every record has. Subclasses are frozen dataclasses; those of one family share the base's collection."""

    collection: ClassVar[str]
    id: str


RecordT = TypeVar("RecordT", bound=Record)


@dataclass(frozen=True, slots=True)
class Change:
    """One record as it was and as it is now; `None` where it does not exist. At least one side is a record.

    `undoable` is False for what undo must leave alone, such as counters of ids.
    """

    collection: str
    id: str
    before: Record | None
    after: Record | None
    undoable: bool = True

    def inverse(self) -> Change:
        """The change that takes this one back."""
        return Change(self.collection, self.id, self.after, self.before, self.undoable)


def merged_changes(changes: Iterable[Change]) -> tuple[Change, ...]:
    """What changes that came one after the other amount to.

    One entry per record (first before, last after), in order of first change; none for a record that is as it was.
    """
    merged: dict[tuple[str, str], Change] = {}
    for change in changes:
        key = (change.collection, change.id)
        first = merged.get(key)
        if first is None:
            merged[key] = change
        else:
            merged[key] = Change(
                change.collection, change.id, first.before, change.after, first.undoable or change.undoable
            )
    return tuple(change for change in merged.values() if change.before != change.after)


class Index(Protocol):
    """Derived data that follows the table, such as the drawing order. Built on first use, then told of each change."""

    collections: ClassVar[frozenset[str]]

    def __init__(self) -> None: ...

    def apply(self, before: Record | None, after: Record | None) -> None:
        """Follow one change of one record. Must be exact: applying the inverse leaves the index as it was."""
        ...


IndexT = TypeVar("IndexT", bound=Index)


class RecordTable:
    """The records of one world by collection and id, with the indexes that follow them."""

    def __init__(self, records: Iterable[Record] = ()) -> None:
        self._collections: dict[str, dict[str, Record]] = {}
        self._indexes: dict[type[Index], Index] = {}
        for record in records:
            self._collections.setdefault(record.collection, {})[record.id] = record

    def get(self, kind: type[RecordT], record_id: str) -> RecordT | None:
        """The record of that id in the collection of `kind`, or None."""
        record = self._collections.get(kind.collection, {}).get(record_id)
        if record is not None and not isinstance(record, kind):
            return None
        return record

    def find(self, collection: str, record_id: str) -> Record | None:
        """The record of that id in that collection, whatever its class, or None."""
        return self._collections.get(collection, {}).get(record_id)

    def all(self, kind: type[RecordT]) -> Iterator[RecordT]:
        """Every record of the collection of `kind` that is a `kind`, in no promised order."""
        return (r for r in self._collections.get(kind.collection, {}).values() if isinstance(r, kind))

    def count(self, kind: type[Record]) -> int:
        """How many records the collection of `kind` holds."""
        return len(self._collections.get(kind.collection, {}))

    def index(self, kind: type[IndexT]) -> IndexT:
        """The index of that class; built from the table when it is asked for the first time."""
        index = self._indexes.get(kind)
        if not isinstance(index, kind):
            index = kind()
            with collector_paused():
                for collection in kind.collections:
                    # A store gives ids as text, `node-10` before `node-2`. By their length they are about in the order
                    # of their creation, which costs an index least.
                    for record in sorted(self._collections.get(collection, {}).values(), key=_length_of_id):
                        index.apply(None, record)
            self._indexes[kind] = index
        return index

    def apply(self, change: Change) -> None:
        """Make the table hold `change.after`, and let the indexes follow."""
        records = self._collections.setdefault(change.collection, {})
        if change.after is None:
            records.pop(change.id, None)
        else:
            records[change.id] = change.after
        for index in self._indexes.values():
            if change.collection in index.collections:
                index.apply(change.before, change.after)

    def __iter__(self) -> Iterator[Record]:
        for records in self._collections.values():
            yield from records.values()


def _length_of_id(record: Record) -> int:
    return len(record.id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Counter(Record):
    """The next number of a series of ids (`object-7`). Never goes back, so that no id is ever used twice."""

    collection: ClassVar[str] = "counter"
    next: int = 1


class Transaction:
    """The only door through which a table is changed. Changes show at once; `rollback` takes all of them back.

    Made and ended by `World.execute`; a command gets it, works on it and forgets it.
    """

    def __init__(self, table: RecordTable, revision: int, world_id: str = "") -> None:
        self._table = table
        self._log: list[Change] = []
        self.revision = revision
        """The world's revision before this transaction."""
        self.world_id = world_id
        """Which world it is, for what was computed from one world and is to be put back into the same."""

    def get(self, kind: type[RecordT], record_id: str) -> RecordT | None:
        """See `RecordTable.get`."""
        return self._table.get(kind, record_id)

    def all(self, kind: type[RecordT]) -> Iterator[RecordT]:
        """See `RecordTable.all`. Take a list of it before changing the collection."""
        return self._table.all(kind)

    def count(self, kind: type[Record]) -> int:
        """See `RecordTable.count`."""
        return self._table.count(kind)

    def index(self, kind: type[IndexT]) -> IndexT:
        """See `RecordTable.index`. Includes what this transaction has changed so far."""
        return self._table.index(kind)

    def put(self, record: Record, *, undoable: bool = True) -> None:
        """Add the record, or replace the one with its id. Writing an equal record changes nothing."""
        before = self._table.find(record.collection, record.id)
        self._note(Change(record.collection, record.id, before, record, undoable))

    def remove(self, kind: type[Record], record_id: str) -> None:
        """Take the record away. Removing what is not there changes nothing."""
        before = self._table.get(kind, record_id)
        if before is not None:
            self._note(Change(kind.collection, record_id, before, None))

    def new_id(self, series: str) -> str:
        """A short id that was never used in this world: `new_id("object")` gives `object-1`, `object-2`, …"""
        counter = self.get(Counter, series) or Counter(id=series)
        self.put(Counter(id=series, next=counter.next + 1), undoable=False)
        return f"{series}-{counter.next}"

    def changes(self) -> tuple[Change, ...]:
        """What has changed so far, one entry per record (first before, last after), in order of first change."""
        return merged_changes(self._log)

    def rollback(self) -> None:
        """Leave the table and its indexes exactly as they were before this transaction."""
        while self._log:
            self._table.apply(self._log.pop().inverse())

    def _note(self, change: Change) -> None:
        if change.before == change.after:
            return
        self._table.apply(change)
        self._log.append(change)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        if kind is not None:
            self.rollback()
