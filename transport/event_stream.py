"""Responses that are event streams. Owns headers, heartbeat and end; the frames come from elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Self

import structlog
import trio
from quart import Response
from quart.wrappers.response import ResponseBody

from actors.errors import ActorError
from protocol.sse import encode_comment

HEARTBEAT_SECONDS = 15.0
"""How often a silent stream shows that it lives. opencode drops one that is silent for 300 s, some proxies at 30 s."""

HEARTBEAT = encode_comment("alive")

LAST_WORD_SECONDS = 1.0
"""How long the end of a stream may take to tell the owner, when the request itself is being cancelled."""

_log = structlog.stdlib.get_logger("http")


def event_stream(
    next_frame: Callable[[], Awaitable[bytes | None]],
    on_end: Callable[[], Awaitable[object]],
    *,
    heartbeat: float = HEARTBEAT_SECONDS,
) -> Response:
    """A response that writes frames until there are no more, with comments in between while nothing happens.

    `on_end` is awaited once, however the stream ends: no more frames, a client that is gone, or one that was gone
    before the first byte. `next_frame` is cancelled and called again; it must lose nothing by that.
    """
    response = Response(
        EventStreamBody(next_frame, on_end, heartbeat),
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"},
    )
    # Quart would cut the stream after its time limit for responses.
    response.timeout = None
    return response


class EventStreamBody(ResponseBody):
    """The frames of one stream. Enter it before the first byte is sent: its end is told when it is left."""

    def __init__(
        self,
        next_frame: Callable[[], Awaitable[bytes | None]],
        on_end: Callable[[], Awaitable[object]],
        heartbeat: float,
    ) -> None:
        self._next_frame = next_frame
        self._on_end = on_end
        self._heartbeat = heartbeat

    async def __aenter__(self) -> Self:
        # No checkpoint: between the making of a stream and this, nothing may cancel.
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_value: BaseException | None, tb: TracebackType | None
    ) -> None:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_WORD_SECONDS) as scope:
            try:
                await self._on_end()
            except ActorError as error:
                # The engine is ending, or overloaded: the stream's client is gone in any case.
                _log.warning("stream_end_not_noted", reason=str(error))
        if scope.cancelled_caught:
            _log.warning("stream_end_not_noted", reason=f"nobody took it within {LAST_WORD_SECONDS:g} s")

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        frame: bytes | None = HEARTBEAT
        with trio.move_on_after(self._heartbeat):
            frame = await self._next_frame()
        if frame is None:
            raise StopAsyncIteration
        return frame
