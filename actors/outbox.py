"""The outbox of one open event stream: frames that wait until the HTTP task has written them.

Owned by the actor that opened the stream, read by exactly one HTTP task. Bounded: a client that does not read is cut
off, never waited for and never buffered without end. Announcements that the tool list changed are merged while one is
still unwritten. Never knows what a frame says.
"""

from __future__ import annotations

import trio

OUTBOX_CAPACITY = 256
"""Frames that may wait for a client that reads slowly. A frame is below 1 MiB, most are below 1 KiB."""


class Outbox:
    """A bounded queue of frames for one stream. `put` and `announce` never wait."""

    def __init__(self, announcement: bytes, capacity: int = OUTBOX_CAPACITY) -> None:
        self._announcement = announcement
        # One place beyond the frames is kept for the announcement, so that it is never what overflows.
        self._capacity = capacity
        self._send, self._receive = trio.open_memory_channel[bytes](capacity + 1)
        self._announced = False
        self._open = True

    @property
    def is_open(self) -> bool:
        """Whether frames are still taken."""
        return self._open

    def put(self, frame: bytes) -> bool:
        """Queue a frame. False when the stream has ended, or ends now because its client has stopped reading."""
        if not self._open:
            return False
        if self._receive.statistics().current_buffer_used >= self._capacity:
            self.close()
            return False
        self._send.send_nowait(frame)
        return True

    def announce(self) -> bool:
        """Queue the announcement, unless one is still waiting to be written. True when one was queued."""
        if not self._open or self._announced:
            return False
        self._announced = True
        self._send.send_nowait(self._announcement)
        return True

    def close(self) -> None:
        """Take no more frames; the stream ends once those that wait are written. Idempotent."""
        self._open = False
        self._send.close()

    async def next(self) -> bytes | None:
        """The next frame to write, or None when the stream has come to its end."""
        try:
            frame = await self._receive.receive()
        except trio.EndOfChannel:
            return None
        if frame is self._announcement:
            self._announced = False
        return frame
