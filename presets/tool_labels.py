"""What is known of a tool beyond its face: the preset that offers it, its group and its risk. Owns their spelling.

The labels of a definition are plain text; this is how they are written, and how they are read by whoever decides who
sees a tool.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from presets.definition import Risk
from protocol.tool import ToolDefinition

PRESET = "preset"
GROUP = "group"
RISK = "risk"


@dataclass(frozen=True, slots=True)
class ToolLabels:
    """The preset that offers a tool, its group and its risk. A tool without a preset has neither preset nor group."""

    preset: str | None = None
    group: str | None = None
    risk: Risk = Risk.NORMAL

    @classmethod
    def of(cls, definition: ToolDefinition) -> ToolLabels:
        """The labels of a definition, whoever made it. Never raises: a risk that nobody knows counts as the highest."""
        labels = definition.labels
        if not labels:
            return UNLABELLED
        return cls(labels.get(PRESET), labels.get(GROUP), _RISKS.get(labels.get(RISK, Risk.NORMAL), Risk.SHELL))

    def to_mapping(self) -> Mapping[str, str]:
        """As a definition carries them; what is None is left out. Read-only."""
        labels = {PRESET: self.preset, GROUP: self.group, RISK: self.risk.value}
        return MappingProxyType({label: value for label, value in labels.items() if value is not None})


_RISKS: Mapping[str, Risk] = {risk.value: risk for risk in Risk}

UNLABELLED = ToolLabels()
"""Of a tool that was registered by somebody else than the presets: no group, and a risk of `normal`."""
