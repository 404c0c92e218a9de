"""What a text hides from whoever looks at it, and the text with all of that written out.

Owns the one list of characters that are not seen where they stand: controls, those that turn the direction of writing,
those without a width, blanks that look like nothing. Whatever somebody else wrote goes through here before a person
decides on it, or before it reaches a log or a terminal. Never shortens.
"""

from __future__ import annotations

import re

_PRINTABLE_AND_UNSEEN = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Characters that count as printable, and take no room or an empty one."""

_ASTRAL = 0x10000


def is_seen(character: str) -> bool:
    """Whether a character is seen where it stands. A line break is not: it is for the caller to keep."""
    return character.isprintable() and not _PRINTABLE_AND_UNSEEN.match(character)


def visible(text: str, keep: str = "") -> str:
    r"""The text with what is not seen as `\uXXXX`, but for the characters of `keep`. JSON stays the same JSON."""
    if text.isprintable() and not _PRINTABLE_AND_UNSEEN.search(text):
        return text
    return "".join(each if is_seen(each) or each in keep else _escape(each) for each in text)


def _escape(character: str) -> str:
    code = ord(character)
    if code < _ASTRAL:
        return f"\\u{code:04x}"
    above = code - _ASTRAL
    return f"\\u{0xD800 + (above >> 10):04x}\\u{0xDC00 + (above & 0x3FF):04x}"
