"""What each audience sees of the tools: the catalog's list, projected through the scope of its agent.

Owns the projections made so far, each kept until the tools or the scope change, and their revisions. They are made when
somebody asks, in one synchronous step, so whoever has changed the context and lists afterwards sees the change.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import structlog

from actors.agents import SESSION_ORIGIN, Agents
from actors.published import Published
from engine.errors import EngineError
from presets.presentation import Presentation
from presets.projection import AgentTools, project, reproject
from presets.scope_view import ScopeView
from protocol.session import Audience
from protocol.tool_list import ToolEntry, ToolList

_log = structlog.stdlib.get_logger("agents")

FIRST_REVISION = 1
"""The revision of a list that an audience sees for the first time."""

RunCodeFor = Callable[[Audience, ToolList], ToolEntry]
"""Gives the tool `space_run_code` for an audience with these capabilities."""

PairFor = Callable[[Audience, ToolList], tuple[ToolEntry, ToolEntry]]
"""Gives the pair that finds and calls tools by name for an audience with these capabilities."""


class ToolsNotShownError(EngineError):
    """Raised to an audience whose tools cannot be shown because of a bug, which the log has."""


class AgentToolLists:
    """The projections of a running engine. `tools` and `agents` are what they follow."""

    def __init__(
        self,
        tools: Published[ToolList],
        agents: Published[Agents],
        run_code: RunCodeFor,
        finder: PairFor | None = None,
    ) -> None:
        self._tools = tools
        self._agents = agents
        self._run_code = run_code
        self._finder = finder
        self._made: dict[Audience, AgentTools] = {}

    def of(self, audience: Audience) -> AgentTools:
        """What that audience sees now.

        Raises `UnusableAgentError`, `UnknownAgentError` and `ToolsNotShownError`.
        """
        tools = self._tools.value
        view = self.view_of(audience)
        before = self._made.get(audience)
        if before is not None and before.registered is tools and before.view is view:
            return before

        def run_code(capabilities: ToolList) -> ToolEntry:
            return self._run_code(audience, capabilities)

        def pair(capabilities: ToolList) -> tuple[ToolEntry, ToolEntry]:
            assert self._finder is not None  # noqa: S101 - only used where there is one
            return self._finder(audience, capabilities)

        finder = None if self._finder is None else pair
        try:
            made = (
                project(tools, view, run_code, FIRST_REVISION, finder)
                if before is None
                else reproject(before, tools, view, run_code, finder)
            )
        except EngineError:
            raise
        except Exception as error:
            # The boundary of a projection: the SDK is made of what the authors of tools wrote, and one of whom nobody
            # thought must cost those who would see it, and not the engine that tells everybody of a change.
            _log.exception("tools_not_shown", agent=audience.agent)
            raise ToolsNotShownError(
                f"the tools of agent {audience.agent!r} cannot be shown: a fault of the engine; the log has the details"
            ) from error
        self._made[audience] = made
        return made

    def revision(self, audience: Audience) -> int | None:
        """The revision of what that audience sees; None where it sees nothing, as its agent cannot be used."""
        try:
            return self.of(audience).offered.revision
        except EngineError:
            return None

    def revisions(self) -> dict[Audience, int | None]:
        """The revisions of all that were asked for so far."""
        return {audience: self.revision(audience) for audience in tuple(self._made)}

    def view_of(self, audience: Audience) -> ScopeView:
        """The scope of that audience now. Raises `UnusableAgentError` and `UnknownAgentError`."""
        view = self._agents.value.view(audience.agent)
        if audience.presentation is None:
            return view
        wanted = Presentation(audience.presentation)
        if wanted is view.mode:
            return view
        made = self._made.get(audience)
        own = replace(view, mode=wanted, mode_origin=SESSION_ORIGIN)
        return made.view if made is not None and made.view == own else own
