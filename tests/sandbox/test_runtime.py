"""The service: what starts when, what it says of itself, and that nothing of it stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
import trio

from sandbox.deno import find_deno
from sandbox.limits import SCRIPT_BLOCK_LIMITS
from sandbox.result import RunResult
from sandbox.runtime import HAND_OVER_SECONDS, CodeRuntime, CodeRuntimeBusyError, CodeRuntimeUnavailableError
from tests.sandbox.conftest import PATIENCE_SECONDS, SHORT, TOOLS, lives, open_descriptors, until

ROOT = Path(__file__).parents[2]

LONGEST_STALL_SECONDS = 0.15
"""For which a large value of one program may hold up everybody else. Alone on a machine it is a third of that."""


async def test_nothing_starts_before_there_is_a_need(nursery: trio.Nursery) -> None:
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    status = runtime.status()
    assert status.available
    assert (status.runners, status.spares, status.deno_version) == ((), 0, "")


@pytest.mark.slow
async def test_warming_has_the_spare_ready_and_says_what_stands(nursery: trio.Nursery) -> None:
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    await runtime.warm()
    status = runtime.status()
    assert (status.spares, len(status.runners)) == (1, 1)
    assert status.deno_version.startswith("2.")
    assert "no core files" in status.walls
    if sys.platform == "linux" and os.uname().machine in {"x86_64", "aarch64"}:
        assert "sockets and children (seccomp)" in status.walls
    if sys.platform == "linux":
        assert "dies with the engine" in status.walls


@pytest.mark.slow
async def test_a_lease_takes_the_spare_and_a_new_one_comes_when_it_ends(nursery: trio.Nursery) -> None:
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    await runtime.warm()
    (spare,) = runtime.status().runners
    async with runtime.lease(SCRIPT_BLOCK_LIMITS) as lease:
        assert lease.runner.process_id == spare
        assert (await lease.run("return 1")).value == 1
        assert runtime.status().spares == 0
        assert runtime.status().leases == 1
    await until(lambda: runtime.status().spares == 1)
    assert runtime.status().leases == 0
    await until(lambda: spare not in runtime.status().runners)
    assert not lives(spare)


@pytest.mark.slow
async def test_other_limits_of_memory_get_a_process_of_their_own(nursery: trio.Nursery) -> None:
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    await runtime.warm()
    (spare,) = runtime.status().runners
    async with runtime.lease(replace(SHORT, heap_bytes=64 * 1024**2)) as lease:
        assert lease.runner.process_id != spare


@pytest.mark.slow
async def test_a_spare_that_died_is_replaced_at_the_next_need(nursery: trio.Nursery) -> None:
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    await runtime.warm()
    (spare,) = runtime.status().runners
    os.kill(spare, signal.SIGKILL)
    # Without a checkpoint, so that the runtime has not noticed.
    os.waitid(os.P_PID, spare, os.WEXITED | os.WNOWAIT)  # noqa: ASYNC222
    with trio.fail_after(PATIENCE_SECONDS):
        async with runtime.lease(SHORT) as lease:
            assert (await lease.run("return 1")).value == 1


@pytest.mark.slow
async def test_a_spare_that_does_not_answer_is_ended_and_another_takes_the_program(nursery: trio.Nursery) -> None:
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    await runtime.warm()
    (spare,) = runtime.status().runners
    os.kill(spare, signal.SIGSTOP)
    started = trio.current_time()
    with trio.fail_after(PATIENCE_SECONDS):
        async with runtime.lease(SHORT) as lease:
            assert (await lease.run("return 1")).value == 1
            assert lease.runner.process_id != spare
    assert trio.current_time() - started < HAND_OVER_SECONDS + 2
    await until(lambda: not lives(spare))


@pytest.mark.alone
@pytest.mark.slow
async def test_a_large_result_holds_up_nobody_else(runtime: CodeRuntime) -> None:
    slowest = 0.0

    async def tick() -> None:
        nonlocal slowest
        while True:
            before = trio.current_time()
            await trio.sleep(0.001)
            slowest = max(slowest, trio.current_time() - before)

    program = "await tools.echo(Array(99990).fill(0)); return Array(33000).fill({a: [1]})"
    with trio.fail_after(PATIENCE_SECONDS):
        limits = replace(SHORT, wall_seconds=9.0, cpu_seconds=5.0)
        async with runtime.lease(limits) as lease, trio.open_nursery() as beside:
            beside.start_soon(tick)
            result = await lease.run(program, [TOOLS])
            beside.cancel_scope.cancel()
    assert result.error is None
    assert slowest < LONGEST_STALL_SECONDS


@pytest.mark.slow
async def test_kills_are_counted_by_their_reason(runtime: CodeRuntime) -> None:
    loop, wait = replace(SHORT, wall_seconds=PATIENCE_SECONDS, cpu_seconds=0.1), replace(SHORT, wall_seconds=0.1)
    for limits, program in ((loop, "for (;;);"), (wait, "await new Promise(() => {})"), (SHORT, "return 1")):
        async with runtime.lease(limits) as lease:
            await lease.run(program)
    status = runtime.status()
    assert dict(status.kills) == {"cpu-limit": 1, "timeout": 1}
    assert status.leases_taken == 3


@pytest.mark.slow
async def test_leases_are_limited_and_the_wait_for_one_ends(
    nursery: trio.Nursery, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sandbox.runtime.LEASE_WAIT_SECONDS", 0.05)
    runtime = CodeRuntime(spares=0, most_leases=1)
    await nursery.start(runtime.run)
    async with runtime.lease(SHORT):
        with pytest.raises(CodeRuntimeBusyError, match="1 programs are running"):
            async with runtime.lease(SHORT):
                pass
    async with runtime.lease(SHORT) as lease:
        assert (await lease.run("return 1")).value == 1


@pytest.mark.slow
async def test_many_leases_at_once_are_all_served(nursery: trio.Nursery) -> None:
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    values: list[object] = []

    async def one(number: int) -> None:
        async with runtime.lease(SHORT) as lease:
            values.append((await lease.run(f"return await tools.echo({number})", [TOOLS])).value)

    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as many:
            for number in range(12):
                many.start_soon(one, number)
    assert sorted(map(str, values)) == sorted(map(str, range(12)))


async def test_a_missing_deno_is_told_with_where_it_was_looked_for(nursery: trio.Nursery, tmp_path: Path) -> None:
    missing = str(tmp_path / "deno")
    runtime = CodeRuntime(environment={"SPACE_DENO": missing})
    await nursery.start(runtime.run)
    expected = f"deno not found (looked at {missing}, which SPACE_DENO names); install it with"
    assert runtime.unavailable.startswith(expected)
    assert not runtime.status().available
    with pytest.raises(CodeRuntimeUnavailableError, match="deno not found"):
        await runtime.warm()
    with pytest.raises(CodeRuntimeUnavailableError, match="deno not found"):
        async with runtime.lease():
            pass
    assert runtime.status().leases == 0


@pytest.mark.slow
async def test_a_deno_that_does_not_start_as_a_runner_is_told_with_what_it_said(
    nursery: trio.Nursery, tmp_path: Path
) -> None:
    fake = tmp_path / "deno"
    fake.write_text("#!/bin/sh\n[ \"$1\" = --version ] && echo 'deno 2.9.9' && exit 0\necho broken >&2; exit 3\n")
    fake.chmod(0o755)
    runtime = CodeRuntime(environment={"SPACE_DENO": str(fake)})
    await nursery.start(runtime.run)
    with pytest.raises(CodeRuntimeUnavailableError, match="does not start as a runner"):
        await runtime.warm()
    assert "does not start as a runner" in runtime.unavailable
    assert not runtime.status().available
    fake.unlink()
    fake.symlink_to(find_deno())
    await runtime.warm()
    assert runtime.status().available


@pytest.mark.slow
async def test_a_spare_that_nobody_waits_for_and_does_not_start_is_told_as_well(
    nursery: trio.Nursery, tmp_path: Path
) -> None:
    link = tmp_path / "deno"
    link.symlink_to(find_deno())
    runtime = CodeRuntime(environment={"SPACE_DENO": str(link)})
    await nursery.start(runtime.run)
    async with runtime.lease(SHORT) as lease:
        assert (await lease.run("return 1")).value == 1
        link.unlink()
    await until(lambda: not runtime.status().available)
    assert "does not start as a runner" in runtime.status().reason
    link.symlink_to(find_deno())
    async with runtime.lease(SHORT) as lease:
        assert (await lease.run("return 1")).value == 1
    assert runtime.status().available


async def test_a_runtime_that_does_not_run_gives_no_lease() -> None:
    runtime = CodeRuntime()
    with pytest.raises(CodeRuntimeUnavailableError, match="not running"):
        async with runtime.lease():
            pass


@pytest.mark.slow
async def test_closing_ends_programs_and_leaves_no_process_and_no_descriptor() -> None:
    before = open_descriptors()
    runtime = CodeRuntime()
    results: list[RunResult] = []
    processes: tuple[int, ...] = ()
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as outer:
            begun = trio.Event()

            async def loop() -> None:
                async with runtime.lease() as lease:
                    results.append(await lease.run("console.log(1); for (;;);", (), lambda _: begun.set()))

            async with trio.open_nursery() as nursery:
                await nursery.start(runtime.run)
                await runtime.warm()
                outer.start_soon(loop)
                await begun.wait()
                await runtime.warm()
                processes = runtime.status().runners
                nursery.cancel_scope.cancel()
    assert len(processes) == 2
    assert not [process for process in processes if lives(process)]
    assert open_descriptors() == before
    assert results[0].error is not None
    assert (results[0].error.kind, results[0].error.message) == (
        "abort",
        "the code runtime was closed while the program ran",
    )
    assert runtime.unavailable == "the code runtime is closed"


@pytest.mark.slow
async def test_leases_that_end_because_the_runtime_closes_end_without_a_further_error() -> None:
    runtime = CodeRuntime()
    results: list[RunResult] = []

    async def one() -> None:
        async with runtime.lease(SHORT) as lease:
            results.append(await lease.run("console.log(1); await tools.never()", [TOOLS], lambda _: begun.set()))

    with trio.fail_after(PATIENCE_SECONDS):
        for _ in range(3):
            runtime, begun = CodeRuntime(most_leases=8), trio.Event()
            async with trio.open_nursery() as outer, trio.open_nursery() as nursery:
                await nursery.start(runtime.run)
                for _ in range(3):
                    outer.start_soon(one)
                    await begun.wait()
                    begun = trio.Event()
                nursery.cancel_scope.cancel()
    assert {result.error.kind for result in results if result.error is not None} == {"abort"}
    assert len(results) == 9


ENGINE = """
import sys, trio
from sandbox.runtime import CodeRuntime

async def main():
    runtime = CodeRuntime(spares=2)
    async with trio.open_nursery() as nursery:
        await nursery.start(runtime.run)
        await runtime.warm()
        async with runtime.lease() as lease:
            nursery.start_soon(lease.run, "for (;;);")
            await trio.sleep(0.1)
            print(*runtime.status().runners, flush=True)
            await trio.sleep_forever()

trio.run(main)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux ends a process together with its parent")
def test_an_engine_that_is_killed_leaves_no_runner() -> None:
    with subprocess.Popen([sys.executable, "-c", ENGINE], cwd=ROOT, stdout=subprocess.PIPE, text=True) as engine:
        assert engine.stdout is not None
        runners = [int(word) for word in engine.stdout.readline().split()]
        assert len(runners) >= 2
        assert all(lives(runner) for runner in runners)
        engine.kill()
        engine.wait(PATIENCE_SECONDS)
    deadline = time.monotonic() + PATIENCE_SECONDS
    while any(runs(runner) for runner in runners) and time.monotonic() < deadline:
        time.sleep(0.01)
    outlived = [runner for runner in runners if runs(runner)]
    for runner in outlived:
        os.kill(runner, signal.SIGKILL)
    assert not outlived


@pytest.mark.slow
async def test_an_idle_spare_stays_although_threads_of_the_engine_end(nursery: trio.Nursery) -> None:
    """The kernel ends a runner with the thread that made it, so it must not be one of those that come and go."""
    runtime = CodeRuntime()
    await nursery.start(runtime.run)
    await runtime.warm()
    (spare,) = runtime.status().runners
    assert spare in children_of_main_thread()


def children_of_main_thread() -> list[int]:
    path = Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children")
    if not path.exists():
        pytest.skip("this system does not tell which thread made a process")
    return [int(word) for word in path.read_text().split()]


def runs(process_id: int) -> bool:
    """Whether there is such a process that is not just waiting to be reaped."""
    try:
        return Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False
