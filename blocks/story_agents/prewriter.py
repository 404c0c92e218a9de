"""`generation.prewriter`: plans the next piece and leaves the writer a brief. Owns its default blocks and words."""

from __future__ import annotations

from dataclasses import replace

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext
from blocks.sheet import paragraphs
from blocks.story_agents.parts import builtin, instructions, present
from blocks.story_agents.tools import READING_TOOLS

_INSTRUCTIONS = """
You plan the next piece of a story; another agent writes it, and sees of all that you see only the recent prose and the
brief that you leave.

Put into the brief what the writer cannot do without:
- what happens, in order, and where it stops;
- who is there, with what of their manner, knowledge and history matters now;
- places, objects and facts that must be right;
- tone, tense, point of view, and every guideline that applies;
- what to avoid.

Be exact and short. Do not write the prose yourself. Look up what you are not sure of.
"""

_REQUEST = "Write the brief for the next piece. The author asks for:"


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    material = context.full_context or "There is no material yet."
    return tuple(
        present(
            instructions(_INSTRUCTIONS),
            builtin("full-context", "user", 100, paragraphs("## Story Material", material)),
            builtin("planning-request", "user", 200, paragraphs("## Request", _REQUEST, context.author_input)),
        )
    )


def _stand_ins(context: AgentBlockContext) -> AgentBlockContext:
    return context if context.author_input else replace(context, author_input="(preview)")


PREWRITER = AgentBlockDefinition(
    agent_name="generation.prewriter",
    display_name="Prewriter",
    description="Writing planner that produces briefs for the writer",
    create_default_blocks=_blocks,
    available_tools=READING_TOOLS,
    stand_ins=_stand_ins,
)
