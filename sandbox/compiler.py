"""The compiler of programs: checks a program against the declarations of its SDK, and takes its types out.

Owns two warm deno processes shared by all: a checker (`deno lsp`) and a stripper. Both hold trusted code alone, start
with the first need, and may be killed by a hostile text: that costs a restart, never an answer. Nothing is ever run.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import trio

from sandbox.compiler_checker import Checker
from sandbox.compiler_imports import NO_IMPORTS, hides_import, is_import
from sandbox.compiler_problems import (
    MAX_PROBLEMS,
    MAX_SHOWN_LINE,
    SYNTAX_CODES,
    Problem,
    blocking_and_doubtful,
    note_of,
    problem_at,
    render_problems,
)
from sandbox.compiler_process import CompilerPlan, CompilerProcess, CompilerProcessError
from sandbox.compiler_stripper import Refusal, Stripper
from sandbox.deno import DenoMissingError
from sandbox.program_text import MAX_NESTING, MAX_PROGRAM_BYTES, ProgramText, deepest_nesting, program_text

__all__ = [
    "Compiled",
    "Compiler",
    "CompilerClosedError",
    "CompilerStatus",
    "Problem",
    "render_problems",
    "seconds_of_checks",
]

CHECK_SECONDS = 2.0
"""Longest check of one program. The usual one takes 5 to 15 ms; only text made for it comes near."""

STRIP_SECONDS = 2.0
"""Longest taking out of types. 64 kB take 10 ms."""

ATTEMPTS = 2
"""Of each process at one program. It may have been killed or stopped from outside, for want of memory; the program is
not to be blamed for that."""

WORKING_SHARE = 0.2
"""Part of its time for which a process that is too slow has used the processor, at least, where the program is why."""

START_SECONDS = 20.0
"""Longest start of a process. The checker needs 0.6 to 1 s, on a cold disk and a busy machine several times as much."""

IDLE_SECONDS = 900.0
"""After that long without a program the processes are ended; together they hold 300 MB."""

MAX_WAITING = 256
"""Programs that wait for their turn. With 10 ms for each, nobody waits long for a place."""

IMPORT_CODE = 2307
"""The code under which an import is reported: "cannot find module"."""

MAX_NOTES = 10
"""Problems that do not stop a program and are still told."""


PartT = TypeVar("PartT")


class CompilerClosedError(Exception):
    """Raised for a program that comes before `run`, or is not done when it ends."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of a program. `javascript` is the body of an async function, or None when `problems` stop it.

    Lines and columns of `javascript` are those of the program. `notes` are sentences for whoever wrote it.
    """

    javascript: str | None
    problems: tuple[Problem, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompilerStatus:
    """What the compiler is doing and has done, as a status shows it."""

    checker_pid: int | None
    stripper_pid: int | None
    waiting: int
    compiled: int
    starts: int
    """Of processes, restarts included."""
    killed_checks: int
    """Checks that died or took too long."""
    last_seconds: float | None
    """What the last program took, without its waiting."""
    walls: tuple[str, ...]
    """What the system holds around the checker."""
    missing: str | None
    """Why the processes could not be started, the last time."""


class _Job:
    """One program in the queue, or a request to get warm when it has no text."""

    def __init__(self, text: ProgramText | None, declarations: str) -> None:
        self.text = text
        self.declarations = declarations
        self.done = trio.Event()
        self.abandoned = False
        self.outcome: Compiled | Exception | None = None

    def settle(self, outcome: Compiled | Exception) -> None:
        self.outcome = outcome
        self.done.set()


class Compiler:
    """The service. `run` holds everything; programs are compiled one after the other, in the order they came."""

    def __init__(
        self,
        *,
        idle_seconds: float = IDLE_SECONDS,
        check_seconds: float = CHECK_SECONDS,
    ) -> None:
        """Starts nothing, and looks for nothing before there is a need."""
        self._idle_seconds = idle_seconds
        self._check_seconds = check_seconds
        self._plan: CompilerPlan | None = None
        self._jobs = deque[_Job]()
        self._places = trio.Semaphore(MAX_WAITING)
        self._wakened = trio.Event()
        self._running = False
        self._checker: Checker | None = None
        self._stripper: Stripper | None = None
        self._compiled = self._starts = self._killed_checks = 0
        self._last_seconds: float | None = None
        self._missing: str | None = None

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled; then the processes are gone, and whoever still waits gets `CompilerClosedError`."""
        self._running = True
        task_status.started()
        try:
            while True:
                job = await self._next_job()
                if job is None:
                    await self._end_processes()
                elif not job.abandoned:
                    await self._serve(job)
        finally:
            self._running = False
            closed = CompilerClosedError("the compiler is ending; the program was not compiled")
            while self._jobs:
                self._jobs.popleft().settle(closed)
            await self._end_processes()

    async def warm(self) -> None:
        """Start what is not running and return when the next program would be compiled at once.

        Raises `DenoMissingError` and `OSError` when it cannot start, and `CompilerClosedError` outside of `run`.
        """
        await self._ask(_Job(None, ""))

    async def compile(self, program: str, declarations: str) -> Compiled:
        """Check a program against declarations and take its types out.

        A program is what `program_text` reads; what it may use are `declarations`, statements of TypeScript that begin
        at the start of a line, and what JavaScript itself has. A check that cannot be made is a note, not a problem.
        Cancelled, it has no effect. Raises `DenoMissingError` and `OSError` when there is no compiler, and
        `CompilerClosedError` outside of `run`.
        """
        size = len(program.encode("utf-8", "surrogatepass"))
        if size > MAX_PROGRAM_BYTES:
            return _refused(f"the program has {size} bytes; at most {MAX_PROGRAM_BYTES} can be compiled", program)
        # A lone surrogate could not be sent, nor run.
        text = program_text(program.encode("utf-8", "replace").decode())
        if deepest_nesting(text.body) > MAX_NESTING:
            return _refused(f"the program is too deeply nested: more than {MAX_NESTING} open brackets", text.body)
        return await self._ask(_Job(text, declarations))

    def status(self) -> CompilerStatus:
        """What it is doing now, and has done since it was made."""
        return CompilerStatus(
            checker_pid=self._checker.process.pid if self._checker else None,
            stripper_pid=self._stripper.process.pid if self._stripper else None,
            waiting=len(self._jobs),
            compiled=self._compiled,
            starts=self._starts,
            killed_checks=self._killed_checks,
            last_seconds=self._last_seconds,
            walls=self._checker.walls if self._checker else (),
            missing=self._missing,
        )

    async def _ask(self, job: _Job) -> Compiled:
        async with self._places:
            if not self._running:
                raise CompilerClosedError("the compiler is not running")
            self._jobs.append(job)
            self._wakened.set()
            try:
                await job.done.wait()
            except trio.Cancelled:
                job.abandoned = True
                raise
        if isinstance(job.outcome, Exception):
            raise job.outcome
        assert job.outcome is not None  # noqa: S101 - set before the event
        return job.outcome

    async def _next_job(self) -> _Job | None:
        """The next program; None when none has come for so long that the processes are not worth keeping."""
        has_processes = self._checker is not None or self._stripper is not None
        with trio.move_on_after(self._idle_seconds if has_processes else math.inf):
            while not self._jobs:
                self._wakened = trio.Event()
                await self._wakened.wait()
            return self._jobs.popleft()
        return None

    async def _serve(self, job: _Job) -> None:
        """Compile one program in the service's own task, so that a cancelled caller leaves no half-written request."""
        try:
            await self._start_missing()
            started = trio.current_time()
            compiled = Compiled(None) if job.text is None else await self._compile(job.text, job.declarations)
        except (OSError, CompilerProcessError) as error:
            await self._end_processes()
            where = "" if self._plan is None else f" with deno at {self._plan.deno}"
            self._plan = None  # looked for again the next time: it may be another by then
            self._missing = f"the compiler does not start{where}: {error}"
            job.settle(OSError(self._missing))
        except DenoMissingError as error:
            self._missing = str(error)
            job.settle(error)
        except BaseException:
            job.settle(CompilerClosedError("the compiler is ending; the program was not compiled"))
            raise
        else:
            if job.text is not None:
                self._compiled += 1
                self._last_seconds = trio.current_time() - started
            job.settle(compiled)
            await self._replace_dead()

    async def _compile(self, text: ProgramText, declarations: str) -> Compiled:
        found, note = await self._check(text.body, declarations)
        if text.unchecked:
            found = [problem for problem in found if problem.code in SYNTAX_CODES or is_import(problem)]
        wrong, doubtful = blocking_and_doubtful(_with_imports_explained(found))
        blocking = tuple(wrong[:MAX_PROBLEMS])
        notes = tuple(note_of(problem) for problem in doubtful[:MAX_NOTES])
        if blocking:
            return Compiled(None, blocking, notes)
        stripped = await self._strip(text.body)
        if isinstance(stripped, Refusal):
            lines = text.body.split("\n")
            line = len(lines) if stripped.line is None else stripped.line
            return Compiled(None, (problem_at(lines, line, stripped.column or 0, 0, stripped.message),), notes)
        # Of a program that is not run it does not matter that it was not checked: the refusal says why.
        return Compiled(stripped, (), notes if note is None else (f"note: not type-checked: {note}", *notes))

    async def _check(self, body: str, declarations: str) -> tuple[list[Problem], str | None]:
        """What the checker finds, and why it found nothing where it could not look."""
        if hides_import(body):
            return [], "it spells a name with escapes"
        why = ""
        for _ in range(ATTEMPTS):
            checker = await self._started_checker()
            worked_before = checker.process.cpu_seconds()
            found = None
            try:
                with trio.fail_after(self._check_seconds):
                    found = await checker.check(body, declarations)
                why = "the program was too much for the checker"
            except trio.TooSlowError:
                why = f"the check took longer than {self._check_seconds:g} s"
                if not _stood_still(checker.process, worked_before, self._check_seconds):
                    await self._give_up_check(checker)
                    break
                why = f"the checker did not answer within {self._check_seconds:g} s"
            except CompilerProcessError:
                why = "the program was too much for the checker"
            if found is not None:
                return found, None
            # Dead, or alive without the part that checks: it would find nothing in any program any more.
            await self._give_up_check(checker)
        return [], why

    async def _give_up_check(self, checker: Checker) -> None:
        await checker.process.kill()
        self._killed_checks += 1

    async def _strip(self, body: str) -> str | Refusal:
        refusal = Refusal("")
        for _ in range(ATTEMPTS):
            stripper = await self._started_stripper()
            worked_before = stripper.process.cpu_seconds()
            try:
                with trio.fail_after(STRIP_SECONDS):
                    return await stripper.strip(body)
            except trio.TooSlowError:
                stood_still = _stood_still(stripper.process, worked_before, STRIP_SECONDS)
                await stripper.process.kill()
                if not stood_still:
                    return Refusal(f"the compiler was not done with the program after {STRIP_SECONDS:g} s", 0, 0)
                refusal = Refusal(f"the compiler did not answer within {STRIP_SECONDS:g} s; try again", 0, 0)
            except CompilerProcessError:
                await stripper.process.kill()
                # Only depth kills it twice: the parser recurses, and its stack has an end.
                refusal = Refusal("the program is too deeply nested to be compiled", 0, 0)
        return refusal

    async def _start_missing(self) -> None:
        """Start the processes that are not there. Raises `DenoMissingError`, `OSError` and `CompilerProcessError`."""
        await self._started_stripper()
        await self._started_checker()
        self._missing = None

    async def _started_checker(self) -> Checker:
        if self._checker is not None and not self._checker.process.is_alive:
            await self._checker.process.kill()
            self._checker = None
        if self._checker is None:
            self._checker = await self._started(Checker.start)
        return self._checker

    async def _started_stripper(self) -> Stripper:
        if self._stripper is not None and not self._stripper.process.is_alive:
            await self._stripper.process.kill()
            self._stripper = None
        if self._stripper is None:
            self._stripper = await self._started(Stripper.start)
        return self._stripper

    async def _started(self, start: Callable[[CompilerPlan], Awaitable[PartT]]) -> PartT:
        self._plan = self._plan or await CompilerPlan.made()
        self._starts += 1
        try:
            with trio.fail_after(START_SECONDS):
                return await start(self._plan)
        except trio.TooSlowError:
            raise CompilerProcessError(f"deno at {self._plan.deno} did not answer within {START_SECONDS:g} s") from None

    async def _replace_dead(self) -> None:
        """Start again what the last program killed, so that the next one does not wait for it."""
        if self._jobs:
            return
        try:
            await self._start_missing()
        except (OSError, CompilerProcessError, DenoMissingError) as error:
            self._plan = None
            self._missing = f"the compiler does not start: {error}"

    async def _end_processes(self) -> None:
        if self._checker is not None:
            await self._checker.process.kill()
            self._checker = None
        if self._stripper is not None:
            await self._stripper.process.kill()
            self._stripper = None


async def seconds_of_checks(compiler: Compiler, programs: Sequence[tuple[str, str]]) -> tuple[float, ...]:
    """How long each program took, as (program, declarations), one after the other; warm from the first one on."""
    await compiler.warm()
    seconds: list[float] = []
    for program, declarations in programs:
        started = time.perf_counter()
        await compiler.compile(program, declarations)
        seconds.append(time.perf_counter() - started)
    return tuple(seconds)


def _stood_still(process: CompilerProcess, worked_before: float | None, seconds: float) -> bool:
    """Whether a process that took too long has not been working; False where the system does not tell."""
    worked = process.cpu_seconds()
    return worked is not None and worked_before is not None and worked - worked_before < WORKING_SHARE * seconds


def _refused(message: str, text: str) -> Compiled:
    return Compiled(None, (Problem(1, 1, 0, message, text.partition("\n")[0][:MAX_SHOWN_LINE]),))


def _with_imports_explained(found: list[Problem]) -> list[Problem]:
    """Problems at an `import` say that there is none, and what the parser makes of the rest of the line is left out."""
    explained: dict[int, Problem] = {}
    for problem in found:
        if problem.line not in explained and is_import(problem):
            explained[problem.line] = replace(problem, code=IMPORT_CODE, message=NO_IMPORTS)
    others = [problem for problem in found if problem.line not in explained]
    return sorted([*others, *explained.values()], key=lambda problem: (problem.line, problem.column))
