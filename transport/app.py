"""The web app: one Quart-Trio app with the MCP endpoint and the REST routes. Owns their wiring, and how errors look.

Complete before anything listens; adding a route afterwards is an error of Quart's own.
"""

from __future__ import annotations

import structlog
from quart import Response, request
from quart_trio import QuartTrio

from actors.space import Space
from protocol.handler import Handler, ServerInfo, error_reply
from protocol.jsonrpc import ErrorCode
from transport.defaults import MCP_PATH
from transport.direct_endpoint import DirectEndpoint
from transport.mcp_http import response_of
from transport.mcp_service import McpService
from transport.problem import problem_of
from transport.rest import rest_routes
from transport.sse_endpoint import SseEndpoint
from transport.status import EndpointFacts
from transport.version import VERSION

ALL_METHODS = ["GET", "POST", "DELETE", "PUT", "PATCH", "OPTIONS", "HEAD"]
"""The endpoint answers each of them itself, so that a refusal is JSON-RPC."""

_log = structlog.stdlib.get_logger("http")


def make_app(space: Space, facts: EndpointFacts) -> QuartTrio:
    """The app over a running engine."""
    app = QuartTrio("space", static_folder=None, template_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = space.options.limits.body_bytes
    service = McpService(space, Handler(ServerInfo(name="space", version=VERSION, title="Space"), space.options.limits))
    endpoint = SseEndpoint(service, MCP_PATH) if facts.force_sse else DirectEndpoint(service)

    async def mcp() -> Response:
        return await endpoint.serve(request)

    app.add_url_rule(MCP_PATH, "mcp", mcp, methods=ALL_METHODS, provide_automatic_options=False)
    app.register_blueprint(rest_routes(space, facts))
    app.register_error_handler(Exception, _answer_error)
    return app


async def _answer_error(error: Exception) -> Response:
    response = problem_of(error)
    if response.status_code >= 500:
        _log.error("request_failed", path=request.path, method=request.method, exc_info=error)
    if request.path == MCP_PATH:
        # Clients of MCP read JSON-RPC, and try other transports when they get anything else.
        reply = error_reply(None, ErrorCode.INTERNAL_ERROR, str(error), response.status_code)
        return response_of(reply)
    return response
