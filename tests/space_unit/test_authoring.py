"""A function becomes a tool, a few lines a preset; what cannot be one is refused with the place and the remedy."""

from __future__ import annotations

from typing import Any

import pytest

from blocks.block import ContextBlock, ContextMessage
from blocks.context import AgentBlockContext
from blocks.story import StoryMeta
from engine.errors import EngineError, InvalidArgumentError
from presets.definition import DefaultState, Risk
from protocol.tool import JsonObject, ToolError, ToolOutcome
from space_unit.contribution import Contribution
from space_unit.testing import MemoryApp
from tests.space_unit.units import HEAD, ROLL, contribution_of


class Silent:
    """A call that nobody listens to."""

    step_group: str | None = None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        pass


async def called(
    made: Contribution, arguments: JsonObject, app: MemoryApp | None = None, name: str = ""
) -> ToolOutcome:
    """Call the only tool, or the one whose name ends so, as a client does."""
    (adapter,) = [each for each in made.adapters if each.mcp_name.endswith(name)]
    return await adapter.make_run(app or MemoryApp())(arguments, Silent())  # pyright: ignore[reportArgumentType]


def unit(body: str, result: str = "None", parameters: str = "", **more: Any) -> Contribution:
    """A unit of one tool `act` with this body."""
    head = f"{HEAD}\n@tool\nasync def act({parameters}) -> {result}:\n    'Acts.'\n"
    code = f"{head}    {body}\n\np = preset('dice', tools=[act])\n"
    return contribution_of(code, **more)


async def test_signature_return_type_and_docstring_are_the_tool() -> None:
    made = contribution_of(ROLL)
    (adapter,) = made.adapters
    assert (adapter.id, adapter.mcp_name, adapter.description) == ("unit.dice.roll", "space_dice_roll", "Roll a die.")
    assert adapter.input_schema["properties"] == {"sides": {"type": "integer", "default": 6}}
    assert adapter.input_schema["additionalProperties"] is False
    assert adapter.output_schema is not None
    assert adapter.output_schema["properties"] == {"result": {"type": "integer"}}
    outcome = await called(made, {"sides": 20})
    assert (outcome.structured, outcome.content[0].text) == ({"result": 20}, '{"result":20}')  # pyright: ignore


async def test_an_object_is_the_result_itself_and_descriptions_are_kept() -> None:
    made = contribution_of(
        HEAD
        + '''
class Throw(BaseModel):
    total: int = Field(description="Sum.")
    note: str | None = None

@tool(title="Throw", read_only=True, idempotent=True)
async def act(count: Annotated[int, Field(ge=1, description="How many.")], kind: Literal["d6", "d20"] = "d6") -> Throw:
    """Throws."""
    return Throw(total=count)

p = preset("dice", tools=[act])
'''
    )
    (adapter,) = made.adapters
    assert (adapter.title, adapter.read_only, adapter.idempotent) == ("Throw", True, True)
    assert adapter.input_schema["properties"]["count"] == {"type": "integer", "minimum": 1, "description": "How many."}
    assert adapter.input_schema["properties"]["kind"]["enum"] == ["d6", "d20"]
    assert adapter.output_schema is not None
    assert adapter.output_schema["properties"]["total"] == {"type": "integer", "description": "Sum."}
    assert (await called(made, {"count": 2})).structured == {"total": 2}
    with pytest.raises(ToolError, match="count"):
        await called(made, {"count": 0})


async def test_arguments_may_have_any_name_also_one_of_pydantic() -> None:
    made = unit(
        "return [copy, schema, json, model_config]", "list[str]", "copy: str, schema: str, json: str, model_config: str"
    )
    given = {"copy": "a", "schema": "b", "json": "c", "model_config": "d"}
    assert sorted(made.adapters[0].input_schema["properties"]) == sorted(given)
    assert (await called(made, given)).structured == {"result": ["a", "b", "c", "d"]}


async def test_a_call_is_no_argument_and_reaches_state_and_log() -> None:
    log: list[str] = []
    app = MemoryApp()
    body = "n = await call.state.get('n', 0) + 1; await call.state.set('n', n); call.log(f'n is {n}'); return n"
    made = unit(body, "int", "call: Call", log=log)
    assert made.adapters[0].input_schema["properties"] == {}
    assert [(await called(made, {}, app)).structured for _ in range(2)] == [{"result": 1}, {"result": 2}]
    assert log == ["n is 1", "n is 2"]
    await app.undo()
    assert (await called(made, {}, app)).structured == {"result": 2}


async def test_state_is_changed_read_and_deleted() -> None:
    body = (
        "await call.state.change({'a': 1, 'b': {'x': [2]}}); await call.state.delete('a', 'none'); "
        "return await call.state.all()"
    )
    assert (await called(unit(body, "dict[str, Any]", "call: Call"), {})).structured == {"b": {"x": [2]}}


async def test_what_a_tool_says_was_wrong_reaches_the_caller_and_a_bug_reaches_the_log_too() -> None:
    log: list[str] = []
    with pytest.raises(ToolError, match=r"^no such die$"):
        await called(unit("raise ToolError('no such die')"), {})
    with pytest.raises(ToolError, match="a key is one line"):
        await called(unit("await call.state.set('', 1)", "None", "call: Call"), {})
    with pytest.raises(ToolError) as failed:
        await called(unit("return 1 / 0", "float", log=log), {})
    assert "tool 'act' of unit 'dice' failed: ZeroDivisionError: division by zero (unit.py, line 9)" in str(
        failed.value
    )
    assert "ZeroDivisionError" in log[0]
    assert "unit.py" in log[0]


async def test_a_result_of_another_type_is_refused_with_what_it_should_be() -> None:
    with pytest.raises(ToolError, match="returned 'x', which is not what it says it returns"):
        await called(unit("return 'x'", "int"), {})


async def test_a_whole_outcome_may_be_returned_and_nothing_too() -> None:
    assert (await called(unit("return ToolOutcome.text('hi')", "ToolOutcome"), {})).content[0].text == "hi"  # pyright: ignore
    outcome = await called(unit("pass"), {})
    assert (outcome.structured, outcome.is_error) == (None, False)


def test_a_preset_is_a_few_lines_of_data() -> None:
    made = contribution_of(
        ROLL.replace(
            'preset("dice", tools=[roll])',
            'preset("dice-more", tools=[roll], contexts=[{"activity": "graph"}], risk="shell", prompt="P", group="g")',
        )
    )
    (preset,) = made.presets
    assert (preset.name, preset.group, preset.system_prompt) == ("dice-more", "g", "P")
    assert (preset.risk, preset.default_state) == (Risk.SHELL, DefaultState.OFF)
    assert preset.tool_ids == ("unit.dice.roll",)
    (plain,) = contribution_of(ROLL).presets
    assert (plain.group, plain.default_state, [dict(one) for one in plain.contexts]) == (
        "dice",
        DefaultState.AUTO,
        [{"surface": "any"}],
    )


TOOL = "@tool\nasync def act() -> None:\n    'Acts.'\n"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("@tool\ndef act() -> None:\n    'Acts.'\n", "must be an async function"),
        ("@tool\nasync def act() -> None: pass\n", "needs a docstring"),
        ("@tool\nasync def act():\n    'Acts.'\n", "no return type"),
        ("@tool\nasync def act(x) -> None:\n    'Acts.'\n", "parameter 'x' has no type"),
        ("@tool\nasync def act(*x: int) -> None:\n    'Acts.'\n", "each has a name"),
        ("@tool\nasync def act(x: int = Field(5)) -> None:\n    'Acts.'\n", "Annotated"),
        ("@tool\nasync def act(x: Nowhere) -> None:\n    'Acts.'\n", "the type 'Nowhere' is not known"),
        ("class T: pass\n@tool\nasync def act(x: T) -> None:\n    'Acts.'\n", "no JSON schema"),
        ("class T(BaseModel):\n    t: list[T]\n@tool\nasync def act(x: T) -> None:\n    'A.'\n", "refers to itself"),
        (TOOL, "is in no preset"),
        (TOOL + "p = preset('other', tools=[act])\n", "must be named 'dice'"),
        (TOOL + "p = preset('dice', tools=[len])\n", "lists 'len', which is no tool"),
        (TOOL + "p = preset('dice', tools=[act, act])\n", "belongs into one"),
        (TOOL + "p = preset('dice', tools=[act])\nq = preset('dice', tools=[act])\n", "two presets"),
        (TOOL + "p = preset('dice', tools=[act], risk='wild')\n", "risk is one of normal"),
        (TOOL + "p = preset('dice', tools=[act], contexts=[{'mode': 'x'}])\n", "use 'activity'"),
        (TOOL.replace("@tool", "@tool(name='a' * 60)") + "p = preset('dice', tools=[act])\n", "cannot be offered"),
        (TOOL.replace("@tool", "@tool(name='a b')") + "p = preset('dice', tools=[act])\n", "cannot be offered"),
        ("f = context_facts(surface='x')", "the engine's own"),
        ("f = context_facts(a='x' * 300)", "not valid"),
        ("f = context_facts(a=1)\ng = context_facts(a=2)", "declared twice"),
        ("b = prompt_block('a', 'x')\nc = prompt_block('a', 'y')", "there twice"),
        ("b = prompt_block('a\\nb', 'x')", "line breaks"),
    ],
)
def test_what_cannot_be_a_contribution_is_refused_with_the_remedy(code: str, said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said):
        contribution_of(HEAD + code)


def test_a_reserved_name_is_refused() -> None:
    with pytest.raises(EngineError, match="space_run_code"):
        contribution_of(
            HEAD + "@tool\nasync def code() -> None:\n    'A.'\np = preset('run', tools=[code])\n", name="run"
        )


BLOCK = ContextBlock(id="a", role="system", content="A", order=1, source="builtin")


async def test_blocks_and_hooks_shape_a_prompt_and_one_that_fails_costs_nobody_a_prompt() -> None:
    log: list[str] = []
    made = contribution_of(
        HEAD
        + """
rules = prompt_block("rules", "Be fair.", order=5, title="Rules")
silent = prompt_block("silent", lambda: "")

@before_blocks
def reverse(blocks):
    return list(reversed(blocks))

@before_blocks
async def breaks(blocks):
    raise RuntimeError("broken")

@before_blocks
def wrong(blocks):
    return None

@before_context
def context(given):
    return 5

@before_generation
async def shout(messages):
    return [Message(one.role, one.content.upper()) for one in messages]
""",
        log=log,
    )
    assert made.block_ids == ("rules", "silent")
    assert made.hooks == ("before_context", "before_blocks", "before_generation")
    assert made.before_blocks is not None
    assert made.before_context is not None
    assert made.before_generation is not None
    blocks: Any = await made.before_blocks((BLOCK,))  # pyright: ignore
    assert [(one.id, one.content, one.source) for one in blocks] == [
        ("dice.rules", "Be fair.", "dice"),
        ("a", "A", "builtin"),
    ]
    context = AgentBlockContext(story=StoryMeta(id="s", name="S"))
    assert await made.before_context(context) is context  # pyright: ignore
    assert await made.before_generation((ContextMessage("user", "a"),)) == (ContextMessage("user", "A"),)  # pyright: ignore
    assert [line.partition("\n")[0] for line in log] == ["before_blocks failed; the prompt was made without it"] * 2 + [
        "before_context failed; the prompt was made without it"
    ]


async def test_a_hook_that_does_not_come_back_is_given_up(autojump_clock: object) -> None:
    log: list[str] = []
    code = "import trio\n@before_blocks\nasync def hangs(blocks):\n    await trio.sleep_forever()\n"
    made = contribution_of(HEAD + code, log=log)
    assert made.before_blocks is not None
    assert await made.before_blocks((BLOCK,)) == (BLOCK,)  # pyright: ignore
    assert "took more than 5 s" in log[0]


async def test_only_declared_facts_are_changed_by_a_tool() -> None:
    code = HEAD + (
        "f = context_facts(weather='dry')\n@tool\nasync def act(call: Call, name: str) -> None:\n    'A.'\n"
        "    await call.set_fact(name, 'wet')\np = preset('dice', tools=[act])\n"
    )
    made, app = contribution_of(code), MemoryApp()
    assert dict(made.facts) == {"weather": "dry"}
    await called(made, {"name": "weather"}, app)
    assert app.context.facts()["weather"] == "wet"
    with pytest.raises(ToolError, match="declares no fact 'surface'"):
        await called(made, {"name": "surface"}, app)
