"""Threads for code of a unit: given up when their time is over, and then ended."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
import trio

from space_unit.unit_thread import UnitThread

pytestmark = pytest.mark.slow


CODE = """\
def loops():
    while True:
        pass

def catches():
    while True:
        try:
            loops()
        except SystemExit:
            break
    loops()

def imports():
    while True:
        try:
            import nothing_like_it
        except ImportError:
            for _ in range(500_000):
                pass
"""


def code_of_a_unit(name: str, module: str = "space_units_1_dice.unit") -> Callable[[], None]:
    """One of the functions above, as a unit or another module has it."""
    names: dict[str, Any] = {"__name__": module}
    exec(CODE, names)
    return names[name]


async def test_the_result_is_given_and_what_is_raised_is_raised() -> None:
    def fails() -> None:
        raise KeyboardInterrupt

    with trio.fail_after(10):
        assert await UnitThread("five", lambda: 5).run() == 5
        with pytest.raises(KeyboardInterrupt):
            await UnitThread("fails", fails).run()


@pytest.mark.parametrize("name", ["loops", "catches", "imports"])
async def test_a_loop_whose_time_is_over_is_ended(name: str) -> None:
    thread = UnitThread("loops", code_of_a_unit(name))
    with trio.fail_after(10):
        with trio.move_on_after(0.05):
            await thread.run()
        await thread.ended.wait()
    await trio.sleep(0.1)
    assert not any(each.name.startswith("loops") for each in threading.enumerate())


async def test_a_loop_in_the_code_of_others_is_ended_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("space_unit.unit_thread.OWN_SECONDS", 0.2)
    thread = UnitThread("elsewhere", code_of_a_unit("loops", "somebody.else"))
    with trio.fail_after(10):
        with trio.move_on_after(0.01):
            await thread.run()
        began = trio.current_time()
        await thread.ended.wait()
    assert trio.current_time() - began > 0.1


async def test_an_end_in_the_middle_of_imports_leaves_imports_to_the_others() -> None:
    for turn in range(10):
        thread = UnitThread("imports", code_of_a_unit("imports"))
        with trio.fail_after(10):
            with trio.move_on_after(0.001 * turn):
                await thread.run()
            await thread.ended.wait()
            # In another thread: where the lock of imports were lost, this one would not come back.
            await trio.to_thread.run_sync(importlib.import_module, "wave", abandon_on_cancel=True)
            sys.modules.pop("wave")


async def test_what_waits_outside_of_python_is_given_up_at_once_and_ends_when_it_returns() -> None:
    thread = UnitThread("sleeps", lambda: time.sleep(0.4))
    began = trio.current_time()
    with trio.fail_after(10):
        with trio.move_on_after(0.05):
            await thread.run()
        assert trio.current_time() - began < 0.3
        assert not thread.ended.is_set()
        await thread.ended.wait()
