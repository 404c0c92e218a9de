"""A look at a JSON value that is too long to show whole. Owns how it is cut: by its structure, never through a text.

What comes out is JSON again, so that nobody takes half a document for a whole one; what is left out is counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, cast

INDENT = 2
"""Spaces a level."""

_DEEPEST = 12
"""Levels that are looked into. Recursion stays far from Python's limit, and nobody reads deeper ones."""

_STEPS = ((200, 4000), (60, 2000), (20, 1000), (10, 400), (5, 200), (3, 100), (2, 40), (1, 20))
"""Most items of an array or object and most characters of a text that are tried, one after the other."""


def json_text(value: object) -> str:
    """The whole value as JSON: in one line where that is short, else indented. A value that is too deep is cut."""
    try:
        line = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return json_preview(value, _ONE_LINE)
    return line if len(line) <= _ONE_LINE else json.dumps(value, ensure_ascii=False, indent=INDENT)


_ONE_LINE = 100
"""Characters up to which a value is one line."""


def json_preview(value: object, characters: int) -> str:
    """The value as JSON of at most so many characters. Left-out items and characters are counted where they stood.

    `characters` below what the smallest preview needs (some 200) may be exceeded a little.
    """
    text = ""
    for items, length in _STEPS:
        text = json.dumps(_cut(value, items, length, _DEEPEST), ensure_ascii=False, indent=INDENT)
        if len(text) <= characters:
            return text
    return json.dumps(_kind(value), ensure_ascii=False)


def _cut(value: object, items: int, length: int, levels: int) -> object:
    match value:
        case str():
            if len(value) <= length:
                return value
            return f"{value[:length]}… ({len(value) - length} more characters)"
        case Mapping():
            members = cast("Mapping[str, Any]", value)
            if levels == 0 and members:
                return _kind(members)
            shown = {
                key[:length]: _cut(member, items, length, levels - 1) for key, member in list(members.items())[:items]
            }
            if len(members) > items:
                shown["…"] = f"{len(members) - items} more members"
            return shown
        case Sequence():
            entries = cast("Sequence[Any]", value)
            if levels == 0 and entries:
                return _kind(entries)
            listed: list[object] = [_cut(entry, items, length, levels - 1) for entry in entries[:items]]
            if len(entries) > items:
                listed.append(f"… {len(entries) - items} more items")
            return listed
        case _:
            return value


def _kind(value: object) -> str:
    match value:
        case str():
            return f"… (text of {len(value)} characters)"
        case Mapping():
            return f"… (object of {len(cast('Mapping[str, Any]', value))} members)"
        case Sequence():
            return f"… (array of {len(cast('Sequence[Any]', value))} items)"
        case _:
            return json.dumps(value)
