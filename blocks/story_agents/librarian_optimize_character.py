"""`librarian.optimize-character`: deepens a character sheet. Owns its default blocks and their words."""

from __future__ import annotations

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext
from blocks.story_agents.parts import instructions, pinned, present, prose_with_ids, sheets, story_info, target
from blocks.story_agents.tools import EDITING_TOOLS, READING_TOOLS

_INSTRUCTIONS = """
You make a character sheet better to write from. A good sheet tells a writer what this person would do next.

Look for, and write down where the story supports it:
- what the character wants, what stands against it, and what it would cost;
- what they believe that is wrong, and what they would never admit;
- how they speak: length, rhythm, words they use and words they avoid;
- what they do with their hands, and what others notice first;
- how they stand to each of the others, and how that changes.

Replace adjectives by behaviour. Cut what every person has. Contradict nothing in the prose; what you add yourself must
fit it. Save the sheet with the tools, once.
"""

_REQUEST = "Deepen this character."


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    return tuple(
        present(
            instructions(_INSTRUCTIONS),
            story_info(context),
            prose_with_ids(context),
            pinned(context),
            sheets("all-characters", "user", 350, "All Characters", context.all_characters, editing=True),
            target(context, "Character to Optimize", _REQUEST),
        )
    )


LIBRARIAN_OPTIMIZE_CHARACTER = AgentBlockDefinition(
    agent_name="librarian.optimize-character",
    display_name="Librarian Optimize Character",
    description="Optimizes character sheets using depth-focused writing methodology",
    create_default_blocks=_blocks,
    available_tools=(*READING_TOOLS, *EDITING_TOOLS),
)
