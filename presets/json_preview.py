"""A look at a JSON value that is too long to show whole. Owns how it is cut: by its structure, never through a text.

What comes out is JSON again, so that nobody takes half a document for a whole one; what is left out is counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, cast

INDENT = 2
"""Spaces a level."""

_DEEPEST = 12
"""Levels that are looked into. Recursion stays far from Python's limit, and nobody reads deeper ones."""

_STEPS = ((200, 4000), (60, 2000), (20, 1000), (10, 400), (5, 200), (3, 100), (2, 40), (1, 20))
"""Most items of an array or object and most characters of a text that are tried, one after the other."""


def json_text(value: object) -> str:
    """The whole value as JSON: in one line where that is short or very long, else indented. A value that is too deep is
    cut.
    """
    try:
        line = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return json_preview(value, _ONE_LINE)
    return line if not _ONE_LINE < len(line) < _UNREAD else json.dumps(value, ensure_ascii=False, indent=INDENT)


_ONE_LINE = 100
"""Characters up to which a value is one line."""

_UNREAD = 100_000
"""Characters from which nobody reads the whole. To indent it takes ten times as long as to write it."""


def json_preview(value: object, characters: int) -> str:
    """The value as JSON of at most so many characters. Left-out items and characters are counted where they stood.

    `characters` below what the smallest preview needs (some 200) may be exceeded a little.
    """
    text = ""
    for items, length in _STEPS:
        try:
            cut = _Cut(items, length, characters).of(value, _DEEPEST)
        except _TooManyError:
            continue
        text = json.dumps(cut, ensure_ascii=False, indent=INDENT)
        if len(text) <= characters:
            return text
    return json.dumps(_kind(value), ensure_ascii=False)


class _TooManyError(Exception):
    """The cut value would be too long all the same: it has more values than it may have characters."""


class _Cut:
    """A value cut to so many items in each container and characters in each text. Gives up past `most` values."""

    def __init__(self, items: int, length: int, most: int) -> None:
        self._items = items
        self._length = length
        self._left = most

    def of(self, value: object, levels: int) -> object:
        self._left -= 1
        if self._left < 0:
            raise _TooManyError
        match value:
            case str():
                if len(value) <= self._length:
                    return value
                return f"{value[: self._length]}… ({len(value) - self._length} more characters)"
            case Mapping():
                members = cast("Mapping[str, Any]", value)
                if levels == 0 and members:
                    return _kind(members)
                shown = {
                    key[: self._length]: self.of(member, levels - 1)
                    for key, member in islice(members.items(), self._items)
                }
                if len(members) > self._items:
                    shown["…"] = f"{len(members) - self._items} more members"
                return shown
            case Sequence():
                entries = cast("Sequence[Any]", value)
                if levels == 0 and entries:
                    return _kind(entries)
                listed = [self.of(entry, levels - 1) for entry in islice(entries, self._items)]
                if len(entries) > self._items:
                    listed.append(f"… {len(entries) - self._items} more items")
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
