"""The REST routes of what has happened: the history of the active world, and the last changes of the context.

Undo and redo here are a person's own commands: no preset gates them. Owns paths, bodies and codes; errors are
`application/problem+json` (see `transport.problem`). Holds no state.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from typing import Any

from quart import Blueprint, Response, request

from actors.space import Space
from engine.errors import ConflictError, InvalidArgumentError
from engine.world import HistoryMove
from presets.app import Done
from transport.json_body import json_object, json_response
from transport.query import whole_number

DEFAULT_STEPS_SHOWN = 20
"""Steps in each direction, where no limit is asked for."""
MOST_STEPS_SHOWN = 1_000
"""Steps in each direction: more than anybody reads."""
MOST_STEPS_MOVED = 1_000
"""Steps that one request takes back: each is written before the next, and the request is answered after the last."""


def history_routes(space: Space) -> Blueprint:
    """The routes of histories."""
    routes = Blueprint("history", __name__)

    @routes.get("/api/context/changes")
    async def get_changes() -> Response:
        return json_response({"changes": [change.to_json() for change in space.context.changes.value]})

    @routes.get("/api/world/history")
    async def get_history() -> Response:
        limit = whole_number("limit", DEFAULT_STEPS_SHOWN, "steps")
        if limit > MOST_STEPS_SHOWN:
            raise InvalidArgumentError(f"limit is at most {MOST_STEPS_SHOWN} steps, not {limit}")
        history = await space.app.read_history(limit)
        return json_response(
            {
                "world_id": history.world.id,
                "revision": history.world.revision,
                "undo": _rows(history.labels.undo),
                "redo": _rows(history.labels.redo),
            }
        )

    @routes.post("/api/world/undo")
    async def post_undo() -> Response:
        return json_response(await _moved(space, "undone", space.app.undo_on))

    @routes.post("/api/world/redo")
    async def post_redo() -> Response:
        return json_response(await _moved(space, "redone", space.app.redo_on))

    return routes


@dataclass(frozen=True, slots=True)
class Gone:
    """What became of a request to go some steps: those that were gone, and why it was not all of them."""

    last: Done[HistoryMove]
    labels: tuple[str, ...]
    stopped: str | None


async def go_steps(
    move: Callable[[int | None], Awaitable[Done[HistoryMove]]], steps: int, base_revision: int | None
) -> Gone:
    """Go so many steps of the history, as far as it goes. Raises as `move` does where not even one can be gone.

    Each further step is gone only when nobody has changed the world since: else it would be a step of theirs.
    """
    done = await move(base_revision)
    labels = [done.result.label]
    try:
        while len(labels) < steps:
            done = await move(done.revision)
            labels.append(done.result.label)
    except ConflictError as reason:
        return Gone(done, tuple(labels), str(reason))
    return Gone(done, tuple(labels), None)


async def _moved(space: Space, name: str, move: Callable[[int | None], Awaitable[Done[HistoryMove]]]) -> dict[str, Any]:
    """Do what the body asks for."""
    body = await json_object(space.options.limits) if await request.get_data() else {}
    steps = _number(body.pop("steps", 1), "steps", 1, MOST_STEPS_MOVED)
    base = body.pop("base_revision", None)
    base_revision = None if base is None else _number(base, "base_revision", 0, None)
    for unknown in sorted(body):
        raise InvalidArgumentError(f"the body has a member {unknown!r:.40}; there are base_revision, steps")
    gone = await go_steps(move, steps, base_revision)
    return {
        "world_id": space.world.status.value.active_world.id,
        "revision": gone.last.revision,
        name: _rows(gone.labels),
        "undo_count": gone.last.result.undo_count,
        "redo_count": gone.last.result.redo_count,
        "stopped": gone.stopped,
    }


def _rows(labels: Iterable[str]) -> list[dict[str, str]]:
    return [{"label": label} for label in labels]


def _number(value: object, name: str, least: int, most: int | None) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least or (most is not None and value > most):
        limits = f"from {least} on" if most is None else f"from {least} to {most}"
        raise InvalidArgumentError(f"{name} must be a whole number {limits}, not {value!r:.40}")
    return value
