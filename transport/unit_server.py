"""`space units serve`: a server for agents from outside that develop units, from its options to an exit code.

Owns the order in which it starts and ends, and what it prints: two lines, once the endpoint really answers. Standard
output holds nothing else, whatever a unit prints while it is loaded.
"""

from __future__ import annotations

import os
import shlex
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_bytes
from typing import Any, TextIO, cast

import structlog
import trio

from actors.unit_server import UnitServer, UnitServerOptions
from actors.unit_workshop import UnitOptions
from engine.collector import settle_collector
from engine.units.manifest import MANIFEST
from protocol.handler import Handler, ServerInfo
from protocol.request_state import KEY_BYTES, StateSealer
from protocol.stateless_rules import Stateless
from transport.app import SpaceApp
from transport.asgi import AsgiApp
from transport.connection import LARGER_BODIES
from transport.defaults import DEFAULT_HOST, GRACE_SECONDS, MCP_PATH, PEER_TIMEOUT_SECONDS
from transport.direct_endpoint import DirectEndpoint
from transport.ending import EXIT_CUT_OFF, EXIT_OK, LastResort, serve_until_told
from transport.guard import GuardPolicy
from transport.listener import Listener, is_loopback, open_listener
from transport.logs import LogFormat, LogLevel, configure_logs
from transport.mcp_service import McpService
from transport.opencode import opencode_environment
from transport.opencode_units import UNIT_SERVER_NAME, OpencodeFolder, unit_server_configuration
from transport.probe import wait_until_it_answers
from transport.rest import rest_routes
from transport.server import HttpServer
from transport.sse_endpoint import SseEndpoint
from transport.starting import start_or_say
from transport.status import EndpointFacts
from transport.unit_routes import unit_routes
from transport.version import VERSION

_log = structlog.stdlib.get_logger("space")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitServeOptions:
    """What `space units serve` can be told.

    `units` is a folder of units, which must be there; `data` is where logs and snapshots are kept, as an engine keeps
    them, so that it can restore what was changed here. `user` is what the user's own opencode says about models.
    """

    units: Path
    data: Path
    host: str = DEFAULT_HOST
    port: int = 0
    force_sse: bool = False
    token: str | None = field(default=None, repr=False)
    allow_non_loopback: bool = False
    user: Mapping[str, Any] = field(default_factory=dict[str, Any], repr=False)
    log_format: LogFormat = LogFormat.CONSOLE
    log_level: LogLevel = LogLevel.WARNING
    grace_seconds: float = GRACE_SECONDS


def run(options: UnitServeOptions) -> int:
    """Serve until a signal ends it; blocks. Returns the exit code. What keeps it from starting is printed."""
    configure_logs(options.log_format, options.log_level)
    out = sys.stdout

    def serve() -> int:
        # What units print is for people; programs read the two lines.
        with LastResort() as last_resort, redirect_stdout(sys.stderr), _opened(options) as (served, listener):
            return trio.run(_serve, options, served, listener, out, last_resort)

    return start_or_say(serve)


class _Served:
    """The unit server with its folder for opencode, as what is to end."""

    def __init__(self, server: UnitServer, folder: OpencodeFolder) -> None:
        self.server = server
        self.folder = folder
        self.run = server.run
        self.drain = server.drain
        self.stop = server.stop
        self.wait_ended = server.wait_ended

    def kill(self) -> None:
        """See `Served`."""
        self.folder.remove()
        self.server.kill()


@contextmanager
def _opened(options: UnitServeOptions) -> Generator[tuple[_Served, Listener]]:
    """The parts that can refuse to open, in the order in which a person would want to hear of it."""
    check_units(options.units)
    options.data.mkdir(parents=True, exist_ok=True, mode=0o700)
    _check_writable(options.data)
    listener = open_listener(
        options.host,
        options.port,
        allow_non_loopback=options.allow_non_loopback,
        token=options.token,
        peer_timeout=PEER_TIMEOUT_SECONDS,
    )
    with listener.socket:
        folder = OpencodeFolder()
        try:
            workspace = folder.path / "workspace"
            workspace.mkdir()
            places = UnitOptions(home=options.data, roots=(options.units,))
            yield _Served(UnitServer(UnitServerOptions(places=places, workspace=workspace)), folder), listener
        finally:
            folder.remove()


def check_units(units: Path) -> None:
    """Raise `OSError` where no unit could be made, while somebody is there to read it."""
    if not units.is_dir():
        raise NotADirectoryError(f"{units} is not a folder; name one with --units")
    if (units / MANIFEST).exists():
        raise NotADirectoryError(f"{units} is a unit itself; name the folder that it lies in, {units.parent}")
    _check_writable(units)


def _check_writable(folder: Path) -> None:
    try:
        # Asking for rights would not find a file system that is read-only. It has no name, so nobody sees it come.
        with tempfile.TemporaryFile(dir=folder, prefix="."):
            pass
    except OSError as error:
        raise PermissionError(f"the folder {folder} cannot be written to: {error.strerror or error}") from None


async def _serve(
    options: UnitServeOptions, served: _Served, listener: Listener, out: TextIO, last_resort: LastResort
) -> int:
    policy = GuardPolicy(
        loopback_only=is_loopback(options.host),
        token=options.token,
        body_bytes=served.server.counter.options.limits.body_bytes,
    )
    app = make_unit_app(served.server, options, listener)
    server = HttpServer(cast("AsgiApp", app), listener, policy, grace=options.grace_seconds)
    url = f"{listener.origin}{MCP_PATH}"

    async def ready() -> None:
        served.folder.write(unit_server_configuration(url, token=options.token, user=options.user))
        await wait_until_it_answers(listener, options.token)
        settle_collector()
        print(f"MCP_URL={url}\nOPENCODE_XDG_CONFIG_HOME={served.folder.path}", file=out, flush=True)
        print(_how_to_begin(served.folder.path), file=sys.stderr, flush=True)  # noqa: T201 - a person reads it
        _log.info("started", url=url, units=str(options.units))

    clean = await serve_until_told(served, server, options.grace_seconds, ready, last_resort)
    return EXIT_OK if clean else EXIT_CUT_OFF


def make_unit_app(server: UnitServer, options: UnitServeOptions, listener: Listener) -> SpaceApp:
    """The web app: the MCP endpoint of the counter, and the routes with which people look at it and at its units."""
    space = server.counter
    facts = EndpointFacts(
        listener=listener,
        data=options.data,
        workspace=options.units,
        force_sse=options.force_sse,
        started_at=time.time(),
    )
    # The single stream is a session; who knows none is not served there.
    stateless = None if options.force_sse else Stateless(sealer=StateSealer(token_bytes(KEY_BYTES), time.time))
    info = ServerInfo(name=UNIT_SERVER_NAME, version=VERSION, title="Space: units")
    limits = space.options.limits
    service = McpService(space, Handler(info, limits, stateless=stateless, streamable=not options.force_sse))
    app = SpaceApp(SseEndpoint(service) if options.force_sse else DirectEndpoint(service), limits.body_bytes)
    app.config["MAX_CONTENT_LENGTH"] = limits.body_bytes
    app.config[LARGER_BODIES] = {}
    app.register_blueprint(rest_routes(space, facts))
    app.register_blueprint(unit_routes(server.bench))
    app.seal()
    return app


def _how_to_begin(folder: Path) -> str:
    changes = opencode_environment(folder, os.environ)
    unset = [word for name, value in changes.items() if value is None for word in ("-u", name)]
    assigned = [f"{name}={value}" for name, value in changes.items() if value is not None]
    return f"Start opencode with: {shlex.join(['env', *unset, *assigned, 'opencode'])}\nCtrl-C ends the server."
