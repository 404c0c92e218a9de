"""The calls of one program: the gate of this moment, the order, what is kept of them. No process takes part.

Numbers in square brackets are those of the cases about presentation. Source: tool-presentation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import pytest
import trio
from mcp_types import ImageContent, TextContent, ToolAnnotations

from actors.agent_tools import AgentToolLists
from actors.agents import Agents
from actors.program_run import MAX_IMAGES, ProgramCalls
from actors.published import Published
from presets.confirmation import asking_first
from presets.definition import Risk
from presets.interactions import interactive
from presets.scope import Scope
from protocol.input_request import InputResponse
from protocol.interaction import Interaction
from protocol.session import Audience
from protocol.tool import JsonObject, ToolCall, ToolError, ToolOutcome
from protocol.tool_list import ToolEntry, ToolList
from sandbox.namespace import CallFailed, HostFunction
from tests.actors.fakes import tool
from tests.presets.item_samples import AnsweringCall

READ, WRITE, NEST = "space_read", "space_write", "space_nest"
SELF = Audience("own")
Body = Callable[[JsonObject, ToolCall], Awaitable[ToolOutcome]]


@dataclass
class Outer:
    """The call of the program itself."""

    told: list[tuple[float, str | None]] = field(default_factory=list[tuple[float, str | None]])
    step_group: str | None = None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        await trio.lowlevel.checkpoint()
        self.told.append((done, message))


class Stage:
    """A program's calls over tools whose bodies a test gives."""

    def __init__(self, **bodies: Body) -> None:
        self.moments: list[str] = []
        self.bodies: dict[str, Body] = {READ: self.pass_by, WRITE: self.pass_by, NEST: self.pass_by, **bodies}
        self.tools = Published(self.listed(*self.bodies))
        self.scope = Scope.deployment().child("agent", "own")
        self.agents = Published(self.agents_now())
        self.outer = Outer()
        self.calls_lists = lists = AgentToolLists(
            self.tools, self.agents, lambda _, __: ToolEntry.of(tool("space_run_code"))
        )
        self.calls = ProgramCalls(lists, self.why_not, SELF, self.outer, "program-1")
        self.functions = self.calls.functions(self.tools.value.entries)

    def agents_now(self) -> Agents:
        return Agents(views=MappingProxyType({"own": self.scope.view()}), default="own")

    def listed(self, *names: str) -> ToolList:
        return ToolList.of(1, {name: ToolEntry.of(self.definition(name)) for name in names})

    def definition(self, name: str) -> Any:
        annotations = ToolAnnotations(read_only_hint=True) if name == READ else None
        return replace(tool(name, run=self.bodies[name]), annotations=annotations)

    async def why_not(self, name: str) -> str:
        return f"{name} went away."

    async def pass_by(self, arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        self.moments.append(f"+{arguments['n']}")
        await trio.sleep(arguments.get("seconds", 1))
        self.moments.append(f"-{arguments['n']}")
        return ToolOutcome.text(str(arguments["n"]))

    async def at_once(self, *calls: tuple[str, Mapping[str, Any]]) -> None:
        """Make the calls one right after the other, as a program does, and wait for all."""
        async with trio.open_nursery() as nursery:
            for name, arguments in calls:
                await nursery.start(_begun, self.functions[name], arguments)


async def _begun(function: HostFunction, arguments: Any, *, task_status: trio.TaskStatus[None]) -> None:
    task_status.started()
    await function(arguments)


async def test_reads_overlap_and_a_write_waits_for_them_and_holds_up_what_follows(autojump_clock: object) -> None:
    stage = Stage()
    await stage.at_once((READ, {"n": 1, "seconds": 3}), (READ, {"n": 2}), (WRITE, {"n": 3}), (READ, {"n": 4}))
    assert set(stage.moments[:2]) == {"+1", "+2"}  # [125]
    assert stage.moments[2:] == ["-2", "-1", "+3", "-3", "+4", "-4"]  # [127, 128]


async def test_tools_that_do_not_say_that_they_only_read_take_turns_in_their_order(autojump_clock: object) -> None:
    stage = Stage()
    await stage.at_once(*((NEST, {"n": n, "seconds": 4 - n}) for n in range(4)))
    assert stage.moments == ["+0", "-0", "+1", "-1", "+2", "-2", "+3", "-3"]  # [074, 145]


async def test_a_call_is_judged_when_its_turn_comes_and_not_when_it_is_made(autojump_clock: object) -> None:
    stage = Stage()

    async def take_away() -> None:
        await trio.sleep(0.5)
        stage.tools.publish(stage.listed(READ))

    async def second() -> None:
        await trio.sleep(0.2)
        with pytest.raises(CallFailed, match=r"changed while the program ran\. space_write went away"):  # [130]
            await stage.functions[WRITE]({"n": 2})

    async with trio.open_nursery() as nursery:
        nursery.start_soon(take_away)
        nursery.start_soon(stage.functions[WRITE], {"n": 1})
        nursery.start_soon(second)
    assert stage.moments == ["+1", "-1"]
    assert [note.error is None for note in stage.calls.notes] == [True, False]


async def test_a_tool_that_a_scope_hides_meanwhile_says_which_scope() -> None:
    stage = Stage()
    with stage.scope.restrict(deny=[WRITE], known=[WRITE]):
        stage.agents.publish(stage.agents_now())
        with pytest.raises(CallFailed, match="is hidden by agent 'own'"):
            await stage.functions[WRITE]({"n": 1})
    assert stage.moments == []


async def test_a_guard_sees_frozen_arguments_and_its_reason_reaches_the_program() -> None:
    stage = Stage()
    seen: list[JsonObject] = []

    def check(name: str, arguments: JsonObject) -> str | None:
        seen.append(arguments)
        return "not now"

    with stage.scope.guard(check):
        stage.agents.publish(stage.agents_now())
        with pytest.raises(CallFailed, match=r"^not now$"):
            await stage.functions[WRITE]({"n": [1]})
    assert stage.moments == []
    with pytest.raises(TypeError):
        seen[0]["n"] = 2  # type: ignore[index]  # [057]
    assert seen[0]["n"] == (1,)


async def test_a_guard_that_fails_refuses_the_call_in_words() -> None:
    stage = Stage()

    def check(name: str, arguments: JsonObject) -> str | None:
        raise LookupError("secret of the guard")

    with stage.scope.guard(check):
        stage.agents.publish(stage.agents_now())
        with pytest.raises(CallFailed, match="a guard of space_write failed, so it was not run") as caught:
            await stage.functions[WRITE]({"n": 1})
    assert "secret" not in str(caught.value)
    assert stage.moments == []
    with pytest.raises(CallFailed):
        await stage.functions[WRITE]("no object")


async def test_an_agent_that_becomes_unusable_meanwhile_says_so_to_the_program() -> None:
    stage = Stage()
    stage.agents.publish(Agents())
    with pytest.raises(CallFailed, match="there is no agent 'own'"):
        await stage.functions[WRITE]({"n": 1})


async def test_progress_rises_with_every_report_whoever_makes_it(autojump_clock: object) -> None:
    async def nest(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await call.progress(1, 3)
        await call.progress(2, 3, "half")
        return ToolOutcome.text("x")

    async def fail(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        raise ToolError("no")

    stage = Stage(**{NEST: nest, "space_fail": fail})
    await stage.functions[NEST]({})
    with pytest.raises(CallFailed, match="no"):
        await stage.functions["space_fail"]({})
    assert stage.outer.told == [
        (1, "space_nest: 1 of 3"),
        (2, "space_nest: half"),
        (3, "space_nest (ok)"),
        (4, "space_fail (failed)"),
    ]


async def test_each_call_is_made_under_the_group_of_its_program() -> None:
    groups: list[str | None] = []

    async def nest(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        groups.append(call.step_group)
        return ToolOutcome.text("x")

    await Stage(**{NEST: nest}).functions[NEST](None)
    assert groups == ["program-1"]


async def test_a_call_that_is_cancelled_is_noted_as_cut_off_and_frees_its_place(autojump_clock: object) -> None:
    stage = Stage()
    with trio.move_on_after(0.5):
        await stage.at_once((WRITE, {"n": 1}), (WRITE, {"n": 2}))
    assert [(note.error, note.finished) for note in stage.calls.notes] == [("cut off", False)] * 2
    await stage.at_once((WRITE, {"n": 3}))
    assert stage.moments == ["+1", "+3", "-3"]


async def test_images_are_kept_in_the_order_of_the_calls_and_those_too_many_are_counted(autojump_clock: object) -> None:
    async def nest(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await trio.sleep(100 - arguments["n"])
        image = ImageContent(type="image", data="", mime_type=f"image/{arguments['n']}")
        return ToolOutcome((TextContent(type="text", text="seen"), image))

    stage = Stage(**{NEST: nest, READ: nest})
    await stage.at_once(*((READ, {"n": n}) for n in range(MAX_IMAGES + 2)))
    *images, word = stage.calls.images()
    assert [getattr(image, "mime_type", "") for image in images] == [f"image/{n}" for n in range(MAX_IMAGES)]
    assert getattr(word, "text", "") == f"[2 more images are not shown; at most {MAX_IMAGES} are.]"


@pytest.mark.parametrize("structured", [{"n": float("nan")}, {"n": {1, 2}}, {"n": float("inf")}])
async def test_a_result_that_is_no_json_fails_its_call_and_not_the_program(structured: Any) -> None:
    async def nest(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        return ToolOutcome.text("x", structured)

    with pytest.raises(CallFailed, match="space_nest ran, but its result"):
        await Stage(**{NEST: nest}).functions[NEST]({})


async def test_long_arguments_and_errors_are_kept_without_their_middle() -> None:
    async def nest(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        raise ToolError("e" * 10_000)

    stage = Stage(**{NEST: nest})
    with pytest.raises(CallFailed) as caught:
        await stage.functions[NEST]({"text": "t" * 10_000})
    assert len(caught.value.message) == 10_000
    (record,) = stage.calls.records
    assert len(record.arguments) < 2_100
    assert record.error is not None
    assert len(record.error) < 2_100


# Questions to the user

ASKED: JsonObject = {"n": 7}


class Clock:
    """What runs a program, as far as its clock goes."""

    def __init__(self) -> None:
        self.pauses: list[str] = []

    @contextmanager
    def paused(self) -> Generator[None]:
        self.pauses.append("begins")
        try:
            yield
        finally:
            self.pauses.append("ends")


async def wipe(arguments: JsonObject, call: Interaction) -> ToolOutcome:
    return ToolOutcome.text(f"wiped {arguments['n']}")


def destroying(outer: AnsweringCall) -> Stage:
    """A program whose `space_nest` asks its user first, as what may destroy something does."""
    stage = Stage(**{NEST: interactive(asking_first(NEST, None, Risk.DESTRUCTIVE, wipe))})
    stage.calls = ProgramCalls(stage.calls_lists, stage.why_not, SELF, outer, "program-1")
    stage.functions = stage.calls.functions(stage.tools.value.entries)
    return stage


async def test_a_program_asks_through_its_own_call_and_its_clock_stands_still() -> None:
    outer, clock = AnsweringCall(), Clock()
    stage = destroying(outer)
    stage.calls.follow(clock, lambda: None)
    assert await stage.functions[NEST](ASKED) == "wiped 7"
    assert await stage.functions[NEST](ASKED) == "wiped 7"
    keys = [key for key, _ in outer.asked]
    assert len(set(keys)) == 2, "the same call made twice is asked about twice"
    assert all(key.startswith("space_nest-") and key.endswith(":space_confirm") for key in keys)
    assert clock.pauses == ["begins", "ends"] * 2


async def test_a_program_whose_user_declines_gets_an_error_and_goes_on() -> None:
    stage = destroying(AnsweringCall("decline"))
    with pytest.raises(CallFailed, match="The user declined: space_nest was not run"):
        await stage.functions[NEST](ASKED)


async def test_without_a_session_a_program_is_stopped_and_begins_anew_with_the_answer(autojump_clock: object) -> None:
    given: dict[str, InputResponse] = {}
    first = AnsweringCall(rounds=True, given=given)
    stage = destroying(first)
    await stage.functions[READ]({"n": 1})
    with trio.CancelScope() as program:
        stage.calls.follow(None, program.cancel)
        await stage.functions[NEST](ASKED)
    assert program.cancelled_caught
    assert stage.calls.asked is not None
    assert list(stage.calls.asked.requests) == list(given)

    again = destroying(AnsweringCall(rounds=True, given=given))
    again.calls.follow(None, program.cancel)
    await again.functions[READ]({"n": 1})
    assert await again.functions[NEST](ASKED) == "wiped 7"
    assert again.calls.asked is None


async def test_agreeing_to_one_call_is_not_agreeing_to_another(autojump_clock: object) -> None:
    given: dict[str, InputResponse] = {}
    with trio.CancelScope() as program:
        stage = destroying(AnsweringCall(rounds=True, given=given))
        stage.calls.follow(None, program.cancel)
        await stage.functions[NEST](ASKED)
    with trio.CancelScope() as program:
        other = destroying(AnsweringCall(rounds=True, given=given))
        other.calls.follow(None, program.cancel)
        await other.functions[NEST]({"n": 8})
    assert program.cancelled_caught, "other arguments are another question"


async def test_a_program_that_has_changed_something_is_not_run_again_for_a_question(autojump_clock: object) -> None:
    outer = AnsweringCall(rounds=True)
    stage = destroying(outer)
    stage.calls.follow(None, lambda: pytest.fail("the program was stopped"))
    await stage.functions[WRITE]({"n": 1})
    with pytest.raises(CallFailed, match="can be asked only before a program has changed anything"):
        await stage.functions[NEST](ASKED)
    assert stage.calls.asked is None
    assert outer.tasks == 1, "a client that knows tasks could have been asked"


async def test_a_call_that_the_user_declined_changes_nothing_so_the_program_may_ask_again(
    autojump_clock: object,
) -> None:
    given: dict[str, InputResponse] = {}
    with trio.CancelScope() as program:
        stage = destroying(AnsweringCall("decline", rounds=True, given=given))
        stage.calls.follow(None, program.cancel)
        await stage.functions[NEST](ASKED)
    assert len(given) == 1

    stage = destroying(AnsweringCall("decline", rounds=True, given=given))
    with trio.CancelScope() as program:
        stage.calls.follow(None, program.cancel)
        with pytest.raises(CallFailed, match="The user declined"):
            await stage.functions[NEST](ASKED)
        await stage.functions[NEST]({"n": 8})
    assert program.cancelled_caught, "the second question goes out"
    assert stage.calls.asked is not None
