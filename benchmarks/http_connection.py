"""A kept-alive connection that asks and waits, on a raw socket: so that no client library is measured along."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

ANSWER_SECONDS = 10.0
"""How long an answer may take before the benchmark gives up."""

CHUNK_BYTES = 2**18


@dataclass(frozen=True)
class Answer:
    """A response, whole. Names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


def request_bytes(method: str, path: str, headers: Mapping[str, str], body: object = None) -> bytes:
    """A request as it goes over the wire; `body` as JSON, None for none."""
    data = b"" if body is None else json.dumps(body).encode()
    given = {"Host": "127.0.0.1", **headers}
    if body is not None:
        given |= {"Content-Type": "application/json", "Content-Length": str(len(data))}
    lines = (f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items()), "", "")
    return "\r\n".join(lines).encode() + data


class HttpConnection:
    """One connection. Serves one request after the other; responses must say how long they are."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.socket.close()

    def ask(self, request: bytes) -> Answer:
        """Send a request and read its response."""
        self.socket.sendall(request)
        return self.read_answer()

    def read_answer(self) -> Answer:
        """Read the response to a request that was sent. Raises `ConnectionError` when the server ends it early."""
        head, _, rest = self._read_until(b"\r\n\r\n").partition(b"\r\n\r\n")
        status, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        body = bytearray(rest)
        while len(body) < int(headers.get("content-length", "0")):
            body += self._receive()
        return Answer(int(status.split()[1]), headers, bytes(body))

    def _read_until(self, mark: bytes) -> bytes:
        data = bytearray()
        while mark not in data:
            data += self._receive()
        return bytes(data)

    def _receive(self) -> bytes:
        data = self.socket.recv(CHUNK_BYTES)
        if not data:
            raise ConnectionError("the server closed the connection before its answer was whole")
        return data
