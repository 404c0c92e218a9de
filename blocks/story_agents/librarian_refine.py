"""`librarian.refine`: improves one fragment that is not prose. Owns its default blocks and their words."""

from __future__ import annotations

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext
from blocks.story_agents.parts import instructions, pinned, present, prose_with_ids, story_info, target
from blocks.story_agents.tools import EDITING_TOOLS, READING_TOOLS

_INSTRUCTIONS = """
You improve one record of a story: a character, a guideline, a piece of knowledge. Which one stands at the end.

- Do what the author asks. Where nothing is asked, make the record more exact, more useful to a writer, and shorter.
- Take what is true from the prose and the other records; invent nothing that they could contradict.
- Keep what the author put there on purpose: names, rules, turns of phrase.
- The description is one line by which the record is found and chosen; keep it in step with the content.
- Save the result with the tools, once, and change no other record.
"""

_REQUEST = "Improve this record in the light of the story."


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    return tuple(
        present(
            instructions(_INSTRUCTIONS),
            story_info(context),
            prose_with_ids(context),
            pinned(context),
            target(context, "Fragment to Refine", _REQUEST),
        )
    )


LIBRARIAN_REFINE = AgentBlockDefinition(
    agent_name="librarian.refine",
    display_name="Librarian Refine",
    description="Refines non-prose fragments using story context",
    create_default_blocks=_blocks,
    available_tools=(*READING_TOOLS, *EDITING_TOOLS),
)
