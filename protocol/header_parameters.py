"""Arguments of a tool that its client must repeat in headers, so that whatever routes requests need not read bodies.

Owns the rules of the annotation `x-mcp-header` in an input schema. A schema that breaks them is refused when the tool
is registered, because clients drop such a tool without a word.
Source: MCP specification 2026-07-28, server/tools ("x-mcp-header") and transports ("Custom Headers").
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import cast

from protocol.schema import SchemaError, preview
from protocol.tool import JsonObject

ANNOTATION = "x-mcp-header"

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_TYPES = frozenset({"string", "integer", "boolean"})
_INNER = frozenset(
    {
        "additionalProperties",
        "contains",
        "contentSchema",
        "else",
        "if",
        "items",
        "not",
        "propertyNames",
        "then",
        "unevaluatedItems",
        "unevaluatedProperties",
    }
)
_INNER_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems"})
_INNER_MAPS = frozenset({"$defs", "definitions", "dependentSchemas", "patternProperties"})


@dataclass(frozen=True, slots=True)
class HeaderParameter:
    """One argument that comes as a header too: where it stands in the arguments, and what the header ends in."""

    path: tuple[str, ...]
    name: str

    @property
    def header(self) -> str:
        """The name of the header, in lower case."""
        return f"mcp-param-{self.name.lower()}"

    def value_in(self, arguments: JsonObject) -> object:
        """The argument, or None where it is absent."""
        members = arguments
        for step in self.path[:-1]:
            inner: object = members.get(step)
            if not isinstance(inner, Mapping):
                return None
            members = cast("JsonObject", inner)
        return members.get(self.path[-1])


def header_parameters(schema: JsonObject) -> tuple[HeaderParameter, ...]:
    """The annotated arguments of an input schema, in its order.

    Raises `SchemaError` where an annotation is no name of a header, comes twice, or stands where none may.
    """
    found: dict[str, HeaderParameter] = {}
    # Each entry: a schema, the path to it, and whether that path leads through `properties` alone.
    waiting: deque[tuple[JsonObject, tuple[str, ...], bool]] = deque([(schema, (), True)])
    while waiting:
        node, path, reachable = waiting.popleft()
        if ANNOTATION in node:
            made = _parameter(node, path, reachable)
            if made.header in found:
                raise SchemaError(
                    f"{_at(path)}: {ANNOTATION} {preview(made.name)} is taken by {_at(found[made.header].path)}; names "
                    "must differ in more than upper and lower case"
                )
            found[made.header] = made
        properties: object = node.get("properties")
        if isinstance(properties, Mapping):
            members = cast("Mapping[str, object]", properties).items()
            waiting.extend(
                (cast("JsonObject", inner), (*path, name), reachable)
                for name, inner in members
                if isinstance(inner, Mapping)
            )
        waiting.extend((inner, path, False) for inner in _elsewhere(node))
    return tuple(found.values())


def _elsewhere(node: JsonObject) -> Iterator[JsonObject]:
    """The schemas inside a schema that are not its plain members."""
    for keyword, value in node.items():
        if keyword in _INNER:
            inside: object = [value]
        elif keyword in _INNER_LISTS:
            inside = value
        elif keyword in _INNER_MAPS and isinstance(value, Mapping):
            inside = list(cast("JsonObject", value).values())
        else:
            continue
        if isinstance(inside, list):
            yield from (cast("JsonObject", item) for item in cast("list[object]", inside) if isinstance(item, Mapping))


def _parameter(node: JsonObject, path: tuple[str, ...], reachable: bool) -> HeaderParameter:
    name: object = node[ANNOTATION]
    if not reachable or not path:
        raise SchemaError(f"{_at(path)}: {ANNOTATION} may stand only on members that are reached through properties")
    if not isinstance(name, str) or _TOKEN.fullmatch(name) is None:
        raise SchemaError(
            f"{_at(path)}: {ANNOTATION} must be the end of a header's name, of letters, digits and hyphens; it is "
            f"{preview(name)}"
        )
    kind: object = node.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        raise SchemaError(
            f"{_at(path)}: {ANNOTATION} is for members of type string, integer or boolean; this one has {preview(kind)}"
        )
    return HeaderParameter(path, name)


def _at(path: tuple[str, ...]) -> str:
    return f"at {'.'.join(path)}" if path else "at the top"
