"""What a scope lets through: filters on names, presets, groups and risk. Owns the rule of each and its words.

A filter is a frozen value that knows where it was declared, so that a hidden tool can say who hides it. It looks at
each tool as it comes: one that is registered later meets the same filter.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from presets.definition import Risk
from presets.tool_labels import ToolLabels

UNGROUPED = "none"
"""Stands for a tool that has no group (or no preset) in a list of groups (or presets)."""

MAX_SAID_NAMES = 6
"""Names that a reason repeats; a longer list is counted."""


@dataclass(frozen=True, slots=True)
class Origin:
    """Where something was declared: the scope, and what in it, such as a row of a composition."""

    scope: str
    by: str | None = None

    def __str__(self) -> str:
        return self.scope if self.by is None else f"{self.scope} ({self.by})"


class Listed(StrEnum):
    """What the names in a list are names of."""

    TOOLS = "tools"
    PRESETS = "presets"
    GROUPS = "groups"


@dataclass(frozen=True, slots=True)
class ListFilter:
    """Lets through what is on `allow` (None: everything) and not on `deny`."""

    origin: Origin
    of: Listed
    allow: frozenset[str] | None = None
    deny: frozenset[str] = frozenset()

    def admits(self, name: str, labels: ToolLabels) -> bool:
        """Whether a tool of that name with those labels comes through. Lists of tools look at the name alone."""
        found = self._found(name, labels)
        return found not in self.deny and (self.allow is None or found in self.allow)

    def objection(self, name: str, labels: ToolLabels) -> str:
        """Why a tool that is not admitted is not."""
        found = self._found(name, labels)
        what = "it" if self.of is Listed.TOOLS else f"its {self.of.value.removesuffix('s')} {found!r}"
        if self.of is not Listed.TOOLS and found == UNGROUPED:
            what = f"it is in no {self.of.value.removesuffix('s')}, which"
        if found in self.deny:
            return f"{what} is denied there"
        return f"{what} is not among the {self.of.value} that are allowed there: {_listed(self.allow or frozenset())}"

    def _found(self, name: str, labels: ToolLabels) -> str:
        if self.of is Listed.TOOLS:
            return name
        return (labels.preset if self.of is Listed.PRESETS else labels.group) or UNGROUPED


@dataclass(frozen=True, slots=True)
class RiskFilter:
    """Lets through what is at most as risky as `ceiling`."""

    origin: Origin
    ceiling: Risk

    def admits(self, name: str, labels: ToolLabels) -> bool:
        """Whether a tool of that name with those labels comes through."""
        del name
        return labels.risk is Risk.NORMAL or labels.risk.rank <= self.ceiling.rank

    def objection(self, name: str, labels: ToolLabels) -> str:
        """Why a tool that is not admitted is not."""
        del name
        return f"its risk is {labels.risk.value!r}, and the highest that is allowed there is {self.ceiling.value!r}"


ToolFilter = ListFilter | RiskFilter


def _listed(names: frozenset[str]) -> str:
    if not names:
        return "(none)"
    said = ", ".join(sorted(names)[:MAX_SAID_NAMES])
    more = len(names) - MAX_SAID_NAMES
    return f"{said} and {more} more" if more > 0 else said
