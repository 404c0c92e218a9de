"""`space serve`: starts the engine. Owns its flags and their defaults; what they do is in `transport.serve`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli.folders import default_data_folder
from cli.options import bearer_token
from transport.defaults import DEFAULT_HOST, DEFAULT_PORT, GRACE_SECONDS
from transport.logs import LogFormat, LogLevel


def _positive(seconds: float) -> float:
    if not 0 < seconds < float("inf"):
        raise typer.BadParameter(f"{seconds:g} is no time to wait; give seconds above 0")
    return seconds


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
    force_sse: Annotated[bool, typer.Option("--force-sse", help="Serve MCP over one SSE stream alone.")] = False,
    token: Annotated[
        str | None,
        typer.Option(
            envvar="SPACE_TOKEN", callback=bearer_token, show_default=False, help="Demand this of every request."
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
) -> None:
    """Start the engine and serve until it is told to stop (Ctrl-C)."""
    # Here, not above: the web server takes a while to import, and no other command needs it.
    from transport.serve import ServeOptions, run

    options = ServeOptions(
        host=host,
        port=port,
        data=(data or default_data_folder()).expanduser().absolute(),
        workspace=(workspace or Path.cwd()).expanduser().resolve(),
        force_sse=force_sse,
        token=token,
        allow_non_loopback=allow_non_loopback,
        log_format=log_format,
        log_level=log_level,
        grace_seconds=grace,
    )
    raise typer.Exit(run(options))
