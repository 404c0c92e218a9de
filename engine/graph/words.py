"""What a graph takes as words and as data: labels, kinds, contents, JSON. Owns the checks and the canonical form.

All of it raises `InvalidArgumentError`, naming the argument. Labels end up in pictures, which are XML.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any, cast

from engine.drawing.words import refuse_unprintable
from engine.errors import InvalidArgumentError
from engine.graph.records import NO_DATA

MAX_LABEL_LENGTH = 200
"""Characters of the label of a node: a line that a person still reads."""
MAX_EDGE_LABEL_LENGTH = 100
"""Characters of the label of an edge, which stands on the line."""
MAX_CONTENT_LENGTH = 4_000
"""Characters of the content of a node: two pages; one node always fits one answer."""
MAX_DATA_BYTES = 8 * 1024
"""Bytes of the data of a node as JSON; what is larger belongs into a file, which a node can stand for."""
MAX_DATA_DEPTH = 16
"""How deep lists and objects may be nested in data."""
MAX_KIND_LENGTH = 40
"""Characters of a kind, which is a word."""
KIND_PATTERN = r"^[a-z0-9][a-z0-9_-]*$"
"""A kind: lower-case letters, digits, `-` and `_`."""

_KIND = re.compile(r"[a-z0-9][a-z0-9_-]*")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def checked_label(label: str, name: str = "label") -> str:
    """A label of a node: one line that shows something, no space at either end, no control characters."""
    if not label or label != label.strip():
        raise InvalidArgumentError(f"{name} must not be empty and not begin or end with a space; got {label!r:.120}")
    return _line(label, name, MAX_LABEL_LENGTH)


def checked_edge_label(label: str, name: str = "label") -> str:
    """A label of an edge: one line, or nothing."""
    if label != label.strip():
        raise InvalidArgumentError(f"{name} must not begin or end with a space; got {label!r:.120}")
    return _line(label, name, MAX_EDGE_LABEL_LENGTH)


def checked_kind(kind: str, name: str = "kind") -> str:
    """A kind: a lower-case word."""
    if not _KIND.fullmatch(kind) or len(kind) > MAX_KIND_LENGTH:
        raise InvalidArgumentError(
            f"{name} must be a lower-case word of letters, digits, '-' and '_', at most {MAX_KIND_LENGTH} long, "
            f"such as 'person'; got {kind!r:.60}"
        )
    return kind


def checked_content(content: str, name: str = "content") -> str:
    """A text of any lines."""
    if len(content) > MAX_CONTENT_LENGTH:
        raise InvalidArgumentError(f"{name} must have at most {MAX_CONTENT_LENGTH} characters; got {len(content)}")
    return _storable(content, name)


def checked_printable(text: str, name: str) -> str:
    """One line without control characters."""
    if "\n" in text:
        raise InvalidArgumentError(f"{name} must be one line; it has a line break")
    refuse_unprintable(text, name)
    return text


def canonical_data(data: Mapping[str, Any], name: str = "data") -> str:
    """The object as JSON text with its members in order of their names, so that equal data is equal text."""
    for value, depth in _walk(data):
        if depth > MAX_DATA_DEPTH:
            raise InvalidArgumentError(f"{name} must be nested at most {MAX_DATA_DEPTH} deep")
        if isinstance(value, str):
            _storable(value, name)
        elif not isinstance(value, bool | int | float | list | dict | None):
            raise InvalidArgumentError(f"{name} must be JSON; it holds a {type(value).__name__}")
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
    except ValueError as error:
        raise InvalidArgumentError(f"{name} must hold only finite numbers of usual size: {error}") from error
    size = len(text.encode())
    if size > MAX_DATA_BYTES:
        raise InvalidArgumentError(f"{name} must have at most {MAX_DATA_BYTES} bytes as JSON; got {size}")
    return text


def data_value(text: str) -> dict[str, Any]:
    """The object that the canonical text stands for."""
    return {} if text == NO_DATA else cast("dict[str, Any]", json.loads(text))


def data_words(text: str) -> Iterator[str]:
    """Every text and number in the data, names of members included, for searching."""
    if text == NO_DATA:
        return
    for value, _ in _walk(data_value(text)):
        if isinstance(value, str):
            yield value
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield str(value)


def name_key(name: str) -> str:
    """What two names have in common when they mean the same: neither case, nor width, nor spacing matters."""
    folded = name.lower() if name.isascii() else unicodedata.normalize("NFKC", name).casefold()
    return " ".join(folded.split())


def _line(text: str, name: str, most: int) -> str:
    if len(text) > most:
        raise InvalidArgumentError(f"{name} must have at most {most} characters; got {len(text)}")
    return checked_printable(text, name)


def _storable(text: str, name: str) -> str:
    found = _UNSTORABLE.search(text)
    if found is not None:
        raise InvalidArgumentError(f"{name} must be text; character {found.start()} is U+{ord(found.group()):04X}")
    return text


def _walk(data: Mapping[str, Any]) -> Iterator[tuple[object, int]]:
    """Every value and every name of a member, with its depth. Goes deeper than recursion could; ends past the limit."""
    rest: list[tuple[object, int]] = [(data, 0)]
    while rest:
        value, depth = rest.pop()
        yield value, depth
        if depth > MAX_DATA_DEPTH:
            return
        if isinstance(value, dict):
            for member, inner in cast("dict[object, object]", value).items():
                rest.append((inner, depth + 1))
                rest.append((member, depth))
        elif isinstance(value, list):
            rest.extend((inner, depth + 1) for inner in cast("list[object]", value))
