"""The code runtime: the service that runs programs. Owns every runner there is, the spare ones and the leased ones.

Starts nothing before somebody needs it, and leaves nothing when it is closed. Knows no tools, no agents and no prompts.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import trio

from sandbox.deno import Deno, DenoMissingError, deno_libraries, find_deno, probe_deno
from sandbox.lease import Lease
from sandbox.limits import RUN_CODE_LIMITS, RunLimits
from sandbox.result import FailureKind
from sandbox.runner import Runner, RunnerPlan, runner_environment

SPARES = 1
"""Runners kept waiting: 30 MiB of memory each, and a run begins in milliseconds instead of a twentieth of a second."""

LEASES_PER_CORE = 2
"""Programs wait for tools for the most part, so more than one fits a core."""

REFILL_DELAY_SECONDS = 0.03
"""Until a used spare is replaced. To start a process holds up everything for 3 ms, and by then the answer is out."""

BOOT_SECONDS = 10.0
"""Longest wait for a runner to be ready. It takes 50 ms; on a cold disk and a busy machine some seconds."""

HAND_OVER_SECONDS = 1.0
"""Longest wait for a sign of life of a spare before a program is given to it. It takes a third of a millisecond."""

LEASE_WAIT_SECONDS = 30.0
"""Longest wait until another lease ends. With the run itself it is about what clients wait."""


class CodeRuntimeUnavailableError(Exception):
    """Programs cannot be run. The message says why, and what would help."""


class CodeRuntimeBusyError(Exception):
    """All leases are taken and none has ended in time. The message says how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeStatus:
    """What the runtime is doing, at one moment."""

    available: bool
    """Whether programs can be run, as far as is known."""
    reason: str
    """Why not; empty where available."""
    deno_version: str
    """Empty before the first need."""
    walls: tuple[str, ...]
    """What the last runner could build around itself; empty before there was one."""
    spares: int
    leases: int
    most_leases: int
    runners: tuple[int, ...]
    """The process ids of all runners there are, those among them that are just ending."""
    leases_taken: int
    """Since the start."""
    kills: Mapping[FailureKind, int]
    """Processes that had to be ended before their lease was, by the reason."""


class CodeRuntime:
    """Runs JavaScript in processes of its own: `await nursery.start(runtime.run)`, then `async with runtime.lease(…)`.

    Cancelling `run` closes the runtime: every runner is killed and reaped before it returns.
    """

    language: Final = "typescript"
    """What programs are written in; a lease takes what the compiler made of it."""
    isolation: Final = "process"

    def __init__(
        self, *, spares: int = SPARES, most_leases: int | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        """`environment` is where deno is looked for (`SPACE_DENO`): that of this process unless given."""
        self._environment = dict(os.environ if environment is None else environment)
        self._wanted_spares = spares
        self._places = trio.CapacityLimiter(most_leases or (os.cpu_count() or 1) * LEASES_PER_CORE)
        self._nursery: trio.Nursery | None = None
        self._probing = trio.Lock()
        self._deno: Deno | None = None
        self._libraries: tuple[str, ...] = ()
        self._reason = ""
        self._broken = False
        self._walls: tuple[str, ...] = ()
        self._spares: list[Runner] = []
        self._refills_soon = False
        self._booting = 0
        self._runners: set[Runner] = set()
        self._leases_taken = 0
        self._kills: Counter[FailureKind] = Counter()

    async def run(self, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Hold the runners until cancelled. Nothing starts before there is a need."""
        async with trio.open_nursery() as nursery:
            self._nursery = nursery
            task_status.started()
            try:
                await trio.sleep_forever()
            finally:
                # From here on nothing can be started: the nursery closes as soon as the last runner is reaped.
                self._nursery = None
                self._spares.clear()
                self._reason = "the code runtime is closed"

    @property
    def unavailable(self) -> str:
        """Why no program can be run: what was looked for, what to install. Empty where nothing speaks against it.

        As of the last time that one was to be run; `warm` tries again.
        """
        if sys.platform == "win32":
            return "the code runtime needs Linux or macOS"
        if self._reason or self._deno is not None:
            return self._reason
        try:
            find_deno(self._environment)
        except DenoMissingError as error:
            return str(error)
        return ""

    def status(self) -> RuntimeStatus:
        """Everything there is to know, without starting anything."""
        reason = self.unavailable
        return RuntimeStatus(
            available=not reason,
            reason=reason,
            deno_version="" if self._deno is None else self._deno.version,
            walls=self._walls,
            spares=len(self._spares),
            leases=int(self._places.borrowed_tokens),
            most_leases=int(self._places.total_tokens),
            runners=tuple(sorted(runner.process_id for runner in self._runners)),
            leases_taken=self._leases_taken,
            kills=MappingProxyType(dict(self._kills)),
        )

    async def warm(self) -> None:
        """Have the spares ready, so that the next lease need not wait, and know whether programs can be run.

        Raises `CodeRuntimeUnavailableError` where they cannot.
        """
        await self._probe()
        self._refill()
        for runner in tuple(self._spares):
            await self._demand_booted(runner)
        if self._broken:  # and there was no spare that could tell otherwise
            (await self._booted(self._start(self._plan(RUN_CODE_LIMITS)))).kill()

    @asynccontextmanager
    async def lease(self, limits: RunLimits = RUN_CODE_LIMITS) -> AsyncGenerator[Lease]:
        """A process for the programs of one author, for as long as the block lasts; then it is killed, not waited for.

        Raises `CodeRuntimeUnavailableError` where no program can be run, and `CodeRuntimeBusyError` after
        `LEASE_WAIT_SECONDS` in which no other lease ended.
        """
        token = object()
        await self._wait_for_place(token)
        try:
            runner = await self._taken(limits)
            lease = Lease(runner, limits, self._count_kill)
            self._leases_taken += 1
            try:
                yield lease
            finally:
                lease.close()
        finally:
            self._places.release_on_behalf_of(token)
            # Not before: a process that starts would take the processor from the program that runs. And not here:
            # whoever had the lease need not wait for it.
            if self._nursery is not None and not self._refills_soon:
                self._refills_soon = True
                self._nursery.start_soon(self._refill_soon)

    async def _wait_for_place(self, token: object) -> None:
        with trio.move_on_after(LEASE_WAIT_SECONDS) as waiting:
            await self._places.acquire_on_behalf_of(token)
        if waiting.cancelled_caught:
            raise CodeRuntimeBusyError(
                f"{self._places.total_tokens} programs are running, as many as may at a time, and none has ended "
                f"within {LEASE_WAIT_SECONDS:g} seconds; try again later"
            )

    async def _taken(self, limits: RunLimits) -> Runner:
        """A booted runner that is nobody else's: a spare one where it suits."""
        await self._probe()
        plan = self._plan(limits)
        while (spare := self._pop_spare(plan)) is not None:
            try:
                await self._booted(spare)
            except CodeRuntimeUnavailableError:
                continue  # it died while it waited; a new one will tell whether that is the rule
            if await self._still_answers(spare):
                return spare
        return await self._booted(self._start(plan))

    async def _still_answers(self, spare: Runner) -> bool:
        """Whether one that has waited can take a program. Else it is ended: stopped, or swapped out for too long."""
        answers = False
        try:
            with trio.move_on_after(HAND_OVER_SECONDS):
                answers = await spare.answers()
        finally:
            if not answers:
                spare.kill()
        return answers

    def _pop_spare(self, plan: RunnerPlan) -> Runner | None:
        for runner in self._spares:
            if runner.plan == plan and runner.lives:
                self._spares.remove(runner)
                return runner
        return None

    async def _refill_soon(self) -> None:
        await trio.sleep(REFILL_DELAY_SECONDS)
        self._refills_soon = False
        # Who waits for a runner of his own would wait longer beside another that starts; his lease ends here as well.
        if not self._booting:
            self._refill()

    def _refill(self) -> None:
        if self._nursery is None or self._deno is None:
            return
        while len(self._spares) < self._wanted_spares:
            try:
                self._spares.append(self._start(self._plan(RUN_CODE_LIMITS)))
            except CodeRuntimeUnavailableError:
                return  # the next lease will try again, and say it

    def _start(self, plan: RunnerPlan) -> Runner:
        if self._nursery is None:
            raise CodeRuntimeUnavailableError("the code runtime is not running: it was closed, or never started")
        try:
            runner = Runner(plan, runner_environment(self._environment))
        except OSError as error:
            self._break(f"a process for programs could not be started: {error}")
            raise CodeRuntimeUnavailableError(self._reason) from error
        self._runners.add(runner)
        self._nursery.start_soon(self._serve, runner)
        return runner

    async def _serve(self, runner: Runner) -> None:
        try:
            await runner.serve()
            if runner.failed_to_start:
                self._break(_failed_start(runner))  # nobody may be waiting for it
        finally:
            self._runners.discard(runner)
            if runner in self._spares:
                self._spares.remove(runner)

    async def _booted(self, runner: Runner) -> Runner:
        """The runner when it is ready. Where it does not become so it is ended, as on cancellation."""
        self._booting += 1
        try:
            await self._demand_booted(runner)
        except BaseException:
            runner.kill()
            raise
        finally:
            self._booting -= 1
        return runner

    async def _demand_booted(self, runner: Runner) -> None:
        booted = False
        with trio.move_on_after(BOOT_SECONDS) as waiting:
            booted = await runner.booted()
        if waiting.cancelled_caught:
            self._break(f"deno at {runner.plan.deno} was not ready within {BOOT_SECONDS:g} seconds")
        elif booted and runner.usable:
            self._walls, self._reason, self._broken = runner.walls, "", False
            return
        elif booted:
            # It had started, so it says nothing about others.
            raise CodeRuntimeUnavailableError("the process for programs ended before it was given one; try again")
        else:
            self._break(_failed_start(runner))
        raise CodeRuntimeUnavailableError(self._reason)

    def _break(self, reason: str) -> None:
        """Programs cannot be run until a runner has started again."""
        if self._nursery is not None:
            self._reason, self._broken = reason, True

    def _plan(self, limits: RunLimits) -> RunnerPlan:
        assert self._deno is not None  # noqa: S101 - probed before
        return RunnerPlan(self._deno.path, self._libraries, limits.heap_bytes, limits.memory_bytes)

    async def _probe(self) -> None:
        """Find deno, unless it has been found. Where it was missing or does not start it is looked for again."""
        if sys.platform == "win32":
            raise CodeRuntimeUnavailableError(self.unavailable)
        async with self._probing:
            if self._deno is not None and not self._broken:
                return
            try:
                deno = await probe_deno(self._environment)
            except DenoMissingError as error:
                self._reason = str(error)
                raise CodeRuntimeUnavailableError(self._reason) from None
            self._libraries = tuple(await deno_libraries(deno, runner_environment(self._environment)))
            self._deno = deno
            if not self._broken:
                self._reason = ""

    def _count_kill(self, kind: FailureKind) -> None:
        self._kills[kind] += 1


def _failed_start(runner: Runner) -> str:
    loss = runner.loss
    how = "" if loss is None else f" ({loss.how}): {loss.diagnostics.strip()[:500]}"
    return f"deno at {runner.plan.deno} does not start as a runner{how}"
