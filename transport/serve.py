"""`space serve`: from options to an exit code. Owns the order in which everything starts and ends.

Start: store, listener, actors, HTTP; the address is printed once the endpoint really answers. End, at the first
SIGTERM, SIGINT or SIGHUP: no new connections, calls in flight are answered, streams end, actors stop from the top down,
the store is closed; exit code 0, or 1 when something had to be cut off. A second signal ends at once, with 128 plus its
number.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import structlog
import trio

from actors.agents import AgentOptions
from actors.resolution import CapabilityEdit
from actors.space import Space, SpaceOptions
from engine.collector import settle_collector
from engine.engine import Engine
from engine.store import Store
from presets.adapters import MCP_NAME_PREFIX
from presets.presentation import Presentation
from protocol.limits import DEFAULT_LIMITS, Limits
from transport.agent_routes import default_problem
from transport.app import make_app
from transport.asgi import AsgiApp
from transport.defaults import (
    DEFAULT_AGENT,
    DEFAULT_HOST,
    DEFAULT_PORT,
    GRACE_SECONDS,
    MCP_PATH,
    PEER_TIMEOUT_SECONDS,
    SESSION_TTL_SECONDS,
)
from transport.ending import EXIT_CUT_OFF, EXIT_OK, LastResort, serve_until_told
from transport.guard import GuardPolicy
from transport.listener import Listener, is_loopback, open_listener
from transport.logs import LogFormat, LogLevel, configure_logs
from transport.panel_files import PANEL_PATH, read_panel_files
from transport.probe import wait_until_it_answers
from transport.server import HttpServer
from transport.starting import start_or_say
from transport.status import EndpointFacts
from transport.world_routes import larger_bodies

AGENTS_FOLDER = "agents"
"""Below the data folder: a folder for each agent of the user's own."""

_log = structlog.stdlib.get_logger("space")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeOptions:
    """What `space serve` can be told. `data` and `workspace` are folders; the data folder is made when missing."""

    data: Path
    workspace: Path
    units: tuple[Path, ...] = ()
    """Folders of units beside the one in the data folder, and units."""
    host: str = DEFAULT_HOST
    port: int = DEFAULT_PORT
    force_sse: bool = False
    token: str | None = field(default=None, repr=False)
    allow_non_loopback: bool = False
    log_format: LogFormat = LogFormat.CONSOLE
    log_level: LogLevel = LogLevel.INFO
    grace_seconds: float = GRACE_SECONDS
    peer_timeout_seconds: float = PEER_TIMEOUT_SECONDS
    session_ttl_seconds: float = SESSION_TTL_SECONDS
    limits: Limits = DEFAULT_LIMITS
    presentation: Presentation = Presentation.NATIVE
    """The form of the tools for agents that choose none."""
    ask_before_destroying: bool = True
    """See `SpaceOptions`."""
    agent: str = DEFAULT_AGENT
    """The agent of clients that name none."""
    tool_prefix: str | None = MCP_NAME_PREFIX
    """See `SpaceOptions`."""

    @property
    def agents(self) -> AgentOptions:
        """How the agents are set up: the user's own lie in the data folder."""
        return AgentOptions(user_root=self.data / AGENTS_FOLDER, default=self.agent, presentation=self.presentation)


def run(options: ServeOptions, capabilities: Sequence[CapabilityEdit] | None = None) -> int:
    """Serve until a signal ends it; blocks. Returns the exit code. What keeps it from starting is printed.

    An application that has capabilities of its own gives them here, with `built_in_capabilities()` or without; None is
    the built-in ones alone.
    """
    configure_logs(options.log_format, options.log_level)

    def serve() -> int:
        # Around all of it: what is closed at the end can be held as well.
        with LastResort() as last_resort, _opened(options) as (space, listener):
            return trio.run(_serve, options, space, listener, capabilities, last_resort)

    return start_or_say(serve)


@contextmanager
def _opened(options: ServeOptions) -> Generator[tuple[Space, Listener]]:
    """The parts that can refuse to open, in the order in which a person would want to hear of it."""
    if not options.workspace.is_dir():
        raise NotADirectoryError(f"the workspace {options.workspace} is not a folder")
    listener = open_listener(
        options.host,
        options.port,
        allow_non_loopback=options.allow_non_loopback,
        token=options.token,
        peer_timeout=options.peer_timeout_seconds,
    )
    with listener.socket:
        options.data.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = Store.open(options.data, now=datetime.now(UTC))
        stored = store.load()
        for report in stored.reports:
            _log.error("store_report", report=report)
        engine = Engine(stored, clock=lambda: datetime.now(UTC))
        yield (
            Space(
                engine,
                store,
                SpaceOptions(
                    workspace=options.workspace.resolve(),
                    session_ttl_seconds=options.session_ttl_seconds,
                    limits=options.limits,
                    agents=options.agents,
                    data=options.data,
                    unit_roots=options.units,
                    tool_prefix=options.tool_prefix,
                    ask_before_destroying=options.ask_before_destroying,
                ),
            ),
            listener,
        )


async def _serve(
    options: ServeOptions,
    space: Space,
    listener: Listener,
    capabilities: Sequence[CapabilityEdit] | None,
    last_resort: LastResort,
) -> int:
    facts = EndpointFacts(
        listener=listener,
        data=options.data,
        workspace=options.workspace,
        force_sse=options.force_sse,
        started_at=time.time(),
    )
    limits = space.options.limits
    panel = read_panel_files()
    policy = GuardPolicy(
        loopback_only=is_loopback(options.host),
        token=options.token,
        body_bytes=limits.body_bytes,
        larger_bodies=larger_bodies(limits),
        open_paths=frozenset(panel),
    )
    app = make_app(space, facts, panel=panel)
    server = HttpServer(cast("AsgiApp", app), listener, policy, grace=options.grace_seconds)
    url = f"{listener.origin}{MCP_PATH}"

    async def ready() -> None:
        await wait_until_it_answers(listener, options.token)
        settle_collector()
        _report_default_agent(space)
        print(f"space: listening on {url}", flush=True)  # noqa: T201 - what programs wait for
        print(f"space: panel on {listener.origin}{PANEL_PATH}", flush=True)  # noqa: T201 - where a person looks
        _log.info("started", url=url, force_sse=options.force_sse, data=str(options.data))

    served = ServedSpace(space, capabilities)
    clean = await serve_until_told(served, server, options.grace_seconds, ready, last_resort)
    return EXIT_OK if clean else EXIT_CUT_OFF


class ServedSpace:
    """An engine as something that is served, with these capabilities."""

    def __init__(self, space: Space, capabilities: Sequence[CapabilityEdit] | None = None) -> None:
        self._space = space
        self._capabilities = capabilities

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """See `Served`."""
        await self._space.run(self._capabilities, task_status=task_status)

    async def drain(self, seconds: float) -> bool:
        """See `Served`."""
        return await self._space.drain(seconds)

    def stop(self) -> None:
        """See `Served`."""
        self._space.stop()

    async def wait_ended(self) -> None:
        """See `Served`."""
        await self._space.wait_ended()

    def kill(self) -> None:
        """See `Served`. Every acknowledged change is in the store already."""
        self._space.app.process_groups.kill()


def _report_default_agent(space: Space) -> None:
    """Say loudly when clients that name no agent get none. The engine serves all the same: agents come and go."""
    problem = default_problem(space.agents.agents.value)
    if problem is not None:
        _log.error("default_agent_unusable", agent=space.options.agents.default, reason=problem)
