"""Context patterns: what a preset asks of the context. Owns the one predicate that decides whether a pattern matches.

Listing, calling and explaining all come back to `ContextPattern.matches`; the registry's index is built from
`ContextPattern.key`, which says the same in a form that can be looked up. Never looks at presets.
Source: agent-presets, "Context Matching".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from presets.context import FactValue

ANY = "any"
"""As a value of a pattern: whatever the fact is, and also when it is absent."""

NONE = "none"
"""As a value of a pattern: only when the fact is absent."""


class Absent(Enum):
    """Stands for a fact that the context does not have."""

    ABSENT = "absent"


FactKey = tuple[bool, FactValue] | Absent
"""A fact as it is compared: `True` and `1` are different, `1` and `1.0` are the same number."""


def fact_key(facts: Mapping[str, FactValue], field: str) -> FactKey:
    """The fact of that name as it is compared, or `Absent.ABSENT`."""
    value = facts.get(field)
    return Absent.ABSENT if value is None else (isinstance(value, bool), value)


class ContextPattern(Mapping[str, FactValue]):
    """One rule for auto activation: field → value. Immutable and hashable; reads like the mapping it was made from.

    A field that is missing is a wildcard, and so is the value `any`; `none` asks that the fact is absent; any other
    value is compared for equality. All fields must match. An empty pattern matches every context.
    """

    __slots__ = ("_pairs", "key")

    def __init__(self, pairs: Mapping[str, FactValue]) -> None:
        self._pairs = tuple(pairs.items())
        self.key: tuple[tuple[str, FactKey], ...] = tuple(
            (field, Absent.ABSENT if value == NONE else (isinstance(value, bool), value))
            for field, value in sorted(self._pairs)
            if value != ANY
        )
        """What must be equal, sorted by field. Two patterns with the same key match the same contexts."""

    def matches(self, facts: Mapping[str, FactValue]) -> bool:
        """Whether a context with these facts (`ContextSnapshot.facts()`) fits every field of the pattern."""
        return all(fact_key(facts, field) == wanted for field, wanted in self.key)

    def words(self) -> str:
        """The pattern for a person: `surface=canvas and activity=drawing`, or `any context`."""
        said = [f"{field}={plain_word(value)}" for field, value in self._pairs if value != ANY]
        return " and ".join(said) or "any context"

    def __getitem__(self, field: str) -> FactValue:
        for name, value in self._pairs:
            if name == field:
                return value
        raise KeyError(field)

    def __iter__(self) -> Iterator[str]:
        return iter(name for name, _ in self._pairs)

    def __len__(self) -> int:
        return len(self._pairs)

    def __hash__(self) -> int:
        return hash(frozenset(self._pairs))

    def __repr__(self) -> str:
        return f"ContextPattern({dict(self._pairs)!r})"


def plain_word(value: FactValue) -> str:
    """A value as people write it on a command line: `true`, `drawing`, `3`."""
    return str(value).lower() if isinstance(value, bool) else str(value)
