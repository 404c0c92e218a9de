"""The tool that runs the tests of a unit. Owns how what came of them is told to a model."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from engine.printed import MAX_RESULT_BYTES, printed_size
from engine.shell import cut_middle
from engine.units.report import DEFAULT_TEST_SECONDS, MAX_TEST_SECONDS, FailedTest
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.unit_tools.results import UnitName
from presets.schema import ToolArguments, ToolResult
from protocol.interaction import Interaction
from protocol.tool import TaskSupport


class RunTestsArguments(ToolArguments):
    """Which tests of which unit."""

    unit_id: UnitName
    test_name: str | None = Field(
        None,
        description="Only these: a file (tests/test_unit.py), or one test of it (tests/test_unit.py::test_it).",
        max_length=300,
    )
    timeout_seconds: Annotated[float, Field(gt=0, le=MAX_TEST_SECONDS)] = Field(
        DEFAULT_TEST_SECONDS, description="After this the process is ended."
    )


class FailureResult(ToolResult):
    """A test that failed."""

    test: str
    where: str = Field(description="File and line in the test.")
    message: str
    traceback: str


class RunTestsResult(ToolResult):
    """What came of the tests."""

    unit_id: str
    passed: bool = Field(description="Whether every test ran and passed, and there was one.")
    ending: str = Field(description="done; timed-out; crashed; not-loaded (the unit, or a file of tests).")
    tests: int = Field(description="How many there are.")
    passed_count: int
    failed_count: int
    skipped_count: int
    failed: tuple[FailureResult, ...]
    seconds: float
    running: str | None = Field(None, description="The test during which the process ended.")
    problem: str | None = Field(None, description="Why nothing was run.")
    output: str = Field(description="What was printed; where it is cut, space_unit_read_log has it whole.")
    output_is_cut: bool


async def run_tests(app: App, arguments: RunTestsArguments, call: Interaction) -> RunTestsResult:
    """Body of `space_unit_run_tests`. Tests that fail are a result like any other."""
    await call.become_task()
    ran = await app.units.run_tests(arguments.unit_id, arguments.test_name, arguments.timeout_seconds, call.progress)
    report = ran.report
    failed, room = _fitting(report.failed, MAX_RESULT_BYTES * 2 // 3)
    output = ran.output
    most = room + MAX_RESULT_BYTES // 3
    keep = most
    while printed_size(output) > most:
        output = cut_middle(ran.output.encode("utf-8", "replace"), keep).text
        keep = keep * 2 // 3
    return RunTestsResult(
        unit_id=ran.unit,
        passed=report.passed,
        ending=report.ending.value,
        tests=report.found,
        passed_count=report.passed_count,
        failed_count=report.failed_count,
        skipped_count=report.skipped_count,
        failed=tuple(
            FailureResult(test=one.test, where=one.where, message=one.message, traceback=one.traceback)
            for one in failed
        ),
        seconds=report.seconds,
        running=report.running,
        problem=report.problem,
        output=output,
        output_is_cut=ran.output_is_cut or output != ran.output,
    )


def _fitting(failed: tuple[FailedTest, ...], room: int) -> tuple[tuple[FailedTest, ...], int]:
    """As many failures as there is room for, and the room that is left."""
    taken: list[FailedTest] = []
    for one in failed:
        size = sum(map(printed_size, (one.test, one.where, one.message, one.traceback)))
        if size > room:
            break
        room -= size
        taken.append(one)
    return tuple(taken), room


def adapters() -> tuple[ToolAdapter, ...]:
    """Every adapter of this topic."""
    return (
        typed_adapter(
            id="unit.run-tests",
            mcp_name="space_unit_run_tests",
            title="Run unit tests",
            description=(
                "Run the tests of a unit in a process of their own, with a time limit: which failed, where and why. A "
                "test is a function test_..., async or not, without parameters, in tests/test_....py."
            ),
            arguments=RunTestsArguments,
            result=RunTestsResult,
            run=run_tests,
            task_support=TaskSupport.OPTIONAL,
        ),
    )
