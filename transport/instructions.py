"""What a client is told at `initialize` and puts into the prompt of its model.

Owns the words. Clients read them once, so they explain how the tools move, and give the prompt of this moment.
"""

from __future__ import annotations

from actors.context import ContextView
from actors.space_agent_blocks import ABOUT, PROGRAMS_ONLY
from presets.projection import AgentTools


def instructions(view: ContextView, tools: AgentTools) -> str:
    """The standing explanation, how tools are called, the context, and the prompts of the presets that the agent has.

    The rule of Code Mode stands before the prompts, which name tools without saying how to reach them.
    """
    facts = ", ".join(f"{name}={value}" for name, value in sorted(view.context.facts().items()))
    silent = _presets_without_tools(view, tools)
    fragments = [part.prompt for part in view.resolution.prompt_fragments if part.prompt and part.preset not in silent]
    rule = (PROGRAMS_ONLY,) if tools.programs_only else ()
    return "\n\n".join((ABOUT, *rule, f"Now: {facts}.", *fragments))


def _presets_without_tools(view: ContextView, tools: AgentTools) -> frozenset[str]:
    """The active presets of whose tools the agent has none; their prompts would speak of what it cannot do."""
    offered = {entry.definition.source for entry in tools.capabilities}
    having = {tool.preset for tool in view.resolution.tools}
    reachable = {tool.preset for tool in view.resolution.tools if tool.tool_id in offered}
    return frozenset(having - reachable)
