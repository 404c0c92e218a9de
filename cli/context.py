"""`space context`: reads and changes what the user is doing, as the engine knows it."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from cli.answers import Facts
from cli.client import Answer
from cli.console import print_facts, print_json
from cli.facts import parse_facts
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at

PATH = "/api/context"


def get(url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """Show the facts of the context."""
    with engine_at(url, token, as_json=as_json) as engine:
        _print(engine.ask(Facts, "GET", PATH), as_json)


def change(
    assignments: Annotated[
        list[str],
        typer.Argument(
            metavar="KEY=VALUE...",
            help="Facts to set: true, false, a number or text; null or nothing takes the fact away.",
        ),
    ],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Change facts of the context; the others stay. The tools follow before this returns."""
    try:
        facts = parse_facts(assignments)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="KEY=VALUE") from None
    with engine_at(url, token, as_json=as_json) as engine:
        _print(engine.ask(Facts, "PATCH", PATH, body=facts), as_json)


def _print(answer: Answer[Any], as_json: bool) -> None:
    if as_json:
        print_json(answer.raw)
    else:
        print_facts(None, list(answer.value.facts().items()))
