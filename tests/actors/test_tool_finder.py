"""The pair that finds and calls tools by name: who has it, what it finds, and that a call through it is a call."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from mcp_types import ToolAnnotations

from actors.agent_tools import AgentToolLists
from actors.agents import Agents
from actors.published import Published
from actors.tool_finder import ToolFinder
from presets.confirmation import asking_first
from presets.definition import Risk
from presets.interactions import interaction_of, interactive
from presets.presentation import CALL_TOOL_NAME, FIND_TOOLS_NAME, RUN_CODE_NAME, Presentation
from presets.projection import Unknown
from presets.scope import Scope
from presets.sdk.sdk import Sdk
from presets.sdk.tool import SdkTool
from protocol.session import Audience
from protocol.tool import JsonObject, NotRunError, TaskSupport, ToolCall, ToolError, ToolOutcome
from protocol.tool_list import ToolEntry, ToolList
from tests.actors.fakes import text_of, tool
from tests.presets.item_samples import AnsweringCall

SELF = Audience("own")
DRAW, SECRET = "space_draw_circle", "space_secret"
CIRCLE: JsonObject = {
    "type": "object",
    "properties": {"radius": {"type": "number"}},
    "required": ["radius"],
    "additionalProperties": False,
}


async def draw(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text(json.dumps({"drawn": arguments["radius"]}), {"drawn": arguments["radius"]})


class Engine:
    """One agent that has the pair, unless a test says otherwise."""

    def __init__(
        self,
        *,
        pair: bool = True,
        mode: Presentation | None = None,
        body: Any = draw,
        tasks: TaskSupport = TaskSupport.FORBIDDEN,
    ) -> None:
        self.scope = Scope.deployment().child("agent", "own")
        if pair:
            self.scope.find_tools().__enter__()
        if mode is not None:
            self.scope.present_as(mode).__enter__()
        entries = {
            DRAW: ToolEntry.of(
                replace(
                    tool(DRAW, run=body),
                    description="Draw a circle of that radius.",
                    input_schema=CIRCLE,
                    output_schema={"type": "object", "properties": {"drawn": {"type": "number"}}},
                    annotations=ToolAnnotations(destructive_hint=True),
                    task_support=tasks,
                )
            ),
            SECRET: ToolEntry.of(replace(tool(SECRET), description="Keep a secret.")),
        }
        self.tools = Published(ToolList.of(1, entries))
        self.agents = Published(self.agents_now())
        self.finder = ToolFinder(sdk_of)
        self.lists = AgentToolLists(
            self.tools, self.agents, lambda _, __: ToolEntry.of(tool(RUN_CODE_NAME)), self.finder.pair
        )
        self.finder.connect(self.lists, self.why_not)

    def agents_now(self) -> Agents:
        return Agents(views=MappingProxyType({"own": self.scope.view()}), default="own")

    async def why_not(self, name: str) -> str:
        return f"{name} is hidden in this context."

    async def call(self, tool_name: str, by: ToolCall | None = None, /, **arguments: Any) -> ToolOutcome:
        entry = self.lists.of(SELF).offered.get(tool_name)
        assert entry is not None, tool_name
        return await entry.definition.run(arguments, by or AnsweringCall(forms=False))

    async def found(self) -> list[str]:
        return [one["name"] for one in json.loads(text_of(await self.call(FIND_TOOLS_NAME)))["tools"]]


def sdk_of(capabilities: ToolList) -> Sdk:
    return Sdk.of(
        SdkTool(
            name=entry.definition.name,
            description=entry.definition.description,
            input_schema=entry.definition.input_schema,
        )
        for entry in capabilities
    )


def test_who_has_the_pair_has_it_beside_everything_else_and_nothing_else_changes() -> None:
    plain, engine = Engine(pair=False).lists.of(SELF), Engine().lists.of(SELF)
    assert plain.offered.names == (DRAW, SECRET)
    assert engine.offered.names == (CALL_TOOL_NAME, DRAW, FIND_TOOLS_NAME, SECRET)
    assert engine.capabilities.names == plain.capabilities.names
    assert isinstance(plain.decide_call(CALL_TOOL_NAME), Unknown)
    assert isinstance(engine.decide_call(FIND_TOOLS_NAME, from_program=True), Unknown), "a program has its own way"


@pytest.mark.parametrize(
    ("mode", "names"),
    [
        (Presentation.CODE, (CALL_TOOL_NAME, FIND_TOOLS_NAME, RUN_CODE_NAME)),
        (Presentation.BOTH, (CALL_TOOL_NAME, DRAW, FIND_TOOLS_NAME, RUN_CODE_NAME, SECRET)),
    ],
)
def test_it_stands_beside_programs_too(mode: Presentation, names: tuple[str, ...]) -> None:
    assert Engine(mode=mode).lists.of(SELF).offered.names == names


async def test_it_finds_what_is_meant_with_its_schema_of_this_moment() -> None:
    engine = Engine()
    answer = json.loads(text_of(await engine.call(FIND_TOOLS_NAME, query="circle")))
    assert answer["tools"] == [
        {"name": DRAW, "description": "Draw a circle of that radius.", "input_schema": dict(CIRCLE)}
    ]
    assert answer["offered"] == 2
    engine.tools.publish(ToolList.of(2, {DRAW: ToolEntry.of(tool(DRAW))}))
    assert await engine.found() == [DRAW]


async def test_the_exact_name_of_a_tool_that_cannot_be_called_is_answered_with_the_reason() -> None:
    engine = Engine()
    take_away(engine)
    answer = json.loads(text_of(await engine.call(FIND_TOOLS_NAME, query=f" {DRAW} ")))
    assert answer["not_callable"] == {"name": DRAW, "reason": "space_draw_circle is hidden in this context."}
    hidden = Engine()
    hide(hidden)
    answer = json.loads(text_of(await hidden.call(FIND_TOOLS_NAME, query=DRAW)))
    assert "is hidden by agent 'own'" in answer["not_callable"]["reason"]
    for query in (SECRET, "circle", "draw_ circle"):
        assert "not_callable" not in json.loads(text_of(await engine.call(FIND_TOOLS_NAME, query=query)))


async def test_what_goes_on_as_a_task_does_so_through_it_as_well() -> None:
    async def work(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        await interaction_of(call).become_task()
        return ToolOutcome.text("{}", {})

    plain = Engine().lists.of(SELF).offered.get(CALL_TOOL_NAME)
    assert plain is not None
    assert plain.definition.task_support is TaskSupport.FORBIDDEN
    engine = Engine(body=work, tasks=TaskSupport.OPTIONAL)
    entry = engine.lists.of(SELF).offered.get(CALL_TOOL_NAME)
    assert entry is not None
    assert entry.definition.task_support is TaskSupport.OPTIONAL
    call = AnsweringCall()
    await engine.call(CALL_TOOL_NAME, call, name=DRAW, arguments={"radius": 2})
    assert call.tasks == 1
    engine = Engine(body=work, tasks=TaskSupport.REQUIRED)
    with pytest.raises(NotRunError, match="goes on as a task"):
        await engine.call(CALL_TOOL_NAME, call, name=DRAW, arguments={"radius": 2})


async def test_a_call_through_it_is_a_call_of_the_tool() -> None:
    outcome = await Engine().call(CALL_TOOL_NAME, name=DRAW, arguments={"radius": 2})
    assert json.loads(text_of(outcome)) == {"drawn": 2}
    assert outcome.structured is None, "its own schema promises no structure"


def hide(engine: Engine) -> None:
    engine.scope.restrict(deny=[DRAW], known=[DRAW, SECRET]).__enter__()
    engine.agents.publish(engine.agents_now())


def guard(engine: Engine) -> None:
    engine.scope.guard(lambda name, arguments: f"{name}: not now").__enter__()
    engine.agents.publish(engine.agents_now())


def take_away(engine: Engine) -> None:
    engine.tools.publish(ToolList.of(2, {SECRET: ToolEntry.of(tool(SECRET))}))


@pytest.mark.parametrize(
    ("prepare", "arguments", "said"),
    [
        (hide, {"radius": 2}, "is hidden by agent 'own'"),
        (guard, {"radius": 2}, "space_draw_circle: not now"),
        (take_away, {"radius": 2}, "space_draw_circle is hidden in this context."),
        (lambda engine: None, {"radius": "two"}, "Invalid arguments for space_draw_circle"),
        (lambda engine: None, {}, "Invalid arguments for space_draw_circle"),
    ],
)
async def test_it_goes_through_the_same_gate(
    prepare: Callable[[Engine], None], arguments: dict[str, Any], said: str
) -> None:
    engine = Engine()
    engine.lists.of(SELF)
    prepare(engine)
    with pytest.raises(ToolError) as refused:
        await engine.call(CALL_TOOL_NAME, name=DRAW, arguments=arguments)
    assert said in str(refused.value)


async def test_where_only_programs_may_call_it_sends_there() -> None:
    with pytest.raises(ToolError, match="call `space_draw_circle` from inside a program"):
        await Engine(mode=Presentation.CODE).call(CALL_TOOL_NAME, name=DRAW, arguments={"radius": 2})


async def test_it_does_not_call_itself() -> None:
    with pytest.raises(ToolError, match="called directly"):
        await Engine().call(CALL_TOOL_NAME, name=FIND_TOOLS_NAME)


@pytest.mark.parametrize(("action", "ran"), [("accept", True), ("decline", False)])
async def test_what_it_calls_asks_the_user_as_it_would_itself(action: str, ran: bool) -> None:
    engine = Engine(body=interactive(asking_first(DRAW, None, Risk.DESTRUCTIVE, draw)))
    asking = AnsweringCall(action)
    outcome = await engine.call(CALL_TOOL_NAME, asking, name=DRAW, arguments={"radius": 2})
    assert len(asking.asked) == 1
    assert outcome.is_error is not ran


async def test_a_tool_that_fails_fails_here_too() -> None:
    async def fail(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        raise ToolError("there is no paper")

    outcome = await Engine(body=fail).call(CALL_TOOL_NAME, name=DRAW, arguments={"radius": 2})
    assert outcome.is_error
    assert "there is no paper" in text_of(outcome)


def test_the_pair_is_reserved_and_says_of_itself_what_can_be_said_of_what_it_calls() -> None:
    offered = Engine().lists.of(SELF).offered
    call, find = offered.get(CALL_TOOL_NAME), offered.get(FIND_TOOLS_NAME)
    assert call is not None
    assert find is not None
    assert call.definition.annotations is not None
    assert find.definition.annotations is not None
    assert call.definition.annotations.destructive_hint is True
    assert (find.definition.annotations.read_only_hint, find.definition.annotations.destructive_hint) == (True, False)
