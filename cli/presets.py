"""`space presets` and `space preset`: which groups of tools there are, and the user's word on each."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from cli.answers import Preset, Presets
from cli.client import segment
from cli.console import Row, print_json, print_table
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at

COLUMNS = ("preset", "active", "risk", "tools")


class Override(StrEnum):
    """The user's word on a preset."""

    ON = "on"
    OFF = "off"
    AUTO = "auto"


def presets(url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False) -> None:
    """List the presets: which are active, and why."""
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(Presets, "GET", "/api/presets")
    if as_json:
        print_json(answer.raw)
        return
    print_table(None, COLUMNS, [_row(preset) for preset in answer.value.presets])
    orphans = [(orphan.preset, orphan.state) for orphan in answer.value.orphaned_overrides]
    if orphans:
        print_table("Overrides of presets that are not there now", ("preset", "override"), orphans)


def preset(
    state: Annotated[Override, typer.Argument(help="on and off insist; auto follows the context.")],
    name: Annotated[str, typer.Argument(help="The preset, as `space presets` names it.")],
    url: UrlOption = DEFAULT_URL,
    token: TokenOption = None,
    as_json: JsonOption = False,
) -> None:
    """Turn a preset on or off, or let it follow the context again."""
    with engine_at(url, token, as_json=as_json) as engine:
        path = f"/api/presets/{segment(name)}/override"
        answer = engine.ask(Preset, "PUT", path, body={"state": state.value})
    if as_json:
        print_json(answer.raw)
    else:
        print_table(None, COLUMNS, [_row(answer.value)])


def _row(row: Preset) -> Row:
    return (row.name, _active(row), row.risk, row.tool_count)


def _active(row: Preset) -> str:
    """Whether it is active, and what decided that: the user's override, its default of off, or the context."""
    if row.override_state != Override.AUTO:
        decided = "override"
    else:
        decided = "default" if row.default_state == "off" else "context"
    return f"{'yes' if row.active else 'no'} ({decided})"
