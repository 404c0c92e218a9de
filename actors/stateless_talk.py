"""How a call without a session asks its client: it ends with the questions, and begins anew with the answers.

Once it has become a task it waits instead, and its client answers through the task. Owns which of the two it is.
"""

from __future__ import annotations

from collections.abc import Mapping

import trio

from actors.call import Call, refused_question
from actors.tasks import CancelTask, CreatedTask, CreateTask, NoteTask, RequireAnswers, TaskAnswers, TasksActor
from protocol.client_capabilities import ClientCapabilities
from protocol.decision import CallTool
from protocol.input_request import InputRequest, InputRequired, InputResponse, MalformedAnswer, method_of, possible
from protocol.interaction import InputNeededError, MalformedAnswerError
from protocol.log_level import LogLevel
from protocol.rounds import Rounds
from protocol.stateless_facts import StatelessFacts
from protocol.task import Task
from protocol.task_table import TaskTableFullError
from protocol.tool import ToolError
from protocol.versions import REVISIONS


class StatelessTalk:
    """See `Talk`."""

    def __init__(self, facts: StatelessFacts, tasks: TasksActor) -> None:
        self._facts = facts
        self._tasks = tasks
        self._rounds = Rounds(facts)
        self._task: tuple[str, TaskAnswers] | None = None

    @property
    def client(self) -> ClientCapabilities:
        """What it said with this request."""
        return self._facts.client

    @property
    def state(self) -> object:
        """See `Interaction`."""
        return self._rounds.state

    @property
    def log_level(self) -> LogLevel | None:
        """What the request asked for; by default nothing."""
        return self._facts.log_level

    @property
    def waits(self) -> bool:
        """In a task alone."""
        return self._task is not None

    @property
    def can_come_back(self) -> bool:
        """It cannot: a client that leaves cancels its call."""
        return False

    async def ask(self, call: Call, requests: Mapping[str, InputRequest], state: object) -> Mapping[str, InputResponse]:
        """See `Interaction`."""
        await trio.lowlevel.checkpoint()
        if self._task is not None:
            return await self._ask_in_task(call, requests, *self._task)
        found = self._rounds.ask(requests, state)
        if isinstance(found, InputRequired):
            raise InputNeededError(found)
        if isinstance(found, MalformedAnswer):
            raise MalformedAnswerError(found.reason)
        return found

    async def become_task(self, call: Call) -> Task | None:
        """See `Interaction`."""
        if not isinstance(call.decision, CallTool) or not call.decision.may_become_task:
            await trio.lowlevel.checkpoint()
            return None
        created = await self._create(call)
        self._task = None if created is None else (created.task.id, created.answers)
        return None if created is None else created.task

    async def _create(self, call: Call) -> CreatedTask | None:
        # Not to be cut in two: a task that nobody knows of would be kept for its whole time.
        with trio.CancelScope(shield=True):
            try:
                created = await self._tasks.ask(CreateTask(self._facts.version, self._facts.principal, call.cancel))
            except TaskTableFullError as error:
                raise ToolError(str(error)) from error
            if not call.scope.cancel_called:
                return created
            await self._tasks.tell(CancelTask(created.task.id, created.task.principal))
        return None

    async def note(self, message: str) -> None:
        """See `Talk`."""
        if self._task is not None:
            await self._tasks.tell(NoteTask(self._task[0], message))

    def unheard(self) -> None:
        """Nothing waits for an answer on a stream."""

    async def _ask_in_task(
        self, call: Call, requests: Mapping[str, InputRequest], task_id: str, answers: TaskAnswers
    ) -> Mapping[str, InputResponse]:
        revision = REVISIONS[self._facts.version]
        for request in requests.values():
            if not possible(request, self._facts.client, revision):
                raise refused_question(f"it has not declared that it can be asked for {method_of(request)}")
        await self._tasks.ask(RequireAnswers(task_id, requests))
        return await answers.wait_for(frozenset(requests))
