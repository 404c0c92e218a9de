"""Runs one shell command under limits. Owns the process group it starts, and leaves nothing of it behind.

Never runs inside an actor's step. The values and the limits are in `engine.shell`.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

import trio

from actors.process_groups import ProcessGroups
from engine.errors import EngineError, NotFoundError
from engine.shell import STDERR_LIMIT_BYTES, STDOUT_LIMIT_BYTES, BoundedOutput, ShellCommand, ShellResult

KILL_GRACE_SECONDS = 2.0
"""Between SIGTERM and SIGKILL: enough for a program to save, short enough for whoever waits."""

DRAIN_SECONDS = 0.5
"""How long output is still read after the shell has ended while a child of it holds the pipes open."""

GROUP_POLL_SECONDS = 0.02
"""How often it is looked whether the group is empty, while it is being ended."""

_PROCESSES = Path("/proc")
_ENDED_STATES = frozenset("ZX")
"""Zombie and dead, as /proc/PID/stat has it."""


async def run_shell(
    command: ShellCommand, workspace: Path, environment: Mapping[str, str], groups: ProcessGroups
) -> ShellResult:
    """Run `bash -c` in a folder below the workspace and collect what it prints, cut in the middle where it is long.

    At the time limit, when cancelled, and when the command itself is done, the whole process group is ended: SIGTERM,
    then SIGKILL. The result says whether that has met processes which the finished command had left running. Meanwhile
    the group is among `groups`. Raises `EngineError` when bash or the folder is missing.
    """
    folder = workspace / command.working_directory
    if not folder.is_dir():
        raise NotFoundError(f"working_directory {command.working_directory!r} is not a folder in the workspace")
    try:
        process = await trio.lowlevel.open_process(
            ["bash", "-c", command.command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=folder,
            env=dict(environment),
            start_new_session=True,
        )
    except FileNotFoundError:
        raise EngineError("bash is not installed on this machine, so no shell command can run") from None
    except OSError as error:
        raise EngineError(f"the shell command could not be started: {error}") from error
    with groups.holding(process.pid):
        return await _collect_result(process, command.timeout_seconds)


async def _collect_result(process: trio.Process, timeout_seconds: float) -> ShellResult:
    assert process.stdout is not None  # noqa: S101 - PIPE was asked for
    assert process.stderr is not None  # noqa: S101 - PIPE was asked for
    stdout, stderr = BoundedOutput(STDOUT_LIMIT_BYTES), BoundedOutput(STDERR_LIMIT_BYTES)
    timed_out = background_ended = False
    try:
        async with trio.open_nursery() as readers:
            readers.start_soon(_collect, process.stdout, stdout)
            readers.start_soon(_collect, process.stderr, stderr)
            with trio.move_on_after(timeout_seconds) as limit:
                await process.wait()
            timed_out = limit.cancelled_caught
            if timed_out:
                await end_group(process)
            readers.cancel_scope.deadline = trio.current_time() + DRAIN_SECONDS
        background_ended = not timed_out and await _runs_on(process.pid)
    finally:
        with trio.CancelScope(shield=True):
            await end_group(process)
            await process.stdout.aclose()
            await process.stderr.aclose()
    printed, complained = stdout.cut(), stderr.cut()
    code = process.returncode
    killed = code is not None and code < 0
    return ShellResult(
        exit_code=None if killed or timed_out else code,
        stdout=printed.text,
        stderr=complained.text,
        timed_out=timed_out,
        signal=-code if code is not None and killed else None,
        background_ended=background_ended,
        stdout_omitted_bytes=printed.omitted_bytes,
        stderr_omitted_bytes=complained.omitted_bytes,
    )


async def _collect(stream: trio.abc.ReceiveStream, output: BoundedOutput) -> None:
    async for chunk in stream:
        output.append(bytes(chunk))


async def end_group(process: trio.Process) -> None:
    """End the group that the process leads, also when the process itself has ended and left children behind."""
    if not _signal_group(process.pid, signal.SIGTERM):
        await process.wait()
        return
    with trio.move_on_after(KILL_GRACE_SECONDS):
        await process.wait()
        while await _runs(process.pid):  # noqa: ASYNC110 - the kernel has no event for "the group is empty"
            await trio.sleep(GROUP_POLL_SECONDS)
    _signal_group(process.pid, signal.SIGKILL)
    await process.wait()


async def _runs_on(group: int) -> bool:
    """Whether a group whose leader has ended runs on. What is just about to end, having closed its output, does not."""
    if not await _runs(group):
        return False
    await trio.sleep(GROUP_POLL_SECONDS)
    return await _runs(group)


async def _runs(group: int) -> bool:
    return _signal_group(group, 0) and await trio.to_thread.run_sync(_has_running_process, group)


def _has_running_process(group: int) -> bool:
    """Whether some process of the group is no zombie: those stay where the first process of a container reaps none."""
    if not _PROCESSES.is_dir():
        return True
    for entry in _PROCESSES.glob("[0-9]*/stat"):
        try:
            state, _, of_group = entry.read_text().rpartition(")")[2].split()[:3]
        except (OSError, ValueError):
            continue  # it has ended meanwhile
        if int(of_group) == group and state not in _ENDED_STATES:
            return True
    return False


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    except PermissionError:
        return False
    return True
