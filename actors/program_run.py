"""One program that runs: its calls go through the same gate as those of a model, in the order of its making.

Owns the calls of one run and what they leave: notes, images, progress. Knows no process; whoever runs the program asks
for its functions. Source: tool-presentation; findings on Code Mode, 1 and 3.4.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import trio
from mcp_types import ImageContent, TextContent

from actors.agent_tools import AgentToolLists
from actors.call_gate import CallRefusedError, WhyNot, pass_gate
from actors.call_lane import CallLane
from actors.calls import run_tool
from actors.logged_call import BY_A_PERSON, LoggedCall, logged_of
from actors.missing_tools import MissingTools
from actors.nested_call import NestedCall, Pausing, Questions
from actors.program_log import CallRecord, without_middle
from presets.program_report import CallNote
from protocol.input_request import InputRequired
from protocol.prepared_call import PreparedCall
from protocol.result import structure_problem
from protocol.session import Audience
from protocol.tool import ToolCall, ToolOutcome
from protocol.tool_list import ToolEntry
from sandbox.namespace import CallFailed, HostFunction, JsonValue

MAX_IMAGES = 20
"""Images of one program that are shown to the model after its end; further ones are counted."""

_KEPT_ARGUMENT_CHARACTERS = 2_000
"""How much of the arguments of a call is kept for people to look at."""

_KEPT_ERROR_CHARACTERS = 2_000

_CUT_OFF = "cut off"
"""The error of a call whose program ended before it did."""

_PROGRAM_GONE = "its program has ended"


class ProgramCalls:
    """The calls of one program. `functions` are what the program gets; the rest is read when it has ended."""

    def __init__(
        self, lists: AgentToolLists, why_not: WhyNot, audience: Audience, call: ToolCall, step_group: str
    ) -> None:
        self._lists = lists
        self._why_not = why_not
        self._audience = audience
        self._call = call
        self._group = step_group
        self._lane = CallLane()
        self._questions = Questions(call)
        self._started_at = trio.current_time()
        self._reports = 0
        self.records: list[CallRecord] = []
        self._notes: list[CallNote] = []
        self._images: dict[int, tuple[ImageContent, ...]] = {}

    def functions(self, entries: Sequence[ToolEntry]) -> Mapping[str, HostFunction]:
        """A function for each tool, by its MCP name. A program has those that were visible when it began."""
        return {entry.definition.name: self._function(entry) for entry in entries}

    def refusals(self, missing: MissingTools) -> Mapping[str, HostFunction]:
        """A function for each tool that is missing, which says why when it is called."""
        return {name: self._refusal(name, missing) for name in missing.names}

    @property
    def notes(self) -> tuple[CallNote, ...]:
        """Every call in order, and how it ended."""
        return tuple(self._notes)

    @property
    def asked(self) -> InputRequired | None:
        """What the client has to answer before the program can begin anew; None where nothing of it was stopped."""
        return self._questions.required

    def follow(self, lease: Pausing | None, stop: Callable[[], None]) -> None:
        """Say whose clock stands still while the user is asked, and what ends the program for a question that cannot
        wait for its answer.
        """
        self._questions.follow(lease, stop)

    def images(self) -> tuple[ImageContent | TextContent, ...]:
        """The images that calls gave, in the order of the calls, and a word on those that are too many."""
        found = [image for number in sorted(self._images) for image in self._images[number]]
        shown: list[ImageContent | TextContent] = list(found[:MAX_IMAGES])
        if len(found) > MAX_IMAGES:
            text = f"[{len(found) - MAX_IMAGES} more images are not shown; at most {MAX_IMAGES} are.]"
            shown.append(TextContent(type="text", text=text))
        return tuple(shown)

    def _function(self, entry: ToolEntry) -> HostFunction:
        name = entry.definition.name
        reads = entry.definition.reads_only

        async def function(argument: JsonValue) -> JsonValue:
            # The place in the queue is taken before the first wait, which is what keeps the order.
            turn = self._lane.enter(shared=reads)
            number = self._note(name, argument)
            scope = trio.CancelScope()
            logged = self._logged(name, argument, scope)
            error: str | None = _CUT_OFF
            failure: CallFailed | None = None
            value: JsonValue = None
            try:
                with scope:
                    async with turn:
                        value = await self._run(number, name, argument, logged)
                    error = None
                if scope.cancelled_caught:
                    failure, error = CallFailed(f"{name} was cancelled: {BY_A_PERSON}"), BY_A_PERSON
            except CallFailed as failed:
                failure, error = failed, failed.message
            finally:
                self._settle(number, error)
                if logged is not None:
                    logged.give_up(BY_A_PERSON if scope.cancelled_caught else _PROGRAM_GONE)
            await self._report(f"{name} ({'ok' if failure is None else 'failed'})")
            if failure is not None:
                raise failure
            return value

        return function

    def _refusal(self, name: str, missing: MissingTools) -> HostFunction:
        async def function(argument: JsonValue) -> JsonValue:
            number = self._note(name, argument)
            error = _CUT_OFF
            try:
                error = await missing.why(name)
            finally:
                self._settle(number, error)
                logged = self._logged(name, argument)
                if logged is not None:
                    logged.refuse(error)
            await self._report(f"{name} (failed)")
            raise CallFailed(error)

        return function

    def _logged(self, name: str, argument: JsonValue, scope: trio.CancelScope | None = None) -> LoggedCall | None:
        """The record of a call that begins; None where nobody records the one that runs the program."""
        outer = logged_of(self._call)
        if outer is None:
            return None

        def cancel(reason: str) -> None:
            if scope is not None:
                scope.cancel()

        given: JsonValue = {} if argument is None else argument
        return outer.nested(name, given, self._group, None if scope is None else cancel)

    async def _run(self, number: int, name: str, argument: JsonValue, logged: LoggedCall | None) -> JsonValue:
        try:
            prepared = await self._prepare(name, argument)
        except CallFailed as failed:
            if logged is not None:
                logged.refuse(failed.message)
            raise
        call = NestedCall(self._group, name, self._report, self._questions, argument, logged)
        was_run = True
        try:
            outcome = await run_tool(prepared, call)
            # One that the user declined was not run, so the next one may still ask.
            was_run = not outcome.not_run
        finally:
            if was_run and not prepared.entry.definition.reads_only:
                self._questions.acted = True
        if logged is not None:
            logged.end(outcome)
        if outcome.is_error:
            raise CallFailed(_text(outcome) or f"{name} failed and did not say why")
        problem = structure_problem(prepared.entry, outcome)
        if problem is not None:
            if logged is not None:
                logged.mar(problem)
            raise CallFailed(f"{name} ran, but its result is malformed; this is a bug of the tool. {problem}")
        images = tuple(block for block in outcome.content if isinstance(block, ImageContent))
        if images:
            self._images[number] = images
        if outcome.structured is not None:
            return cast("JsonValue", outcome.structured)
        return _text(outcome)

    async def _prepare(self, name: str, argument: JsonValue) -> PreparedCall:
        """The call through the gate of this moment. Raises `CallFailed` with what is to be told."""
        if argument is not None and not isinstance(argument, Mapping):
            raise CallFailed(f"{name} takes one object of arguments, such as {{}}; it was given {_kind(argument)}")
        arguments: Mapping[str, Any] = argument or {}
        try:
            return await pass_gate(self._lists, self._why_not, self._audience, name, arguments, from_program=True)
        except CallRefusedError as refused:
            raise CallFailed(str(refused)) from None

    def _note(self, name: str, argument: JsonValue) -> int:
        text = without_middle(json.dumps(argument, ensure_ascii=False, default=str), _KEPT_ARGUMENT_CHARACTERS)
        self.records.append(CallRecord(name, text, trio.current_time() - self._started_at))
        self._notes.append(CallNote(name, finished=False))
        return len(self.records) - 1

    def _settle(self, number: int, error: str | None) -> None:
        record = self.records[number]
        seconds = trio.current_time() - self._started_at - record.started
        kept = None if error is None else without_middle(error, _KEPT_ERROR_CHARACTERS)
        self.records[number] = replace(record, seconds=seconds, error=kept)
        self._notes[number] = CallNote(record.tool, error, finished=error != _CUT_OFF)

    async def _report(self, message: str) -> None:
        # Progress must rise with each report, and a tool may report while others end: so reports are what is counted.
        self._reports += 1
        await self._call.progress(self._reports, None, message)


def _text(outcome: ToolOutcome) -> str:
    return "\n".join(block.text for block in outcome.content if isinstance(block, TextContent))


def _kind(value: JsonValue) -> str:
    match value:
        case str():
            return "a text"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case _:
            return "an array"
