"""One TCP connection of Hypercorn's, speaking HTTP/1.1 and never anything else. Owns what is spoken and how.

Hypercorn takes every `Upgrade: h2c`, which some clients send with each request, and the preface of HTTP/2. What it then
opens is not ended by a client that goes away, and would hold a shutdown for its whole grace; and nothing of our
streams, their end and our limits was made for it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import trio
from hypercorn.config import Config
from hypercorn.events import Closed, Event, RawData, Updated
from hypercorn.protocol import ProtocolWrapper
from hypercorn.protocol.h11 import H11Protocol
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.tcp_server import TCPServer
from hypercorn.trio.worker_context import WorkerContext
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
        self._holding = False
        self._held = b""
        self._reading = trio.CancelScope()

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
                http.on_closed = self._reading.cancel
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
        await super().protocol_send(event)

    @contextmanager
    def holding(self) -> Generator[None]:
        """Hold what is written in this block, until the next write after it."""
        self._holding = True
        try:
            yield
        finally:
            self._holding = False


@contextmanager
def head_held(scope: Mapping[str, Any]) -> Generator[None]:
    """Hold the head of a response that is sent in this block, so that it shares a packet with the body.

    Does nothing for a request that came over no connection of ours.
    """
    connection = scope.get("state", {}).get(_STATE_KEY)
    if not isinstance(connection, TcpConnection):
        yield
        return
    with connection.holding():
        yield


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
