"""The events of one stream that a client can come back for: numbered, and kept for as long as there is room.

Owns numbering, keeping and replaying. Written by whoever works for the client, read by one HTTP task at a time: the one
that came last. A reader that is there is waited for; for one that is not, old events make room for new ones.
Source: MCP specification 2025-11-25, transports ("Resumability and Redelivery").
"""

from __future__ import annotations

from collections import deque
from secrets import token_hex

from actors.published import Published

EVENTS_KEPT = 256
"""Events of one stream that are kept: more than a client misses that comes back as soon as it is told to."""

EVENT_BYTES_KEPT = 2 * 1024 * 1024
"""Bytes of events of one stream that are kept; the last event is kept however long it is."""

UNREAD_EVENTS = 64
"""Events that may wait for a reader that is there. Beyond it the writer waits, so none is lost."""

RETRY_MS = 1000
"""When a client that was sent away may come back, milliseconds: soon enough for a person who waits."""

RETRY_FRAME = b"retry: %d\n\n" % RETRY_MS
"""What a client is told before its stream is ended though there is more to come. It is no event of its own."""

_SEPARATOR = "-"


class EventLog:
    """One stream. `name` is the part of its ids that no other stream of the session has."""

    def __init__(
        self, name: str | None = None, *, most_events: int = EVENTS_KEPT, most_bytes: int = EVENT_BYTES_KEPT
    ) -> None:
        # A name that cannot be guessed: what another session of the same user kept is none of this one's.
        self.name = token_hex(8) if name is None else name
        self.most_events, self.most_bytes = most_events, most_bytes
        self.size = 0
        """Bytes that are kept."""
        self.ended = False
        """Whether no more events will come."""
        self._frames: deque[bytes] = deque()
        self._first = 0
        self._interruptions = 0
        self._reader: LogReader | None = None
        self._changed = Published(0)

    @property
    def count(self) -> int:
        """How many events there have been."""
        return self._first + len(self._frames)

    @property
    def attended(self) -> bool:
        """Whether somebody reads."""
        return self._reader is not None

    def prime(self) -> bytes:
        """Write the event with which such a stream begins: an id, so that a client can come back, and nothing else."""
        return self.write(b"data: \n\n")

    def write(self, frame: bytes) -> bytes:
        """Add an event without waiting; gives it with its id."""
        numbered = b"id: %b%b%d\n%b" % (self.name.encode(), _SEPARATOR.encode(), self.count, frame)
        self._frames.append(numbered)
        self.size += len(numbered)
        while len(self._frames) > 1 and (len(self._frames) > self.most_events or self.size > self.most_bytes):
            self.size -= len(self._frames.popleft())
            self._first += 1
        self._changed.publish(0)
        return numbered

    async def room(self) -> None:
        """Wait until a reader that is there has not much left to read."""
        while self._reader is not None and self.count - self._reader.position >= UNREAD_EVENTS:
            await self._changed.wait_beyond(self._changed.version)

    def end(self) -> None:
        """Nothing more will come: readers end once they have read what there is. Idempotent."""
        self.ended = True
        self._changed.publish(0)

    def interrupt(self) -> None:
        """Send the present reader away, to come back later; with none there, the first one that comes."""
        self._interruptions += 1
        self._changed.publish(0)

    def after(self, number: int) -> tuple[bytes, ...]:
        """The events after that one, as far as they are kept."""
        return tuple(self._frames)[max(0, number + 1 - self._first) :]

    def read(self, after: int = -1) -> LogReader:
        """A reader of what comes after that event. Whoever read before has its stream ended.

        It closes itself with `close`, when its client is gone.
        """
        first = self._reader is None and after < 0
        self._reader = LogReader(self, min(after + 1, self.count), 0 if first else self._interruptions)
        self._changed.publish(0)
        return self._reader

    async def next_for(self, reader: LogReader) -> bytes | None:
        """See `LogReader.next`."""
        while self._reader is reader:
            # What made room for newer events is lost to a reader that comes too late.
            reader.position = max(reader.position, self._first)
            if reader.position < self.count:
                frame = self._frames[reader.position - self._first]
                reader.position += 1
                self._changed.publish(0)
                return frame
            if self.ended:
                return None
            if self._interruptions > reader.interruptions:
                self._reader = None
                self._changed.publish(0)
                return RETRY_FRAME
            await self._changed.wait_beyond(self._changed.version)
        return None

    def release(self, reader: LogReader) -> None:
        """See `LogReader.close`."""
        if self._reader is reader:
            self._reader = None
            self._changed.publish(0)

    async def wait_unattended(self) -> None:
        """Wait until nobody reads."""
        while self._reader is not None:
            await self._changed.wait_beyond(self._changed.version)

    async def wait_attended(self) -> None:
        """Wait until somebody reads."""
        while self._reader is None:
            await self._changed.wait_beyond(self._changed.version)


class LogReader:
    """One connection's way through the events of a stream. `next` may be cancelled and called again."""

    def __init__(self, log: EventLog, position: int, interruptions: int) -> None:
        self.position = position
        """The number of the event that comes next."""
        self.interruptions = interruptions
        """How many interruptions do not concern it any more."""
        self._log = log

    async def next(self) -> bytes | None:
        """The next event as it goes out, or None at the end of this connection."""
        return await self._log.next_for(self)

    async def close(self) -> None:
        """This connection is over. Idempotent; never waits."""
        self._log.release(self)


def parse_event_id(event_id: str) -> tuple[str, int] | None:
    """The stream and the number in an id of ours; None for any other text."""
    name, separator, number = event_id.strip().rpartition(_SEPARATOR)
    if not separator or not name or not (number.isascii() and number.isdigit()) or len(number) > 12:
        return None
    return name, int(number)
