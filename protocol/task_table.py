"""The tasks that are kept, running or ended, and whose they are.

Owns the table. Runs and cancels nothing itself; never reads a clock (times are epoch seconds, given by the caller) and
never waits. A task exists for its own principal alone: everybody else is told that there is none.
Source: MCP extension `io.modelcontextprotocol/tasks`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from secrets import token_urlsafe

from protocol.input_request import InputRequest, InputResponse, MalformedAnswer, settle
from protocol.limits import DEFAULT_LIMITS
from protocol.task import Task, TaskError, TaskStatus

TASK_TTL_MS = 600_000
"""How long a task is kept from its creation on, milliseconds, where its tool does not say otherwise."""

POLL_INTERVAL_MS = 500
"""How often clients are told to ask, milliseconds: seldom enough to cost nothing, often enough for a person."""


class TaskTableFullError(Exception):
    """Raised when as many tasks run as may, of everybody or of whoever wants one more. Nothing was created."""


@dataclass(frozen=True, slots=True)
class UpdatedTask:
    """A task after answers of its client, and those that it had been waiting for."""

    task: Task
    answers: Mapping[str, InputResponse]


def _token() -> str:
    return token_urlsafe(18)


class TaskTable:
    """Tasks by id. Ids cannot be guessed, since whoever knows one may ask after it where nobody has a credential.

    Where `limit` tasks are kept, an ended one makes room: the one that ended first of whoever keeps the most, so that
    nobody drives out what others have not fetched yet. Running ones never do; of these a principal has at most
    `running`.
    """

    def __init__(
        self,
        *,
        limit: int = DEFAULT_LIMITS.tasks,
        running: int = DEFAULT_LIMITS.tasks_per_principal,
        new_id: Callable[[], str] = _token,
    ) -> None:
        self._limit = limit
        self._most_running = running
        self._new_id = new_id
        self._tasks: dict[str, Task] = {}

    def create(
        self,
        now: float,
        version: str,
        principal: str,
        *,
        ttl_ms: int = TASK_TTL_MS,
        poll_interval_ms: int = POLL_INTERVAL_MS,
    ) -> Task:
        """A new task, which is working. It can be asked after from now on. Raises `TaskTableFullError`."""
        running = sum(task.principal == principal and not task.status.is_final for task in self._tasks.values())
        if running >= self._most_running:
            raise TaskTableFullError(
                f"{running} tasks of this credential are running at this endpoint, which is the most; wait for one to "
                "end, or cancel one"
            )
        if len(self._tasks) >= self._limit:
            self._make_room(principal)
        task = Task(
            id=self._new_id(),
            principal=principal,
            version=version,
            status=TaskStatus.WORKING,
            created_at=now,
            updated_at=now,
            ttl_ms=ttl_ms,
            poll_interval_ms=poll_interval_ms,
        )
        self._tasks[task.id] = task
        return task

    def get(self, task_id: str, principal: str) -> Task | None:
        """The task of that id, or None where the caller has none of it."""
        task = self._tasks.get(task_id)
        return task if task is not None and task.principal == principal else None

    def require(self, task_id: str, requests: Mapping[str, InputRequest], now: float) -> Task | None:
        """Let a task ask its client, beside what it asks already. None where it is unknown or has ended."""
        task = self._open(task_id)
        if task is None:
            return None
        asked = {**task.requests, **requests}
        status = TaskStatus.INPUT_REQUIRED if asked else task.status
        return self._keep(replace(task, status=status, requests=asked, updated_at=now))

    def answer(
        self, task_id: str, principal: str, answers: Mapping[str, object], now: float
    ) -> UpdatedTask | MalformedAnswer | None:
        """Take the client's answers. None for an unknown task; answers that nobody waits for are skipped.

        Once nothing is open any more the task is working again. Raises `SchemaError` for a form whose schema is none.
        """
        task = self.get(task_id, principal)
        if task is None:
            return None
        if task.status is not TaskStatus.INPUT_REQUIRED:
            return UpdatedTask(task, {})
        settled = settle(task.requests, answers)
        if isinstance(settled, MalformedAnswer):
            return settled
        if not settled.answers:
            return UpdatedTask(task, {})
        status = TaskStatus.INPUT_REQUIRED if settled.missing else TaskStatus.WORKING
        changed = self._keep(replace(task, status=status, requests=settled.missing, updated_at=now))
        return UpdatedTask(changed, settled.answers)

    def complete(self, task_id: str, result: bytes, now: float) -> Task | None:
        """Note the result of a task, as JSON. None where it is unknown or has ended, as by being cancelled."""
        return self._end(task_id, TaskStatus.COMPLETED, now, result=result)

    def fail(self, task_id: str, error: TaskError, now: float) -> Task | None:
        """Note that a task came to no result. None as `complete`."""
        return self._end(task_id, TaskStatus.FAILED, now, error=error)

    def cancel(self, task_id: str, principal: str, now: float) -> Task | None:
        """Note that a task is cancelled, and give it; one that had ended stays as it is. None for an unknown one."""
        task = self.get(task_id, principal)
        if task is None:
            return None
        return self._end(task_id, TaskStatus.CANCELLED, now) or task

    def note(self, task_id: str, message: str, now: float) -> Task | None:
        """Note how far a task is, in words. None as `complete`."""
        task = self._open(task_id)
        return None if task is None else self._keep(replace(task, status_message=message, updated_at=now))

    def prune(self, now: float) -> tuple[Task, ...]:
        """Take away and return the tasks whose time is over. Those that still run are for the caller to cancel."""
        over = tuple(task for task in self._tasks.values() if now - task.created_at > task.ttl_ms / 1000)
        for task in over:
            del self._tasks[task.id]
        return over

    def __len__(self) -> int:
        return len(self._tasks)

    def _make_room(self, principal: str) -> None:
        """Forget an ended task; with the new one `principal` has one more than it keeps now."""
        ended = [task for task in self._tasks.values() if task.status.is_final]
        if not ended:
            raise TaskTableFullError(f"{self._limit} tasks are running, which is the most; wait for one to end")
        kept = Counter(task.principal for task in self._tasks.values())
        kept[principal] += 1
        del self._tasks[min(ended, key=lambda task: (-kept[task.principal], task.updated_at)).id]

    def _open(self, task_id: str) -> Task | None:
        task = self._tasks.get(task_id)
        return None if task is None or task.status.is_final else task

    def _end(
        self,
        task_id: str,
        status: TaskStatus,
        now: float,
        *,
        result: bytes | None = None,
        error: TaskError | None = None,
    ) -> Task | None:
        task = self._open(task_id)
        if task is None:
            return None
        return self._keep(replace(task, status=status, requests={}, result=result, error=error, updated_at=now))

    def _keep(self, task: Task) -> Task:
        self._tasks[task.id] = task
        return task
