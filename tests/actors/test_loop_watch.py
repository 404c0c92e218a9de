"""The watch over the event loop: which unit holds it up, and where."""

from __future__ import annotations

import pytest
import trio

from actors.loop_watch import LoopWatch

pytestmark = pytest.mark.slow

HOLDING = """\
import time
def hold():
    time.sleep(0.5)
"""


async def test_code_that_holds_the_loop_is_named_with_its_line_and_how_long_it_took() -> None:
    names: dict[str, object] = {"__name__": "space_units_1_dice.unit"}
    exec(compile(HOLDING, "/units/dice/unit.py", "exec"), names)
    said: list[str] = []
    watch = LoopWatch(held_seconds=0.1, asked_seconds=0.02)
    async with trio.open_nursery() as nursery:
        await nursery.start(watch.run)
        with watch.watching("space_units_1_dice", "dice", said.append):
            await trio.sleep(0.1)
            names["hold"]()  # pyright: ignore[reportCallIssue]
            await trio.sleep(0.2)
        nursery.cancel_scope.cancel()
    assert "holds up the engine for more than 0.1 s, at unit.py, line 3" in said[0]
    assert "trio.to_thread.run_sync" in said[0]
    assert "held up the engine for 0." in said[1]
    assert len(said) == 2


async def test_code_that_waits_and_code_of_others_are_not_told_of() -> None:
    names: dict[str, object] = {"__name__": "somebody.else"}
    exec(compile(HOLDING, "/elsewhere.py", "exec"), names)
    said: list[str] = []
    watch = LoopWatch(held_seconds=0.1, asked_seconds=0.02)
    async with trio.open_nursery() as nursery:
        await nursery.start(watch.run)
        with watch.watching("space_units_1_dice", "dice", said.append):
            await trio.sleep(0.3)
            names["hold"]()  # pyright: ignore[reportCallIssue]
        nursery.cancel_scope.cancel()
    assert said == []
