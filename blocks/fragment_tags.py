"""References to fragments in a text: `<@ch-marazi>` stands for all of it, `<@ch-marazi:short>` for a line.

Owns their form and their expansion: one pass from the left, literally, so that what a fragment says is never taken for
a pattern or for a tag of the text around it; and how much text tags may bring in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from blocks.fragment import FRAGMENT_ID_PATTERN, Fragment, FragmentById
from blocks.fragment_text import fragment_line, fragment_text

MAX_DEPTH = 8
"""Deepest nesting that can be asked for: each level may multiply the text."""

MAX_TAGGED_CHARACTERS = 1024 * 1024
"""What the tags of one text may bring in, in code points: more than models read. A fragment has half of it at most, but
a text may name it a thousand times."""

_TAG = re.compile(rf"<@({FRAGMENT_ID_PATTERN})(:short)?>")


class ContentTooLargeError(Exception):
    """Raised when a block would be larger than it may be, by its tags or among the others. The text says what to do."""


async def expand_fragment_tags(text: str, fragment: FragmentById, *, depth: int = 0) -> str:
    """The text with the fragments in the place of their tags.

    With a depth above zero, tags in a fragment that stands in full are expanded as well, one level less deep; those in
    a short line never are. A tag for a fragment that is missing, or for one that it stands in itself, becomes a note
    in brackets. Raises `ContentTooLargeError`, and `ValueError` for a depth that is negative or above `MAX_DEPTH`.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth must be 0 to {MAX_DEPTH}, not {depth}")
    return with_fragments(text, await tagged_fragments([text], fragment, depth=depth), depth=depth)


async def tagged_fragments(
    texts: Iterable[str], fragment: FragmentById, *, depth: int = 0
) -> Mapping[str, Fragment | None]:
    """What the tags of these texts name, each looked up once; None for what is missing."""
    found: dict[str, Fragment | None] = {}
    level: Sequence[str] = tuple(texts)
    for _ in range(depth + 1):
        wanted = {tag[1] for text in level for tag in _TAG.finditer(text)} - found.keys()
        for fragment_id in sorted(wanted):
            found[fragment_id] = await fragment(fragment_id)
        level = tuple(fragment_text(one) for one in map(found.get, sorted(wanted)) if one is not None)
    return found


def with_fragments(text: str, found: Mapping[str, Fragment | None], *, depth: int = 0) -> str:
    """The text with these fragments in the place of their tags. Takes its time: see `MAX_TAGGED_CHARACTERS`.

    Raises `ContentTooLargeError`.
    """
    return _Expansion(found).of(text, depth, ())


class _Expansion:
    """One text on its way. Stops where it has become too much, before that has been put together."""

    def __init__(self, found: Mapping[str, Fragment | None]) -> None:
        self._found = found
        self._left = MAX_TAGGED_CHARACTERS

    def of(self, text: str, depth: int, path: tuple[str, ...]) -> str:
        parts: list[str] = []
        at = 0
        for tag in _TAG.finditer(text):
            parts += text[at : tag.start()], self._stand_in(tag[1], tag[2] is not None, depth, path)
            at = tag.end()
        return "".join((*parts, text[at:]))

    def _stand_in(self, fragment_id: str, short: bool, depth: int, path: tuple[str, ...]) -> str:
        if fragment_id in path:
            return f"[circular fragment: {fragment_id}]"
        found = self._found.get(fragment_id)
        if found is None:
            return f"[unknown fragment: {fragment_id}]"
        text = fragment_line(found) if short else fragment_text(found)
        self._left -= len(text)
        if self._left < 0:
            raise ContentTooLargeError(
                f"its fragment tags bring in more than {MAX_TAGGED_CHARACTERS:,} characters, at <@{fragment_id}>; name "
                "fewer fragments, or their short lines as <@id:short>"
            )
        return self.of(text, depth - 1, (*path, fragment_id)) if depth and not short else text
