"""A stand-in for a provider of models: an OpenAI-compatible server on loopback, in this process, under this clock.

Owns the sockets, the script and the record. A reply is a coroutine that writes to the wire what it likes, so that it
can be slow, broken, huge, hostile or endless. Knows nothing of the engine.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import trio

MODEL = "scripted-model"
KEY = "sk-the-key-that-nobody-must-see-0123456789"

USAGE = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}

RECEIVE_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class ProviderRequest:
    """One request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: Any

    @property
    def messages(self) -> list[dict[str, Any]]:
        """Its messages."""
        return self.body["messages"]

    @property
    def tools(self) -> list[str]:
        """The names of the tools that it offers."""
        return [tool["function"]["name"] for tool in self.body.get("tools", ())]


class Wire:
    """One answer under way."""

    def __init__(self, stream: trio.SocketStream) -> None:
        self._stream = stream

    async def send(self, data: bytes) -> None:
        """Send bytes as they are."""
        await self._stream.send_all(data)

    async def head(self, status: int = 200, content_type: str = "text/event-stream", *extra: str) -> None:
        """Begin an answer that ends with the connection."""
        lines = (f"HTTP/1.1 {status} Said So", f"Content-Type: {content_type}", "Connection: close", *extra)
        await self.send("\r\n".join(lines).encode() + b"\r\n\r\n")

    async def event(self, value: object) -> None:
        """One event with that as its JSON."""
        await self.send(b"data: " + json.dumps(value).encode() + b"\n\n")

    async def delta(self, finish_reason: str | None = None, **delta: Any) -> None:
        """One event with a piece of the answer."""
        await self.event({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})

    async def finish(self, reason: str = "stop") -> None:
        """The end of the answer, with what it cost."""
        await self.delta(reason)
        await self.event({"choices": [], "usage": USAGE})
        await self.send(b"data: [DONE]\n\n")


Reply = Callable[[Wire, ProviderRequest], Awaitable[None]]


def says(*pieces: str) -> Reply:
    """An answer of these pieces of text."""

    async def reply(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        for piece in pieces:
            await wire.delta(content=piece)
        await wire.finish()

    return reply


def calls(*requests: tuple[str, Any], text: str = "") -> Reply:
    """An answer that asks for these tools, each with its arguments, in pieces as providers send them."""

    async def reply(wire: Wire, request: ProviderRequest) -> None:
        await wire.head()
        if text:
            await wire.delta(content=text)
        for index, (name, arguments) in enumerate(requests):
            written = arguments if isinstance(arguments, str) else json.dumps(arguments)
            start = {"name": name, "arguments": ""}
            await wire.delta(tool_calls=[{"index": index, "id": f"id-{index}", "type": "function", "function": start}])
            for part in (written[: len(written) // 2], written[len(written) // 2 :]):
                await wire.delta(tool_calls=[{"index": index, "function": {"arguments": part}}])
        await wire.finish("tool_calls")

    return reply


def refuses(status: int, body: object, *extra: str) -> Reply:
    """An answer of another status."""

    async def reply(wire: Wire, request: ProviderRequest) -> None:
        await wire.head(status, "application/json", *extra)
        await wire.send(body if isinstance(body, bytes) else json.dumps(body).encode())

    return reply


def sends(data: bytes, content_type: str = "text/event-stream") -> Reply:
    """An answer with exactly that body, after which the connection ends."""

    async def reply(wire: Wire, request: ProviderRequest) -> None:
        await wire.head(200, content_type)
        await wire.send(data)

    return reply


@dataclass
class ScriptedProvider:
    """The server. `requests` grows by one with each request for an answer; `open` counts connections that stand."""

    port: int = 0
    requests: list[ProviderRequest] = field(default_factory=list[ProviderRequest])
    models: list[str] = field(default_factory=lambda: [MODEL])
    connections: int = 0
    open: int = 0
    _script: list[Reply] = field(default_factory=list[Reply])
    _changed: trio.Event = field(default_factory=trio.Event)

    @property
    def url(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}/v1"

    def play(self, *replies: Reply) -> None:
        """Queue the answers to the next requests."""
        self._script.extend(replies)

    async def wait_for(self, requests: int) -> None:
        """Wait until that many requests for an answer have come."""
        while len(self.requests) < requests:
            await self._changed.wait()

    async def wait_closed(self) -> None:
        """Wait until no connection stands."""
        while self.open:
            await self._changed.wait()

    async def serve(self, stream: trio.SocketStream) -> None:
        """Serve one connection, for one request."""
        self.open += 1
        self.connections += 1
        try:
            request = await _read_request(stream)
            if request is not None:
                await self._answer(Wire(stream), request, stream)
        except* (trio.BrokenResourceError, trio.ClosedResourceError):
            pass  # the client is gone, which is what many tests are about
        finally:
            self.open -= 1
            self._notify()
            await trio.aclose_forcefully(stream)

    async def _answer(self, wire: Wire, request: ProviderRequest, stream: trio.SocketStream) -> None:
        async with trio.open_nursery() as nursery:

            async def watch() -> None:
                """A client that closes ends whatever the script is doing."""
                while await stream.receive_some(RECEIVE_BYTES):
                    pass
                nursery.cancel_scope.cancel()

            async def watched() -> None:
                try:
                    await watch()
                except trio.BrokenResourceError:
                    nursery.cancel_scope.cancel()

            nursery.start_soon(watched)
            await self._reply(wire, request)
            await stream.send_eof()
            nursery.cancel_scope.cancel()

    async def _reply(self, wire: Wire, request: ProviderRequest) -> None:
        if request.method == "GET" and not self._script:
            listed = {"object": "list", "data": [{"id": model} for model in self.models]}
            await refuses(200, listed)(wire, request)
            return
        self.requests.append(request)
        self._notify()
        reply = self._script.pop(0) if self._script else says("(script exhausted)")
        await reply(wire, request)

    def _notify(self) -> None:
        changed, self._changed = self._changed, trio.Event()
        changed.set()


async def _read_request(stream: trio.SocketStream) -> ProviderRequest | None:
    data = b""
    while b"\r\n\r\n" not in data:
        more = await stream.receive_some(RECEIVE_BYTES)
        if not more:
            return None
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", 0)):
        more = await stream.receive_some(RECEIVE_BYTES)
        if not more:
            return None
        body += more
    return ProviderRequest(method, path, headers, json.loads(body) if body else None)


@asynccontextmanager
async def scripted_provider() -> AsyncGenerator[ScriptedProvider]:
    """A provider that answers until the block is left."""
    provider = ScriptedProvider()
    async with trio.open_nursery() as nursery:
        (listener,) = await trio.open_tcp_listeners(0, host="127.0.0.1")
        provider.port = listener.socket.getsockname()[1]
        nursery.start_soon(trio.serve_listeners, provider.serve, [listener])
        yield provider
        nursery.cancel_scope.cancel()
