"""What an agent's blocks are made of: the story, its fragments, and what this agent is asked to do. Owns that value."""

from __future__ import annotations

from dataclasses import dataclass, field

from blocks.fragment import Fragment
from blocks.story import StoryMeta


@dataclass(frozen=True, slots=True)
class ToolOffer:
    """A tool that a run offers. `plugin` names who brought it, and is None for one of Space's own."""

    name: str
    description: str
    plugin: str | None = None


@dataclass(frozen=True, slots=True)
class NewProse:
    """A piece of prose that was just written."""

    id: str
    content: str


@dataclass(frozen=True, slots=True)
class ChapterSummary:
    """What happened in a chapter that overlaps the prose at hand."""

    id: str
    name: str
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentBlockContext:
    """One value for every agent; each uses what it needs. What is None or empty is not given.

    `enabled_tools` and `disabled_tools` are set when the context is compiled: what the run offers, and what the user
    has taken away. `now` is the time as text, so that a prompt can be made again exactly.
    """

    story: StoryMeta
    prose_fragments: tuple[Fragment, ...] = ()
    sticky_guidelines: tuple[Fragment, ...] = ()
    sticky_knowledge: tuple[Fragment, ...] = ()
    sticky_characters: tuple[Fragment, ...] = ()
    guideline_catalog: tuple[Fragment, ...] = ()
    knowledge_catalog: tuple[Fragment, ...] = ()
    character_catalog: tuple[Fragment, ...] = ()
    system_prompt_fragments: tuple[Fragment, ...] = ()
    chapter_summaries: tuple[ChapterSummary, ...] = ()
    author_input: str = ""
    model_id: str | None = None
    now: str | None = None
    all_characters: tuple[Fragment, ...] = ()
    all_knowledge: tuple[Fragment, ...] = ()
    new_prose: NewProse | None = None
    character: Fragment | None = None
    persona_description: str | None = None
    target_fragment: Fragment | None = None
    instructions: str | None = None
    operation: str | None = None
    guidance: str | None = None
    selected_text: str | None = None
    source_content: str | None = None
    context_before: str | None = None
    context_after: str | None = None
    full_context: str | None = None
    """For the prewriter: the writer's context as one text."""
    writing_brief: str | None = None
    """For the writer: the prewriter's brief, which then stands for the context."""
    plugin_tool_descriptions: tuple[ToolOffer, ...] = ()
    enabled_tools: tuple[ToolOffer, ...] = ()
    disabled_tools: tuple[str, ...] = field(default=())

    @property
    def sticky(self) -> tuple[Fragment, ...]:
        """Guidelines, knowledge and characters that are always there."""
        return (*self.sticky_guidelines, *self.sticky_knowledge, *self.sticky_characters)

    @property
    def cataloged(self) -> tuple[Fragment, ...]:
        """Guidelines, knowledge and characters that are not sticky."""
        return (*self.guideline_catalog, *self.knowledge_catalog, *self.character_catalog)
