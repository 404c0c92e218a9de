"""Problems: their places, which of them stop a program, and their text."""

from __future__ import annotations

import pytest

from sandbox.compiler_imports import hides_import, with_imports, without_imports
from sandbox.compiler_problems import MAX_MESSAGE_CHARACTERS, Problem, is_blocking, problem_at, render_problems


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
    ("code", "message", "blocks"),
    [
        (1005, "',' expected.", True),
        (2339, "Property 'a' does not exist on type 'Tools'.", True),
        (2307, "Cannot find module.", True),
        (18048, "'a' is possibly 'undefined'.", False),
        (7006, "Parameter 'a' implicitly has an 'any' type.", False),
        (2322, "Type 'number' is not assignable to type 'string'.", True),
        (2322, 'Type \'"x"\' is not assignable to type \'"a" | "b"\'.', True),
        (2322, "Type 'string' is not assignable to type '\"a\" | \"b\"'.", False),
        (2345, "Argument.\n  Type 'string' is not assignable to type '\"a\" | undefined'.", False),
        (2345, "Argument.\n  Type 'string' is not assignable to type 'number'.", True),
        (2345, "Argument.\n    Target requires 2 element(s) but source may have fewer.", False),
    ],
)
def test_what_is_nearly_always_a_mistake_stops_a_program(code: int, message: str, blocks: bool) -> None:
    assert is_blocking(problem(code, message)) is blocks


def test_no_word_that_loads_a_module_reaches_the_checker() -> None:
    text = "import a from 'b'; await import('c'); export * from 'd'; declare module 'e' {}; const important = 1"
    changed = without_imports(text)
    assert len(changed) == len(text)
    assert not {"import", "export", "module"} & set(changed.replace("(", " ").split())
    assert "important" in changed
    assert with_imports(changed) == text


@pytest.mark.parametrize("text", ["\\u0069mport('x')", "im\\u{70}ort('x')", "\\u{00065}xport {}", "a \\u006dodule b"])
def test_an_import_that_is_spelled_with_escapes_is_seen(text: str) -> None:
    assert hides_import(text)


@pytest.mark.parametrize("text", ["'\\u2014'", "imp\\u{110000}ort", "\\u0069mportant", "'\\\\u'"])
def test_other_escapes_are_no_import(text: str) -> None:
    assert not hides_import(text)
