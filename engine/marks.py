"""Marks: where in a picture of a surface something that was changed is seen. Owns the value and how it is cut to size.

Each domain finds its own, in `engine.<domain>.marks`: by the same frame or camera as its picture. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from engine.records import Change, Record

MOST_MARKS = 200
"""Marks of one answer; more would hide what they mark."""
MOST_LABEL_CHARACTERS = 60
"""Of the words beside a mark."""

PixelSize = tuple[int, int]
"""Width and height of a PNG picture."""

ChangeKind = Literal["added", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """Where something is seen, in fractions of the picture from its upper left corner, x to the right and y down.

    All of it lies within the picture. What stands behind other things is marked all the same.
    """

    id: str
    label: str
    change: ChangeKind
    left: float
    top: float
    width: float
    height: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sight:
    """The sides of a box on a picture, in fractions of it; it may reach beyond the picture."""

    left: float
    top: float
    right: float
    bottom: float


def mark_at(sight: Sight, record_id: str, label: str, change: ChangeKind) -> Mark | None:
    """The mark of what is seen there, cut at the sides of the picture; None for what is outside of it."""
    if sight.right < 0 or sight.left > 1 or sight.bottom < 0 or sight.top > 1:
        return None
    left, top = max(sight.left, 0.0), max(sight.top, 0.0)
    return Mark(
        id=record_id,
        label=short_label(label),
        change=change,
        left=left,
        top=top,
        width=min(sight.right, 1.0) - left,
        height=min(sight.bottom, 1.0) - top,
    )


def standing(changes: Iterable[Change]) -> Iterator[tuple[Record, ChangeKind]]:
    """What is there after the changes, each with whether it came or was there before. What went is not."""
    return ((change.after, "added" if change.before is None else "changed") for change in changes if change.after)


def short_label(text: str) -> str:
    """The first line of a text, so much of it as stands beside a mark."""
    line = next(iter(text.strip().splitlines()), "").strip()
    return line if len(line) <= MOST_LABEL_CHARACTERS else line[: MOST_LABEL_CHARACTERS - 1].rstrip() + "…"
