"""A request to the MCP endpoint as it came in. Owns its body while that arrives, and nothing else.

Quart's request makes a headers object, a loader of forms and two events of each request, which costs a call of a tool
more than everything that is decided about it; the endpoint needs a handful of headers and the body.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qsl

import trio

from protocol.jsonrpc import Request, RequestId, parse
from transport.asgi import Scope


class BodyTooLargeError(Exception):
    """Raised for a body that is longer than a request may have. The rest of it was thrown away as it came."""


class _Body:
    """The parts of a body. Has the two methods of Quart's body that whoever receives a request calls."""

    __slots__ = ("_complete", "_most", "_parts", "_size", "_waiting")

    def __init__(self, most: int) -> None:
        self._most = most
        self._parts: list[bytes] = []
        self._size = 0
        self._complete = False
        self._waiting: trio.Event | None = None

    def append(self, data: bytes) -> None:
        """Add what came. Beyond the most it is counted and thrown away."""
        self._size += len(data)
        if self._size > self._most:
            self._parts.clear()
            self._wake()
        elif data:
            self._parts.append(data)

    def set_complete(self) -> None:
        """Nothing more will come."""
        self._complete = True
        self._wake()

    async def whole(self) -> bytes:
        """The whole body, once it is there. Raises `BodyTooLargeError` as soon as it is too long."""
        while not self._complete and self._size <= self._most:
            self._waiting = self._waiting or trio.Event()
            await self._waiting.wait()
        if self._size > self._most:
            raise BodyTooLargeError(f"the body is longer than {self._most} bytes")
        return self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)

    def request_id(self) -> RequestId | None:
        """The id of the one request that is in it, for an answer to what has failed; None where there is none."""
        message = parse(b"".join(self._parts)) if self._complete else None
        return message.id if isinstance(message, Request) else None

    def _wake(self) -> None:
        if self._waiting is not None:
            self._waiting.set()
            self._waiting = None


class EndpointRequest:
    """One request: its method, path, headers (pairs of bytes, names in lower case) and query, and its body to wait for.

    Of a member of the query that comes twice, `query` has the first; `values` has all.

    `most_bytes` is the longest body that is taken.
    """

    __slots__ = ("_query", "body", "headers", "method", "path", "query")

    def __init__(self, scope: Scope, most_bytes: int) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.headers: list[tuple[bytes, bytes]] = scope["headers"]
        query: bytes = scope["query_string"]
        self._query = query
        self.query: Mapping[str, str] = _query_of(query) if query else _NO_QUERY
        self.body = _Body(most_bytes)

    def values(self, name: str) -> tuple[str, ...]:
        """The values of a member of the query, as often as it came."""
        return tuple(value for member, value in _members(self._query) if member == name)


_NO_QUERY: Mapping[str, Any] = {}


def _query_of(query: bytes) -> Mapping[str, str]:
    members: dict[str, str] = {}
    for name, value in _members(query):
        members.setdefault(name, value)
    return members


def _members(query: bytes) -> list[tuple[str, str]]:
    return parse_qsl(query.decode("latin-1"), keep_blank_values=True)
