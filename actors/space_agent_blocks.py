"""The prompt of one of Space's own agents as blocks, made of the living engine. Owns their words, ids and order.

The definition is the same value as a story agent's, so configurations, previews and the editor know no difference. It
is made anew for each prompt, since what it shows is how things stand at that moment.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from actors.agents import DISABLED_TOOLS
from actors.context import ContextView
from actors.world import WorldStatus
from blocks.agents import AgentBlockDefinition
from blocks.block import BUILTIN, ContextBlock
from blocks.context import AgentBlockContext, ToolOffer
from blocks.story import StoryMeta
from presets.agents.definition import AgentDefinition
from presets.presentation import RUN_CODE_NAME
from presets.projection import AgentTools
from presets.tool_labels import ToolLabels

ORDER_STEP = 100
"""Between two blocks, so that a user's own fit in between."""

ABOUT = """\
Space is an engine whose tools follow what the user is doing. The list of tools changes with the surface, the \
activity and the world; a tool that is not offered now says why when it is called. After a tool has changed the \
context, use the tools that are offered then."""

PROGRAMS_ONLY = f"""\
Only `{RUN_CODE_NAME}` can be called directly. Every other tool that is named here is called from inside a program, \
as `await tools.NAME({{...}})`. The description of `{RUN_CODE_NAME}` says how, and follows what is offered."""

SWITCHED_OFF = "Of the tools named here, these are switched off for you, so do without them"

NO_TOOLS = "No tool is offered at the moment."

_WITHOUT_PRESET = "other"


@dataclass(frozen=True, slots=True)
class LivingEngine:
    """What an agent's prompt is made of at one moment."""

    agent: AgentDefinition
    view: ContextView
    tools: AgentTools
    world: WorldStatus


def space_agent_definition(engine: LivingEngine) -> AgentBlockDefinition:
    """The agent as its blocks. Raises `InvalidArgumentError` for an id that no configuration could be kept under."""

    def blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
        names = {tool.name for tool in context.enabled_tools}
        texts = {block_id: text(engine, names) for block_id, text in _TEXTS.items()}
        return tuple(
            ContextBlock(
                id=block_id, role="system", content=texts[block_id], order=(index + 1) * ORDER_STEP, source=BUILTIN
            )
            for index, block_id in enumerate(engine.agent.prompt_blocks)
            if texts[block_id]
        )

    return AgentBlockDefinition(
        agent_name=engine.agent.id,
        display_name=engine.agent.name(),
        description=engine.agent.description() or "",
        create_default_blocks=blocks,
        available_tools=space_tools(engine.tools),
    )


def space_tools(tools: AgentTools) -> tuple[ToolOffer, ...]:
    """What the agent may do, each with the first line of its description. Tools switched off in its editor are there
    too, or nobody could switch them on again.
    """
    filters = [one for one in tools.view.filters if one.origin.by != DISABLED_TOOLS]
    return tuple(
        ToolOffer(entry.definition.name, entry.definition.description.partition("\n")[0])
        for entry in tools.registered
        if all(one.admits(entry.definition.name, ToolLabels.of(entry.definition)) for one in filters)
    )


def space_context(engine: LivingEngine) -> AgentBlockContext:
    """What scripts see of the engine: `ctx.story` is the world, and its settings are the context and the agent."""
    world = engine.world.active_world
    settings: dict[str, Any] = {
        "agent": engine.agent.id,
        "presentation": engine.tools.mode.value,
        "context": engine.view.context.facts(),
        "world": {"id": world.id, "name": world.name, "revision": world.revision},
        "worlds": [{"id": one.id, "name": one.name} for one in engine.world.worlds],
    }
    return AgentBlockContext(story=StoryMeta(id=world.id, name=world.name, settings=settings))


def _instructions(engine: LivingEngine, names: set[str]) -> str:
    return ABOUT


def _tools(engine: LivingEngine, names: set[str]) -> str:
    """How tools are called and which there are. Where programs call them, their SDK lists them already."""
    if engine.tools.programs_only:
        return PROGRAMS_ONLY
    presets: dict[str, str] = {}
    for tool in engine.view.resolution.tools:
        presets.setdefault(tool.tool_id, tool.preset)
    groups: dict[str, int] = {}
    for entry in engine.tools.capabilities:
        if entry.definition.name in names:
            preset = presets.get(entry.definition.source or "", _WITHOUT_PRESET)
            groups[preset] = groups.get(preset, 0) + 1
    if not groups:
        return NO_TOOLS
    # Their names stand in the client's list already, with all there is to say about each.
    listed = ", ".join(f"{preset} ({count})" for preset, count in groups.items())
    return f"Tools offered now, by preset: {listed}."


def _preset_prompts(engine: LivingEngine, names: set[str]) -> str:
    """The prompts of active presets, less those of whose tools the agent has none: they speak of what it cannot do."""
    offered = {entry.definition.source for entry in engine.tools.capabilities if entry.definition.name in names}
    having = {tool.preset for tool in engine.view.resolution.tools}
    reachable = {tool.preset for tool in engine.view.resolution.tools if tool.tool_id in offered}
    silent = having - reachable
    parts = engine.view.resolution.prompt_fragments
    text = "\n\n".join(part.prompt for part in parts if part.prompt and part.preset not in silent)
    # The sentences of a preset stay whole, as nobody can tell which of them still hold without one of its tools.
    off = {tool.name for tool in space_tools(engine.tools)} - names
    named = sorted(name for name in off if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))
    return f"{text}\n\n{SWITCHED_OFF}: {', '.join(named)}." if named else text


def _context(engine: LivingEngine, names: set[str]) -> str:
    facts = ", ".join(f"{name}={value}" for name, value in sorted(engine.view.context.facts().items()))
    return f"Now: {facts}."


def _selection(engine: LivingEngine, names: set[str]) -> str:
    kind = engine.view.context.selection_kind
    return "" if kind is None else f"Selected: {kind}."


def _world(engine: LivingEngine, names: set[str]) -> str:
    world = engine.world.active_world
    others = [one.name for one in engine.world.worlds if one.id != world.id]
    more = f" There are other worlds: {', '.join(map(repr, others))}." if others else ""
    return f"The world is {world.name!r} ({world.id}), at revision {world.revision}.{more}"


_TEXTS: Mapping[str, Callable[[LivingEngine, set[str]], str]] = {
    "instructions": _instructions,
    "tools": _tools,
    "preset-prompts": _preset_prompts,
    "context": _context,
    "selection": _selection,
    "world": _world,
}
"""The text of each block that a composition can name; an empty one makes no block."""
