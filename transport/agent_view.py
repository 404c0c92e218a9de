"""The tools as one agent sees them, for the REST routes: whose eyes `?agent=` asks for, and each tool's state in them.

Owns the words that an agent's view adds to an explanation. Decides nothing: the projection does. Holds no state.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from quart import request

from actors.agents import ReadAgents
from actors.context import ReadPresets
from actors.programs import RUN_CODE_OWNER
from actors.space import Space
from presets.definition import Risk
from presets.explain import Explanation, ToolState
from presets.presentation import RUN_CODE_NAME
from presets.projection import AgentTools, Hidden, RouteThroughProgram
from presets.tool_labels import ToolLabels
from presets.view_model import OTHER_GROUP
from protocol.session import Audience

PROGRAM = "program"
"""The state of a tool that is the agent's, and that only a program may call. The others are those of `ToolState`."""


@dataclass(frozen=True, slots=True)
class AgentEyes:
    """One agent's view at one moment. `groups` is the group of every preset, by the preset's name."""

    agent: str
    tools: AgentTools
    groups: Mapping[str, str]

    def row(self, explanation: Explanation) -> dict[str, Any]:
        """The explanation as JSON, with what the agent's scopes and its presentation change of it."""
        return {**explanation.to_json(), **self._changes(explanation), "agent": self.agent}

    def run_code_row(self) -> dict[str, Any] | None:
        """The row of `space_run_code`, which is in no registry; None where this agent does not have it."""
        if not self.tools.mode.runs_programs:
            return None
        shown = Explanation(
            tool=RUN_CODE_NAME,
            state=ToolState.SHOWN,
            reason=f"Tool {RUN_CODE_NAME!r} is offered: {self._presentation()}.",
            mcp_name=RUN_CODE_NAME,
            owners=(RUN_CODE_OWNER,),
        )
        return {**shown.to_json(), "agent": self.agent}

    def no_run_code(self) -> str:
        """Why this agent does not have `space_run_code`, for a person; a model never hears of it."""
        return (
            f"There is no tool {RUN_CODE_NAME!r} here: {self._presentation()}. "
            "Agents that present 'code' or 'both' have it, such as 'code'."
        )

    def _presentation(self) -> str:
        return (
            f"presentation {self.tools.mode.value!r} of agent {self.agent!r} is chosen by {self.tools.view.mode_source}"
        )

    def _changes(self, explanation: Explanation) -> dict[str, Any]:
        name = explanation.mcp_name
        if name is None or explanation.state in (ToolState.UNKNOWN, ToolState.COLLIDING):
            return {}
        if explanation.state is not ToolState.SHOWN:
            objection = self._objection(name, explanation)
            # What the user could do would not be enough, so it is no remedy any more.
            return {} if objection is None else {"reason": f"{explanation.reason} {objection}", "remedy": None}
        match self.tools.decide_call(name):
            case RouteThroughProgram(text=text):
                return {"state": PROGRAM, "reason": text}
            case Hidden(reason=reason):
                return {"state": ToolState.HIDDEN.value, "reason": reason}
            case _:
                return {}

    def _objection(self, name: str, explanation: Explanation) -> str | None:
        """Which scope would hide the tool once it is offered."""
        preset = explanation.preset
        group = None if preset is None else self.groups.get(preset)
        labels = ToolLabels(preset, group, explanation.risk or Risk.NORMAL)
        for one in reversed(self.tools.view.filters):
            if not one.admits(name, labels):
                return f"It would still be hidden by {one.origin}: {one.objection(name, labels)}."
        return None


async def audience_named(space: Space, agent_id: str) -> Audience:
    """The audience of that agent, as its folder says now. Raises `UnknownAgentError` and `UnusableAgentError`."""
    await space.agents.ask(ReadAgents())
    agents = space.agents.agents.value
    audience = Audience(agents.canonical(agent_id))
    agents.view(audience.agent)
    return audience


async def asked_eyes(space: Space) -> AgentEyes | None:
    """The view of the agent that the request names with `?agent=`; None where it names none. Raises as above."""
    agent_id = request.args.get("agent")
    if not agent_id:
        return None
    audience = await audience_named(space, agent_id)
    presets = await space.context.ask(ReadPresets())
    groups = {row.name: row.group for row in presets.rows if row.group != OTHER_GROUP}
    return AgentEyes(audience.agent, space.tools.of(audience), groups)
