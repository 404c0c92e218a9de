"""Space with one trivial tool, added as any tool is: an adapter, and a preset that offers it everywhere.

Everything else is what `space serve` runs: store, engine, actors, app, guard, HTTP server.

    python -m benchmarks.servers.space_tool DATA_FOLDER
"""

from __future__ import annotations

import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import cast

import trio

from actors.space import CapabilityEdit, Space, SpaceOptions
from benchmarks import leash
from engine.collector import settle_collector
from engine.engine import Engine
from engine.store import Store
from presets.adapters import typed_adapter
from presets.app import App
from presets.definition import DefaultState, PresetDefinition, Risk
from presets.schema import ToolArguments, ToolResult
from protocol.tool import ToolCall
from transport.app import make_app
from transport.asgi import AsgiApp
from transport.defaults import GRACE_SECONDS, MCP_PATH, PEER_TIMEOUT_SECONDS
from transport.guard import GuardPolicy
from transport.listener import open_listener
from transport.logs import LogFormat, LogLevel, configure_logs
from transport.server import HttpServer
from transport.status import EndpointFacts


class EchoArguments(ToolArguments):
    """What to give back."""

    text: str


class EchoResult(ToolResult):
    """What was given."""

    text: str


async def _echo(app: App, arguments: EchoArguments, call: ToolCall) -> EchoResult:
    return EchoResult(text=arguments.text)


def trivial_tool() -> CapabilityEdit:
    """The tool and the preset that shows it."""
    adapter = typed_adapter(
        id="benchmark.echo",
        mcp_name="space_benchmark_echo",
        description="Give the text back.",
        arguments=EchoArguments,
        result=EchoResult,
        run=_echo,
    )
    preset = PresetDefinition(
        name="benchmark-tools",
        group="benchmark",
        default_state=DefaultState.AUTO,
        risk=Risk.NORMAL,
        contexts=({"surface": "any"},),
        tool_ids=(adapter.id,),
    )
    return CapabilityEdit(add_adapters=(adapter,), add_presets=(preset,))


async def _serve(data: Path) -> None:
    listener = open_listener("127.0.0.1", 0, peer_timeout=PEER_TIMEOUT_SECONDS)
    store = Store.open(data, now=datetime.now(UTC))
    engine = Engine(store.load(), clock=lambda: datetime.now(UTC))
    space = Space(engine, store, SpaceOptions(workspace=data))
    facts = EndpointFacts(listener=listener, data=data, workspace=data, force_sse=False, started_at=time.time())
    server = HttpServer(cast("AsgiApp", make_app(space, facts)), listener, GuardPolicy(), grace=GRACE_SECONDS)
    async with trio.open_nursery() as nursery:
        await nursery.start(partial(space.run, (trivial_tool(),)))
        await nursery.start(server.run)
        settle_collector()
        print(f"listening on {listener.origin}{MCP_PATH}", flush=True)


if __name__ == "__main__":
    leash.hold()
    configure_logs(LogFormat.CONSOLE, LogLevel.INFO)
    trio.run(_serve, Path(sys.argv[1]))
