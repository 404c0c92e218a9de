"""`librarian.chat`: talks with the author about the story and changes its fragments. Owns its blocks and words."""

from __future__ import annotations

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext
from blocks.prose import prose_summaries
from blocks.sheet import paragraphs
from blocks.story_agents.parts import (
    builtin,
    fragment_catalog,
    instructions,
    pinned,
    present,
    story_info,
    system_fragments,
)
from blocks.story_agents.tools import EDITING_TOOLS, READING_TOOLS, tool_lines

_INSTRUCTIONS = """
You are the librarian of a story and talk with its author. You know what is recorded about it, and you can change it.

- Answer from the records. Prose stands here only in short; read a piece before you say what is in it.
- Change what the author asks you to change, and nothing besides. Read a fragment before you change it.
- Before you delete something or change many fragments, say what you are going to do and wait for a yes.
- Afterwards say in a sentence what is different now, with ids.
"""


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    return tuple(
        present(
            instructions(_INSTRUCTIONS, _plugin_tools(context)),
            system_fragments(context),
            story_info(context),
            builtin("prose-summaries", "user", 200, prose_summaries(context.prose_fragments)),
            pinned(context),
            fragment_catalog(context, 400),
        )
    )


def _plugin_tools(context: AgentBlockContext) -> str:
    """What plugins bring, as far as the run offers it."""
    offered = {one.name: one for one in context.plugin_tool_descriptions if one.name not in context.disabled_tools}
    offered.update({one.name: one for one in context.enabled_tools if one.plugin is not None})
    lines = tool_lines(tuple(offered.values()))
    return paragraphs("Plugins bring these tools:", lines) if lines else ""


LIBRARIAN_CHAT = AgentBlockDefinition(
    agent_name="librarian.chat",
    display_name="Librarian Chat",
    description="Conversational assistant with write-enabled tools",
    create_default_blocks=_blocks,
    available_tools=(*READING_TOOLS, *EDITING_TOOLS),
)
