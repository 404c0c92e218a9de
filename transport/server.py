"""The HTTP server: Hypercorn's connections on one listening socket, with the remedies that its trio worker needs.

Owns accepting, serving and the ordered end. Never knows a route: those are in the app it is given, complete before it
listens. The loop is our own, about as long as Hypercorn's: there a fault in one connection ends the whole server, and
nobody learns whether the end had to cut anything off.
"""

from __future__ import annotations

import logging
from functools import partial
from typing import cast

import structlog
import trio
from hypercorn.app_wrappers import ASGIWrapper
from hypercorn.config import Config
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ASGIFramework

from transport.asgi import AsgiApp
from transport.guard import Guard, GuardPolicy
from transport.listener import Listener
from transport.tcp_connection import TcpConnection

IDLE_SECONDS = 75.0
"""How long an idle kept-alive connection stays open; beyond the 60 s that clients keep theirs."""

KEEP_ALIVE_REQUESTS = 2**31
"""Requests on one connection. Hypercorn would close it after 1000, in the middle of an answer to an agent's session."""

_log = structlog.stdlib.get_logger("http")


class AlreadyListeningError(Exception):
    """Raised when a server is asked to serve a second time."""


class HttpServer:
    """Serves one ASGI app on one listener, once. The listener is closed when `run` ends.

    A fault in one connection ends that connection and is logged. `idle_seconds` is how long a connection may be idle.
    """

    def __init__(
        self,
        app: AsgiApp,
        listener: Listener,
        policy: GuardPolicy,
        *,
        grace: float,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._app = ASGIWrapper(cast("ASGIFramework", Guard(app, policy)))
        self._listener = listener
        self._grace = grace
        self._config = _config(idle_seconds)
        self._context = WorkerContext(None)
        self._shutdown = trio.Event()
        self._started = False
        self._ended = trio.Event()
        self._cut_off = False

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until `stop`, then give open connections the grace to end. Raises `AlreadyListeningError`."""
        if self._started:
            raise AlreadyListeningError("this server already listens; listen is called more than once")
        self._started = True
        try:
            async with trio.open_nursery() as connections:
                listener = trio.SocketListener(trio.socket.from_stdlib_socket(self._listener.socket))
                accept = partial(trio.serve_listeners, self._serve, [listener], handler_nursery=connections)
                async with trio.open_nursery() as accepting:
                    await accepting.start(accept)
                    task_status.started()
                    await self._shutdown.wait()
                    accepting.cancel_scope.cancel()
                await self._context.terminated.set()
                connections.cancel_scope.deadline = trio.current_time() + self._grace
            self._cut_off = connections.cancel_scope.cancelled_caught
        finally:
            self._ended.set()

    async def wait_ended(self) -> bool:
        """Wait until every connection has ended; False when some had to be cut off after the grace."""
        await self._ended.wait()
        return not self._cut_off

    def stop(self) -> None:
        """Accept nothing more and let connections end. Returns at once; does nothing the second time."""
        self._shutdown.set()

    async def _serve(self, stream: trio.SocketStream) -> None:
        connection = TcpConnection(self._app, self._config, self._context, stream)
        try:
            await connection.run()
        except Exception:  # noqa: BLE001 - the boundary of a connection: its fault must reach the log and end it alone
            _log.exception("connection_failed")


def _config(idle_seconds: float) -> Config:
    config = Config()
    config.keep_alive_timeout = idle_seconds
    config.keep_alive_max_requests = KEEP_ALIVE_REQUESTS
    config.include_server_header = False
    config.accesslog = None
    config.errorlog = _hypercorn_log()
    return config


class _Forward(logging.Handler):
    """Hands what Hypercorn has to say on to our log: faults of the app, and nothing of its daily life."""

    def emit(self, record: logging.LogRecord) -> None:
        _log.error("hypercorn", message=record.getMessage(), exc_info=record.exc_info)


def _hypercorn_log() -> logging.Logger:
    log = logging.getLogger("space.hypercorn")
    log.propagate = False
    log.handlers = [_Forward(logging.WARNING)]
    return log
