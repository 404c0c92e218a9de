"""Why a tool is offered, or why not: one state, one sentence, and what can be done. Owns that answer alone.

REST, the command line and the error of a refused call all give this one. Pure, and made from the same `decide` that
resolution uses, so what it says is what happened. Source: Space's design, "From context to tool list".
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any
from urllib.parse import quote

from presets.adapters import ToolAdapter, ToolAdapterRegistry
from presets.context import ContextSnapshot, FactValue
from presets.definition import DefaultState, OverrideState, PresetDefinition, Risk
from presets.matching import NONE, ContextPattern, plain_word
from presets.overrides import NO_OVERRIDES, Overrides
from presets.presentation import CALL_TOOL_NAME, FIND_TOOLS_NAME, RUN_CODE_NAME, presented_name
from presets.registry import PresetRegistry
from presets.resolution import ActiveTool, Reason, Resolution, decide
from presets.suggestions import close_names, no_such_tool, quoted
from presets.tool_definitions import MANAGED_OWNER

MAX_SAID_CONTEXTS = 3
"""Contexts that a sentence names; the details hold them all."""

_OF_FINDERS = "only agents whose composition has a row 'tool-finder' have it."

_WHOSE = {
    RUN_CODE_NAME: (
        "it runs programs, and only agents that are shown their tools as code have it, such as the agent 'code'."
    ),
    FIND_TOOLS_NAME: f"it finds tools, and {_OF_FINDERS}",
    CALL_TOOL_NAME: f"it calls tools by name, and {_OF_FINDERS}",
}
"""Who has the tools that are no registrations."""

_LAST = 3
"""The rank of the least useful reason."""


class ToolState(StrEnum):
    """What holds for a tool now. Exactly one does."""

    SHOWN = "shown"
    """Clients see it and may call it."""
    HIDDEN = "hidden"
    """It belongs to other contexts than this one, or to no preset at all."""
    OFF = "off"
    """The user turned its preset off."""
    RISK = "risk"
    """Its preset is off by default, because of what its tools can do."""
    UNKNOWN = "unknown"
    """There is no such tool, or a preset lists it and nothing implements it."""
    COLLIDING = "colliding"
    """It would be offered, but another owner has its name or its id."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """What changes the override of a preset, for a person at a shell and for a program."""

    preset: str
    state: OverrideState

    @property
    def command(self) -> str:
        """The line for a shell."""
        return f"space preset {self.state.value} {shlex.quote(self.preset)}"

    @property
    def path(self) -> str:
        """The REST route, to be called with `PUT` and `{"state": …}`."""
        return f"/api/presets/{quote(self.preset, safe='')}/override"

    def to_json(self) -> dict[str, Any]:
        """The remedy as plain JSON values."""
        return {"command": self.command, "method": "PUT", "path": self.path, "body": {"state": self.state.value}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """The answer about one tool.

    `tool` is what was asked for; `reason` is one or two sentences for a model or a person. `preset` is the preset that
    decides, `presets` all that list the tool. `shown_in` are the contexts that would show it; `owners` who has it, or
    the two who collide over it, where `agent-presets:NAME` is the preset NAME.
    """

    tool: str
    state: ToolState
    reason: str
    mcp_name: str | None = None
    tool_id: str | None = None
    preset: str | None = None
    risk: Risk | None = None
    presets: tuple[str, ...] = ()
    shown_in: tuple[ContextPattern, ...] = ()
    remedy: Remedy | None = None
    owners: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The explanation as plain JSON values; details that do not apply are null or empty."""
        return {
            "tool": self.tool,
            "state": self.state.value,
            "reason": self.reason,
            "mcp_name": self.mcp_name,
            "tool_id": self.tool_id,
            "preset": self.preset,
            "risk": self.risk.value if self.risk else None,
            "presets": list(self.presets),
            "shown_in": [dict(pattern) for pattern in self.shown_in],
            "remedy": self.remedy.to_json() if self.remedy else None,
            "owners": list(self.owners),
            "suggestions": list(self.suggestions),
        }


def explain(
    tool: str,
    *,
    registry: PresetRegistry,
    adapters: ToolAdapterRegistry,
    context: ContextSnapshot,
    overrides: Overrides,
    resolution: Resolution,
    owners: Mapping[str, str],
) -> Explanation:
    """What holds for this tool, given its MCP name or its tool id. Never raises for a name, however odd.

    `owners` is the owner of every name in the MCP registry; those of presets may be among them. A tool that several
    presets list gets the most useful reason: a preset that the user turned off and that would show it here and now,
    then contexts that would show it, then a default of off, then a preset that is off and belongs elsewhere; among
    equals the one registered first. A name that another owner has registered is `shown` with that owner, unless a
    preset wants to offer a tool of that name too.
    """
    return _Explainer(registry, adapters, context, overrides, resolution, owners).explain(tool)


def known_tools(
    *,
    registry: PresetRegistry,
    adapters: ToolAdapterRegistry,
    context: ContextSnapshot,
    overrides: Overrides,
    resolution: Resolution,
    owners: Mapping[str, str],
) -> tuple[Explanation, ...]:
    """The explanation of every tool that there is, sorted by MCP name, then tool id.

    These are the tools of the adapters, ids that presets list without an adapter, and names of other owners. Each has
    a row of its own, so a name appears twice where two owners claim it.
    """
    explainer = _Explainer(registry, adapters, context, overrides, resolution, owners)
    ids = dict.fromkeys([*(adapter.id for adapter in adapters), *registry.tool_ids()])
    rows = [explainer.of_id(tool_id, tool_id) for tool_id in ids]
    rows.extend(_foreign(name, owner) for name, owner in owners.items() if owner != MANAGED_OWNER)
    return tuple(sorted(rows, key=lambda row: (row.mcp_name or "", row.tool_id or "")))


class _Explainer:
    """Everything that an explanation is made from, for the length of one call."""

    def __init__(
        self,
        registry: PresetRegistry,
        adapters: ToolAdapterRegistry,
        context: ContextSnapshot,
        overrides: Overrides,
        resolution: Resolution,
        owners: Mapping[str, str],
    ) -> None:
        self._registry = registry
        self._adapters = adapters
        self._facts: Mapping[str, FactValue] = context.facts()
        self._overrides = overrides
        self._offered = {tool.tool_id: tool for tool in resolution.tools}
        self._reasons = {preset.name: preset.reason for preset in resolution.active_presets}
        self._owners = owners

    def explain(self, tool: str) -> Explanation:
        if self._adapters.get(tool) is not None or self._registry.with_tool(tool):
            return self.of_id(tool, tool)
        named = self._adapters.named(tool)
        holder = self._foreign_owner(tool)
        if holder is not None:
            wanted = [adapter for adapter in named if self._active(adapter.id)]
            return self.of_id(wanted[0].id, tool) if wanted else _foreign(tool, holder)
        if named:
            return min((self.of_id(adapter.id, tool) for adapter in named), key=self._usefulness)
        return self._unknown(tool)

    def of_id(self, tool_id: str, asked: str) -> Explanation:
        adapter = self._adapters.get(tool_id)
        listing = self._registry.with_tool(tool_id)
        if adapter is None:
            return _without_adapter(tool_id, asked, listing)
        offered = self._offered.get(tool_id)
        collision = self._collision(adapter, listing, offered is not None)
        if collision:
            return self._colliding(adapter, asked, listing, collision)
        if offered is not None:
            return self._shown(adapter, asked, listing, offered)
        if not listing:
            return _hidden(adapter, asked, "in every context: no registered preset offers it.")
        if active := self._active(tool_id):
            # Only where the last resolution was refused as a whole, such as at a start with presets that collide.
            return _hidden(adapter, asked, "for now: tools that collide hold the whole list back.", active[0], listing)
        return self._not_shown(adapter, asked, listing)

    def _shown(
        self, adapter: ToolAdapter, asked: str, listing: tuple[PresetDefinition, ...], offered: ActiveTool
    ) -> Explanation:
        by_user = self._reasons.get(offered.preset) is Reason.OVERRIDE
        why = "the user turned it on" if by_user else "it fits this context"
        return Explanation(
            tool=asked,
            state=ToolState.SHOWN,
            reason=f"{_tool(adapter)} is offered now: preset {offered.preset!r} is active because {why}.",
            mcp_name=adapter.mcp_name,
            tool_id=adapter.id,
            preset=offered.preset,
            risk=offered.risk,
            presets=_names(listing),
            owners=(f"{MANAGED_OWNER}:{offered.preset}",),
        )

    def _collision(
        self, adapter: ToolAdapter, listing: tuple[PresetDefinition, ...], offered: bool
    ) -> tuple[str, str] | None:
        """The two owners that claim this tool, or None. What is offered collides with nobody but another owner."""
        holder = self._foreign_owner(adapter.mcp_name)
        if holder is not None and listing:
            ours = next(iter(self._active(adapter.id)), listing[0])
            return holder, f"{MANAGED_OWNER}:{ours.name}"
        claims = [] if offered else self._active(adapter.id)
        if not claims:
            return None
        rivals = [preset for other in self._adapters.named(adapter.mcp_name) for preset in self._claims(other.id)]
        if len(rivals) < 2:
            return None
        return f"{MANAGED_OWNER}:{rivals[0].name}", f"{MANAGED_OWNER}:{rivals[1].name}"

    def _colliding(
        self, adapter: ToolAdapter, asked: str, listing: tuple[PresetDefinition, ...], owners: tuple[str, str]
    ) -> Explanation:
        first, second = owners
        claim = f"{first!r} lists it twice" if first == second else f"{first!r} and {second!r} both claim it"
        ours = next(iter(self._active(adapter.id)), listing[0])
        return Explanation(
            tool=asked,
            state=ToolState.COLLIDING,
            reason=(
                f"{_tool(adapter)} ({adapter.id!r}) cannot be offered: {claim}, and a name may be offered once. "
                f"Turn one of them off or unregister it."
            ),
            mcp_name=adapter.mcp_name,
            tool_id=adapter.id,
            preset=ours.name,
            risk=ours.risk,
            presets=_names(listing),
            owners=owners,
        )

    def _not_shown(self, adapter: ToolAdapter, asked: str, listing: tuple[PresetDefinition, ...]) -> Explanation:
        preset = min(listing, key=self._rank)
        state, said, remedy_state = self._why_not(preset, listing)
        remedy = Remedy(preset.name, remedy_state)
        return Explanation(
            tool=asked,
            state=state,
            reason=f"{_tool(adapter)} is {said} `{remedy.command}`.",
            mcp_name=adapter.mcp_name,
            tool_id=adapter.id,
            preset=preset.name,
            risk=preset.risk,
            presets=_names(listing),
            shown_in=self._shown_in(listing),
            remedy=remedy,
        )

    def _why_not(
        self, preset: PresetDefinition, listing: tuple[PresetDefinition, ...]
    ) -> tuple[ToolState, str, OverrideState]:
        if self._overrides.state_of(preset.name) is OverrideState.OFF:
            back = OverrideState.AUTO if self._fits(preset) else OverrideState.ON
            return ToolState.OFF, f"off: the user turned preset {preset.name!r} off. To have it again:", back
        if preset.default_state is DefaultState.OFF:
            because = "" if preset.risk is Risk.NORMAL else f" because of its risk ({preset.risk.value})"
            said = f"off: preset {preset.name!r} is off by default{because}. The user may turn it on:"
            return ToolState.RISK, said, OverrideState.ON
        patterns = self._shown_in(listing)
        said = (
            f"hidden in this context ({self._here(patterns)}); it is offered with {_contexts(patterns)}. "
            f"Change the context, or let the user turn preset {preset.name!r} on:"
        )
        return ToolState.HIDDEN, said, OverrideState.ON

    def _rank(self, preset: PresetDefinition) -> int:
        if self._overrides.state_of(preset.name) is OverrideState.OFF:
            return 0 if self._fits(preset) else _LAST
        return 2 if preset.default_state is DefaultState.OFF else 1

    def _usefulness(self, explanation: Explanation) -> int:
        """Among tools that share an MCP name, the lowest answers for the name."""
        if explanation.state is ToolState.SHOWN:
            return -2
        if explanation.state is ToolState.COLLIDING:
            return -1
        preset = self._registry.get(explanation.preset or "")
        return _LAST if preset is None else self._rank(preset)

    def _fits(self, preset: PresetDefinition) -> bool:
        return decide(preset, self._facts, NO_OVERRIDES) is not None

    def _shown_in(self, listing: Iterable[PresetDefinition]) -> tuple[ContextPattern, ...]:
        """The contexts of the presets that follow the context; to go there is enough to have the tool."""
        following = (
            preset
            for preset in listing
            if preset.default_state is DefaultState.AUTO
            and self._overrides.state_of(preset.name) is not OverrideState.OFF
        )
        return tuple(dict.fromkeys(pattern for preset in following for pattern in preset.patterns))

    def _here(self, patterns: Iterable[ContextPattern]) -> str:
        """The present values of what these patterns ask for; other facts would only distract."""
        fields = dict.fromkeys(field for pattern in patterns for field, _ in pattern.key)
        return ", ".join(f"{field}={plain_word(self._facts.get(field, NONE))}" for field in fields)

    def _active(self, tool_id: str) -> list[PresetDefinition]:
        """The presets that list this id and are active by context and overrides, whether or not they could resolve."""
        return [p for p in self._registry.with_tool(tool_id) if decide(p, self._facts, self._overrides) is not None]

    def _claims(self, tool_id: str) -> list[PresetDefinition]:
        """The active presets, as often as they list this id; one that lists it twice collides with itself."""
        return [preset for preset in self._active(tool_id) for listed in preset.tool_ids if listed == tool_id]

    def _foreign_owner(self, mcp_name: str) -> str | None:
        owner = self._owners.get(mcp_name)
        return None if owner == MANAGED_OWNER else owner

    def _unknown(self, tool: str) -> Explanation:
        kept = presented_name(tool)
        if kept is not None:
            reason = f"There is no tool {quoted(tool)} here: {_WHOSE[kept]}"
            return Explanation(tool=tool, state=ToolState.UNKNOWN, reason=reason)
        names = {adapter.mcp_name for adapter in self._adapters} | set(self._owners)
        ids = {adapter.id for adapter in self._adapters} if "." in tool else set[str]()
        close = close_names(tool, sorted(names | ids))
        return Explanation(
            tool=tool,
            state=ToolState.UNKNOWN,
            reason=no_such_tool(tool, close),
            suggestions=close,
        )


def _foreign(name: str, owner: str) -> Explanation:
    return Explanation(
        tool=name,
        state=ToolState.SHOWN,
        reason=f"Tool {name!r} is offered now: {owner!r} has registered it, in every context.",
        mcp_name=name,
        owners=(owner,),
    )


def _hidden(
    adapter: ToolAdapter,
    asked: str,
    why: str,
    preset: PresetDefinition | None = None,
    listing: tuple[PresetDefinition, ...] = (),
) -> Explanation:
    return Explanation(
        tool=asked,
        state=ToolState.HIDDEN,
        reason=f"{_tool(adapter)} is hidden {why}",
        mcp_name=adapter.mcp_name,
        tool_id=adapter.id,
        preset=preset.name if preset else None,
        risk=preset.risk if preset else None,
        presets=_names(listing),
    )


def _without_adapter(tool_id: str, asked: str, listing: tuple[PresetDefinition, ...]) -> Explanation:
    lists = " and ".join(repr(preset.name) for preset in listing)
    return Explanation(
        tool=asked,
        state=ToolState.UNKNOWN,
        reason=f"Tool {quoted(tool_id)} is listed by preset {lists}, but no adapter of that id is registered.",
        tool_id=tool_id,
        presets=_names(listing),
    )


def _tool(adapter: ToolAdapter) -> str:
    return f"Tool {adapter.mcp_name!r}"


def _names(presets: Iterable[PresetDefinition]) -> tuple[str, ...]:
    return tuple(preset.name for preset in presets)


def _contexts(patterns: tuple[ContextPattern, ...]) -> str:
    said = " or ".join(pattern.words() for pattern in patterns[:MAX_SAID_CONTEXTS])
    more = len(patterns) - MAX_SAID_CONTEXTS
    return f"{said} (and {more} more)" if more > 0 else said
