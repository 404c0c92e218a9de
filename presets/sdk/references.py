"""What `$ref` means inside one schema: which subschema it names, and which of them need a declaration of their own.

Owns identifiers, anchors and pointers of one document. Never fetches: what lies outside of the document is unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import unquote, urldefrag, urljoin

Schema = Mapping[str, Any]

_DATA = frozenset({"const", "default", "enum", "example", "examples"})
"""Members that hold data, in which a `$ref` is only a word."""

_DEFINITIONS = ("$defs", "definitions")

_MAX_WALKED = 50_000
"""Objects and arrays of one schema that are looked at for references. A tool's schema has some hundreds."""


@dataclass(frozen=True, slots=True)
class Target:
    """The subschema that a reference names, the identifier it stands under, and a word for it."""

    schema: Any
    base: str
    word: str
    is_definition: bool


class References:
    """The references of one document. `shared` are the subschemas that need a declaration of their own."""

    def __init__(self, document: Schema) -> None:
        self._resources: dict[str, Any] = {}
        self._anchors: dict[tuple[str, str], Any] = {}
        self.base = _identifier(document, "")
        self._resources[self.base] = document
        self._resources.setdefault("", document)
        found: list[tuple[str, str]] = []
        for schema, base in _walk(document, self.base):
            if "$id" in schema:
                self._resources.setdefault(base, schema)
            for key in ("$anchor", "$dynamicAnchor"):
                if isinstance(schema.get(key), str):
                    self._anchors[base, schema[key]] = schema
            if isinstance(schema.get("$ref"), str):
                found.append((base, schema["$ref"]))
        self._shared = self._count(found)

    def is_shared(self, schema: Any) -> bool:
        """Whether the subschema is named more than once, or lies in a place where it is also read without its name."""
        return id(schema) in self._shared

    def target(self, reference: str, base: str) -> Target | None:
        """What the reference names, seen from a place with that identifier; None when it is not in the document."""
        path, fragment = urldefrag(reference)
        resource = base if not path else urldefrag(urljoin(base, path))[0]
        schema = self._resources.get(resource)
        if schema is None:
            return None
        if not fragment:
            return Target(schema, resource, "", is_definition=False)
        if not fragment.startswith("/"):
            anchored = self._anchors.get((resource, fragment))
            return None if anchored is None else Target(anchored, resource, fragment, is_definition=False)
        return _pointed(schema, resource, unquote(fragment))

    def _count(self, found: list[tuple[str, str]]) -> frozenset[int]:
        once: set[int] = set()
        shared: set[int] = set()
        for base, reference in found:
            target = self.target(reference, base)
            if target is None:
                continue
            (shared if id(target.schema) in once or not target.is_definition else once).add(id(target.schema))
        return frozenset(shared)


def subschema_base(schema: Schema, base: str) -> str:
    """The identifier that holds inside the schema."""
    return _identifier(schema, base)


def _identifier(schema: Schema, base: str) -> str:
    own = schema.get("$id")
    if not isinstance(own, str) or own.startswith("#"):
        return base
    return urldefrag(urljoin(base, own))[0] or base


def _pointed(schema: Any, base: str, pointer: str) -> Target | None:
    steps = [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]
    node = schema
    for step in steps:
        if isinstance(node, Mapping):
            node = cast("Schema", node).get(step)
        elif isinstance(node, list) and step.isascii() and step.isdigit() and len(step) < 6:
            items = cast("list[Any]", node)
            node = items[int(step)] if int(step) < len(items) else None
        else:
            return None
        if isinstance(node, Mapping) and node is not schema:
            base = _identifier(cast("Schema", node), base)
    if not isinstance(node, Mapping | bool):
        return None
    in_definitions = len(steps) == 2 and steps[0] in _DEFINITIONS
    return Target(cast("Any", node), base, steps[-1], in_definitions)


def _walk(document: Schema, base: str) -> Iterator[tuple[Schema, str]]:
    """Every object of the document that may be a schema, with its identifier. No recursion: depth is not ours."""
    pending: list[tuple[Any, str, bool]] = [(document, base, False)]
    left = _MAX_WALKED
    while pending and left:
        left -= 1
        node, base, holds_names = pending.pop()
        if isinstance(node, list):
            pending.extend((item, base, False) for item in cast("list[Any]", node))
        if not isinstance(node, Mapping):
            continue
        schema = cast("Schema", node)
        if not holds_names:
            base = _identifier(schema, base) if schema is not document else base
            yield schema, base
        for key, value in schema.items():
            if (holds_names or key not in _DATA) and isinstance(value, Mapping | list):
                pending.append((cast("Any", value), base, not holds_names and key in _HOLDING_NAMES))


_HOLDING_NAMES = frozenset({"properties", "patternProperties", "dependentSchemas", *_DEFINITIONS})
"""Members whose own members are names that an author chose, not words of JSON Schema."""
