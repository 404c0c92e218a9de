"""Script blocks in the code runtime: what they give, what they can use, and what stops them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import trio

from actors.script_blocks import script_evaluator
from blocks.apply import apply_block_config
from blocks.block import ContextBlock
from blocks.compile import compile_blocks
from blocks.config import BlockConfig
from blocks.fragment import Fragment, FragmentList
from blocks.json_value import Json
from blocks.script import ScriptFailure, ScriptOther, ScriptOutcome, ScriptText
from sandbox.limits import SCRIPT_BLOCK_LIMITS, RunLimits
from sandbox.runtime import CodeRuntime
from tests.blocks.recorded import block_json, blocks, cases, messages_json
from tests.blocks.stories import MARA, OREN, ROAD

pytestmark = pytest.mark.slow

SHORT = replace(SCRIPT_BLOCK_LIMITS, wall_seconds=0.5, cpu_seconds=0.3)
PATIENCE_SECONDS = 20.0
FRAGMENTS = FragmentList([MARA, OREN.model_copy(update={"archived": True}), ROAD])


@pytest.fixture
async def runtime(nursery: trio.Nursery) -> CodeRuntime:
    made = CodeRuntime(spares=0)
    await nursery.start(made.run)
    return made


async def evaluated(
    runtime: CodeRuntime, *bodies: str, context: Mapping[str, Json] | None = None, limits: RunLimits = SHORT
) -> list[ScriptOutcome]:
    """The outcomes of scripts of one rendering."""
    with trio.fail_after(PATIENCE_SECONDS):
        async with script_evaluator(runtime, FRAGMENTS, limits) as evaluator:
            return [await evaluator.evaluate(body, context or {}) for body in bodies]


def shown(block: ContextBlock, expected: Mapping[str, Any]) -> dict[str, Any]:
    """The block as the case records it: where the engine words an error, only how its content begins and ends."""
    raw = block_json(block)
    if "content_prefix" in expected:
        content = raw.pop("content")
        raw["content_prefix"] = content[: len(expected["content_prefix"])]
        raw["content_suffix"] = content[len(content) - len(expected["content_suffix"]) :]
    return raw


@cases("apply_script_blocks")
async def test_recorded(runtime: CodeRuntime, case: dict[str, Any]):
    given, expected = case["input"], case["expected"]
    fragments = FragmentList([Fragment.from_json(raw) for raw in given["fragments"]])
    config = BlockConfig.from_json(given["config"])
    with trio.fail_after(PATIENCE_SECONDS):
        async with script_evaluator(runtime, fragments) as evaluator:
            applied = await apply_block_config(blocks(given["blocks"]), config, given["context"], evaluator)
    assert [shown(*pair) for pair in zip(applied.blocks, expected["blocks"], strict=True)] == expected["blocks"]
    if "messages" in expected:
        assert messages_json(compile_blocks(applied.blocks)) == expected["messages"]


async def test_each_script_has_a_copy_of_its_own(runtime: CodeRuntime):
    context: dict[str, Json] = {"list": [3, 1, 2], "story": {"name": "Salt"}}
    spoil = "ctx.list.sort(); ctx.story.name = 'spoilt'; ctx.getFragment = 5; ctx.more = 1; return ctx.list.join()"
    look = "return [ctx.list, ctx.story.name, typeof ctx.getFragment, ctx.more].join()"
    assert await evaluated(runtime, spoil, look, context=context) == [
        ScriptText("1,2,3"),
        ScriptText("3,1,2,Salt,function,"),
    ]
    assert context == {"list": [3, 1, 2], "story": {"name": "Salt"}}


async def test_what_is_no_text_is_named(runtime: CodeRuntime):
    bodies = (
        "return 4",
        "return null",
        "return [1]",
        "return {a: 1}",
        "return () => 1",
        "",
        "return 1n",
        "return Symbol()",
    )
    outcomes = await evaluated(runtime, *bodies)
    assert outcomes == [
        ScriptOther(what)
        for what in ("a number", "null", "an array", "an object", "a function", "nothing", "a bigint", "a symbol")
    ]


@pytest.mark.parametrize(
    "body",
    [
        "throw Object.create(null)",
        "throw {toString() { throw 1 }}",
        "throw new Proxy({}, {getPrototypeOf() { throw 1 }, get() { throw 2 }})",
        "throw Symbol('x')",
    ],
)
async def test_what_cannot_be_turned_into_text_fails_that_block_alone(runtime: CodeRuntime, body: str):
    failed, fine = await evaluated(runtime, body, "return 'fine'")
    assert isinstance(failed, ScriptFailure)
    assert fine == ScriptText("fine")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("for (;;);", "processor time|longer than"),
        ("await new Promise(() => {})", "longer than 0.5 seconds"),
        ("const all = []; for (;;) all.push(new Array(1e6).fill(0))", "memory|processor time"),
        ("for (;;) await ctx.getFragment('ch-mara')", "calls|longer than|processor time|too much"),
        ("return 'x'.repeat(1e6)", "too much text"),
        (f"return '{'x' * 70_000}'", "at most 65,536"),
    ],
    ids=["loop", "never settles", "memory", "calls", "output", "size"],
)
async def test_a_script_beyond_a_limit_fails_alone_and_the_next_one_runs(runtime: CodeRuntime, body: str, said: str):
    failed, fine = await evaluated(runtime, body, "return 'fine'")
    assert isinstance(failed, ScriptFailure)
    assert any(word in failed.message for word in said.split("|")), failed.message
    assert fine == ScriptText("fine")
    assert runtime.status().leases == 0


@pytest.mark.parametrize(
    "body",
    [
        "return process.env.HOME",
        "return Deno.env.get('HOME')",
        "return (await fetch('http://127.0.0.1')).text()",
        "return String(await import('node:fs'))",
        "} return 'out'; {",
        "return host.body",
        "return (await host.body())",
        "return data",
    ],
)
async def test_a_script_reaches_nothing_but_ctx(runtime: CodeRuntime, body: str):
    (outcome,) = await evaluated(runtime, body)
    assert isinstance(outcome, ScriptFailure)


async def test_what_one_rendering_leaves_behind_the_next_one_does_not_see(runtime: CodeRuntime):
    assert await evaluated(runtime, "left = 1; globalThis.more = 2; return 'x'") == [ScriptText("x")]
    assert await evaluated(runtime, "return typeof left + typeof more") == [ScriptText("undefinedundefined")]


async def test_fragments_are_found_by_id_type_and_tag_and_an_id_that_is_none_finds_nothing(runtime: CodeRuntime):
    bodies = (
        "return (await ctx.getFragment('ch-oren')).archived ? 'archived' : 'live'",
        "return (await Promise.all(['../../meta', 5, null, undefined, {}].map(ctx.getFragment))).join('|')",
        "return (await ctx.getFragments()).map(f => f.id).join()",
        "return (await ctx.getFragments('knowledge')).map(f => f.id).join()",
        "return String((await ctx.getFragmentsByTag('x')).length) + await ctx.getFragmentByTag('x')",
    )
    assert await evaluated(runtime, *bodies) == [
        ScriptText("archived"),
        ScriptText("||||"),
        ScriptText("ch-mara,kn-road"),
        ScriptText("kn-road"),
        ScriptText("0null"),
    ]


async def test_no_process_is_started_for_a_rendering_without_scripts(runtime: CodeRuntime):
    async with script_evaluator(runtime, FRAGMENTS):
        pass
    assert runtime.status().leases_taken == 0


async def test_scripts_of_one_rendering_share_a_lease(runtime: CodeRuntime):
    await evaluated(runtime, *["return 'x'"] * 5)
    assert runtime.status().leases_taken == 1


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("throw new Error('bad')", 1),
        ("const a = 1;\nfunction f() {\n  null.x;\n}\nf();", 3),
        ("\nreturn await (async () => { await 0; throw new TypeError('late') })();", 2),
        ("const a = 1;\nconst b = ;\nreturn a;", 2),
        ("f(1,\n  2\n  3)", 3),
        ("return `one\ntwo ${1 +}\n`;", 2),
        ("throw 7", None),
        ("while (true) {}", None),
    ],
)
async def test_a_failure_says_the_line_of_the_script_where_one_is_known(
    runtime: CodeRuntime, body: str, line: int | None
):
    [failed] = await evaluated(runtime, body)
    assert isinstance(failed, ScriptFailure)
    assert failed.line == line


async def test_where_nothing_can_run_scripts_each_of_them_fails_saying_why():
    runtime = CodeRuntime(spares=0, environment={"PATH": "", "SPACE_DENO": "/nowhere/deno"})
    outcomes = await evaluated(runtime, "return 'x'", "return 'y'")
    assert all(isinstance(one, ScriptFailure) and "scripts cannot be run" in one.message for one in outcomes)


async def test_cancelling_an_evaluation_leaves_no_process(runtime: CodeRuntime):
    async with script_evaluator(runtime, FRAGMENTS, SHORT) as evaluator:
        with trio.move_on_after(0.2):
            await evaluator.evaluate("await new Promise(() => {})", {})
    with trio.fail_after(PATIENCE_SECONDS):
        while runtime.status().runners:  # noqa: ASYNC110 - the end of a process has no event here
            await trio.sleep(0.01)


async def test_scripts_of_one_rendering_do_not_see_what_one_before_left_in_globals(runtime: CodeRuntime):
    bodies = (
        "left = 1; globalThis.more = 2; JSON = {parse: () => ({})}; Map = Error = 5; delete globalThis.Set; return 'x'",
        "return [typeof left, typeof more, typeof JSON.stringify, typeof Map, typeof Set, ctx.name].join()",
    )
    outcomes = await evaluated(runtime, *bodies, context={"name": "The Long Road"})
    assert outcomes[1] == ScriptText("undefined,undefined,function,function,function,The Long Road")
    assert runtime.status().leases_taken == 1


async def test_after_a_script_that_left_a_global_for_good_the_next_one_has_a_process_of_its_own(runtime: CodeRuntime):
    body = "Object.defineProperty(globalThis, 'left', {value: 1}); return 'x'"
    assert await evaluated(runtime, body, "return typeof left") == [ScriptText("x"), ScriptText("undefined")]
    assert runtime.status().leases_taken == 2


async def test_all_scripts_of_a_rendering_share_their_time(runtime: CodeRuntime):
    never = "await new Promise(() => {})"
    started = trio.current_time()
    async with script_evaluator(runtime, FRAGMENTS, SHORT, seconds=0.8) as evaluator:
        outcomes = [await evaluator.evaluate(never, {}) for _ in range(4)]
        fine = await evaluator.evaluate("return 'fine'", {})
    assert trio.current_time() - started < 0.8 + PATIENCE_SECONDS
    assert all(isinstance(one, ScriptFailure) for one in outcomes)
    assert isinstance(fine, ScriptFailure)
    assert "took the 0.8 seconds that they have" in fine.message
    assert runtime.status().leases == 0
