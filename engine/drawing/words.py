"""What a drawing takes as words: names of layers and texts on the canvas. Owns the check; both end up in XML.

Raises `InvalidArgumentError` for what XML cannot carry, so that everything in a drawing can be exported.
"""

from __future__ import annotations

import re

from engine.errors import InvalidArgumentError

MAX_NAME_LENGTH = 100
"""Longest name of a layer, in characters: a line of a panel."""
MAX_TEXT_LENGTH = 2_000
"""Longest text of one object, in characters: a page; more is better split into objects."""

_FORBIDDEN = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u2028\u2029]")


def checked_name(name: str) -> str:
    """A name for a layer: not empty, no space at either end, one line, no control characters."""
    if not name or name != name.strip():
        raise InvalidArgumentError(f"name must not be empty and not begin or end with a space; got {name!r:.120}")
    if len(name) > MAX_NAME_LENGTH:
        raise InvalidArgumentError(f"name must have at most {MAX_NAME_LENGTH} characters; got {len(name)}")
    if "\n" in name:
        raise InvalidArgumentError("name must be one line; it has a line break")
    refuse_unprintable(name, "name")
    return name


def checked_text(text: str) -> str:
    """A text for the canvas: something other than space, lines separated by a newline, no other control characters."""
    text = text.replace("\r\n", "\n")
    if not text.strip():
        raise InvalidArgumentError("text must hold something that can be seen; it is empty or only space")
    if len(text) > MAX_TEXT_LENGTH:
        raise InvalidArgumentError(f"text must have at most {MAX_TEXT_LENGTH} characters; got {len(text)}")
    refuse_unprintable(text, "text")
    return text


def refuse_unprintable(text: str, what: str) -> None:
    """Raise `InvalidArgumentError`, naming `what`, for a text with a character that XML or a line cannot carry."""
    found = _FORBIDDEN.search(text)
    if found is not None:
        raise InvalidArgumentError(
            f"{what} must not hold control characters; character {found.start()} is U+{ord(found.group()):04X}"
        )
