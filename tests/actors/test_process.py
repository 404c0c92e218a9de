"""Real shell commands under their limits. Nothing of a command is left behind, however it ends."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import trio

from actors.process import run_shell
from actors.process_groups import ProcessGroups
from engine.errors import EngineError, NotFoundError
from engine.shell import STDERR_LIMIT_BYTES, STDOUT_LIMIT_BYTES, ShellCommand, ShellResult

ENVIRONMENT = {"PATH": os.environ["PATH"], "GREETING": "hello"}
BOUND_SECONDS = 20.0


async def run(
    workspace: Path, command: str, *, timeout_seconds: float = BOUND_SECONDS, folder: str = ".", **more: str
) -> ShellResult:
    with trio.fail_after(BOUND_SECONDS):
        wanted = ShellCommand(command=command, timeout_seconds=timeout_seconds, working_directory=folder)
        return await run_shell(wanted, workspace, {**ENVIRONMENT, **more}, ProcessGroups())


def runs(pid: int) -> bool:
    """Whether a process still does something; one that has ended and was not collected yet does not."""
    try:
        os.kill(pid, 0)
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_a_command_gives_its_output_its_errors_and_its_code(tmp_path: Path) -> None:
    result = await run(tmp_path, 'echo "$GREETING"; echo oh >&2; exit 3')
    assert result == ShellResult(exit_code=3, stdout="hello\n", stderr="oh\n")


async def test_it_runs_in_its_folder_with_the_given_environment_and_without_input(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    result = await run(tmp_path, "pwd; cat; env | grep -c SPACE_TOKEN", folder="inner")
    assert result.stdout == f"{tmp_path}/inner\n0\n"


async def test_output_that_is_too_long_loses_its_middle(tmp_path: Path) -> None:
    size = STDOUT_LIMIT_BYTES * 3
    result = await run(tmp_path, f"echo begin; head -c {size} /dev/zero | tr '\\0' x | tee /dev/stderr; echo end")
    assert result.stdout.startswith("begin\nxxx")
    assert result.stdout.endswith("xxxend\n")
    assert result.stdout_omitted_bytes == size + len("begin\nend\n") - STDOUT_LIMIT_BYTES
    assert result.stderr_omitted_bytes == size - STDERR_LIMIT_BYTES
    assert result.truncated
    assert result.exit_code == 0


async def test_a_command_that_a_signal_ended_has_no_code(tmp_path: Path) -> None:
    result = await run(tmp_path, "echo so far; kill -9 $$")
    assert (result.exit_code, result.signal, result.timed_out) == (None, 9, False)
    assert result.stdout == "so far\n"


@pytest.mark.slow
async def test_at_the_time_limit_the_whole_group_is_ended_and_what_was_printed_is_kept(tmp_path: Path) -> None:
    result = await run(tmp_path, "(sleep 60 & echo $!; wait) & echo $$; wait", timeout_seconds=0.1)
    assert (result.exit_code, result.timed_out) == (None, True)
    pids = [int(line) for line in result.stdout.split()]
    assert len(pids) == 2
    assert not any(runs(pid) for pid in pids)


async def test_a_command_that_ends_in_order_at_its_limit_has_still_timed_out(tmp_path: Path) -> None:
    result = await run(tmp_path, "trap 'echo saved; exit 0' TERM; sleep 60 & wait", timeout_seconds=0.1)
    assert (result.exit_code, result.timed_out, result.stdout) == (None, True, "saved\n")


@pytest.mark.slow
async def test_cancelling_ends_the_whole_group(tmp_path: Path) -> None:
    ready = tmp_path / "ready"
    os.mkfifo(ready)
    with trio.fail_after(BOUND_SECONDS):
        async with trio.open_nursery() as nursery:
            nursery.start_soon(run, tmp_path, "(sleep 60 & echo $! $$ > ready; wait); wait")
            pids = (await trio.to_thread.run_sync(ready.read_text)).split()
            assert all(runs(int(pid)) for pid in pids)
            nursery.cancel_scope.cancel()
    assert not any(runs(int(pid)) for pid in pids)


@pytest.mark.slow
async def test_what_does_not_listen_is_killed_after_the_grace(tmp_path: Path) -> None:
    result = await run(tmp_path, "trap '' TERM; echo $$; while true; do sleep 60; done", timeout_seconds=0.1)
    assert (result.exit_code, result.timed_out, result.signal) == (None, True, 9)
    assert not runs(int(result.stdout))


@pytest.mark.slow
async def test_a_child_in_the_background_neither_holds_the_call_nor_outlives_it(tmp_path: Path) -> None:
    started = trio.current_time()
    result = await run(tmp_path, "sleep 60 & echo $!")
    assert result.exit_code == 0
    assert not runs(int(result.stdout))
    assert trio.current_time() - started < BOUND_SECONDS


async def test_a_folder_that_does_not_exist_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="working_directory 'gone' is not a folder"):
        await run(tmp_path, "true", folder="gone")


async def test_without_bash_the_refusal_says_so(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match="bash is not installed"):
        await run(tmp_path, "true", PATH=str(tmp_path))


async def test_a_command_that_the_system_does_not_start_is_refused_with_its_reason(tmp_path: Path) -> None:
    with pytest.raises(EngineError, match=r"could not be started.*too long"):
        await run(tmp_path, "true", HUGE="x" * 1_000_000)


async def test_no_file_is_left_open(tmp_path: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(5):
        await run(tmp_path, "true")
    assert len(os.listdir("/proc/self/fd")) <= before


async def test_processes_left_in_the_background_are_ended_and_told(tmp_path: Path) -> None:
    result = await run(tmp_path, "sleep 60 >/dev/null 2>&1 & echo $!")
    assert (result.exit_code, result.background_ended) == (0, True)
    assert not runs(int(result.stdout))


async def test_background_processes_that_end_with_the_command_are_not_told(tmp_path: Path) -> None:
    assert not (await run(tmp_path, "true & (true &); wait")).background_ended
    assert not (await run(tmp_path, "echo out | cat > >(cat)")).background_ended
