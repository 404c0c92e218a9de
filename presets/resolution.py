"""Resolution: context and overrides in, active presets out, and what they offer. Deterministic: same input, same bytes.

Its cost follows the presets that are active, not those that exist. Pure: it only reads, and makes no closure.
Source: agent-presets, "PresetRegistry", Resolution; findings on the existing engine, section 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engine.errors import ConflictError
from presets.context import ContextSnapshot, FactValue
from presets.definition import DefaultState, OverrideState, PresetDefinition, Risk
from presets.overrides import NO_OVERRIDES, Overrides
from presets.registry import PresetRegistry


class Reason(StrEnum):
    """Why a preset is active. `override` also where the context would match anyway."""

    CONTEXT = "context"
    OVERRIDE = "override"


class DuplicateIdError(ConflictError):
    """Raised when two active presets list the same id, or one lists it twice. The text names both and the id."""


class DuplicateToolError(DuplicateIdError):
    """The id is a tool's."""


@dataclass(frozen=True, slots=True)
class ActivePreset:
    """One active preset, and why it is active."""

    name: str
    reason: Reason
    risk: Risk
    group: str | None


@dataclass(frozen=True, slots=True)
class PromptFragment:
    """The raw prompt of one active preset. An empty text is a fragment too."""

    preset: str
    prompt: str


@dataclass(frozen=True, slots=True)
class ActiveTool:
    """One tool id that is offered, with the preset that offers it and that preset's risk."""

    tool_id: str
    preset: str
    risk: Risk


@dataclass(frozen=True, slots=True)
class ActiveItem:
    """One resource or prompt that is offered, by its adapter's id, with the preset that offers it and its risk."""

    item_id: str
    preset: str
    risk: Risk


Signature = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Resolution:
    """What is active now, in order of registration."""

    active_presets: tuple[ActivePreset, ...] = ()
    tools: tuple[ActiveTool, ...] = ()
    prompt_fragments: tuple[PromptFragment, ...] = ()
    overrides: Overrides = NO_OVERRIDES
    resources: tuple[ActiveItem, ...] = ()
    prompts: tuple[ActiveItem, ...] = ()

    @property
    def tool_ids(self) -> tuple[str, ...]:
        """The tool ids of the active presets, in order."""
        return tuple(tool.tool_id for tool in self.tools)

    @property
    def signature(self) -> Signature:
        """What counts as a change: names and reasons, ids, prompts, overrides. Compare it with `==`.

        Risk and group are not in it; a change of a fact that alters none of these is no change.
        """
        active = tuple((preset.name, preset.reason) for preset in self.active_presets)
        items = tuple(item.item_id for item in (*self.resources, *self.prompts))
        return (active, self.tool_ids, items, self.prompt_fragments, tuple(self.overrides.items()))

    def to_json(self) -> dict[str, Any]:
        """The document's resolved shape, as plain JSON values."""
        return {
            "active_presets": [
                {"name": preset.name, "reason": preset.reason.value, "risk": preset.risk.value, "group": preset.group}
                for preset in self.active_presets
            ],
            "tool_ids": list(self.tool_ids),
            "prompt_fragments": [{"preset": part.preset, "prompt": part.prompt} for part in self.prompt_fragments],
        }


def decide(preset: PresetDefinition, facts: Mapping[str, FactValue], overrides: Overrides) -> Reason | None:
    """Why this preset is active in a context with these facts (`ContextSnapshot.facts()`), or None when it is not."""
    match overrides.state_of(preset.name):
        case OverrideState.ON:
            return Reason.OVERRIDE
        case OverrideState.OFF:
            return None
        case OverrideState.AUTO:
            fits = preset.default_state is DefaultState.AUTO and any(p.matches(facts) for p in preset.patterns)
            return Reason.CONTEXT if fits else None


def resolve(registry: PresetRegistry, context: ContextSnapshot, overrides: Overrides) -> Resolution:
    """What is active in this context under these overrides. Orphaned overrides have no effect.

    Raises `DuplicateToolError`, or `DuplicateIdError` for a resource or a prompt; the registry is only read.
    """
    facts = context.facts()
    candidates = {*registry.matching(facts), *(name for name in overrides if name in registry)}
    active: list[ActivePreset] = []
    tools: dict[str, ActiveTool] = {}
    resources: dict[str, ActiveItem] = {}
    prompts: dict[str, ActiveItem] = {}
    fragments: list[PromptFragment] = []
    for preset in registry.in_order(candidates):
        reason = decide(preset, facts, overrides)
        if reason is None:
            continue
        active.append(ActivePreset(preset.name, reason, preset.risk, preset.group))
        for tool_id in preset.tool_ids:
            tool = ActiveTool(tool_id, preset.name, preset.risk)
            other = tools.setdefault(tool_id, tool)
            if other is not tool:
                raise DuplicateToolError(_duplicate("tool", tool_id, other.preset, preset.name))
        _take(resources, "resource", preset.resource_ids, preset)
        _take(prompts, "prompt", preset.prompt_ids, preset)
        if preset.system_prompt is not None:
            fragments.append(PromptFragment(preset.name, preset.system_prompt))
    return Resolution(
        tuple(active),
        tuple(tools.values()),
        tuple(fragments),
        overrides,
        tuple(resources.values()),
        tuple(prompts.values()),
    )


def _take(items: dict[str, ActiveItem], kind: str, ids: tuple[str, ...], preset: PresetDefinition) -> None:
    for item_id in ids:
        item = ActiveItem(item_id, preset.name, preset.risk)
        other = items.setdefault(item_id, item)
        if other is not item:
            raise DuplicateIdError(_duplicate(kind, item_id, other.preset, preset.name))


def _duplicate(kind: str, item_id: str, first: str, second: str) -> str:
    if first == second:
        return f"preset {first!r} lists {kind} {item_id!r} twice; a {kind} may be offered once"
    return (
        f"presets {first!r} and {second!r} would both be active and both list {kind} {item_id!r}; "
        f"turn one of them off, or take the {kind} out of one"
    )
