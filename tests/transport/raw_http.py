"""A raw HTTP/1.1 client: bytes out, bytes in, nothing hidden. Owns framing and its own deadlines; knows no MCP."""

from __future__ import annotations

import json
import socket
import struct
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import trio

BOUND_SECONDS = 10.0
"""How long any single wait may take before the test fails. Nothing here comes near it when all is well."""

RECEIVE_BYTES = 64 * 1024


class ConnectionEndedError(Exception):
    """Raised when the server closed the connection in the middle of what was awaited."""


@dataclass(frozen=True, slots=True)
class Head:
    """A status line with its headers (names in lower case)."""

    status: int
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str | None:
        """The only header of that name, or None. Fails when it came twice."""
        found = [value for key, value in self.headers if key == name]
        assert len(found) < 2, f"header {name} came {len(found)} times"
        return found[0] if found else None


@dataclass(frozen=True, slots=True)
class Response:
    """A whole response."""

    head: Head
    body: bytes

    @property
    def status(self) -> int:
        """The status code."""
        return self.head.status

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)

    def header(self, name: str) -> str | None:
        """See `Head.header`."""
        return self.head.header(name)


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event; `comment` is set instead where it is a comment."""

    event: str | None
    data: str
    comment: str | None = None
    id: str | None = None
    retry: int | None = None

    @property
    def json(self) -> Any:
        """The data as JSON."""
        return json.loads(self.data)


def request_bytes(
    method: str,
    target: str,
    headers: Iterable[tuple[str, str]] = (),
    body: bytes | None = None,
    *,
    host: str | None = "127.0.0.1",
) -> bytes:
    """A request as it goes over the wire. A body brings its length along."""
    lines = [f"{method} {target} HTTP/1.1"]
    if host is not None:
        lines.append(f"Host: {host}")
    lines.extend(f"{name}: {value}" for name, value in headers)
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + (body or b"")


def chunked(*chunks: bytes) -> bytes:
    """A body in chunked transfer coding."""
    return b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"


class RawConnection:
    """One connection. Reads are bounded by `BOUND_SECONDS` each."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self.stream = stream
        self._buffer = bytearray()
        self._events = bytearray()

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        with trio.fail_after(BOUND_SECONDS):
            await self.stream.send_all(data)

    async def request(
        self, method: str, target: str, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None
    ) -> Response:
        """Send a request and read its whole response."""
        await self.send(request_bytes(method, target, headers, body))
        return await self.read_response(method)

    async def read_head(self) -> Head:
        """The head of the next response."""
        raw = await self._read_until(b"\r\n\r\n")
        status_line, *lines = raw.decode("latin-1").split("\r\n")
        version, status, *_ = status_line.split(" ")
        assert version == "HTTP/1.1", status_line
        pairs = (line.partition(":") for line in lines if line)
        return Head(int(status), tuple((name.lower(), value.strip()) for name, _, value in pairs))

    async def read_response(self, method: str = "GET") -> Response:
        """The next whole response; informational ones are skipped."""
        head = await self.read_head()
        while head.status < 200:
            head = await self.read_head()
        if method == "HEAD" or head.status in {204, 304}:
            return Response(head, b"")
        if head.header("transfer-encoding") == "chunked":
            body = bytearray()
            while (chunk := await self.read_chunk()) is not None:
                body += chunk
            return Response(head, bytes(body))
        length = head.header("content-length")
        assert length is not None, f"a response without a length: {head}"
        return Response(head, await self._read_exactly(int(length)))

    async def read_chunk(self) -> bytes | None:
        """The next chunk of a chunked body, or None at its terminator."""
        size = int((await self._read_until(b"\r\n")).strip(), 16)
        data = await self._read_exactly(size + 2)
        assert data.endswith(b"\r\n")
        return data[:-2] if size else None

    async def next_event(self) -> Event | None:
        """The next event of a stream whose head was read, comments included; None at the clean end of the stream."""
        while b"\n\n" not in self._events:
            chunk = await self.read_chunk()
            if chunk is None:
                assert not self._events, f"the stream ended within an event: {bytes(self._events)!r}"
                return None
            self._events += chunk
        raw, _, rest = self._events.partition(b"\n\n")
        self._events = bytearray(rest)
        return parse_event(raw.decode())

    async def next_message(self) -> Any:
        """The JSON of the next `message` event; comments are skipped."""
        while True:
            event = await self.next_event()
            assert event is not None, "the stream ended"
            if event.comment is None:
                assert event.event == "message", event
                return event.json

    async def wait_closed(self) -> bytes:
        """Read until the server closes; gives what came before."""
        with trio.fail_after(BOUND_SECONDS):
            try:
                while data := await self.stream.receive_some(RECEIVE_BYTES):
                    self._buffer += data
            except trio.BrokenResourceError:
                pass
        return bytes(self._buffer)

    async def finish(self) -> None:
        """Close as a client does that has gone: with a FIN."""
        await self.stream.aclose()

    async def reset(self) -> None:
        """Close with an RST."""
        self.stream.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.stream.aclose()

    async def _fill(self) -> None:
        with trio.fail_after(BOUND_SECONDS):
            try:
                data = await self.stream.receive_some(RECEIVE_BYTES)
            except trio.BrokenResourceError as error:
                raise ConnectionEndedError(f"reset after {bytes(self._buffer)!r}") from error
        if not data:
            raise ConnectionEndedError(f"closed after {bytes(self._buffer)!r}")
        self._buffer += data

    async def _read_until(self, mark: bytes) -> bytes:
        while mark not in self._buffer:
            await self._fill()
        found, _, rest = self._buffer.partition(mark)
        self._buffer = bytearray(rest)
        return bytes(found)

    async def _read_exactly(self, size: int) -> bytes:
        while len(self._buffer) < size:
            await self._fill()
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        return data


def parse_event(text: str) -> Event:
    """One event from its lines."""
    event, data, comment, event_id, retry = None, [], None, None, None
    for line in text.split("\n"):
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            event = value
        elif name == "data":
            data.append(value)
        elif name == "id":
            event_id = value
        elif name == "retry":
            retry = int(value)
        elif not name:
            comment = value
    return Event(event, "\n".join(data), comment, event_id, retry)


async def connect(port: int, host: str = "127.0.0.1") -> RawConnection:
    """Open a connection. The caller closes it."""
    with trio.fail_after(BOUND_SECONDS):
        return RawConnection(await trio.open_tcp_stream(host, port))


@asynccontextmanager
async def connected(port: int, host: str = "127.0.0.1") -> AsyncGenerator[RawConnection]:
    """A connection that is closed at the end of the block."""
    connection = await connect(port, host)
    try:
        yield connection
    finally:
        await connection.finish()
