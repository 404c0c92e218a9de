"""`librarian.analyze`: reads new prose for what it establishes. Owns its default blocks and their words."""

from __future__ import annotations

from dataclasses import replace

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext, NewProse
from blocks.sheet import paragraphs
from blocks.story_agents.parts import builtin, instructions, present, sheets, story_summary, system_fragments
from blocks.story_agents.tools import ANALYSIS_TOOLS

_INSTRUCTIONS = """
You keep the records of a story. A new piece of prose has been written; say what follows from it for the records.

- Report what is on the page, not what may come. Quote briefly where it helps.
- A contradiction is something that cannot both be true. A character who lies or is mistaken makes none.
- Suggest a new fragment only for what will matter again, and a change only where the old text is now wrong or thin.
- Use the ids that stand in the headings, exactly as they are.
- Report each kind of finding once, and say nothing where there is nothing to say.
"""


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    characters, knowledge = context.all_characters, context.all_knowledge
    return tuple(
        present(
            instructions(_INSTRUCTIONS),
            system_fragments(context),
            story_summary(context),
            sheets("characters", "user", 200, "Known Characters", characters, editing=True),
            sheets("knowledge", "user", 300, "Known Facts", knowledge, editing=True),
            builtin("new-prose", "user", 400, _new_prose(context.new_prose)),
        )
    )


def _new_prose(prose: NewProse | None) -> str:
    return "" if prose is None else paragraphs("## New Prose", f"### {prose.id}", prose.content)


def _stand_ins(context: AgentBlockContext) -> AgentBlockContext:
    return replace(context, new_prose=context.new_prose or NewProse("pr-preview", "(the prose that was just written)"))


LIBRARIAN_ANALYZE = AgentBlockDefinition(
    agent_name="librarian.analyze",
    display_name="Librarian Analyze",
    description="Analyzes prose fragments for continuity signals",
    create_default_blocks=_blocks,
    available_tools=ANALYSIS_TOOLS,
    stand_ins=_stand_ins,
)
