"""What resources and prompts read of the running engine. Owns nothing: it asks actors, and reads what they publish.

Implements `presets.readings.Readings`. Called from the tasks of requests, never from inside an actor.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Protocol

import trio

from actors.agents import Agents, AgentsActor, ReadAgents
from actors.block_prompts import BlockPrompts
from actors.context import ContextActor, ReadPresets
from actors.programs import Programs
from actors.world import WorldActor
from actors.world_keeping import TakeWorld
from blocks.hooks import HookError
from engine.engine import WorldInfo
from engine.errors import ConflictError, NotFoundError
from engine.records import Counter as IdCounter
from engine.world import WorldContent
from presets.agents.definition import AgentDefinition, UnusableAgent
from presets.suggestions import quoted
from presets.view_model import PresetView
from protocol.session import Audience
from protocol.tool import JsonObject


class _Actors(Protocol):
    context: ContextActor
    world: WorldActor
    agents: AgentsActor
    programs: Programs
    block_prompts: BlockPrompts


class RunningReadings:
    """`Readings` over the actors."""

    def __init__(self, actors: _Actors, svg: Callable[[], Any]) -> None:
        self._actors = actors
        self._svg = svg

    async def context(self) -> JsonObject:
        """See `Readings`."""
        view = self._actors.context.view.value
        return {
            "context": view.context.facts(),
            "overrides": {name: state.value for name, state in view.overrides.items()},
            "active_presets": view.resolution.to_json()["active_presets"],
        }

    async def presets(self) -> PresetView:
        """See `Readings`."""
        return await self._actors.context.ask(ReadPresets())

    async def worlds(self) -> tuple[WorldInfo, ...]:
        """See `Readings`."""
        return self._actors.world.status.value.worlds

    async def world(self, world_id: str) -> JsonObject:
        """See `Readings`. Counting goes on in a thread: a world may have hundreds of thousands of records."""
        taken = await self._actors.world.ask(TakeWorld(world_id))
        counts = await trio.to_thread.run_sync(partial(_counted, taken.content), abandon_on_cancel=True)
        return {**world_row(taken.info), "records": counts}

    async def svg(self) -> str:
        """See `Readings`."""
        return await self._svg()

    async def agents(self) -> tuple[JsonObject, ...]:
        """See `Readings`. The folders are read anew, as for a list of agents."""
        agents = await self._actors.agents.ask(ReadAgents())
        return tuple(_agent_row(agents, agent) for agent in (*agents.roster.agents, *agents.roster.unusable))

    async def agent(self, agent_id: str) -> JsonObject:
        """See `Readings`."""
        agents = await self._actors.agents.ask(ReadAgents())
        agent = agents.roster.get(agent_id) or agents.roster.resolve(agent_id)
        row = _agent_row(agents, agent)
        if isinstance(agent, UnusableAgent):
            return row
        rows = [
            {"number": number, "row": row.KIND, **row.model_dump(mode="json", by_alias=True, exclude_defaults=True)}
            for number, row in enumerate(agent.rows, 1)
        ]
        return {**row, "prompt_blocks": list(agent.prompt_blocks), "rows": rows}

    async def programs(self, audience: Audience) -> tuple[JsonObject, ...]:
        """See `Readings`."""
        kept = self._actors.programs.log.latest()
        return tuple(record.to_json(whole=False) for record in kept if record.audience.agent == audience.agent)

    async def program(self, program_id: str, audience: Audience) -> JsonObject:
        """See `Readings`."""
        record = self._actors.programs.log.get(program_id)
        if record is None or record.audience.agent != audience.agent:
            raise NotFoundError(
                f"this agent has no program {quoted(program_id)} (any more); the last ones are kept, each for its agent"
            )
        return {**record.to_json(), "running": record.seconds is None}

    def has_program(self, program_id: str, audience: Audience) -> bool:
        """See `Readings`."""
        record = self._actors.programs.log.get(program_id)
        return record is not None and record.audience.agent == audience.agent

    async def agent_prompt(self, audience: Audience) -> tuple[tuple[str, str], ...]:
        """See `Readings`."""
        try:
            compiled = await self._actors.block_prompts.compile_space_agent(audience.agent, audience.presentation)
        except HookError as error:
            raise ConflictError(f"the prompt of agent {audience.agent!r} cannot be made: {error}") from error
        return tuple((message.role, message.content) for message in compiled.messages)


def world_row(world: WorldInfo) -> dict[str, Any]:
    """A world as plain JSON values."""
    return {
        "id": world.id,
        "name": world.name,
        "active": world.active,
        "revision": world.revision,
        "created_at": world.created_at.isoformat(),
    }


def _counted(content: WorldContent) -> Mapping[str, int]:
    """How many records there are of each kind, less those that only count ids."""
    counts = Counter(record.collection for record in content.records if not isinstance(record, IdCounter))
    return dict(sorted(counts.items()))


def _agent_row(agents: Agents, agent: AgentDefinition | UnusableAgent) -> dict[str, Any]:
    row: dict[str, Any] = {
        "id": agent.id,
        "trust": agent.trust.value,
        "usable": isinstance(agent, AgentDefinition),
        "default": agent.id == agents.canonical(""),
    }
    if isinstance(agent, UnusableAgent):
        return {**row, "unusable_because": agent.reason}
    view = agents.views[agent.id]
    return {
        **row,
        "name": agent.name(),
        "description": agent.description(),
        "presentation": view.mode.value,
        "presentation_chosen_by": view.mode_source,
        "risk_ceiling": None if view.ceiling is None else view.ceiling.value,
    }
