"""Serves a `Space` as `space serve` does (store, engine, actors, app, guard, server), with other tools or agents."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

import trio

from actors.agents import AgentOptions
from actors.space import CapabilityEdit, Space, SpaceOptions
from engine.collector import settle_collector
from engine.engine import Engine
from engine.store import Store
from transport.app import make_app
from transport.asgi import AsgiApp
from transport.defaults import GRACE_SECONDS, MCP_PATH, PEER_TIMEOUT_SECONDS
from transport.guard import GuardPolicy
from transport.listener import open_listener
from transport.server import HttpServer
from transport.status import EndpointFacts


async def serve(
    data: Path,
    capabilities: Sequence[CapabilityEdit] | None = None,
    agents: AgentOptions | None = None,
    furnish: Callable[[Engine, Store], None] | None = None,
) -> None:
    """Serve until cancelled, and print the address. `furnish` puts into the world what is to be there at the start."""
    listener = open_listener("127.0.0.1", 0, peer_timeout=PEER_TIMEOUT_SECONDS)
    store = Store.open(data, now=datetime.now(UTC))
    engine = Engine(store.load(), clock=lambda: datetime.now(UTC))
    if furnish is not None:
        furnish(engine, store)
    space = Space(engine, store, SpaceOptions(workspace=data, agents=agents or AgentOptions()))
    facts = EndpointFacts(listener=listener, data=data, workspace=data, force_sse=False, started_at=time.time())
    server = HttpServer(cast("AsgiApp", make_app(space, facts)), listener, GuardPolicy(), grace=GRACE_SECONDS)
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(space.run, capabilities))
        await nursery.start(server.run)
        settle_collector()
        print(f"listening on {listener.origin}{MCP_PATH}", flush=True)
