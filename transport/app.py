"""The web app: one Quart-Trio app with the MCP endpoint and the REST routes. Owns their wiring, and how errors look.

Complete before anything listens: adding a route afterwards raises.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from secrets import token_bytes
from typing import Any, Protocol

import structlog
from quart import Response, request
from quart_trio import QuartTrio

from actors.errors import ActorError
from actors.space import Space
from protocol.handler import Handler, ServerInfo, error_reply
from protocol.jsonrpc import ErrorCode
from protocol.request_state import KEY_BYTES, StateSealer
from protocol.stateless_rules import Stateless
from transport.agent_block_routes import agent_block_routes
from transport.agent_routes import agent_routes
from transport.call_answers import STREAM_AFTER_SECONDS
from transport.call_routes import call_routes
from transport.connection import LARGER_BODIES, Connection
from transport.defaults import MCP_PATH
from transport.direct_endpoint import DirectEndpoint
from transport.endpoint_request import EndpointRequest
from transport.event_routes import event_routes
from transport.generation_routes import generation_routes
from transport.history_routes import history_routes
from transport.mcp_http import WireReply, response_of
from transport.mcp_service import McpService
from transport.panel_files import NO_PANEL, PanelFile, panel_routes
from transport.problem import problem_of
from transport.program_routes import program_routes
from transport.provider_routes import provider_routes
from transport.rest import rest_routes
from transport.sse_endpoint import SseEndpoint
from transport.status import EndpointFacts
from transport.story_routes import story_routes
from transport.unit_routes import unit_routes
from transport.version import VERSION
from transport.view_routes import view_routes
from transport.world_routes import larger_bodies, world_routes

_AGENT_PATH = f"{MCP_PATH}/"
"""What the path of an agent's endpoint begins with."""

OVERLOADED = 503

_log = structlog.stdlib.get_logger("http")


class _Endpoint(Protocol):
    async def serve(self, request: EndpointRequest) -> Response | WireReply: ...


class SpaceApp(QuartTrio):
    """Quart-Trio with a short way to the MCP endpoint, which takes requests of every method and needs no router."""

    asgi_http_class = Connection

    def __init__(self, endpoint: _Endpoint, most_body_bytes: int) -> None:
        super().__init__("space", static_folder=None, template_folder=None)
        # A path means what it says: no redirect, which no client of ours follows.
        self.url_map.merge_slashes = False
        self._endpoint = endpoint
        self._most_body_bytes = most_body_bytes
        self.register_error_handler(Exception, _answer_error)

    def seal(self) -> None:
        """Take no more routes: adding one raises `AssertionError` from now on."""
        # Quart has this check from Flask, and never sets what it looks at.
        self._got_first_request = True

    def endpoint_request(self, scope: Mapping[str, Any]) -> EndpointRequest | None:
        """The request, where it is one for the MCP endpoint of an agent; else None, and Quart serves it."""
        path: str = scope["path"]
        is_endpoint = path == MCP_PATH or path.startswith(_AGENT_PATH)
        return EndpointRequest(scope, self._most_body_bytes) if is_endpoint else None

    async def serve_endpoint(self, request: EndpointRequest) -> Response | WireReply:
        """Answer a request for the endpoint."""
        # Quart's routing and request context cost a call as much as everything that is done about it.
        try:
            return await self._endpoint.serve(request)
        except Exception as error:  # noqa: BLE001 - the boundary of a request, as Quart's own is
            response = problem_of(error)
            _log_failure(request.path, request.method, response, error)
            # Clients of MCP read JSON-RPC, and try other transports when they get anything else.
            request_id = request.body.request_id()
            failed = error_reply(request_id, ErrorCode.INTERNAL_ERROR, str(error), response.status_code)
            return response_of(failed)


def make_app(
    space: Space,
    facts: EndpointFacts,
    *,
    panel: Mapping[str, PanelFile] = NO_PANEL,
    stream_after: float = STREAM_AFTER_SECONDS,
) -> SpaceApp:
    """The app over a running engine, with these files of a panel.

    `stream_after` is when a long answer becomes an event stream, in direct mode.
    """
    limits = space.options.limits
    # The single stream is a session; who knows none is not served there.
    stateless = None if facts.force_sse else Stateless(sealer=StateSealer(token_bytes(KEY_BYTES), time.time))
    server = ServerInfo(name="space", version=VERSION, title="Space")
    service = McpService(space, Handler(server, limits, stateless=stateless, streamable=not facts.force_sse))
    direct = DirectEndpoint(service, stream_after=stream_after)
    app = SpaceApp(SseEndpoint(service) if facts.force_sse else direct, limits.body_bytes)
    app.config["MAX_CONTENT_LENGTH"] = limits.body_bytes
    app.config[LARGER_BODIES] = larger_bodies(limits)
    app.register_blueprint(panel_routes(panel))
    app.register_blueprint(rest_routes(space, facts))
    app.register_blueprint(world_routes(space))
    app.register_blueprint(view_routes(space))
    app.register_blueprint(history_routes(space))
    app.register_blueprint(agent_routes(space))
    app.register_blueprint(call_routes(space))
    app.register_blueprint(event_routes(space))
    app.register_blueprint(program_routes(space))
    app.register_blueprint(unit_routes(space))
    app.register_blueprint(story_routes(space))
    app.register_blueprint(agent_block_routes(space))
    app.register_blueprint(provider_routes(space))
    app.register_blueprint(generation_routes(space))
    app.seal()
    return app


async def _answer_error(error: Exception) -> Response:
    response = problem_of(error)
    _log_failure(request.path, request.method, response, error)
    return response


def _log_failure(path: str, method: str, response: Response, error: Exception) -> None:
    if response.status_code == OVERLOADED and isinstance(error, ActorError):
        # Too much to do, or the end of the engine: nothing is wrong with it.
        _log.warning("request_refused", path=path, method=method, reason=str(error))
    elif response.status_code >= 500:
        _log.error("request_failed", path=path, method=method, exc_info=error)
