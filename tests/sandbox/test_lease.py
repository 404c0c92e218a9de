"""What a program can do, and what its caller gets to know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import trio

from sandbox.lease import LeaseOverError
from sandbox.limits import RUN_CODE_LIMITS, SCRIPT_BLOCK_LIMITS, RunLimits
from sandbox.namespace import HostFunction, JsonValue, Namespace
from sandbox.result import LogLine, RunResult
from sandbox.runtime import CodeRuntime
from tests.sandbox.conftest import PATIENCE_SECONDS, SHORT, TOOLS, echo, lives, never, until

pytestmark = pytest.mark.slow


async def run(runtime: CodeRuntime, program: str, *spaces: Namespace, limits: RunLimits = SHORT) -> RunResult:
    with trio.fail_after(PATIENCE_SECONDS):
        async with runtime.lease(limits) as lease:
            return await lease.run(program, spaces or (TOOLS,))


async def test_a_program_gives_back_what_it_returns(runtime: CodeRuntime) -> None:
    value = {"a": [1, 2.5, None, True, "ü", {"__proto__": 1}], "b": {}}
    result = await run(runtime, "return data.value", Namespace("data", data={"value": value}))
    assert result.value == value
    assert result.error is None
    assert result.wall_seconds > 0


async def test_null_is_a_value_and_undefined_is_none(runtime: CodeRuntime) -> None:
    null, nothing = await run(runtime, "return null"), await run(runtime, "const a = 1")
    assert (null.value, null.has_value) == (None, True)
    assert (nothing.value, nothing.has_value) == (None, False)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("return {items: [1, 2, {at: new Date(0)}]}", "result.items[2].at is a Date; use .toISOString()"),
        ("return [1, undefined]", "result[1] is undefined; use null"),
        ("return {'a b': NaN}", 'result["a b"] is NaN; JSON has no such number, use null or a string'),
        ("return {m: new Map()}", "result.m is a Map; use Object.fromEntries(map) or [...map]"),
        ("return {p: tools.echo(1)}", "result.p is a Promise; await it"),
        ("return tools.echo", "result is a function; only data can leave the program"),
        ("return 1n", "result is a BigInt; use Number(x) or String(x)"),
        (
            "return new (class Point { x = 1 })()",
            "result is an instance of Point; give a plain object, for example {...x}",
        ),
        ("return new Uint8Array(2)", "result is a typed array; use Array.from(x)"),
        ("return {[Symbol('s')]: 1}", "result has a member named by a symbol; use a string"),
        ("const a = {}; a.b = [a]; return a", "result.b[0] refers back to what contains it; JSON has no cycles"),
        ("return new Error('x')", "result is an Error; use its .message"),
    ],
)
async def test_a_result_that_json_would_change_is_refused_where_it_is(
    runtime: CodeRuntime, program: str, message: str
) -> None:
    result = await run(runtime, program)
    assert result.error is not None
    assert (result.error.kind, result.error.message) == ("invalid-output", message)
    assert not result.has_value


async def test_members_that_are_undefined_are_left_out_and_shared_values_are_no_cycles(runtime: CodeRuntime) -> None:
    result = await run(runtime, "const a = [1]; return {a, b: a, c: undefined, d: -0, e: Object.create(null)}")
    assert result.value == {"a": [1], "b": [1], "d": 0, "e": {}}


async def test_an_error_has_its_place_in_the_program(runtime: CodeRuntime) -> None:
    program = "const a = {};\nfunction parse(x) {\n  return x.foo.bar;\n}\nreturn parse(a);"
    error = (await run(runtime, program)).error
    assert error is not None
    assert (error.kind, error.name) == ("exception", "TypeError")
    assert error.message == "Cannot read properties of undefined (reading 'bar')"
    assert (error.line, error.column, error.line_text) == (3, 16, "  return x.foo.bar;")
    assert error.frames == ("parse, line 3, column 16", "line 5, column 8")


async def test_the_first_line_counts_as_the_first(runtime: CodeRuntime) -> None:
    error = (await run(runtime, "null.x")).error
    assert error is not None
    assert (error.line, error.column) == (1, 6)


async def test_a_syntax_error_is_an_error_of_the_program(runtime: CodeRuntime) -> None:
    error = (await run(runtime, "const = 1")).error
    assert error is not None
    assert (error.kind, error.name, error.line) == ("exception", "SyntaxError", None)


async def test_what_a_function_refuses_is_the_named_error_at_the_call(runtime: CodeRuntime) -> None:
    program = """
try { await tools.fail('me') } catch (e) {
  console.log(e.name, e.toolName, e.message, e instanceof ToolCallError, e instanceof Error);
}
await tools.fail('again');
"""
    result = await run(runtime, program)
    assert [line.text for line in result.logs] == ["ToolCallError fail refused: me true true"]
    assert result.error is not None
    assert (result.error.name, result.error.message) == ("ToolCallError", "refused: again")
    assert (result.error.line, result.error.line_text) == (5, "await tools.fail('again');")


async def test_without_an_error_class_a_refusal_is_a_plain_error(runtime: CodeRuntime) -> None:
    space = Namespace("ctx", {"fail": TOOLS.functions["fail"]})
    assert (await run(runtime, "return await ctx.fail(1).catch(e => e.name)", space)).value == "Error"


async def test_a_function_named_proto_is_an_ordinary_one(runtime: CodeRuntime) -> None:
    program = "return [await tools['__proto__']({a: 1}), Object.keys(tools), Object.getPrototypeOf(tools)]"
    assert (await run(runtime, program)).value == [{"a": 1}, ["echo", "fail", "never", "__proto__"], None]


async def test_a_call_without_an_argument_gives_the_function_none(runtime: CodeRuntime) -> None:
    assert (await run(runtime, "return [await tools.echo(), await tools.echo(undefined)]")).value == [None, None]


async def test_data_is_frozen_to_its_leaves(runtime: CodeRuntime) -> None:
    program = """
const refused = f => { try { f(); return false } catch (e) { return e.name } };
return [refused(() => { ctx.list.push(1) }), refused(() => { ctx.list[0].a = 1 }), refused(() => { ctx.list = 1 })];
"""
    space = Namespace("ctx", data={"list": [{"a": 0}]})
    assert (await run(runtime, program, space)).value == ["TypeError"] * 3


async def test_classes_of_errors_and_methods_by_assignment_work_though_all_is_frozen(runtime: CodeRuntime) -> None:
    program = """
class E extends Error { constructor() { super('m'); this.name = 'E'; } }
const o = {};
o.toString = () => 'o';
const words = {};
for (const word of ['constructor', 'valueOf', 'hasOwnProperty', 'a', 'a']) {
  words[word] = Object.hasOwn(words, word) ? words[word] + 1 : 1;
}
return [String(new E()), String(o), words];
"""
    words = {"constructor": 1, "valueOf": 1, "hasOwnProperty": 1, "a": 2}
    assert (await run(runtime, program)).value == ["E: m", "o", words]


async def test_the_console_is_heard_line_by_line(runtime: CodeRuntime) -> None:
    heard: list[LogLine] = []
    async with runtime.lease(SHORT) as lease:
        program = "console.log('a', 1, {b: [2]}); console.warn(new TypeError('t')); console.debug(); console.error('e')"
        result = await lease.run(program, (), heard.append)
    assert tuple(heard) == result.logs
    assert [(line.level, line.text) for line in heard] == [
        ("log", "a 1 { b: [ 2 ] }"),
        ("warn", "TypeError: t"),
        ("debug", ""),
        ("error", "e"),
    ]


async def test_what_would_be_drawn_as_a_table_is_written_as_it_is(runtime: CodeRuntime) -> None:
    result = await run(runtime, "console.table([{a: 1}]); console.dir({b: 2}, {depth: 0})")
    assert [line.text for line in result.logs] == ["[ { a: 1 } ]", "{ b: 2 }"]


async def test_logs_are_cut_at_their_limit_without_an_error(runtime: CodeRuntime) -> None:
    limits = replace(SHORT, log_chars=10)
    result = await run(runtime, "console.log('1234'); console.log('567890'); console.log('x'); return 1", limits=limits)
    assert [line.text for line in result.logs] == ["1234", "56789"]
    assert result.logs_cut
    assert result.value == 1


async def test_errors_that_nobody_caught_are_logged_and_end_nothing(runtime: CodeRuntime) -> None:
    program = """
setTimeout(() => { throw new Error('late') });
Promise.reject(new Error('lost'));
await new Promise(r => setTimeout(r, 20));
return 1;
"""
    result = await run(runtime, program)
    assert result.value == 1
    assert {line.text for line in result.logs} == {"uncaught: Error: late", "uncaught: Error: lost"}


async def test_calls_that_nobody_waits_for_are_counted_and_cancelled(runtime: CodeRuntime) -> None:
    cancelled: list[JsonValue] = []

    async def slow(argument: JsonValue) -> JsonValue:
        try:
            await trio.sleep_forever()
        finally:
            cancelled.append(argument)
        return None

    result = await run(
        runtime,
        "tools.slow(1); tools.slow(2); await tools.echo(1); return 1",
        Namespace("tools", {"slow": slow, "echo": echo}),
    )
    assert (result.value, result.calls, result.calls_unawaited) == (1, 3, 2)
    assert sorted(map(str, cancelled)) == ["1", "2"]


async def test_calls_begin_in_order_run_at_once_up_to_the_limit_and_end_in_any_order(runtime: CodeRuntime) -> None:
    begun: list[JsonValue] = []
    at_once = most = 0

    async def work(argument: JsonValue) -> JsonValue:
        nonlocal at_once, most
        begun.append(argument)
        at_once += 1
        most = max(most, at_once)
        await trio.sleep(0.01 * (4 - int(str(argument)) % 4))
        at_once -= 1
        return argument

    program = """
const ended = [];
await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(i => tools.work(i).then(x => ended.push(x))));
return ended;
"""
    result = await run(runtime, program, Namespace("tools", {"work": work}), limits=replace(SHORT, parallel=4))
    assert begun == list(range(8))
    assert most == 4
    assert sorted(result.value) == begun  # type: ignore[type-var, arg-type]
    assert result.value != begun


async def test_a_function_that_was_taken_out_meanwhile_cannot_be_called(runtime: CodeRuntime) -> None:
    functions: dict[str, HostFunction] = {"echo": echo}

    async def remove(_: JsonValue) -> JsonValue:
        del functions["echo"]
        return None

    functions["remove"] = remove
    program = "await tools.remove(); return await tools.echo(1).catch(e => e.message)"
    assert (await run(runtime, program, Namespace("tools", functions))).value == "tools.echo is not there any more"


async def test_a_bug_in_a_host_function_comes_to_the_caller_as_itself(runtime: CodeRuntime) -> None:
    async def broken(_: JsonValue) -> JsonValue:
        raise KeyError("a bug")

    with trio.fail_after(PATIENCE_SECONDS):
        async with runtime.lease(SHORT) as lease:
            with pytest.raises(KeyError, match="a bug"):
                await lease.run("await tools.broken()", [Namespace("tools", {"broken": broken})])
            assert not lease.usable


async def test_a_host_function_that_gives_no_json_is_a_bug(runtime: CodeRuntime) -> None:
    async def broken(_: JsonValue) -> Any:
        return {1, 2}

    async with runtime.lease(SHORT) as lease:
        with pytest.raises(TypeError, match="not JSON serializable"):
            await lease.run("await tools.broken()", [Namespace("tools", {"broken": broken})])


async def test_a_listener_of_the_log_that_fails_harms_only_its_run(runtime: CodeRuntime) -> None:
    def listen(_: LogLine) -> None:
        raise KeyError("a bug")

    async with runtime.lease(SHORT) as lease:
        with pytest.raises(KeyError, match="a bug"):
            await lease.run("console.log(1); for (;;);", (), listen)
    assert (await run(runtime, "return 1")).value == 1


async def test_programs_run_one_after_the_other_in_one_process(runtime: CodeRuntime) -> None:
    async with runtime.lease(SCRIPT_BLOCK_LIMITS) as lease:
        results = [await lease.run(f"return ctx.n + {n}", [Namespace("ctx", data={"n": n})]) for n in range(30)]
        failed = await lease.run("throw new Error('x')")
        after = await lease.run("return 'still here'")
    assert [result.value for result in results] == [2 * n for n in range(30)]
    assert failed.error is not None
    assert after.value == "still here"


async def test_timers_of_a_program_end_with_it(runtime: CodeRuntime) -> None:
    async with runtime.lease(SHORT) as lease:
        await lease.run("globalThis.ticks = 0; setInterval(() => { ticks++ }, 1); return 1")
        before = await lease.run("return ticks")
        await trio.sleep(0.05)
        assert (await lease.run("return ticks")).value == before.value


async def test_a_host_function_may_run_another_program_in_the_same_lease(runtime: CodeRuntime) -> None:
    async with runtime.lease(SHORT) as lease:

        async def render(depth: JsonValue) -> JsonValue:
            assert isinstance(depth, int)
            if depth == 0:
                return "leaf"
            inner = await lease.run(f"return '(' + await ctx.render({depth - 1}) + ')'", [space])
            return inner.value

        space = Namespace("ctx", {"render": render})
        result = await lease.run(
            "const [a, b] = await Promise.all([ctx.render(3), ctx.render(1)]); return a + b", [space]
        )
    assert result.value == "(((leaf)))(leaf)"


async def test_a_nested_program_that_must_be_killed_takes_the_outer_one_along_and_both_say_why(
    runtime: CodeRuntime,
) -> None:
    inner: list[RunResult] = []
    async with runtime.lease(SHORT) as lease:

        async def render(_: JsonValue) -> JsonValue:
            inner.append(await lease.run("for (;;);"))
            return None

        outer = await lease.run("await ctx.render()", [Namespace("ctx", {"render": render})])
        assert not lease.usable
        with pytest.raises(LeaseOverError):
            await lease.run("return 1")
    assert outer.error is not None
    assert outer.error.kind in ("cpu-limit", "worker-exit")  # both have used the processor for as long
    if inner:
        assert inner[0].error is not None


async def test_a_function_that_wants_another_program_too_late_does_not_hide_why_the_first_one_ended(
    runtime: CodeRuntime,
) -> None:
    async with runtime.lease(replace(SHORT, wall_seconds=0.1)) as lease:

        async def late(_: JsonValue) -> JsonValue:
            with trio.CancelScope(shield=True):
                await trio.sleep(0.2)
            return (await lease.run("return 1")).value

        result = await lease.run("await ctx.late()", [Namespace("ctx", {"late": late})])
    assert result.error is not None
    assert result.error.kind == "timeout"


async def test_two_leases_share_nothing(runtime: CodeRuntime) -> None:
    async with runtime.lease(SHORT) as one, runtime.lease(SHORT) as other:
        await one.run("globalThis.secret = 1")
        assert (await one.run("return typeof secret")).value == "number"
        assert (await other.run("return typeof secret")).value == "undefined"
        assert one.runner.process_id != other.runner.process_id


async def test_a_cancelled_run_ends_its_process_at_once(runtime: CodeRuntime) -> None:
    with trio.fail_after(PATIENCE_SECONDS):
        async with runtime.lease(replace(RUN_CODE_LIMITS)) as lease:
            started = trio.current_time()
            with trio.move_on_after(0.1) as scope:
                await lease.run("for (;;);", [TOOLS])
            assert scope.cancelled_caught
            assert trio.current_time() - started < 2
            assert not lease.usable
        await until(lambda: not lives(lease.runner.process_id))


async def test_a_lease_that_is_left_while_a_program_runs_ends_it(runtime: CodeRuntime) -> None:
    results: list[RunResult] = []
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery, runtime.lease(SHORT) as lease:

            async def wait() -> None:
                results.append(await lease.run("await tools.never()", [TOOLS]))

            nursery.start_soon(wait)
            await trio.sleep(0.05)
    assert results[0].error is not None
    assert results[0].error.kind == "abort"
    with pytest.raises(LeaseOverError):
        await lease.run("return 1")


async def test_the_wall_clock_stands_still_while_the_lease_is_paused(runtime: CodeRuntime) -> None:
    async with runtime.lease(replace(SHORT, wall_seconds=0.3)) as lease:

        async def ask(_: JsonValue) -> JsonValue:
            with lease.paused(), lease.paused():
                await trio.sleep(0.5)
            return "yes"

        space = Namespace("user", {"ask": ask})
        result = await lease.run("return await user.ask()", [space])
        assert result.value == "yes"
        assert result.wall_seconds < 0.3
        late = await lease.run("await user.ask(); await new Promise(() => {})", [space])
    assert late.error is not None
    assert late.error.kind == "timeout"


@pytest.mark.parametrize(
    ("limit", "program", "kind", "message"),
    [
        (
            {"wall_seconds": 0.2},
            "await tools.never()",
            "timeout",
            "the program took longer than 0.2 seconds (wall_seconds)",
        ),
        (
            {"cpu_seconds": 0.2, "wall_seconds": 9.0},
            "for (;;);",
            "cpu-limit",
            "the program used more than 0.2 seconds of processor time (cpu_seconds)",
        ),
        (
            {"heap_bytes": 32 * 1024**2, "cpu_seconds": 5.0, "wall_seconds": 9.0},
            "const a = []; for (;;) a.push({a: [1]})",
            "memory-limit",
            "out of memory: a program has 32 MiB of heap (heap_bytes) and 400 MiB in all (memory_bytes)",
        ),
        (
            {"calls": 7},
            "for (let i = 0; i < 8; i++) await tools.echo(i)",
            "call-limit",
            "the program made more than 7 calls (calls)",
        ),
        (
            {"value_bytes": 100},
            "return 'x'.repeat(99)",
            "output-limit",
            "the result is larger than 100 bytes (value_bytes); return less",
        ),
        (
            {"program_bytes": 10},
            "return 'abcdef'",
            "program-limit",
            "the program has 15 bytes, and at most 10 are run (program_bytes)",
        ),
    ],
)
async def test_each_limit_ends_the_run_with_an_error_that_names_it(
    runtime: CodeRuntime, limit: Mapping[str, Any], program: str, kind: str, message: str
) -> None:
    error = (await run(runtime, program, limits=replace(SHORT, **limit))).error
    assert error is not None
    assert (error.kind, error.message) == (kind, message)


async def test_as_many_calls_as_allowed_are_no_error(runtime: CodeRuntime) -> None:
    program = "for (let i = 0; i < 7; i++) await tools.echo(i); return 'x'"
    assert (await run(runtime, program, limits=replace(SHORT, calls=7))).value == "x"


async def test_an_argument_that_is_too_large_is_refused_in_the_program(runtime: CodeRuntime) -> None:
    result = await run(
        runtime,
        "return await tools.echo('x'.repeat(200)).catch(e => e.message)",
        limits=replace(SHORT, value_bytes=100),
    )
    assert result.value == "tools.echo: the argument is larger than 100 bytes (value_bytes)"


async def test_a_value_of_too_many_values_is_refused_with_the_limit(runtime: CodeRuntime) -> None:
    program = "const e = await tools.echo([[1, 2], 3]).catch(e => e.message); console.log(e); return {a: [1, 2, 3]}"
    result = await run(runtime, program, limits=replace(SHORT, values=4))
    count = "has more than 4 values (values): count each number, text, array and object in it"
    assert [line.text for line in result.logs] == [f"tools.echo: the argument {count}"]
    assert result.error is not None
    assert (result.error.kind, result.error.message) == ("output-limit", f"the result {count}; return less")


async def test_timers_take_every_delay_as_browsers_do(runtime: CodeRuntime) -> None:
    program = """
const order = [];
const soon = [-1, NaN, -Infinity, undefined, null, 'x', {}, '1'];
await Promise.all(soon.map(delay => new Promise(done => setTimeout(done, delay))));
for (const delay of soon) {
  await new Promise(done => { const id = setInterval(() => { clearInterval(id); done() }, delay) });
}
for (const delay of [Infinity, 2 ** 31, 2 ** 40, 1e300]) setTimeout(() => order.push('late'), delay);
await new Promise(done => setTimeout(done, 20));
return order;
"""
    result = await run(runtime, program)
    assert (result.value, result.error) == ([], None)


async def test_a_program_may_declare_a_name_that_it_was_given(runtime: CodeRuntime) -> None:
    program = "const tools = {a: 1}; const console = 2; class ToolCallError {}\nreturn [tools.a, console, null.x]"
    error = (await run(runtime, program)).error
    assert error is not None
    assert (error.name, error.line) == ("TypeError", 2)


async def test_an_import_is_refused_where_it_stands_and_the_word_elsewhere_is_not(runtime: CodeRuntime) -> None:
    program = "const s = 'import (a)'; // import(b)\nconst o = {import: `import(${s.length})`};\n"
    assert (await run(runtime, f"{program}return [s, o.import, /import(x)/.source]")).value == [
        "import (a)",
        "import(10)",
        "import(x)",
    ]
    error = (await run(runtime, f"{program}return  import('node:sqlite')")).error
    assert error is not None
    assert (error.name, error.line, error.column) == ("SyntaxError", 3, 9)
    assert "cannot import anything" in error.message


async def test_a_parameter_of_a_body_is_a_name_and_no_code(runtime: CodeRuntime) -> None:
    space = Namespace("own", bodies={"body": "return a"})
    assert (await run(runtime, "return await own.body('a')(1)", space)).value == 1
    for name in ("'a = import(`node:sqlite`)'", "'a, b'", "{toString: () => 'a'}", "'a) { return 1 } /*'"):
        error = (await run(runtime, f"return await own.body({name})(1)", space)).error
        assert error is not None
        assert (error.name, error.message) == ("TypeError", "a parameter is a name")
    error = (await run(runtime, "return 1", Namespace("own", bodies={"body": "return import('node:fs')"}))).error
    assert error is None


async def test_what_made_code_of_text_still_says_what_a_function_is(runtime: CodeRuntime) -> None:
    program = """
const f = async () => {};
return [f.constructor.name, f instanceof Function, (() => {}).constructor === Function];
"""
    assert (await run(runtime, program)).value == ["AsyncFunction", True, True]
    error = (await run(runtime, "return eval('1')")).error
    assert error is not None
    assert (error.name, error.message) == ("EvalError", "eval is closed: a program cannot make code out of text")


async def test_large_values_pass_both_ways(runtime: CodeRuntime) -> None:
    program = "const big = await tools.echo('x'.repeat(3e6)); return big"
    assert (
        await run(runtime, program, limits=replace(SHORT, cpu_seconds=5.0, wall_seconds=9.0))
    ).value == "x" * 3_000_000


def test_names_that_a_program_cannot_have_are_refused() -> None:
    for name in ("", "a b", "class", "console", "1a", "globalThis"):
        with pytest.raises(ValueError, match="cannot be a name"):
            Namespace(name)
    with pytest.raises(ValueError, match="has a member"):
        Namespace("tools", error=("ToolCallError", "message"))
    with pytest.raises(ValueError, match="both a function and data"):
        Namespace("tools", {"a": never}, {"a": 1})


async def test_two_namespaces_of_one_name_are_misuse(runtime: CodeRuntime) -> None:
    async with runtime.lease(SHORT) as lease:
        with pytest.raises(ValueError, match="two things named tools"):
            await lease.run("return 1", [TOOLS, Namespace("tools")])
        with pytest.raises(ValueError, match="JSON compliant"):
            await lease.run("return 1", [Namespace("data", data={"x": float("nan")})])
        assert (await lease.run("return 1")).value == 1
