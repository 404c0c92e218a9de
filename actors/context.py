"""The context actor: sole owner of the live context and the overrides, and the one door through which they change.

You read what you wrote: when a change returns, the tool list already shows it; or the error says why it does not, and
the previous list stands whole. Each step works on a candidate, which becomes state only when all below have taken it.
Published: the context with what is active in it, and what the last changes did. Source: agent-presets, "PresetManager".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from types import MappingProxyType
from typing import ClassVar

import structlog
from pydantic import ValidationError

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.agents import AgentsActor, FollowCapabilities
from actors.errors import ActorError
from actors.mcp_sync import McpSyncActor, Sync
from actors.published import Published
from actors.resolution import (
    CapabilityEdit,
    ChangeOverride,
    Edit,
    Explain,
    ExplainAll,
    Resolution,
    ResolutionActor,
    Resolve,
    Resolved,
    Settle,
    ViewPresets,
)
from actors.world import Execute, WorldActor
from engine.commands import RememberContext, SwitchWorld
from engine.engine import EngineFacts
from engine.errors import EngineError, InvalidArgumentError
from presets.context import ContextSnapshot, FactValue
from presets.context_change import ContextChange, ContextMoment, change_between
from presets.definition import OverrideState
from presets.explain import Explanation
from presets.overrides import Overrides
from presets.surface import coherent
from presets.view_model import PresetView

_log = structlog.stdlib.get_logger("presets")


@dataclass(frozen=True, slots=True)
class ContextView:
    """The live context, the overrides, and what is active under both."""

    context: ContextSnapshot
    overrides: Overrides
    resolution: Resolution
    change_count: int = 0
    """How often what is active, or an override, has really changed."""


@dataclass(frozen=True, slots=True)
class SetContext(Message[ContextView]):
    """Replace the whole context. Facts of the engine (`world_id`) and of units that are left out stay as they are."""

    context: Mapping[str, FactValue | None]


@dataclass(frozen=True, slots=True)
class PatchContext(Message[ContextView]):
    """Change some facts; None takes one away."""

    changes: Mapping[str, FactValue | None]


@dataclass(frozen=True, slots=True)
class SetOverride(Message[ContextView]):
    """Force a preset on or off, or let it follow the context again."""

    name: str
    state: OverrideState | str


@dataclass(frozen=True, slots=True)
class ResetOverrides(Message[ContextView]):
    """Let every preset follow the context again."""


@dataclass(frozen=True, slots=True)
class EditCapabilities(Message[ContextView]):
    """Change which presets and adapters exist, whole or not at all, and facts of whoever brings them along.

    None takes a fact away. Such facts outlast a `SetContext` that leaves them out.
    """

    edit: CapabilityEdit
    facts: Mapping[str, FactValue | None] = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class FollowEngine(Message[ContextView]):
    """Take over facts of the engine. Older ones than those already known are ignored.

    The engine has done already what they tell, so they cannot be refused: where the tool list cannot follow them (tools
    collide), it stands as it was and the log says why, until a change lets it follow.
    """

    facts: EngineFacts


@dataclass(frozen=True, slots=True)
class ExplainTool(Message[Explanation]):
    """Why is this tool, by MCP name or tool id, offered or not?"""

    tool: str
    owners: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ExplainAllTools(Message[tuple[Explanation, ...]]):
    """Every known tool, with its explanation."""

    owners: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReadPresets(Message[PresetView]):
    """Every preset as a row."""


@dataclass(frozen=True, slots=True)
class ContextState:
    """What the actor owns."""

    view: ContextView
    shown: Resolved = field(default_factory=lambda: Resolved(Resolution(), ()))
    """What the catalog shows."""
    facts_serial: int = -1
    lasting: frozenset[str] = frozenset()
    """Facts that came with capabilities, by name."""


REMEMBERED = ("surface", "activity", "canvas_visible")
"""What of the context comes back after a restart."""

KEPT_CHANGES = 20
"""Changes that are told about: what a person remembers having done, and no archive."""


class ContextActor(Actor[ContextState]):
    """Owns context and overrides. Asks resolution, sync, agents and world."""

    name: ClassVar[str] = "context"
    rank: ClassVar[int] = ranks.CONTEXT

    def __init__(
        self,
        context: ContextSnapshot,
        resolution: ResolutionActor,
        sync: McpSyncActor,
        agents: AgentsActor,
        world: WorldActor,
        now: Callable[[], datetime],
    ) -> None:
        view = ContextView(context, Overrides(), Resolution())
        super().__init__(ContextState(view))
        self._resolution = resolution
        self._sync = sync
        self._agents = agents
        self._world = world
        self._now = now
        self.view: Published[ContextView] = Published(view)
        self.changes: Published[tuple[ContextChange, ...]] = Published(())
        """What the last `KEPT_CHANGES` changes did, the newest first. What the engine began with is no change."""
        self.edits: Published[int] = Published(0)
        """How often it has changed which presets and adapters exist, offered or not."""

    @handles(SetContext)
    async def _set_context(self, message: SetContext) -> ContextView:
        current = self.state.view.context
        lasting = {name: value for name, value in current.facts().items() if name in self.state.lasting}
        kept = {"world_id": current.world_id, "selection_kind": current.selection_kind, **lasting}
        return await self._move_to(_snapshot({**kept, **message.context}))

    @handles(PatchContext)
    async def _patch_context(self, message: PatchContext) -> ContextView:
        facts = self.state.view.context.model_dump()
        return await self._move_to(_snapshot({**facts, **coherent(message.changes)}))

    @handles(FollowEngine)
    async def _follow_engine(self, message: FollowEngine) -> ContextView:
        return await self._follow(message.facts)

    @handles(SetOverride)
    async def _set_override(self, message: SetOverride) -> ContextView:
        overrides = await self._resolution.ask(ChangeOverride(self.state.view.overrides, message.name, message.state))
        return await self._show(replace(self.state.view, overrides=overrides))

    @handles(ResetOverrides)
    async def _reset_overrides(self, message: ResetOverrides) -> ContextView:
        return await self._show(replace(self.state.view, overrides=self.state.view.overrides.cleared()))

    @handles(EditCapabilities)
    async def _edit(self, message: EditCapabilities) -> ContextView:
        view, facts = self.state.view, message.facts
        if facts:
            view = replace(view, context=_snapshot({**view.context.model_dump(), **facts}))
        resolved = await self._resolution.ask(Edit(message.edit, view.context, view.overrides))
        try:
            await self._sync.ask(_sync(resolved))
        except BaseException:
            await self._resolution.ask(Settle(keep=False))
            raise
        await self._resolution.ask(Settle(keep=True))
        await self._agents.ask(FollowCapabilities())
        gone = {name for name, value in facts.items() if value is None}
        self.state = replace(self.state, lasting=(self.state.lasting | facts.keys()) - gone)
        shown = self._become(view, resolved)
        self.edits.publish(self.edits.value + 1)
        return shown

    @handles(ExplainTool)
    async def _explain(self, message: ExplainTool) -> Explanation:
        view = self.state.view
        return await self._resolution.ask(Explain(message.tool, view.context, view.resolution, message.owners))

    @handles(ExplainAllTools)
    async def _explain_all(self, message: ExplainAllTools) -> tuple[Explanation, ...]:
        view = self.state.view
        return await self._resolution.ask(ExplainAll(view.context, view.resolution, message.owners))

    @handles(ReadPresets)
    async def _read_presets(self, message: ReadPresets) -> PresetView:
        return await self._resolution.ask(ViewPresets(self.state.view.resolution))

    async def _move_to(self, wanted: ContextSnapshot) -> ContextView:
        """Go to a context that a user asked for: the engine switches its world along, and remembers the place."""
        view = self.state.view
        if wanted == view.context:
            return view
        before = view.context
        if wanted.world_id is None:
            raise InvalidArgumentError("world_id cannot be taken away: one world is always active")
        switches = wanted.world_id != before.world_id
        if switches:
            done = await self._world.ask(Execute(SwitchWorld(wanted.world_id)))
            wanted = wanted.patched({"selection_kind": done.facts.selection_kind})
            self.state = replace(self.state, facts_serial=done.facts.serial)
        try:
            wanted = await self._remember(before, wanted)
            shown = await self._show(replace(view, context=wanted))
        except BaseException:
            await self._go_back(wanted, before)
            raise
        return await self._follow(self._world.facts.value) if switches else shown

    async def _go_back(self, left: ContextSnapshot, before: ContextSnapshot) -> None:
        """Let the engine be where it was. The asker hears why the move failed, the log what could not be undone."""
        try:
            await self._remember(left, before)
            if left.world_id != before.world_id and before.world_id is not None:
                await self._world.ask(Execute(SwitchWorld(before.world_id)))
        except (EngineError, ActorError) as error:
            _log.error("going_back_failed", reason=str(error), world=left.world_id, wanted=before.world_id)

    async def _follow(self, facts: EngineFacts) -> ContextView:
        """Take over these facts, and then those that became true meanwhile, whose bringers saw no need to tell."""
        while facts.serial > self.state.facts_serial:
            latest = self._world.facts.value
            facts = latest if latest.serial > facts.serial else facts
            view = self.state.view
            context = view.context.patched({"world_id": facts.world_id, "selection_kind": facts.selection_kind})
            try:
                await self._show(replace(view, context=context))
            except EngineError as error:
                _log.warning("tool_list_held_back", reason=str(error))
                self._become(replace(view, context=context), replace(self.state.shown, resolution=view.resolution))
            self.state = replace(self.state, facts_serial=facts.serial)
            facts = self._world.facts.value
        return self.state.view

    async def _remember(self, before: ContextSnapshot, after: ContextSnapshot) -> ContextSnapshot:
        """Let the engine keep where the user goes. Gives the context with what is selected there."""
        if all(getattr(before, field) == getattr(after, field) for field in REMEMBERED):
            return after
        done = await self._world.ask(Execute(RememberContext(after.surface, after.activity, after.canvas_visible)))
        if after.selection_kind != before.selection_kind:
            return after
        return after.patched({"selection_kind": done.facts.selection_kind})

    async def _show(self, candidate: ContextView) -> ContextView:
        """Let the tool list show the candidate, then make it the state. Raises with everything as it was."""
        resolved = await self._resolution.ask(Resolve(candidate.context, candidate.overrides))
        if _sync(resolved) != _sync(self.state.shown):
            await self._sync.ask(_sync(resolved))
        return self._become(candidate, resolved)

    def _become(self, candidate: ContextView, resolved: Resolved) -> ContextView:
        old = self.state.view
        changed = resolved.resolution.signature != old.resolution.signature
        view = replace(candidate, resolution=resolved.resolution, change_count=old.change_count + changed)
        before = self.state
        self.state = replace(self.state, view=view, shown=resolved)
        self._note_change(before)
        if changed or view.context != old.context:
            self.view.publish(view)
        return view

    def _note_change(self, before: ContextState) -> None:
        if self.edits.value == 0:
            return  # What Space comes with is being registered.
        change = change_between(_moment(before), _moment(self.state), self._now().timestamp())
        if not change.changes_nothing:
            self.changes.publish((change, *self.changes.value[: KEPT_CHANGES - 1]))


def _moment(state: ContextState) -> ContextMoment:
    view = state.view
    return ContextMoment(
        view.context,
        view.overrides,
        tuple(preset.name for preset in view.resolution.active_presets),
        tuple(definition.name for definition in state.shown.definitions),
    )


def _sync(resolved: Resolved) -> Sync:
    """What the catalog is to show."""
    return Sync(resolved.definitions, resolved.resources, resolved.prompts)


def _snapshot(facts: Mapping[str, FactValue | None]) -> ContextSnapshot:
    try:
        return ContextSnapshot.model_validate(dict(facts))
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'context'}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors(include_url=False)
        )
        raise InvalidArgumentError(f"the context is not valid: {faults}") from None
