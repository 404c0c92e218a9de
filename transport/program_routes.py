"""The REST routes of programs that were run: the last ones, and each whole. Owns paths and form; holds no state."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from quart import Blueprint, Response

from actors.program_log import KEPT_PROGRAMS, ProgramRecord
from actors.space import Space
from presets.suggestions import quoted
from transport.json_body import json_response
from transport.problem import RequestProblemError


def program_routes(space: Space) -> Blueprint:
    """Every route of programs."""
    routes = Blueprint("programs", __name__)

    @routes.get("/api/programs")
    async def get_programs() -> Response:
        return json_response({"programs": [_row(record, whole=False) for record in space.programs.log.latest()]})

    @routes.get("/api/programs/<program_id>")
    async def get_program(program_id: str) -> Response:
        record = space.programs.log.get(program_id)
        if record is None:
            raise RequestProblemError(
                404,
                "Not found",
                f"there is no program {quoted(program_id)} (any more): the last {KEPT_PROGRAMS} are kept until the "
                "engine ends; `space programs` and `GET /api/programs` list them",
            )
        return json_response(_row(record, whole=True))

    return routes


def _row(record: ProgramRecord, *, whole: bool) -> dict[str, Any]:
    started = datetime.fromtimestamp(record.started_at, UTC).isoformat()
    return {
        **record.to_json(whole=whole),
        "presentation": record.audience.presentation,
        "started_at": started,
        "running": record.seconds is None,
    }
