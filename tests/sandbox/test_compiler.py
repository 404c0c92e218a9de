"""The compiler with its real processes: what it finds, what it gives, and that no text stops it."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from statistics import median

import pytest
import trio
import trio.testing

from sandbox.compiler import Compiled, Compiler, CompilerClosedError, render_problems, seconds_of_checks
from sandbox.compiler_imports import NO_IMPORTS
from sandbox.deno import DENO_VARIABLE, DenoMissingError

pytestmark = pytest.mark.slow

PATIENCE_SECONDS = 60.0
"""After which a test is given up."""

MEDIAN_SECONDS = 0.025
"""What a check may take when the processes are warm. On an idle machine it takes a third of that."""

ROUNDS = 8
"""Of checks that are timed, at most."""

DECLARATIONS = """\
type JsonValue = any;
declare class ToolCallError extends Error {
  readonly toolName: string;
}
interface Tools {
  find(args: { query: string; kind?: "old" | "new" | "import"; at?: [number, number] }): Promise<{ items: Item[] }>;
  "odd-name"(args?: Record<string, never>): Promise<any>;
}
type Item = { id: number; title?: string };
declare const tools: Tools;
"""


@asynccontextmanager
async def running(compiler: Compiler) -> AsyncGenerator[Compiler]:
    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(lambda task_status: compiler.run(task_status=task_status))
            yield compiler
            nursery.cancel_scope.cancel()


@pytest.fixture
async def compiler(nursery: trio.Nursery) -> Compiler:
    made = Compiler()
    await nursery.start(lambda task_status: made.run(task_status=task_status))
    return made


async def compiled(compiler: Compiler, program: str, declarations: str = DECLARATIONS) -> Compiled:
    with trio.fail_after(PATIENCE_SECONDS):
        return await compiler.compile(program, declarations)


def codes(made: Compiled) -> list[int]:
    return [problem.code for problem in made.problems]


def gone(pid: int | None) -> bool:
    return pid is not None and not Path(f"/proc/{pid}").exists()


async def test_a_program_without_mistakes_loses_its_types_and_keeps_its_places(compiler: Compiler) -> None:
    program = "const found: Item[] = (await tools.find({ query: 'x' })).items;\nreturn found.map((item) => item.id!);"
    made = await compiled(compiler, program)
    assert (made.problems, made.notes) == ((), ())
    assert made.javascript is not None
    assert [len(line) for line in made.javascript.split("\n")] == [len(line) for line in program.split("\n")]
    assert "const found         = (await tools" in made.javascript


async def test_mistakes_are_found_with_their_places_and_what_was_meant(compiler: Compiler) -> None:
    program = "const a = 1;\nconst { items } = await tools.find({ qury: 'x' });\nreturn items[0].titel"
    made = await compiled(compiler, program)
    assert made.javascript is None
    assert codes(made) == [2561, 2551]
    assert render_problems(made.problems).startswith("line 2, column 38: Object literal may only specify known")
    assert "Did you mean to write 'query'?\n  2 | const { items } = await tools.find({ qury" in render_problems(
        made.problems
    )
    assert (made.problems[1].line, made.problems[1].column) == (3, 17)


@pytest.mark.parametrize(
    ("program", "code"),
    [
        ("const a = ;", 1109),
        ("return tools.fnd({ query: 'x' })", 2551),
        ("return tools.find()", 2554),
        ("return tools.find({})", 2345),
        ("return tools.find({ query: 1 })", 2322),
        ("return tools.find({ query: 'x', kind: 'od' })", 2322),
        ("return (await tools.find({ query: 'x' })).idx", 2339),
        ("return fetch('https://space.example')", 2304),
        ("return process.env", 2591),
        ("return Deno.args", 2304),
        ("return await tools['odd-name']({ a: 1 })", 2322),
        ("return await tools['odd-nam']()", 2551),
        ("return await tools['no such tool']()", 7053),
        ("enum Kind { a }\nreturn Kind.a", 0),
        ("const a: { b: 1\n", 1005),
        ("}\nfoo(); async function g() {", 2304),
    ],
)
async def test_what_is_nearly_always_a_mistake_stops_the_program(compiler: Compiler, program: str, code: int) -> None:
    made = await compiled(compiler, program)
    assert made.javascript is None
    assert codes(made)[0] == code


@pytest.mark.parametrize(
    "program",
    [
        "let kind = 'old'; const args = { query: 'x', kind, at: [1, 2] }; return tools.find(args)",
        "const [first] = (await tools.find({ query: 'x' })).items; return first.title.length",
        "const counts = {}; counts.a = 1; counts.b = counts.a + 1; return counts",
        "const args = { query: 'x' }; args.kind = 'old'; return tools.find(args)",
        "const all = await Promise.allSettled([tools.find({ query: 'x' })]); return all[0].value ?? all[0].reason",
        "const [first] = (await tools.find({ query: 'x' })).items; return tools.find({ query: first.title })",
    ],
)
async def test_what_may_be_right_is_a_note(compiler: Compiler, program: str) -> None:
    made = await compiled(compiler, program)
    assert made.problems == ()
    assert made.javascript == program
    assert made.notes[0].startswith("note: line 1, column ")


@pytest.mark.parametrize(
    "program",
    [
        "try { await tools.find({ query: 'x' }) } catch (e) { if (e instanceof ToolCallError) return e.toolName }",
        "function add(a, b) { return a + b }\nreturn add(1, 2)",
        "const bytes = new TextEncoder().encode('a'); return [...new URLSearchParams('a=1')].length + bytes.length",
        "await new Promise((done) => setTimeout(done, 5)); return structuredClone({ a: crypto.randomUUID() })",
        "return Object.groupBy([1, 2], (n) => n % 2 ? 'odd' : 'even').odd!.toSorted().at(-1)",
        "return tools.find({ query: 'import x from y', kind: 'import' })",
        "return (await tools['odd-name']()).anything.at.all",
        "const a = [], m = {}; for (const k of ['a']) { m[k] = 1; a.push({ k }) }\nreturn [m, a.map((x) => x.k)]",
        "let best = null; for (const n of [1, 2]) if (best === null || n > best) best = n;\nreturn best ?? 0",
        "let next; do { const page = await tools['odd-name'](); next = page.next } while (next); return next",
        "return [1].reduce((sum, n) => { (sum[n] ||= []).push(n); return sum }, {})",
        "const m = new Map(); m.set('a', 1); for (const [k, v] of m) console.log(k, v.x)",
        "for (const n of [1, 2]) console.log(n, Math.max(n, 1));",
    ],
)
async def test_what_a_program_may_do_is_no_problem(compiler: Compiler, program: str) -> None:
    made = await compiled(compiler, program)
    assert (made.problems, made.notes) == ((), ())
    assert made.javascript is not None


async def test_a_name_that_is_given_may_be_declared_again(compiler: Compiler) -> None:
    made = await compiled(compiler, "const tools = { a: 1 }; return tools.a")
    assert (made.problems, made.notes) == ((), ())


async def test_an_import_is_refused_where_it_stands_though_the_check_is_skipped(compiler: Compiler) -> None:
    made = await compiled(compiler, "// @ts-nocheck\nreturn await import('node:sqlite')")
    assert [(problem.line, problem.message) for problem in made.problems] == [(2, NO_IMPORTS)]


async def test_a_first_line_skips_the_check_but_not_the_syntax(compiler: Compiler) -> None:
    assert (await compiled(compiler, "// @ts-nocheck\nreturn nothing.here")).problems == ()
    assert codes(await compiled(compiler, "// @ts-nocheck\nreturn (;")) == [1109]


async def test_a_wrapped_program_keeps_its_places(compiler: Compiler) -> None:
    made = await compiled(compiler, "```ts\nasync () => {\n  return tools.fnd();\n}\n```")
    assert [(problem.line, problem.column) for problem in made.problems] == [(3, 16)]


@pytest.mark.parametrize(
    "program",
    [
        "import fs from 'node:fs';\nreturn 1",
        "return (await import('https://space.example/x.js')).default",
        "}\nexport const x = 1; async function g() {",
    ],
)
async def test_an_import_is_refused_in_words(compiler: Compiler, program: str) -> None:
    made = await compiled(compiler, program)
    assert made.javascript is None
    assert made.problems[0].message == NO_IMPORTS


@pytest.mark.parametrize(
    "template",
    [
        "const read = await import('{}', {{ with: {{ type: 'json' }} }}); const n: number = read.default; return n",
        "const n: typeof import('{}') = 1; return n",
        "}}\nimport read from '{}' with {{ type: 'json' }}; const n: number = read; async function g() {{",
        "}}\n/// <reference path='{}' />\nexport * from '{}'; async function g() {{",
        "const require = (x: string): any => x; const n: number = require('{}'); return n",
        "const n: typeof require('{}') = 1; return n",
        "import n = require('{}'); const m: number = n; return m",
        "/** @import {{ a }} from '{}' */\n/** @type {{import('{}').a}} */ const n: number = ''; return n",
        "/// <reference types='{}' />\n/// <REFERENCE path='{}' />\n// @ts-types='{}'\n// @deno-types='{}'\nreturn 1",
        "/** @jsxImportSource '{}' */ /** @jsximportsource '{}' */ return 1",
        "const read = await ²import('{}'); const n: number = read.default; return n",
        "const read = await \\u0069mport('{}'); const n: number = read.default; return n",
    ],
)
async def test_no_file_shows_in_what_the_checker_says(compiler: Compiler, tmp_path: Path, template: str) -> None:
    secret = tmp_path / "secret.json"
    secret.write_text('{"password_of_the_house": "xyzzy"}', encoding="utf-8")
    made = await compiled(compiler, template.replace("'{}'", f"'{secret.as_uri()}'").format())
    said = render_problems(made.problems) + " ".join(made.notes)
    assert "password_of_the_house" not in said
    assert "xyzzy" not in said


@pytest.mark.parametrize(
    "template",
    [
        "const require = (x: string): any => x; const j = require('{}'); const n: number = j; return n",
        "const n: typeof require('{}') = 1; return n",
        "import n = require('{}'); return n",
        "// @ts-nocheck\nreturn require('{}')",
        "/** @type {{import('{}').a}} */ const n: number = ''; return n",
        "/// <reference path='{}' />\n// @deno-types='{}'\nconst n: number = ''; return n",
    ],
)
async def test_whether_a_file_exists_does_not_show(compiler: Compiler, template: str) -> None:
    # Of its own folder, which is all that the checker can read where the system has walls.
    there = await compiled(compiler, template.format("./strip.js", "./strip.js"))
    absent = await compiled(compiler, template.format("./where.js", "./where.js"))
    assert str(there).replace("strip.js", "where.js") == str(absent)


TYPE_RECURSION = """\
type Grow<N extends number, A extends any[] = []> = A["length"] extends N ? A : Grow<N, [...A, 1]>;
type Deep<T extends any[]> = T extends [infer H, ...infer R] ? Deep<[...R, H, H]> : T;
let a: Grow<9999> = 1; let b: Deep<[1, 2, 3]> = 1;
return 1"""


@pytest.mark.parametrize(
    "program",
    [
        "return " + "(" * 20_000 + "1" + ")" * 20_000,
        "return " + "!" * 60_000 + "1",
        "return " + "a?b:" * 16_000 + "c",
        "return " + "1+" * 30_000 + "1",
        "let t: " + "keyof " * 10_000 + "any; return t",
        "x".join("{[(" * 80),
        "\ud800 \x00 \u2028 `",
        "return 1" + " " * 65_000,
        "return " + "9" * 1_000_000,
        TYPE_RECURSION,
        "const x = [" + "{a:1,b:'x'}," * 5_000 + "]; return x",
    ],
    ids=range(11),
)
async def test_hostile_text_is_answered_and_the_next_program_is_checked_again(compiler: Compiler, program: str) -> None:
    await compiler.warm()
    with trio.fail_after(10):
        made = await compiler.compile(program, DECLARATIONS)
    assert made.javascript is not None or made.problems
    after = await compiled(compiler, "return tools.fnd({ query: 'x' })")
    assert codes(after) == [2551]
    assert len(str(made)) < 200_000


async def test_a_check_that_takes_too_long_is_given_up_and_said(compiler: Compiler) -> None:
    made = await compiled(compiler, TYPE_RECURSION)
    assert made.javascript is not None
    assert made.notes[0].startswith("note: not type-checked: ")
    assert compiler.status().killed_checks == 1


async def test_a_program_that_is_too_large_is_refused_with_its_size(compiler: Compiler) -> None:
    made = await compiled(compiler, "é" * 40_000)
    assert made.problems[0].message == "the program has 80000 bytes; at most 65536 can be compiled"
    assert compiler.status().starts == 0


async def test_nothing_is_started_before_the_first_need(compiler: Compiler) -> None:
    assert compiler.status().checker_pid is None
    await compiler.warm()
    assert compiler.status().starts == 2


async def test_two_callers_at_once_are_served_in_order(compiler: Compiler) -> None:
    served: list[int] = []

    async def ask(number: int) -> None:
        made = await compiled(compiler, f"const n: string = {number};\nreturn tools.find({{ query: n }})")
        assert "'number'" in made.problems[0].message
        served.append(number)

    async with trio.open_nursery() as callers:
        for number in range(8):
            callers.start_soon(ask, number)
            await trio.testing.wait_all_tasks_blocked()
    assert served == list(range(8))


async def test_a_caller_that_is_cancelled_leaves_the_others_alone(compiler: Compiler) -> None:
    await compiler.warm()
    with trio.move_on_after(0.05) as scope:
        await compiler.compile(TYPE_RECURSION, DECLARATIONS)
    assert scope.cancelled_caught
    assert codes(await compiled(compiler, "return tools.fnd()")) == [2551]


async def test_processes_that_were_killed_are_replaced(compiler: Compiler) -> None:
    await compiler.warm()
    before = compiler.status()
    for pid in (before.checker_pid, before.stripper_pid):
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
    made = await compiled(compiler, "return tools.fnd()")
    again = await compiled(compiler, "return tools.fnd()")
    # The death may be noticed only when it is asked for something: then that one goes unchecked, and says so.
    assert codes(made) == [2551] or made.notes
    assert codes(again) == [2551]
    assert gone(before.checker_pid)
    assert gone(before.stripper_pid)


async def test_a_checker_that_dies_at_a_program_is_asked_once_more(compiler: Compiler) -> None:
    await compiler.warm()
    pid = compiler.status().checker_pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)  # so that it dies after it was found alive
    async with trio.open_nursery() as nursery:
        nursery.start_soon(kill_soon, pid)
        made = await compiled(compiler, "return tools.fnd()")
    assert codes(made) == [2551]
    assert compiler.status().killed_checks == 1


async def kill_soon(pid: int) -> None:
    await trio.sleep(0.2)
    os.kill(pid, signal.SIGKILL)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere it is not known whether a process works")
async def test_processes_that_were_stopped_are_replaced_and_no_program_is_blamed(compiler: Compiler) -> None:
    await compiler.warm()
    status = compiler.status()
    for pid in (status.checker_pid, status.stripper_pid):
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
    assert codes(await compiled(compiler, "return tools.fnd()")) == [2551]
    made = await compiled(compiler, "return 5 as any")
    assert (made.javascript, made.notes) == ("return 5       ", ())
    assert gone(status.checker_pid)
    assert gone(status.stripper_pid)


async def test_a_program_that_is_refused_is_not_said_to_run_unchecked(compiler: Compiler) -> None:
    made = await compiled(compiler, "return " + "a=>" * 9_000 + "1")
    assert made.javascript is None
    assert "too deeply nested" in made.problems[0].message
    assert made.notes == ()


async def test_after_a_while_without_programs_the_processes_end_and_come_back() -> None:
    async with running(Compiler(idle_seconds=0.2)) as compiler:
        await compiler.warm()
        pid = compiler.status().checker_pid
        while compiler.status().checker_pid is not None:  # noqa: ASYNC110 - of another process there is no event
            await trio.sleep(0.02)
        assert gone(pid)
        assert codes(await compiled(compiler, "return tools.fnd()")) == [2551]
        assert compiler.status().starts == 4


async def test_nothing_is_left_when_it_ends_and_who_waits_is_told() -> None:
    refused: list[CompilerClosedError] = []

    async def ask(compiler: Compiler) -> None:
        try:
            await compiler.compile(TYPE_RECURSION, DECLARATIONS)
        except CompilerClosedError as error:
            refused.append(error)

    with trio.fail_after(PATIENCE_SECONDS):
        async with trio.open_nursery() as callers, running(Compiler()) as compiler:
            await compiler.warm()
            before = compiler.status()
            callers.start_soon(ask, compiler)
            callers.start_soon(ask, compiler)
            await trio.sleep(0.1)
    assert len(refused) == 2
    assert gone(before.checker_pid)
    assert gone(before.stripper_pid)
    with pytest.raises(CompilerClosedError):
        await compiler.compile("return 1", "")


async def test_without_deno_it_says_where_it_looked(compiler: Compiler, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DENO_VARIABLE, "/nowhere/deno")
    with pytest.raises(DenoMissingError, match="looked at /nowhere/deno"):
        await compiled(compiler, "return 1")
    assert "looked at /nowhere/deno" in (compiler.status().missing or "")
    monkeypatch.delenv(DENO_VARIABLE)
    assert (await compiled(compiler, "return 1")).javascript == "return 1"
    assert compiler.status().missing is None


def many_tools(count: int, name: str) -> str:
    member = "(args: { query: string; limit?: number; sort?: 'a' | 'b' }): Promise<{ items: { id: number }[] }>;\n"
    return f"interface Tools {{\n{''.join(f'{name}{n}{member}' for n in range(count))}}}\ndeclare const tools: Tools;\n"


async def test_a_warm_check_is_quick_also_between_two_large_sdks(compiler: Compiler) -> None:
    sdks = {name: many_tools(300, name) for name in "ab"}
    programs = [
        (f"return (await tools.{'ab'[n % 2]}{n}({{ query: 'x{n}' }})).items.map((item) => item.id)", sdks["ab"[n % 2]])
        for n in range(44)
    ]
    medians: list[float] = []
    with trio.fail_after(PATIENCE_SECONDS):
        await seconds_of_checks(compiler, programs[:4])
        # Other work on the machine spoils a round, never makes one better: one good round shows what a check takes.
        while len(medians) < ROUNDS and not (medians and medians[-1] < MEDIAN_SECONDS):
            medians.append(median(await seconds_of_checks(compiler, programs)))
    assert min(medians) < MEDIAN_SECONDS


async def test_more_sdks_than_are_kept_are_all_checked_against_their_own(compiler: Compiler) -> None:
    for n in [*range(7), 0, 6, 3]:
        sdk = many_tools(3, f"tool{n}_")
        assert codes(await compiled(compiler, f"return tools.tool{n}_1({{ query: 'x' }})", sdk)) == []
        assert codes(await compiled(compiler, f"return tools.tool{n + 1}_1({{ query: 'x' }})", sdk)) == [2551]


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="walls are told of on Linux")
async def test_the_system_stands_around_the_checker_where_it_can(compiler: Compiler) -> None:
    await compiler.warm()
    assert "dies with the engine" in compiler.status().walls
