"""What a program costs: in a runner that waited for it, in one that had to be started, and a call from inside it.

The programs are plain JavaScript, so what compiling costs is not in it. Every run is a lease of its own, as the tool
that runs a model's program takes it: hand-over, run, result, and leaving the lease.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

import trio

from benchmarks.quantiles import Spread
from benchmarks.table import Figure, Requirement, Row
from sandbox.lease import Lease
from sandbox.namespace import JsonValue, Namespace
from sandbox.result import RunResult
from sandbox.runtime import CodeRuntime

MOST_WARM_MS = 10.0
"""A run in a spare runner, median. Below what a person or a model notices beside a tool call."""

MOST_COLD_MS = 120.0
"""A run without one, median: starting deno behind all walls included."""

MOST_CALL_MS = 1.0
"""What a call from inside a program may cost more than the function called directly, one after the other, median."""

SETTLE_SECONDS = 0.05
"""Between runs in spares: the process of the run before is reaped meanwhile, which nobody waits for."""

CONSTANT = "return 1"
CALLS = "const n = data.calls; for (let i = 0; i < n; i++) await tools.echo({i}); return n"
PARALLEL = "await Promise.all(Array.from({length: data.calls}, (_, i) => tools.echo({i}))); return data.calls"


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure."""

    warm: int
    cold: int
    calls: int
    """In one program; there are as many programs as cold runs."""


def measure(effort: Effort) -> list[Row]:
    """The rows of the table. Raises `CodeRuntimeUnavailableError` without deno, `AssertionError` at a wrong result."""
    return trio.run(_measured, effort)


async def _measured(effort: Effort) -> list[Row]:
    async with trio.open_nursery() as nursery:
        with_spare, without = CodeRuntime(), CodeRuntime(spares=0)
        await nursery.start(with_spare.run)
        await nursery.start(without.run)
        await without.warm()
        warm: list[float] = []
        for _ in range(effort.warm):
            await with_spare.warm()
            await trio.sleep(SETTLE_SECONDS)
            warm.append(await _run_seconds(with_spare))
        cold = [await _run_seconds(without) for _ in range(effort.cold)]
        single, parallel = await _call_seconds(without, effort)
        bare = await _bare_seconds(effort.calls)
        nursery.cancel_scope.cancel()
    return [
        Figure("a program that returns a constant"),
        Figure("  in a spare runner", latency=Spread.of(warm)),
        Figure("  in a runner that is started for it", latency=Spread.of(cold)),
        Figure("a call of a function from inside a program"),
        Figure("  one after the other", latency=Spread.of(single)),
        Figure(f"  {effort.calls} at once, each", latency=Spread.of(parallel)),
        Requirement("a run in a spare runner, median", statistics.median(warm) * 1e3, MOST_WARM_MS, " ms"),
        Requirement("a run without a spare, median", statistics.median(cold) * 1e3, MOST_COLD_MS, " ms"),
        Requirement(
            "a call from inside above the bare function", (statistics.median(single) - bare) * 1e3, MOST_CALL_MS, " ms"
        ),
    ]


async def _run_seconds(runtime: CodeRuntime) -> float:
    started = time.perf_counter()
    async with runtime.lease() as lease:
        result = await lease.run(CONSTANT)
    seconds = time.perf_counter() - started
    _demand(result, 1)
    return seconds


async def _call_seconds(runtime: CodeRuntime, effort: Effort) -> tuple[list[float], list[float]]:
    """Of each program its seconds for a call: one after the other, and all at once."""
    single: list[float] = []
    parallel: list[float] = []
    for _ in range(effort.cold):
        async with runtime.lease() as lease:
            await _program_seconds(lease, CALLS, 1)  # the first run of a process is dearer
            single.append(await _program_seconds(lease, CALLS, effort.calls) / effort.calls)
            parallel.append(await _program_seconds(lease, PARALLEL, effort.calls) / effort.calls)
    return single, parallel


async def _program_seconds(lease: Lease, program: str, calls: int) -> float:
    spaces = [Namespace("tools", {"echo": _echo}), Namespace("data", data={"calls": calls})]
    started = time.perf_counter()
    result = await lease.run(program, spaces)
    seconds = time.perf_counter() - started
    _demand(result, calls)
    return seconds


async def _bare_seconds(calls: int) -> float:
    started = time.perf_counter()
    for number in range(calls):
        await _echo({"i": number})
    return (time.perf_counter() - started) / calls


async def _echo(argument: JsonValue) -> JsonValue:
    return argument


def _demand(result: RunResult, value: JsonValue) -> None:
    if result.error is not None or result.value != value:
        raise AssertionError(f"a program did not give {value!r}: {result}")
