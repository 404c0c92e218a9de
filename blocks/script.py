"""Script blocks, as far as they are not run here: what evaluates them, and what can come out. Owns these values."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from blocks.json_value import Json


@dataclass(frozen=True, slots=True)
class ScriptText:
    """The script returned this text."""

    text: str


@dataclass(frozen=True, slots=True)
class ScriptOther:
    """The script returned something else. `what` says it in words: `a number`, `nothing`."""

    what: str


@dataclass(frozen=True, slots=True)
class ScriptFailure:
    """The script failed: it threw, has no valid syntax, was beyond a limit, or could not be run at all.

    `line` is the line of the body where it threw, from 1; None where no line is known, as for syntax and limits.
    """

    message: str
    line: int | None = None


ScriptOutcome = ScriptText | ScriptOther | ScriptFailure


class ScriptEvaluator(Protocol):
    """Runs the bodies of script blocks."""

    async def evaluate(self, body: str, context: Mapping[str, Json]) -> ScriptOutcome:
        """Run the body of an async function of `ctx` and say what it gave.

        `ctx` is a copy of `context`, with the functions that look fragments up. What the script does wrong is a
        `ScriptFailure`; what is raised is a bug.
        """
        ...


class NoScripts:
    """An evaluator where nothing can run scripts: each of them fails, saying why."""

    def __init__(self, reason: str) -> None:
        self._reason = reason

    async def evaluate(self, body: str, context: Mapping[str, Json]) -> ScriptOutcome:
        """The reason, whatever the script."""
        return ScriptFailure(self._reason)


_LINE_ENDS_AND_TABS = frozenset("\t\n\v\f\r\ufeff\u2028\u2029")


def is_blank(text: str) -> bool:
    """Whether nothing is left when JavaScript trims it. Python's `strip` takes other characters away."""
    return all(character in _LINE_ENDS_AND_TABS or unicodedata.category(character) == "Zs" for character in text)
