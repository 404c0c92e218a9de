"""Threads for code of a unit: given up when their time is over, and then ended."""

from __future__ import annotations

import threading
import time

import pytest
import trio

from space_unit.unit_thread import UnitThread

pytestmark = pytest.mark.slow


def loops() -> None:
    while True:
        pass


def catches() -> None:
    while True:
        try:
            loops()
        except SystemExit:
            break
    loops()


async def test_the_result_is_given_and_what_is_raised_is_raised() -> None:
    def fails() -> None:
        raise KeyboardInterrupt

    with trio.fail_after(10):
        assert await UnitThread("five", lambda: 5).run() == 5
        with pytest.raises(KeyboardInterrupt):
            await UnitThread("fails", fails).run()


@pytest.mark.parametrize("function", [loops, catches])
async def test_a_loop_whose_time_is_over_is_ended(function: object) -> None:
    thread = UnitThread("loops", function)  # pyright: ignore[reportArgumentType, reportUnknownVariableType]
    with trio.fail_after(10):
        with trio.move_on_after(0.05):
            await thread.run()
        await thread.ended.wait()
    await trio.sleep(0.1)
    assert not any(each.name.startswith("loops") for each in threading.enumerate())


async def test_what_waits_outside_of_python_is_given_up_at_once_and_ends_when_it_returns() -> None:
    thread = UnitThread("sleeps", lambda: time.sleep(0.4))
    began = trio.current_time()
    with trio.fail_after(10):
        with trio.move_on_after(0.05):
            await thread.run()
        assert trio.current_time() - began < 0.3
        assert not thread.ended.is_set()
        await thread.ended.wait()
