"""Long lists in pages, with cursors that clients hand back without looking into them.

Owns cutting and cursors. A cursor names the last item of its page, so that it still means something after the list has
changed: items that were there all the time come once. Source: MCP specification, server/utilities ("Pagination").
"""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

CURSOR_CHARS = 8192
"""Longest cursor that is read: above what the longest uri makes."""


@dataclass(frozen=True, slots=True)
class Page:
    """Which items of a list are on a page, and the cursor of the next one, None after the last."""

    start: int
    stop: int
    next_cursor: str | None


def page(kind: str, keys: Sequence[str], cursor: object, size: int) -> Page | None:
    """The page of a list that a cursor names; None where that is no cursor of such a list.

    `keys` are sorted and differ. Without a cursor (None) it is the first page.
    """
    start = 0
    if cursor is not None:
        last = _read(kind, cursor)
        if last is None:
            return None
        start = bisect_right(keys, last)
    stop = min(start + size, len(keys))
    return Page(start, stop, _cursor(kind, keys[stop - 1]) if stop < len(keys) else None)


def _cursor(kind: str, last: str) -> str:
    return urlsafe_b64encode(f"{kind}\0{last}".encode()).decode()


def _read(kind: str, cursor: object) -> str | None:
    if not isinstance(cursor, str) or not cursor or len(cursor) > CURSOR_CHARS:
        return None
    try:
        found_kind, separator, last = urlsafe_b64decode(cursor).decode().partition("\0")
    except (Base64Error, ValueError):
        return None
    return last if separator and found_kind == kind and _cursor(kind, last) == cursor else None
