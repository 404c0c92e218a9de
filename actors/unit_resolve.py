"""Which unit a description may mean. Owns the counting of words; pure."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable

from engine.errors import InvalidArgumentError
from presets.unit_shop import Candidate, UnitRow

LEAST_LIKENESS = 0.7
"""From which on a word is taken for another that was mistyped, between 0 and 1, as `difflib` counts it."""

_WORD = re.compile(r"[a-z0-9]+")


def resolve_units(rows: Iterable[UnitRow], description: str, limit: int) -> tuple[Candidate, ...]:
    """At most `limit` units in which words of the description occur, those with the most of them first, then by name.

    Where none of the words occurs anywhere, those come instead that have a word like one of them, which the evidence
    asks about. Looked at are name, title, description, tools, presets and facts. Raises `InvalidArgumentError` for a
    description without a word, and for a limit below 0.
    """
    if limit < 0:
        raise InvalidArgumentError(f"limit is {limit}; it must be 0 or more")
    words = list(dict.fromkeys(_WORD.findall(description.lower())))
    if not words:
        raise InvalidArgumentError("the description has no word; say what the unit does, or what its tools are called")
    texts = {row.name: " ".join(_texts(row)).lower() for row in rows}
    found = [each for name, text in texts.items() if (each := _having(words, name, text)) is not None]
    if not found:
        found = [each for name, text in texts.items() if (each := _alike(words, name, text)) is not None]
    found.sort(key=lambda candidate: (-candidate.confidence, candidate.unit))
    return tuple(found[:limit])


def _having(words: list[str], unit: str, text: str) -> Candidate | None:
    hits = [word for word in words if word in text]
    if not hits:
        return None
    evidence = f"{len(hits)} of {len(words)} words: {', '.join(hits)}"
    return Candidate(unit=unit, confidence=round(len(hits) / len(words), 4), evidence=evidence)


def _alike(words: list[str], unit: str, text: str) -> Candidate | None:
    known = list(dict.fromkeys(_WORD.findall(text)))
    close = {word: difflib.get_close_matches(word, known, 1, LEAST_LIKENESS) for word in words}
    meant = {word: found[0] for word, found in close.items() if found}
    if not meant:
        return None
    asked = ", ".join(f"{there!r} by {word!r}" for word, there in meant.items())
    # Half of what the words themselves would count: it is a guess.
    share = round(len(meant) / len(words) / 2, 4)
    return Candidate(unit=unit, confidence=share, evidence=f"none of the words; did you mean {asked}?")


def _texts(row: UnitRow) -> Iterable[str]:
    return (row.name, row.title or "", row.description, *row.tools, *row.presets, *row.facts)
