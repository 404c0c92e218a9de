"""Keeps the checker from following imports. Owns the words that load a module and what they become in its eyes.

The checker reads files that a text names, from anywhere, and says in its messages what is in them. A program can
import nothing anyhow. So the words that reach for a module are changed into look-alikes of the same length, in the
program and in the declarations alike: places stay true, strings still fit each other, and no module is ever named.
"""

from __future__ import annotations

import re

from sandbox.compiler_problems import Problem

NO_IMPORTS = "a program cannot import or export anything; it has `tools`, `sdk` and what JavaScript itself brings"

_CHANGED_LETTERS = {
    "import": 3,
    "export": 3,
    "module": 1,
    "require": 6,
    # Of the comments that name a file: `/// <reference path="…" />`, `@deno-types="…"`, `@ts-types="…"` and
    # `@jsxImportSource …` with `@jsxImportSourceTypes`, in letters of either case. Those of JSDoc say `import`.
    "reference": 3,
    "types": 3,
    "jsximportsource": 6,
    "jsximportsourcetypes": 6,
}
"""The words, and where in each is the o or e that becomes another letter."""

_PLAIN, _ALIKE = "oOeE", "\u0585\u0555\u0435\u0415"
"""Armenian letters that look like an o, Cyrillic ones that look like an e. They may stand in a name."""

# ASCII: beside a character that a name may not have, such as a raised two, the checker begins a new word.
_WORDS = re.compile(rf"\b(?:{'|'.join(_CHANGED_LETTERS)})\b", re.ASCII | re.IGNORECASE)
_CHANGED = re.compile(rf"[A-Za-z]+[{_ALIKE}][A-Za-z]*")
_TO_ALIKE, _TO_PLAIN = str.maketrans(_PLAIN, _ALIKE), str.maketrans(_ALIKE, _PLAIN)
_UNKNOWN_NAME_CODES = frozenset({2304, 2307, 2552, 2580, 2591, 2592})
_ONE_ESCAPE = r"\\u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]+\})"
_ESCAPED_NAME = re.compile(rf"[\w$]*+{_ONE_ESCAPE}(?:[\w$]|{_ONE_ESCAPE})*")
_ESCAPE = re.compile(r"\\u(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{4}))")
_LARGEST_CHARACTER = 0x10FFFF


def without_imports(text: str) -> str:
    """The text with each word that loads a module changed."""
    return _WORDS.sub(_changed, text)


def with_imports(text: str) -> str:
    """The words of a message as their author wrote them."""
    return _CHANGED.sub(_changed_back, text)


def hides_import(text: str) -> bool:
    """Whether a word that loads a module is spelled with escapes; the checker would still read it as one."""
    return any(_WORDS.search(_ESCAPE.sub(_character, name)) for name in _ESCAPED_NAME.findall(text))


def is_import(problem: Problem) -> bool:
    """Whether a problem stands at what loads a module, so that `NO_IMPORTS` says better what is wrong.

    `require` is a name like another, which the program may have given to something of its own.
    """
    at = problem.column - 1
    if problem.line_text.startswith("require", at):
        return problem.code in _UNKNOWN_NAME_CODES
    return problem.line_text.startswith(("import", "export"), at)


def _changed(found: re.Match[str]) -> str:
    word = found[0]
    at = _CHANGED_LETTERS[word.lower()]
    return word[:at] + word[at].translate(_TO_ALIKE) + word[at + 1 :]


def _changed_back(found: re.Match[str]) -> str:
    plain = found[0].translate(_TO_PLAIN)
    return plain if _WORDS.fullmatch(plain) else found[0]


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2], 16)
    return chr(number) if number <= _LARGEST_CHARACTER else "?"
