"""`space status`: the engine at a glance."""

from __future__ import annotations

from typing import Any

from cli.answers import Status
from cli.console import Cell, print_facts, print_json, print_table, say
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at

_MILLISECONDS = 1000.0


def status(url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Show the engine, its context, worlds, clients and actors."""
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(Status, "GET", "/status")
    if as_json:
        print_json(answer.raw)
        return
    _print_engine(answer.value)
    print_facts("Context", list(answer.value.context.items()))
    print_facts("MCP", [(name.replace("_", " "), _cell(value)) for name, value in answer.value.mcp.items()])
    _print_agents(answer.value)
    _print_code_runtime(answer.value)
    _print_sessions(answer.value)
    _print_actors(answer.value)


def _print_engine(status: Status) -> None:
    engine, world = status.engine, status.world
    others = ", ".join(other.name for other in world.worlds if other.id != world.active.id)
    print_facts(
        "Engine",
        [
            ("version", engine.version),
            ("url", engine.url),
            ("pid", engine.pid),
            ("uptime", _duration(engine.uptime_seconds)),
            ("data", engine.data),
            ("workspace", engine.workspace),
            ("world", f"{world.active.name} ({world.active.id})"),
            ("other worlds", others),
            ("undo, redo", f"{world.undo_count}, {world.redo_count}"),
            ("theme", world.theme),
        ],
    )


def _print_agents(status: Status) -> None:
    default = status.default_agent
    if default is not None and default.problem is not None:
        say(f"\nClients that name no agent get none: {default.problem}")
    rows: list[tuple[Cell, ...]] = [
        (
            agent.id,
            agent.usable,
            agent.mode,
            agent.sessions,
            agent.mode_source if agent.usable else agent.reason,
        )
        for agent in status.agents
    ]
    if rows:
        print_table("Agents", ("agent", "usable", "mode", "sessions", "chosen by, or why unusable"), rows)


def _print_code_runtime(status: Status) -> None:
    runtime = status.code_runtime
    if runtime is None:
        return
    kills = ", ".join(f"{kind} {count}" for kind, count in sorted(runtime.kills.items()))
    print_facts(
        "Code runtime",
        [
            ("available", runtime.available),
            ("reason", runtime.reason),
            ("deno", runtime.deno_version),
            ("walls", ", ".join(runtime.walls)),
            ("spares", runtime.spares),
            ("running", f"{runtime.leases} of {runtime.most_leases}"),
            ("runs so far", runtime.leases_taken),
            ("ended by force", kills),
            ("programs kept", runtime.programs_kept),
        ],
    )


def _print_sessions(status: Status) -> None:
    rows: list[tuple[Cell, ...]] = [
        (
            session.id,
            " ".join(filter(None, (session.client_name, session.client_version))),
            session.protocol_version,
            _cell(session.last_seen),
            _cell(session.stream),
            session.calls,
            session.agent,
            session.presentation,
        )
        for session in status.sessions
    ]
    if rows:
        columns = ("id", "client", "protocol", "last seen", "stream", "calls", "agent", "presentation")
        print_table("MCP sessions", columns, rows)


def _print_actors(status: Status) -> None:
    rows: list[tuple[Cell, ...]] = [
        (
            actor.name,
            f"{actor.depth}/{actor.capacity}",
            actor.handled,
            actor.refused,
            actor.failed,
            actor.withdrawn,
            round(actor.seconds_per_message * _MILLISECONDS, 3),
            round(actor.longest_seconds * _MILLISECONDS, 3),
        )
        for actor in status.actors
    ]
    columns = ("actor", "waiting", "handled", "refused", "failed", "withdrawn", "ms per message", "longest ms")
    print_table("Actors", columns, rows)


def _cell(value: Any) -> Cell:
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "d"), (hours, "h"), (minutes, "min"), (rest, "s")]
    return " ".join(f"{count} {unit}" for count, unit in parts if count) or "0 s"
