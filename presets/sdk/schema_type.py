"""JSON Schema becomes a TypeScript type: 2020-12, and the older forms that servers still send.

Owns the translation. It is total: what TypeScript cannot say, or this module does not know, is wider than the schema in
that place and nowhere else, so data that the schema allows always fits. One exception is meant: a schema with
`properties` and without `type` is read as an object, which is what authors of tools mean.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from presets.sdk.comments import MAX_LITERAL_CHARACTERS, string_literal, type_name
from presets.sdk.constraints import constraints_of
from presets.sdk.references import References, Schema, Target, subschema_base
from presets.sdk.type_tree import (
    NEVER,
    NULL,
    Field,
    ListOf,
    Named,
    Record,
    TupleOf,
    Type,
    Word,
    all_of,
    named_at_once,
    one_of,
)

MAX_DEPTH = 24
"""Schemas inside schemas. Beyond it nobody reads on, and printing and checking recurse."""

MAX_SCHEMAS = 3_000
"""Subschemas of one tool that are translated; the rest is wide. Real tools have some dozens."""

MAX_LITERALS = 100
"""Values of an `enum` that are listed; more become their common type."""

MAX_TUPLE_ITEMS = 32
"""Items of a tuple that have types of their own; a longer one becomes an array of all of them."""

ANY = Word("any")
"""The widest type of results: whatever a program does with it is allowed."""

JSON_VALUE = Word("JsonValue")
"""The widest type of arguments: whatever can be sent."""

_SIMPLE = {
    "string": Word("string"),
    "number": Word("number"),
    "integer": Word("number"),
    "boolean": Word("boolean"),
    "null": NULL,
}
_MAX_SAFE_INTEGER = 2**53

_INHERITED = frozenset(
    {"constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString", "valueOf"}
)
"""Names that every object of JavaScript has. TypeScript finds them in objects where an optional one is absent."""

_STRUCTURE = ("properties", "items", "prefixItems", "anyOf", "oneOf", "allOf", "$ref", "additionalProperties")
_MAX_INLINED_LITERALS = 4
"""Values of a shared `enum` that are repeated in place; a name would be as long."""


@dataclass(frozen=True, slots=True)
class SchemaType:
    """A type, and the declarations that it needs, by name."""

    type: Type
    declarations: tuple[tuple[str, Type], ...] = ()


def type_of_schema(
    schema: object, *, prefix: str, root: str, widest: Word = JSON_VALUE, taken: Collection[str] = ()
) -> SchemaType:
    """The type of a schema. `widest` stands for what cannot be said.

    The names of its declarations are `prefix` and a word of the schema, or `root` for the schema itself, and none of
    those that are `taken`.
    """
    if not isinstance(schema, Mapping):
        return SchemaType(NEVER if schema is False else widest)
    return _Reader(cast("Schema", schema), prefix, root, widest, taken).read_all()


class _Reader:
    def __init__(self, document: Schema, prefix: str, root: str, widest: Word, taken: Collection[str]) -> None:
        self._document = document
        self._references = References(document)
        self._prefix = prefix
        self._root = root
        self._widest = widest
        self._taken = set(taken)
        self._left = MAX_SCHEMAS
        self._names: dict[int, str] = {}
        self._unread: list[tuple[str, Target]] = []
        self._declared: dict[str, Type] = {}

    def read_all(self) -> SchemaType:
        whole = Target(self._document, self._references.base, self._root, is_definition=False)
        type_ = self._named(whole) if self._references.is_shared(self._document) else self._read_target(whole)
        # Not where they are met: a chain of declarations may be longer than Python can recurse.
        while self._unread:
            name, target = self._unread.pop(0)
            self._declared[name] = self._read_target(target)
        for name in self._declared:
            if self._reaches_itself(name):
                self._declared[name] = self._widest
        return SchemaType(type_, tuple(sorted(self._declared.items())))

    def _read_target(self, target: Target) -> Type:
        return self._read(target.schema, target.base, 0)

    def _reaches_itself(self, name: str) -> bool:
        pending, seen = list(named_at_once(self._declared[name])), set[str]()
        while pending:
            reached = pending.pop()
            if reached == name:
                return True
            if reached not in seen:
                seen.add(reached)
                pending.extend(named_at_once(self._declared[reached]))
        return False

    def _read(self, node: object, base: str, depth: int, known: Schema | None = None) -> Type:
        """The type of one schema. `known` are the members of the object that the schema says more about."""
        self._left -= 1
        if node is False:
            return NEVER
        if not isinstance(node, Mapping) or depth > MAX_DEPTH or self._left < 0:
            return self._widest
        schema = cast("Schema", node)
        base = subschema_base(schema, base) if schema is not self._document else base
        parts = list(self._applied(schema, base, depth, known))
        alone = not parts
        own = self._own(schema, base, depth, known, alone=alone)
        type_ = all_of([own, *parts], self._widest)
        if schema.get("nullable") is True and type_ != self._widest:
            return one_of([type_, NULL], self._widest)
        return type_

    def _applied(self, schema: Schema, base: str, depth: int, known: Schema | None) -> Iterable[Type]:
        """What other schemas add that hold at the same place."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            yield self._refer(reference, base, depth)
        members = {**(known or {}), **_mapping(schema.get("properties"))}
        for part in _list(schema.get("allOf")):
            yield self._read(part, base, depth + 1, members)
        for key in ("anyOf", "oneOf"):
            options = _list(schema.get(key))
            if options:
                yield one_of([self._read(option, base, depth + 1, members) for option in options], self._widest)

    def _refer(self, reference: str, base: str, depth: int) -> Type:
        target = self._references.target(reference, base)
        if target is None:
            return self._widest
        if self._references.is_shared(target.schema) and not _is_short(target.schema):
            return self._named(target)
        return self._read(target.schema, target.base, depth + 1)

    def _named(self, target: Target) -> Type:
        name = self._names.get(id(target.schema))
        if name is None:
            name = wanted = f"{self._prefix}_{type_name(target.word or self._root)}"
            count = 1
            while name in self._taken:
                count += 1
                name = f"{wanted}{count}"
            self._taken.add(name)
            self._names[id(target.schema)] = name
            self._unread.append((name, target))
        return Named(name)

    def _own(self, schema: Schema, base: str, depth: int, known: Schema | None, *, alone: bool) -> Type:
        """What the schema itself says, without the schemas that it applies; `alone` when it applies none."""
        kinds = _kinds(schema, known)
        literals = [schema["const"]] if "const" in schema else schema.get("enum")
        if isinstance(literals, list):
            return self._literals(cast("list[Any]", literals), kinds, depth)
        if not kinds:
            return self._widest
        types: list[Type] = []
        for kind in kinds:
            if kind == "object":
                types.append(self._object(schema, base, depth, known, alone=alone))
            elif kind == "array":
                types.append(self._array(schema, base, depth))
            else:
                types.append(_SIMPLE.get(kind, self._widest))
        return one_of(types, self._widest)

    def _literals(self, values: list[Any], kinds: tuple[str, ...], depth: int) -> Type:
        fitting = [value for value in values if not kinds or _kind_of(value) in kinds or _is_integral(value, kinds)]
        values = fitting or values
        if len(values) > MAX_LITERALS:
            return one_of([self._wide_literal(value) for value in values], self._widest)
        return one_of([self._literal(value, depth) for value in values], self._widest)

    def _literal(self, value: object, depth: int) -> Type:
        if depth > MAX_DEPTH:
            return self._widest
        if isinstance(value, Mapping):
            members = sorted(cast("Mapping[str, Any]", value).items())
            if not members:
                return Record((), self._widest)
            return Record(
                tuple(Field(str(name), self._literal(item, depth + 1), required=True) for name, item in members)
            )
        if isinstance(value, list):
            items = cast("list[Any]", value)
            if len(items) > MAX_TUPLE_ITEMS:
                return ListOf(self._widest)
            return TupleOf(tuple(self._literal(item, depth + 1) for item in items), len(items), None)
        if isinstance(value, str) and len(value) <= MAX_LITERAL_CHARACTERS:
            return Word(string_literal(value))
        if isinstance(value, bool):
            return Word("true" if value else "false")
        if isinstance(value, int | float) and -_MAX_SAFE_INTEGER < value < _MAX_SAFE_INTEGER:
            return Word(str(int(value)) if float(value).is_integer() else repr(float(value)))
        return self._wide_literal(value)

    def _wide_literal(self, value: object) -> Type:
        return _SIMPLE.get(_kind_of(value), self._widest)

    def _object(self, schema: Schema, base: str, depth: int, known: Schema | None, *, alone: bool) -> Type:
        properties = _mapping(schema.get("properties"))
        required = frozenset(name for name in _list(schema.get("required")) if isinstance(name, str))
        members: dict[str, Any] = {**{name: (known or {}).get(name, True) for name in required}, **properties}
        fields = [
            Field(name, self._member(name, member, base, depth, name in required), name in required, self._doc(member))
            for name, member in sorted(members.items(), key=lambda item: (item[0] not in required, item[0]))
            # `false` forbids the member; what requires it all the same fits nothing.
            if member is not False or name in required
        ]
        additional = schema.get("additionalProperties")
        others: Type | None = None
        if _mapping(schema.get("patternProperties")):
            others = ANY if fields or additional is not False else self._widest
        elif additional is not None and additional is not False:
            # Members with types of their own and a typed rest cannot both be said: a signature covers all names.
            others = ANY if fields else self._read(additional, base, depth + 1)
        if fields or others is not None:
            return Record(tuple(fields), others, _text(schema, "title"), _text(schema, "description"))
        if additional is False:
            return Record((), NEVER) if alone else self._widest
        return Record((), self._widest) if alone else self._widest

    def _member(self, name: str, member: object, base: str, depth: int, is_required: bool) -> Type:
        return ANY if name in _INHERITED and not is_required else self._read(member, base, depth + 1)

    def _doc(self, schema: object) -> str:
        """The description of a member; for arguments also what its type does not say. Results keep their promises."""
        if not isinstance(schema, Mapping):
            return ""
        text = _text(cast("Schema", schema), "description")
        notes = "" if self._widest == ANY else ", ".join(constraints_of(cast("Schema", schema)))
        return f"{text} ({notes})".strip() if notes else text

    def _array(self, schema: Schema, base: str, depth: int) -> Type:
        items = schema.get("items")
        first = _list(schema.get("prefixItems"))
        rest: object = True if items is None else items
        if not first and isinstance(items, list):
            first = cast("list[Any]", items)
            rest = schema.get("additionalItems", True)
        if not first:
            return ListOf(self._widest if rest is False else self._read(rest, base, depth + 1))
        types = [self._read(item, base, depth + 1) for item in first]
        rest_type = None if rest is False or _at_most(schema, len(first)) else self._read(rest, base, depth + 1)
        if len(types) > MAX_TUPLE_ITEMS:
            return ListOf(one_of([*types, *([rest_type] if rest_type else [])], self._widest))
        if NEVER in types:
            # No item may stand there or behind it.
            types, rest_type = types[: types.index(NEVER)], None
        least = schema.get("minItems")
        at_least = least if isinstance(least, int) else 0
        return TupleOf(tuple(types), min(len(types), at_least), rest_type)


def _kinds(schema: Schema, known: Schema | None) -> tuple[str, ...]:
    stated = schema.get("type")
    if isinstance(stated, str):
        return (stated,)
    if isinstance(stated, list):
        return tuple(kind for kind in cast("list[Any]", stated) if isinstance(kind, str))
    meant: list[str] = []
    if _mapping(schema.get("properties")) or (known and _list(schema.get("required"))):
        meant.append("object")
    if "prefixItems" in schema or "items" in schema:
        meant.append("array")
    return tuple(meant)


def _kind_of(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, int | float):
        return "number"
    return "object" if isinstance(value, Mapping) else "array"


def _is_integral(value: object, kinds: tuple[str, ...]) -> bool:
    return "integer" in kinds and _kind_of(value) == "number"


def _is_short(schema: object) -> bool:
    """Whether a shared subschema is so small that it is repeated in place."""
    if not isinstance(schema, Mapping):
        return True
    short = cast("Schema", schema)
    return not any(key in short for key in _STRUCTURE) and len(_list(short.get("enum"))) <= _MAX_INLINED_LITERALS


def _at_most(schema: Schema, count: int) -> bool:
    most = schema.get("maxItems")
    return isinstance(most, int) and most <= count


def _text(schema: Schema, key: str) -> str:
    value = schema.get(key)
    return value.strip() if isinstance(value, str) else ""


def _mapping(value: object) -> Schema:
    return cast("Schema", value) if isinstance(value, Mapping) else {}


def _list(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
