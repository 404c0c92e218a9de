"""An answer is put together from its events, whatever the provider's habits, and nothing in it is trusted."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chat import ChatAnswer, ReasoningPiece, TextPiece, ToolRequest, Usage
from actors.chat_stream import (
    MOST_ANSWER_CHARACTERS,
    MOST_TOOL_REQUESTS,
    AnswerReader,
    BadAnswerError,
    ProviderReportError,
)
from actors.secret import HIDDEN, Scrubber, Secret
from tests.scripted_provider import KEY


def reader() -> AnswerReader:
    return AnswerReader(Scrubber((Secret(KEY),)))


def chunk(finish_reason: str | None = None, **delta: Any) -> str:
    return json.dumps({"choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason}]})


def answer(*events: str) -> ChatAnswer:
    """The answer in these events."""
    read = reader()
    for event in events:
        read.take(event)
    read.end()
    return read.answer()


def call(index: int | None, **members: Any) -> str:
    entry = members if index is None else {"index": index, **members}
    return chunk(tool_calls=[entry])


def test_text_reasoning_usage_and_the_reason_of_the_end_are_read() -> None:
    read = reader()
    assert read.take(chunk(role="assistant", content="")) == []
    assert read.take(chunk(reasoning_content="Hm.")) == [ReasoningPiece("Hm.")]
    assert read.take(chunk(reasoning="Hm!")) == [ReasoningPiece("Hm!")]
    assert read.take(chunk(content="Once")) == [TextPiece("Once")]
    assert read.take(chunk("length", content=[{"type": "text", "text": " upon"}])) == [TextPiece(" upon")]
    assert read.take(json.dumps({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})) == ()
    assert read.take("[DONE]") == ()
    assert read.end() == []
    assert read.answer() == ChatAnswer(text="Once upon", finish_reason="length", usage=Usage(3, 2))


def test_tool_calls_are_merged_from_their_pieces() -> None:
    given = answer(
        call(0, id="a", function={"name": "look", "arguments": ""}),
        call(1, id="b", function={"name": "find", "arguments": '{"q"'}),
        call(0, function={"arguments": '{"id": 1}'}),
        call(1, id=None, function={"name": None, "arguments": ': "x"}'}),
        chunk("tool_calls"),
    )
    assert given.tool_requests == (ToolRequest("a", "look", '{"id": 1}'), ToolRequest("b", "find", '{"q": "x"}'))
    assert given.finish_reason == "tool_calls"


@pytest.mark.parametrize("index", [None, 0])
def test_calls_without_an_index_or_with_the_same_one_are_told_apart_by_their_ids(index: int | None) -> None:
    given = answer(
        call(index, id="a", function={"name": "look", "arguments": "{}"}),
        call(index, id="b", function={"name": "find", "arguments": {"q": "é"}}),
        "[DONE]",
    )
    assert given.tool_requests == (ToolRequest("a", "look", "{}"), ToolRequest("b", "find", '{"q": "é"}'))
    assert given.finish_reason == "tool_calls"


def test_calls_without_ids_get_some_and_calls_without_a_name_are_none() -> None:
    given = answer(
        call(0, function={"name": "look", "arguments": "{}"}), call(1, function={"arguments": "{}"}), chunk("stop")
    )
    assert given.tool_requests == (ToolRequest("call-1", "look", "{}"),)


def test_halves_of_a_character_are_joined_across_pieces_and_lone_ones_are_replaced() -> None:
    given = answer(
        '{"choices": [{"delta": {"content": "a\\ud83d"}}]}',
        '{"choices": [{"delta": {"content": "\\ude00b\\udc00c\\ud83d"}, "finish_reason": "stop"}]}',
    )
    assert given.text == "a😀b\ufffdc\ufffd"


def test_the_key_is_taken_out_of_everything_even_when_it_is_cut() -> None:
    read = reader()
    shown = [*read.take(chunk(content=f"My key is {KEY[:10]}")), *read.take(chunk("stop", content=f"{KEY[10:]}, see?"))]
    read.take(call(0, id="a", function={"name": "look", "arguments": json.dumps({"key": KEY})}))
    shown += read.end()
    assert "".join(piece.text for piece in shown) == f"My key is {HIDDEN}, see?"
    assert KEY not in repr(read.answer())


def test_a_stream_that_ends_before_the_answer_does_is_no_answer() -> None:
    with pytest.raises(BadAnswerError, match="in the middle of the answer"):
        answer(chunk(content="Once upo"))


def test_an_error_in_the_stream_is_what_the_provider_says() -> None:
    for body in (
        {"error": {"message": "out of credit"}},
        {"error": "out of credit"},
        {"error": [{"detail": "out of credit"}]},
    ):
        with pytest.raises(ProviderReportError, match="out of credit"):
            answer(json.dumps(body))


def test_a_whole_completion_is_taken_as_well() -> None:
    message = {"content": "Once", "tool_calls": [{"id": "a", "function": {"name": "look", "arguments": "{}"}}]}
    read = reader()
    assert read.take_whole(json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]})) == [
        TextPiece("Once")
    ]
    read.end()
    assert read.answer().tool_requests == (ToolRequest("a", "look", "{}"),)
    with pytest.raises(BadAnswerError, match="without choices"):
        reader().take_whole("{}")


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("{nope", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("9" * 10_000, "no JSON"),
        ("[1]", "no object"),
        ('{"choices": 7}', "no list"),
    ],
)
def test_what_is_no_event_is_refused_in_words(event: str, said: str) -> None:
    with pytest.raises(BadAnswerError, match=said) as caught:
        reader().take(event)
    assert len(str(caught.value)) < 400


def test_an_answer_cannot_grow_without_end() -> None:
    pieces = (chunk(content="x" * 100_000) for _ in range(MOST_ANSWER_CHARACTERS // 100_000 + 1))
    with pytest.raises(BadAnswerError, match="more than 1000000 characters"):
        answer(*pieces)
    requests = (call(index, id=f"{index}", function={"name": "x"}) for index in range(MOST_TOOL_REQUESTS + 1))
    with pytest.raises(BadAnswerError, match="64 tool calls"):
        answer(*requests)
    with pytest.raises(BadAnswerError, match="tool call with more than"):
        answer(call(0, id="a", function={"name": "x", "arguments": "x" * 300_000}))


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "content",
                    "tool_calls",
                    "index",
                    "id",
                    "function",
                    "name",
                    "arguments",
                    "usage",
                    "error",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(st.lists(_json, max_size=4))
def test_no_event_does_anything_but_what_an_event_may(events: list[Any]) -> None:
    read = reader()
    try:
        for event in events:
            read.take(json.dumps({"choices": [{"delta": event}]}))
            read.take(json.dumps(event))
        read.end()
        read.answer()
    except (BadAnswerError, ProviderReportError):
        pass


@pytest.mark.parametrize(
    "events",
    [
        ["[DONE]"],
        [chunk(content={"a": 1}), "[DONE]"],
        [chunk(content={"a": 1}), chunk("stop")],
        [chunk(content=[{"type": "picture"}]), chunk("stop")],
        [chunk("tool_calls")],
        [call(0, id="a", function={"arguments": "{}"}), chunk("tool_calls")],
    ],
)
def test_an_answer_in_which_nothing_can_be_read_is_none(events: list[str]) -> None:
    with pytest.raises(BadAnswerError, match="sent nothing that can be read"):
        answer(*events)


def test_a_model_that_has_nothing_to_say_has_answered() -> None:
    assert answer(chunk(role="assistant", content=""), chunk("stop")) == ChatAnswer(text="", finish_reason="stop")
