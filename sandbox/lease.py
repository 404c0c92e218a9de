"""A lease: one process for the programs of one author. Owns the runs in it, their limits, and the calls they make.

The process is the boundary of trust: programs of one lease could reach each other, those of two never. It is used by
one lease and then killed. What a program does wrong comes back as a value; only misuse raises.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import trio

from sandbox.frames import Call, Done, Frame, FrameError, Log, OutputLimitError
from sandbox.limits import RunLimits
from sandbox.namespace import CallFailed, HostFunction, Namespace, demand_distinct
from sandbox.result import FailureKind, LogLine, RunError, RunResult
from sandbox.runner import Loss, Runner

WATCH_SECONDS = 0.02
"""How often a run is measured. A loop can go on for so long after its limit; measuring takes some 50 µs."""

OnLog = Callable[[LogLine], None]
"""Hears each line when it comes. What it raises is raised by `Lease.run`."""

_STARVED_SHARE = 1 / 3
"""Memory by which an end without a word is taken for a lack of it: V8 doubles what grows. Else a program has less."""

_OUT_OF_MEMORY = re.compile(r"out of memory|OOM|memory allocation of|heap limit|Cannot allocate memory", re.IGNORECASE)


class LeaseOverError(Exception):
    """A program was given to a lease that has ended, or whose process had to be killed. Take a new one."""


class Lease:
    """One process, to run programs in it one after the other, or one from a host function of another.

    Made by `CodeRuntime.lease`, and open until that block is left.
    """

    def __init__(self, runner: Runner, limits: RunLimits, killed_for: Callable[[FailureKind], None]) -> None:
        self.limits: Final = limits
        self.runner: Final = runner
        self._killed_for = killed_for
        self._runs: dict[int, _Run] = {}
        self._next_run = 1
        self._pauses = 0
        self._paused_at = 0.0
        self._paused_seconds = 0.0
        self._over = False
        runner.receiver = self

    @property
    def usable(self) -> bool:
        """Whether it can still run programs: it is open, and no run has been ended by killing the process."""
        return not self._over and self.runner.usable

    async def run(self, program: str, namespaces: Sequence[Namespace] = (), on_log: OnLog | None = None) -> RunResult:
        """Run JavaScript, the body of an async function, to its end and say what has become of it.

        Its names are those of the namespaces and what the language has. Calls of host functions begin in the order in
        which the program makes them, at most `limits.parallel` at a time, as tasks of this call; when the program has
        ended, those still going on are cancelled. Cancelling this call, like every limit, kills the process. A host
        function that raises anything but `CallFailed` ends the run, and its exception is raised here. Raises
        `LeaseOverError` when the lease is over, `ValueError` or `TypeError` for namespaces that do not go together or
        whose data is no JSON.
        """
        demand_distinct(namespaces)
        if not self.usable:
            raise LeaseOverError("the lease is over; a program needs a new one")
        size = len(program.encode("utf-8", "replace"))
        if size > self.limits.program_bytes:
            message = (
                f"the program has {size:,} bytes, and at most {self.limits.program_bytes:,} are run (program_bytes)"
            )
            return RunResult(error=RunError(kind="program-limit", message=message))
        run = _Run(self, self._next_run, program, namespaces, on_log)
        self._next_run += 1
        self._runs[run.id] = run
        try:
            result = await run.conduct()
        finally:
            del self._runs[run.id]
        return result

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop the wall clock of all runs in the lease, as while a person is asked. Processor time goes on counting."""
        if not self._pauses:
            self._paused_at = trio.current_time()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses:
                self._paused_seconds += trio.current_time() - self._paused_at

    def close(self) -> None:
        """End the process. Runs that are going on end with an `abort`."""
        self._end(None, "abort", "the lease was closed while the program ran")

    def working_seconds(self) -> float:
        """A clock that stands still while the lease is paused."""
        return (self._paused_at if self._pauses else trio.current_time()) - self._paused_seconds

    def end(self, culprit: _Run | None, kind: FailureKind, message: str) -> None:
        """Kill the process because of a run; without one, because of the process."""
        if not self._over:
            self._killed_for(kind)
        self._end(culprit, kind, message)

    def _end(self, culprit: _Run | None, kind: FailureKind, message: str) -> None:
        self._over = True
        self.runner.kill()
        for run in self._runs.values():
            if culprit is None or run is culprit:
                run.fail(RunError(kind=kind, message=message))
            else:
                run.fail(
                    RunError(kind="worker-exit", message=f"another program of the same lease was ended: {message}")
                )

    def received(self, frame: Frame) -> None:
        """A frame for one of the runs; of another than those that go on it is dropped."""
        if isinstance(frame, (Call, Log, Done)) and (run := self._runs.get(frame.run)) is not None:
            run.received(frame)

    def broken(self, error: FrameError | OutputLimitError) -> None:
        """The process sends what it must not."""
        if isinstance(error, OutputLimitError):
            self.end(self._innermost(), "output-limit", str(error))
        else:
            self.end(None, "worker-exit", f"the process that ran the program broke the rules: {error}")

    def lost(self, loss: Loss) -> None:
        """The process has ended, most often because it was killed here."""
        if not self._runs or all(run.settled for run in self._runs.values()):
            return
        starved = loss.aborted and self.runner.peak_bytes > self.limits.memory_bytes * _STARVED_SHARE
        if starved or _OUT_OF_MEMORY.search(loss.diagnostics):
            self.end(self._innermost(), "memory-limit", memory_message(self.limits))
        else:
            lines = loss.diagnostics.strip().splitlines()
            said = f": {lines[0][:200]}" if lines else ""
            self.end(None, "worker-exit", f"the process that ran the program ended ({loss.how}){said}")

    def closing(self) -> None:
        """The runtime ends, and with it the process."""
        self._end(None, "abort", "the code runtime was closed while the program ran")

    def _innermost(self) -> _Run | None:
        return next(reversed(self._runs.values()), None)


def memory_message(limits: RunLimits) -> str:
    """Of the two limits it cannot always be told which one was reached."""
    heap, memory = limits.heap_bytes // 1024**2, limits.memory_bytes // 1024**2
    return f"out of memory: a program has {heap} MiB of heap (heap_bytes) and {memory} MiB in all (memory_bytes)"


class _Run:
    """One program, from its start to its result."""

    def __init__(
        self, lease: Lease, number: int, program: str, namespaces: Sequence[Namespace], on_log: OnLog | None
    ) -> None:
        self.id: Final = number
        self._lease = lease
        self._limits = lease.limits
        self._program = program
        self._namespaces = {space.name: space for space in namespaces}
        self._on_log = on_log
        self._finished = trio.Event()
        self._done: Done | None = None
        self._error: RunError | None = None
        self._bug: Exception | None = None
        self._logs: list[LogLine] = []
        self._log_left = lease.limits.log_chars
        self._logs_cut = False
        self._calls = 0
        self._last_call = 0
        self._unawaited = 0
        self._places = trio.Semaphore(lease.limits.parallel)
        self._submit, self._submitted = trio.open_memory_channel[Call](lease.limits.calls)

    @property
    def settled(self) -> bool:
        return self._finished.is_set()

    async def conduct(self) -> RunResult:
        runner, lease = self._lease.runner, self._lease
        frame = self._frame()  # before there is anything to end, since data may be no JSON
        started, cpu_before = lease.working_seconds(), runner.cpu_seconds()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._watch, started, cpu_before)
            nursery.start_soon(self._dispatch, nursery)
            try:
                runner.send(frame)
                await self._finished.wait()
            finally:
                if not self.settled:
                    lease.end(self, "abort", "the run was cancelled")
            nursery.cancel_scope.cancel()
        if self._bug is not None:
            raise self._bug
        done = self._done
        return RunResult(
            value=None if done is None else done.value,
            has_value=done is not None and done.has_value,
            logs=tuple(self._logs),
            logs_cut=self._logs_cut,
            error=self._error,
            calls=self._calls,
            calls_unawaited=min(self._unawaited, self._calls),
            wall_seconds=lease.working_seconds() - started,
            cpu_seconds=max(0.0, runner.cpu_seconds() - cpu_before),
        )

    def fail(self, error: RunError) -> None:
        """End the run with an error, unless it has an end already."""
        if not self.settled:
            self._error = error
            self._finished.set()

    def received(self, frame: Call | Log | Done) -> None:
        if self.settled:
            return
        match frame:
            case Call():
                self._take_call(frame)
            case Log():
                self._take_log(frame)
            case Done():
                self._take_done(frame)

    def _frame(self) -> bytes:
        spaces = [
            {
                "name": space.name,
                "functions": list(space.functions),
                "unlisted": list(space.unlisted),
                "data": dict(space.data),
                "bodies": dict(space.bodies),
                "error": space.error,
            }
            for space in self._namespaces.values()
        ]
        return _line(
            {
                "t": "run",
                "run": self.id,
                "js": self._program,
                "namespaces": spaces,
                "log_chars": self._limits.log_chars,
                "value_bytes": self._limits.value_bytes,
                "values": self._limits.values,
            }
        )

    async def _watch(self, started: float, cpu_before: float) -> None:
        """Measures the run, and ends it where it is beyond a limit."""
        limits, lease, runner = self._limits, self._lease, self._lease.runner
        while True:
            await trio.sleep(WATCH_SECONDS)
            if lease.working_seconds() - started > limits.wall_seconds:
                return lease.end(
                    self, "timeout", f"the program took longer than {limits.wall_seconds:g} seconds (wall_seconds)"
                )
            if runner.cpu_seconds() - cpu_before > limits.cpu_seconds:
                message = f"the program used more than {limits.cpu_seconds:g} seconds of processor time (cpu_seconds)"
                return lease.end(self, "cpu-limit", message)
            if runner.resident_bytes() > limits.memory_bytes:
                return lease.end(self, "memory-limit", memory_message(limits))

    def _take_call(self, call: Call) -> None:
        if call.id <= self._last_call:
            return  # each id is answered once
        self._last_call = call.id
        if self._calls >= self._limits.calls:
            message = f"the program made more than {self._limits.calls:,} calls (calls)"
            self._lease.end(self, "call-limit", message)
            return
        self._calls += 1
        self._submit.send_nowait(call)

    async def _dispatch(self, nursery: trio.Nursery) -> None:
        """Begins the calls, one after the other."""
        async for call in self._submitted:
            await self._places.acquire()
            # Returns when the function has run to its first wait, so that the next one begins after it.
            await nursery.start(self._answer, call)

    async def _answer(self, call: Call, task_status: trio.TaskStatus[None]) -> None:
        task_status.started()
        try:
            answer = _line(await self._answered(call))
        except Exception as bug:  # noqa: BLE001 - a host function that fails otherwise is the caller's to know of
            if self.settled and isinstance(bug, LeaseOverError):
                return  # it wanted to run another program when this one had taken the process along
            self._bug = bug
            self._lease.end(self, "abort", f"{call.namespace}.{call.name} failed in the engine")
            return
        finally:
            self._places.release()
        self._lease.runner.send(answer)
        await self._lease.runner.room()

    async def _answered(self, call: Call) -> Mapping[str, object]:
        function = self._function(call)
        if function is None:
            return {"t": "ret", "id": call.id, "ok": False, "e": f"{call.namespace}.{call.name} is not there any more"}
        try:
            value = await function(call.argument)
        except CallFailed as failed:
            return {"t": "ret", "id": call.id, "ok": False, "e": failed.message}
        return {"t": "ret", "id": call.id, "ok": True, "v": value}

    def _function(self, call: Call) -> HostFunction | None:
        space = self._namespaces.get(call.namespace)
        return None if space is None else space.functions.get(call.name)

    def _take_log(self, log: Log) -> None:
        if self._logs_cut:
            return
        text = log.text[: max(self._log_left, 0)]
        self._log_left -= len(log.text) + 1
        self._logs_cut = log.full or len(text) < len(log.text)
        line = LogLine(log.level, text)
        self._logs.append(line)
        if self._on_log is not None:
            try:
                self._on_log(line)
            except Exception as bug:  # noqa: BLE001 - as with a host function, and it must not end who reads for all
                self._bug = bug
                self._lease.end(self, "abort", "what listens to the log failed in the engine")

    def _take_done(self, done: Done) -> None:
        self._unawaited = done.unawaited
        if done.kind:
            self._error = self._reported(done)
        else:
            self._done = done
        self._finished.set()

    def _reported(self, done: Done) -> RunError:
        lines = self._program.split("\n")
        line = done.line if done.line is not None and 1 <= done.line <= len(lines) else None
        return RunError(
            kind=_KINDS[done.kind],
            message=done.message,
            name=done.name,
            line=line,
            column=None if line is None else done.column,
            line_text="" if line is None else lines[line - 1],
            frames=done.frames,
        )


_KINDS: Mapping[str, FailureKind] = {
    "exception": "exception",
    "invalid-output": "invalid-output",
    "output-limit": "output-limit",
}


def _line(frame: Mapping[str, object]) -> bytes:
    return json.dumps(frame, allow_nan=False, separators=(",", ":")).encode() + b"\n"
