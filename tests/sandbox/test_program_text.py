"""The forms of a program, and the body that each of them means."""

from __future__ import annotations

import time

import pytest

from sandbox.program_text import deepest_nesting, program_text

HOSTILE_SECONDS = 1.0
"""For 64 kB; what takes time squared takes minutes."""


@pytest.mark.parametrize(
    "program",
    [
        "return 1",
        "",
        "const f = async () => { return 1 };\nreturn await f()",
        "async () => { return 1 }; console.log(2)",
        "async () => 1",
        "async function main() { return main }\nmain()",
        "async function a() { return 1 } async function b() { return 2 }",
        "async () => { return `${",
        "async () => { return '}",
        "async () => { return /[}/ }",
        "async () => { /* } ",
        "async (x) => { return x }",
        "```ts\nreturn 1",
        "return `\n```\n`",
    ],
)
def test_a_body_stays_as_it_is(program: str) -> None:
    assert program_text(program).body == program


@pytest.mark.parametrize(
    ("program", "kept"),
    [
        ("async () => {\n  return 1;\n}", "return 1;"),
        ("async () => { return 1 };", "return 1"),
        ("async (): Promise<void> => { await x() }", "await x()"),
        ("export default async () => { return 1 }", "return 1"),
        ("async function main() {\n  return 1\n}", "return 1"),
        ("async function main() { return 1 }\nawait main();", "return 1"),
        ("async function main() { return 1 }\nreturn await main()", "return 1"),
        ("(async () => { return 1 })();", "return 1"),
        ("await (async function () { return 1 })()", "return 1"),
        ("return (async () => { return 1 })()", "return 1"),
        ("```ts\nreturn 1\n```", "return 1"),
        ("\n```typescript\nasync () => {\n  return 1\n}\n```\n", "return 1"),
        ("async () => { return `a ${ `}${'}'}` } b` }", "return `a ${ `}${'}'}` } b`"),
        ("async () => { return /[/}]}/.test('}') && 4 / 2 // }\n}", "return /[/}]}/.test('}') && 4 / 2 // }"),
        ("async () => { /* } */ return '\\'}' + \"}\" }", "/* } */ return '\\'}' + \"}\""),
    ],
)
def test_a_wrapping_becomes_blanks_and_moves_nothing(program: str, kept: str) -> None:
    body = program_text(program).body
    assert body.strip() == kept
    assert body.index(kept) == program.index(kept)
    assert [len(line) for line in body.split("\n")] == [len(line) for line in program.split("\n")]


def test_a_comment_before_the_wrapping_is_kept() -> None:
    assert program_text("// counts\n/* all */ async () => { return 1 }").body.startswith("// counts\n/* all */ ")


def test_line_ends_of_windows_become_simple_ones() -> None:
    assert program_text("const a = 1\r\nreturn a").body == "const a = 1 \nreturn a"


@pytest.mark.parametrize(
    ("program", "unchecked"),
    [
        ("// @ts-nocheck\nreturn a", True),
        ("\n  //   @ts-nocheck because\nreturn a", True),
        ("```ts\n// @ts-nocheck\nreturn a\n```", True),
        ("return a // @ts-nocheck", False),
        ("const a = 1\n// @ts-nocheck", False),
        ("// @ts-nocheckers\n", False),
    ],
)
def test_only_a_first_line_asks_for_no_check(program: str, unchecked: bool) -> None:
    assert program_text(program).unchecked is unchecked


def test_nesting_is_the_most_that_is_open_at_once() -> None:
    assert deepest_nesting("f([{}])(x)[0]") == 3
    assert deepest_nesting(")))(") == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    "program",
    [
        "```" + " " * 65_000,
        "/**/" * 16_000,
        "async () => {" + "/*" * 30_000,
        'async () => {"' + '\\"' * 30_000,
        "async () => {" + "(/[" * 20_000,
        "async () => {" + " /" * 30_000,
        "async () => {" + "`${" * 20_000,
        "async" + " " * 65_000,
        "//\n" * 20_000 + "x",
        "async () => {" + "' " * 30_000 + "}",
        "async function " + "a" * 60_000,
    ],
    ids=range(11),
)
def test_hostile_text_is_read_in_one_pass(program: str) -> None:
    started = time.perf_counter()
    program_text(program)
    assert time.perf_counter() - started < HOSTILE_SECONDS
