"""One request of a client while it is carried out: a tool, a prompt, a resource or a completion, and its talk with it.

Owns what is on its way to the client (progress, log messages, questions) and the end of the call. Runs nothing; where
the messages go is for whoever reads them. How a question is asked differs, and is with `Talk`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

import trio

from actors.logged_call import LoggedCall
from protocol.client_capabilities import ClientCapabilities
from protocol.completion import CompletionOutcome
from protocol.decision import CallTool, Complete, GetPrompt, ReadResource
from protocol.input_request import ElicitForm, InputRequest, InputResponse
from protocol.jsonrpc import RequestId
from protocol.log_level import LogLevel
from protocol.notifications import message_notification, progress_notification
from protocol.prompt import PromptOutcome
from protocol.resource import ResourceOutcome
from protocol.schema import compile_schema
from protocol.task import Task
from protocol.tool import ToolError, ToolOutcome

MESSAGE_CAPACITY = 64
"""Messages that may wait for the client of one call. Beyond it the call waits, so none is lost."""

Runnable = CallTool | ReadResource | GetPrompt | Complete
"""The decisions that run something of ours."""

RUNNABLE = (CallTool, ReadResource, GetPrompt, Complete)
"""Their types."""


class CrashedTool:
    """A tool failed inside the engine. `outcome` is what the client of an ordinary call is told."""

    __slots__ = ("outcome",)

    def __init__(self, outcome: ToolOutcome) -> None:
        self.outcome = outcome


class Failure:
    """A request that came to no result. `malformed` says that what the client sent is at fault: its params, or the
    answer which it brought.
    """

    __slots__ = ("malformed", "reason")

    def __init__(self, reason: str, *, malformed: bool = False) -> None:
        self.reason = reason
        self.malformed = malformed


class NotThere:
    """The resource turned out not to exist."""

    __slots__ = ()


Ending = ToolOutcome | CrashedTool | ResourceOutcome | PromptOutcome | CompletionOutcome | NotThere | Failure
"""How a call has ended that was not cancelled."""


class Talk(Protocol):
    """How a call talks with its client: in a session, or without one."""

    @property
    def client(self) -> ClientCapabilities:
        """What the client can do."""
        ...

    @property
    def state(self) -> object:
        """See `Interaction`."""
        ...

    @property
    def log_level(self) -> LogLevel | None:
        """From where on the client wants log messages, None for none."""
        ...

    @property
    def waits(self) -> bool:
        """Whether a question is answered while the call waits, rather than by running it once more."""
        ...

    @property
    def can_come_back(self) -> bool:
        """Whether the client can leave, and come back for the rest."""
        ...

    async def ask(self, call: Call, requests: Mapping[str, InputRequest], state: object) -> Mapping[str, InputResponse]:
        """See `Interaction`."""
        ...

    async def become_task(self, call: Call) -> Task | None:
        """Begin a task for the call; None where there is none to be had."""
        ...

    async def note(self, message: str) -> None:
        """Say how far the task is that the call has become."""
        ...

    def unheard(self) -> None:
        """A message could not be delivered: whoever waits for an answer to one waits in vain."""
        ...


class Call:
    """One call, as an `Interaction`. Whoever waits for it reads its messages and then `ending`.

    Anybody may `cancel` it, at any time.
    """

    __slots__ = (
        "_channel",
        "_last",
        "_talk",
        "cut_off_because",
        "decision",
        "done",
        "ending",
        "logged",
        "scope",
        "sign_of_life",
        "started_at",
        "task",
    )

    def __init__(self, decision: Runnable, talk: Talk) -> None:
        self.decision = decision
        self.started_at = trio.current_time()
        self.scope = trio.CancelScope()
        """What the call runs in."""
        self.sign_of_life = trio.Event()
        """Set at the first message, when it goes on as a task, or at the end."""
        self.done = trio.Event()
        self.ending: Ending | None = None
        """How it has ended, once `done`; None when it was cancelled."""
        self.cut_off_because: str | None = None
        """Why somebody else than its client has cancelled it."""
        self.task: Task | None = None
        """The task that it has become. From then on nobody but the owner of the task, or a person, may cancel it."""
        self.logged: LoggedCall | None = None
        """Its record, where it is the call of a tool."""
        self._talk = talk
        self._last = float("-inf")
        self._channel: tuple[trio.MemorySendChannel[bytes], trio.MemoryReceiveChannel[bytes]] | None = None

    @property
    def name(self) -> str:
        """What is called, for people: a tool, a prompt, or a uri."""
        match self.decision:
            case CallTool(call=call):
                return call.entry.definition.name
            case ReadResource(read=read):
                return read.uri
            case GetPrompt(prompt=prompt):
                return prompt.definition.name
            case Complete(completion=completion):
                return completion.argument

    @property
    def step_group(self) -> str | None:
        """None: a call that a client makes is a step of its own."""
        return None

    @property
    def client(self) -> ClientCapabilities:
        """See `Interaction`."""
        return self._talk.client

    @property
    def state(self) -> object:
        """See `Interaction`."""
        return self._talk.state

    @property
    def waits(self) -> bool:
        """See `Talk`."""
        return self._talk.waits

    @property
    def outcome(self) -> ToolOutcome | None:
        """What a tool gave, or what is told of one that failed; None for everything else."""
        if isinstance(self.ending, CrashedTool):
            return self.ending.outcome
        return self.ending if isinstance(self.ending, ToolOutcome) else None

    @property
    def has_messages(self) -> bool:
        """Whether messages wait to be read."""
        return self._channel is not None and self._channel[1].statistics().current_buffer_used > 0

    @property
    def token(self) -> RequestId | None:
        """Under what the client wants to hear of progress, None where it does not."""
        return None if isinstance(self.decision, Complete) else self.decision.progress_token

    def cancel(self) -> None:
        """End the call early. Does nothing once it has ended."""
        self.scope.cancel()

    def cancel_because(self, reason: str) -> None:
        """As `cancel`, for somebody else than its client, who is told the reason."""
        self.cut_off_because = reason
        self.scope.cancel()

    def unheard(self) -> None:
        """Say that a message has reached nobody."""
        self._talk.unheard()

    async def next_message(self) -> bytes | None:
        """The next message to the client as JSON, empty where its client is to be sent away; None at the end."""
        if self._channel is None:
            await self.sign_of_life.wait()
            if self._channel is None:
                return None
        try:
            return await self._channel[1].receive()
        except trio.EndOfChannel:
            return None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """See `ToolCall`. Waits for room when the client does not keep up."""
        if self.logged is not None:
            self.logged.report(done, total, message)
        token = self.token
        if token is None and self.task is None:
            await trio.lowlevel.checkpoint()
            return
        if done < self._last:
            raise ValueError(f"progress must not fall: {done} came after {self._last}")
        self._last = done
        if self.task is not None or token is None:
            await self._talk.note(message or (f"{done:g}" if total is None else f"{done:g} of {total:g}"))
            return
        await self.emit(progress_notification(token, done, total, message, self.decision.version))

    async def log(self, level: LogLevel, data: object, logger: str | None = None) -> None:
        """See `Interaction`. Raises `ValueError` for data that is no JSON."""
        # A task has no stream on which it could be told.
        if self.task is None and level.reaches(self._talk.log_level):
            await self.emit(message_notification(level, data, logger))
        else:
            await trio.lowlevel.checkpoint()

    async def ask(self, requests: Mapping[str, InputRequest], state: object = None) -> Mapping[str, InputResponse]:
        """See `Interaction`."""
        for request in requests.values():
            if isinstance(request, ElicitForm):
                # A form that can never be judged is a fault of its tool, and is told to it.
                compile_schema({"type": "object", **request.schema})
        return await self._talk.ask(self, requests, state)

    async def become_task(self) -> None:
        """See `Interaction`."""
        if self.task is not None:
            return
        task = await self._talk.become_task(self)
        if task is not None:
            self.task = task
            if self.logged is not None:
                self.logged.becomes_task(task.id)
            self._hear_no_more()

    async def hang_up(self) -> None:
        """See `Interaction`."""
        if self.task is None and self._talk.can_come_back:
            await self.emit(b"")
        else:
            await trio.lowlevel.checkpoint()

    async def emit(self, message: bytes) -> None:
        """Send a message to the client on the stream of its own request. Waits for room."""
        if self._channel is None:
            self._channel = trio.open_memory_channel[bytes](MESSAGE_CAPACITY)
        self.sign_of_life.set()
        await self._channel[0].send(message)

    def finish(self, ending: Ending | None) -> None:
        """Let whoever waits go on. For the runner alone."""
        self.ending = ending
        self._hear_no_more()
        self.done.set()

    def _hear_no_more(self) -> None:
        if self._channel is not None:
            self._channel[0].close()
        self.sign_of_life.set()


def refused_question(reason: str) -> ToolError:
    """What a tool hears of a question that could not be asked, or was not answered."""
    return ToolError(f"the client could not be asked: {reason}")
