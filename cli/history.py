"""`space undo` and `space redo`: a person's own way back and forth in the history of the active world."""

from __future__ import annotations

from typing import Annotated

import typer

from cli.answers import HistoryMove
from cli.client import CALL_SECONDS
from cli.console import note, print_json, say
from cli.options import DEFAULT_URL, JsonOption, TokenOption, UrlOption, engine_at

MOST_STEPS = 1_000
"""What the engine takes at once."""

Steps = Annotated[int, typer.Argument(metavar="[STEPS]", min=1, max=MOST_STEPS, help="How many.")]


def undo(
    steps: Steps = 1, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """Take the last steps of the active world back, whoever made them."""
    _move("undo", "Undone", steps, url, token, as_json=as_json)


def redo(
    steps: Steps = 1, url: UrlOption = DEFAULT_URL, token: TokenOption = None, as_json: JsonOption = False
) -> None:
    """Do the steps again that were undone last."""
    _move("redo", "Redone", steps, url, token, as_json=as_json)


def _move(way: str, done: str, steps: int, url: str, token: str | None, *, as_json: bool) -> None:
    with engine_at(url, token, as_json=as_json) as engine:
        answer = engine.ask(HistoryMove, "POST", f"/api/world/{way}", body={"steps": steps}, seconds=CALL_SECONDS)
    if as_json:
        print_json(answer.raw)
        return
    move = answer.value
    for step in (*move.undone, *move.redone):
        say(f"{done}: {step.label}")
    say(f"{move.undo_count} to undo, {move.redo_count} to redo.")
    if move.stopped is not None:
        note(f"No further: {move.stopped}")
