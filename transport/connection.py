"""One HTTP request as Quart serves it, without what quart-trio gets wrong and what it spends without need.

Owns how a request's messages, its handler and its response run together; installed as the app's `asgi_http_class`.

At the end of a response Hypercorn delivers `http.disconnect` from inside the final `send`. quart-trio cancels the
request for it, and with it that very `send`, before the idle timer is started again: idle connections would never be
closed, and each would cost the whole grace at shutdown. Here a disconnect that comes while the last of a response is
being sent is no reason to cancel anything.
"""

from __future__ import annotations

import math
from collections.abc import AsyncIterable, Mapping
from contextlib import nullcontext
from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, cast

import trio
from quart import Request, Response
from quart.asgi import ASGIHTTPConnection
from quart.utils import encode_headers
from quart.wrappers.response import DataBody, ResponseBody
from werkzeug.datastructures import Headers

from transport.asgi import Send, answer_json
from transport.endpoint_request import EndpointRequest
from transport.mcp_http import WireReply
from transport.tcp_connection import connection_of

if TYPE_CHECKING:
    from hypercorn.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope
    from quart import Quart


AT_ONCE_SECONDS = 0.02
"""How long a request waits for its body before anything is done: longer than one sent along needs to arrive."""

LARGER_BODIES = "LARGER_BODIES"
"""In the app's configuration: the paths whose body may be longer than `MAX_CONTENT_LENGTH`, with the most bytes."""


_Request = Request | EndpointRequest

_TOO_LATE = "The engine ended before the body of this request had come."


class _EndpointApp(Protocol):
    """What a connection asks of its app beside Quart's own."""

    def endpoint_request(self, scope: Mapping[str, Any]) -> EndpointRequest | None:
        """The request, where its path is one that the app serves past Quart; else None."""
        ...

    async def serve_endpoint(self, request: EndpointRequest) -> Response | WireReply:
        """Answer a request that `endpoint_request` gave."""
        ...


class Connection(ASGIHTTPConnection):
    """Serves one request. A client that goes away before its answer is complete cancels the handler."""

    def __init__(self, app: Quart, scope: HTTPScope) -> None:
        super().__init__(app, scope)
        self._connection = connection_of(scope)
        self._responding = False
        self._finishing = False

    async def __call__(self, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Handle the request in this task. Its messages need one beside it only where its body is slow to come."""
        endpoint = cast("_EndpointApp", self.app)
        request = endpoint.endpoint_request(self.scope) or self._create_request_from_scope(send)
        if self._connection is None:
            await self._serve_with_messages(request, receive, send)
            return
        with trio.CancelScope() as serving, self._connection.cancelling(partial(self._cancel, serving)):
            self._connection.awaiting_body = True
            body = await _take_body(request, receive)
            self._connection.awaiting_body = body is _Body.SLOW
            match body:
                case _Body.WHOLE:
                    await self._respond(send, await self._answer(request))
                case _Body.SLOW:
                    await self._serve_with_messages(request, receive, send)
                case _Body.GONE:
                    pass
        if self._connection.ending and self._connection.awaiting_body and not self._responding:
            body = {"type": "about:blank", "title": "Shutting down", "status": 503, "detail": _TOO_LATE}
            await answer_json(cast("Send", send), 503, body, content_type="application/problem+json", close=True)

    async def _answer(self, request: _Request) -> Any:
        if isinstance(request, EndpointRequest):
            return await cast("_EndpointApp", self.app).serve_endpoint(request)
        return await self.app.handle_request(request)

    async def _serve_with_messages(
        self, request: _Request, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._receive, nursery, request, receive)
            await self._respond(send, await self._answer(request))
            nursery.cancel_scope.cancel()

    def _cancel(self, serving: trio.CancelScope) -> None:
        if not self._finishing:
            serving.cancel()

    def _create_request_from_scope(self, send: ASGISendCallable) -> Request:
        request = super()._create_request_from_scope(send)
        most = cast("Mapping[str, int]", self.app.config[LARGER_BODIES]).get(request.path)
        if most is not None:
            # Quart decides by this before a route could say otherwise. It counts what waits to be read; a route that
            # reads piece by piece counts the rest itself.
            request.body = request.body_class(request.content_length, most)
        return request

    async def handle_messages(self, request: _Request, receive: ASGIReceiveCallable) -> None:
        """Take the rest of the body, then wait until the client is gone."""
        while (message := await receive())["type"] == "http.request":
            request.body.append(message["body"])
            if not message["more_body"]:
                request.body.set_complete()
                if self._connection is not None:
                    self._connection.awaiting_body = False

    async def _receive(self, nursery: trio.Nursery, request: _Request, receive: ASGIReceiveCallable) -> None:
        await self.handle_messages(request, receive)
        if not self._finishing:
            nursery.cancel_scope.cancel()

    async def _respond(self, send: ASGISendCallable, response: Any) -> None:
        """Send the response, under its own time limit or the app's; a body that is whole goes out in one message."""
        self._responding = True
        if isinstance(response, WireReply):
            await self._send_whole(send, response.status, response.headers, response.body)
            return
        headers = encode_headers(cast("Headers", response.headers))
        if isinstance(response, Response) and isinstance(response.response, DataBody):
            await self._send_whole(send, response.status_code, headers, response.response.data)
            return
        start = {"type": "http.response.start", "status": response.status_code, "headers": headers}
        seconds = cast("float | None", self.app.config["RESPONSE_TIMEOUT"])
        if isinstance(response, Response) and response.timeout is not ...:
            seconds = cast("float | None", response.timeout)
        with trio.CancelScope(deadline=trio.current_time() + (math.inf if seconds is None else seconds)):
            # Entered before anything is sent, so that a body is also left when its client was gone before that.
            async with cast("ResponseBody", response.response) as body:  # pyright: ignore[reportUnknownVariableType]
                await _send(send, start)
                async for data in cast("AsyncIterable[bytes]", body):
                    await _send(send, {"type": "http.response.body", "body": data, "more_body": True})
            await self._finish(send, b"")

    async def _send_whole(
        self, send: ASGISendCallable, status: int, headers: list[tuple[bytes, bytes]], body: bytes
    ) -> None:
        # No time limit: Hypercorn cannot be cancelled while it writes, and nothing else is waited for.
        with nullcontext() if self._connection is None else self._connection.holding():
            await _send(send, {"type": "http.response.start", "status": status, "headers": headers})
        await self._finish(send, body)

    async def _finish(self, send: ASGISendCallable, body: bytes) -> None:
        self._finishing = True
        await _send(send, {"type": "http.response.body", "body": body, "more_body": False})


async def _send(send: ASGISendCallable, message: dict[str, Any]) -> None:
    await send(cast("Any", message))


class _Body(Enum):
    """What became of a body within the time for taking it at once."""

    WHOLE = auto()
    SLOW = auto()
    GONE = auto()


async def _take_body(request: _Request, receive: ASGIReceiveCallable) -> _Body:
    """Take a body that is there, as nearly every one is."""
    with trio.move_on_after(AT_ONCE_SECONDS):
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return _Body.GONE
            request.body.append(message["body"])
            if not message["more_body"]:
                request.body.set_complete()
                return _Body.WHOLE
    return _Body.SLOW
