"""A runtime with real runners, and the functions that programs of these tests call."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from sandbox.limits import RUN_CODE_LIMITS
from sandbox.namespace import CallFailed, JsonValue, Namespace
from sandbox.runtime import CodeRuntime

SHORT = replace(RUN_CODE_LIMITS, wall_seconds=1.0, cpu_seconds=0.3)
"""Limits that a test can wait for."""

PATIENCE_SECONDS = 20.0
"""After which a test is given up."""


async def echo(argument: JsonValue) -> JsonValue:
    return argument


async def fail(argument: JsonValue) -> JsonValue:
    raise CallFailed(f"refused: {argument}")


async def never(_: JsonValue) -> JsonValue:
    await trio.sleep_forever()
    return None


TOOLS = Namespace(
    "tools", {"echo": echo, "fail": fail, "never": never, "__proto__": echo}, error=("ToolCallError", "toolName")
)


@pytest.fixture
async def runtime(nursery: trio.Nursery) -> CodeRuntime:
    """A runtime without spares, which has to be gone without a trace when the test is over."""
    made = CodeRuntime(spares=0)
    await nursery.start(made.run)
    return made


def open_descriptors() -> int:
    """Of this process."""
    return len(list(Path("/proc/self/fd").iterdir())) if Path("/proc/self/fd").is_dir() else 0


async def until(holds: Callable[[], bool]) -> None:
    """Wait for something that has no event. Give up after `PATIENCE_SECONDS`."""
    with trio.fail_after(PATIENCE_SECONDS):
        while not holds():  # noqa: ASYNC110 - see above
            await trio.sleep(0.005)


def lives(process_id: int) -> bool:
    """Whether there is such a process, a zombie being one."""
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return False
    return True
