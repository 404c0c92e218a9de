"""An agent's prompt, from its context to its messages. Owns the order of the steps; each step is a module of its own.

context → `before_context` → default blocks → the user's config → `before_blocks` → fragment tags → compile →
`before_generation`. Tags are expanded before blocks are joined, so that a fragment cannot forge a marker either.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from blocks.agents import AgentBlockDefinition, AgentBlockRegistry
from blocks.apply import Audience, apply_block_config
from blocks.block import ContextBlock, ContextMessage
from blocks.change import Change
from blocks.compile import compile_placed
from blocks.config import EMPTY_CONFIG, AgentBlockConfig
from blocks.context import AgentBlockContext, ToolOffer
from blocks.fragment import FragmentLookup
from blocks.fragment_tags import expand_fragment_tags
from blocks.hooks import Hooks
from blocks.provenance import ContextReport, Traced, report_blocks, trace_hooks
from blocks.script import ScriptEvaluator
from blocks.script_context import script_context


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
) -> CompiledContext:
    """The prompt of that agent in that context, as the user wants it.

    `tools` are those that the run would offer; `plugins` are the enabled ones, None for all. Raises `UnknownAgentError`
    and `HookError`; a script that fails is in the report.
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
    expanded = [
        replace(block, content=await expand_fragment_tags(block.content, fragments.fragment)) for block in traced.blocks
    ]
    changes = [
        made if before.content == after.content else (*made, Change("tags"))
        for made, before, after in zip(traced.changes, traced.blocks, expanded, strict=True)
    ]
    compiled = compile_placed(expanded)
    messages, message_hooks = await hooks.before_generation(compiled.messages, plugins)
    report = ContextReport(
        report_blocks(compiled, changes, messages), traced.dropped, applied.script_errors, message_hooks
    )
    return CompiledContext(messages, traced.blocks, context.enabled_tools, report)
