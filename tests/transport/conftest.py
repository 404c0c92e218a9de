"""What the tests of the transport share: served engines, and the promise that nothing is logged as an error."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, MutableMapping
from pathlib import Path
from typing import Any

import pytest
import structlog.testing

from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.talking_tools import TalkHooks

LogEntries = list[MutableMapping[str, Any]]


@pytest.fixture(autouse=True)
def errors_logged() -> Generator[LogEntries]:
    """Every log entry of the test. One of level error fails the test, unless the test takes it off the list."""
    with structlog.testing.capture_logs() as entries:
        yield entries
    assert [entry for entry in entries if entry["log_level"] in {"error", "critical"}] == []


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncGenerator[RunningEngine]:
    """An engine in direct mode with the tools on trial."""
    async with running_engine(tmp_path) as running:
        yield running


@pytest.fixture
async def sse_engine(tmp_path: Path) -> AsyncGenerator[RunningEngine]:
    """An engine in forced SSE mode with the tools on trial."""
    async with running_engine(tmp_path, force_sse=True) as running:
        yield running


@pytest.fixture
async def full_engine(tmp_path: Path) -> AsyncGenerator[RunningEngine]:
    """An engine in direct mode with all built-in tools."""
    async with running_engine(tmp_path, built_in=True) as running:
        yield running


@pytest.fixture
def talk() -> TalkHooks:
    """How a test lets the talking tools go on."""
    return TalkHooks()


@pytest.fixture
async def talking(tmp_path: Path, talk: TalkHooks) -> AsyncGenerator[RunningEngine]:
    """An engine in direct mode whose tools, resources and prompts talk with their clients."""
    async with running_engine(tmp_path, more=(talk.capabilities(),)) as running:
        yield running
