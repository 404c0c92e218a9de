"""Prompts made of blocks: compiled, looked at block by block, and their scripts tried. For both families of agents.

Owns the order of the work: the blocks actor gives what is on disk as a frozen value, and the rest happens in the task
of whoever asks, never inside an actor, since scripts take their time. Holds no state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import trio

from actors.agents import AgentsActor, ReadAgents
from actors.blocks import BlocksActor, OnDisk, OwnBlocksActor, UseBlocks
from actors.script_blocks import CONNECTING_SCRIPT_SECONDS, PROMPT_SCRIPT_SECONDS, script_evaluator
from actors.space_agent_blocks import LivingEngine, space_agent_definition, space_context
from blocks.agents import AgentBlockDefinition, AgentBlockRegistry
from blocks.apply import Audience
from blocks.block import ContextBlock
from blocks.compile_agent_context import CompiledContext, compile_agent_context, default_blocks, with_tools
from blocks.config import EMPTY_CONFIG, AgentBlockConfig
from blocks.context import AgentBlockContext, ToolOffer
from blocks.fragment import FragmentList
from blocks.hooks import Hooks
from blocks.model_resolution import NoModelError, resolve_model
from blocks.providers import Providers
from blocks.script import ScriptOutcome
from blocks.script_context import script_context
from blocks.store.config_files import Place
from blocks.store.documents import SetAside, Versioned, versioned
from blocks.story_state import story_context
from engine.errors import EngineError
from sandbox.runtime import CodeRuntime


@dataclass(frozen=True, slots=True)
class Prepared:
    """All that the prompt of one agent is made of at one moment. `set_aside` are broken files that were met."""

    definition: AgentBlockDefinition
    context: AgentBlockContext
    tools: tuple[ToolOffer, ...]
    fragments: FragmentList
    config: Versioned[AgentBlockConfig]
    set_aside: tuple[SetAside, ...] = ()

    @property
    def default_blocks(self) -> tuple[ContextBlock, ...]:
        """The agent's own blocks, as if the user had changed nothing about blocks."""
        return default_blocks(self.definition, self.context, self.tools, self.config.value)


LivingEngineOf = Callable[[str, str | None], LivingEngine]
"""Gives how things stand for an agent of that id, in its own presentation or in another.

Raises `UnknownAgentError` and `UnusableAgentError`.
"""

ModelOf = Callable[[str, AgentBlockContext], str | None]
"""Gives the id of the model that an agent would run with, or None."""


def _no_model(agent: str, context: AgentBlockContext) -> str | None:
    return None


def model_chosen_of(providers: Callable[[], Providers]) -> ModelOf:
    """Ask the settings of the story and these providers for the model of an agent."""

    def model_of(agent: str, context: AgentBlockContext) -> str | None:
        try:
            return resolve_model(agent, context.story.settings, providers()).model_id
        except NoModelError:
            return None

    return model_of


class BlockPrompts:
    """The prompts of a running engine.

    `story_agents` are those that work on stories, to which more may be registered; `hooks` are those of plugins.
    """

    def __init__(
        self,
        blocks: BlocksActor,
        own_blocks: OwnBlocksActor,
        agents: AgentsActor,
        runtime: CodeRuntime,
        living_engine: LivingEngineOf,
        story_agents: AgentBlockRegistry,
        hooks: Hooks | None = None,
        model_of: ModelOf = _no_model,
    ) -> None:
        self._blocks = blocks
        self._own_blocks = own_blocks
        self._agents = agents
        self._runtime = runtime
        self._living_engine = living_engine
        self._model_of = model_of
        self.story_agents = story_agents
        self.hooks = hooks or Hooks()

    async def space_agents(self) -> tuple[AgentBlockDefinition, ...]:
        """Space's own agents as their folders say now; those that cannot be used are left out."""
        await self._agents.ask(ReadAgents())
        found: list[AgentBlockDefinition] = []
        for agent_id in self._agents.agents.value.views:
            try:
                found.append(space_agent_definition(self._living_engine(agent_id, None)))
            except EngineError:
                continue
        return tuple(found)

    async def definition(self, place: Place, agent: str) -> AgentBlockDefinition:
        """The agent of that name: one that works on stories, or one of Space's own where `place` is None.

        Raises `NotFoundError` for the story, and else `UnknownAgentError` or `UnusableAgentError`; and
        `InvalidArgumentError` for one of Space's own under whose id no configuration can be kept.
        """
        if place is None:
            await self._agents.ask(ReadAgents())
            return space_agent_definition(self._living_engine(agent, None))
        await self._blocks.ask(UseBlocks(lambda store: store.stories.folder(place)))
        return self.story_agents.require(agent)

    async def prepare(self, place: Place, agent: str, model_id: str | None = None) -> Prepared:
        """All that goes into a preview of that agent: what a run would be asked to do is a stand-in.

        Raises as `definition`.
        """
        if place is None:
            await self._agents.ask(ReadAgents())
            return await self._prepare_space_agent(self._living_engine(agent, None), model_id)
        definition = await self.definition(place, agent)
        read = await self._blocks.ask(UseBlocks(lambda store: store.snapshot(place, agent)))
        story = read.result
        context = story_context(story.story, story.fragments, now=datetime.now(UTC).isoformat(timespec="minutes"))
        context = definition.stand_ins(replace(context, model_id=model_id or self._model_of(agent, context)))
        return Prepared(
            definition,
            context,
            definition.available_tools,
            FragmentList(story.fragments),
            story.config,
            read.set_aside,
        )

    async def _prepare_space_agent(self, engine: LivingEngine, model_id: str | None = None) -> Prepared:
        definition = space_agent_definition(engine)
        context = replace(space_context(engine), model_id=model_id)
        kept = await self._space_config(definition.agent_name)
        return Prepared(definition, context, definition.available_tools, FragmentList(), kept.result, kept.set_aside)

    async def _space_config(self, agent: str) -> OnDisk[Versioned[AgentBlockConfig]]:
        """What the user has changed; nothing in an engine that keeps no files, which has prompts all the same."""
        if not self._own_blocks.keeps_files:
            return OnDisk(versioned(EMPTY_CONFIG))
        return await self._own_blocks.ask(UseBlocks(lambda store: store.configs.read(None, agent)))

    async def compile(
        self,
        prepared: Prepared,
        audience: Audience = Audience.PREVIEW,
        *,
        script_seconds: float = PROMPT_SCRIPT_SECONDS,
    ) -> CompiledContext:
        """The prompt, its scripts run, for which all of them have `script_seconds`.

        Raises `HookError`; a script that fails is in the report.
        """
        async with script_evaluator(self._runtime, prepared.fragments, seconds=script_seconds) as evaluator:
            return await compile_agent_context(
                AgentBlockRegistry((prepared.definition,)),
                prepared.definition.agent_name,
                prepared.context,
                prepared.config.value,
                fragments=prepared.fragments,
                evaluator=evaluator,
                tools=prepared.tools,
                hooks=self.hooks,
                audience=audience,
                beside=trio.to_thread.run_sync,
            )
        raise AssertionError("an evaluator swallows nothing")

    async def evaluate(self, prepared: Prepared, body: str) -> ScriptOutcome:
        """Run the body of a script block as it would be run in this prompt."""
        context = await self.hooks.before_context(prepared.context)
        data = script_context(with_tools(context, prepared.tools, prepared.config.value))
        async with script_evaluator(self._runtime, prepared.fragments) as evaluator:
            return await evaluator.evaluate(body, data)
        raise AssertionError("an evaluator swallows nothing")

    async def compile_space_agent(self, agent: str, presentation: str | None = None) -> CompiledContext:
        """What the model of one of Space's own agents is to read now, in its own presentation or in another.

        Raises as `prepare` and `compile`.
        """
        if agent not in self._agents.agents.value.views:
            await self._agents.ask(ReadAgents())
        prepared = await self._prepare_space_agent(self._living_engine(agent, presentation))
        return await self.compile(prepared, Audience.MODEL, script_seconds=CONNECTING_SCRIPT_SECONDS)
