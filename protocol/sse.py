"""Server-sent events as bytes. Owns the framing; what is sent, and when, is the stream's.

Source: WHATWG HTML, "Server-sent events"; readers that split at every line break of Unicode are taken into account.
"""

from __future__ import annotations

EVENT_LIMIT = 1023 * 1024
"""Longest event with its framing, bytes. Line readers of some clients give up at 1 MiB."""

EVENT_STREAM = "text/event-stream"
"""The media type of a stream."""

# Legal inside JSON strings, and nowhere else in JSON, but line breaks for readers such as `str.splitlines`.
_LINE_BREAKS = (
    ("\u2028".encode(), rb"\u2028"),
    ("\u2029".encode(), rb"\u2029"),
    ("\u0085".encode(), rb"\u0085"),
)


class EventTooLargeError(Exception):
    """Raised when an event would be longer than clients read. Nothing of it was sent.

    Attributes:
        size: length of the event, bytes.
        limit: the most that is allowed, bytes.
    """

    def __init__(self, size: int, limit: int) -> None:
        super().__init__(f"the event has {size} bytes; clients read at most {limit}")
        self.size = size
        self.limit = limit


def escape_line_breaks(message: bytes) -> bytes:
    """JSON in UTF-8 with U+2028, U+2029 and U+0085 written as escapes: the same value, safe for line readers."""
    for raw, escaped in _LINE_BREAKS:
        message = message.replace(raw, escaped)
    return message


def encode_message(message: bytes, event_id: str | None = None, limit: int = EVENT_LIMIT) -> bytes:
    """A JSON message as an event of type `message` with a single data line.

    Raises `EventTooLargeError` above `limit`, and `ValueError` for an id as `encode_event` does.
    """
    return encode_event(escape_line_breaks(message), event="message", event_id=event_id, limit=limit)


def encode_event(
    data: bytes,
    *,
    event: str | None = None,
    event_id: str | None = None,
    retry_ms: int | None = None,
    limit: int = EVENT_LIMIT,
) -> bytes:
    """One event. Each line of `data` becomes a data line; empty data makes an event with an empty data line.

    `event` and `event_id` must be single lines without NUL, `retry_ms` is 0 or more milliseconds; else `ValueError`.
    Raises `EventTooLargeError` where the event with its framing is longer than `limit` bytes.
    """
    lines: list[bytes] = []
    if event is not None:
        lines.append(b"event: " + _single_line("event", event))
    if event_id is not None:
        lines.append(b"id: " + _single_line("event_id", event_id))
    if retry_ms is not None:
        if retry_ms < 0:
            raise ValueError(f"retry_ms must be 0 or more milliseconds, not {retry_ms}")
        lines.append(b"retry: %d" % retry_ms)
    lines.extend(b"data: " + line for line in data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n"))
    frame = b"\n".join(lines) + b"\n\n"
    if len(frame) > limit:
        raise EventTooLargeError(len(frame), limit)
    return frame


def encode_comment(text: str = "") -> bytes:
    """A comment, which clients skip: it shows that the stream is alive. Line breaks in the text become blanks."""
    return b": " + " ".join(text.replace("\0", "").splitlines()).encode() + b"\n\n"


def _single_line(name: str, value: str) -> bytes:
    if len(value.splitlines()) > 1 or value.endswith(("\n", "\r")) or "\0" in value:
        raise ValueError(f"{name} must be a single line without NUL, not {value!r}")
    return value.encode()
