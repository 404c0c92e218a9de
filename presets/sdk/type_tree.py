"""A TypeScript type as a small tree, and its text. Owns the forms and the printing; knows nothing of JSON Schema.

A tree is bounded in depth by whoever makes it. Printing is deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from presets.sdk.comments import comment, inline_comment, member_name

LINE_CHARACTERS = 100
"""Members without comments share a line up to here: to a model each line end costs as much as a short word."""

_INDENT = "  "


@dataclass(frozen=True, slots=True)
class Word:
    """A type that is one word: `string`, a literal."""

    text: str


@dataclass(frozen=True, slots=True)
class Named:
    """A type that is declared elsewhere under its name."""

    name: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """A union; make it with `one_of`."""

    members: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class AllOf:
    """An intersection; make it with `all_of`."""

    members: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class ListOf:
    """An array of any length."""

    item: Type


@dataclass(frozen=True, slots=True)
class TupleOf:
    """An array whose first items have types of their own. The first `required` ones must be there."""

    items: tuple[Type, ...]
    required: int
    rest: Type | None


@dataclass(frozen=True, slots=True)
class Field:
    """A member of an object."""

    name: str
    type: Type
    required: bool
    doc: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """An object: its members, and the type of all others where they may exist.

    `title` and `doc` are what its author calls it and says of it; they make no difference between two of them.
    """

    fields: tuple[Field, ...]
    others: Type | None = None
    title: str = field(default="", compare=False)
    doc: str = field(default="", compare=False)


Type = Word | Named | OneOf | AllOf | ListOf | TupleOf | Record

NEVER = Word("never")
NULL = Word("null")
EMPTY = Record((), NEVER)
"""An object without members."""


def one_of(members: Iterable[Type], widest: Type) -> Type:
    """The union, flat and without doubles. Nothing is `never`; with the widest type it is that."""
    flat = [part for member in members for part in (member.members if isinstance(member, OneOf) else (member,))]
    kept = tuple(dict.fromkeys(part for part in flat if part != NEVER))
    if widest in kept:
        return widest
    if not kept:
        return NEVER
    return kept[0] if len(kept) == 1 else OneOf(kept)


def all_of(members: Iterable[Type], widest: Type) -> Type:
    """The intersection, flat and without doubles. Nothing is the widest type, which adds nothing to others."""
    flat = [part for member in members for part in (member.members if isinstance(member, AllOf) else (member,))]
    kept = tuple(dict.fromkeys(part for part in flat if part != widest))
    if NEVER in kept:
        return NEVER
    if not kept:
        return widest
    return kept[0] if len(kept) == 1 else AllOf(kept)


def print_type(type_: Type, *, documented: bool, indent: str = "") -> str:
    """The text of the type. With comments, objects that have some are spread over lines below `indent`."""
    match type_:
        case Word(text):
            return text
        case Named(name):
            return name
        case OneOf(members):
            return " | ".join(print_type(member, documented=documented, indent=indent) for member in members)
        case AllOf(members):
            return " & ".join(_grouped(member, (OneOf,), documented, indent) for member in members)
        case ListOf(item):
            return f"{_grouped(item, (OneOf, AllOf), documented, indent)}[]"
        case TupleOf():
            return _print_tuple(type_, documented, indent)
        case Record():
            return _print_record(type_, documented, indent)


def named_at_once(type_: Type) -> Iterator[str]:
    """The names that the type is made of without anything between: a declaration may not reach itself through them."""
    if isinstance(type_, Named):
        yield type_.name
    elif isinstance(type_, OneOf | AllOf):
        for member in type_.members:
            yield from named_at_once(member)


def _grouped(type_: Type, kinds: tuple[type, ...], documented: bool, indent: str) -> str:
    text = print_type(type_, documented=documented, indent=indent)
    return f"({text})" if isinstance(type_, kinds) else text


def _print_tuple(type_: TupleOf, documented: bool, indent: str) -> str:
    parts: list[str] = []
    for position, item in enumerate(type_.items):
        if position < type_.required:
            parts.append(print_type(item, documented=documented, indent=indent))
        else:
            parts.append(f"{_grouped(item, (OneOf, AllOf), documented, indent)}?")
    if type_.rest is not None:
        parts.append(f"...{_grouped(type_.rest, (OneOf, AllOf), documented, indent)}[]")
    return f"[{', '.join(parts)}]"


def _print_record(record: Record, documented: bool, indent: str) -> str:
    inner = indent + _INDENT
    members = [_print_field(one, documented, inner) for one in record.fields]
    if record.others is not None:
        members.append(f"[key: string]: {print_type(record.others, documented=documented, indent=inner)}")
    if not members:
        return "{}"
    line = f"{{ {'; '.join(members)} }}"
    if not documented:
        return line
    docs = [one.doc for one in record.fields] + [""] * (len(members) - len(record.fields))
    if not any(docs) and "\n" not in line and len(line) <= LINE_CHARACTERS:
        return line
    return "{\n" + "".join(_lines(docs, members, inner)) + f"{indent}}}"


def _lines(docs: Sequence[str], members: Sequence[str], indent: str) -> Iterator[str]:
    """Members with a comment, and those that are spread themselves, on lines of their own; the others together."""
    together: list[str] = []
    for doc, member in zip(docs, members, strict=True):
        alone = bool(doc) or "\n" in member
        if together and (alone or sum(map(len, together)) + len(member) > LINE_CHARACTERS):
            yield f"{indent}{' '.join(together)}\n"
            together = []
        if not alone:
            together.append(f"{member};")
            continue
        said = inline_comment(doc)
        yield f"{comment(doc, indent)}{indent}{member};\n" if "\n" in said else f"{indent}{said}{member};\n"
    if together:
        yield f"{indent}{' '.join(together)}\n"


def _print_field(field: Field, documented: bool, indent: str) -> str:
    mark = "" if field.required else "?"
    return f"{member_name(field.name)}{mark}: {print_type(field.type, documented=documented, indent=indent)}"
