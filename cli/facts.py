"""Reads facts of the context as a person types them: `KEY=VALUE`. Pure; what a fact may be is the engine's to say."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable

FactValue = str | bool | int | float | None

_WORDS: dict[str, FactValue] = {"true": True, "false": False, "null": None, "": None}
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?")


def parse_facts(assignments: Iterable[str]) -> dict[str, FactValue]:
    """The facts that these assignments name; None takes a fact away.

    A value is true, false, null (or nothing), a number as in JSON, else text. Text in double quotes is that text, so
    `"5"` and `"true"` can be said. Raises `ValueError` for one without a key or `=`, and for a key given twice.
    """
    facts: dict[str, FactValue] = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        key = key.strip()
        if not equals or not key:
            raise ValueError(f"{assignment!r} is not KEY=VALUE; say for example surface=canvas")
        if key in facts:
            raise ValueError(f"{key!r} is given twice; say it once")
        facts[key] = _value(value.strip())
    return facts


def _value(text: str) -> FactValue:
    if text in _WORDS:
        return _WORDS[text]
    if _NUMBER.fullmatch(text):
        return _number(text)
    if text.startswith('"'):
        try:
            unquoted = json.loads(text)
        except ValueError:
            return text
        return unquoted if isinstance(unquoted, str) else text
    return text


def _number(text: str) -> FactValue:
    try:
        number = json.loads(text)
    except ValueError:  # more digits than Python reads as an integer
        return text
    return text if isinstance(number, float) and not math.isfinite(number) else number
