"""What a chain of scopes amounts to at one moment, frozen: the mode, the filters and the guards. Owns that value.

Whoever projects tools, or is about to run one, works on such a view; nothing that is declared later changes it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from presets.definition import Risk
from presets.frozen_json import frozen_json
from presets.presentation import DEFAULT_OPTION, Presentation
from presets.tool_filters import Listed, ListFilter, Origin, RiskFilter, ToolFilter
from protocol.tool import JsonObject

GuardCheck = Callable[[str, JsonObject], str | None]
"""Told the MCP name and the arguments of a call, frozen; says why it must not run, or None. Nothing can take that back.

It is synchronous and fast: it runs on the path of every call. An error that it raises keeps the call from running too.
"""


@dataclass(frozen=True, slots=True)
class Guard:
    """A check of calls, and where it was declared."""

    origin: Origin
    check: GuardCheck


@dataclass(frozen=True, slots=True)
class ScopeView:
    """A chain of scopes at one moment. Equal views show every tool alike, so one projection serves them all.

    `filters` and `guards` come from the farthest scope to the nearest; all must admit a tool. `mode_origin` is None
    where no scope declares a mode and the deployment's default holds.
    """

    mode: Presentation = Presentation.NATIVE
    mode_origin: Origin | None = None
    filters: tuple[ToolFilter, ...] = ()
    guards: tuple[Guard, ...] = ()
    tool_finder: bool = False
    """Whether the agent has the pair that finds and calls tools by name, beside whatever it has."""

    @property
    def mode_source(self) -> str:
        """Who chose the mode, in words."""
        return mode_source(self.mode_origin)

    @property
    def ceiling(self) -> Risk | None:
        """The highest risk that comes through, None where nobody set one."""
        ceilings = [one.ceiling for one in self.filters if isinstance(one, RiskFilter)]
        return min(ceilings, key=lambda risk: risk.rank, default=None)

    @property
    def groups(self) -> frozenset[str] | None:
        """The groups that are allowed, without those denied; None where nobody gave a list of allowed ones."""
        lists = [one for one in self.filters if isinstance(one, ListFilter) and one.of is Listed.GROUPS]
        allowed = [one.allow for one in lists if one.allow is not None]
        if not allowed:
            return None
        return allowed[0].intersection(*allowed[1:]).difference(*(one.deny for one in lists))


def mode_source(origin: Origin | None) -> str:
    """Who chose a mode, in words, for every diagnostic that quotes one."""
    return f"the deployment's default ({DEFAULT_OPTION})" if origin is None else str(origin)


def deny_reason(view: ScopeView, name: str, arguments: JsonObject) -> str | None:
    """Why the guards do not let this call run, or None. The first that objects speaks; the rest are not asked.

    The deployment's guards come first, then each scope down to the nearest. What a guard declares while it runs takes
    part in the next view, not in this one.
    """
    if not view.guards:
        return None
    frozen = frozen_json(arguments)
    for guard in view.guards:
        reason = guard.check(name, frozen)
        if reason is not None:
            return reason
    return None
