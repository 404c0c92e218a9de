"""An outbox is bounded, never waits, merges announcements, and numbers its frames where its client can come back."""

from __future__ import annotations

import trio

from actors.event_log import EventLog
from actors.outbox import Outbox

CHANGED = b"changed"
TOOLS = "tools"


async def frames_of(outbox: Outbox) -> list[bytes]:
    outbox.close()
    frames: list[bytes] = []
    with trio.fail_after(1):
        while (frame := await outbox.next()) is not None:
            frames.append(frame)
    return frames


async def test_frames_come_out_in_order_and_then_the_end() -> None:
    outbox = Outbox()
    assert outbox.put(b"a")
    assert outbox.put(b"b")
    assert await frames_of(outbox) == [b"a", b"b"]
    assert not outbox.put(b"c")


async def test_announcements_of_one_thing_are_merged_until_one_is_written() -> None:
    outbox = Outbox()
    assert outbox.announce(TOOLS, CHANGED)
    assert not outbox.announce(TOOLS, CHANGED)
    assert outbox.announce("prompts", b"others")
    assert await outbox.next() == CHANGED
    assert outbox.announce(TOOLS, CHANGED)
    assert await frames_of(outbox) == [b"others", CHANGED]


async def test_a_client_that_does_not_read_is_cut_off_and_nothing_grows() -> None:
    outbox = Outbox(capacity=2)
    assert outbox.put(b"a")
    assert outbox.put(b"b")
    assert not outbox.put(b"c")
    assert not outbox.is_open
    assert await frames_of(outbox) == [b"a", b"b"]


async def test_an_announcement_finds_room_in_a_full_outbox_and_takes_none_from_frames() -> None:
    outbox = Outbox(capacity=1)
    assert outbox.announce("prompts", b"others")
    assert outbox.put(b"a")
    assert outbox.announce(TOOLS, CHANGED)
    assert outbox.is_open
    assert await frames_of(outbox) == [b"others", b"a", CHANGED]


async def test_a_last_word_comes_after_everything_else_and_once() -> None:
    outbox = Outbox(capacity=1)
    outbox.put(b"a")
    outbox.close(b"bye")
    outbox.close(b"bye")
    assert await frames_of(outbox) == [b"a", b"bye"]


async def test_frames_of_a_stream_that_can_be_resumed_are_numbered_and_kept() -> None:
    log = EventLog("s")
    outbox = Outbox(log=log)
    outbox.prime()
    outbox.put(b"data: a\n\n")
    outbox.announce(TOOLS, b"data: b\n\n")
    assert await frames_of(outbox) == [
        b"id: s-0\ndata: \n\n",
        b"id: s-1\ndata: a\n\n",
        b"id: s-2\ndata: b\n\n",
    ]
    again = Outbox(log=log)
    again.resume(log.after(0))
    again.put(b"data: c\n\n")
    assert await frames_of(again) == [
        b"id: s-1\ndata: a\n\n",
        b"id: s-2\ndata: b\n\n",
        b"id: s-3\ndata: c\n\n",
    ]
