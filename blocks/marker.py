"""The line that begins a block in a compiled text. Owns its form, the slug, and the escaping of what looks like it.

Content can say anything, so a line of it that looks like a marker gets a backslash before the bracket. One that has
backslashes there already gets one more; so taking one away gives back what was there, always.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from blocks.block import SOURCE_SEPARATOR, ContextBlock

OPENING = "[@block="
CLOSING = "]"
ESCAPE = "\\"

_NOT_IN_SLUG = re.compile(r"[^a-z0-9]+")

# What some reader may take for the begin of a line counts as one, and so does what is only indented.
_FORGED = re.compile(
    r"(?:\A|(?<=[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]))([^\S\n\r\v\f\x1c-\x1e\x85\u2028\u2029]*)(\\*)\[@block="
)


@dataclass(frozen=True, slots=True)
class Marker:
    """What a marker says: the id of its block and, where the block has a name of its own, that name's slug."""

    id: str
    slug: str | None = None

    def __str__(self) -> str:
        if self.slug is None:
            return f"{OPENING}{self.id}{CLOSING}"
        return f"{OPENING}{self.slug}{SOURCE_SEPARATOR}{self.id}{CLOSING}"


def slug_of(name: str) -> str:
    """The name in lower case, with a dash for each run of anything but `a-z` and `0-9`, and none at the ends.

    Empty for a name without such letters: `物語` is a good name and has no slug, of which an editor should warn.
    """
    return _NOT_IN_SLUG.sub("-", name.lower()).strip("-")


def marker_of(block: ContextBlock) -> Marker:
    """The marker of a block: long where it has a name that is not its id."""
    return Marker(block.id, slug_of(block.name) if block.name and block.name != block.id else None)


def parse_marker(line: str) -> Marker | None:
    """What that line says, or None where it is no marker."""
    if not line.startswith(OPENING) or not line.endswith(CLOSING):
        return None
    slug, separator, block_id = line[len(OPENING) : -len(CLOSING)].partition(SOURCE_SEPARATOR)
    return Marker(block_id, slug) if separator else Marker(slug)


def escape_markers(content: str) -> str:
    """The content, in which no line can be taken for a marker."""
    if OPENING not in content:  # nearly always, and looking at every line takes long
        return content
    return _FORGED.sub(lambda match: f"{match[1]}{ESCAPE}{match[2]}{OPENING}", content)


def unescape_markers(text: str) -> str:
    """The content that `escape_markers` made this text of."""
    if OPENING not in text:
        return text
    return _FORGED.sub(lambda match: f"{match[1]}{match[2][1:]}{OPENING}", text)
