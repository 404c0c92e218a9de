"""Server-sent events that somebody else sends: whatever the cutting, whatever the content."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.sse_reader import EventTooLongError, SseReader


def read(*pieces: bytes, most: int = 1000) -> list[str]:
    """The events in a stream that comes in these pieces."""
    reader = SseReader(most)
    return [event for piece in pieces for event in reader.feed(piece)]


def test_the_data_of_each_event_comes_when_it_is_complete() -> None:
    reader = SseReader()
    assert list(reader.feed(b"data: one\n")) == []
    assert list(reader.feed(b"\ndata: two\n\ndata: thr")) == ["one", "two"]
    assert list(reader.feed(b"ee\n\n")) == ["three"]


def test_lines_of_data_are_joined_and_other_fields_are_skipped() -> None:
    assert read(b": alive\nevent: message\nid: 7\nretry: 5\ndata: a\ndata:b\ndata\nodd\n\n") == ["a\nb\n"]


def test_an_event_without_data_and_one_that_is_not_ended_are_none() -> None:
    assert read(b"\n\nevent: ping\n\n: comment\n\ndata: never ended") == []


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_every_line_end_of_the_standard_is_one(end: bytes) -> None:
    assert read(end.join([b"data: one", b"data: more", b"", b"data: two", b"", b""])) == ["one\nmore", "two"]


def test_a_line_end_that_is_cut_in_two_is_one_line_end() -> None:
    assert read(b"data: one\r", b"\ndata: more\r", b"\n\r", b"\n") == ["one\nmore"]


def test_a_byte_order_mark_at_the_beginning_is_skipped_and_bad_bytes_are_replaced() -> None:
    assert read(b"\xef\xbb\xbfdata: \xff\n\n") == ["\ufffd"]


def test_an_event_that_is_too_long_is_refused_in_one_line_or_many() -> None:
    assert read(b"data: " + b"x" * 900 + b"\n\n", b"data: " + b"y" * 900 + b"\n\n") != []
    for stream in (b"data: " + b"x" * 1000, b"x" * 1001, b"data: 123456789\n" * 101, b"data:\n" * 1001):
        with pytest.raises(EventTooLongError, match="1000 bytes"):
            read(stream)


@given(st.lists(st.text("ab: \n\r", max_size=20)), st.integers(1, 7))
def test_how_a_stream_is_cut_changes_nothing(texts: list[str], size: int) -> None:
    stream = "".join(f"data: {text}\n\n" for text in texts).encode()
    assert read(*(stream[at : at + size] for at in range(0, len(stream), size))) == read(stream)
