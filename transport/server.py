"""The HTTP server: Hypercorn on one listening socket, with the remedies that its trio worker needs.

Owns serving and its ordered end. Never knows a route: those are in the app it is given, complete before it listens.
"""

from __future__ import annotations

import logging
from typing import Any, cast

import structlog
import trio
from hypercorn.config import Config, Sockets
from hypercorn.trio import serve  # pyright: ignore[reportUnknownVariableType] - its WSGI part is untyped

from transport.asgi import AsgiApp
from transport.guard import Guard, GuardPolicy
from transport.listener import Listener

IDLE_SECONDS = 75.0
"""How long an idle kept-alive connection stays open; beyond the 60 s that clients keep theirs."""

KEEP_ALIVE_REQUESTS = 2**31
"""Requests on one connection. Hypercorn would close it after 1000, in the middle of an answer to an agent's session."""

_log = structlog.stdlib.get_logger("http")


class AlreadyListeningError(Exception):
    """Raised when a server is asked to serve a second time."""


class _Config(Config):
    """Hypercorn's configuration, with the socket that we opened ourselves."""

    def __init__(self, listener: Listener, grace: float) -> None:
        super().__init__()
        self._listener = listener
        self.graceful_timeout = grace
        self.keep_alive_timeout = IDLE_SECONDS
        self.keep_alive_max_requests = KEEP_ALIVE_REQUESTS
        self.include_server_header = False
        self.accesslog = None
        # Its own lines would come between ours; what matters of it arrives through the log of this module.
        quiet = logging.getLogger("space.hypercorn")
        quiet.propagate = False
        quiet.addHandler(logging.NullHandler())
        self.errorlog = quiet

    def create_sockets(self) -> Sockets:
        return Sockets([], [self._listener.socket], [])


class HttpServer:
    """Serves one ASGI app on one listener, once. The listener is closed when `run` ends."""

    def __init__(self, app: AsgiApp, listener: Listener, policy: GuardPolicy, *, grace: float) -> None:
        self._app = Guard(app, policy)
        self._listener = listener
        self._grace = grace
        self._shutdown = trio.Event()
        self._started = False
        self._ended = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until `stop`, then give open connections the grace to end. Raises `AlreadyListeningError`."""
        if self._started:
            raise AlreadyListeningError("this server already listens; listen is called more than once")
        self._started = True
        config = _Config(self._listener, self._grace)
        try:
            async with trio.open_nursery() as nursery:
                await nursery.start(self._serve, config)
                task_status.started()
        finally:
            self._ended.set()

    async def wait_ended(self) -> None:
        """Wait until every connection has ended, or was cut off after the grace."""
        await self._ended.wait()

    async def _serve(self, config: Config, *, task_status: trio.TaskStatus[Any]) -> None:
        await serve(
            cast("Any", self._app), config, shutdown_trigger=self._shutdown.wait, task_status=task_status, mode="asgi"
        )

    def stop(self) -> None:
        """Accept nothing more and let connections end. Returns at once; does nothing the second time."""
        self._shutdown.set()
