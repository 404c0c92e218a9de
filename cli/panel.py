"""`space panel`: the address of the panel of a running engine, with the token in it where there is one."""

from __future__ import annotations

import webbrowser
from typing import Annotated
from urllib.parse import quote

import typer

from cli.answers import Status
from cli.console import note, print_json, say
from cli.failure import CommandFailedError
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at
from transport.panel_files import PANEL_PATH


def panel(
    *,
    open_it: Annotated[
        bool,
        typer.Option(
            "--open", help="Open it in the browser. Whoever may list your processes sees the token while that starts."
        ),
    ] = False,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Print the address of the panel: see what the agent sees, and decide."""
    with engine_at(url, token, as_json=as_json) as engine:
        engine.ask(Status, "GET", "/status")  # that it is there, and takes the token
        # Behind the #: a browser keeps that to itself, and the page takes it out of the address at once.
        address = f"{engine.url}{PANEL_PATH}" + ("" if token is None else f"#token={quote(token, safe='')}")
        if as_json:
            print_json({"panel": address})
        else:
            say(address)
        if open_it and not webbrowser.open(address):
            raise CommandFailedError("no browser could be started; open the address yourself")
        if token is not None and not as_json:
            note("The address holds the engine's token: treat it like one.")
