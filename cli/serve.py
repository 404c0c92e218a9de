"""`space serve`: starts the engine. Owns its flags and their defaults; what they do is in `transport.serve`."""

from __future__ import annotations

from dataclasses import fields, replace
from pathlib import Path
from typing import Annotated

import typer

from cli.folders import default_data_folder
from cli.options import bearer_token
from presets.presentation import Presentation
from protocol.limits import DEFAULT_LIMITS, Limits
from transport.defaults import (
    DEFAULT_AGENT,
    DEFAULT_HOST,
    DEFAULT_PORT,
    GRACE_SECONDS,
    PEER_TIMEOUT_SECONDS,
    SESSION_TTL_SECONDS,
)
from transport.logs import LogFormat, LogLevel


def _positive(seconds: float) -> float:
    if not 0 < seconds < float("inf"):
        raise typer.BadParameter(f"{seconds:g} is no time to wait; give seconds above 0")
    return seconds


def demanded_token(text: str | None) -> str | None:
    if text == "":
        raise typer.BadParameter("the token is empty and would protect nothing; leave it out to demand none")
    return bearer_token(text)


def _named(agent: str) -> str:
    if not agent.strip():
        raise typer.BadParameter("the agent has no id; leave the option out for the usual one")
    return agent


def _limits(given: list[str] | None) -> Limits:
    """The limits with those changes. Raises `typer.BadParameter`, naming the limits that exist."""
    changes: dict[str, int] = {}
    names = [field.name for field in fields(Limits)]
    for pair in given or ():
        name, _, number = pair.partition("=")
        if name not in names:
            raise typer.BadParameter(f"there is no limit {name!r}; there are {', '.join(names)}", param_hint="--limit")
        if not number.isascii() or not number.isdigit() or int(number) < 1:
            raise typer.BadParameter(f"limit {name} needs a whole number above 0, not {number!r}", param_hint="--limit")
        changes[name] = int(number)
    return replace(DEFAULT_LIMITS, **changes)


def serve(
    host: Annotated[str, typer.Option(help="The address to listen on.")] = DEFAULT_HOST,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 takes a free one.")] = DEFAULT_PORT,
    data: Annotated[
        Path | None,
        typer.Option(file_okay=False, show_default="the user's data folder", help="Where worlds are kept."),
    ] = None,
    workspace: Annotated[
        Path | None,
        typer.Option(
            exists=True, file_okay=False, show_default="the current folder", help="The folder whose files tools see."
        ),
    ] = None,
    units: Annotated[
        list[Path] | None,
        typer.Option(
            exists=True, file_okay=False, show_default=False, help="A folder of units, or a unit; may be given again."
        ),
    ] = None,
    force_sse: Annotated[bool, typer.Option("--force-sse", help="Serve MCP over one SSE stream alone.")] = False,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="SPACE_TOKEN", callback=demanded_token, show_default=False, help="Demand this of every request."
        ),
    ] = None,
    allow_non_loopback: Annotated[
        bool, typer.Option("--allow-non-loopback", help="Listen beyond this machine; demands a token.")
    ] = False,
    log_format: Annotated[LogFormat, typer.Option(help="How log lines look.")] = LogFormat.CONSOLE,
    log_level: Annotated[LogLevel, typer.Option(help="The least that is logged.")] = LogLevel.INFO,
    grace: Annotated[
        float, typer.Option(callback=_positive, help="Seconds that calls in flight get at a shutdown.")
    ] = GRACE_SECONDS,
    session_ttl: Annotated[
        float, typer.Option(help="Seconds after which an idle MCP session ends; 0 or less: never.")
    ] = SESSION_TTL_SECONDS,
    peer_timeout: Annotated[
        float, typer.Option(callback=_positive, help="Seconds after which a client that does not read is cut off.")
    ] = PEER_TIMEOUT_SECONDS,
    presentation: Annotated[
        Presentation, typer.Option(help="The form of the tools, for agents that choose none.")
    ] = Presentation.NATIVE,
    agent: Annotated[
        str, typer.Option(metavar="ID", callback=_named, help="The agent of clients that name none.")
    ] = DEFAULT_AGENT,
    ask_before_destroying: Annotated[
        bool,
        typer.Option(help="Whether clients that can ask their user do so before a tool destroys something."),
    ] = True,
    limit: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=NUMBER", show_default=False, help="Change a limit; docs/limits.md names them."),
    ] = None,
) -> None:
    """Start the engine and serve until it is told to stop (Ctrl-C)."""
    # Here, not above: the web server takes a while to import, and no other command needs it.
    from transport.serve import ServeOptions, run

    options = ServeOptions(
        host=host,
        port=port,
        data=(data or default_data_folder()).expanduser().absolute(),
        workspace=(workspace or Path.cwd()).expanduser().resolve(),
        units=tuple(folder.expanduser().resolve() for folder in units or ()),
        force_sse=force_sse,
        token=token,
        allow_non_loopback=allow_non_loopback,
        log_format=log_format,
        log_level=log_level,
        grace_seconds=grace,
        session_ttl_seconds=session_ttl,
        peer_timeout_seconds=peer_timeout,
        limits=_limits(limit),
        presentation=presentation,
        agent=agent,
        ask_before_destroying=ask_before_destroying,
    )
    raise typer.Exit(run(options))
