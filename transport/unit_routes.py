"""The REST routes of units: which there are, one from near, made, loaded again, tested, and their logs.

Owns paths, bodies and codes; errors are `application/problem+json` (see `transport.problem`). Holds no state. They are
the user's own door and need no preset.
"""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import asdict
from typing import Any, TypeVar

from quart import Blueprint, Response, request

from actors.space import Space
from actors.unit_kind import UnitLoadError
from engine.errors import InvalidArgumentError
from engine.units.report import DEFAULT_TEST_SECONDS
from presets.unit_shop import RanTests, UnitLook, UnitRow
from transport.json_body import json_object, json_response
from transport.problem import RequestProblemError

ResultT = TypeVar("ResultT")


def unit_routes(space: Space) -> Blueprint:
    """Every route of units."""
    routes = Blueprint("units", __name__)
    limits = space.options.limits
    units = space.units

    @routes.get("/api/units")
    async def get_units() -> Response:
        rows = [unit_row(row) for row in units.rows()]
        return json_response({"units": rows, "folders": list(units.folders())})

    @routes.post("/api/units")
    async def post_unit() -> Response:
        body = await json_object(limits)
        name = body.get("name")
        if not isinstance(name, str) or set(body) != {"name"}:
            raise InvalidArgumentError('the body must be {"name": "star-map"}')
        made = await _loading(units.create(name))
        return json_response(unit_row(made.row), 201)

    @routes.get("/api/units/<name>")
    async def get_unit(name: str) -> Response:
        return json_response(_look(await units.look(name)))

    @routes.post("/api/units/<name>/reload")
    async def post_reload(name: str) -> Response:
        return json_response(unit_row(await _loading(units.reload(name))))

    @routes.post("/api/units/<name>/test")
    async def post_test(name: str) -> Response:
        body = await json_object(limits) if await request.get_data() else {}
        only, seconds = body.get("only"), body.get("seconds", DEFAULT_TEST_SECONDS)
        if not (only is None or isinstance(only, str)) or not set(body) <= {"only", "seconds"}:
            raise InvalidArgumentError('the body may be {"only": "tests/test_unit.py", "seconds": 30}')
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise InvalidArgumentError("seconds must be a number")
        return json_response(_tests(await units.run_tests(name, only, seconds)))

    @routes.get("/api/units/<name>/log")
    async def get_log(name: str) -> Response:
        page = await units.read_log(
            name,
            last=_number("lines"),
            offset=_number("offset"),
            limit=_number("limit"),
            grep=request.args.get("grep"),
        )
        lines = [{"line": number, "text": text} for number, text in page.lines]
        return json_response({"lines": lines, "total": page.total})

    return routes


def unit_row(row: UnitRow) -> dict[str, Any]:
    """A unit as the routes show it."""
    shown = asdict(row)
    del shown["fingerprint"]
    return {**shown, "state": row.state.value}


async def _loading(work: Awaitable[ResultT]) -> ResultT:
    """The result of what loads a unit. One that cannot be loaded is 422, with its traceback as `report`."""
    try:
        return await work
    except UnitLoadError as error:
        raise RequestProblemError(422, "Not loaded", str(error), report=error.report) from error


def _look(look: UnitLook) -> dict[str, Any]:
    return {
        **unit_row(look.row),
        "files": [asdict(file) for file in look.files],
        "snapshots": list(look.snapshots),
        "state_keys": list(look.state_keys),
    }


def _tests(ran: RanTests) -> dict[str, Any]:
    report = asdict(ran.report)
    return {
        **report,
        "unit": ran.unit,
        "ending": ran.report.ending.value,
        "passed": ran.report.passed,
        "output": ran.output,
        "output_is_cut": ran.output_is_cut,
    }


def _number(name: str) -> int | None:
    text = request.args.get(name)
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 9:
        raise InvalidArgumentError(f"{name} must be a whole number, not {text[:20]!r}")
    return int(text)
