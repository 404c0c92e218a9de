"""Keeps the checker from following imports. Owns the words that load a module and what they become in its eyes.

The checker reads files that a text names, from anywhere, and says in its messages what is in them. A program can
import nothing anyhow. So the words that reach for a module are changed into look-alikes of the same length, in the
program and in the declarations alike: places stay true, strings still fit each other, and no module is ever named.
"""

from __future__ import annotations

import re

from sandbox.compiler_problems import Problem

NO_IMPORTS = "a program cannot import or export anything; it has `tools`, `sdk` and what JavaScript itself brings"

_LOOK_ALIKE = "\u0585"
"""A letter that looks like an o (Armenian) and may stand in a name."""

# ASCII: beside a character that a name may not have, such as a raised two, the checker begins a new word.
_WORDS = re.compile(r"\b(imp|exp|m)o(rt|dule)\b", re.ASCII)
_CHANGED = re.compile(rf"\b(imp|exp|m){_LOOK_ALIKE}(rt|dule)\b", re.ASCII)
_ONE_ESCAPE = r"\\u(?:[0-9A-Fa-f]{4}|\{[0-9A-Fa-f]+\})"
_ESCAPED_NAME = re.compile(rf"[\w$]*+{_ONE_ESCAPE}(?:[\w$]|{_ONE_ESCAPE})*")
_ESCAPE = re.compile(r"\\u(?:\{([0-9A-Fa-f]+)\}|([0-9A-Fa-f]{4}))")
_LARGEST_CHARACTER = 0x10FFFF


def without_imports(text: str) -> str:
    """The text with each word that loads a module changed."""
    return _WORDS.sub(rf"\1{_LOOK_ALIKE}\2", text)


def with_imports(text: str) -> str:
    """The words of a message as their author wrote them."""
    return _CHANGED.sub(r"\1o\2", text)


def hides_import(text: str) -> bool:
    """Whether a word that loads a module is spelled with escapes; the checker would still read it as one."""
    return any(_WORDS.search(_ESCAPE.sub(_character, name)) for name in _ESCAPED_NAME.findall(text))


def is_import(problem: Problem) -> bool:
    """Whether a problem stands at an `import` or `export`, so that `NO_IMPORTS` says better what is wrong."""
    return problem.line_text.startswith(("import", "export"), problem.column - 1)


def _character(escape: re.Match[str]) -> str:
    number = int(escape[1] or escape[2], 16)
    return chr(number) if number <= _LARGEST_CHARACTER else "?"
