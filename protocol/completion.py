"""Suggestions for an argument that somebody is typing. Owns the values. Source: MCP, server/utilities/completion."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

COMPLETION_VALUES = 100
"""Most suggestions in one answer: the specification's limit."""


@dataclass(frozen=True, slots=True)
class CompletionOutcome:
    """Suggestions, best first. `total` is how many there are in all, None where nobody counted."""

    values: tuple[str, ...]
    total: int | None = None


Completer = Callable[[str, Mapping[str, str]], Awaitable[CompletionOutcome]]
"""Given what has been typed, and the arguments that are filled in already, suggests what may be meant."""


@dataclass(frozen=True, slots=True)
class PreparedCompletion:
    """A completion that may run, as `completer(value, filled_in)`."""

    completer: Completer
    argument: str
    value: str
    filled_in: Mapping[str, str]


def completion_members(outcome: CompletionOutcome) -> dict[str, object]:
    """The `completion` of an answer; what is beyond the limit is left out, and said to be there."""
    shown = outcome.values[:COMPLETION_VALUES]
    total = len(outcome.values) if outcome.total is None else outcome.total
    return {"values": list(shown), "total": total, "hasMore": total > len(shown)}
