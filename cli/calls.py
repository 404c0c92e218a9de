"""`space calls`: the calls of tools, whoever made them, once or as they come; and ending one that runs."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime
from itertools import chain
from typing import Annotated, Any

import typer

from cli.answers import CallRow, CallRows
from cli.client import Answer, EngineClient
from cli.console import GAP, Cell, print_json, print_table, say, shown
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at, lists_itself

PATH = "/api/calls"
COLUMNS = ("call", "started at", "from", "agent", "tool", "state", "seconds", "error", "arguments")

RUNNING = "running"
"""The state of a call that has not ended."""

FOLLOW_SECONDS = 0.5
"""How often an engine that is followed is asked for news."""

PAGE = 1_000
"""Rows that are asked for at once while following: the most there are in one answer."""


def list_calls(
    context: typer.Context,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Go on, and print calls as they begin and end.")
    ] = False,
    tool: Annotated[
        str | None, typer.Option("--tool", metavar="NAME", show_default=False, help="Only calls of this tool.")
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=1, max=PAGE, help="How many, the last ones.")] = 50,
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the last calls of tools, the latest last; those that run, and those that were refused."""
    if not lists_itself(context):
        return
    with engine_at(url, token, as_json=as_json) as engine:
        # Of one tool there may be few among many.
        answer = engine.ask(CallRows, "GET", PATH, query={"limit": limit if tool is None else PAGE})
        rows = [row for row in _rows(answer) if tool in (None, row[0].tool)][-limit:]
        if follow:
            for row, raw in chain(rows, _news(engine, answer.value)):
                if tool in (None, row.tool):
                    _print_line(row, raw, as_json=as_json)
            return
        if as_json:
            print_json({**answer.raw, "calls": [raw for _, raw in rows]})
        else:
            print_table(None, COLUMNS, [_cells(row) for row, _ in rows])


def cancel(
    call_id: Annotated[int, typer.Argument(metavar="ID", help="The call's number; `space calls` lists them.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """End a call that runs. Whoever made it is told that a person has done so."""
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(CallRow, "POST", f"{PATH}/{call_id}/cancel", body={})
    if as_json:
        print_json(answer.raw)
    else:
        say(f"Call {answer.value.id} of {answer.value.tool}: {answer.value.state}.")


Row = tuple[CallRow, Any]
"""A row, and as it came."""


def _rows(answer: Answer[CallRows]) -> list[Row]:
    return list(zip(answer.value.calls, answer.raw["calls"], strict=True))


def _news(engine: EngineClient, last: CallRows) -> Iterator[Row]:
    """What begins and ends from now on. A call is told of once for each state, however often it reports progress."""
    running = {row.id for row in last.calls if row.state == RUNNING}
    while True:
        answer = engine.ask(CallRows, "GET", PATH, query={"after": last.version, "limit": PAGE})
        if answer.value.engine != last.engine:
            # Another process, which counts from the start.
            last = answer.value.model_copy(update={"version": 0})
            running.clear()
            continue
        known, last = last.version, answer.value
        for row, raw in _rows(answer):
            if row.version <= known or (row.state == RUNNING and row.id in running):
                continue
            (running.add if row.state == RUNNING else running.discard)(row.id)
            yield row, raw
        if len(last.calls) < PAGE:
            time.sleep(FOLLOW_SECONDS)


def _print_line(row: CallRow, raw: Any, *, as_json: bool) -> None:
    say(json.dumps(raw) if as_json else GAP.join(shown(cell) for cell in _cells(row)))


def _cells(row: CallRow) -> tuple[Cell, ...]:
    started = datetime.fromtimestamp(row.started_at).astimezone().isoformat(timespec="seconds")
    return (
        row.id,
        started,
        row.source,
        row.agent,
        row.tool,
        row.state,
        row.seconds,
        row.error,
        row.arguments_preview,
    )
