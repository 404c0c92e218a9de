"""`librarian.prose-transform`: rewrites a passage that the author has selected. Owns its default blocks and words."""

from __future__ import annotations

from dataclasses import replace

from blocks.agents import AgentBlockDefinition
from blocks.block import ContextBlock
from blocks.context import AgentBlockContext
from blocks.sheet import paragraphs
from blocks.story_agents.parts import builtin, instructions, present, story_summary

_INSTRUCTIONS = """
You rewrite a passage that the author has selected in a piece of prose. What you answer replaces the selection, letter
for letter.

- Do the operation that is asked for and no other. Keep facts, tense, person and voice unless it says otherwise.
- The text before and after stays; the new passage must join both without a seam.
- Answer with the passage alone: no quotation marks around it, no remark, no alternatives.
"""


def _blocks(context: AgentBlockContext) -> tuple[ContextBlock, ...]:
    return tuple(
        present(
            instructions(_INSTRUCTIONS),
            builtin("operation", "user", 100, _operation(context)),
            story_summary(context, 200),
            builtin("source", "user", 300, _under("## The Whole Piece", context.source_content)),
            builtin("selection", "user", 400, _selection(context)),
        )
    )


def _operation(context: AgentBlockContext) -> str:
    if not context.operation:
        return ""
    return paragraphs("## Operation", context.operation, _under("### Guidance", context.guidance))


def _selection(context: AgentBlockContext) -> str:
    if not context.selected_text:
        return ""
    return paragraphs(
        _under("## Before the Selection", context.context_before),
        "## Selection",
        context.selected_text,
        _under("## After the Selection", context.context_after),
    )


def _under(heading: str, text: str | None) -> str:
    return paragraphs(heading, text) if text else ""


def _stand_ins(context: AgentBlockContext) -> AgentBlockContext:
    return replace(
        context,
        operation=context.operation or "rewrite",
        selected_text=context.selected_text or "(the passage that the author has selected)",
        source_content=context.source_content or "(the piece that it is selected in)",
    )


PROSE_TRANSFORM = AgentBlockDefinition(
    agent_name="librarian.prose-transform",
    display_name="Prose Transform",
    description="Transforms selected prose spans",
    create_default_blocks=_blocks,
    stand_ins=_stand_ins,
)
