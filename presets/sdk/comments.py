"""Texts of tool authors inside TypeScript: comments, literals and names that no text can break out of.

Owns the escaping and its limits. What comes out is the same for the same input, and holds no control characters.
"""

from __future__ import annotations

import json
import re

MAX_COMMENT_CHARACTERS = 4_000
"""Of one description. Longer ones exist and are manuals; the beginning says what the tool does."""

MAX_LITERAL_CHARACTERS = 200
"""Of a string that is offered as a literal type. Longer ones are texts, not choices."""

MAX_SENTENCE_CHARACTERS = 120
"""Of the sentence that stands for a tool in a list."""

_NAME = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*\Z")
_NOT_PRINTED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_LINE_ENDS = re.compile(r"\r\n|[\r\u2028\u2029\x85]")
_BLANK_LINES = re.compile(r"\n\s*\n\s*")
_WRAPPED = re.compile(r"(?<=[^\n]{60})[^\S\n]*\n[^\S\n]*(?=[a-z`(])")
"""The end of a long line that is there for the width of a page: what follows goes on with the sentence."""
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z\[`(])|\n")
_ESCAPED_IN_LITERAL = re.compile(r"[\x7f-\x9f\u200b-\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_WORDS = re.compile(r"[A-Za-z0-9]+")


def plain(text: str) -> str:
    """The text without control characters, with simple line ends, no blank lines, and cut where it is a manual."""
    text = _NOT_PRINTED.sub("", _LINE_ENDS.sub("\n", text).replace("\t", " "))
    text = _BLANK_LINES.sub("\n", text).strip()
    return text if len(text) <= MAX_COMMENT_CHARACTERS else f"{text[:MAX_COMMENT_CHARACTERS].rstrip()}…"


def comment(text: str, indent: str) -> str:
    """A doc comment with a line end, or nothing where there is no text. The closer is escaped."""
    lines = _comment_lines(text)
    return f"{indent}/** " + f"\n{indent} * ".join(lines) + " */\n" if lines else ""


def inline_comment(text: str) -> str:
    """A doc comment with a space behind it, to stand before a member; with line ends where the text needs them."""
    lines = _comment_lines(text)
    return "/** " + "\n".join(lines) + " */ " if lines else ""


def _comment_lines(text: str) -> list[str]:
    whole = _WRAPPED.sub(" ", plain(text)).replace("*/", "*\\/")
    return [line.rstrip() for line in whole.split("\n")] if whole else []


def first_sentence(text: str) -> str:
    """The first sentence of a description on one line, cut to `MAX_SENTENCE_CHARACTERS`."""
    sentence = " ".join(_SENTENCE_END.split(plain(text), maxsplit=1)[0].split())
    return sentence if len(sentence) <= MAX_SENTENCE_CHARACTERS else f"{sentence[:MAX_SENTENCE_CHARACTERS].rstrip()}…"


def string_literal(text: str) -> str:
    """The string as a TypeScript literal; lone surrogates and what cannot be seen are escaped."""
    return _ESCAPED_IN_LITERAL.sub(lambda found: f"\\u{ord(found[0]):04x}", json.dumps(text, ensure_ascii=False))


def member_name(name: str) -> str:
    """The name as a member of an object type: as it is, or in quotes. `new(…)` would be a constructor."""
    return name if _NAME.match(name) and name != "new" else string_literal(name)


def type_name(*parts: str) -> str:
    """A name for a type, made of the words of the parts; the same for names that differ in other characters only."""
    words = "".join(word[:1].upper() + word[1:] for part in parts for word in _WORDS.findall(part))
    return words if words[:1].isalpha() else f"Type{words}"
