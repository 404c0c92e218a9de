"""What came of a unit's tests. Owns the lines in which the runner reports, and what they amount to when it was cut off.

The runner writes one JSON object per line into a file of its own, so nothing that a test prints can be mistaken for it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, cast

DEFAULT_TEST_SECONDS = 30.0
"""A run takes seconds; what takes longer waits for something that does not come."""

MAX_TEST_SECONDS = 300.0
"""Clients give up on a call at some ten minutes."""

MAX_FAILURES = 20
"""Failures that a result shows; the log has them all."""

MAX_TRACEBACK_CHARACTERS = 3000
"""Of one failure in a result."""


class TestEnding(StrEnum):
    """How the run as a whole ended."""

    __test__ = False

    DONE = "done"
    """Every test ran."""
    TIMED_OUT = "timed-out"
    """Its time was over; the tests after the last reported one did not run."""
    CRASHED = "crashed"
    """The process ended before the tests did: a limit, a signal, an exit."""
    NOT_LOADED = "not-loaded"
    """The unit or a file of its tests could not be loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTest:
    """A test that failed: where, with which message, and its traceback as far as it is shown."""

    __test__ = False

    test: str
    where: str
    message: str
    traceback: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TestReport:
    """The run. `passed` is whether all is well: every test ran and none failed, and there was at least one."""

    __test__ = False

    ending: TestEnding
    found: int
    passed_count: int
    failed: tuple[FailedTest, ...]
    failed_count: int
    skipped_count: int
    seconds: float
    running: str | None = None
    """The test that ran when the process was ended."""
    problem: str | None = None
    """Why nothing could be loaded."""

    @property
    def passed(self) -> bool:
        """See the class."""
        return self.ending is TestEnding.DONE and self.failed_count == 0 and self.passed_count > 0


def read_report(lines: Iterable[str], *, timed_out: bool, seconds: float) -> TestReport:
    """The report of these lines, as many as were written. A line that is none is passed over."""
    found = passed = skipped = failed_count = 0
    failed: list[FailedTest] = []
    running: str | None = None
    problem: str | None = None
    ended = False
    for line in lines:
        event = _event(line)
        match event.get("event"):
            case "found":
                found = _number(event.get("tests"))
            case "started":
                running = str(event.get("test"))
            case "passed":
                passed, running = passed + 1, None
            case "skipped":
                skipped, running = skipped + 1, None
            case "failed":
                failed_count, running = failed_count + 1, None
                if len(failed) < MAX_FAILURES:
                    failed.append(_failure(event))
            case "problem":
                problem = cut(str(event.get("text")), MAX_TRACEBACK_CHARACTERS)
            case "ended":
                ended = True
            case _:
                pass
    return TestReport(
        ending=_ending(problem, ended=ended, timed_out=timed_out),
        found=found,
        passed_count=passed,
        failed=tuple(failed),
        failed_count=failed_count,
        skipped_count=skipped,
        seconds=seconds,
        running=running,
        problem=problem,
    )


def told_whole(lines: Iterable[str]) -> str:
    """All that the lines say went wrong, for a log: why nothing was run, and every failure with its whole traceback."""
    said: list[str] = []
    for line in lines:
        event = _event(line)
        if event.get("event") == "problem":
            said.append(str(event.get("text")))
        elif event.get("event") == "failed":
            said.append(f"FAILED {event.get('test')}\n{event.get('traceback')}")
    return "\n".join(said)


def cut(text: str, most: int) -> str:
    """The text without its middle where it is longer; a note stands in the place of what was left out."""
    if len(text) <= most:
        return text
    head, tail = most - most // 2, most // 2
    return f"{text[:head]}\n[... {len(text) - most} characters left out; the log has them ...]\n{text[-tail:]}"


def _ending(problem: str | None, *, ended: bool, timed_out: bool) -> TestEnding:
    if problem is not None:
        return TestEnding.NOT_LOADED
    if ended:
        return TestEnding.DONE
    return TestEnding.TIMED_OUT if timed_out else TestEnding.CRASHED


def _failure(event: dict[str, Any]) -> FailedTest:
    return FailedTest(
        test=str(event.get("test")),
        where=str(event.get("where")),
        message=cut(str(event.get("message")), 500),
        traceback=cut(str(event.get("traceback")), MAX_TRACEBACK_CHARACTERS),
    )


def _event(line: str) -> dict[str, Any]:
    try:
        event: object = json.loads(line)
    except ValueError:
        return {}
    return cast("dict[str, Any]", event) if isinstance(event, dict) else {}


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
