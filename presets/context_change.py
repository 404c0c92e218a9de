"""What one change of the context, or of an override, did: facts, presets and tools before and after it. Pure.

Owns how two moments are compared, and the form in which that is told.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from presets.context import ContextSnapshot, FactValue
from presets.overrides import Overrides

ValueT = TypeVar("ValueT")


@dataclass(frozen=True, slots=True)
class Moved(Generic[ValueT]):
    """A value by name as it was and as it is now; of a fact, None where there is none."""

    name: str
    before: ValueT
    after: ValueT


@dataclass(frozen=True, slots=True)
class ContextMoment:
    """Context and overrides, with the presets and the tools (by MCP name) that are shown in them, each in its order."""

    context: ContextSnapshot
    overrides: Overrides
    presets: tuple[str, ...]
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextChange:
    """What is different after a change. `at` is when, in epoch seconds."""

    at: float
    facts: tuple[Moved[FactValue | None], ...] = ()
    overrides: tuple[Moved[str], ...] = ()
    presets_shown: tuple[str, ...] = ()
    presets_hidden: tuple[str, ...] = ()
    tools_shown: tuple[str, ...] = ()
    tools_hidden: tuple[str, ...] = ()

    @property
    def changes_nothing(self) -> bool:
        """Whether all is as it was."""
        return self == ContextChange(at=self.at)

    def to_json(self) -> dict[str, Any]:
        """All of it as plain JSON values."""
        return {
            "at": self.at,
            "facts": {fact.name: {"from": fact.before, "to": fact.after} for fact in self.facts},
            "overrides": {preset.name: {"from": preset.before, "to": preset.after} for preset in self.overrides},
            "presets_shown": list(self.presets_shown),
            "presets_hidden": list(self.presets_hidden),
            "tools_shown": list(self.tools_shown),
            "tools_hidden": list(self.tools_hidden),
        }


def change_between(before: ContextMoment, after: ContextMoment, at: float) -> ContextChange:
    """What is different from one moment to a later one, which came at that time."""
    was, now = before.context.facts(), after.context.facts()
    names = sorted(name for name in was.keys() | now.keys() if was.get(name) != now.get(name))
    said = sorted(
        name
        for name in before.overrides.keys() | after.overrides.keys()
        if before.overrides.state_of(name) is not after.overrides.state_of(name)
    )
    return ContextChange(
        at=at,
        facts=tuple(Moved(name, was.get(name), now.get(name)) for name in names),
        overrides=tuple(
            Moved(name, before.overrides.state_of(name).value, after.overrides.state_of(name).value) for name in said
        ),
        presets_shown=_without(after.presets, before.presets),
        presets_hidden=_without(before.presets, after.presets),
        tools_shown=_without(after.tools, before.tools),
        tools_hidden=_without(before.tools, after.tools),
    )


def _without(names: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    known = frozenset(others)
    return tuple(name for name in names if name not in known)
