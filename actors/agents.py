"""The agents actor: sole owner of the roster and of the scopes of the agents.

It mounts what the folders say and publishes what each agent's scope amounts to, frozen. What an agent sees of the tools
is made from that value by `actors.agent_tools`. An agent that cannot be used is listed with its reason, and costs
nobody else anything. Source: tool-presentation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import ClassVar, Protocol, TypeVar

import structlog
import trio

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.blocks import BlocksActor, UseBlocks
from actors.published import Published
from actors.resolution import ReadKnown, ResolutionActor
from actors.roster_reader import RosterReader
from engine.errors import InvalidArgumentError
from presets.agents.definition import AgentDefinition, UnusableAgent, UnusableAgentError
from presets.agents.mounting import KnownCapabilities, mount
from presets.agents.roster import DEFAULT_AGENT, SHIPPED_ROOT, Roster
from presets.presentation import Presentation
from presets.scope import Scope
from presets.scope_view import ScopeView
from presets.tool_filters import Origin

LOOK_SECONDS = 1.0
"""So long may a session still have what its agent was before its folder was edited. A look is a handful of `stat` in a
thread, some 0.2 ms, and no call waits for it."""

ResultT = TypeVar("ResultT")

_log = structlog.stdlib.get_logger("agents")


@dataclass(frozen=True, slots=True)
class Agents:
    """Every agent at one moment. `views` are the scopes of those that are mounted, by id."""

    roster: Roster = field(default_factory=Roster)
    views: Mapping[str, ScopeView] = field(default_factory=lambda: MappingProxyType({}))
    default: str = DEFAULT_AGENT
    """The agent of a client that names none."""

    def canonical(self, agent_id: str) -> str:
        """The present id of an agent: the default for an empty one, and of a former id the one that took its place."""
        wanted = agent_id or self.default
        return wanted if wanted in self.views else self.roster.canonical(wanted)

    def view(self, agent_id: str) -> ScopeView:
        """The scope of an agent. Raises `UnusableAgentError` and `UnknownAgentError`."""
        found = self.views.get(agent_id)
        return self.views[self.roster.resolve(agent_id).id] if found is None else found


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """How the deployment sets up its agents. `presentation` holds for agents that choose none."""

    shipped_root: Path = SHIPPED_ROOT
    user_root: Path | None = None
    default: str = DEFAULT_AGENT
    presentation: Presentation = Presentation.NATIVE
    look_seconds: float = LOOK_SECONDS
    """How often the folders are looked at while somebody is connected."""


@dataclass(frozen=True, slots=True)
class FollowCapabilities(Message[Agents]):
    """What exists has changed (presets, adapters, the code runtime): mount the agents anew against it."""


@dataclass(frozen=True, slots=True)
class ReadAgents(Message[Agents]):
    """The agents as their folders say now; what changed there is mounted first."""


@dataclass(frozen=True, slots=True)
class LookAtFolders(Message[None]):
    """Mount what the folders say, where they have changed since they were read."""


class CodeRuntimeState(Protocol):
    """Who knows whether programs can be run. `Programs` does."""

    def no_runtime_because(self) -> str | None:
        """Why none can be run, or None."""
        ...

    async def look_again(self) -> None:
        """Try once more what has failed; it may work by now."""
        ...


@dataclass(slots=True)
class AgentBook:
    """What the actor owns. `scopes` are the mounted agents."""

    deployment: Scope
    roster: Roster = field(default_factory=Roster)
    scopes: dict[str, Scope] = field(default_factory=dict[str, Scope])
    known: KnownCapabilities | None = None
    no_runtime_because: str | None = None


class AgentsActor(Actor[AgentBook]):
    """Owns the roster and the agents' scopes. Asks resolution and blocks.

    `runtime` says whether programs can be run; `blocks` has what the user has taken away from an agent in its editor.
    """

    name: ClassVar[str] = "agents"
    rank: ClassVar[int] = ranks.AGENTS

    def __init__(
        self,
        resolution: ResolutionActor,
        options: AgentOptions,
        runtime: CodeRuntimeState,
        blocks: BlocksActor | None = None,
    ) -> None:
        super().__init__(AgentBook(Scope.deployment(options.presentation, self._scopes_changed)))
        self._mounting = False
        self._resolution = resolution
        self._options = options
        self._runtime = runtime
        self._blocks = blocks
        self._reader = RosterReader(options.shipped_root, options.user_root)
        self.agents: Published[Agents] = Published(Agents(default=options.default))

    @handles(FollowCapabilities)
    async def _follow(self, message: FollowCapabilities) -> Agents:
        return await self._mount(await self._read_roster())

    @handles(ReadAgents)
    async def _read(self, message: ReadAgents) -> Agents:
        roster = await self._read_roster()
        if self._runtime.no_runtime_because() is not None:
            # Nobody runs a program where none can be run, so nobody else would find out that it works again.
            await self._runtime.look_again()
        same = _sources(roster) == _sources(self.state.roster)
        runtime_same = self.state.no_runtime_because == self._runtime.no_runtime_because()
        return self.agents.value if same and runtime_same else await self._mount(roster)

    @handles(LookAtFolders)
    async def _look(self, message: LookAtFolders) -> None:
        if await self._beside(self._reader.has_changed):
            roster = await self._read_roster()
            if _sources(roster) != _sources(self.state.roster):
                await self._mount(roster)

    async def _read_roster(self) -> Roster:
        return await self._beside(self._reader.read)

    async def _beside(self, look: Callable[[], ResultT]) -> ResultT:
        """Look at the folders in a thread, one at a time: a step that is cancelled waits for its own."""
        with trio.CancelScope(shield=True):
            return await trio.to_thread.run_sync(look)
        raise AssertionError("nothing cancels that scope")

    async def _mount(self, roster: Roster) -> Agents:
        """Mount every agent that can be; the scopes of before are closed once all of the new ones stand."""
        known = await self._resolution.ask(ReadKnown())
        no_runtime = self._runtime.no_runtime_because()
        disabled = await self._disabled_tools(roster)
        scopes: dict[str, Scope] = {}

        def try_to_mount(definition: AgentDefinition) -> UnusableAgent | None:
            with ExitStack() as undo:
                scope = undo.enter_context(self.state.deployment.child("agent", definition.id))
                try:
                    mount(
                        definition,
                        scope,
                        known=known,
                        no_runtime_because=no_runtime,
                        default=self._options.presentation,
                    )
                    denied = disabled.get(definition.id, frozenset()) & frozenset(known.tools)
                    if denied:
                        undo.enter_context(scope.restrict(deny=denied, known=known.tools, by=DISABLED_TOOLS))
                except UnusableAgentError as error:
                    return error.unusable
                undo.pop_all()
            scopes[definition.id] = scope
            return None

        self._mounting = True
        try:
            try:
                checked = roster.checked(try_to_mount)
            except BaseException:
                for scope in scopes.values():
                    scope.close()
                raise
            self._report(checked)
            before = self.state.scopes
            self.state.scopes, self.state.roster = scopes, roster
            self.state.known, self.state.no_runtime_because = known, no_runtime
            for scope in before.values():
                scope.close()
        finally:
            self._mounting = False
        views = MappingProxyType({agent_id: scope.view() for agent_id, scope in scopes.items()})
        made = Agents(checked, views, self._options.default)
        self.agents.publish(made)
        return made

    def _scopes_changed(self) -> None:
        """Publish what somebody has declared in a scope while the engine runs; mounting publishes by itself."""
        if not self._mounting:
            now = self.agents.value
            views = MappingProxyType({agent_id: scope.view() for agent_id, scope in self.state.scopes.items()})
            self.agents.publish(Agents(now.roster, views, now.default))

    async def _disabled_tools(self, roster: Roster) -> Mapping[str, frozenset[str]]:
        """The tools that the user has switched off for single agents."""
        if self._blocks is None or not self._blocks.keeps_files:
            return {}
        names = tuple(agent.id for agent in roster.agents)
        read = await self._blocks.ask(UseBlocks(lambda store: {name: store.configs.read(None, name) for name in names}))
        return {name: frozenset(config.value.disabled_tools) for name, config in read.result.items()}

    def _report(self, roster: Roster) -> None:
        """Say in the log what cannot be used, once for each time that it changes."""
        said = {str(agent) for agent in self.agents.value.roster.unusable} | set(self.agents.value.roster.problems)
        for text in (*map(str, roster.unusable), *roster.problems):
            if text not in said:
                _log.warning("agent_unusable", reason=text)


DISABLED_TOOLS = "the tools switched off in its editor"
"""What hides a tool that the user has switched off for one agent, as reasons say it."""

SESSION_ORIGIN = Origin("the session", "?presentation")
"""Who chose the form of a session that asked for one."""


def presentation_of(text: str | None) -> Presentation | None:
    """The form that a client asks for, None where it asks for none. Raises `InvalidArgumentError`."""
    if text is None:
        return None
    try:
        return Presentation(text)
    except ValueError:
        known = ", ".join(Presentation)
        raise InvalidArgumentError(f"there is no presentation {text[:40]!r}; there are: {known}") from None


def _sources(roster: Roster) -> tuple[object, ...]:
    """What the folders said, before anything was mounted."""
    return (roster.agents, roster.unusable, roster.problems)
