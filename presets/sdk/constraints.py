"""What a schema demands beyond its type, in words for a comment. Owns the wording.

Nothing here is checked by the type checker; the tool checks it when it is called. So bounds that only a mistake goes
beyond are left out: who makes it is told then.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

MAX_VALUE_CHARACTERS = 80
"""Of a default, an example or a pattern that is quoted; a longer one is left out."""


FAR_AWAY = 100_000
"""Bounds and lengths from here on are not told: nobody plans with them."""


def constraints_of(schema: Mapping[str, Any]) -> Iterator[str]:
    """The constraints of one schema and, for an array, of its items, in a fixed order."""
    yield from _demands(schema)
    items = schema.get("items")
    if isinstance(items, Mapping):
        each = ", ".join(_demands(cast("Mapping[str, Any]", items)))
        if each:
            yield f"each: {each}"
    yield from _values(schema)
    if schema.get("deprecated") is True:
        yield "deprecated"


def _demands(schema: Mapping[str, Any]) -> Iterator[str]:
    if schema.get("type") == "integer":
        yield "integer"
    yield from _range(schema)
    for key, text in _TEXTS:
        value = schema.get(key)
        if isinstance(value, str | int | float) and len(str(value)) <= MAX_VALUE_CHARACTERS:
            yield text.format(value)
    yield from _length(schema, "minLength", "maxLength", "characters")
    yield from _length(schema, "minItems", "maxItems", "items")
    yield from _length(schema, "minProperties", "maxProperties", "members")
    if schema.get("uniqueItems") is True:
        yield "no duplicates"


_TEXTS = (
    ("multipleOf", "multiple of {}"),
    ("format", "format {}"),
    ("pattern", "pattern {}"),
    ("contentMediaType", "content {}"),
    ("contentEncoding", "encoding {}"),
)


def _range(schema: Mapping[str, Any]) -> Iterator[str]:
    least, most = _number(schema.get("minimum")), _number(schema.get("maximum"))
    if least and most:
        yield f"{least} to {most}"
    elif least or most:
        yield f"≥ {least}" if least else f"≤ {most}"
    above, below = _number(schema.get("exclusiveMinimum")), _number(schema.get("exclusiveMaximum"))
    if above:
        yield f"> {above}"
    if below:
        yield f"< {below}"


def _number(value: object) -> str:
    """The bound as text, without a `.0`; empty for what is no number, and for one that is far away."""
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) >= FAR_AWAY:
        return ""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _length(schema: Mapping[str, Any], least_key: str, most_key: str, unit: str) -> Iterator[str]:
    least, most = schema.get(least_key), schema.get(most_key)
    if isinstance(most, int) and most >= FAR_AWAY and most != least:
        most = None
    if isinstance(least, int) and least == most:
        yield f"{least} {unit}"
    elif isinstance(least, int) and isinstance(most, int):
        yield f"{least} to {most} {unit}"
    elif isinstance(least, int) and least:
        yield f"at least {least} {unit}"
    elif isinstance(most, int):
        yield f"at most {most} {unit}"


def _values(schema: Mapping[str, Any]) -> Iterator[str]:
    if "default" in schema and schema["default"] is not None:
        text = _json(schema["default"])
        if text:
            yield f"default {text}"
    examples = schema.get("examples")
    if isinstance(examples, list) and examples:
        text = _json(cast("list[Any]", examples)[0])
        if text:
            yield f"e.g. {text}"


def _json(value: object) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return ""
    return text if len(text) <= MAX_VALUE_CHARACTERS else ""
