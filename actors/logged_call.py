"""One call of a tool, as people look at it: who calls what with which arguments, how far it is, how it has ended.

Owns the life of the record. Whoever runs the call tells it what happens; it runs nothing itself, and what it is told
after the end changes nothing. See `actors.call_log` for the records of all calls.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from enum import StrEnum
from typing import Any, NamedTuple, Protocol, cast

import trio
from mcp_types import TextContent

from actors.kept_values import NOTHING, KeptContent, KeptJson, keep_content, keep_json, shorten_content
from actors.program_log import without_middle
from protocol.tool import ToolOutcome

PREVIEW_CHARACTERS = 200
"""Of the arguments in a row, and of what is kept of a large call that gave way to later ones."""

NAME_CHARACTERS = 200
"""Of the name by which a tool was called: no tool's own is longer, and a wrong one may be of any length."""

SAID_CHARACTERS = 500
"""Of the line that says why a call has failed, and of what a call says about its progress."""

SECONDS_DIGITS = 4
"""Digits of seconds after the point."""

CLIENT_GONE = "its client has cancelled it, or is gone"
"""Why a call was cancelled about which nobody said anything else."""

ASKED_FIRST = "its client is asked first, and calls again with the answer"
"""Why a call ends without a result that needs an answer of a client without a session."""

BY_A_PERSON = "a person has cancelled it"
"""Why a call was cancelled by its id."""


class CallSource(StrEnum):
    """Which way a call came."""

    MCP = "mcp"
    REST = "rest"
    PROGRAM = "program"


class CallState(StrEnum):
    """How a call stands."""

    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    REFUSED = "refused"
    """It was not run: there is no such tool now, or somebody or something was against it."""
    CANCELLED = "cancelled"


class Caller(NamedTuple):
    """Who makes a call; None for what is not known or not there. `client` is its name and version."""

    source: CallSource
    agent: str | None = None
    session_id: str | None = None
    client: str | None = None
    program_id: str | None = None


Cancel = Callable[[str], None]
"""Cancels a call, for the reason given. Returns at once."""


class CallKeeper(Protocol):
    """Who keeps records. `CallLog` does."""

    def begin(self, caller: Caller, tool: str, arguments: object, cancel: Cancel | None = None) -> LoggedCall:
        """Note a call that begins."""
        ...

    def changed(self, call: LoggedCall) -> None:
        """Give the record a new version."""
        ...

    def ended(self, call: LoggedCall) -> None:
        """As `changed`, for one that has come to its end."""
        ...


class LoggedCall:
    """The record of one call. Made by `CallLog.begin`.

    Its program is one that makes the call, or that the call runs. `via` is the tool by which this one was called by
    its name.
    """

    __slots__ = (
        "_cancel",
        "_keeper",
        "_started",
        "arguments",
        "caller",
        "content",
        "error",
        "id",
        "program_id",
        "progress",
        "seconds",
        "started_at",
        "state",
        "structured",
        "task_id",
        "tool",
        "version",
        "via",
    )

    def __init__(
        self, keeper: CallKeeper, call_id: int, caller: Caller, tool: str, arguments: object, cancel: Cancel | None
    ) -> None:
        self._keeper = keeper
        self._cancel = cancel
        self._started = trio.current_time()
        self.id = call_id
        self.version = 0
        self.caller = caller
        self.tool = without_middle(tool, NAME_CHARACTERS)
        self.via: str | None = None
        self.program_id = caller.program_id
        self.task_id: str | None = None
        self.arguments: KeptJson = keep_json(arguments)
        self.content: KeptContent = NOTHING
        self.structured: KeptJson | None = None
        """The structured content of its result, where there is any beside the content."""
        self.started_at = time.time()
        """Epoch seconds."""
        self.seconds: float | None = None
        self.state = CallState.RUNNING
        self.error: str | None = None
        self.progress: tuple[float, float | None, str | None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether it has not come to its end."""
        return self.state is CallState.RUNNING

    @property
    def is_cancellable(self) -> bool:
        """Whether `cancel` would do anything."""
        return self._cancel is not None

    @property
    def size(self) -> int:
        """Bytes of its arguments and its result, about."""
        structured = 0 if self.structured is None else len(self.structured.text)
        return len(self.arguments.text) + self.content.characters + structured

    @property
    def is_result_cut(self) -> bool:
        """Whether not all of the result is kept."""
        return self.content.is_cut or (self.structured is not None and self.structured.is_cut)

    def report(self, done: float, total: float | None, message: str | None) -> None:
        """Say how far it is."""
        if self.is_running:
            self.progress = (done, total, None if message is None else message[:SAID_CHARACTERS])
            self._keeper.changed(self)

    def becomes_task(self, task_id: str) -> None:
        """Say that it goes on as a task."""
        self.task_id = task_id
        self._keeper.changed(self)

    def runs_program(self, program_id: str) -> None:
        """Say which program it runs."""
        self.program_id = program_id
        self._keeper.changed(self)

    def calls_by_name(self, tool: str, arguments: object) -> None:
        """Say that it is a call of another tool, by its name."""
        self.via, self.tool = self.tool, without_middle(tool, NAME_CHARACTERS)
        self.arguments = keep_json(arguments)
        self._keeper.changed(self)

    def nested(self, tool: str, arguments: object, program_id: str, cancel: Cancel | None = None) -> LoggedCall:
        """The record of a call that the program makes which this one runs."""
        caller = self.caller._replace(source=CallSource.PROGRAM, program_id=program_id)
        return self._keeper.begin(caller, tool, arguments, cancel)

    def cancel(self) -> bool:
        """Cancel the call, as a person does. False where it has ended, or cannot be cancelled."""
        if self._cancel is None:
            return False
        self._cancel(BY_A_PERSON)
        return True

    def end(self, outcome: ToolOutcome) -> None:
        """Say what came of it."""
        if not self.is_running:
            return
        if outcome.input_required is not None:
            self.give_up(ASKED_FIRST)
            return
        self.content = keep_content(outcome.content, outcome.structured)
        if outcome.structured is not None and outcome.content:
            self.structured = keep_json(outcome.structured)
        if not outcome.is_error:
            self._end(CallState.DONE, None)
            return
        said = next((block.text for block in outcome.content if isinstance(block, TextContent)), "")
        self._end(CallState.REFUSED if outcome.not_run else CallState.FAILED, _first_line(said))

    def refuse(self, reason: str) -> None:
        """Say that it was not run, and why."""
        self._end_without_result(CallState.REFUSED, reason)

    def fail(self, reason: str) -> None:
        """Say that it came to no result."""
        self._end_without_result(CallState.FAILED, reason)

    def give_up(self, reason: str = CLIENT_GONE) -> None:
        """Say that it was cancelled. Whoever cannot know says this at the end in any case."""
        if self.is_running:
            self._end(CallState.CANCELLED, _first_line(reason))

    def mar(self, problem: str) -> None:
        """Say that what came of it was no good, and its caller was told this instead. Also after its end."""
        self.content, self.structured = keep_content((TextContent(type="text", text=problem),)), None
        self.state, self.error = CallState.FAILED, _first_line(problem)
        self._keeper.changed(self)

    def shorten(self) -> None:
        """Keep only a look at arguments and result."""
        text = self.arguments.text
        if len(text) > PREVIEW_CHARACTERS:
            self.arguments = KeptJson(text[:PREVIEW_CHARACTERS], is_cut=True)
        self.content = shorten_content(self.content, PREVIEW_CHARACTERS)
        if self.structured is not None and len(self.structured.text) > PREVIEW_CHARACTERS:
            self.structured = KeptJson(self.structured.text[:PREVIEW_CHARACTERS], is_cut=True)

    def row(self) -> dict[str, Any]:
        """What a list needs, as plain JSON values."""
        caller = self.caller
        return {
            "id": self.id,
            "version": self.version,
            "source": caller.source.value,
            "tool": self.tool,
            "via": self.via,
            "agent": caller.agent,
            "session_id": caller.session_id,
            "client": caller.client,
            "program_id": self.program_id,
            "task_id": self.task_id,
            "started_at": self.started_at,
            "seconds": self.seconds,
            "state": self.state.value,
            "error": self.error,
            "progress": None if self.progress is None else dict(zip(_PROGRESS, self.progress, strict=True)),
            "cancellable": self.is_cancellable,
            "arguments_preview": self.arguments.text[: PREVIEW_CHARACTERS * 4].decode(errors="ignore")[
                :PREVIEW_CHARACTERS
            ],
        }

    def _end_without_result(self, state: CallState, reason: str) -> None:
        if self.is_running:
            self.content = keep_content((TextContent(type="text", text=reason),))
            self._end(state, _first_line(reason))

    def _end(self, state: CallState, error: str | None) -> None:
        self.state, self.error = state, error
        self.seconds = round(trio.current_time() - self._started, SECONDS_DIGITS)
        self._cancel = None
        self._keeper.ended(self)


class _Logs(Protocol):
    logged: LoggedCall | None


def logged_of(call: object) -> LoggedCall | None:
    """The record of a call that knows its own; None for any other."""
    return cast("_Logs", call).logged if hasattr(call, "logged") else None


def _first_line(text: str) -> str:
    """The line that says why: one that says only that something was not run has the reason below it."""
    first, _, rest = text[:SAID_CHARACTERS].strip().partition("\n")
    return (
        f"{first} {rest.strip().partition(_LINE_END)[0].removeprefix('- ')}".strip()
        if first.endswith((":", "not run."))
        else first
    )


_LINE_END = "\n"


_PROGRESS = ("done", "total", "message")
