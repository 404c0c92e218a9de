"""An agent's prompt, from its context to its messages. Owns the order of the steps; each step is a module of its own.

context → `before_context` → default blocks → the user's config → `before_blocks` → fragment tags → compile →
`before_generation`. Tags are expanded before blocks are joined, so that a fragment cannot forge a marker either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Protocol, TypeVar

from blocks.agents import AgentBlockDefinition, AgentBlockRegistry
from blocks.apply import Audience, apply_block_config
from blocks.block import ContextBlock, ContextMessage
from blocks.change import BlockError, Change
from blocks.compile import ROLES, Compiled, compile_placed
from blocks.config import EMPTY_CONFIG, AgentBlockConfig
from blocks.context import AgentBlockContext, ToolOffer
from blocks.fragment import Fragment, FragmentLookup
from blocks.fragment_tags import ContentTooLargeError, tagged_fragments, with_fragments
from blocks.hooks import Hooks
from blocks.provenance import ContextReport, Traced, report_blocks, trace_hooks
from blocks.script import ScriptEvaluator
from blocks.script_context import script_context

MAX_PROMPT_CHARACTERS = 4 * 1024 * 1024
"""Code points of the contents of a whole prompt, a million tokens or so: no model reads more, and each is copied
several times on its way."""

LARGE_CHARACTERS = 64 * 1024
"""From here on a prompt is put together beside whatever else goes on: that takes a millisecond and more."""

ResultT = TypeVar("ResultT")


class Beside(Protocol):
    """Carries out a piece of work that takes its time, so that nothing else has to wait for it."""

    async def __call__(self, work: Callable[[], ResultT], /) -> ResultT:
        """What the work gives; raises what it raises."""
        ...


async def at_once(work: Callable[[], ResultT]) -> ResultT:
    """The work, done here and now."""
    return work()


@dataclass(frozen=True, slots=True)
class CompiledContext:
    """The messages for the model, the blocks as they were before their tags were expanded, the tools that are left, and
    where everything comes from.
    """

    messages: tuple[ContextMessage, ...]
    blocks: tuple[ContextBlock, ...]
    tools: tuple[ToolOffer, ...]
    report: ContextReport


def with_tools(
    context: AgentBlockContext, tools: Sequence[ToolOffer], config: AgentBlockConfig = EMPTY_CONFIG
) -> AgentBlockContext:
    """The context of a run that offers these tools, less those that the config takes away."""
    enabled = tuple(tool for tool in tools if tool.name not in config.disabled_tools)
    return replace(context, enabled_tools=enabled, disabled_tools=config.disabled_tools)


def default_blocks(
    definition: AgentBlockDefinition,
    context: AgentBlockContext,
    tools: Sequence[ToolOffer],
    config: AgentBlockConfig = EMPTY_CONFIG,
) -> tuple[ContextBlock, ...]:
    """The agent's blocks before the user's config and hooks: what an editor shows as the original."""
    return tuple(definition.create_default_blocks(with_tools(context, tools, config)))


async def compile_agent_context(
    registry: AgentBlockRegistry,
    agent_name: str,
    context: AgentBlockContext,
    config: AgentBlockConfig = EMPTY_CONFIG,
    *,
    fragments: FragmentLookup,
    evaluator: ScriptEvaluator,
    tools: Sequence[ToolOffer] = (),
    hooks: Hooks | None = None,
    plugins: Collection[str] | None = None,
    audience: Audience = Audience.MODEL,
    beside: Beside = at_once,
) -> CompiledContext:
    """The prompt of that agent in that context, as the user wants it.

    `tools` are those that the run would offer; `plugins` are the enabled ones, None for all. `beside` does what takes
    its time with large prompts. Raises `UnknownAgentError` and `HookError`; a script that fails is in the report, and
    so is a block that is too large, alone or with those before it: in its place stands a line that says so.
    """
    definition = registry.require(agent_name)
    hooks = hooks or Hooks()
    context = with_tools(await hooks.before_context(context, plugins), tools, config)
    applied = await apply_block_config(
        tuple(definition.create_default_blocks(context)),
        config,
        script_context(context),
        evaluator,
        audience=audience,
        definition=agent_name,
    )
    steps = await hooks.before_blocks(applied.blocks, plugins)
    traced = trace_hooks(Traced(applied.blocks, applied.changes, applied.dropped), steps)
    found = await tagged_fragments((block.content for block in traced.blocks), fragments.fragment)
    large = bool(found) or sum(len(block.content) for block in traced.blocks) > LARGE_CHARACTERS
    aside = beside if large else at_once
    made = await aside(partial(_put_together, traced, found))
    messages, message_hooks = await hooks.before_generation(made.compiled.messages, plugins)
    reports = await aside(partial(report_blocks, made.compiled, made.changes, messages))
    report = ContextReport(reports, traced.dropped, applied.script_errors, message_hooks, made.errors)
    return CompiledContext(messages, traced.blocks, context.enabled_tools, report)


@dataclass(frozen=True, slots=True)
class _Made:
    compiled: Compiled
    changes: tuple[tuple[Change, ...], ...]
    errors: tuple[BlockError, ...]


def _put_together(traced: Traced, found: Mapping[str, Fragment | None]) -> _Made:
    """The messages with their tags expanded, and never more than `MAX_PROMPT_CHARACTERS` of contents."""
    blocks = list(traced.blocks)
    changes = list(traced.changes)
    errors: list[BlockError] = []
    left = MAX_PROMPT_CHARACTERS
    # In the order in which they are read, so that what is left out is what comes last.
    for index in sorted(range(len(blocks)), key=lambda at: (blocks[at].role != ROLES[0], blocks[at].order)):
        block = blocks[index]
        try:
            content = _fitting(with_fragments(block.content, found), left)
            made = Change("tags") if content != block.content else None
        except ContentTooLargeError as error:
            name = block.name or block.id
            errors.append(BlockError(block.id, name, str(error)))
            content, made = too_large_placeholder(name), Change("too-large", str(error))
        left -= len(content)
        blocks[index] = replace(block, content=content)
        if made is not None:
            changes[index] = (*changes[index], made)
    return _Made(compile_placed(blocks), tuple(changes), tuple(errors))


def _fitting(content: str, left: int) -> str:
    if len(content) > left:
        raise ContentTooLargeError(
            f"with it the contents of the prompt have more than {MAX_PROMPT_CHARACTERS:,} characters; shorten it, or "
            "switch blocks off"
        )
    return content


def too_large_placeholder(name: str) -> str:
    """What stands in the prompt for a block of that name that is too large."""
    return f'[Block "{name}" is left out: it is too large]'
