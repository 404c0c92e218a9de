"""Clients that ask for much and read nothing. Own their sockets."""

from __future__ import annotations

import socket
from collections.abc import Generator
from contextlib import ExitStack, contextmanager

from tests.transport.raw_http import request_bytes

RECEIVE_BUFFER_BYTES = 4096
"""Small, so that little of what the server sends is taken off its hands."""

REQUESTS = 400
"""Asked for in one go. Their answers are far more than the buffers of both sides hold."""

TARGET = "/api/tools"
"""A route with a long answer."""


@contextmanager
def silent_clients(port: int, count: int) -> Generator[list[socket.socket]]:
    """So many connected clients that have asked and do not read. The server is soon stuck in a send to each."""
    with ExitStack() as stack:
        clients: list[socket.socket] = []
        for _ in range(count):
            client = stack.enter_context(socket.socket())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
            client.settimeout(5)
            client.connect(("127.0.0.1", port))
            client.sendall(request_bytes("GET", TARGET) * REQUESTS)
            clients.append(client)
        yield clients


def unsent_bytes(port: int) -> list[int]:
    """How much waits to be sent on each connection of a server that listens on that port; Linux's own figures."""
    waiting: list[int] = []
    with open("/proc/net/tcp", encoding="ascii") as table:
        for line in list(table)[1:]:
            fields = line.split()
            local, state, queues = fields[1], fields[3], fields[4]
            if state == "01" and int(local.rpartition(":")[2], 16) == port:
                waiting.append(int(queues.partition(":")[0], 16))
    return waiting
