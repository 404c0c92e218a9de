"""How the engine stands at one moment, as far as resources follow it. Owns the sources of change, and that value.

A resource has changed when its stamp has: what of a moment its content is made of. So a change of a source that leaves
a resource as it was tells nobody.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from engine.engine import WorldInfo
from presets.context import ContextSnapshot
from presets.resolution import Resolution


class Source(StrEnum):
    """What changes by itself, and takes resources along."""

    CONTEXT = "context"
    """The live context."""
    WORLD = "world"
    """The set of worlds, what is in each, which is active, and the theme."""
    PRESETS = "presets"
    """Which presets exist, and which are active."""
    AGENTS = "agents"
    """Which agents there are, and what each may do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The sources at one moment. Equal parts mean equal content. `edits` counts changes of what presets exist.

    `agents` holds by id whatever stands for each agent; two that are equal show the same.
    """

    context: ContextSnapshot
    active_world: WorldInfo
    worlds: tuple[WorldInfo, ...]
    theme: str
    resolution: Resolution
    edits: int
    agents: Mapping[str, object]

    def part(self, source: Source) -> object:
        """All that a source says."""
        match source:
            case Source.CONTEXT:
                return self.context
            case Source.WORLD:
                return (self.worlds, self.theme)
            case Source.PRESETS:
                return (self.resolution.signature, self.edits)
            case Source.AGENTS:
                return self.agents

    def world(self, world_id: str) -> WorldInfo | None:
        """The world of that id, or None."""
        return next((world for world in self.worlds if world.id == world_id), None)
