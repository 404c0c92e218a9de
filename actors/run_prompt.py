"""From an order to the prompt that its agent's model gets. Owns what each agent is told of the order, and the model.

The same story state, blocks, scripts and hooks as a preview; what there is a stand-in is here what was asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial

from actors.block_prompts import BlockPrompts, Prepared
from actors.blocks import BlocksActor, UseBlocks
from actors.configured_models import ConfiguredModels
from actors.run_order import ANALYZE, PREWRITER, WRITER, RunOrder
from actors.story_tools import StoryTools
from blocks.apply import Audience
from blocks.block import ContextBlock
from blocks.compile_agent_context import CompiledContext, default_blocks
from blocks.config import AgentBlockConfig
from blocks.context import AgentBlockContext, NewProse
from blocks.fragment import Fragment, FragmentList
from blocks.model_resolution import ResolvedModel
from blocks.store.block_store import BlockStore, StorySnapshot
from blocks.store.documents import Versioned
from blocks.store.story_files import StoryPlace
from blocks.story_state import story_context
from engine.errors import ConflictError, NotFoundError

PLANNING_KEY, PLANNING = "generationMode", "prewriter"
"""The setting of a story with which a planner goes before the writer."""

_WORKS_ON: Mapping[str, str] = {
    WRITER: "prose",
    ANALYZE: "prose",
    "librarian.optimize-character": "character",
    "character-chat.chat": "character",
}
"""Of which type the fragment of an order is, for agents that work on one type alone."""

_NOT_FOR_THE_PLANNER = frozenset({"instructions", "tools", "author-input"})
"""Blocks of the writer that a planner must not take for its own."""


@dataclass(frozen=True, slots=True)
class RunPrompt:
    """A prompt, and the model that gets it."""

    model: ResolvedModel
    compiled: CompiledContext


@dataclass(frozen=True, slots=True)
class OrderedStory:
    """The story as it was when the order came, and the fragment that the order names. `order` names the branch."""

    order: RunOrder
    snapshot: StorySnapshot
    fragment: Fragment | None
    now: str

    @property
    def planned(self) -> bool:
        """Whether a planner goes before the writer."""
        return self.order.agent == WRITER and self.snapshot.story.settings.get(PLANNING_KEY) == PLANNING


class RunPrompts:
    """Makes the prompts of runs. Holds no state."""

    def __init__(self, blocks: BlocksActor, prompts: BlockPrompts, models: ConfiguredModels) -> None:
        self._blocks = blocks
        self._prompts = prompts
        self.models = models

    async def read(self, order: RunOrder) -> OrderedStory:
        """Read the story of an order, which then is for a certain branch.

        Raises `NotFoundError` for the story, its branch, the agent and the fragment, and `ConflictError` for a fragment
        that the agent does not work on.
        """
        # The story is asked after first, and then the agent: so is it everywhere.
        read = await self._blocks.ask(UseBlocks(partial(_pinned, order)))
        self._prompts.story_agents.require(order.agent)
        order, snapshot = read.result
        fragment = None
        if order.fragment_id is not None:
            fragment = next((one for one in snapshot.fragments if one.id == order.fragment_id), None)
            if fragment is None:
                raise NotFoundError(
                    f"there is no fragment {order.fragment_id[:80]!r} in this branch of story {order.place.story!r}"
                )
        if fragment is not None:
            _check_fragment(order.agent, fragment)
        return OrderedStory(order, snapshot, fragment, datetime.now(UTC).isoformat(timespec="minutes"))

    async def prompt(self, story: OrderedStory, *, brief: str | None = None) -> RunPrompt:
        """The prompt of the order's agent; of a writer with a `brief` where a planner has left one.

        Raises `NoModelError`, `ConflictError` for a provider without a model, and `HookError`.
        """
        order = story.order
        if order.agent == PREWRITER:
            return await self.planner_prompt(story)
        model = self._model(story, order.agent)
        context = replace(self._context(story, model), writing_brief=brief)
        return RunPrompt(model, await self._compile(story, order.agent, context, story.snapshot.config))

    async def planner_prompt(self, story: OrderedStory) -> RunPrompt:
        """The prompt of the planner: what the writer would be shown, without what the writer is told to do.

        Raises as `prompt`.
        """
        model = self._model(story, PREWRITER)
        context = self._context(story, model)
        writer = self._prompts.story_agents.require(WRITER)
        material = [block for block in default_blocks(writer, context, ()) if block.id not in _NOT_FOR_THE_PLANNER]
        place = story.order.place

        def config(store: BlockStore) -> Versioned[AgentBlockConfig]:
            return store.configs.read(place, PREWRITER)

        kept = await self._blocks.ask(UseBlocks(config))
        context = replace(context, full_context="\n\n".join(map(_content, material)))
        return RunPrompt(model, await self._compile(story, PREWRITER, context, kept.result))

    def _model(self, story: OrderedStory, agent: str) -> ResolvedModel:
        model = self.models.of(agent, story.snapshot.story.settings)
        if not model.model_id:
            raise ConflictError(
                f"no model for {agent!r}: provider {model.provider_id!r} has no `defaultModel`, and the story's "
                "`modelOverrides` name none. Set one of them; `POST /api/providers/…/test` lists what there is"
            )
        return model

    async def _compile(
        self, story: OrderedStory, agent: str, context: AgentBlockContext, config: Versioned[AgentBlockConfig]
    ) -> CompiledContext:
        definition = self._prompts.story_agents.require(agent)
        tools = StoryTools.that_there_are(definition.available_tools)
        fragments = FragmentList(story.snapshot.fragments)
        return await self._prompts.compile(Prepared(definition, context, tools, fragments, config), Audience.MODEL)

    def _context(self, story: OrderedStory, model: ResolvedModel) -> AgentBlockContext:
        """What the agent is told. A piece of prose that is written anew is made from what stands before it."""
        order, fragment, again = story.order, story.fragment, story.order.mode == "regenerate"
        context = story_context(
            story.snapshot.story,
            story.snapshot.fragments,
            author_input=order.text("input") or "",
            before=order.fragment_id if again else None,
            model_id=model.model_id,
            now=story.now,
        )
        context = replace(
            context,
            instructions=order.text("instructions") or order.text("input"),
            operation=order.text("operation"),
            guidance=order.text("guidance"),
            selected_text=order.text("selectedText"),
            source_content=order.text("sourceContent"),
            context_before=order.text("contextBefore"),
            context_after=order.text("contextAfter"),
            persona_description=order.text("personaDescription"),
        )
        if fragment is None or again:
            return context
        match order.agent:
            case "librarian.analyze":
                return replace(context, new_prose=NewProse(fragment.id, fragment.content))
            case "librarian.prose-transform":
                return replace(context, source_content=context.source_content or fragment.content)
            case "character-chat.chat":
                return replace(context, character=fragment)
            case _:
                return replace(context, target_fragment=fragment)


def _check_fragment(agent: str, fragment: Fragment) -> None:
    needed = _WORKS_ON.get(agent)
    if needed is not None and fragment.type != needed:
        raise ConflictError(
            f"{agent} works on a fragment of type {needed!r}, and {fragment.id!r} is of type {fragment.type!r}"
        )
    if fragment.archived:
        raise ConflictError(f"fragment {fragment.id!r} is in the archive, and no agent works on it; restore it first")


def _pinned(order: RunOrder, store: BlockStore) -> tuple[RunOrder, StorySnapshot]:
    """The order for the branch that is active now: a run stays on it, also when the author goes to another one."""
    branch = store.stories.folder(order.place)[-1]
    order = replace(order, place=StoryPlace(order.place.story, branch))
    return order, store.snapshot(order.place, order.agent)


def _content(block: ContextBlock) -> str:
    return block.content
