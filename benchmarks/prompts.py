"""What the model of an agent reads before the user has said a word: the instructions and the definitions of its tools.

Made as the engine makes it, from the shipped agents and presets and without an engine that runs. Nothing is counted
here. Of a tool a model gets name, description and the schema of its arguments: that is what clients pass on.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from actors.context import ContextView
from actors.programs import Programs
from actors.space import built_in_capabilities
from actors.space_agent_blocks import LivingEngine, space_agent_definition, space_context
from actors.world import WorldActor, WorldStatus
from blocks.compile import compile_blocks
from blocks.compile_agent_context import default_blocks
from engine.engine import WorldInfo
from presets.adapters import ToolAdapterRegistry
from presets.agents.mounting import KnownCapabilities, mount
from presets.agents.roster import Roster
from presets.app import App
from presets.context import ContextSnapshot
from presets.overrides import NO_OVERRIDES, Overrides
from presets.projection import AgentTools, project
from presets.registry import PresetRegistry
from presets.resolution import resolve
from presets.scope import Scope
from presets.sdk import Sdk, SdkBudget, SdkLevel
from presets.tool_definitions import tool_definitions
from protocol.session import Audience
from protocol.tool import ToolDefinition
from protocol.tool_list import ToolEntry, ToolList

AGENTS = ("standard", "code", "minimal", "creative")
"""The agents that ship with Space."""

DRAWING = ContextSnapshot(surface="canvas", activity="drawing", canvas_visible=True, world_id="world-1")
GRAPH = ContextSnapshot(surface="canvas", activity="graph", canvas_visible=True, world_id="world-1")
SCENE = ContextSnapshot(surface="scene", canvas_visible=False, world_id="world-1")

FORCED = {
    SdkLevel.FULL: SdkBudget(full=10**9),
    SdkLevel.NO_RESULT_DOCS: SdkBudget(full=0, no_result_docs=10**9),
    SdkLevel.NO_FIELD_DOCS: SdkBudget(full=0, no_field_docs=10**9),
    SdkLevel.CATALOGUE: SdkBudget(full=0, no_field_docs=0),
}
"""The budgets with which each level of the SDK is taken, however many tools there are."""


@dataclass(frozen=True)
class Place:
    """Where the user is, and whether he has turned every preset on."""

    name: str
    context: ContextSnapshot = DRAWING
    everything: bool = False


PLACES = (
    Place("drawing", DRAWING),
    Place("graph", GRAPH),
    Place("scene", SCENE),
    Place("everything on", everything=True),
)


@dataclass(frozen=True)
class Prompt:
    """What a model reads. `tools` are the texts of the definitions, one for each."""

    instructions: str
    tools: tuple[str, ...]

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join((self.instructions, *self.tools))


@dataclass(frozen=True)
class Seen:
    """One agent in one place: what it may do, and its prompt."""

    tools: AgentTools
    prompt: Prompt


class BuiltIns:
    """The built-in presets and the shipped agents, to be looked at."""

    def __init__(self) -> None:
        capabilities = built_in_capabilities()
        self._adapters = ToolAdapterRegistry()
        for adapter in capabilities.add_adapters:
            self._adapters.register(adapter)
        self._presets = PresetRegistry(capabilities.add_presets)
        self._known = KnownCapabilities(
            tools=frozenset(adapter.mcp_name for adapter in capabilities.add_adapters),
            presets=frozenset(preset.name for preset in capabilities.add_presets),
            groups=frozenset(preset.group for preset in capabilities.add_presets if preset.group),
        )
        self._roster = Roster.load()
        # Nothing runs here, so there is no world that programs could change.
        self._programs = Programs(cast("WorldActor", object()))

    def seen(self, agent: str, place: Place) -> Seen:
        """What that agent sees there, in its own presentation."""
        overrides = Overrides(dict.fromkeys(self._presets, "on")) if place.everything else NO_OVERRIDES
        resolution = resolve(self._presets, place.context, overrides)
        definitions = tool_definitions(resolution, self._adapters, cast("App", object()))
        scope = Scope.deployment().child("agent", agent)
        with mount(self._roster.resolve(agent), scope, known=self._known):
            view = scope.view()
        audience = Audience(agent)
        tools = project(listed(definitions), view, lambda own: self._programs.run_code_entry(audience, own), 1)
        about = _instructions(
            LivingEngine(self._roster.resolve(agent), ContextView(place.context, overrides, resolution), tools, _WORLD)
        )
        return Seen(tools, Prompt(about, tuple(definition_text(entry.definition) for entry in tools.offered)))

    def level_of(self, tools: ToolList) -> SdkLevel:
        """How much of the SDK a model is shown where these tools are presented as code."""
        return self._programs.sdk_of(tools).level

    def declarations(self, agent: str, place: Place) -> str:
        """What a program of that agent is checked against there."""
        return self._programs.sdk_of(self.seen(agent, place).tools.capabilities).declarations

    def forms(self, tools: ToolList) -> dict[str, str]:
        """The same tools as a model reads them, natively and at each level of the SDK."""
        sdk = self._programs.sdk_of(tools)
        run_code = self._programs.run_code_entry(Audience(), tools).definition
        forms = {"native": "\n".join(definition_text(entry.definition) for entry in tools)}
        for level, budget in FORCED.items():
            shown = Sdk.of((tool.tool for tool in sdk.tools), budget=budget)
            forms[level.value] = tool_text(run_code.name, shown.prompt, run_code.input_schema)
        return forms


def listed(definitions: Iterable[ToolDefinition]) -> ToolList:
    """The list of these tools."""
    return ToolList.of(1, {one.name: ToolEntry.of(one) for one in definitions})


def definition_text(definition: ToolDefinition) -> str:
    """A tool as a model reads it."""
    return tool_text(definition.name, definition.description, definition.input_schema)


def tool_text(name: str, description: str, schema: Mapping[str, Any]) -> str:
    """A tool as a model reads it: short JSON, as chat templates write it, in which line ends of the SDK are escaped."""
    tool = {"name": name, "description": description, "parameters": schema}
    return json.dumps(tool, ensure_ascii=False, separators=(",", ":"))


_HOME = WorldInfo(id="world-1", name="home", active=True, revision=0, created_at=datetime(2026, 1, 1, tzinfo=UTC))
_WORLD = WorldStatus(active_world=_HOME, worlds=(_HOME,), undo_count=0, redo_count=0, theme="dark")


def _instructions(engine: LivingEngine) -> str:
    """The prompt as a client gets it while the user has changed nothing about blocks."""
    definition = space_agent_definition(engine)
    blocks = default_blocks(definition, space_context(engine), definition.available_tools)
    return "\n".join(message.content for message in compile_blocks(blocks))
