"""What the engine answers, as far as the tables for people need it. Members that are not shown are let through.

Owns no wire format: that is the engine's; an answer that does not fit is not an engine's.
"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

Fact = str | bool | int | float | None


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Engine(_Part):
    """The process behind the URL."""

    version: str
    pid: int
    uptime_seconds: float
    data: str
    workspace: str
    url: str


class WorldName(_Part):
    """A world, as a list names it."""

    id: str
    name: str


class Worlds(_Part):
    """The worlds, and the history of the active one."""

    active: WorldName
    worlds: tuple[WorldName, ...]
    undo_count: int
    redo_count: int
    theme: str


class WorldRow(_Part):
    """A world, as `/api/worlds` shows it."""

    id: str
    name: str
    active: bool
    revision: int
    created_at: str


class WorldRows(_Part):
    """`GET /api/worlds`."""

    worlds: tuple[WorldRow, ...]


class DeletedWorld(_Part):
    """A world that can be recovered."""

    id: str
    name: str
    deleted_at: str
    recoverable_until: str


class DeletedWorlds(_Part):
    """`GET /api/worlds/deleted`."""

    worlds: tuple[DeletedWorld, ...]


class HistoryStep(_Part):
    """A step of a world's history."""

    label: str


class HistoryMove(_Part):
    """`POST /api/world/undo` and `/redo`. `stopped` says why fewer steps were gone than asked for."""

    undone: tuple[HistoryStep, ...] = ()
    redone: tuple[HistoryStep, ...] = ()
    undo_count: int
    redo_count: int
    stopped: str | None = None


class Session(_Part):
    """An MCP session."""

    id: str
    client_name: str | None = None
    client_version: str | None = None
    protocol_version: str | None = None
    created_at: Any = None
    last_seen: Any = None
    stream: Any = None
    calls: int = 0
    agent: str | None = None
    presentation: str | None = None


class ActorRow(_Part):
    """The statistics of an actor."""

    name: str
    depth: int
    capacity: int
    handled: int
    refused: int
    failed: int
    withdrawn: int
    seconds_per_message: float
    longest_seconds: float


class AgentStatus(_Part):
    """An agent, as the status shows it."""

    id: str
    usable: bool
    reason: str | None = None
    mode: str | None = None
    mode_source: str | None = None
    sessions: int = 0


class DefaultAgent(_Part):
    """The agent of clients that name none, and why they get none."""

    id: str
    problem: str | None = None


class CodeRuntime(_Part):
    """What runs programs."""

    available: bool
    reason: str | None = None
    deno_version: str | None = None
    walls: tuple[str, ...] = ()
    spares: int = 0
    leases: int = 0
    most_leases: int = 0
    leases_taken: int = 0
    kills: dict[str, int] = {}
    programs_kept: int = 0


class Status(_Part):
    """`GET /status`."""

    engine: Engine
    mcp: dict[str, Any]
    context: dict[str, Fact]
    world: Worlds
    sessions: tuple[Session, ...]
    actors: tuple[ActorRow, ...]
    default_agent: DefaultAgent | None = None
    agents: tuple[AgentStatus, ...] = ()
    code_runtime: CodeRuntime | None = None


class Facts(_Part):
    """`/api/context`: every fact is a member."""

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, Fact]  # pyright: ignore[reportIncompatibleVariableOverride]

    surface: str
    canvas_visible: bool

    def facts(self) -> dict[str, Fact]:
        """The facts by name."""
        return self.model_dump()


class Preset(_Part):
    """A row of `GET /api/presets`."""

    name: str
    group: str
    risk: str
    default_state: str
    tool_ids: tuple[str, ...]
    tool_count: int
    override_state: str
    active: bool
    active_reason: str | None


class OrphanedOverride(_Part):
    """An override whose preset is not registered at present."""

    preset: str
    state: str


class Presets(_Part):
    """`GET /api/presets`."""

    presets: tuple[Preset, ...]
    orphaned_overrides: tuple[OrphanedOverride, ...]


class Remedy(_Part):
    """What would offer a tool."""

    command: str


class Explanation(_Part):
    """Why a tool is offered, or why not."""

    tool: str
    state: str
    reason: str
    mcp_name: str | None = None
    tool_id: str | None = None
    preset: str | None = None
    risk: str | None = None
    presets: tuple[str, ...] = ()
    shown_in: tuple[dict[str, Fact], ...] = ()
    remedy: Remedy | None = None
    owners: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()


class Definition(_Part):
    """A tool as MCP clients see it."""

    description: str | None = None


class ExplainedTool(Explanation):
    """`GET /api/tools/{name}`."""

    definition: Definition | None = None


class Tools(_Part):
    """`GET /api/tools`."""

    revision: int
    tools: tuple[Explanation, ...]


class Content(_Part):
    """A content block of a tool's result."""

    type: str
    text: str = ""
    data: str = ""
    mimeType: str = ""  # noqa: N815 - MCP's spelling


class CallResult(_Part):
    """`POST /api/tools/{name}/call`."""

    content: tuple[Content, ...]
    structured_content: dict[str, Any] | None
    is_error: bool


class UnusableBecause(_Part):
    """Why an agent cannot be used."""

    file: str
    row: int | None
    reason: str


class AgentRow(_Part):
    """A row of `GET /api/agents`."""

    id: str
    names: dict[str, str]
    descriptions: dict[str, str]
    trust: str
    path: str
    default: bool
    usable: bool
    mode: str | None
    mode_source: str | None
    tools: tuple[str, ...]
    capability_count: int
    unusable: UnusableBecause | None


class Agents(_Part):
    """`GET /api/agents`."""

    default: str
    default_problem: str | None
    agents: tuple[AgentRow, ...]
    problems: tuple[str, ...]


class Composition(_Part):
    """The file that makes an agent."""

    text: str | None


class Agent(AgentRow):
    """`GET /api/agents/{id}`."""

    capabilities: tuple[str, ...]
    prompt_blocks: tuple[str, ...]
    composition: Composition


class ProgramRow(_Part):
    """A row of `GET /api/programs`. `seconds` is None while it runs."""

    id: str
    agent: str
    description: str
    started_at: str
    seconds: float | None
    failure: str | None
    call_count: int
    steps: int


class Programs(_Part):
    """`GET /api/programs`."""

    programs: tuple[ProgramRow, ...]


class ProgramCall(_Part):
    """A call that a program made."""

    tool: str
    arguments: str
    started: float
    seconds: float | None
    error: str | None


class Program(ProgramRow):
    """`GET /api/programs/{id}`."""

    code: str
    logs: tuple[str, ...]
    result: str | None
    calls: tuple[ProgramCall, ...]


class UnitRow(_Part):
    """A row of `GET /api/units`."""

    name: str
    folder: str
    kind: str
    state: str
    version: int
    title: str | None = None
    description: str = ""
    problem: str | None = None
    report: str | None = None
    tools: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()


class Units(_Part):
    """`GET /api/units`. New units are made in the first of the folders."""

    units: tuple[UnitRow, ...]
    folders: tuple[str, ...] = ()


class UnitFile(_Part):
    """A file of a unit."""

    path: str
    size_bytes: int


class Unit(UnitRow):
    """`GET /api/units/{name}`."""

    files: tuple[UnitFile, ...]
    snapshots: tuple[str, ...]
    state_keys: tuple[str, ...]


class FailedUnitTest(_Part):
    """A test of a unit that failed."""

    test: str
    where: str
    message: str
    traceback: str


class UnitTests(_Part):
    """`POST /api/units/{name}/test`."""

    passed: bool
    ending: str
    found: int
    passed_count: int
    failed_count: int
    skipped_count: int
    failed: tuple[FailedUnitTest, ...]
    seconds: float
    running: str | None
    problem: str | None
    output: str


class UnitLogLine(_Part):
    """A line of a unit's log."""

    line: int
    text: str


class UnitLog(_Part):
    """`GET /api/units/{name}/log`."""

    lines: tuple[UnitLogLine, ...]
    total: int


class CallRow(_Part):
    """A row of `GET /api/calls`. `seconds` is None while it runs; `started_at` is in epoch seconds."""

    id: int
    version: int
    source: str
    tool: str
    agent: str | None = None
    client: str | None = None
    started_at: float
    seconds: float | None = None
    state: str
    error: str | None = None
    arguments_preview: str = ""


class CallRows(_Part):
    """`GET /api/calls`. `engine` is another one after a restart, and the versions begin anew."""

    engine: str
    version: int
    calls: tuple[CallRow, ...]
