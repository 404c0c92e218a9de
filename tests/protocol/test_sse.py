"""Server-sent events. WHATWG HTML, "Server-sent events", and the line readers that split at more than it says."""

from __future__ import annotations

import json

import pytest

from protocol.sse import (
    EVENT_LIMIT,
    EventTooLargeError,
    encode_comment,
    encode_event,
    encode_message,
    escape_line_breaks,
)


def test_a_message_is_one_event_with_one_data_line() -> None:
    assert encode_message(b'{"a":1}') == b'event: message\ndata: {"a":1}\n\n'


def test_an_event_has_its_fields_in_order() -> None:
    frame = encode_event(b"/mcp?sessionId=1", event="endpoint", event_id="7", retry_ms=500)
    assert frame == b"event: endpoint\nid: 7\nretry: 500\ndata: /mcp?sessionId=1\n\n"


def test_empty_data_still_makes_an_event() -> None:
    assert encode_event(b"", event_id="7") == b"id: 7\ndata: \n\n"


@pytest.mark.parametrize("line_break", [b"\n", b"\r", b"\r\n"])
def test_each_line_of_data_is_a_data_line(line_break: bytes) -> None:
    assert encode_event(b"one" + line_break + b"two") == b"data: one\ndata: two\n\n"


def test_line_breaks_of_unicode_are_escaped_and_the_value_stays() -> None:
    value = {"text": "a\u2028b\u2029c\u0085d", "é": "\u2027\u0084"}
    frame = encode_message(json.dumps(value, ensure_ascii=False).encode())
    assert len(frame.decode().splitlines()) == 3
    assert json.loads(frame.split(b"data: ")[1]) == value


def test_nothing_else_is_escaped() -> None:
    message = '{"é":"😀 \\u2028 \\n"}'.encode()
    assert escape_line_breaks(message) == message


@pytest.mark.parametrize("field", ["event", "event_id"])
@pytest.mark.parametrize("value", ["a\nb", "a\r", "a\0", "a\u2028b"])
def test_a_field_that_is_no_single_line_is_refused(field: str, value: str) -> None:
    with pytest.raises(ValueError, match=field):
        encode_event(b"", **{field: value})  # pyright: ignore[reportArgumentType]


def test_a_negative_retry_is_refused() -> None:
    with pytest.raises(ValueError, match="retry_ms"):
        encode_event(b"", retry_ms=-1)


def test_the_longest_event_stays_below_a_mebibyte() -> None:
    frame = encode_message(b"x" * (EVENT_LIMIT - len(encode_message(b""))))
    assert len(frame) == EVENT_LIMIT < 1024 * 1024


def test_a_longer_event_is_refused_with_both_sizes() -> None:
    with pytest.raises(EventTooLargeError) as caught:
        encode_message(b"x" * EVENT_LIMIT)
    assert caught.value.limit == EVENT_LIMIT
    assert caught.value.size > EVENT_LIMIT


def test_a_comment_is_one_line_whatever_its_text() -> None:
    assert encode_comment() == b": \n\n"
    assert encode_comment("still\nhere") == b": still here\n\n"
