"""Object types that a set of tools says more than once: which they are, their names, and the types that name them.

Owns the choice and the names. The same tools give the same names, in whatever order they came. Never prints a tool.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import takewhile

from presets.sdk.comments import type_name
from presets.sdk.type_tree import AllOf, Field, ListOf, Named, OneOf, Record, TupleOf, Type, print_type

LEAST_SAVED_CHARACTERS = 24
"""What a name must save in all: for less, nobody should have to look up what it means."""

_EXPECTED_NAME = 8
"""Characters of a name before it has one, and of what stands around its declaration: `type … = …;`."""
_AROUND = 12

_WORD = re.compile(r"[A-Z]?[^A-Z]+|[A-Z]")
_SHORT_MEMBER = 2
"""Characters of members whose names make a name themselves: a record of x, y and z is an `XYZ`."""


@dataclass(frozen=True, slots=True)
class Root:
    """A type as a tool gives it: of its arguments or of its result. `name` is for a type that has no better one."""

    type: Type
    name: str
    of_arguments: bool


@dataclass(frozen=True, slots=True)
class SharedType:
    """A type with a name. `doc` is what was said of it everywhere; `in_arguments` whether it is a part of any."""

    name: str
    type: Record
    doc: str
    in_arguments: bool


@dataclass(slots=True)
class _Found:
    """What is known of one object type: where it stands, counted once for each other type that holds it."""

    size: int = 0
    """Object types that it is made of, itself included."""
    places: Counter[tuple[Record | None, str]] = field(default_factory=Counter[tuple[Record | None, str]])
    """By the object type that holds it, None for a tool, and the member in which it does."""
    titles: Counter[str] = field(default_factory=Counter[str])
    roots: set[str] = field(default_factory=set[str])
    docs: set[str] = field(default_factory=set[str])
    """What is said of it, wherever it stands."""
    written: int = 1
    """How often it stands in the text where no type has a name."""


@dataclass(frozen=True, slots=True)
class _Place:
    """An object type inside another type: the member in which it is found, and what is said there of exactly it."""

    record: Record
    label: str
    doc: str


class SharedTypes:
    """The shared types of some roots. `declared` is in order of the names, none of which is one of those `taken`."""

    def __init__(self, roots: Iterable[Root], taken: Collection[str]) -> None:
        roots = tuple(roots)
        self._found: dict[Record, _Found] = {}
        for root in roots:
            for place in _records_in(root.type):
                if root.of_arguments and place.record is root.type:
                    # What a model has to send stands where the tool does.
                    self._note_inside(place.record, None)
                    continue
                self._note(place, None)
                self._found[place.record].roots.add(root.name)
        self._in_arguments = frozenset(_reached(root.type for root in roots if root.of_arguments))
        self._in_results = frozenset(_reached(root.type for root in roots if not root.of_arguments))
        self._names = self._named(self._worthy(), taken)
        declared = [
            SharedType(name, self._inside(record), self._common_doc(record), record in self._in_arguments)
            for record, name in self._names.items()
        ]
        self.declared = tuple(sorted(declared, key=lambda one: one.name))

    def naming(self, type_: Type) -> Type:
        """The type, in which every shared one is a name."""
        match type_:
            case Record():
                name = self._names.get(type_)
                return self._inside(type_) if name is None else Named(name)
            case ListOf(item):
                return ListOf(self.naming(item))
            case OneOf(members):
                return OneOf(tuple(map(self.naming, members)))
            case AllOf(members):
                return AllOf(tuple(map(self.naming, members)))
            case TupleOf(items, required, rest):
                return TupleOf(tuple(map(self.naming, items)), required, None if rest is None else self.naming(rest))
            case _:
                return type_

    def _inside(self, record: Record) -> Record:
        others = None if record.others is None else self.naming(record.others)
        return replace(record, fields=tuple(map(self._member, record.fields)), others=others)

    def _member(self, member: Field) -> Field:
        doc = "" if isinstance(member.type, Record) and member.doc == self._common_doc(member.type) else member.doc
        return replace(member, type=self.naming(member.type), doc=doc)

    def _common_doc(self, record: Record) -> str:
        """What is said wherever the type stands: it is said of the type. Empty where it has no name."""
        docs = self._found[record].docs if record in self._names else ()
        return next(iter(docs)) if len(docs) == 1 else ""

    def _note(self, place: _Place, parent: Record | None) -> int:
        """Take down one place, and what is inside the type where that is new. Gives the size of the type."""
        known = self._found.get(place.record)
        found = known or self._found.setdefault(place.record, _Found())
        found.places[parent, place.label] += 1
        found.docs.add(place.doc)
        if place.record.title:
            found.titles[place.record.title] += 1
        if known is None:
            found.size = 1 + self._note_inside(place.record, place.record)
        return found.size

    def _note_inside(self, record: Record, parent: Record | None) -> int:
        return sum(self._note(inner, parent) for inner in _records_inside(record))

    def _worthy(self) -> list[Record]:
        """The types whose names save enough. A type inside another counts as often as that one is written down."""
        counts: dict[Record | None, int] = {None: 1}
        worthy: list[Record] = []
        for record, found in sorted(self._found.items(), key=lambda item: -item[1].size):
            count = sum(times * counts[parent] for (parent, _), times in found.places.items())
            found.written = sum(times * self._written(parent) for (parent, _), times in found.places.items())
            length = len(print_type(record, documented=True))
            saved = (count - 1) * length - (count + 1) * _EXPECTED_NAME - _AROUND
            named = count > 1 and saved >= LEAST_SAVED_CHARACTERS
            counts[record] = 1 if named else count
            if named:
                worthy.append(record)
        return worthy

    def _written(self, record: Record | None) -> int:
        return 1 if record is None else self._found[record].written

    def _named(self, records: list[Record], taken: Collection[str]) -> dict[Record, str]:
        """A name for each. Results come first: what a program reads it writes about."""
        used = {*taken, *_LANGUAGE}
        names: dict[Record, str] = {}
        for record in sorted(records, key=self._rank):
            name = wanted = self._wanted(record)
            if name in used and record not in self._in_results:
                name = wanted = f"{wanted}Args"
            count = 1
            while name in used:
                count += 1
                name = f"{wanted}{count}"
            used.add(name)
            names[record] = name
        return names

    def _rank(self, record: Record) -> tuple[bool, int, str]:
        return record not in self._in_results, -self._found[record].written, print_type(record, documented=True)

    def _wanted(self, record: Record) -> str:
        """What its author calls it; else the member that mostly holds it; else what it is made of."""
        found = self._found[record]
        if found.titles:
            return type_name(_most_common(found.titles))
        labels: Counter[str] = Counter()
        for (parent, label), times in found.places.items():
            labels[label] += times * self._written(parent)
        label = _most_common(labels)
        if not label:
            return _in_common(found.roots) or "Entry"
        members = [member.name for member in record.fields]
        if 2 * labels[label] <= labels.total() and all(len(name) <= _SHORT_MEMBER for name in members):
            return type_name("".join(members).upper())
        return type_name(label)


def _reached(types: Iterable[Type]) -> set[Record]:
    """All object types that these are made of."""
    pending = [place.record for type_ in types for place in _records_in(type_)]
    reached: set[Record] = set()
    while pending:
        record = pending.pop()
        if record not in reached:
            reached.add(record)
            pending.extend(place.record for place in _records_inside(record))
    return reached


def _records_in(type_: Type, label: str = "", doc: str = "") -> Iterator[_Place]:
    """The object types that a type is made of, without those inside them."""
    match type_:
        case Record():
            yield _Place(type_, label, doc or type_.doc)
        case ListOf(item):
            yield from _records_in(item, _singular(label))
        case OneOf(members) | AllOf(members):
            for member in members:
                yield from _records_in(member, label)
        case TupleOf(items, _, rest):
            for item in (*items, *(() if rest is None else (rest,))):
                yield from _records_in(item, _singular(label))
        case _:
            return


def _records_inside(record: Record) -> Iterator[_Place]:
    for member in record.fields:
        yield from _records_in(member.type, member.name, member.doc)
    if record.others is not None:
        yield from _records_in(record.others)


def _most_common(counted: Counter[str]) -> str:
    return min(counted, key=lambda text: (-counted[text], len(text), text))


def _in_common(names: Collection[str]) -> str:
    """What names of several tools' types have in common: their first words, and the last. No one tool's own name."""
    words = [_WORD.findall(name) for name in sorted(names)]
    if len(words) < 2:
        return "".join(*words) if words else ""
    alike = takewhile(lambda column: len(set(column)) == 1, zip(*(each[:-1] for each in words), strict=False))
    return "".join([*(column[0] for column in alike), words[0][-1]])


def _singular(label: str) -> str:
    if label.endswith("ies"):
        return f"{label[:-3]}y"
    return label[:-1] if label.endswith("s") and not label.endswith("ss") else label


_LANGUAGE_WORDS = """
AbortController AbortSignal AggregateError Array ArrayBuffer ArrayLike AsyncGenerator AsyncIterable
AsyncIterator Atomics Awaited BigInt Boolean Capitalize Console DOMException DataView Date Disposable Error
ErrorOptions Event EventTarget Exclude Extract Function Generator Infinity Intl Iterable Iterator JSON Lowercase
Map Math NaN NonNullable Number Object Omit Parameters Partial Pick Promise PromiseLike PropertyKey Proxy
RangeError Readonly ReadonlyArray ReadonlyMap ReadonlySet Record ReferenceError Reflect RegExp Required
ReturnType Set String Symbol SyntaxError Temporal TextDecoder TextEncoder TypeError URL URLSearchParams
Uint8Array Uppercase WeakMap WeakRef WeakSet
"""
"""Types and classes that the language and the runtime have: a program must go on to find those."""

_LANGUAGE = frozenset(_LANGUAGE_WORDS.split())
