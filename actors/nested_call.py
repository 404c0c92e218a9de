"""A call that a program makes, as its tool sees it, and the questions of all such calls to the client of the program.

Owns what becomes of a question in the middle of a program. In a session it goes out through the outer call, and the
program's clock stands still meanwhile. Without a session an answer comes with a call that begins anew: so the program
is stopped and run again where it has changed nothing yet, and else the call that wanted to ask fails.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from hashlib import sha256
from typing import Protocol

import trio

from actors.logged_call import LoggedCall
from presets.interactions import interaction_of
from protocol.client_capabilities import ClientCapabilities
from protocol.input_request import InputRequest, InputRequired, InputResponse
from protocol.interaction import InputNeededError
from protocol.log_level import LogLevel
from protocol.tool import NotRunError, ToolCall

_DIGEST_CHARACTERS = 16
"""Of what tells the questions of one call from those of another; what else the call is stands before it."""


class Pausing(Protocol):
    """What runs the program. `sandbox.lease.Lease` does."""

    def paused(self) -> AbstractContextManager[None]:
        """Let its clock stand still for the body of the block."""
        ...


class Questions:
    """The questions of one program. `acted` is to be set once a call of it may have changed something."""

    def __init__(self, outer: ToolCall) -> None:
        self.outer = interaction_of(outer)
        self.acted = False
        self.required: InputRequired | None = None
        self._lease: Pausing | None = None
        self._stop: Callable[[], None] | None = None
        self._keys: dict[str, int] = {}

    def follow(self, lease: Pausing | None, stop: Callable[[], None]) -> None:
        """See `ProgramCalls.follow`."""
        self._lease = lease
        self._stop = stop

    def key(self, tool: str, argument: object) -> str:
        """What the keys of one call begin with: the same in each run of the same program, and of no other call.

        It stands for the very arguments, so that nobody agrees to one call and gets another.
        """
        text = json.dumps(argument, sort_keys=True, default=str)
        digest = sha256(f"{tool} {text}".encode()).hexdigest()[:_DIGEST_CHARACTERS]
        count = self._keys[digest] = self._keys.get(digest, 0) + 1
        return f"{tool}-{digest}-{count}:"

    async def ask(self, tool: str, requests: Mapping[str, InputRequest]) -> Mapping[str, InputResponse]:
        """Ask through the outer call. Raises `NotRunError` where that cannot be."""
        if self.acted:
            # A client that knows tasks can be asked at any time once the call is one.
            await self.outer.become_task()
        try:
            with nullcontext() if self._lease is None else self._lease.paused():
                return await self.outer.ask(requests)
        except InputNeededError as error:
            if self.acted or self._stop is None:
                raise NotRunError(
                    f"{tool} was not run: the user has to be asked first, and this client can be asked only before a "
                    f"program has changed anything. Let {tool} be the first of the program, or call it by itself."
                ) from None
            self.required = error.required
            self._stop()
            await trio.sleep_forever()
            raise AssertionError("a program that was stopped goes on") from None


class NestedCall:
    """`Interaction` for one call of a program. Progress goes to whoever called the program, as words."""

    def __init__(
        self,
        step_group: str | None,
        tool: str,
        report: Callable[[str], Awaitable[None]],
        questions: Questions,
        argument: object = None,
        logged: LoggedCall | None = None,
    ) -> None:
        """`logged` is its record, which is told the numbers of its progress."""
        self.logged = logged
        self._step_group = step_group
        self._tool = tool
        self._report = report
        self._questions = questions
        self._argument = argument
        self._prefix: str | None = None

    @property
    def step_group(self) -> str | None:
        """See `ToolCall`: that of the program."""
        return self._step_group

    @property
    def client(self) -> ClientCapabilities:
        """See `Interaction`: the client of the program."""
        return self._questions.outer.client

    @property
    def state(self) -> object:
        """See `Interaction`. None: what a program's calls carry from round to round are their answers."""
        return None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """See `ToolCall`: told as words, since the numbers are those of the outer call."""
        if self.logged is not None:
            self.logged.report(done, total, message)
        of = "" if total is None else f" of {total:g}"
        await self._report(f"{self._tool}: {message or f'{done:g}{of}'}")

    async def log(self, level: LogLevel, data: object, logger: str | None = None) -> None:
        """See `Interaction`."""
        await self._questions.outer.log(level, data, logger)

    async def become_task(self) -> None:
        """See `Interaction`. The program is what may become a task, not a call of it."""

    async def hang_up(self) -> None:
        """See `Interaction`. While one call of a program has nothing to tell, others may."""

    async def ask(self, requests: Mapping[str, InputRequest], state: object = None) -> Mapping[str, InputResponse]:
        """See `Interaction`. `state` does not come back."""
        if self._prefix is None:
            self._prefix = self._questions.key(self._tool, self._argument)
        prefix = self._prefix
        answers = await self._questions.ask(
            self._tool, {f"{prefix}{name}": request for name, request in requests.items()}
        )
        return {name.removeprefix(prefix): answer for name, answer in answers.items()}
