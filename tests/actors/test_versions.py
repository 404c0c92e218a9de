"""Versions of topics: one frame at once, one for many changes, nothing queued, and an end."""

from __future__ import annotations

import json

import pytest
import trio

from actors.change_counter import ChangeCounter
from actors.errors import ActorStoppedError
from actors.published import Published
from actors.versions import PAUSE_SECONDS, TooManyReadersError, Versions, VersionsReader

BOUND_SECONDS = 30.0


class Stage:
    """Two topics, one of which has two sources."""

    def __init__(self) -> None:
        self.calls, self.context, self.edits = ChangeCounter(), Published(0), Published(0)
        self.versions = Versions("e1", {"calls": (self.calls,), "tools": (self.context, self.edits)}, most=2)


@pytest.fixture
def stage() -> Stage:
    return Stage()


async def next_of(reader: VersionsReader) -> dict[str, int] | None:
    frame = await reader.next()
    if frame is None:
        return None
    head, data = frame.decode().split("\n", 1)
    assert head == "event: versions"
    said = json.loads(data.removeprefix("data: "))
    assert said["engine"] == "e1"
    return said["versions"]


async def test_the_first_frame_comes_at_once_and_the_next_after_a_change(stage: Stage, autojump_clock: object) -> None:
    with trio.fail_after(BOUND_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(stage.versions.run)
            stage.edits.publish(1)
            reader = stage.versions.read()
            assert await next_of(reader) == {"calls": 0, "tools": 1}
            with trio.move_on_after(1) as silent:
                await reader.next()
            assert silent.cancelled_caught
            stage.context.publish(1)
            assert await next_of(reader) == {"calls": 0, "tools": 2}
            nursery.cancel_scope.cancel()


async def test_many_changes_become_few_frames_and_the_last_one_is_told(stage: Stage, autojump_clock: object) -> None:
    seen: list[int] = []
    with trio.fail_after(BOUND_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(stage.versions.run)
            reader = stage.versions.read()
            await reader.next()

            async def change() -> None:
                for _ in range(1_000):
                    stage.calls.count()
                    await trio.sleep(PAUSE_SECONDS / 100)

            nursery.start_soon(change)
            while not seen or seen[-1] < 1_000:
                now = await next_of(reader)
                assert now is not None
                seen.append(now["calls"])
            nursery.cancel_scope.cancel()
    assert len(seen) <= 15
    assert seen == sorted(seen)


async def test_a_slow_reader_gets_the_newest_and_nothing_in_between(stage: Stage, autojump_clock: object) -> None:
    with trio.fail_after(BOUND_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(stage.versions.run)
            reader, other = stage.versions.read(), stage.versions.read()
            await reader.next()
            await other.next()
            for count in range(1, 6):
                stage.calls.count()
                assert await next_of(other) == {"calls": count, "tools": 0}
            assert await next_of(reader) == {"calls": 5, "tools": 0}
            with trio.move_on_after(1) as silent:
                await reader.next()
            assert silent.cancelled_caught
            nursery.cancel_scope.cancel()


async def test_a_reader_is_told_what_changed_while_nobody_read(stage: Stage, autojump_clock: object) -> None:
    with trio.fail_after(BOUND_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(stage.versions.run)
            first = stage.versions.read()
            await first.next()
            await first.close()
            stage.calls.count()
            await trio.sleep(1)
            second = stage.versions.read()
            assert await next_of(second) == {"calls": 1, "tools": 0}
            stage.calls.count()
            assert await next_of(second) == {"calls": 2, "tools": 0}
            nursery.cancel_scope.cancel()


async def test_there_are_no_more_readers_than_the_limit(stage: Stage, autojump_clock: object) -> None:
    first, _ = stage.versions.read(), stage.versions.read()
    with pytest.raises(TooManyReadersError, match="close one"):
        stage.versions.read()
    await first.close()
    await first.close()
    assert stage.versions.reader_count == 1
    stage.versions.read()


async def test_at_the_end_every_reader_ends_and_none_begins(stage: Stage, autojump_clock: object) -> None:
    with trio.fail_after(BOUND_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(stage.versions.run)
            waiting, fresh = stage.versions.read(), stage.versions.read()
            await waiting.next()
            stage.versions.close()
            stage.calls.count()
            assert await waiting.next() is None
            assert await fresh.next() is None
            with pytest.raises(ActorStoppedError):
                stage.versions.read()
            await trio.sleep(1)
            assert await waiting.next() is None
            nursery.cancel_scope.cancel()
