"""`generation.writer`: writes the prose of a story. Owns its default blocks and their words."""

from __future__ import annotations

from dataclasses import replace

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock, Role
from blocks.context import AgentBlockContext
from blocks.fragment import Fragment
from blocks.prose import manuscript
from blocks.sheet import catalog, full_sheets, in_story_order, one_line, paragraphs
from blocks.story_agents.parts import CATALOG_HINT, builtin, instructions, present, story_info
from blocks.story_agents.tools import READING_TOOLS, tool_lines
from blocks.tiering import tiers, writer_context_ids

_INSTRUCTIONS = """
You write fiction together with an author. The author says where the story goes; you write the next piece of it.

- Go on exactly where the prose ends: same tense, same person, same voice. Repeat nothing that stands there already.
- Guidelines are rules. What is written about characters and the world is true; do not contradict it, and do not recite
  it. Let it show in what people do and say.
- Follow the author's direction fully and invent what it leaves open. Leave decisions that it does not ask for to later.
- Prefer the particular to the general: what somebody does, says, sees. Not every piece needs an ending.
- Answer with prose alone: no title, no preface, no remark about what you did.
"""

_BRIEF_INSTRUCTIONS = """
You write fiction together with an author. A planner has read the whole story and left you a brief for the next piece.

- The brief says what happens, who is there, and what to keep in mind. Write all of it, in your own order and words.
- Go on exactly where the prose ends: same tense, same person, same voice. Repeat nothing that stands there already.
- Answer with prose alone: no title, no preface, no mention of the brief.
"""

_TOOLS_TEXT = "You can look things up while you write. Do so where a detail matters that is not on the page."

_NEW_STORY = """
## A New Story

Nothing is written yet.
Begin where something is at stake, with somebody the reader can see.
Set the tone that the guidelines ask for from the first sentence.
"""


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    if context.writing_brief is not None:
        return _brief_blocks(context)
    settings = context.story.settings
    sticky = in_story_order(context.sticky, settings)
    rest = tiers(context.cataloged, promoted=writer_context_ids(context.prose_fragments))
    hint = CATALOG_HINT if context.enabled_tools else ""
    return tuple(
        present(
            instructions(_INSTRUCTIONS),
            _tools(context),
            _placed("system-fragments", "system", 300, [one for one in sticky if one.placement == "system"]),
            story_info(context),
            _placed("user-fragments", "user", 200, [one for one in sticky if one.placement != "system"]),
            builtin("fragment-recent", "user", 308, full_sheets("Fragments in Recent Use", rest.full)),
            builtin("fragment-catalog", "user", 330, catalog("Fragment Catalog", rest.catalog, hint=hint)),
            builtin("summary", "user", 400, _under("## Story Summary", context.story.summary)),
            builtin("chapter-summaries", "user", 410, _chapters(context)),
            _prose(context, 500),
            builtin("author-input", "user", 600, _author_input(context)),
        )
    )


def _brief_blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    brief = (context.writing_brief or "").strip()
    for label in ("## Writing Brief", "# Writing Brief", "Writing Brief:", "Writing Brief"):
        if brief.startswith(label):
            brief = brief[len(label) :].strip()
            break
    return tuple(
        present(
            instructions(_BRIEF_INSTRUCTIONS),
            _tools(context),
            _prose(context, 100),
            builtin("writing-brief", "user", 200, paragraphs("## Writing Brief", brief)),
        )
    )


def _tools(context: AgentBlockContext) -> ContextBlock | None:
    lines = tool_lines(context.enabled_tools)
    return builtin("tools", "system", 200, paragraphs("## Available Tools", _TOOLS_TEXT, lines) if lines else "")


def _placed(block_id: str, role: Role, order: float, fragments: list[Fragment]) -> ContextBlock | None:
    return builtin(block_id, role, order, full_sheets("Story Notes", fragments))


def _prose(context: AgentBlockContext, order: float) -> ContextBlock | None:
    if context.prose_fragments:
        return builtin("prose-recent", "user", order, manuscript(context.prose_fragments))
    return builtin("new-story", "user", order, _NEW_STORY.strip())


def _under(heading: str, text: str) -> str:
    return paragraphs(heading, text) if text else ""


def _chapters(context: AgentBlockContext) -> str:
    chapters = [
        paragraphs(f"### {one_line(one.name)}", one.summary.strip())
        for one in context.chapter_summaries
        if one.summary.strip()
    ]
    return paragraphs("## Chapter Summaries", *chapters) if chapters else ""


def _author_input(context: AgentBlockContext) -> str:
    return paragraphs(
        "## The Author's Direction", "Write what comes next, as the author wants it:", context.author_input
    )


def _stand_ins(context: AgentBlockContext) -> AgentBlockContext:
    return context if context.author_input else replace(context, author_input="(preview)")


WRITER = AgentBlockDefinition(
    agent_name="generation.writer",
    display_name="Writer",
    description="Main prose generation agent",
    create_default_blocks=_blocks,
    available_tools=READING_TOOLS,
    stand_ins=_stand_ins,
)
