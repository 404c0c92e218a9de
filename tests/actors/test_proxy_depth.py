"""Messages that are nested too deep: a list loses what is, another answer becomes an error, all else stays."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from typing import Any

import httpx2
import pytest

from actors.proxy_depth import MAX_NESTING, within_depth
from actors.proxy_http import ShallowBody


def nested(levels: int) -> str:
    return '{"a\\"[{": ' * levels + "1" + "}" * levels


def mended(message: str) -> tuple[Any, list[str]]:
    said: list[str] = []
    return json.loads(within_depth(message.encode(), said.append)), said


def test_of_a_list_only_the_tools_that_are_too_deep_are_left_out() -> None:
    tools = ", ".join(
        f'{{"name": "{name}", "inputSchema": {nested(levels)}}}' for name, levels in (("a", 5), ("b", 9000), ("c", 100))
    )
    message, said = mended(f'{{"jsonrpc": "2.0", "id": 7, "result": {{"nextCursor": "x", "tools": [{tools}]}}}}')
    assert [tool["name"] for tool in message["result"]["tools"]] == ["a", "c"]
    assert (message["id"], message["result"]["nextCursor"]) == (7, "x")
    assert said == [f"a tool of its list is left out, 'b': it is nested more than {MAX_NESTING} deep"]


@pytest.mark.parametrize(
    "answer", ['"result": {"structuredContent": DEEP}', '"error": DEEP', '"result": {"tools": [], "x": DEEP}']
)
def test_another_answer_becomes_an_error_under_its_number(answer: str) -> None:
    message, said = mended(f'{{"jsonrpc": "2.0", "id": "n", {answer.replace("DEEP", nested(300))}}}')
    assert (message["id"], message["error"]["code"]) == ("n", -32603)
    assert "nested more than 150 deep" in message["error"]["message"]
    assert said == []


@pytest.mark.parametrize(
    "message",
    [
        '{"id": 1, "result": {"a": "' + "[" * 1000 + '"}}',
        '{"id": 1, "result": ' + nested(120) + "}",
        '{"method": "x", "params": ' + nested(300) + "}",
        "[" * 1000,
        '{"id": 1, "result": "' + "[" * 1000,
        "}" * 400 + "[" * 400,
    ],
    ids=["brackets in a text", "not too deep", "a notification", "no end", "no end of a text", "the wrong way round"],
)
def test_what_is_not_too_deep_or_cannot_be_mended_stays_as_it_is(message: str) -> None:
    said: list[str] = []
    given = message.encode()
    assert within_depth(given, said.append) is given
    assert said == []


class Chunks(httpx2.AsyncByteStream):
    """A body that comes in pieces."""

    def __init__(self, body: bytes, size: int) -> None:
        self._body, self._size = body, size

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        for at in range(0, len(self._body), self._size):
            yield self._body[at : at + self._size]


@pytest.mark.parametrize("size", [1, 7, 100_000])
@pytest.mark.parametrize("form", ["{}", ": hello\r\nevent: message\r\ndata: {}\r\n\r\n"], ids=["an answer", "an event"])
async def test_what_comes_over_http_is_mended_however_it_is_cut(form: str, size: int) -> None:
    tools = f'{{"name": "a"}}, {{"name": "b", "inputSchema": {nested(300)}}}'
    given = form.replace("{}", f'{{"id": 1, "result": {{"tools": [{tools}]}}}}').encode()
    said: list[str] = []
    made = b"".join([part async for part in ShallowBody(Chunks(given, size), said.append)])
    message = next(line for line in made.splitlines() if b"{" in line).removeprefix(b"data:")
    assert json.loads(message) == {"id": 1, "result": {"tools": [{"name": "a"}]}}
    assert len(said) == 1
    assert made.count(b"\n") == given.count(b"\n")
    other = given.replace(b"b", b"c").replace(nested(300).encode(), nested(3).encode())
    assert b"".join([part async for part in ShallowBody(Chunks(other, size), said.append)]) == other
