"""A small story for the tests of agents."""

from __future__ import annotations

from typing import Any

from blocks.context import AgentBlockContext, ChapterSummary, ToolOffer
from blocks.fragment import Fragment
from blocks.story import StoryMeta


def fragment(fragment_id: str, kind: str, name: str, content: str = "", **more: Any) -> Fragment:
    raw = {"description": f"about {name}", "content": content or f"All of {name}.", **more}
    return Fragment.from_json({"id": fragment_id, "type": kind, "name": name, **raw})


TONE = fragment("gl-tone", "guideline", "Tone", sticky=True)
LAW = fragment("kn-law1", "knowledge", "Storm Law", sticky=True, placement="system")
MARA = fragment("ch-mara", "character", "Mara", sticky=True)
OREN = fragment("ch-oren", "character", "Oren")
ROAD = fragment("kn-road", "knowledge", "Salt Road")
FIRST = fragment("pr-aaaa", "prose", "One", "The gulls left first.", meta={"writerContextIds": ["ch-oren"]})
SECOND = fragment("pr-bbbb", "prose", "Two", "Then the tide went out.")

READ = ToolOffer("getFragment", "one fragment")
DICE = ToolOffer("roll", "a number", plugin="dice")

EMPTY = AgentBlockContext(story=StoryMeta(name="The Salt Road", description="A caravan."))
FULL = AgentBlockContext(
    story=StoryMeta(name="The Salt Road", description="A caravan.", summary="They set out."),
    prose_fragments=(FIRST, SECOND),
    sticky_guidelines=(TONE,),
    sticky_knowledge=(LAW,),
    sticky_characters=(MARA,),
    character_catalog=(OREN,),
    knowledge_catalog=(ROAD,),
    chapter_summaries=(ChapterSummary("mk-aaaa", "Chapter 1", "They left."), ChapterSummary("mk-bbbb", "Empty", " ")),
    author_input="Let them talk.",
    all_characters=(MARA, OREN),
    all_knowledge=(LAW, ROAD),
    target_fragment=OREN,
    character=MARA,
    system_prompt_fragments=(ROAD,),
)
