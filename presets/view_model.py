"""The presets as a person sees them: one row each, grouped and sorted. Owns the form that REST, CLI and panel share.

Pure: made from the registry, a resolution and its overrides, and forgotten. Source: findings on the existing engine,
section 4.5.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from presets.definition import DefaultState, OverrideState, PresetDefinition, Risk
from presets.matching import ContextPattern
from presets.registry import PresetRegistry
from presets.resolution import Reason, Resolution

OTHER_GROUP = "other"
"""The group of presets that name none."""


@dataclass(frozen=True, slots=True)
class PresetRow:
    """One preset: what it is, what the user said about it, and whether and why it is active."""

    name: str
    group: str
    risk: Risk
    default_state: DefaultState
    contexts: tuple[ContextPattern, ...]
    tool_ids: tuple[str, ...]
    override_state: OverrideState
    active_reason: Reason | None
    resource_ids: tuple[str, ...] = ()
    prompt_ids: tuple[str, ...] = ()

    @property
    def tool_count(self) -> int:
        """How many tools it offers."""
        return len(self.tool_ids)

    @property
    def active(self) -> bool:
        """Whether it offers them now."""
        return self.active_reason is not None

    def to_json(self) -> dict[str, Any]:
        """The row as plain JSON values."""
        return {
            "name": self.name,
            "group": self.group,
            "risk": self.risk.value,
            "default_state": self.default_state.value,
            "contexts": [dict(pattern) for pattern in self.contexts],
            "tool_ids": list(self.tool_ids),
            "tool_count": self.tool_count,
            "resource_ids": list(self.resource_ids),
            "prompt_ids": list(self.prompt_ids),
            "override_state": self.override_state.value,
            "active": self.active,
            "active_reason": self.active_reason.value if self.active_reason else None,
        }


@dataclass(frozen=True, slots=True)
class PresetGroup:
    """The rows of one group, sorted by name."""

    name: str
    rows: tuple[PresetRow, ...]


@dataclass(frozen=True, slots=True)
class PresetView:
    """All presets by group, sorted by name, and the overrides whose preset is not registered at present."""

    groups: tuple[PresetGroup, ...]
    orphaned_overrides: tuple[tuple[str, OverrideState], ...]

    @property
    def rows(self) -> tuple[PresetRow, ...]:
        """Every row, group after group."""
        return tuple(row for group in self.groups for row in group.rows)

    def to_json(self) -> dict[str, Any]:
        """The view as plain JSON values."""
        return {
            "groups": [{"name": group.name, "presets": [row.to_json() for row in group.rows]} for group in self.groups],
            "orphaned_overrides": [{"preset": name, "state": state.value} for name, state in self.orphaned_overrides],
        }


def preset_view(registry: PresetRegistry, resolution: Resolution) -> PresetView:
    """Every registered preset as a row; `resolution` must be of this registry as it is now."""
    reasons = {preset.name: preset.reason for preset in resolution.active_presets}
    groups: dict[str, list[PresetRow]] = {}
    for preset in registry.list():
        row = _row(preset, resolution.overrides.state_of(preset.name), reasons.get(preset.name))
        groups.setdefault(row.group, []).append(row)
    return PresetView(
        tuple(
            PresetGroup(name, tuple(sorted(rows, key=lambda row: row.name))) for name, rows in sorted(groups.items())
        ),
        tuple(resolution.overrides.orphaned(registry).items()),
    )


def _row(preset: PresetDefinition, override: OverrideState, reason: Reason | None) -> PresetRow:
    return PresetRow(
        name=preset.name,
        group=OTHER_GROUP if preset.group is None else preset.group,
        risk=preset.risk,
        default_state=preset.default_state,
        contexts=preset.patterns,
        tool_ids=preset.tool_ids,
        override_state=override,
        active_reason=reason,
        resource_ids=preset.resource_ids,
        prompt_ids=preset.prompt_ids,
    )
