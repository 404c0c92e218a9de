"""Publishing never waits; readers get the latest value, and the last one for certain."""

from __future__ import annotations

import trio
import trio.testing

from actors.published import Published


async def test_many_changes_become_one_and_the_last_is_delivered(nursery: trio.Nursery) -> None:
    source = Published(0)
    seen: list[int] = []

    async def read() -> None:
        reader = source.subscribe()
        while seen[-1:] != [9]:
            seen.append(await reader.next())

    nursery.start_soon(read)
    await trio.testing.wait_all_tasks_blocked()
    for value in range(1, 8):
        source.publish(value)
    await trio.testing.wait_all_tasks_blocked()
    source.publish(8)
    source.publish(9)
    await trio.testing.wait_all_tasks_blocked()
    assert seen == [7, 9]


async def test_publishing_does_not_wait_for_a_reader_that_is_busy() -> None:
    source = Published("a")
    reader = source.subscribe()
    with trio.testing.assert_no_checkpoints():
        for number in range(1000):
            source.publish(str(number))
    with trio.fail_after(1):
        assert await reader.next() == "999"


async def test_a_reader_starts_from_the_present_value() -> None:
    source = Published("a")
    source.publish("b")
    reader = source.subscribe()
    with trio.move_on_after(0) as scope:
        await reader.next()
    assert scope.cancelled_caught
    assert (source.value, source.version) == ("b", 1)
