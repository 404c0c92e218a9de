"""Responses that are lines of JSON as they come. Owns headers, heartbeat and end; the events come from elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from types import TracebackType
from typing import Any, Self

import trio
from quart import Response
from quart.wrappers.response import ResponseBody

from protocol.jsonrpc import encode
from protocol.sse import escape_line_breaks
from transport.event_stream import HEARTBEAT_SECONDS

NDJSON = "application/x-ndjson"
"""The media type: each line is one JSON object."""

ALIVE: Mapping[str, Any] = {"type": "alive"}
"""What a silent stream says now and then. Readers skip types that they do not know."""


def ndjson_stream(
    next_event: Callable[[], Awaitable[Mapping[str, Any] | None]],
    on_end: Callable[[], object],
    *,
    heartbeat: float = HEARTBEAT_SECONDS,
) -> Response:
    """A response that writes events until there are no more, and `ALIVE` while nothing happens.

    `on_end` is called once, however the stream ends: no more events, a client that is gone, or one that was gone before
    the first byte. `next_event` is cancelled and called again; it must lose nothing by that.
    """
    response = Response(
        _Lines(next_event, on_end, heartbeat),
        content_type=NDJSON,
        headers={"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"},
    )
    # Quart would cut the stream after its time limit for responses.
    response.timeout = None
    return response


class _Lines(ResponseBody):
    """The lines of one stream. Entered before the first byte is sent, so that its end is always told."""

    def __init__(
        self,
        next_event: Callable[[], Awaitable[Mapping[str, Any] | None]],
        on_end: Callable[[], object],
        heartbeat: float,
    ) -> None:
        self._next_event = next_event
        self._on_end = on_end
        self._heartbeat = heartbeat

    async def __aenter__(self) -> Self:
        # No checkpoint: between the making of a stream and this, nothing may cancel.
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, tb: TracebackType | None
    ) -> None:
        self._on_end()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        event: Mapping[str, Any] | None = ALIVE
        with trio.move_on_after(self._heartbeat):
            event = await self._next_event()
        if event is None:
            raise StopAsyncIteration
        return escape_line_breaks(encode(event)) + b"\n"
