"""The end of a process that serves comes in time, whatever code of a unit does to hold it up."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from cli.leaving import LEAVING_SECONDS
from tests.space_unit.units import HEAD
from tests.transport.mcp_client import JSON_BODY
from tests.transport.serving_process import serving_process
from transport.ending import LAST_RESORT_SECONDS, STARVED_SECONDS

GRACE = 0.5
SLACK = 4.0
"""What a busy machine may add."""

_IN_A_THREAD = """
    with trio.CancelScope(shield=True):
        await trio.to_thread.run_sync(time.sleep, 60)
"""
_WITHOUT_A_TURN_FOR_OTHERS = """
    try:
        await trio.sleep_forever()
    finally:
        re.fullmatch("(a+)+", "a" * 40 + "!")
"""
_IN_A_SYSTEM_TASK = """
    async def held():
        with trio.CancelScope(shield=True):
            await trio.sleep(60)
    trio.lowlevel.spawn_system_task(held)
    return 1
"""
_BY_A_THREAD_OF_ITS_OWN = """
    threading.Thread(target=time.sleep, args=[60], name="left-behind").start()
    return 1
"""


def unit_that(body: str) -> str:
    return (
        f"{HEAD}\nimport re, threading, time, trio\n\n@tool\nasync def hold() -> int:\n    'Holds.'\n{body}\n\n"
        "p = preset('held', tools=[hold])\n"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("body", "code", "seconds"),
    [
        (_IN_A_THREAD, 1, LAST_RESORT_SECONDS),
        (_WITHOUT_A_TURN_FOR_OTHERS, 1, LAST_RESORT_SECONDS + STARVED_SECONDS),
        (_IN_A_SYSTEM_TASK, 1, LAST_RESORT_SECONDS),
        (_BY_A_THREAD_OF_ITS_OWN, 0, LEAVING_SECONDS),
    ],
    ids=["a thread", "no turn for others", "a task of the system", "a thread of its own"],
)
async def test_what_holds_the_end_is_ended_with_the_process(
    tmp_path: Path, body: str, code: int, seconds: float
) -> None:
    unit = tmp_path / "data" / "units" / "held"
    unit.mkdir(parents=True)
    (unit / "unit.toml").write_text("")
    (unit / "unit.py").write_text(unit_that(body))
    async with serving_process(tmp_path, "--grace", str(GRACE)) as engine, trio.open_nursery() as calls:

        async def call() -> None:
            # An engine that ends at once breaks the connection off.
            with suppress(Exception):
                await engine.request("POST", "/api/tools/space_held_hold/call", JSON_BODY, b"{}")

        calls.start_soon(call)
        await trio.sleep(1.0)
        began = trio.current_time()
        engine.signal(signal.SIGTERM)
        with trio.fail_after(GRACE + seconds + SLACK):
            assert await engine.wait() == code
        if body == _BY_A_THREAD_OF_ITS_OWN:
            assert engine.log.splitlines()[-1].endswith("held the exit, and is ended with it: left-behind")
        else:
            assert trio.current_time() - began > LAST_RESORT_SECONDS
        calls.cancel_scope.cancel()
