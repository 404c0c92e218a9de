"""Responses that are event streams. Owns headers, heartbeat and end; the frames come from elsewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable

import trio
from quart import Response

from protocol.sse import encode_comment

HEARTBEAT_SECONDS = 15.0
"""How often a silent stream shows that it lives. opencode drops one that is silent for 300 s, some proxies at 30 s."""

HEARTBEAT = encode_comment("alive")

LAST_WORD_SECONDS = 1.0
"""How long the end of a stream may take to tell the owner, when the request itself is being cancelled."""


def event_stream(
    next_frame: Callable[[], Awaitable[bytes | None]],
    on_end: Callable[[], Awaitable[object]],
    *,
    heartbeat: float = HEARTBEAT_SECONDS,
) -> Response:
    """A response that writes frames until there are no more, with comments in between while nothing happens.

    `on_end` is awaited once, however the stream ends: no more frames, or a client that is gone.
    """
    response = Response(
        _frames(next_frame, on_end, heartbeat),
        content_type="text/event-stream",
        headers={"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"},
    )
    # Quart would cut the stream after its time limit for responses.
    response.timeout = None
    return response


async def _frames(
    next_frame: Callable[[], Awaitable[bytes | None]], on_end: Callable[[], Awaitable[object]], heartbeat: float
) -> AsyncIterator[bytes]:
    try:
        while True:
            frame: bytes | None = HEARTBEAT
            with trio.move_on_after(heartbeat):
                frame = await next_frame()
            if frame is None:
                return
            yield frame
    finally:
        with trio.CancelScope(shield=True, deadline=trio.current_time() + LAST_WORD_SECONDS):
            await on_end()
