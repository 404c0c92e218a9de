"""Which unit a description may mean. Owns the counting of words; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable

from engine.errors import InvalidArgumentError
from presets.unit_shop import Candidate, UnitRow

_WORD = re.compile(r"[a-z0-9]+")


def resolve_units(rows: Iterable[UnitRow], description: str, limit: int) -> tuple[Candidate, ...]:
    """At most `limit` units in which words of the description occur, those with the most of them first, then by name.

    Looked at are name, title, description, tools, presets and facts. Raises `InvalidArgumentError` for a description
    without a word, and for a limit below 0.
    """
    if limit < 0:
        raise InvalidArgumentError(f"limit is {limit}; it must be 0 or more")
    words = list(dict.fromkeys(_WORD.findall(description.lower())))
    if not words:
        raise InvalidArgumentError("the description has no word; say what the unit does, or what its tools are called")
    found: list[Candidate] = []
    for row in rows:
        text = " ".join(_texts(row)).lower()
        hits = [word for word in words if word in text]
        if hits:
            evidence = f"{len(hits)} of {len(words)} words: {', '.join(hits)}"
            found.append(Candidate(unit=row.name, confidence=round(len(hits) / len(words), 4), evidence=evidence))
    found.sort(key=lambda candidate: (-candidate.confidence, candidate.unit))
    return tuple(found[:limit])


def _texts(row: UnitRow) -> Iterable[str]:
    return (row.name, row.title or "", row.description, *row.tools, *row.presets, *row.facts)
