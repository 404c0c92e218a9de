"""The options that the client commands share, and the engine that they name.

Owns how `--url` and `--token` are read; the failures behind them are those of `cli.client`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Annotated

import httpx
import typer

from cli.client import EngineClient
from cli.console import print_json
from cli.failure import CommandFailedError
from transport.defaults import DEFAULT_HOST, DEFAULT_PORT, MCP_PATH

DEFAULT_URL = f"http://{DEFAULT_HOST}:{DEFAULT_PORT}"


def engine_url(text: str) -> str:
    """The root of an engine, from what a person has at hand: with or without `/mcp` and slashes at the end.

    Raises `typer.BadParameter` for what is no http URL.
    """
    url = text.strip().rstrip("/").removesuffix(MCP_PATH).rstrip("/")
    if not _is_root(url):
        raise typer.BadParameter(f"{text!r} is no URL of an engine; it looks like {DEFAULT_URL}")
    return url


def _is_root(url: str) -> bool:
    """Whether that is an http URL with a host that can be looked up, and with nothing that is not sent or not meant."""
    if any(not c.isprintable() or c == " " for c in url):
        return False
    try:
        parsed = httpx.URL(url)
        parsed.host.encode("idna")
    except (httpx.InvalidURL, ValueError):
        return False
    return (
        parsed.scheme in ("http", "https")
        and bool(parsed.host)
        and not (parsed.userinfo or parsed.query or parsed.fragment)
    )


def bearer_token(text: str | None) -> str | None:
    """A token as a header can carry it; an empty one is none. Raises `typer.BadParameter`."""
    if not text:
        return None
    if any(not c.isprintable() or c.isspace() for c in text):
        raise typer.BadParameter("a token holds no spaces and no control characters")
    return text


UrlOption = Annotated[
    str, typer.Option("--url", envvar="SPACE_URL", callback=engine_url, help="Where the engine listens.")
]
TokenOption = Annotated[
    str | None,
    typer.Option(
        "--token", envvar="SPACE_TOKEN", callback=bearer_token, show_default=False, help="The engine's token, if any."
    ),
]
AgentOption = Annotated[
    str | None,
    typer.Option("--agent", metavar="ID", show_default=False, help="As this agent sees it; `space agents` lists them."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs.")]


def agent_query(agent: str | None) -> dict[str, str | int]:
    """The query of a request for what that agent sees."""
    return {} if agent is None else {"agent": agent}


def lists_itself(context: typer.Context) -> bool:
    """Whether a group of commands was called without one of them, and so shows its list.

    Raises `typer.BadParameter` for an option that stands before a command, where it would be lost in silence.
    """
    if context.invoked_subcommand is None:
        return True
    for name in context.params:
        source = context.get_parameter_source(name)
        # By name: which package the type comes from depends on the version of Typer.
        if source is not None and source.name == "COMMANDLINE":
            raise typer.BadParameter(f"options of {context.invoked_subcommand!r} stand behind it", context)
    return False


@contextmanager
def engine_at(url: str, token: str | None, *, as_json: bool = False) -> Generator[EngineClient]:
    """The engine there. A failure inside is printed as JSON too where JSON was asked for; it goes on to `main`."""
    with EngineClient(url, token) as engine:
        try:
            yield engine
        except CommandFailedError as failure:
            if as_json:
                print_json(failure.to_json())
            raise
