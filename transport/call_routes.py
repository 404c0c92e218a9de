"""The REST routes of the calls of tools: the last ones, each whole, and ending one that runs.

Owns paths, queries and form; the records are those of `actors.call_log`. Holds no state.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

import trio
from quart import Blueprint, Response, request

from actors.call_log import KEPT_CALLS
from actors.logged_call import CallState, LoggedCall
from actors.resolution import ReadAdapters
from actors.space import Space
from engine.errors import ConflictError, InvalidArgumentError
from presets.adapters import ToolAdapter
from presets.suggestions import quoted
from protocol.jsonrpc import encode
from transport.json_body import json_response
from transport.problem import RequestProblemError

USUAL_ROWS = 200
"""Rows of one answer, where nobody says how many."""

MOST_ROWS = 1_000
"""Rows of one answer."""

END_SECONDS = 1.0
"""How long the answer to a cancellation waits for the end of the call, so that it can say so."""

_MOST_DIGITS = 15
"""Of a number in a query or a path."""


def call_routes(space: Space) -> Blueprint:
    """Every route of calls."""
    routes = Blueprint("calls", __name__)
    log = space.call_log

    @routes.get("/api/calls")
    async def get_calls() -> Response:
        after, most = _number("after"), _number("limit")
        most = USUAL_ROWS if most is None else most
        adapters = await space.resolution.ask(ReadAdapters())
        if not 1 <= most <= MOST_ROWS:
            raise InvalidArgumentError(f"limit must be from 1 to {MOST_ROWS}, not {most}")
        if after is None:
            found, version = log.latest(most), log.changes.version
        else:
            found, version = log.changed_after(after, most), log.changes.version
            if len(found) == most:
                # There may be more: this is from where to go on.
                version = found[-1].version
        rows = [{**call.row(), "read_only": _reads_only(adapters.get(call.tool))} for call in found]
        return json_response({"engine": space.versions.engine, "version": version, "kept": len(log), "calls": rows})

    @routes.get("/api/calls/<call_id>")
    async def get_call(call_id: str) -> Response:
        call = _find(space, call_id)
        return json_response({**call.row(), **_whole(call, space.agents.agents.value.default)})

    @routes.post("/api/calls/<call_id>/cancel")
    async def cancel_call(call_id: str) -> Response:
        call = _find(space, call_id)
        if not call.is_running:
            raise ConflictError(f"call {call.id} has ended already ({call.state.value}); only calls that run end early")
        if not call.cancel():
            raise ConflictError(f"call {call.id} of {call.tool} cannot be cancelled by itself")
        with trio.move_on_after(END_SECONDS):
            while call.is_running:
                await log.changes.wait_beyond(log.changes.version)
        return json_response(call.row())

    return routes


def _reads_only(adapter: ToolAdapter | None) -> bool | None:
    """Whether a call of it changes nothing; None where that is not known (any more)."""
    return None if adapter is None else adapter.read_only


def _find(space: Space, call_id: str) -> LoggedCall:
    number = int(call_id) if _is_number(call_id) else 0
    call = space.call_log.get(number)
    if call is None:
        raise RequestProblemError(
            404,
            "Not found",
            f"there is no call {quoted(call_id)} (any more): the last {KEPT_CALLS} are kept until the engine ends; "
            "`space calls` and `GET /api/calls` list them",
        )
    return call


def _whole(call: LoggedCall, default_agent: str) -> dict[str, Any]:
    """What the row leaves out. The command calls the tool once more; there is none without all arguments."""
    arguments = call.arguments
    result = None
    if not call.is_running and call.content.blocks:
        structured = call.structured
        result = {
            "content": json.loads(encode(list(call.content.blocks))),
            "structured_content": None if structured is None or structured.is_cut else json.loads(structured.text),
            "is_error": call.state is not CallState.DONE,
        }
    return {
        "arguments": arguments.text.decode(errors="ignore") if arguments.is_cut else json.loads(arguments.text),
        "arguments_cut": arguments.is_cut,
        "result": result,
        "result_cut": call.is_result_cut,
        "command": None if arguments.is_cut else _command(call, default_agent),
    }


def _command(call: LoggedCall, default_agent: str) -> str:
    words = ["space", "call", call.tool, call.arguments.text.decode()]
    agent = call.caller.agent
    return shlex.join(words if agent is None or agent == default_agent else [*words, "--agent", agent])


def _number(name: str) -> int | None:
    text = request.args.get(name)
    if text is None:
        return None
    if not _is_number(text):
        raise InvalidArgumentError(f"{name} must be a whole number, not {quoted(text[:20])}")
    return int(text)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS
