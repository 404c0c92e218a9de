"""The runner of a unit's tests: what it finds, what it reports of each, and the template, whose tests pass."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from engine.units.folder import make_unit
from engine.units.report import TestEnding, TestReport, read_report, told_whole
from space_unit.runner import run_tests
from space_unit.template import template_files
from tests.space_unit.units import ROLL

TESTS = """\
import trio
from space_unit.runner import SkipTest
from ..unit import roll

async def test_async():
    await trio.sleep(0)
    assert await roll(6) == 6

def test_plain():
    print("printed")

def test_assert():
    number = 4
    assert number == 5

def test_error():
    helper()

def helper():
    raise RuntimeError("deep")

def test_exit():
    raise SystemExit(3)

def test_skip():
    raise SkipTest("not here")

not_a_test = 1
"""


def ran(folder: Path, only: str | None = None) -> tuple[bool, TestReport, list[Any]]:
    out = io.StringIO()
    well = run_tests(folder, out, only)
    lines = out.getvalue().splitlines()
    return well, read_report(lines, timed_out=False, seconds=0.0), [json.loads(line) for line in lines]


def unit(root: Path, tests: str, code: str = ROLL) -> Path:
    files = {"unit.toml": b"", "unit.py": code.encode(), "tests/test_unit.py": tests.encode()}
    return make_unit(root, "dice", files).path


def test_the_template_is_a_unit_whose_tests_pass(tmp_path: Path) -> None:  # 258, 259
    path = make_unit(tmp_path, "star-map", template_files("star-map")).path
    well, report, _ = ran(path)
    assert well
    assert (report.passed, report.passed_count, report.failed) == (True, 2, ())


def test_each_failure_says_where_and_what(tmp_path: Path) -> None:
    well, report, _ = ran(unit(tmp_path, TESTS))
    assert not well
    assert (report.ending, report.found, report.passed_count, report.skipped_count) == (TestEnding.DONE, 6, 2, 1)
    failed = {one.test.partition("::")[2]: one for one in report.failed}
    assert failed["test_assert"].where == "tests/test_unit.py:14"
    assert failed["test_assert"].message == "AssertionError: assert number == 5"
    assert (failed["test_error"].where, failed["test_error"].message) == ("tests/test_unit.py:20", "RuntimeError: deep")
    assert "in helper" in failed["test_error"].traceback
    assert "runner.py" not in failed["test_error"].traceback
    assert failed["test_exit"].message == "SystemExit: 3"


def test_one_file_or_one_test_may_be_asked_for(tmp_path: Path) -> None:
    path = unit(tmp_path, TESTS)
    assert ran(path, "tests/test_unit.py::test_plain")[1].passed
    assert ran(path, "test_unit")[1].found == 6
    _, report, _ = ran(path, "tests/test_none.py")
    assert (report.ending, report.passed) == (TestEnding.NOT_LOADED, False)


def test_a_unit_that_cannot_be_loaded_has_one_problem_and_no_test(tmp_path: Path) -> None:
    _, report, _ = ran(unit(tmp_path, TESTS, "import nothing_like_it"))
    assert report.ending is TestEnding.NOT_LOADED
    assert report.problem is not None
    assert "No module named 'nothing_like_it'" in report.problem
    (tmp_path / "two").mkdir()
    _, report, _ = ran(unit(tmp_path / "two", TESTS, ROLL.replace('"dice"', '"other"')))
    assert report.problem is not None
    assert "must be named 'dice'" in report.problem


MEAN = """\
class Own(BaseException): pass
class NoText(Exception):
    def __str__(self): raise ValueError("no")
def test_interrupt(): raise KeyboardInterrupt
def test_own(): raise Own("mine")
def test_text(): raise NoText()
async def test_gone(): raise GeneratorExit
def test_well(): pass
"""


def test_whatever_a_test_raises_it_is_a_failed_test_and_those_after_it_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    well, report, lines = ran(unit(tmp_path, MEAN))
    assert not well
    assert (report.ending, report.found, report.passed_count, report.failed_count) == (TestEnding.DONE, 5, 1, 4)
    failed = {one.test.partition("::")[2]: one for one in report.failed}
    assert failed["test_interrupt"].message == "KeyboardInterrupt"
    assert failed["test_own"].message == "Own: mine"
    assert "NoText" in failed["test_text"].message
    assert failed["test_text"].where == "tests/test_unit.py:6"
    assert failed["test_gone"].message == "GeneratorExit"
    printed = capsys.readouterr().out
    assert "FAILED tests/test_unit.py::test_own" in printed
    assert "Traceback" not in printed, "the report has it already"
    assert told_whole(json.dumps(line) for line in lines).count("Traceback") == 4


@pytest.mark.parametrize("code", ["raise KeyboardInterrupt", MEAN.split("def test")[0] + "raise NoText()"])
def test_a_unit_that_raises_anything_while_it_is_loaded_is_a_problem_in_words(tmp_path: Path, code: str) -> None:
    _, report, _ = ran(unit(tmp_path, TESTS, code))
    assert report.ending is TestEnding.NOT_LOADED
    assert "unit.py" in (report.problem or "")


def test_a_test_that_there_is_not_is_answered_with_those_that_are(tmp_path: Path) -> None:
    path = unit(tmp_path, TESTS)
    for asked, meant in (
        ("test_plain", "Did you mean 'tests/test_unit.py::test_plain'?"),
        ("tests/test_unit.py::test_plane", "Did you mean 'tests/test_unit.py::test_plain'"),
    ):
        _, report, _ = ran(path, asked)
        assert report.problem is not None
        assert f"there is no test {asked!r}" in report.problem
        assert meant in report.problem
        assert "one test of it (tests/test_unit.py::test_it)" in report.problem
        assert "There are: tests/test_unit.py::test_async, tests/test_unit.py::test_plain" in report.problem
