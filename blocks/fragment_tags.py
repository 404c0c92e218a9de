"""References to fragments in a text: `<@ch-marazi>` stands for all of it, `<@ch-marazi:short>` for a line.

Owns their form and their expansion: one pass from the left, literally, so that what a fragment says is never taken for
a pattern or for a tag of the text around it.
"""

from __future__ import annotations

import re

from blocks.fragment import FRAGMENT_ID_PATTERN, FragmentById
from blocks.fragment_text import fragment_line, fragment_text

MAX_DEPTH = 8
"""Deepest nesting that can be asked for: each level may multiply the text."""

_TAG = re.compile(rf"<@({FRAGMENT_ID_PATTERN})(:short)?>")


async def expand_fragment_tags(text: str, fragment: FragmentById, *, depth: int = 0) -> str:
    """The text with the fragments in the place of their tags.

    With a depth above zero, tags in a fragment that stands in full are expanded as well, one level less deep; those in
    a short line never are. A tag for a fragment that is missing, or for one that it stands in itself, becomes a note
    in brackets. Raises `ValueError` for a depth that is negative or above `MAX_DEPTH`.
    """
    if not 0 <= depth <= MAX_DEPTH:
        raise ValueError(f"depth must be 0 to {MAX_DEPTH}, not {depth}")
    return await _expanded(text, fragment, depth, ())


async def _expanded(text: str, fragment: FragmentById, depth: int, path: tuple[str, ...]) -> str:
    parts: list[str] = []
    at = 0
    for tag in _TAG.finditer(text):
        parts += text[at : tag.start()], await _stand_in(tag[1], tag[2] is not None, fragment, depth, path)
        at = tag.end()
    return "".join((*parts, text[at:]))


async def _stand_in(fragment_id: str, short: bool, fragment: FragmentById, depth: int, path: tuple[str, ...]) -> str:
    if fragment_id in path:
        return f"[circular fragment: {fragment_id}]"
    found = await fragment(fragment_id)
    if found is None:
        return f"[unknown fragment: {fragment_id}]"
    if short:
        return fragment_line(found)
    text = fragment_text(found)
    return await _expanded(text, fragment, depth - 1, (*path, fragment_id)) if depth else text
