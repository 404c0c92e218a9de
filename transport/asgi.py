"""ASGI as this floor sees it: the types of its callables, and a small answer for what never reaches the web app."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Scope = Mapping[str, Any]
Receive = Callable[[], Awaitable[Mapping[str, Any]]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


async def answer_json(
    send: Send, status: int, body: Mapping[str, Any], *, content_type: str = "application/json", close: bool = False
) -> None:
    """Send one whole JSON response. `close` ends the connection, for when the request's body was not read."""
    data = json.dumps(body).encode()
    headers = [(b"content-type", content_type.encode()), (b"content-length", str(len(data)).encode())]
    if close:
        headers.append((b"connection", b"close"))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": data, "more_body": False})
