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


class Status(_Part):
    """`GET /status`."""

    engine: Engine
    mcp: dict[str, Any]
    context: dict[str, Fact]
    world: Worlds
    sessions: tuple[Session, ...]
    actors: tuple[ActorRow, ...]


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
