"""What each audience is offered: its tools, and the resources and prompts that its agent's scope lets through.

Owns the projections of resources and prompts made so far and their revisions, as `AgentToolLists` does for tools. They
are made when somebody asks, in one synchronous step, so whoever has changed the context sees the change.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from actors.agent_tools import FIRST_REVISION, AgentToolLists
from actors.published import Published
from engine.errors import EngineError
from presets.item_projection import project_prompts, project_resources, prompts_look_alike, resources_look_alike
from presets.projection import AgentTools
from presets.scope_view import ScopeView
from protocol.offer import Offer
from protocol.prompt_list import PromptList
from protocol.resource_list import ResourceList
from protocol.session import Audience
from protocol.subscription import ListKind


@dataclass(frozen=True, slots=True, eq=False)
class AgentOffer:
    """All that one agent is offered at one moment. Each list has a revision of its own, which is the agent's."""

    tools: AgentTools
    resources: ResourceList
    prompts: PromptList

    @property
    def offer(self) -> Offer:
        """As the protocol takes it. What else the server can do (logging, tasks, instructions) is for others to add."""
        return Offer(tools=self.tools.offered, resources=self.resources, prompts=self.prompts, completions=True)


@dataclass(frozen=True, slots=True, eq=False)
class _Seen:
    """What an audience sees, and what that was made from."""

    view: ScopeView
    registered_resources: ResourceList
    registered_prompts: PromptList
    resources: ResourceList
    prompts: PromptList


class AgentOffers:
    """The offers of a running engine. `tools`, `resources` and `prompts` are what they follow."""

    def __init__(
        self, tools: AgentToolLists, resources: Published[ResourceList], prompts: Published[PromptList]
    ) -> None:
        self._tools = tools
        self._resources = resources
        self._prompts = prompts
        self._seen: dict[Audience, _Seen] = {}

    def of(self, audience: Audience) -> AgentOffer:
        """What that audience is offered now. Raises as `AgentToolLists.of`."""
        tools = self._tools.of(audience)
        seen = self._see(audience)
        return AgentOffer(tools, seen.resources, seen.prompts)

    def resources_of(self, audience: Audience) -> ResourceList:
        """What that audience sees of the resources now. Raises `UnusableAgentError` and `UnknownAgentError`."""
        return self._see(audience).resources

    def prompts_of(self, audience: Audience) -> PromptList:
        """What that audience sees of the prompts now. Raises `UnusableAgentError` and `UnknownAgentError`."""
        return self._see(audience).prompts

    def revisions(self) -> Mapping[Audience, Mapping[ListKind, int | None]]:
        """The revision of each list of every audience that was asked for so far; None where it sees nothing.

        A list whose revision is what it was looks as it did.
        """
        audiences = dict.fromkeys((*self._tools.revisions(), *self._seen))
        return {audience: self._revisions(audience) for audience in audiences}

    def _revisions(self, audience: Audience) -> Mapping[ListKind, int | None]:
        tools = self._tools.revision(audience)
        try:
            seen = self._see(audience)
        except EngineError:
            return {ListKind.TOOLS: tools, ListKind.RESOURCES: None, ListKind.PROMPTS: None}
        return {
            ListKind.TOOLS: tools,
            ListKind.RESOURCES: seen.resources.revision,
            ListKind.PROMPTS: seen.prompts.revision,
        }

    def _see(self, audience: Audience) -> _Seen:
        view = self._tools.view_of(audience)
        resources, prompts = self._resources.value, self._prompts.value
        before = self._seen.get(audience)
        same_view = before is not None and before.view == view
        if (
            before is not None
            and same_view
            and before.registered_resources is resources
            and before.registered_prompts is prompts
        ):
            return before
        shown_resources = project_resources(resources, view, audience, FIRST_REVISION)
        shown_prompts = project_prompts(prompts, view, audience, FIRST_REVISION)
        if before is not None:
            raised = not resources_look_alike(shown_resources, before.resources)
            revision = before.resources.revision + raised
            shown_resources = ResourceList(revision, shown_resources.resources, shown_resources.templates)
            raised = not prompts_look_alike(shown_prompts, before.prompts)
            shown_prompts = PromptList(before.prompts.revision + raised, shown_prompts.prompts)
        made = _Seen(view, resources, prompts, shown_resources, shown_prompts)
        self._seen[audience] = made
        return made
