"""The fuzz run in its short form, and that it sees what is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.requests import RequestMaker
from tests.fuzz.run import faults_of_log, run


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize(("force_sse", "requests"), [(False, 1500), (True, 500)], ids=["direct", "sse"])
async def test_two_thousand_broken_requests_break_nothing(force_sse: bool, requests: int, tmp_path: Path) -> None:
    report = await run(tmp_path, requests, 1, force_sse)
    assert not report.faults, report.summary()
    assert sum(report.statuses.values()) + report.unanswered == requests


def test_a_seed_makes_the_same_requests_again() -> None:
    made = [{"name": "a"}, [1, 2], "text", None]
    first, second, other = (RequestMaker(seed, made) for seed in (1, 1, 2))
    requests = [first.next("/mcp", ()) for _ in range(200)]
    assert requests == [second.next("/mcp", ()) for _ in range(200)]
    assert requests != [other.next("/mcp", ()) for _ in range(200)]


def test_a_traceback_or_an_error_in_the_log_is_a_fault() -> None:
    assert faults_of_log('{"event": "started", "level": "info"}\n') == []
    assert len(faults_of_log('{"event": "handler", "level": "error"}\n')) == 1
    assert len(faults_of_log("Traceback (most recent call last):\n  File x\n")) == 1
