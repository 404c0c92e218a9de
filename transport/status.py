"""What `/status` says: the engine, its endpoint, the context, the worlds, the sessions and the actors, as plain JSON.

Owns the form. Every figure comes from an actor's published value or from its answer; nothing is counted here.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from actors.actor import ActorStatistics
from actors.agents import Agents
from actors.blocks import BlocksStatus
from actors.listeners import CountListeners
from actors.sessions import ReadSessions, SessionRow
from actors.space import Space
from actors.stream import ReadStream
from actors.tasks import CountTasks
from engine.engine import WorldInfo
from engine.scene import renderer_name
from transport.agent_routes import default_problem
from transport.listener import Listener
from transport.version import VERSION


@dataclass(frozen=True, slots=True, kw_only=True)
class EndpointFacts:
    """What is known of the process and its endpoint from the start on."""

    listener: Listener
    data: Path
    workspace: Path
    force_sse: bool
    started_at: float
    """Epoch seconds."""


async def status_of(space: Space, facts: EndpointFacts) -> dict[str, Any]:
    """The whole status now."""
    sessions = await space.sessions.ask(ReadSessions())
    stream = await space.stream.ask(ReadStream())
    tools, world, view = space.catalog.status.value, space.world.status.value, space.context.view.value
    agents = space.agents.agents.value
    counters = asdict(sessions.counters)
    return {
        "engine": {
            "version": VERSION,
            "pid": os.getpid(),
            "uptime_seconds": round(time.time() - facts.started_at, 3),
            "data": str(facts.data),
            "workspace": str(facts.workspace),
            "url": f"{facts.listener.origin}/mcp",
        },
        "mcp": {
            "running": True,
            "hostname": facts.listener.host,
            "port": facts.listener.port,
            "force_sse": facts.force_sse,
            "sse_connected": stream.connected,
            "active_session_id": stream.session_id,
            "sse_connect_count": stream.connect_count,
            "sse_reconnect_count": stream.reconnect_count,
            **counters,
            "last_list_changed_at": _time(sessions.counters.last_list_changed_at),
            "tool_count": tools.tool_count,
            "tool_change_count": tools.change_count,
            "tool_namespace_prefix": tools.namespace_prefix,
            "tool_list_revision": tools.revision,
            "session_count": len(sessions.sessions),
            "listener_count": await space.listeners.ask(CountListeners()),
            "task_count": await space.tasks.ask(CountTasks()),
        },
        "context": view.context.facts(),
        "overrides": view.overrides.to_json(),
        "world": {
            "active": world_row(world.active_world),
            "worlds": [world_row(info) for info in world.worlds],
            "undo_count": world.undo_count,
            "redo_count": world.redo_count,
            "theme": world.theme,
            "scene_renderer": renderer_name(),
        },
        "default_agent": {"id": agents.default, "problem": default_problem(agents)},
        "agents": _agents(agents, sessions.sessions),
        "code_runtime": _code_runtime(space),
        "sessions": [_session(row) for row in sessions.sessions],
        "blocks": _blocks(space.own_blocks.status.value, space.blocks.status.value),
        "units": [
            {"name": row.name, "state": row.state.value, "version": row.version, "problem": row.problem}
            for row in space.units.rows()
        ],
        "calls": [asdict(call) for call in space.calls.running()],
        "actors": [_actor(figures) for figures in space.supervisor.statistics()],
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()


def world_row(info: WorldInfo) -> dict[str, Any]:
    """A world as the routes show it."""
    return {**asdict(info), "created_at": info.created_at.isoformat()}


def _session(row: SessionRow) -> dict[str, Any]:
    session = row.session
    return {
        "id": session.id,
        "client_name": session.client_name,
        "client_version": session.client_version,
        "protocol_version": session.protocol_version,
        "created_at": _time(session.created_at),
        "last_seen": _time(session.last_seen),
        "stream": row.has_stream,
        "calls": row.calls,
        "agent": session.audience.agent,
        "presentation": session.audience.presentation,
    }


def _agents(agents: Agents, sessions: tuple[SessionRow, ...]) -> list[dict[str, Any]]:
    """Every agent as it was last mounted; the folders are not read for a status."""
    clients = Counter(row.session.audience.agent for row in sessions)
    usable = [
        {
            "id": agent_id,
            "usable": True,
            "reason": None,
            "mode": view.mode.value,
            "mode_source": view.mode_source,
            "sessions": clients[agent_id],
        }
        for agent_id, view in agents.views.items()
    ]
    unusable = [
        {
            "id": agent.id,
            "usable": False,
            "reason": str(agent),
            "mode": None,
            "mode_source": None,
            # A folder with the id of a usable agent has none of that one's sessions.
            "sessions": 0 if agent.id in agents.views else clients[agent.id],
        }
        for agent in agents.roster.unusable
    ]
    return [*usable, *unusable]


def _code_runtime(space: Space) -> dict[str, Any]:
    """What runs programs. Nothing is started for a status."""
    runtime = space.programs.runtime.status()
    return {
        "available": runtime.available,
        "reason": runtime.reason or None,
        "deno_version": runtime.deno_version or None,
        "walls": list(runtime.walls),
        "spares": runtime.spares,
        "leases": runtime.leases,
        "most_leases": runtime.most_leases,
        "leases_taken": runtime.leases_taken,
        "runners": list(runtime.runners),
        "kills": dict(runtime.kills),
        "programs_kept": len(space.programs.log.latest()),
        "compiler": asdict(space.programs.compiler.status()),
    }


def _blocks(*both: BlocksStatus) -> dict[str, Any]:
    """The files of stories and block configurations that were broken, since the start."""
    rows = [
        {"path": one.path, "kept_as": one.kept_as, "reason": one.reason, "at": one.at.isoformat()}
        for blocks in both
        for one in blocks.set_aside
    ]
    return {"set_aside_count": sum(blocks.set_aside_count for blocks in both), "set_aside": rows}


def _actor(figures: ActorStatistics) -> dict[str, Any]:
    return {**asdict(figures), "seconds_per_message": figures.seconds_per_message}
