"""What `sdk.search` and `sdk.describe` answer: pure functions over an SDK.

Owns how well a tool fits some words, and the limits of the answers. Both are texts that end up in a model's context.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType

from presets.sdk.tool import RenderedTool
from presets.suggestions import close_names, did_you_mean, quoted

MAX_HITS = 10
"""Tools that a search gives; who needs more has to say what he looks for."""

MAX_SIGNATURE_CHARACTERS = 400
"""Of a signature in a hit; the whole one is in `describe`."""

MAX_QUERY_WORDS = 20
"""Words of a query that are looked at."""

MAX_DESCRIBED_CHARACTERS = 16_000
"""Of the declarations in one answer; what does not fit is named, to be asked for again."""

NAME_EXACT, NAME_BEGINS, NAME_HOLDS = 12, 8, 5
"""What a word of the query is worth where a word of the name is it, begins with it, or holds it."""
TEXT_EXACT, TEXT_BEGINS = 4, 2
"""The same for words of the title and the description."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W_\x00-\x7f]+")
_LEAST_PART = 3
"""Letters from which a word may be the middle of another."""


_NO_REASONS: Mapping[str, str] = MappingProxyType({})


def search(tools: Sequence[RenderedTool], query: str, *, limit: int = MAX_HITS) -> list[dict[str, str]]:
    """The tools that fit the words best, at most `limit`, each as `{name, summary, signature}`.

    Equally good ones come in order of their names. An empty query gives the first ones by name.
    """
    words = _words(query)[:MAX_QUERY_WORDS]
    if not words:
        return [_hit(tool) for tool in tools[:limit]]
    scored = [(_score(tool, words), tool) for tool in tools]
    fitting = sorted((item for item in scored if item[0]), key=lambda item: (-item[0], item[1].tool.name))
    return [_hit(tool) for _, tool in fitting[:limit]]


def search_names(names: Iterable[str], query: str, *, limit: int = MAX_HITS) -> list[str]:
    """The names that fit the words best, at most `limit`: those that the query says whole come first."""
    said = set(query.split())
    words = _words(query)[:MAX_QUERY_WORDS]
    scored = [(name in said, sum(_name_worth(word, _words(name)) for word in words), name) for name in names]
    fitting = sorted((item for item in scored if item[1]), key=lambda item: (not item[0], -item[1], item[2]))
    return [name for _, _, name in fitting[:limit]]


def describe(tools: Sequence[RenderedTool], names: Iterable[str], reasons: Mapping[str, str] = _NO_REASONS) -> str:
    """The declarations of the named tools with all comments; names that are unknown are answered with close ones.

    `reasons` say of names why there is no such tool here.

    At most `MAX_DESCRIBED_CHARACTERS`, but for a first tool that is larger, which is whole.
    """
    known = {tool.tool.name: tool for tool in tools}
    parts: list[str] = []
    left_out: list[str] = []
    left = MAX_DESCRIBED_CHARACTERS
    for name in dict.fromkeys(names):
        tool = known.get(name)
        text = _unknown(name, known, reasons.get(name)) if tool is None else f"{tool.declarations}{tool.member}"
        if parts and len(text) > left:
            left_out.append(name)
            continue
        left -= len(text)
        parts.append(text)
    if left_out:
        shown = ", ".join(quoted(name) for name in left_out[:MAX_HITS])
        parts.append(f"// {len(left_out)} left out because the answer would be too long: {shown}; ask for fewer\n")
    return "".join(parts)


def _unknown(name: str, known: Iterable[str], reason: str | None) -> str:
    wanted = name.replace("\n", " ")
    if reason is not None:
        return f"// no tool {quoted(wanted)} here. {' '.join(reason.split())}\n"
    return f"// no tool {quoted(wanted)}.{did_you_mean(close_names(wanted, known)) or ' Try sdk.search(words).'}\n"


def _hit(tool: RenderedTool) -> dict[str, str]:
    signature = tool.signature
    if len(signature) > MAX_SIGNATURE_CHARACTERS:
        signature = f"{signature[:MAX_SIGNATURE_CHARACTERS].rstrip()}…"
    return {"name": tool.tool.name, "summary": tool.summary, "signature": signature}


def _score(tool: RenderedTool, query: Sequence[str]) -> int:
    name = _words(tool.tool.name)
    text = set(_words(f"{tool.tool.title or ''} {tool.tool.description}"))
    return sum(max(_name_worth(word, name), _text_worth(word, text)) for word in query)


def _name_worth(word: str, name: Sequence[str]) -> int:
    if word in name:
        return NAME_EXACT
    if any(part.startswith(word) or (word.startswith(part) and len(part) >= _LEAST_PART) for part in name):
        return NAME_BEGINS
    return NAME_HOLDS if len(word) >= _LEAST_PART and any(word in part for part in name) else 0


def _text_worth(word: str, text: set[str]) -> int:
    if word in text:
        return TEXT_EXACT
    return TEXT_BEGINS if len(word) >= _LEAST_PART and any(part.startswith(word) for part in text) else 0


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]
