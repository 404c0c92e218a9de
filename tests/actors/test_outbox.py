"""An outbox is bounded, never waits, and merges announcements."""

from __future__ import annotations

import trio

from actors.outbox import Outbox

CHANGED = b"changed"


async def frames_of(outbox: Outbox) -> list[bytes]:
    outbox.close()
    frames: list[bytes] = []
    with trio.fail_after(1):
        while (frame := await outbox.next()) is not None:
            frames.append(frame)
    return frames


async def test_frames_come_out_in_order_and_then_the_end() -> None:
    outbox = Outbox(CHANGED)
    assert outbox.put(b"a")
    assert outbox.put(b"b")
    assert await frames_of(outbox) == [b"a", b"b"]
    assert not outbox.put(b"c")


async def test_announcements_are_merged_until_one_is_written() -> None:
    outbox = Outbox(CHANGED)
    assert outbox.announce()
    assert not outbox.announce()
    assert await outbox.next() == CHANGED
    assert outbox.announce()
    assert await frames_of(outbox) == [CHANGED]


async def test_a_client_that_does_not_read_is_cut_off_and_nothing_grows() -> None:
    outbox = Outbox(CHANGED, capacity=2)
    assert outbox.put(b"a")
    assert outbox.put(b"b")
    assert not outbox.put(b"c")
    assert not outbox.is_open
    assert await frames_of(outbox) == [b"a", b"b"]


async def test_an_announcement_finds_room_in_a_full_outbox() -> None:
    outbox = Outbox(CHANGED, capacity=1)
    assert outbox.put(b"a")
    assert outbox.announce()
    assert outbox.is_open
    assert await frames_of(outbox) == [b"a", CHANGED]
