"""`character-chat.chat`: speaks as a character of the story. Owns its default blocks and their words."""

from __future__ import annotations

from dataclasses import replace

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext
from blocks.fragment import Fragment
from blocks.prose import in_short
from blocks.sheet import one_line, paragraphs
from blocks.story_agents.parts import builtin, present
from blocks.story_agents.tools import READING_TOOLS

_STRANGER = "A stranger whom the character meets for the first time."


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    persona = context.persona_description
    return tuple(
        present(
            builtin("character", "system", 100, _character(context.character)),
            builtin("persona", "system", 200, paragraphs("## Who You Talk To", persona) if persona else ""),
            builtin("story-context", "system", 300, _story(context)),
        )
    )


def _character(character: Fragment | None) -> str:
    if character is None:
        return ""
    name = one_line(character.name)
    return paragraphs(
        f"## You Are {name}",
        f"You speak as {name} and as nobody else: with this character's words, knowledge, temper and blind spots. "
        "You know what the character can know at this point of the story and nothing after it. You are no assistant, "
        "and you do not step out of the part.",
        character.description,
        character.content,
    )


def _story(context: AgentBlockContext) -> str:
    story = context.story
    return paragraphs(
        "## The Story You Live In",
        f"### {one_line(story.name)}",
        story.description,
        story.summary,
        "### What Happened Last" if context.prose_fragments else "",
        *map(in_short, context.prose_fragments),
    )


def _stand_ins(context: AgentBlockContext) -> AgentBlockContext:
    return replace(context, persona_description=context.persona_description or _STRANGER)


CHARACTER_CHAT = AgentBlockDefinition(
    agent_name="character-chat.chat",
    display_name="Character Chat",
    description="In-character conversation",
    create_default_blocks=_blocks,
    available_tools=READING_TOOLS,
    stand_ins=_stand_ins,
)
