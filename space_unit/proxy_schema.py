"""The schemas of a server's tools as they may be shown to clients. Owns what is changed in them, and says what is lost.

Clients drop every tool of a server over one schema that they do not take, and one dialect is understood here. What is
left out only makes a schema wider: the server checks its arguments itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from protocol.jsonrpc import encode
from protocol.schema import DIALECT
from protocol.tool import JsonObject

MAX_SCHEMA_BYTES = 64 * 1024
"""Of one schema. Real ones have some hundred bytes, and a model reads all of them."""

MAX_DEPTH = 64
"""Schemas within schemas."""

_BY_NAME = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Members whose members are schemas under names of the author's."""

_DATA = frozenset({"enum", "const", "default", "examples", "required", "dependentRequired"})
"""Members that hold no schema, whatever stands in them."""

_TOP_LEVEL = ("anyOf", "oneOf", "allOf", "not", "if", "then", "else", "enum", "const")
"""What clients do not take at the top of a schema."""


class UnusableSchemaError(ValueError):
    """Raised for a schema that cannot be shown. The text says why."""


@dataclass(frozen=True, slots=True)
class ShownSchema:
    """The schema as it is shown, and what of it was left out, in words."""

    schema: JsonObject
    lost: tuple[str, ...] = ()


def shown_schema(schema: JsonObject) -> ShownSchema:
    """A foreign schema of an object, as it may be shown. Raises `UnusableSchemaError`."""
    try:
        size = len(encode(schema))
    except (ValueError, RecursionError) as error:
        raise UnusableSchemaError(f"it cannot be written as JSON: {error}") from error
    if size > MAX_SCHEMA_BYTES:
        raise UnusableSchemaError(f"it has {size} bytes; at most {MAX_SCHEMA_BYTES} are taken")
    top = cast("dict[str, Any]", _walked(_resolved(schema), 0))
    kind = top.get("type", "object")
    if kind != "object" and not (isinstance(kind, list) and "object" in kind):
        raise UnusableSchemaError(f"it is no schema of an object, but has type {kind!r:.60}")
    top["type"] = "object"
    lost = tuple(f"{word} at the top of the schema" for word in _TOP_LEVEL if top.pop(word, None) is not None)
    if not isinstance(top.setdefault("properties", {}), dict):
        raise UnusableSchemaError("its properties are no object")
    return ShownSchema(top, lost)


def _resolved(schema: JsonObject) -> JsonObject:
    """The schema with a reference at its top followed into itself, as generators write it."""
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    target: object = schema
    for step in reference.removeprefix("#/").split("/"):
        target = cast("Mapping[str, object]", target).get(step) if isinstance(target, Mapping) else None
    if not isinstance(target, Mapping) or "$ref" in target:
        return schema
    rest = {name: value for name, value in schema.items() if name != "$ref"}
    return {**cast("JsonObject", target), **rest}


def _walked(node: Any, depth: int) -> Any:
    if depth > MAX_DEPTH:
        raise UnusableSchemaError(f"it is nested more than {MAX_DEPTH} deep")
    if isinstance(node, list):
        return [_walked(item, depth + 1) for item in cast("list[Any]", node)]
    if not isinstance(node, Mapping):
        return node
    schema = dict(cast("JsonObject", node))
    if schema.get("$schema") != DIALECT:
        schema.pop("$schema", None)
        _renewed(schema)
    for name, value in schema.items():
        if name in _BY_NAME and isinstance(value, Mapping):
            schema[name] = {key: _walked(member, depth + 1) for key, member in cast("JsonObject", value).items()}
        elif name not in _DATA:
            schema[name] = _walked(value, depth + 1)
    if schema.get("type") == "array" and "items" not in schema and "prefixItems" not in schema:
        schema["items"] = {}
    return schema


def _renewed(schema: dict[str, Any]) -> None:
    """What older drafts say otherwise, in the words of today."""
    if isinstance(schema.get("items"), list):
        schema["prefixItems"] = schema.pop("items")
        rest = schema.pop("additionalItems", None)
        if rest is not None:
            schema["items"] = rest
    for bound, exclusive in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
        if isinstance(schema.get(exclusive), bool) and schema.pop(exclusive) and bound in schema:
            schema[exclusive] = schema.pop(bound)
