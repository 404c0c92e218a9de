"""The outbox of one open event stream: frames that wait until the HTTP task has written them.

Owned by the actor that opened the stream, read by exactly one HTTP task. Bounded: a client that does not read is cut
off, never waited for and never buffered without end. Announcements (a list has changed, a resource has changed) are
merged while one of the same thing is still unwritten. Never knows what a frame says.
"""

from __future__ import annotations

import math
from collections.abc import Hashable

import trio

from actors.event_log import EventLog

OUTBOX_CAPACITY = 256
"""Frames that may wait for a client that reads slowly. A frame is below 1 MiB, most are below 1 KiB."""


class Outbox:
    """A bounded queue of frames for one stream. `put` and `announce` never wait.

    With a log each frame is numbered, and kept there for a client that comes back.
    """

    def __init__(self, capacity: int = OUTBOX_CAPACITY, log: EventLog | None = None) -> None:
        self._capacity = capacity
        # Without a limit of its own: frames are counted here, and of announcements there are as many as things.
        self._send, self._receive = trio.open_memory_channel[tuple[Hashable, bytes]](math.inf)
        self._log = log
        self._announced: set[Hashable] = set()
        self._open = True

    @property
    def is_open(self) -> bool:
        """Whether frames are still taken."""
        return self._open

    def put(self, frame: bytes) -> bool:
        """Queue a frame. False when the stream has ended, or ends now because its client has stopped reading."""
        if not self._open:
            return False
        if self._receive.statistics().current_buffer_used - len(self._announced) >= self._capacity:
            self.close()
            return False
        self._queue(None, frame)
        return True

    def announce(self, what: Hashable, frame: bytes) -> bool:
        """Queue an announcement of something, unless one of the same thing is still waiting to be written.

        True when one was queued. There are as few things as a client may watch, so it always finds room.
        """
        if not self._open or what in self._announced:
            return False
        self._announced.add(what)
        self._queue(what, frame)
        return True

    def resume(self, frames: tuple[bytes, ...]) -> None:
        """Queue what its client has missed, numbered before. For a stream that is new."""
        for frame in frames:
            self._send.send_nowait((None, frame))

    def prime(self) -> None:
        """Let the stream begin with an id, where it is numbered."""
        if self._log is not None:
            self._send.send_nowait((None, self._log.prime()))

    def close(self, last: bytes | None = None) -> None:
        """Take no more frames; the stream ends once those that wait are written, and a last word. Idempotent."""
        if self._open and last is not None:
            self._send.send_nowait((None, last))
        self._open = False
        self._send.close()

    async def next(self) -> bytes | None:
        """The next frame to write, or None when the stream has come to its end."""
        try:
            what, frame = await self._receive.receive()
        except trio.EndOfChannel:
            return None
        if what is not None:
            self._announced.discard(what)
        return frame

    def _queue(self, what: Hashable, frame: bytes) -> None:
        self._send.send_nowait((what, frame if self._log is None else self._log.write(frame)))
