"""Runs a unit's tests in a process of their own, under limits, and reads what came of them. Owns that process's files.

The process prints into a file, not into a pipe, so everything that it printed is there for the log however it ended.
"""

from __future__ import annotations

import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import trio

from actors.process import run_shell
from actors.process_groups import ProcessGroups
from engine.errors import EngineError, InvalidArgumentError
from engine.shell import ShellCommand, ShellResult, cut_middle
from engine.units.report import MAX_TEST_SECONDS, TestEnding, TestReport, read_report, told_whole
from presets.unit_shop import TestProgress

SHOWN_OUTPUT_BYTES = 12_000
"""Of what the tests printed, in a result; clients show 50 KiB of one, and the failures need their share."""

PROGRESS_SECONDS = 0.25
"""How often it is looked how far the tests are: often enough for whoever waits, seldom enough to cost nothing."""

MAX_OUTPUT_BYTES = 1024 * 1024
"""Of what the tests printed, in the log."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TestRun:
    """The report of a run, what it printed, and how the process ended, in words.

    `for_log` is all of it: what was printed, and whole tracebacks, which the report cuts and the output does not have.
    """

    __test__ = False

    report: TestReport
    output: str
    output_is_cut: bool
    for_log: str
    ended: str


async def run_unit_tests(
    folder: Path,
    only: str | None,
    seconds: float,
    environment: Mapping[str, str],
    groups: ProcessGroups,
    progress: TestProgress | None = None,
) -> TestRun:
    """Run the tests of the unit in that folder; cancelling ends the process. Raises `EngineError` if it cannot run.

    `progress` is told meanwhile how many tests have ended.
    """
    if not 0 < seconds <= MAX_TEST_SECONDS:
        raise InvalidArgumentError(
            f"the time for tests is {seconds:g} s; it must be above 0 and at most {MAX_TEST_SECONDS:g}"
        )
    scratch = Path(await trio.to_thread.run_sync(tempfile.mkdtemp, None, "space-unit-tests-"))
    try:
        started = time.monotonic()
        async with trio.open_nursery() as telling:
            if progress is not None:
                telling.start_soon(_tell, scratch / "report", progress)
            done = await _run(scratch, _command(folder, scratch, only, seconds), seconds, environment, groups)
            telling.cancel_scope.cancel()
        if isinstance(done, EngineError):
            raise done
        lines = _lines(scratch / "report")
        report = read_report(lines, timed_out=done.timed_out, seconds=round(time.monotonic() - started, 3))
        printed = _tail(scratch / "output") + done.stderr.encode()
        shown = cut_middle(printed, SHOWN_OUTPUT_BYTES)
        return TestRun(
            report=report,
            output=shown.text,
            output_is_cut=shown.omitted_bytes > 0,
            for_log=f"{printed.decode('utf-8', 'replace')}{told_whole(lines)}",
            ended=_ended(report, done.exit_code, done.signal),
        )
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(lambda: shutil.rmtree(scratch, ignore_errors=True))


async def _run(
    scratch: Path, command: str, seconds: float, environment: Mapping[str, str], groups: ProcessGroups
) -> ShellResult | EngineError:
    """Run the process. What keeps it from running is given, since a nursery would wrap it."""
    try:
        return await run_shell(
            ShellCommand(command=command, timeout_seconds=seconds),
            scratch,
            {**environment, "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", "TMPDIR": str(scratch)},
            groups,
        )
    except EngineError as error:
        return error


async def _tell(path: Path, progress: TestProgress) -> None:
    """Say how far the tests are each time that another one has ended."""
    told = -1
    while True:
        now = read_report(await trio.to_thread.run_sync(_lines, path), timed_out=False, seconds=0)
        done = now.passed_count + now.failed_count + now.skipped_count
        if now.found and done > told:
            told = done
            await progress(done, now.found, None if now.running is None else f"{now.running} runs")
        await trio.sleep(PROGRESS_SECONDS)


def _command(folder: Path, scratch: Path, only: str | None, seconds: float) -> str:
    arguments = [sys.executable, "-P", "-m", "space_unit.runner", str(folder), str(scratch / "report")]
    arguments += ["--cpu-seconds", str(ceil(seconds) + 1)]
    if only is not None:
        arguments += [f"--only={only}"]
    return f"exec {shlex.join(arguments)} >{shlex.quote(str(scratch / 'output'))} 2>&1"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return []


def _tail(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - MAX_OUTPUT_BYTES))
            return file.read()
    except OSError:
        return b""


def _ended(report: TestReport, exit_code: int | None, signal: int | None) -> str:
    if report.ending is not TestEnding.CRASHED:
        return report.ending.value
    how = f"signal {signal}" if signal is not None else f"exit code {exit_code}"
    return f"the process ended with {how} before the tests did"
