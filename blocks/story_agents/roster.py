"""All story agents, in the order in which they are listed. Owns the list alone."""

from __future__ import annotations

from blocks.agents import AgentBlockRegistry
from blocks.story_agents.character_chat import CHARACTER_CHAT
from blocks.story_agents.directions import DIRECTIONS
from blocks.story_agents.librarian_analyze import LIBRARIAN_ANALYZE
from blocks.story_agents.librarian_chat import LIBRARIAN_CHAT
from blocks.story_agents.librarian_optimize_character import LIBRARIAN_OPTIMIZE_CHARACTER
from blocks.story_agents.librarian_refine import LIBRARIAN_REFINE
from blocks.story_agents.prewriter import PREWRITER
from blocks.story_agents.prose_transform import PROSE_TRANSFORM
from blocks.story_agents.writer import WRITER

STORY_AGENTS = (
    WRITER,
    PREWRITER,
    LIBRARIAN_ANALYZE,
    LIBRARIAN_CHAT,
    LIBRARIAN_REFINE,
    LIBRARIAN_OPTIMIZE_CHARACTER,
    PROSE_TRANSFORM,
    CHARACTER_CHAT,
    DIRECTIONS,
)


def story_agents() -> AgentBlockRegistry:
    """A registry that holds the nine, to which more may be added."""
    return AgentBlockRegistry(STORY_AGENTS)
