"""MCP clients that speak raw HTTP: one for direct mode, one for the single stream. Own the session and nothing more."""

from __future__ import annotations

import json
from typing import Any

from tests.transport.raw_http import Event, RawConnection, Response, connect, request_bytes

Headers = tuple[tuple[str, str], ...]

JSON_BODY: Headers = (("Content-Type", "application/json"),)
BOTH: Headers = (*JSON_BODY, ("Accept", "application/json, text/event-stream"))
ONLY_JSON: Headers = (*JSON_BODY, ("Accept", "application/json"))

ENDPOINT = "/mcp"
"""Where the default agent is served."""

LIST_CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}


def rpc(method: str, params: Any = None, request_id: int | str | None = 1) -> dict[str, Any]:
    """A message; without an id a notification."""
    message: dict[str, Any] = {"jsonrpc": "2.0"}
    if request_id is not None:
        message["id"] = request_id
    message["method"] = method
    if params is not None:
        message["params"] = params
    return message


def initialize(version: str = "2025-06-18", *, name: str = "tests", capabilities: Any = None) -> dict[str, Any]:
    """The first message of a client."""
    client = {"name": name, "version": "1"}
    return rpc(
        "initialize",
        {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": client},
        request_id=0,
    )


def call(tool: str, arguments: Any = None, request_id: int | str = 1, *, progress: int | str | None = None) -> Any:
    """A `tools/call`."""
    params: dict[str, Any] = {"name": tool, "arguments": arguments or {}}
    if progress is not None:
        params["_meta"] = {"progressToken": progress}
    return rpc("tools/call", params, request_id)


def post_bytes(message: Any, headers: Headers = BOTH, target: str = ENDPOINT) -> bytes:
    """A POST of that message."""
    return request_bytes("POST", target, headers, json.dumps(message).encode())


class McpClient:
    """A client in direct mode. Each request has a connection of its own, unless it is given one."""

    def __init__(
        self, port: int, session: str | None = None, version: str | None = None, endpoint: str = ENDPOINT
    ) -> None:
        self.port = port
        self.session = session
        self.version = version
        self.endpoint = endpoint

    @classmethod
    async def initialized(
        cls,
        port: int,
        version: str = "2025-06-18",
        *,
        name: str = "tests",
        endpoint: str = ENDPOINT,
        capabilities: Any = None,
    ) -> McpClient:
        """A client that has been through the handshake."""
        client = cls(port, endpoint=endpoint)
        response = await client.post(initialize(version, name=name, capabilities=capabilities))
        assert response.status == 200, response
        client.session = response.header("mcp-session-id")
        client.version = response.json["result"]["protocolVersion"]
        assert (await client.post(rpc("notifications/initialized", request_id=None))).status == 202
        return client

    @property
    def headers(self) -> Headers:
        """What each request carries once there is a session."""
        session = () if self.session is None else (("Mcp-Session-Id", self.session),)
        return session if self.version is None else (*session, ("MCP-Protocol-Version", self.version))

    async def begin(self, message: Any, accept: Headers = BOTH) -> RawConnection:
        """Send a POST and leave the answer to the caller, who closes the connection too."""
        connection = await connect(self.port)
        await connection.send(post_bytes(message, (*accept, *self.headers), self.endpoint))
        return connection

    async def post(self, message: Any, accept: Headers = BOTH) -> Response:
        """Send a POST and read its answer."""
        connection = await self.begin(message, accept)
        try:
            return await connection.read_response("POST")
        finally:
            await connection.finish()

    async def ask(self, method: str, params: Any = None, request_id: int | str = 1) -> Any:
        """The answer to a request, which must come with 200."""
        response = await self.post(rpc(method, params, request_id))
        assert response.status == 200, response
        return response.json

    async def call(self, tool: str, arguments: Any = None, request_id: int | str = 1) -> Any:
        """The result of a call."""
        response = await self.post(call(tool, arguments, request_id))
        assert response.status == 200, response
        return response.json["result"]

    async def tool_names(self) -> list[str]:
        """The names of the tools on offer."""
        return [tool["name"] for tool in (await self.ask("tools/list"))["result"]["tools"]]

    async def open_stream(self, *, after: str | None = None) -> RawConnection:
        """The stream of the session, or with an event's id the rest of its stream; the head is read."""
        connection = await connect(self.port)
        seen = () if after is None else (("Last-Event-ID", after),)
        headers = (("Accept", "text/event-stream"), *self.headers, *seen)
        await connection.send(request_bytes("GET", self.endpoint, headers))
        head = await connection.read_head()
        assert head.status == 200, head
        assert head.header("content-type") == "text/event-stream"
        return connection

    async def following_stream(self) -> RawConnection:
        """The stream of the session, after the announcement with which each begins."""
        stream = await self.open_stream()
        assert await stream.next_message() == LIST_CHANGED
        return stream

    async def delete(self) -> Response:
        """End the session."""
        connection = await connect(self.port)
        try:
            await connection.send(request_bytes("DELETE", self.endpoint, self.headers))
            return await connection.read_response("DELETE")
        finally:
            await connection.finish()


class SseClient:
    """A client of the single stream."""

    def __init__(self, port: int, stream: RawConnection, endpoint: str) -> None:
        self.port = port
        self.stream = stream
        self.endpoint = endpoint

    @classmethod
    async def opened(cls, port: int, endpoint: str = ENDPOINT) -> SseClient:
        """A client that has read the endpoint event."""
        stream = await connect(port)
        await stream.send(request_bytes("GET", endpoint, (("Accept", "text/event-stream"),)))
        head = await stream.read_head()
        assert head.status == 200, head
        first = await stream.next_event()
        assert isinstance(first, Event)
        assert first.event == "endpoint", first
        return cls(port, stream, first.data)

    @property
    def session(self) -> str:
        """The session that the endpoint names."""
        return self.endpoint.partition("sessionId=")[2]

    async def post(self, message: Any, headers: Headers = JSON_BODY) -> Response:
        """Send a POST to the endpoint and read the answer to it, which is not the answer to the message."""
        connection = await connect(self.port)
        try:
            await connection.send(post_bytes(message, headers, self.endpoint))
            return await connection.read_response("POST")
        finally:
            await connection.finish()

    async def ask(self, message: Any) -> Any:
        """Send a message and read the next one of the stream."""
        response = await self.post(message)
        assert (response.status, response.body) == (202, b""), response
        return await self.stream.next_message()
