"""The text of a program: the forms in which models write one, brought to the body of an async function.

Owns the forms and the limits of the text. What is taken away becomes blanks, so lines and columns stay where they were.
Never parses: where a form is not recognised for certain, the text stays as it is.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_PROGRAM_BYTES = 64 * 1024
"""Of UTF-8. A check of 64 kB takes a fraction of a second, one of 1 MB takes three, and nobody writes it by hand."""

MAX_NESTING = 256
"""Open brackets at one place. Parsers recurse: some thousands overflow their stack and end the process."""

_HEADER = re.compile(
    r"""\A(?P<lead>(?>\s+|//[^\n]*\n|/\*.*?\*/)*+)
    (?:export\s+default\s+)?
    (?P<call>(?:return\s+)?(?:await\s+)?\(\s*)?
    async\s*
    (?: function\b\s*(?P<name>[A-Za-z_$][\w$]*)?\s*\(\s*\)\s*(?::\s*Promise\s*<\s*\w+\s*>\s*)?
      | \(\s*\)\s*(?::\s*Promise\s*<\s*\w+\s*>\s*)?=>\s*(?=\{)
    )
    \{""",
    re.VERBOSE | re.DOTALL,
)
_TAIL_OF_CALL = re.compile(r"\s*\)\s*\(\s*\)\s*;?\s*\Z")
_NO_CHECK = re.compile(r"\s*//\s*@ts-nocheck\b")
_NOT_BLANK = re.compile(r"[^\r\n]")
_BRACKETS = re.compile(r"[()\[\]{}]")

# Possessive throughout, and what is left open ends the search: hostile text costs one pass.
_TOKEN = re.compile(
    r"""//[^\n]* | /\*(?:.*?\*/|(?P<open_comment>)) | "(?:\\.|[^"\\\n])*+(?:"|(?P<open_double>))
    | '(?:\\.|[^'\\\n])*+(?:'|(?P<open_single>)) | (?P<mark>[`{}]) | (?P<slash>/)""",
    re.VERBOSE | re.DOTALL,
)
_IN_TEMPLATE = re.compile(r"\\.|\$\{|`", re.DOTALL)
_EXPRESSION = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*+\]|[^/\\\[\n])++/[a-z]*")
_LAST_WORD = re.compile(r"[\w$]+\Z")
_WORDS_BEFORE_EXPRESSION = frozenset({"return", "typeof", "case", "in", "of", "await", "void", "yield", "delete"})
_MARKS_BEFORE_EXPRESSION = "(,=:[!&|?{};+-*%~^<>"
_LOOK_BACK = 40
"""Characters before a slash that are looked at to tell a regular expression from a division."""


@dataclass(frozen=True, slots=True)
class ProgramText:
    """The body of an async function, and whether its author asked for it to be run unchecked (`// @ts-nocheck`)."""

    body: str
    unchecked: bool = False


def program_text(program: str) -> ProgramText:
    """The body that a program means.

    A fenced block, a lone `async () => {…}` or `async function main() {…}`, also called at once or followed by its own
    call, are unwrapped: the wrapping becomes blanks. Every other text is a body already.
    """
    text = _without_fence(program.replace("\r\n", " \n"))
    return ProgramText(_unwrapped(text), bool(_NO_CHECK.match(text)))


def deepest_nesting(text: str) -> int:
    """How many brackets are open at once, at most. Counts those in strings too: nobody writes so many there."""
    depth = deepest = 0
    for bracket in _BRACKETS.findall(text):
        if bracket in "([{":
            depth += 1
            deepest = max(deepest, depth)
        elif depth:
            depth -= 1
    return deepest


def _blank(text: str) -> str:
    return _NOT_BLANK.sub(" ", text)


def _without_fence(text: str) -> str:
    inner = text.strip()
    first, newline, _ = inner.partition("\n")
    if not (newline and first.startswith("```") and inner.endswith("\n```") and "`" not in first[3:]):
        return text
    start, end = text.index(first) + len(first), text.rindex("```")
    return _blank(text[:start]) + text[start:end] + _blank(text[end:])


def _unwrapped(text: str) -> str:
    header = _HEADER.match(text)
    if not header:
        return text
    end = _closing_brace(text, header.end())
    if end is None:
        return text
    tail = text[end + 1 :]
    if header["call"]:
        ends_there = _TAIL_OF_CALL.match(tail)
    elif header["name"]:
        name = re.escape(header["name"])
        calls = rf"\s*;?\s*(?:(?:return\s+)?(?:await\s+)?{name}\s*\(\s*\)\s*;?\s*)?\Z"
        inside = text[header.end() : end]
        # A function that calls itself has to stay one.
        ends_there = None if re.search(rf"\b{name}\b", inside) else re.match(calls, tail)
    else:
        ends_there = re.match(r"\s*;?\s*\Z", tail)
    if not ends_there:
        return text
    start = header.end("lead")
    return text[:start] + _blank(text[start : header.end()]) + text[header.end() : end] + _blank(text[end:])


def _closing_brace(text: str, start: int) -> int | None:
    """Where the brace that is open at `start` closes, or None where that is not certain."""
    # What is open, from the outside in: a brace, or a template literal.
    open_marks = ["{"]
    at = start
    while open_marks:
        in_template = open_marks[-1] == "`"
        found = (_IN_TEMPLATE if in_template else _TOKEN).search(text, at)
        if found is None or found.lastgroup in {"open_comment", "open_double", "open_single"}:
            return None
        at = found.end()
        if in_template:
            if found[0] == "`":
                open_marks.pop()
            elif found[0] == "${":
                open_marks.append("{")
        elif found["slash"]:
            if _expression_may_begin(text[max(0, found.start() - _LOOK_BACK) : found.start()].rstrip()):
                expression = _EXPRESSION.match(text, found.start())
                if expression is None:
                    return None
                at = expression.end()
        elif found["mark"] == "}":
            open_marks.pop()
        elif found["mark"]:
            open_marks.append(found["mark"])
    return at - 1


def _expression_may_begin(before: str) -> bool:
    if not before or before[-1] in _MARKS_BEFORE_EXPRESSION:
        return True
    word = _LAST_WORD.search(before)
    return word is not None and word[0] in _WORDS_BEFORE_EXPRESSION
