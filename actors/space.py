"""The running engine: which actors there are, how they are wired, in which order they start and end.

Owns the composition alone. The web server is not part of it: it is given a `Space` and may crash without it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex

import structlog
import trio

from actors.agent_offers import AgentOffers
from actors.agent_tools import AgentToolLists
from actors.agents import AgentOptions, AgentsActor, LookAtFolders
from actors.announcer import Announcer
from actors.app import RunningApp
from actors.block_prompts import BlockPrompts
from actors.blocks import BlocksActor, OwnBlocksActor
from actors.call_log import CallLog
from actors.calls import Calls
from actors.catalog import CatalogActor, owners_of
from actors.configured_models import ConfiguredModels
from actors.context import ContextActor, EditCapabilities, ExplainTool
from actors.errors import ActorError, ActorStoppedError
from actors.generation import Generation
from actors.listeners import CloseListeners, ListenersActor
from actors.mcp_sync import McpSyncActor
from actors.programs import Programs
from actors.providers import ProvidersActor
from actors.proxy_units import ProxyUnits
from actors.published import Changing
from actors.python_units import PythonUnits
from actors.readings import RunningReadings
from actors.renderer import find_renderer
from actors.resolution import CapabilityEdit, ReadKnown, ResolutionActor
from actors.resource_changes import ResourceChanges
from actors.run_prompt import RunPrompts
from actors.sessions import CloseStreams, CountSessions, SessionsActor
from actors.space_agent_blocks import LivingEngine
from actors.stream import StreamActor
from actors.supervisor import Supervisor
from actors.tasks import PRUNE_SECONDS, PruneTasks, TasksActor
from actors.tool_finder import ToolFinder
from actors.unit_kind import UnitKind
from actors.unit_workshop import UnitOptions, UnitWorkshop
from actors.units import UnitsActor
from actors.versions import Versions
from actors.watching import Watching
from actors.world import CommitStore, WorldActor
from actors.world_library import WorldLibrary
from blocks.story_agents.roster import story_agents
from engine.engine import Engine
from engine.errors import EngineError
from presets.adapters import MCP_NAME_PREFIX
from presets.builtins import drawing, general, graph, scene, units
from presets.builtins.general_resources import PROGRAM_URI
from presets.context import ContextSnapshot
from presets.moment import Moment
from presets.presentation import RESERVED_NAMES
from presets.surface import SCENE
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.session import SESSION_TTL_SECONDS, Audience
from protocol.tool_registry import ToolRegistry
from protocol.uri_template import UriTemplate

CUT_OFF_SECONDS = 1.0
"""How long the end of the engine waits for calls that it has cancelled. They end within milliseconds, but for those of
which a thread has hold."""

ENGINE_ID_BYTES = 6
"""Of what tells this process from those before it: clients must not take its numbers for theirs."""

UNITS_FOLDER = "units"
"""Below the data folder: a folder for each unit of the user's own."""

_log = structlog.stdlib.get_logger("space")


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceOptions:
    """What a running engine can be told."""

    workspace: Path
    session_ttl_seconds: float = SESSION_TTL_SECONDS
    limits: Limits = DEFAULT_LIMITS
    agents: AgentOptions = field(default_factory=AgentOptions)
    data: Path | None = None
    """Where what is no world lies as files: stories, block configurations, units. None for an engine without any."""
    unit_roots: tuple[Path, ...] = ()
    """Folders of units beside the one in the data folder, and units."""
    ask_before_destroying: bool = True
    """Whether a call that may destroy something asks the user first, where the client can ask."""
    tool_prefix: str | None = MCP_NAME_PREFIX
    """What the names of all tools begin with; None lets any name be, in a deployment that shares its server with none.
    """

    @property
    def units(self) -> UnitOptions | None:
        """Where units lie; None for an engine without a data folder, which has none."""
        if self.data is None:
            return None
        return UnitOptions(home=self.data, roots=(self.data / UNITS_FOLDER, *self.unit_roots))


def built_in_capabilities() -> CapabilityEdit:
    """The presets and adapters that Space brings along, in their order."""
    groups = (drawing, graph, scene, general, units)
    return CapabilityEdit(
        add_adapters=tuple(adapter for group in groups for adapter in group.adapters()),
        add_presets=tuple(preset for group in groups for preset in group.presets()),
        add_resource_adapters=general.resources(),
        add_prompt_adapters=general.prompts(),
    )


class Space:
    """One running engine. `run` starts it; when that has reported, every public part answers."""

    def __init__(self, engine: Engine, store: CommitStore, options: SpaceOptions) -> None:
        self.options = options
        self.app = RunningApp(options.workspace, options.data, options.unit_roots)
        self.world = WorldActor(engine, store)
        self.library = WorldLibrary(self.app, self.world)
        self.sessions = SessionsActor(ttl_seconds=options.session_ttl_seconds, limits=options.limits)
        self.stream = StreamActor(self.sessions)
        self.catalog = CatalogActor(ToolRegistry(options.tool_prefix, reserved=RESERVED_NAMES))
        self.mcp_sync = McpSyncActor(self.catalog)
        self.resolution = ResolutionActor(
            self.app, tool_prefix=options.tool_prefix, ask_before_destroying=options.ask_before_destroying
        )
        program_uri = UriTemplate.parse(PROGRAM_URI)
        self.programs = Programs(
            self.world, on_ended=lambda program_id: self.app.touch(program_uri.fill({"id": program_id}))
        )
        self.tool_finder = ToolFinder(self.programs.sdk_of)
        self.blocks = BlocksActor(options.data, lambda: engine.now)
        self.own_blocks = OwnBlocksActor(options.data, lambda: engine.now)
        self.agents = AgentsActor(self.resolution, options.agents, self.programs, self.own_blocks)
        self.tools = AgentToolLists(
            self.catalog.tools, self.agents.agents, self.programs.run_code_entry, self.tool_finder.pair
        )
        self.programs.connect(self.tools, self._why_not_offered, self._known_tools)
        self.tool_finder.connect(self.tools, self._why_not_offered)
        self.offers = AgentOffers(self.tools, self.catalog.resources, self.catalog.prompts)
        settings, facts = engine.settings, engine.facts()
        context = ContextSnapshot(
            surface=settings.surface,
            activity=settings.activity,
            canvas_visible=settings.canvas_visible,
            world_id=facts.world_id,
            selection_kind=facts.selection_kind,
        )
        self.context = ContextActor(
            context, self.resolution, self.mcp_sync, self.agents, self.world, lambda: engine.now
        )
        self.changes = ResourceChanges(
            self.offers,
            self._moment,
            (
                self.context.view,
                self.context.edits,
                self.world.status,
                self.agents.agents,
                self.catalog.resources,
            ),
            options.limits.subscriptions,
        )
        self.listeners = ListenersActor(options.limits)
        self.tasks = TasksActor(self.listeners, options.limits)
        self._announcer = Announcer(self.catalog, self.agents, self.offers, self.sessions, self.listeners)
        self.watching = Watching(self.changes, self.sessions, self.listeners)
        self.call_log = CallLog()
        self.calls = Calls(self.sessions, self.tasks, self.tools, self.call_log)
        self.providers = ProvidersActor.in_folder(options.data)
        models = ConfiguredModels(self.providers.providers)
        self.block_prompts = BlockPrompts(
            self.blocks,
            self.own_blocks,
            self.agents,
            self.programs.runtime,
            self._living_engine,
            story_agents(),
            model_of=models.id_of,
        )
        self.generation = Generation(self.blocks, RunPrompts(self.blocks, self.block_prompts, models), options.data)
        self.units_actor = UnitsActor(self.context, self.resolution, self.block_prompts.hooks)
        self.python_units = PythonUnits()
        kinds: tuple[UnitKind, ...] = (self.python_units, ProxyUnits(self.units_actor, self.app.process_groups))
        self.units = UnitWorkshop(options.units, self.units_actor, self.app, kinds)
        self.versions = Versions(token_hex(ENGINE_ID_BYTES), self._topics())
        self.readings = RunningReadings(self, self.app.render_svg)
        self.app.connect(self)
        self.supervisor = Supervisor(
            [
                self.units_actor,
                self.context,
                self.agents,
                self.resolution,
                self.mcp_sync,
                self.catalog,
                self.stream,
                self.tasks,
                self.listeners,
                self.sessions,
                self.blocks,
                self.own_blocks,
                self.world,
                self.providers,
            ]
        )

    async def run(
        self,
        capabilities: Sequence[CapabilityEdit] | None = None,
        *,
        task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
    ) -> None:
        """Start every actor, register the capabilities (the built-in ones unless told otherwise), and run until `stop`.

        An error of the start, or a crash of an actor, ends the engine and is raised here.
        """
        edits = (built_in_capabilities(),) if capabilities is None else capabilities
        async with trio.open_nursery() as nursery:
            await nursery.start(self.supervisor.run)
            await nursery.start(self.programs.run)
            await nursery.start(self.calls.run)
            await nursery.start(self.watching.run)
            await nursery.start(self.generation.run)
            for edit in edits:
                await self.context.ask(EditCapabilities(edit))
            await nursery.start(self.units.run)
            nursery.start_soon(self._announcer.run)
            nursery.start_soon(self._prune_tasks)
            nursery.start_soon(self._follow_agents)
            nursery.start_soon(self.changes.run)
            nursery.start_soon(self.versions.run)
            nursery.start_soon(self._find_renderer)
            task_status.started()
            await self.wait_ended()
            nursery.cancel_scope.cancel()

    async def drain(self, seconds: float) -> bool:
        """Take no more calls and runs, cancel the runs, let the calls in flight end within that time, then end every
        stream.

        True when all ended within that time.
        What has not ended is cancelled while the actors still answer, so that it leaves things whole: a program makes
        one step of what it has changed.
        """
        self.versions.close()
        with trio.move_on_after(seconds) as scope:
            await _both(self.calls.drain, self.generation.drain)
        with trio.move_on_after(CUT_OFF_SECONDS):
            await self.calls.cut_off()
        await self.sessions.ask(CloseStreams())
        await self.listeners.ask(CloseListeners())
        return not scope.cancelled_caught

    async def wait_ended(self) -> None:
        """Wait until every actor has ended."""
        await self.world.wait_finished()

    def stop(self) -> None:
        """Begin the ordered end of the actors, from the top down. Returns at once."""
        self.supervisor.stop()

    def _living_engine(self, agent_id: str, presentation: str | None) -> LivingEngine:
        """How things stand for an agent at this moment. Raises `UnknownAgentError` and `UnusableAgentError`."""
        agents = self.agents.agents.value
        agent = agents.roster.resolve(agents.canonical(agent_id))
        tools = self.tools.of(Audience(agent.id, presentation))
        return LivingEngine(agent, self.context.view.value, tools, self.world.status.value)

    def _topics(self) -> Mapping[str, Sequence[Changing]]:
        """What a page can show, and what has to change for it to look different."""
        offered = (self.context.view, self.context.edits, self.catalog.tools, self.agents.agents)
        return {
            "context": (self.context.view,),
            "world": (self.world.status,),
            "presets": (self.context.view, self.context.edits),
            "tools": offered,
            "agents": (self.agents.agents,),
            "sessions": (self.sessions.changes,),
            "calls": (self.call_log.changes,),
            "programs": (self.programs.log.changes,),
            "units": (self.units_actor.rows,),
            "blocks": (self.blocks.changes, self.own_blocks.changes),
        }

    def _moment(self) -> Moment:
        """How things stand for resources at this moment."""
        view, status, agents = self.context.view.value, self.world.status.value, self.agents.agents.value
        roster = agents.roster
        return Moment(
            context=view.context,
            active_world=status.active_world,
            worlds=status.worlds,
            theme=status.theme,
            resolution=view.resolution,
            edits=self.context.edits.value,
            agents={
                **{agent.id: agent for agent in roster.unusable},
                **{agent.id: (agent, agents.views.get(agent.id)) for agent in roster.agents},
            },
        )

    async def _known_tools(self) -> frozenset[str]:
        """The names of all tools that exist, offered or not."""
        registered = frozenset(entry.definition.name for entry in self.catalog.tools.value)
        try:
            return registered | frozenset((await self.resolution.ask(ReadKnown())).tools)
        except ActorError:
            return registered

    async def _why_not_offered(self, name: str) -> str:
        try:
            explanation = await self.context.ask(ExplainTool(name, owners_of(self.catalog.tools.value)))
        except ActorError as error:
            return f"Tool {name!r} is not offered; why is not known ({error})."
        return explanation.reason

    async def _find_renderer(self) -> None:
        """Find out what scenes are rendered with once somebody goes to the scene: it takes a second and a process."""
        contexts = self.context.view.subscribe()
        context = self.context.view.value.context
        while context.surface != SCENE:
            context = (await contexts.next()).context
        _log.info("renderer_found", renderer=await find_renderer())

    async def _follow_agents(self) -> None:
        """Let an agent that was edited be what its folder says for those who are connected, too."""
        said = ""
        while True:
            await trio.sleep(self.options.agents.look_seconds)
            try:
                if await self.sessions.ask(CountSessions()):
                    await self.agents.ask(LookAtFolders())
                said = ""
            except ActorStoppedError:
                return
            except (ActorError, EngineError) as error:
                if str(error) != said:
                    said = str(error)
                    _log.warning("agents_not_followed", reason=said)

    async def _prune_tasks(self) -> None:
        """Take away tasks whose time is over, also where nobody asks after any."""
        while True:
            await trio.sleep(PRUNE_SECONDS)
            try:
                await self.tasks.tell(PruneTasks())
            except ActorStoppedError:
                return
            except ActorError as error:
                _log.warning("tasks_not_pruned", reason=str(error))


async def _both(*functions: Callable[[], Awaitable[None]]) -> None:
    async with trio.open_nursery() as nursery:
        for function in functions:
            nursery.start_soon(function)
