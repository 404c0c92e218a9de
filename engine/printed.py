"""How much room a text takes in a result, and how much of it fits. Results are JSON, in which some characters grow."""

from __future__ import annotations

import json

MAX_RESULT_BYTES = 40_000
"""Bytes of JSON for the content of one result. Clients show 50 KiB of a result, of which the rest needs some."""

MAX_RESULT_LINES = 1900
"""Clients show 2000 lines of a result."""


def printed_size(text: str) -> int:
    """The bytes that the text takes within a JSON string."""
    return len(json.dumps(text, ensure_ascii=False).encode("utf-8", "replace")) - len('""')


def fitting_prefix(text: str, limit_bytes: int) -> str:
    """The longest beginning of the text (give or take some characters) whose printed size is at most `limit_bytes`."""
    kept = text[:limit_bytes]
    while (size := printed_size(kept)) > limit_bytes:
        kept = kept[: len(kept) * limit_bytes // size]
    return kept
