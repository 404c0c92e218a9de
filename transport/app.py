"""The web app: one Quart-Trio app with the MCP endpoint and the REST routes. Owns their wiring, and how errors look.

Complete before anything listens: adding a route afterwards raises.
"""

from __future__ import annotations

from typing import Protocol, cast

import structlog
from quart import Request, Response, request
from quart.typing import ResponseTypes
from quart_trio import QuartTrio

from actors.space import Space
from protocol.handler import Handler, ServerInfo, error_reply
from protocol.jsonrpc import ErrorCode
from transport.connection import LARGER_BODIES, Connection
from transport.direct_endpoint import STREAM_AFTER_SECONDS, DirectEndpoint
from transport.mcp_http import WireReply, response_of
from transport.mcp_service import McpService
from transport.problem import problem_of
from transport.rest import rest_routes
from transport.sse_endpoint import SseEndpoint
from transport.status import EndpointFacts
from transport.version import VERSION
from transport.world_routes import larger_bodies, world_routes

MCP_PATH = "/mcp"
"""Where clients find the endpoint, in every mode."""

_log = structlog.stdlib.get_logger("http")


class _Endpoint(Protocol):
    async def serve(self, request: Request) -> Response | WireReply: ...


class SpaceApp(QuartTrio):
    """Quart-Trio with a short way to the MCP endpoint, which takes requests of every method and needs no router."""

    asgi_http_class = Connection

    def __init__(self, endpoint: _Endpoint) -> None:
        super().__init__("space", static_folder=None, template_folder=None)
        # A path means what it says: no redirect, which no client of ours follows.
        self.url_map.merge_slashes = False
        self._endpoint = endpoint
        self.register_error_handler(Exception, _answer_error)

    def seal(self) -> None:
        """Take no more routes: adding one raises `AssertionError` from now on."""
        # Quart has this check from Flask, and never sets what it looks at.
        self._got_first_request = True

    async def handle_request(self, request: Request) -> ResponseTypes:
        """Answer a request: the endpoint's here, all others by Quart's routes."""
        # Quart's routing and request context cost a call as much as everything that is done about it.
        if request.path != MCP_PATH:
            return await super().handle_request(request)
        try:
            return cast("ResponseTypes", await self._endpoint.serve(request))
        except Exception as error:  # noqa: BLE001 - the boundary of a request, as Quart's own is
            response = problem_of(error)
            _log_failure(request, response, error)
            # Clients of MCP read JSON-RPC, and try other transports when they get anything else.
            failed = error_reply(None, ErrorCode.INTERNAL_ERROR, str(error), response.status_code)
            return cast("ResponseTypes", response_of(failed))


def make_app(space: Space, facts: EndpointFacts, *, stream_after: float = STREAM_AFTER_SECONDS) -> SpaceApp:
    """The app over a running engine. `stream_after` is when a long answer becomes an event stream, in direct mode."""
    limits = space.options.limits
    service = McpService(space, Handler(ServerInfo(name="space", version=VERSION, title="Space"), limits))
    direct = DirectEndpoint(service, stream_after=stream_after)
    app = SpaceApp(SseEndpoint(service, MCP_PATH) if facts.force_sse else direct)
    app.config["MAX_CONTENT_LENGTH"] = limits.body_bytes
    app.config[LARGER_BODIES] = larger_bodies(limits)
    app.register_blueprint(rest_routes(space, facts))
    app.register_blueprint(world_routes(space))
    app.seal()
    return app


async def _answer_error(error: Exception) -> Response:
    response = problem_of(error)
    _log_failure(request, response, error)
    return response


def _log_failure(request: Request, response: Response, error: Exception) -> None:
    if response.status_code >= 500:
        _log.error("request_failed", path=request.path, method=request.method, exc_info=error)
