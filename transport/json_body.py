"""JSON in and out of the REST routes. Owns how a body becomes an object, and what is said of one that does not."""

from __future__ import annotations

from typing import Any, cast

from quart import Response, request

from engine.errors import InvalidArgumentError
from protocol.jsonrpc import ParseFault, encode, json_type
from protocol.limits import Limits
from transport.mcp_http import json_of
from transport.problem import RequestProblemError


async def json_object(limits: Limits) -> dict[str, Any]:
    """The body of the request as a JSON object. Raises for anything else."""
    if request.mimetype != "application/json":
        raise RequestProblemError(415, "Unsupported media type", "send the body as application/json")
    body = await json_of(cast("bytes", await request.get_data()), limits)
    if isinstance(body, ParseFault):
        raise RequestProblemError(400, "Not JSON", body.reason)
    if not isinstance(body, dict):
        raise InvalidArgumentError(f"the body must be a JSON object, not {json_type(body)}")
    return cast("dict[str, Any]", body)


def json_response(value: object, status: int = 200) -> Response:
    """A response with that value as JSON."""
    return Response(encode(value), status, content_type="application/json")
