"""Server-sent events out of bytes that somebody else sent. Owns the reading, and how much one event may hold.

What no event can be made of (comments, unknown fields) is skipped. Source: WHATWG HTML, "Server-sent events".
"""

from __future__ import annotations

from collections.abc import Sequence

MOST_EVENT_BYTES = 1024 * 1024
"""Longest event, bytes. The pieces of a model's answer have some hundred; a whole picture of it has no place here."""

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class EventTooLongError(Exception):
    """Raised when an event, or a line of it, is longer than is read. The reader is of no use afterwards."""

    def __init__(self, most: int) -> None:
        super().__init__(f"an event of the stream is longer than {most} bytes")
        self.most = most


class SseReader:
    """Takes the bytes of one stream as they come and gives the data of the events that they complete.

    An event without data is none, and neither is one that the stream ends within. Costs what was fed, however it was
    cut into pieces.
    """

    def __init__(self, most_event_bytes: int = MOST_EVENT_BYTES) -> None:
        self._most = most_event_bytes
        self._line = bytearray()
        self._data: list[bytes] = []
        self._size = 0
        self._first = True
        self._after_return = False

    def feed(self, data: bytes) -> Sequence[str]:
        """The data of each event that is complete now. Bytes that are no UTF-8 become replacement characters.

        Raises `EventTooLongError`.
        """
        if not data:
            return ()
        if self._after_return and data.startswith(b"\n"):
            data = data[1:]
        self._after_return = data.endswith(b"\r") if data else False
        pieces = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
        events: list[str] = []
        for piece in pieces[:-1]:
            self._grow(piece)
            line, self._line = bytes(self._line), bytearray()
            event = self._take(line)
            if event is not None:
                events.append(event)
        self._grow(pieces[-1])
        return events

    def _grow(self, piece: bytes) -> None:
        if len(self._line) + len(piece) + self._size > self._most:
            raise EventTooLongError(self._most)
        self._line += piece

    def _take(self, line: bytes) -> str | None:
        if self._first:
            line, self._first = line.removeprefix(_BYTE_ORDER_MARK), False
        if not line:
            return self._ended()
        name, _, value = line.partition(b":")
        if name == b"data":
            value = value.removeprefix(b" ")
            self._data.append(value)
            # A line of nothing takes room as well.
            self._size += len(value) + 1
        return None

    def _ended(self) -> str | None:
        data, self._data, self._size = self._data, [], 0
        return b"\n".join(data).decode(errors="replace") if data else None
