"""The HTTP client through which an MCP server is reached.

Owns how long it waits, how much of an answer it takes, and that what is nested too deep spoils nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

import httpx2

from actors.proxy_depth import within_depth
from actors.proxy_target import ProxyTarget
from engine.errors import EngineError

MAX_BODY_BYTES = 16 * 1024 * 1024
"""Of one answer, or of all that one stream brings for a call; a picture has some megabytes as text."""

CONNECT_SECONDS = 10.0
"""Until a connection stands and a request is sent."""

SILENCE_SECONDS = 3900.0
"""Between two pieces of an answer. Longer than any call may take, which has a limit of its own."""


def http_client(target: ProxyTarget, say: Callable[[str], object]) -> httpx2.AsyncClient:
    """A client that sends the headers of the target, and says what it leaves out. Whoever asked for it closes it."""
    return httpx2.AsyncClient(
        headers=dict(target.headers),
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=SILENCE_SECONDS),
        transport=_Bounded(say),
        # A proxy of the environment is no way to this machine itself.
        trust_env=not _is_near(target.url or ""),
    )


def _is_near(url: str) -> bool:
    host = urlsplit(url).hostname or ""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


class _Bounded(httpx2.AsyncHTTPTransport):
    """Takes answers up to their limits."""

    def __init__(self, say: Callable[[str], object]) -> None:
        super().__init__()
        self._say = say

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        # The stream of what a server says by itself is there for days; each of its events has a limit.
        if request.method != "GET":
            assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101 - of an asynchronous transport
            response.stream = _BoundedBody(response.stream)
            if "content-encoding" not in response.headers:
                response.stream = ShallowBody(response.stream, self._say)
                # It may be another then.
                response.headers.pop("content-length", None)
        return response


class AnswerTooLargeError(EngineError, httpx2.StreamError):
    """Raised while an answer is read that has more than `MAX_BODY_BYTES`."""


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        left = MAX_BODY_BYTES
        async for data in self._stream:
            left -= len(data)
            if left < 0:
                raise AnswerTooLargeError(f"the answer has more than {MAX_BODY_BYTES} bytes")
            yield data

    async def aclose(self) -> None:
        await self._stream.aclose()


class ShallowBody(httpx2.AsyncByteStream):
    """A body line by line, which is an answer as JSON, or an event with one in its `data`."""

    def __init__(self, stream: httpx2.AsyncByteStream, say: Callable[[str], object]) -> None:
        self._stream = stream
        self._say = say

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        pending = bytearray()
        async for data in self._stream:
            searched = len(pending)
            pending += data
            end = pending.rfind(b"\n", searched)
            if end >= 0:
                lines = bytes(pending[: end + 1]).split(b"\n")
                del pending[: end + 1]
                yield b"\n".join(map(self._line, lines))
        if pending:
            yield self._line(bytes(pending))

    def _line(self, line: bytes) -> bytes:
        field = _DATA if line.startswith(_DATA) else b""
        message = line[len(field) :].rstrip(b"\r")
        mended = within_depth(message, self._say)
        return line if mended is message else field + mended

    async def aclose(self) -> None:
        await self._stream.aclose()


_DATA = b"data:"
