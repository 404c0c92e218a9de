"""One TCP connection of Hypercorn's, speaking HTTP/1.1 and never anything else. Owns what is spoken and how.

Hypercorn takes every `Upgrade: h2c`, which some clients send with each request, and the preface of HTTP/2. What it then
opens is not ended by a client that goes away, and would hold a shutdown for its whole grace; and nothing of our
streams, their end and our limits was made for it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import MAX_RECV, TCPServer
from hypercorn.trio.worker_context import TrioSingleTask, WorkerContext
from hypercorn.typing import AppWrapper, ConnectionState

_STATE_KEY = "space.connection"
"""Where the scope of a request has the connection that it came on."""


class TcpConnection(TCPServer):
    """Serves one connection until either side ends it. A fault is raised, with the stream closed."""

    def __init__(self, app: AppWrapper, config: Config, context: WorkerContext, stream: trio.SocketStream) -> None:
        # It declares to take streams with TLS, and serves plain ones as well.
        secure = cast("trio.SSLStream[trio.SocketStream]", stream)
        super().__init__(app, config, context, ConnectionState({_STATE_KEY: self}), secure)
        self._socket = stream.socket
        self._idle = _IdleLimit(config.keep_alive_timeout)
        self.idle_task = cast("TrioSingleTask", self._idle)
        self._holding = False
        self._held = b""
        self._reading = trio.CancelScope()
        self._on_gone: Callable[[], None] | None = None
        self.awaiting_body = False
        """Whether a request is being served whose body has not come to its end."""
        self.ending = False
        """Whether the server takes no more requests."""

    async def run(self) -> None:
        """Read, and let a task of its own answer, until the end of the connection."""
        try:
            client, server = self._socket.getpeername(), self._socket.getsockname()
            async with TaskGroup() as task_group:
                self._task_group = task_group
                http = _Http1(
                    self.app,
                    self.config,
                    self.context,
                    task_group,
                    ConnectionState(self.state),
                    ssl=False,
                    client=client[:2],
                    server=server[:2],
                    send=self.protocol_send,
                )
                http.on_closed = self._over
                self.protocol = cast("ProtocolWrapper", http)
                await self.idle_task.restart(task_group, self._idle_timeout)  # pyright: ignore[reportUnknownMemberType]
                with self._reading:
                    await self._read_data()
                # Nobody waits for the next request of a client that is gone; Hypercorn does, until the idle time is up.
                await self.idle_task.stop()
        except OSError:
            # The peer was gone before anybody could ask who it is.
            return
        finally:
            await self._close()

    async def _read_data(self) -> None:
        async with trio.open_nursery() as watching:
            watching.start_soon(self._end_with_the_server)
            while (data := await self._receive()) is not None:
                await self.protocol.handle(RawData(data))
                if not data:
                    break
            watching.cancel_scope.cancel()
        await self.protocol.handle(Closed())

    async def _receive(self) -> bytes | None:
        """What the client sent, empty at its end; None when the connection is broken or was idle for too long."""
        with self._idle.limited():
            try:
                return bytes(await self.stream.receive_some(MAX_RECV))
            except (trio.ClosedResourceError, trio.BrokenResourceError):
                return None
        return None

    async def _end_with_the_server(self) -> None:
        await self.context.terminated.wait()
        self._idle.exhaust()
        self.ending = True
        if self.awaiting_body:
            # It asks for nothing yet, and nobody knows when it will.
            self._over()

    async def protocol_send(self, event: Event) -> None:
        """Write what the protocol gives; a head that is held goes out together with what follows it."""
        if isinstance(event, Updated) and event.idle and self._reading.cancel_called:
            return
        if isinstance(event, RawData):
            if self._holding:
                self._held += event.data
                return
            if self._held:
                event, self._held = RawData(self._held + event.data), b""
        try:
            await super().protocol_send(event)
        except trio.BusyResourceError:
            # Writes take turns, so the other task is at the end of the connection: it read something that is no HTTP.
            await self.protocol.handle(Closed())

    @contextmanager
    def cancelling(self, action: Callable[[], None]) -> Generator[None]:
        """Let this be called when the client leaves during the block. For the one request that is being served."""
        self._on_gone = action
        try:
            yield
        finally:
            self._on_gone = None

    def _over(self) -> None:
        """Nothing more can be read or answered."""
        self._reading.cancel()
        if self._on_gone is not None:
            self._on_gone()

    @contextmanager
    def holding(self) -> Generator[None]:
        """Hold what is written in this block, until the next write after it."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False


def connection_of(scope: Mapping[str, Any]) -> TcpConnection | None:
    """The connection that a request came on; None for one that came in another way."""
    connection = scope.get("state", {}).get(_STATE_KEY)
    return connection if isinstance(connection, TcpConnection) else None


class _IdleLimit:
    """How long a connection may be idle: the deadline of its read. Hypercorn has a task for it, anew for each request.

    It has the form of Hypercorn's `SingleTask`, in whose place it stands.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadline = math.inf
        self._reading: trio.CancelScope | None = None

    async def restart(self, task_group: object, action: Callable[[], object]) -> None:
        """The connection is idle from now on."""
        self._set(trio.current_time() + self._seconds)

    async def stop(self) -> None:
        """A request has begun."""
        self._set(math.inf)

    def exhaust(self) -> None:
        """Let the connection end now if it is idle, else when it becomes so."""
        self._seconds = -math.inf
        if self._deadline != math.inf:
            self._set(-math.inf)

    @contextmanager
    def limited(self) -> Generator[None]:
        """Bound a read by the limit, whatever that becomes meanwhile."""
        with trio.CancelScope(deadline=self._deadline) as self._reading:
            yield

    def _set(self, deadline: float) -> None:
        self._deadline = deadline
        if self._reading is not None:
            self._reading.deadline = deadline


class _Http1(H11Protocol):
    on_closed: Callable[[], None]
    """Told once nothing more can be sent or received."""

    async def handle(self, event: Event) -> None:
        """Pass on what came in. A connection that is over is not read from any more.

        Else reading would wait for ever where it holds a second request back until the first one is answered: of an
        answer that could not be sent it never learns.
        """
        await super().handle(event)
        if isinstance(event, Closed):
            self.on_closed()

    async def _check_protocol(self, event: object) -> None:
        """Go on with HTTP/1.1, whatever the client offers to change to."""
