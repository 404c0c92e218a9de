"""Blocks become messages, and messages blocks again. Owns the joining, the sorting, and their exact inverse."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from blocks.block import ContextBlock, ContextMessage, Role
from blocks.marker import OPENING, Marker, escape_markers, marker_of, parse_marker, unescape_markers
from engine.errors import InvalidArgumentError

ROLES: tuple[Role, ...] = ("system", "user")
"""The messages in their order."""

SEPARATOR = "\n\n"
"""Between two blocks: one blank line, and whatever line breaks the contents have at their ends."""


@dataclass(frozen=True, slots=True)
class Placed:
    """A block, its index among those given, and where it stands in the message of its role, marker included.

    `start` and `end` count code points.
    """

    block: ContextBlock
    index: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Compiled:
    """The messages, at most one for each role, and where each block is in them, system first and then by order."""

    messages: tuple[ContextMessage, ...]
    placed: tuple[Placed, ...]


@dataclass(frozen=True, slots=True)
class SplitBlock:
    """A block that was found in a compiled text: its marker, its content, and where it stands, marker included."""

    marker: Marker
    content: str
    start: int
    end: int


def compile_blocks(blocks: Iterable[ContextBlock]) -> tuple[ContextMessage, ...]:
    """The messages of these blocks: one for each role that has any, system first.

    Each block begins with its marker on a line of its own; its content follows as it is, but for lines that look like
    a marker, which are escaped. Sorting by `order` is stable. A block of any other role is left out.
    """
    return compile_placed(blocks).messages


def compile_placed(blocks: Iterable[ContextBlock]) -> Compiled:
    """As `compile_blocks`, together with the place of each block."""
    given = tuple(blocks)
    messages: list[ContextMessage] = []
    placed: list[Placed] = []
    for role in ROLES:
        parts: list[str] = []
        at = 0
        indexes = [index for index, block in enumerate(given) if block.role == role]
        for index in sorted(indexes, key=lambda index: given[index].order):
            block = given[index]
            part = f"{marker_of(block)}\n{escape_markers(block.content)}"
            placed.append(Placed(block, index, at, at + len(part)))
            at += len(part) + len(SEPARATOR)
            parts.append(part)
        if parts:
            messages.append(ContextMessage(role, SEPARATOR.join(parts)))
    return Compiled(tuple(messages), tuple(placed))


def split_compiled(text: str) -> tuple[SplitBlock, ...]:
    """The blocks that this text was compiled of, in their order, contents exactly as they were.

    Raises `InvalidArgumentError` for a text that `compile_blocks` does not make.
    """
    starts = _marker_starts(text)
    if starts[:1] != [0]:
        raise InvalidArgumentError(f"a compiled text begins with a marker such as {Marker('instructions')}")
    ends = [start - len(SEPARATOR) for start in starts[1:]] + [len(text)]
    return tuple(_split_block(text, start, end) for start, end in zip(starts, ends, strict=True))


def _marker_starts(text: str) -> Sequence[int]:
    """Where markers begin. In contents they are escaped, so each one at the begin of a line is one."""
    starts = [0] if text.startswith(OPENING) else []
    at = text.find(f"\n{OPENING}")
    while at >= 0:
        starts.append(at + 1)
        at = text.find(f"\n{OPENING}", at + 1)
    return starts


def _split_block(text: str, start: int, end: int) -> SplitBlock:
    line, separator, content = text[start:end].partition("\n")
    marker = parse_marker(line)
    if marker is None or not separator or text[end:][: len(SEPARATOR)] not in ("", SEPARATOR):
        raise InvalidArgumentError(f"character {start} of the text begins no block: {line[:80]!r}")
    return SplitBlock(marker, unescape_markers(content), start, end)
