"""Problems: their places, which of them stop a program, and their text."""

from __future__ import annotations

import re

import pytest

from sandbox.compiler_imports import hides_import, with_imports, without_imports
from sandbox.compiler_problems import (
    MAX_MESSAGE_CHARACTERS,
    Problem,
    blocking_and_doubtful,
    problem_at,
    render_problems,
)


def problem(code: int, message: str = "wrong") -> Problem:
    return Problem(1, 1, code, message, "x")


def test_a_problem_is_shown_with_its_line_and_a_caret() -> None:
    shown = render_problems(
        [Problem(2, 17, 2339, "Property 'bar' does not exist.", "const b = a.foo.bar"), problem(2304)]
    )
    assert shown == (
        "line 2, column 17: Property 'bar' does not exist.\n"
        "  2 | const b = a.foo.bar\n"
        "                      ^\n"
        "line 1, column 1: wrong\n"
        "  1 | x\n"
        "      ^"
    )


def test_a_long_line_is_shown_around_the_column() -> None:
    line = "a" * 500 + "!" + "b" * 500
    _, shown, caret = render_problems([Problem(1, 501, 1, "wrong", line)]).split("\n")
    assert len(shown) < 200
    assert shown[caret.index("^")] == "!"


def test_tabs_and_empty_lines_do_not_move_the_caret() -> None:
    _, shown, caret = render_problems([Problem(1, 3, 1, "wrong", "\t\tx")]).split("\n")
    assert shown[caret.index("^")] == "x"
    assert render_problems([Problem(3, 1, 1, "wrong", "  ")]) == "line 3, column 1: wrong"


def test_columns_count_characters_and_not_halves_of_them() -> None:
    assert problem_at(["'😀' + x"], 0, 7, 1, "wrong").column == 7


def test_a_place_past_the_end_is_the_end() -> None:
    found = problem_at(["a", "bc"], 9, 0, 1, "wrong")
    assert (found.line, found.column, found.line_text) == (2, 3, "bc")


def test_a_message_keeps_its_beginning_and_its_end_and_loses_advice_that_does_not_help_here() -> None:
    message = problem_at(["x"], 0, 0, 2345, "begin " + "x" * 5_000 + " end").message
    assert len(message) <= MAX_MESSAGE_CHARACTERS + 3
    assert message.startswith("begin ")
    assert message.endswith(" end")
    advice = "Cannot find name 'process'. Do you need to install type definitions for node? Try `npm i`."
    assert problem_at(["x"], 0, 0, 2591, advice).message == "Cannot find name 'process'."


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (1005, "',' expected."),
        (2339, "Property 'a' does not exist on type 'Tools'."),
        (7053, "Element has an 'any' type.\n  Property 'a' does not exist on type 'Tools'."),
        (2307, "Cannot find module."),
        (2322, "Type 'number' is not assignable to type 'string'."),
        (2322, "Type 'string' is not assignable to type 'never'."),
        (2322, 'Type \'"x"\' is not assignable to type \'"a" | "b"\'.'),
        (2345, "Argument.\n  Type 'string' is not assignable to type 'number'."),
        (2345, "Argument.\n  Type 'null' is not assignable to type 'string'."),
    ],
)
def test_what_is_nearly_always_a_mistake_stops_a_program(code: int, message: str) -> None:
    assert blocking_and_doubtful([problem(code, message)]) == ([problem(code, message)], [])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (18048, "'a' is possibly 'undefined'."),
        (2769, "No overload matches this call."),
        (2322, "Type 'string' is not assignable to type '\"a\" | \"b\"'."),
        (2345, "Argument.\n  Type 'string' is not assignable to type '\"a\" | undefined'."),
        (2345, "Argument.\n    Target requires 2 element(s) but source may have fewer."),
        (2345, "Argument.\n  Type 'undefined' is not assignable to type 'string'."),
        (2345, "Argument of type 'number' is not assignable to parameter of type 'never'."),
        (2339, "Property 'a' does not exist on type '{}'."),
        (2339, "Property 'a' does not exist on type 'A | B'.\n  Property 'a' does not exist on type 'B'."),
    ],
)
def test_what_a_right_program_may_have_is_doubtful(code: int, message: str) -> None:
    assert blocking_and_doubtful([problem(code, message)]) == ([], [problem(code, message)])


def test_a_type_that_nobody_stated_is_no_problem() -> None:
    assert blocking_and_doubtful([problem(7006, "Parameter 'a' implicitly has an 'any' type.")]) == ([], [])


def test_a_member_that_is_set_is_doubtful_wherever_it_stands_and_one_that_is_only_read_is_not() -> None:
    line = "const o = { a: 1 }; o.b = 2; if (o.c == 3) return o.b"
    b, c, again = (
        Problem(1, column, 2339, f"Property '{name}' does not exist on type '{{ a: number; }}'.", line)
        for name, column in (("b", 23), ("c", 36), ("b", 53))
    )
    assert blocking_and_doubtful([b, c, again]) == ([c], [b, again])


def test_no_word_that_loads_a_module_reaches_the_checker() -> None:
    text = "import a from 'b'; await import('c'); export * from 'd'; declare module 'e' {}; const important = '²import'"
    changed = without_imports(text)
    assert len(changed) == len(text)
    assert not re.search(r"(?<![a-z])(import|export|module)(?![a-z])", changed)
    assert "important" in changed
    assert with_imports(changed) == text


@pytest.mark.parametrize("text", ["\\u0069mport('x')", "im\\u{70}ort('x')", "\\u{00065}xport {}", "a \\u006dodule b"])
def test_an_import_that_is_spelled_with_escapes_is_seen(text: str) -> None:
    assert hides_import(text)


@pytest.mark.parametrize("text", ["'\\u2014'", "imp\\u{110000}ort", "\\u0069mportant", "'\\\\u'"])
def test_other_escapes_are_no_import(text: str) -> None:
    assert not hides_import(text)
