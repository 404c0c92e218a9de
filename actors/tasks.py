"""The tasks actor: sole owner of the calls that go on after they were answered, and of what their clients are asked.

Owns the table, who waits for answers, and what cancels a task. Runs nothing: the calls themselves are those of
`actors.calls`. Source: MCP extension `io.modelcontextprotocol/tasks`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

import trio

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.listeners import AnnounceTask, ListenersActor
from protocol.input_request import InputRequest, InputResponse, MalformedAnswer
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.task import Task, TaskError
from protocol.task_table import TaskTable, TaskTableFullError, UpdatedTask

PRUNE_SECONDS = 30.0
"""How often tasks whose time is over are taken away, seconds: a small part of the time they are kept."""


class TaskAnswers:
    """The answers that the client of a task has given. Filled by the actor, waited for by the call."""

    __slots__ = ("_changed", "_given")

    def __init__(self) -> None:
        self._given: dict[str, InputResponse] = {}
        self._changed = trio.Event()

    def give(self, answers: Mapping[str, InputResponse]) -> None:
        """Add answers, and wake whoever waits."""
        self._given.update(answers)
        self._changed.set()

    async def wait_for(self, keys: frozenset[str]) -> Mapping[str, InputResponse]:
        """All the answers under these keys, once they have come."""
        while not keys <= self._given.keys():
            self._changed = trio.Event()
            await self._changed.wait()
        return {key: self._given.pop(key) for key in keys}


@dataclass(frozen=True, slots=True)
class CreatedTask:
    """A task, and where the answers of its client arrive."""

    task: Task
    answers: TaskAnswers


@dataclass(frozen=True, slots=True)
class CreateTask(Message[CreatedTask]):
    """A call goes on as a task; `cancel` ends it. Raises `TaskTableFullError`."""

    version: str
    principal: str
    cancel: Callable[[], None]


@dataclass(frozen=True, slots=True)
class ReadTask(Message[Task | None]):
    """The task of that id, or None where the caller has none of it."""

    task_id: str
    principal: str


@dataclass(frozen=True, slots=True)
class RequireAnswers(Message[None]):
    """The task asks its client."""

    task_id: str
    requests: Mapping[str, InputRequest]


@dataclass(frozen=True, slots=True)
class AnswerTask(Message[UpdatedTask | MalformedAnswer | None]):
    """The client answers. None where it has no such task."""

    task_id: str
    principal: str
    answers: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class NoteTask(Message[None]):
    """How far a task is, in words."""

    task_id: str
    message: str


@dataclass(frozen=True, slots=True)
class CompleteTask(Message[None]):
    """The call has ended with this result, as JSON."""

    task_id: str
    result: bytes


@dataclass(frozen=True, slots=True)
class FailTask(Message[None]):
    """The call came to no result."""

    task_id: str
    error: TaskError


@dataclass(frozen=True, slots=True)
class CancelTask(Message[Task | None]):
    """Cancel a task and the call that it is. None where the caller has no such task."""

    task_id: str
    principal: str


@dataclass(frozen=True, slots=True)
class PruneTasks(Message[None]):
    """Take away the tasks whose time is over; one that still runs is cancelled."""


@dataclass(frozen=True, slots=True)
class CountTasks(Message[int]):
    """How many tasks are kept."""


@dataclass(slots=True)
class TaskBook:
    """What the actor owns."""

    table: TaskTable
    cancels: dict[str, Callable[[], None]] = field(default_factory=dict[str, Callable[[], None]])
    answers: dict[str, TaskAnswers] = field(default_factory=dict[str, TaskAnswers])


class TasksActor(Actor[TaskBook]):
    """Owns the tasks. Tells the listeners of each change."""

    name: ClassVar[str] = "tasks"
    rank: ClassVar[int] = ranks.TASKS
    domain_errors = (*Actor.domain_errors, TaskTableFullError)

    def __init__(
        self,
        listeners: ListenersActor,
        limits: Limits = DEFAULT_LIMITS,
        clock: Callable[[], float] = time.time,
    ) -> None:
        super().__init__(TaskBook(TaskTable(limit=limits.tasks, running=limits.tasks_per_principal)))
        self._listeners = listeners
        self._clock = clock

    @handles(CreateTask)
    async def _create(self, message: CreateTask) -> CreatedTask:
        self._prune()
        task = self.state.table.create(self._clock(), message.version, message.principal)
        answers = TaskAnswers()
        self.state.cancels[task.id], self.state.answers[task.id] = message.cancel, answers
        return CreatedTask(task, answers)

    @handles(ReadTask)
    async def _read(self, message: ReadTask) -> Task | None:
        self._prune()
        return self.state.table.get(message.task_id, message.principal)

    @handles(RequireAnswers)
    async def _require(self, message: RequireAnswers) -> None:
        await self._tell(self.state.table.require(message.task_id, message.requests, self._clock()))

    @handles(AnswerTask)
    async def _answer(self, message: AnswerTask) -> UpdatedTask | MalformedAnswer | None:
        self._prune()
        updated = self.state.table.answer(message.task_id, message.principal, message.answers, self._clock())
        if isinstance(updated, UpdatedTask) and updated.answers:
            self.state.answers[message.task_id].give(updated.answers)
            await self._tell(updated.task)
        return updated

    @handles(NoteTask)
    async def _note(self, message: NoteTask) -> None:
        await self._tell(self.state.table.note(message.task_id, message.message, self._clock()))

    @handles(CompleteTask)
    async def _complete(self, message: CompleteTask) -> None:
        self._forget(message.task_id)
        await self._tell(self.state.table.complete(message.task_id, message.result, self._clock()))

    @handles(FailTask)
    async def _fail(self, message: FailTask) -> None:
        self._forget(message.task_id)
        await self._tell(self.state.table.fail(message.task_id, message.error, self._clock()))

    @handles(CancelTask)
    async def _cancel(self, message: CancelTask) -> Task | None:
        self._prune()
        before = self.state.table.get(message.task_id, message.principal)
        task = self.state.table.cancel(message.task_id, message.principal, self._clock())
        if task is not None:
            cancel = self.state.cancels.get(task.id)
            self._forget(task.id)
            if cancel is not None:
                cancel()
            if task is not before:
                await self._tell(task)
        return task

    @handles(PruneTasks)
    async def _prune_now(self, message: PruneTasks) -> None:
        self._prune()

    @handles(CountTasks)
    async def _count(self, message: CountTasks) -> int:
        return len(self.state.table)

    def _prune(self) -> None:
        for task in self.state.table.prune(self._clock()):
            cancel = self.state.cancels.get(task.id)
            self._forget(task.id)
            if cancel is not None:
                cancel()

    def _forget(self, task_id: str) -> None:
        self.state.cancels.pop(task_id, None)
        self.state.answers.pop(task_id, None)

    async def _tell(self, task: Task | None) -> None:
        if task is not None:
            await self._listeners.tell(AnnounceTask(task))
