"""JSON Schema 2020-12 for arguments and results of tools. Owns compiled schemas and the words for what does not match.

Nothing is ever fetched: a reference that leaves the schema is refused when the schema is compiled.
Source: JSON Schema 2020-12; the MCP specification names it as the default dialect.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, cast

from jsonschema_rs import Draft202012Validator, ReferencingError, ValidationError
from pydantic_core import from_json, to_json

from protocol.jsonrpc import json_type
from protocol.tool import JsonObject

DIALECT = "https://json-schema.org/draft/2020-12/schema"
"""The one dialect that is understood; a schema that names another is refused."""

PROBLEM_LIMIT = 8
"""Most problems that one check reports: enough to mend a call at once, short enough for a model to read."""

DETAIL_WEIGHT_LIMIT = 4000
"""Heaviest value of which more than the first problem is looked for, in nodes plus 32 characters of text each.

Collecting all problems costs 20 µs for each one, without a way to stop: a body of 4 MiB could ask for 18 s of it.
"""

PREVIEW_CHARS = 60
"""Longest piece of a client's value that is repeated to it."""

_CHARS_PER_NODE = 32
_CHOICE_LIMIT = 20  # most values or names that are listed in one problem
_BRANCH_DEPTH = 3  # how many alternatives inside alternatives are opened up in one problem


class SchemaError(ValueError):
    """Raised when something is no usable JSON Schema. The text says which part and why."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that does not match. `path` is as in `style.stroke` or `points[2].x`, and empty for the whole value."""

    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.text}" if self.path else self.text


class CompiledSchema:
    """A schema made ready for checking. Made by `compile_schema`; never changes."""

    __slots__ = ("_source", "_validator")

    def __init__(self, source: bytes, validator: Draft202012Validator) -> None:
        self._source: Final = source
        self._validator: Final = validator

    def problems(self, value: object) -> tuple[Problem, ...]:
        """What does not match, in the order of the schema; empty for a value that does.

        At most `PROBLEM_LIMIT` of them, and only the first one of a very large value (`DETAIL_WEIGHT_LIMIT`).
        """
        try:
            if self._validator.is_valid(value):
                return ()
            errors = self._errors(value)
        except ValueError as error:
            # A value that is no JSON: keys that are not strings, types that JSON lacks.
            return (Problem("", f"cannot be checked, since it is not JSON: {error}"),)
        schema = cast("object", from_json(self._source))
        found = (problem for error in errors for problem in _problems(error, value, schema, _BRANCH_DEPTH))
        return tuple(dict.fromkeys(islice(found, PROBLEM_LIMIT)))

    def _errors(self, value: object) -> Iterable[ValidationError]:
        if _lighter_than(value, DETAIL_WEIGHT_LIMIT):
            return self._validator.iter_errors(value)
        try:
            self._validator.validate(value)
        except ValidationError as error:
            return (error,)
        raise AssertionError("a value that is not valid has a first error")


def compile_schema(schema: JsonObject) -> CompiledSchema:
    """Make a schema ready for checking; later changes of `schema` have no effect on it.

    Raises `SchemaError` for what is no JSON Schema 2020-12, names another dialect, or refers to anything outside.
    """
    try:
        source = to_json(schema)
    except ValueError as error:
        raise SchemaError(f"it cannot be written as JSON: {error}") from error
    own = cast("dict[str, Any]", from_json(source))
    dialect = own.get("$schema", DIALECT)
    if not isinstance(dialect, str) or dialect.rstrip("#") != DIALECT:
        raise SchemaError(f"$schema is {preview(dialect)}; only {DIALECT} is understood")
    try:
        return CompiledSchema(source, Draft202012Validator(own, offline=True))
    except ValidationError as error:
        where = _path(error.instance_path)
        raise SchemaError(f"{f'at {where}: ' if where else ''}{_cut(error.message)}") from error
    except (ReferencingError, ValueError) as error:
        raise SchemaError(_cut(str(error))) from error


def preview(value: object) -> str:
    """A client's value as it is repeated to it: its JSON where that is short, else its type and size."""
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return f"an object of {_count(len(cast('JsonObject', value)), 'member')}"
    if isinstance(value, Sequence):
        return f"an array of {_count(len(cast('Sequence[object]', value)), 'item')}"
    if value is None or isinstance(value, bool | int | float):
        return _cut(to_json(value).decode())
    return f"a value of type {type(value).__name__}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that somebody who wrote `name` most likely meant, or None."""
    if len(name) > PREVIEW_CHARS:
        return None
    lowered = {candidate.lower(): candidate for candidate in known}
    matches = get_close_matches(name.lower(), lowered, n=1, cutoff=0.6)
    return lowered[matches[0]] if matches else None


def _lighter_than(value: object, limit: int) -> bool:
    weight = 0
    waiting = [value]
    while waiting:
        node = waiting.pop()
        weight += 1
        if isinstance(node, str):
            weight += len(node) // _CHARS_PER_NODE
        elif isinstance(node, Mapping):
            members = cast("JsonObject", node)
            weight += len(members) + sum(map(len, members)) // _CHARS_PER_NODE
            waiting.extend(members.values() if weight < limit else ())
        elif isinstance(node, list | tuple):
            items = cast("Sequence[object]", node)
            weight += len(items)
            waiting.extend(items if weight < limit else ())
        if weight >= limit:
            return False
    return True


def _problems(error: ValidationError, value: object, schema: object, depth: int) -> Iterable[Problem]:
    keyword = error.kind.name
    path = _path(error.instance_path)
    if keyword in {"anyOf", "oneOf"} and depth:
        return _branch_problems(error, value, schema, depth)
    facts = error.kind.as_dict()
    if keyword == "falseSchema" and error.schema_path[-1:] == ["additionalProperties"]:
        # How the validator says it where the schema declares no members at all; it does not say which one is too many.
        return (Problem(path, "no members are expected here"),)
    found = _at(value, error.instance_path)
    inside = _wanted_inside(found, _at(schema, error.schema_path[:-1]))
    if keyword in {"additionalProperties", "unevaluatedProperties"}:
        known = _known_members(schema, error.schema_path)
        unexpected: Iterable[str] = islice(facts.get("unexpected", ()), PROBLEM_LIMIT)
        return (
            Problem(path, _unknown_member(name, known) + (_pass_that(name) if name == inside else ""))
            for name in unexpected
        )
    if keyword == "required":
        return (Problem(path, f"missing required member {_text(facts['property'])}{_pass_that(inside)}"),)
    say = _WORDS.get(keyword)
    return (Problem(path, _cut(error.message) if say is None else say(facts, found)),)


def _branch_problems(error: ValidationError, value: object, schema: object, depth: int) -> Iterable[Problem]:
    """What is wrong with the alternative that comes nearest, since a list of all of them helps nobody."""
    # Typed here, because each kind has its own members.
    branches = cast("list[list[ValidationError]]", getattr(error.kind, "context", []))
    path = _path(error.instance_path)
    if not branches or not all(branches):
        return (Problem(path, "matches several of its alternatives where only one may match"),)
    here = len(error.instance_path)
    if all(_is_other_type(branch, here) for branch in branches):
        types = dict.fromkeys(name for branch in branches for name in branch[0].kind.as_dict()["types"])
        return (Problem(path, _wrong_type({"types": list(types)}, _at(value, error.instance_path))),)
    nearest = min(branches, key=lambda branch: _distance(branch, here))
    return (problem for inner in nearest for problem in _problems(inner, value, schema, depth - 1))


def _is_other_type(branch: list[ValidationError], here: int) -> bool:
    return branch[0].kind.name == "type" and len(branch[0].instance_path) == here


def _distance(branch: list[ValidationError], here: int) -> tuple[bool, int, int]:
    """An alternative of another type or with another constant (as of a tag) is not the one that was meant."""
    meant = not any(error.kind.name in {"const", "enum"} for error in branch) and not _is_other_type(branch, here)
    return (not meant, len(branch), -max(len(error.instance_path) for error in branch))


def _known_members(schema: object, path: Sequence[str | int]) -> tuple[str, ...]:
    """The members that the object schema around a keyword declares; empty where a reference hides it."""
    parent = _at(schema, path[:-1])
    members = cast("JsonObject", parent).get("properties") if isinstance(parent, Mapping) else None
    return tuple(cast("JsonObject", members)) if isinstance(members, Mapping) else ()


def _unknown_member(name: str, known: tuple[str, ...]) -> str:
    meant = closest(name, known)
    if meant is not None:
        return f"unknown member {_text(name)}; did you mean {_text(meant)}?"
    if not known:
        return f"unknown member {_text(name)}; no members are expected here"
    return f"unknown member {_text(name)}; known members: {_listed(known)}"


def _wanted_inside(found: object, schema: object) -> str | None:
    """The member that is no member here, but holds all that must be: somebody has passed on more, such as an answer."""
    if not isinstance(found, Mapping) or not isinstance(schema, Mapping):
        return None
    known, required = (cast("JsonObject", schema).get(key, ()) for key in ("properties", "required"))
    for name, inner in cast("JsonObject", found).items():
        if (
            required
            and name not in known
            and isinstance(inner, Mapping)
            and all(member in inner for member in required)
        ):
            return name
    return None


def _pass_that(name: str | None) -> str:
    return "" if name is None else f"; what is wanted here is inside its {_text(name)}: pass that alone"


def _at(value: object, path: Sequence[str | int]) -> object:
    """What stands at a path inside a value, or None where the path leads out of it."""
    for step in path:
        if isinstance(step, str) and isinstance(value, Mapping):
            value = cast("JsonObject", value).get(step)
        elif isinstance(step, int) and isinstance(value, list | tuple) and step < len(cast("list[object]", value)):
            value = cast("list[object]", value)[step]
        else:
            return None
    return value


def _path(steps: Sequence[str | int]) -> str:
    text = ""
    for step in steps:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text if len(text) <= 4 * PREVIEW_CHARS else f"{text[: 4 * PREVIEW_CHARS]}…"


def _text(text: str) -> str:
    shown = text if len(text) <= PREVIEW_CHARS else f"{text[:PREVIEW_CHARS]}…"
    return (
        '"' + shown.encode("unicode_escape").decode().replace('"', '\\"') + '"'
        if not shown.isprintable()
        else f'"{shown}"'
    )


def _cut(text: str) -> str:
    return text if len(text) <= 4 * PREVIEW_CHARS else f"{text[: 4 * PREVIEW_CHARS]}…"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listed(values: Iterable[object]) -> str:
    shown = [preview(value) for value in islice(values, _CHOICE_LIMIT + 1)]
    return ", ".join([*shown[:_CHOICE_LIMIT], "…"] if len(shown) > _CHOICE_LIMIT else shown)


def _wrong_type(facts: JsonObject, found: object) -> str:
    names = cast("list[str]", facts["types"])
    kind = json_type(found)
    shown = preview(found)
    got = shown if found is None or shown.startswith(("an ", "a ")) else f"{kind}, {shown}"
    return f"expected {' or '.join(names)}, got {got}"


def _not_offered(facts: JsonObject, found: object) -> str:
    options = cast("list[object]", facts["options"])
    names = [option for option in options if isinstance(option, str)]
    meant = closest(found, names) if isinstance(found, str) else None
    hint = "" if meant is None else f"; did you mean {_text(meant)}?"
    return f"expected one of {_listed(options)}, got {preview(found)}{hint}"


def _length(found: object) -> int:
    return len(cast("Sequence[object]", found)) if isinstance(found, str | list | tuple | Mapping) else 0


_WORDS: Mapping[str, Callable[[JsonObject, object], str]] = {
    "type": _wrong_type,
    "enum": _not_offered,
    "const": lambda facts, found: f"expected {preview(facts['expected_value'])}, got {preview(found)}",
    "minimum": lambda facts, found: f"expected at least {facts['limit']}, got {preview(found)}",
    "maximum": lambda facts, found: f"expected at most {facts['limit']}, got {preview(found)}",
    "exclusiveMinimum": lambda facts, found: f"expected more than {facts['limit']}, got {preview(found)}",
    "exclusiveMaximum": lambda facts, found: f"expected less than {facts['limit']}, got {preview(found)}",
    "multipleOf": lambda facts, found: f"expected a multiple of {facts['multiple_of']}, got {preview(found)}",
    "minLength": lambda facts, found: f"expected at least {_count(facts['limit'], 'character')}, got {_length(found)}",
    "maxLength": lambda facts, found: f"expected at most {_count(facts['limit'], 'character')}, got {_length(found)}",
    "minItems": lambda facts, found: f"expected at least {_count(facts['limit'], 'item')}, got {_length(found)}",
    "maxItems": lambda facts, found: f"expected at most {_count(facts['limit'], 'item')}, got {_length(found)}",
    "minProperties": lambda facts, found: f"expected at least {_count(facts['limit'], 'member')}, got {_length(found)}",
    "maxProperties": lambda facts, found: f"expected at most {_count(facts['limit'], 'member')}, got {_length(found)}",
    "uniqueItems": lambda _, __: "expected items that all differ",
    "pattern": lambda facts, found: f"expected text that matches {_cut(str(facts['pattern']))}, got {preview(found)}",
    "format": lambda facts, found: f"expected the format {facts['format']}, got {preview(found)}",
    "falseSchema": lambda _, __: "no value is allowed here",
}
"""What is said of each keyword that fails; for the others the validator's own words are cut short."""
