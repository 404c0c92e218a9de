"""Messages of an MCP server that are nested deeper than parsers read. Owns what becomes of them, in words.

One tool with such a schema would cost the whole list, and one such answer would be waited for until its time is up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, cast

from pydantic_core import from_json, to_json

MAX_NESTING = 150
"""Arrays and objects within each other, in one message. The parser ends at 200, and a schema is taken up to 64."""

NAMES_SHOWN = 10
"""Of the tools that are left out of a list; the rest is counted."""

_TOKEN = re.compile(rb'"(?:[^"\\]|\\.)*+"|[\[\]{}]', re.DOTALL)
_CUT = "\ue000 nested too deep"
_CUT_JSON = to_json(_CUT)
_INTERNAL_ERROR = -32603


def within_depth(message: bytes, say: Callable[[str], object]) -> bytes:
    """The message as it can be read: a list without the tools that are too deep, an error instead of another answer.

    As it is where it is not too deep, or cannot be mended. What was left out is said.
    """
    if message.count(b"[") + message.count(b"{") <= MAX_NESTING:
        return message
    cut = _cut(message)
    if cut is None:
        return message
    try:
        read: object = from_json(cut)
    except ValueError:
        return message
    if not isinstance(read, dict):
        return message
    mended = _mended(cast("dict[str, Any]", read), say)
    return message if mended is None else to_json(mended)


def _cut(message: bytes) -> bytes | None:
    """The message with a word in the place of each part that is too deep; None where there is none."""
    kept: list[bytes] = []
    depth = begin = 0
    for token in _TOKEN.finditer(message):
        sign = message[token.start()]
        if sign in b"[{":
            depth += 1
            if depth == MAX_NESTING + 1:
                kept += (message[begin : token.start()], _CUT_JSON)
        elif sign in b"]}":
            if depth == MAX_NESTING + 1:
                begin = token.end()
            depth -= 1
    if not kept or depth:
        return None
    return b"".join((*kept, message[begin:]))


def _mended(message: dict[str, Any], say: Callable[[str], object]) -> dict[str, Any] | None:
    result, number = message.get("result"), message.get("id")
    if number is None or "method" in message:
        return None
    listed = cast("dict[str, Any]", result).get("tools") if isinstance(result, dict) else None
    if isinstance(listed, list):
        tools = [(tool, _CUT_JSON not in to_json(tool)) for tool in cast("list[object]", listed)]
        _tell([tool for tool, sound in tools if not sound], say)
        rest = {**cast("dict[str, Any]", result), "tools": [tool for tool, sound in tools if sound]}
        if _CUT_JSON not in to_json(rest):
            return {**message, "result": rest}
    said = f"its answer is nested more than {MAX_NESTING} deep, and cannot be read"
    return {"jsonrpc": "2.0", "id": number, "error": {"code": _INTERNAL_ERROR, "message": said}}


def _tell(left_out: list[object], say: Callable[[str], object]) -> None:
    for tool in left_out[:NAMES_SHOWN]:
        name = cast("dict[str, Any]", tool).get("name") if isinstance(tool, dict) else None
        say(f"a tool of its list is left out, {name!r:.80}: it is nested more than {MAX_NESTING} deep")
    if len(left_out) > NAMES_SHOWN:
        say(f"and {len(left_out) - NAMES_SHOWN} more, which are nested too deep as well")
