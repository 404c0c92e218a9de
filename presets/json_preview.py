"""A look at a JSON value that is too long to show whole. Owns how it is cut: by its structure, never through a text.

What comes out is JSON again, so that nobody takes half a document for a whole one; what is left out is counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, cast

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
    shown = _first_that_fits(value, characters, _Cut)
    return json.dumps(_kind(value), ensure_ascii=False) if shown is None else shown.text


class Shown(NamedTuple):
    """A value as JSON. `is_whole` says that nothing is left out."""

    text: str
    is_whole: bool


def json_without_middle(value: object, characters: int) -> Shown | None:
    """As `json_preview`, but of everything that is too long the beginning and the end are shown, and the middle is
    counted: for who must not be deceived about an end. None where nothing of the value could be told so.
    """
    return _first_that_fits(value, characters, _CutInTheMiddle)


def _first_that_fits(value: object, characters: int, kind: type[_Cut]) -> Shown | None:
    for items, length in _STEPS:
        cutter = kind(items, length, characters)
        try:
            cut = cutter.of(value, _DEEPEST)
        except _TooManyError:
            continue
        text = json.dumps(cut, ensure_ascii=False, indent=INDENT)
        if len(text) <= characters:
            return Shown(text, cutter.is_whole)
    return None


class _TooManyError(Exception):
    """The cut value would be too long all the same: it has more values than it may have characters."""


class _Cut:
    """A value cut to so many items in each container and characters in each text. Gives up past `most` values."""

    def __init__(self, items: int, length: int, most: int) -> None:
        self._items = items
        self._length = length
        self._left = most
        self.is_whole = True

    def of(self, value: object, levels: int) -> object:
        self._left -= 1
        if self._left < 0:
            raise _TooManyError
        match value:
            case str():
                return value if len(value) <= self._length else self._text(value)
            case Mapping():
                members = cast("Mapping[str, Any]", value)
                return self._too_deep(members) if levels == 0 and members else self._members(members, levels - 1)
            case Sequence():
                entries = cast("Sequence[Any]", value)
                return self._too_deep(entries) if levels == 0 and entries else self._entries(entries, levels - 1)
            case _:
                return value

    def _too_deep(self, value: object) -> str:
        self.is_whole = False
        return _kind(value)

    def _text(self, text: str) -> str:
        return f"{text[: self._length]}… ({len(text) - self._length} more characters)"

    def _members(self, members: Mapping[str, Any], levels: int) -> object:
        shown = {key[: self._length]: self.of(member, levels) for key, member in islice(members.items(), self._items)}
        if len(members) > self._items:
            shown["…"] = f"{len(members) - self._items} more members"
        return shown

    def _entries(self, entries: Sequence[Any], levels: int) -> object:
        listed = [self.of(entry, levels) for entry in islice(entries, self._items)]
        if len(entries) > self._items:
            listed.append(f"… {len(entries) - self._items} more items")
        return listed


class _CutInTheMiddle(_Cut):
    """As `_Cut`, but everything keeps its end as well. No member takes the place of another whose name begins alike."""

    def _text(self, text: str) -> str:
        self.is_whole = False
        head = (self._length + 1) // 2
        tail = self._length - head
        return f"{text[:head]}… ({len(text) - self._length} characters are left out here) …{text[-tail:]}"

    def _members(self, members: Mapping[str, Any], levels: int) -> object:
        head, tail = self._ends(len(members))
        shown: dict[str, object] = {}
        for number, (key, member) in enumerate(members.items()):
            if number < head or number >= len(members) - tail:
                shown[self._name(key, shown)] = self.of(member, levels)
            elif number == head:
                shown[self._name("…", shown)] = f"{len(members) - head - tail} members are left out here"
        return shown

    def _entries(self, entries: Sequence[Any], levels: int) -> object:
        head, tail = self._ends(len(entries))
        listed = [self.of(entry, levels) for entry in islice(entries, head)]
        if head + tail < len(entries):
            listed.append(f"… {len(entries) - head - tail} items are left out here")
            listed.extend(self.of(entry, levels) for entry in entries[len(entries) - tail :])
        return listed

    def _ends(self, count: int) -> tuple[int, int]:
        """How many are shown of the beginning and of the end."""
        if count <= self._items:
            return count, 0
        self.is_whole = False
        return (self._items + 1) // 2, self._items // 2

    def _name(self, key: str, taken: Mapping[str, object]) -> str:
        name = cut = key if len(key) <= self._length else self._text(key)
        number = 1
        while name in taken:
            number += 1
            name = f"{cut} ({number})"
        return name


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
