"""Blocks that several story agents have. Owns their ids, headings and texts; None is one with nothing to say."""

from __future__ import annotations

from collections.abc import Sequence

from blocks.block import BUILTIN, ContextBlock, Role
from blocks.context import AgentBlockContext
from blocks.fragment import Fragment
from blocks.prose import identified_prose
from blocks.sheet import catalog, full_sheets, in_story_order, one_line, paragraphs

CATALOG_HINT = "One line for each; read what you need in full with the tools before you rely on it."


def builtin(block_id: str, role: Role, order: float, content: str) -> ContextBlock | None:
    """A block of the agent's own, or None without content."""
    return ContextBlock(id=block_id, role=role, order=order, content=content, source=BUILTIN) if content else None


def present(*blocks: ContextBlock | None) -> Sequence[ContextBlock]:
    """Those blocks that there are."""
    return tuple(block for block in blocks if block is not None)


def instructions(text: str, *more: str) -> ContextBlock | None:
    """What the agent is and how it works; always the first block of the system message."""
    return builtin("instructions", "system", 100, paragraphs(text.strip(), *more))


def system_fragments(context: AgentBlockContext, order: float = 200) -> ContextBlock | None:
    """Fragments that the user has marked for the system message of this agent."""
    return builtin("system-fragments", "system", order, full_sheets("Standing Notes", context.system_prompt_fragments))


def story_info(context: AgentBlockContext) -> ContextBlock | None:
    """The story's name and description."""
    story = context.story
    return builtin("story-info", "user", 100, paragraphs(f"## {one_line(story.name)}", story.description))


def story_summary(context: AgentBlockContext, order: float = 100) -> ContextBlock | None:
    """The story's name and what has happened so far; there even when nothing has."""
    story = context.story
    so_far = story.summary or "Nothing has been summarised yet."
    content = paragraphs("## Story So Far", f"Story: {one_line(story.name)}", so_far)
    return builtin("story-summary", "user", order, content)


def pinned(context: AgentBlockContext, order: float = 300, *, editing: bool = True) -> ContextBlock | None:
    """Every sticky fragment in full."""
    fragments = in_story_order(context.sticky, context.story.settings)
    return builtin("fragment-pinned", "user", order, full_sheets("Pinned Fragments", fragments, editing=editing))


def fragment_catalog(context: AgentBlockContext, order: float) -> ContextBlock | None:
    """A row for every fragment that is not sticky."""
    hint = CATALOG_HINT if context.enabled_tools else ""
    return builtin("fragment-catalog", "user", order, catalog("Fragment Catalog", context.cataloged, hint=hint))


def prose_with_ids(context: AgentBlockContext, order: float = 200) -> ContextBlock | None:
    """The recent prose, each piece with its id."""
    return builtin("prose", "user", order, identified_prose(context.prose_fragments))


def target(context: AgentBlockContext, title: str, request: str) -> ContextBlock | None:
    """The fragment that is to be changed, and what the user wants of it."""
    fragment = context.target_fragment
    if fragment is None:
        return None
    sheet = full_sheets(title, (fragment,), editing=True)
    content = paragraphs(sheet, "### Request", context.instructions or request)
    return builtin("target", "user", 400, content)


def sheets(
    block_id: str, role: Role, order: float, title: str, fragments: Sequence[Fragment], *, editing: bool = False
) -> ContextBlock | None:
    """These fragments in full under one heading."""
    return builtin(block_id, role, order, full_sheets(title, fragments, editing=editing))
