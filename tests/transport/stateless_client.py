"""An MCP client that knows no sessions and speaks raw HTTP: each request says for itself who asks."""

from __future__ import annotations

import json
from typing import Any

from tests.transport.mcp_client import BOTH, ENDPOINT, Headers, rpc
from tests.transport.raw_http import RawConnection, Response, connect, request_bytes

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"

_NAMED = {
    "tools/call": "name",
    "prompts/get": "name",
    "resources/read": "uri",
    "tasks/get": "taskId",
    "tasks/update": "taskId",
    "tasks/cancel": "taskId",
}


class StatelessClient:
    """Each request has a connection of its own. `claims` are more members of `_meta`, without their prefix."""

    def __init__(self, port: int, capabilities: Any = None, *, endpoint: str = ENDPOINT, **claims: Any) -> None:
        self.port = port
        self.endpoint = endpoint
        self.headers: Headers = ()
        self._claims = {
            f"{PREFIX}protocolVersion": VERSION,
            f"{PREFIX}clientCapabilities": capabilities or {},
            **{f"{PREFIX}{name}": value for name, value in claims.items()},
        }

    def message(self, method: str, params: Any = None, request_id: int | str = 1, token: Any = None) -> dict[str, Any]:
        """A request with its claims."""
        meta = self._claims if token is None else {**self._claims, "progressToken": token}
        return rpc(method, {**(params or {}), "_meta": meta}, request_id)

    def head(self, message: Any) -> Headers:
        """The headers that repeat what the body says."""
        method, params = message["method"], message.get("params", {})
        named = params.get(_NAMED.get(method, ""))
        name = () if named is None else (("Mcp-Name", named),)
        return (("MCP-Protocol-Version", VERSION), ("Mcp-Method", method), *name, *self.headers)

    async def begin(self, message: Any, headers: Headers | None = None, accept: Headers = BOTH) -> RawConnection:
        """Send a message and leave the answer to the caller, who closes the connection too."""
        connection = await connect(self.port)
        own = self.head(message) if headers is None else headers
        body = json.dumps(message).encode()
        await connection.send(request_bytes("POST", self.endpoint, (*accept, *own), body))
        return connection

    async def send(self, message: Any, headers: Headers | None = None, accept: Headers = BOTH) -> Response:
        """Send a message and read its answer."""
        connection = await self.begin(message, headers, accept)
        try:
            return await connection.read_response("POST")
        finally:
            await connection.finish()

    async def post(self, method: str, params: Any = None, request_id: int | str = 1) -> Response:
        """Send a request and read its answer, whatever it is."""
        return await self.send(self.message(method, params, request_id))

    async def ask(self, method: str, params: Any = None, request_id: int | str = 1) -> Any:
        """The result of a request, which must come as JSON."""
        response = await self.post(method, params, request_id)
        assert response.status == 200, response
        assert response.header("content-type") == "application/json"
        return response.json["result"]

    async def call(self, tool: str, arguments: Any = None, **more: Any) -> Any:
        """The result of a call. `more` are further params."""
        return await self.ask("tools/call", {"name": tool, "arguments": arguments or {}, **more})

    async def stream(self, method: str, params: Any = None, request_id: int | str = 1) -> RawConnection:
        """A request that is answered with an event stream; the head is read."""
        connection = await self.begin(self.message(method, params, request_id))
        head = await connection.read_head()
        assert (head.status, head.header("content-type")) == (200, "text/event-stream"), head
        return connection

    async def listen(self, notifications: Any, request_id: int | str = "l") -> RawConnection:
        """A stream of subscriptions, whose first message has come."""
        stream = await self.stream("subscriptions/listen", {"notifications": notifications}, request_id)
        first = await stream.next_message()
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"]["_meta"] == {f"{PREFIX}subscriptionId": request_id}
        return stream
