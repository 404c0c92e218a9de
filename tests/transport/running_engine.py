"""An engine in this process, served over a real loopback socket by the real server. Owns its start and its end."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, cast

import trio

from actors.agents import AgentOptions
from actors.resolution import CapabilityEdit
from actors.space import Space, SpaceOptions, built_in_capabilities
from engine.engine import Engine
from engine.store import Store
from protocol.limits import DEFAULT_LIMITS, Limits
from tests.transport.mcp_client import ENDPOINT, McpClient, SseClient
from tests.transport.raw_http import BOUND_SECONDS, RawConnection, Response, connect, connected, request_bytes
from tests.transport.stateless_client import StatelessClient
from tests.transport.tools_on_trial import Hooks
from transport.app import SpaceApp, make_app
from transport.asgi import AsgiApp
from transport.call_answers import STREAM_AFTER_SECONDS
from transport.ending import end_in_order
from transport.guard import GuardPolicy
from transport.listener import Listener, is_loopback, open_listener
from transport.panel_files import read_panel_files
from transport.serve import ServedSpace
from transport.server import IDLE_SECONDS, HttpServer
from transport.status import EndpointFacts
from transport.world_routes import larger_bodies

GRACE_SECONDS = 2.0
PEER_TIMEOUT_SECONDS = 1.0


@dataclass(slots=True)
class RunningEngine:
    """The parts, for tests that look behind the wire; everything else goes over `port`."""

    space: Space
    server: HttpServer
    app: SpaceApp
    listener: Listener
    hooks: Hooks
    grace: float
    ended: bool = False

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self.listener.port

    async def connect(self) -> RawConnection:
        """A new connection, which the caller closes."""
        return await connect(self.port)

    async def request(
        self,
        method: str,
        target: str,
        headers: tuple[tuple[str, str], ...] = (),
        body: bytes | None = None,
        *,
        host: str | None = "127.0.0.1",
    ) -> Response:
        """One request on a connection of its own."""
        async with connected(self.port) as connection:
            await connection.send(request_bytes(method, target, headers, body, host=host))
            return await connection.read_response(method)

    async def status(self) -> Any:
        """What `GET /status` says."""
        response = await self.request("GET", "/status")
        assert response.status == 200
        return response.json

    async def client(
        self,
        version: str = "2025-06-18",
        *,
        name: str = "tests",
        endpoint: str = ENDPOINT,
        capabilities: Any = None,
    ) -> McpClient:
        """A client in direct mode that has been through the handshake."""
        return await McpClient.initialized(self.port, version, name=name, endpoint=endpoint, capabilities=capabilities)

    def stateless(self, capabilities: Any = None, **claims: Any) -> StatelessClient:
        """A client that knows no sessions."""
        return StatelessClient(self.port, capabilities, **claims)

    async def sse_client(self, endpoint: str = ENDPOINT) -> SseClient:
        """A client of the single stream, which has read its endpoint event and no more."""
        return await SseClient.opened(self.port, endpoint)

    async def end(self) -> bool:
        """The ordered end, as a signal would bring it about."""
        self.ended = True
        with trio.fail_after(self.grace + BOUND_SECONDS):
            return await end_in_order(ServedSpace(self.space), self.server, self.grace)


@asynccontextmanager
async def running_engine(
    folder: Path,
    *,
    force_sse: bool = False,
    token: str | None = None,
    host: str = "127.0.0.1",
    limits: Limits = DEFAULT_LIMITS,
    stream_after: float = STREAM_AFTER_SECONDS,
    built_in: bool = False,
    grace: float = GRACE_SECONDS,
    peer_timeout: float = PEER_TIMEOUT_SECONDS,
    idle_seconds: float = IDLE_SECONDS,
    agents: AgentOptions | None = None,
    more: tuple[CapabilityEdit, ...] = (),
) -> AsyncGenerator[RunningEngine]:
    """Serve an engine whose data is in `folder`, and end it in order when the block is left well.

    It has the tools on trial and `more`, and those that are built in where a test asks for them: they take a tenth of a
    second.
    """
    hooks = Hooks()
    workspace = folder / "workspace"
    workspace.mkdir(exist_ok=True)
    listener = open_listener(host, 0, allow_non_loopback=not is_loopback(host), token=token, peer_timeout=peer_timeout)
    store = Store.open(folder / "data", now=datetime.now(UTC))
    engine = Engine(store.load(), clock=lambda: datetime.now(UTC))
    options = SpaceOptions(workspace=workspace, limits=limits, agents=agents or AgentOptions(), data=folder / "data")
    space = Space(engine, store, options)
    facts = EndpointFacts(
        listener=listener, data=folder / "data", workspace=workspace, force_sse=force_sse, started_at=time.time()
    )
    panel = read_panel_files()
    app = make_app(space, facts, panel=panel, stream_after=stream_after)
    policy = GuardPolicy(
        loopback_only=is_loopback(host),
        token=token,
        body_bytes=limits.body_bytes,
        larger_bodies=larger_bodies(limits),
        open_paths=frozenset(panel),
    )
    server = HttpServer(cast("AsgiApp", app), listener, policy, grace=grace, idle_seconds=idle_seconds)
    with listener.socket:
        async with trio.open_nursery() as nursery:
            capabilities = (*((built_in_capabilities(),) if built_in else ()), hooks.capabilities(), *more)
            await nursery.start(partial(space.run, capabilities))
            await nursery.start(server.run)
            running = RunningEngine(space, server, app, listener, hooks, grace)
            yield running
            if not running.ended:
                await running.end()
            nursery.cancel_scope.cancel()
