"""A story and its fragments become what an agent's blocks are made of. Owns which fragments count, and how much prose.

Runs, previews and the evaluation of scripts all start here, so that they see the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import cast

from blocks.context import AgentBlockContext, ChapterSummary
from blocks.fragment import Fragment
from blocks.prose import utf16_units
from blocks.story import StoryMeta

SYSTEM_PROMPT_TAG = "pass-to-librarian-system-prompt"
"""Fragments with this tag stand in the system message of the librarian and of directions."""

COMPACT_KEY = "contextCompact"
"""The setting that says how much prose there is: `{"type": "proseLimit", "value": 10}`."""

CHAPTERS_KEY = "enableHierarchicalSummary"
"""The setting with which summaries of chapters stand in the prompt."""

DEFAULT_PROSE_COUNT = 10
"""Pieces of prose where the story says nothing about it: some thousand words."""

UTF16_UNITS_PER_TOKEN = 4
"""How `maxTokens` counts."""


def story_context(
    story: StoryMeta,
    fragments: Iterable[Fragment],
    *,
    author_input: str = "",
    without: Collection[str] = (),
    before: str | None = None,
    model_id: str | None = None,
    now: str | None = None,
) -> AgentBlockContext:
    """The context of an agent that works on this story, less what the agent itself is asked to do.

    `without` are ids of fragments to leave out, and `before` is that of a piece of prose of which only what stands
    earlier is taken. Of the recent prose there is as much as the story's settings say.
    """
    used = [one for one in _in_order(fragments) if not one.archived and one.id not in without]
    prose = _earlier([one for one in used if one.type == "prose"], before)
    recent = recent_prose(prose, story.settings)
    by_type = {kind: [one for one in used if one.type == kind] for kind in ("guideline", "knowledge", "character")}
    sticky = {kind: tuple(one for one in group if one.sticky) for kind, group in by_type.items()}
    catalog = {
        kind: tuple(sorted((one for one in group if not one.sticky), key=lambda one: one.id))
        for kind, group in by_type.items()
    }
    return AgentBlockContext(
        story=story.model_copy(update={"summary": _summary(story, used)}),
        prose_fragments=recent,
        sticky_guidelines=sticky["guideline"],
        sticky_knowledge=sticky["knowledge"],
        sticky_characters=sticky["character"],
        guideline_catalog=catalog["guideline"],
        knowledge_catalog=catalog["knowledge"],
        character_catalog=catalog["character"],
        system_prompt_fragments=tuple(one for one in used if SYSTEM_PROMPT_TAG in one.tags),
        chapter_summaries=_chapters(used, recent) if story.settings.get(CHAPTERS_KEY) is True else (),
        author_input=author_input,
        model_id=model_id,
        now=now,
        all_characters=tuple(by_type["character"]),
        all_knowledge=tuple(by_type["knowledge"]),
    )


def recent_prose(prose: Sequence[Fragment], settings: Mapping[str, object]) -> tuple[Fragment, ...]:
    """The last pieces: as many as the settings say, or as fit into so many characters or tokens, but one at least.

    A count of 0 takes all of them. Settings that say nothing that can be understood say nothing.
    """
    kind, value = _compact(settings)
    match kind:
        case "maxCharacters" | "maxTokens":
            taken: list[Fragment] = []
            room = value
            for one in reversed(prose):
                units = utf16_units(one.content)
                room -= units if kind == "maxCharacters" else -(-units // UTF16_UNITS_PER_TOKEN)
                if taken and room < 0:
                    break
                taken.append(one)
            return tuple(reversed(taken))
        case _:
            return tuple(prose[-value:])


def _compact(settings: Mapping[str, object]) -> tuple[str, int]:
    said = settings.get(COMPACT_KEY)
    if isinstance(said, Mapping):
        members = cast("Mapping[str, object]", said)
        kind, value = members.get("type"), members.get("value")
        whole = isinstance(value, int) and not isinstance(value, bool)
        if kind in ("proseLimit", "maxCharacters", "maxTokens") and whole and cast("int", value) >= 0:
            return cast("str", kind), cast("int", value)
    return "proseLimit", DEFAULT_PROSE_COUNT


def _in_order(fragments: Iterable[Fragment]) -> Sequence[Fragment]:
    return sorted(fragments, key=lambda one: (one.order, one.created_at, one.id))


def _earlier(prose: Sequence[Fragment], before: str | None) -> Sequence[Fragment]:
    at = next((index for index, one in enumerate(prose) if one.id == before), len(prose))
    return prose[:at]


def _summary(story: StoryMeta, used: Sequence[Fragment]) -> str:
    """The summary fragments, or the story's own text from the time before there were any."""
    texts = [one.content.strip() for one in used if one.type == "summary"]
    return "\n\n".join(text for text in texts if text) or story.summary


def _chapters(used: Sequence[Fragment], recent: Sequence[Fragment]) -> tuple[ChapterSummary, ...]:
    """The chapters, each from its marker to the next one, in which any of the recent prose stands."""
    loaded = {one.id for one in recent}
    chapters: list[ChapterSummary] = []
    marker: Fragment | None = None
    for one in used:
        if one.type == "marker":
            marker = one
        elif one.id in loaded and marker is not None:
            if marker.content.strip():
                chapters.append(ChapterSummary(marker.id, marker.name, marker.content.strip()))
            marker = None
    return tuple(chapters)
