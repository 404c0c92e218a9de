"""Keeps idle connections on their timer. Owns one remedy for Hypercorn with quart-trio, and nothing else.

At the end of a response Hypercorn delivers `http.disconnect` from inside the final `send`. quart-trio then cancels the
request, and with it that very `send`, before the idle timer is started again: idle connections would never be closed,
and each would cost the whole grace at shutdown.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import trio

from transport.asgi import AsgiApp, Receive, Scope, Send


class KeepAlive:
    """An ASGI wrapper: once the last of a body is being sent, the late `http.disconnect` is not handed on."""

    def __init__(self, app: AsgiApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event stream as the wrapped app does."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        finishing = False

        async def send_on(message: Mapping[str, Any]) -> None:
            nonlocal finishing
            if message["type"] == "http.response.body" and not message.get("more_body", False):
                finishing = True
            await send(message)

        async def receive_on() -> Mapping[str, Any]:
            message = await receive()
            if finishing and message["type"] == "http.disconnect":
                await trio.sleep_forever()
            return message

        await self._app(scope, receive_on, send_on)
