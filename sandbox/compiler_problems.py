"""What is wrong with a program: one problem, which problems stop it, and how a model is shown them.

Owns the values, the list of blocking codes and the text. Never talks to a process.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

MAX_PROBLEMS = 10
"""Problems that are reported; the first ones are the causes, and more would be read by nobody."""

MAX_MESSAGE_CHARACTERS = 600
"""Of one message. The checker prints whole types, and the last line of its chain says what is the matter."""

MAX_SHOWN_LINE = 160
"""Characters of a source line that are shown; a longer one is cut around the column."""

SYNTAX_CODES = range(1000, 2000)
"""What the parser and the binder refuse."""

BLOCKING_CODES = frozenset(
    {
        # a value that does not fit: 2820 and 2561 carry a suggestion
        *(2322, 2345, 2739, 2740, 2741, 2820, 2559),
        # an argument or a member that does not exist, or one that is missing
        *(2353, 2554, 2555, 2556, 2561),
        # an unknown member, name or module; 258x and 259x are names that another platform has
        *(2339, 2551, 2304, 2552, 2503, 2307, 2580, 2581, 2582, 2584, 2591, 2592, 2593),
    }
)
"""Codes of the checker that are nearly always a mistake. Everything else becomes a note: the run will show."""

IMPLICIT_ANY_CODES = range(7000, 7100)
"""What the checker says where it does not know a type and is told nothing. Programs are no libraries: left out."""

UNKNOWN_MEMBER = 2339

UNKNOWN_TOOL = re.compile(r"Property '[^\n]*' does not exist on type 'Tools'\.\s*\Z")
"""The end of what is said about `tools["name"]`, under a code of its own, when there is no such tool."""

# What the checker says of many a right program, because it forgets what a variable was set to. The tool looks at its
# arguments itself; what these let through fails there, with a message of its own.
_DOUBTFUL = re.compile(
    r"""
    # a literal that has become its type, in a variable or a member
    Type\ '(?:string|number|boolean)(?:\[\])*'\ is\ not\ assignable\ to
        \ type\ '[^\n]*(?:"|\d|true|false)[^\n]*'\.?\s*\Z
    # an array whose length is not known, for a tuple
    | Target\ requires\ \d+\ element\(s\)\ but\ source\ may\ have\ fewer\.\s*\Z
    | Target\ allows\ only\ \d+\ element\(s\)\ but\ source\ may\ have\ more\.\s*\Z
    # a member that may be absent
    | Type\ 'undefined'\ is\ not\ assignable\ to\ type\ '[^\n]*'\.\s*\Z
    # a list that is still empty, an object that is filled later, one kind out of several that was not asked for
    | (?:to\ parameter\ of|on)\ type\ '(?:never|\{\})'\.\s*\Z
    | does\ not\ exist\ on\ type\ '[^\n]*'\.\n\s+Property\ '[^\n]*'\ does\ not\ exist\ on\ type\ '[^\n]*'\.\s*\Z""",
    re.VERBOSE,
)
_SET = re.compile(r"(?P<name>[A-Za-z_$][\w$]*)\s*(?:(?:[-+*/%&|^]|\*\*|<<|>>>?|&&|\|\||\?\?)?=(?![=>])|\+\+|--)")
_NAME = re.compile(r"[A-Za-z_$][\w$]*")
_LAST_PIECE = re.compile(r"(?<=\S)\s+\S*\Z")
_FIRST_PIECE = re.compile(r"\A\S*\s+(?=\S)")
_ADVICE = re.compile(
    r"\.? (?:Do you need to (?:change|install)|Try changing the 'lib'|Consider (?:changing|adding)).*\Z", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem in the program's own coordinates: line and column count from 1, in characters.

    `code` is that of the checker, or 0 where something else refused the program. `line_text` is the line it is in.
    """

    line: int
    column: int
    code: int
    message: str
    line_text: str


def problem_at(lines: Sequence[str], line: int, column: int, code: int, message: str) -> Problem:
    """A problem at a place as protocols give it: from 0, columns in UTF-16 units. A place past the end is the end."""
    if line >= len(lines):
        line, column = len(lines) - 1, 2 * len(lines[-1])
    text = lines[line]
    before = text.encode("utf-16-le", "surrogatepass")[: 2 * column].decode("utf-16-le", "replace")
    return Problem(line + 1, min(len(before), len(text)) + 1, code, _shortened(message), text)


def blocking_and_doubtful(found: Iterable[Problem]) -> tuple[list[Problem], list[Problem]]:
    """The problems with which a program should not be run, and those that its run will show.

    A member that is set, and not only read, where its object was made without it is doubtful wherever it stands.
    """
    problems = [problem for problem in found if _counts(problem)]
    made_later = {
        member["name"]
        for problem in problems
        if problem.code == UNKNOWN_MEMBER and (member := _SET.match(problem.line_text, problem.column - 1))
    }
    blocking: list[Problem] = []
    doubtful: list[Problem] = []
    for problem in problems:
        (blocking if _is_blocking(problem, made_later) else doubtful).append(problem)
    return blocking, doubtful


def _counts(problem: Problem) -> bool:
    return problem.code not in IMPLICIT_ANY_CODES or UNKNOWN_TOOL.search(problem.message) is not None


def _is_blocking(problem: Problem, made_later: Collection[str]) -> bool:
    if problem.code in SYNTAX_CODES or problem.code in IMPLICIT_ANY_CODES:
        return True
    if problem.code not in BLOCKING_CODES or _DOUBTFUL.search(problem.message):
        return False
    member = _NAME.match(problem.line_text, problem.column - 1)
    return not (problem.code == UNKNOWN_MEMBER and member and member[0] in made_later)


def render_problems(problems: Iterable[Problem]) -> str:
    """The problems as text: place and message, the line, and a caret below the column."""
    return "\n".join(_render(problem) for problem in problems)


def note_of(problem: Problem) -> str:
    """A problem that does not stop the program, on one line that says so: what the program prints may follow it."""
    return f"note: line {problem.line}, column {problem.column}: {' '.join(problem.message.split())}"


def _render(problem: Problem) -> str:
    head = f"line {problem.line}, column {problem.column}: {problem.message}"
    if not problem.line_text.strip():
        return head
    start = 0
    if len(problem.line_text) > MAX_SHOWN_LINE:
        start = max(0, min(problem.column - 1 - MAX_SHOWN_LINE // 2, len(problem.line_text) - MAX_SHOWN_LINE))
    shown = problem.line_text[start : start + MAX_SHOWN_LINE].replace("\t", " ")
    gutter = f"  {problem.line} | "
    return f"{head}\n{gutter}{shown}\n{' ' * (len(gutter) + problem.column - 1 - start)}^"


def _shortened(message: str) -> str:
    message = _ADVICE.sub(".", message)
    if len(message) <= MAX_MESSAGE_CHARACTERS:
        return message
    half = MAX_MESSAGE_CHARACTERS // 2
    # At a blank, so that no word is halved; a text without one has no words.
    head = _LAST_PIECE.sub("", message[:half])
    tail = _FIRST_PIECE.sub("", message[-half:])
    return f"{head} … {tail}"
