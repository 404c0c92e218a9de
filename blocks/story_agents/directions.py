"""`directions.suggest`: proposes where a story could go. Owns its default blocks and their words."""

from __future__ import annotations

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext
from blocks.prose import manuscript
from blocks.story_agents.parts import builtin, instructions, present, sheets, story_summary, system_fragments

PIECES = 3
"""Pieces of prose that are shown: a direction starts from where the story stands now."""

_INSTRUCTIONS = """
You suggest to an author where a story could go from here.

- Each suggestion is something that could happen next, in two or three sentences, concrete enough to write from.
- Make them different in kind: one that follows from what was planted, one that turns something around, one that slows
  down and looks closer.
- Use who and what is there. Bring in somebody new only where the story lacks what only they can do.
- Do not decide the ending, and do not judge which suggestion is best.
"""


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    characters = (*context.sticky_characters, *context.character_catalog)
    return tuple(
        present(
            instructions(_INSTRUCTIONS),
            system_fragments(context),
            story_summary(context),
            sheets("characters", "user", 200, "Characters", characters),
            builtin("recent-prose", "user", 300, manuscript(context.prose_fragments[-PIECES:])),
        )
    )


DIRECTIONS = AgentBlockDefinition(
    agent_name="directions.suggest",
    display_name="Directions",
    description="Suggests possible story directions based on current context",
    create_default_blocks=_blocks,
)
