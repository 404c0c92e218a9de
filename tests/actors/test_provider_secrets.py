"""No text of a provider leaves with a secret in it: wherever it stands in an event, however it is written or cut."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.chat_stream import AnswerReader, BadAnswerError, ProviderReportError
from actors.run_events import ToolCalled
from actors.secret import HIDDEN, Scrubber, Secret
from tests.scripted_provider import KEY

EVENT: dict[str, Any] = {
    "id": "c-1",
    "object": "chat.completion.chunk",
    "model": "m",
    "system_fingerprint": "f",
    "choices": [
        {
            "index": 0,
            "delta": {
                "role": "assistant",
                "content": "Once",
                "reasoning_content": "Hm.",
                "refusal": "No.",
                "tool_calls": [
                    {"index": 0, "id": "a", "type": "function", "function": {"name": "look", "arguments": '{"q": "x"}'}}
                ],
            },
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "Once"}]},
        }
    ],
    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "prompt_tokens_details": {"note": "n"}},
}


def positions(value: object, way: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The way to every text in a value."""
    if isinstance(value, str):
        yield way
    elif isinstance(value, dict):
        for name, member in cast("dict[str, object]", value).items():
            yield from positions(member, (*way, name))
    elif isinstance(value, list):
        for index, one in enumerate(cast("list[object]", value)):
            yield from positions(one, (*way, index))


POSITIONS = [
    *positions(EVENT),
    ("error",),
    ("usage", "prompt_tokens"),
    ("choices",),
    ("choices", 0, "delta", "content"),
]


def placed(way: tuple[Any, ...], text: object) -> Any:
    """The event with that at this place."""
    event = json.loads(json.dumps(EVENT))
    inner = event
    for step in way[:-1]:
        inner = inner[step]
    inner[way[-1]] = text
    return event


def escaped(text: str) -> str:
    return "".join(f"\\u{ord(character):04x}" for character in text)


def capital(text: str) -> str:
    return "".join(f"\\u{ord(character):04X}" if index % 2 else character for index, character in enumerate(text))


def in_url(text: str) -> str:
    return "".join(f"%{ord(character):02X}" for character in text)


WRITTEN: list[Callable[[str], str]] = [str, escaped, capital, in_url, lambda text: escaped(text).replace("\\", "\\\\")]


def told(events: list[str]) -> tuple[Any, str]:
    """All that leaves when these events are read, as values, and as what somebody reads who puts the pieces together.

    It may be an answer, or an error.
    """
    read = AnswerReader(Scrubber((Secret(KEY),)))
    pieces: list[Any] = []
    try:
        for event in events:
            pieces += read.take(event)
        pieces += read.end()
        answer = read.answer()
    except (BadAnswerError, ProviderReportError) as error:
        # The client shows an error of the provider as a message.
        return [pieces, Scrubber((Secret(KEY),)).message(str(error))], "".join(piece.text for piece in pieces)
    calls = [ToolCalled(one.id, one.name, one.arguments).to_json() for one in answer.tool_requests]
    sent = [one.to_json() for one in answer.tool_requests]
    return [pieces, answer.text, answer.finish_reason, calls, sent], "".join(piece.text for piece in pieces)


def shows(value: Any) -> bool:
    """Whether somebody finds the key in it, also one who undoes what is escaped."""
    text = repr(value)
    for _ in range(3):
        if KEY in text:
            return True
        text = text.replace("\\\\", "\\")
        for character in KEY:
            text = text.replace(escaped(character), character).replace(escaped(character).upper(), character)
    return KEY in text


@pytest.mark.parametrize("way", POSITIONS, ids=lambda way: ".".join(map(str, way)))
@pytest.mark.parametrize("written", WRITTEN, ids=["plain", "escaped", "half", "url", "twice"])
def test_a_key_at_any_place_of_an_event_leaves_at_none(way: tuple[Any, ...], written: Callable[[str], str]) -> None:
    for text in (
        written(KEY),
        f"the key {written(KEY)}!",
        "x" * 195 + written(KEY),
        json.dumps({"q": KEY}),
        {KEY: KEY},
    ):
        assert not shows(told([json.dumps(placed(way, text)), "[DONE]"]))


@pytest.mark.parametrize("written", WRITTEN, ids=["plain", "escaped", "half", "url", "twice"])
def test_a_key_in_what_is_no_event_leaves_nowhere(written: Callable[[str], str]) -> None:
    for text in (f'{{"x": "{written(KEY)}" nope', f'"{written(KEY)}"', "x" * 195 + written(KEY)):
        assert not shows(told([text]))


@given(
    st.sampled_from(["content", "reasoning_content", "arguments"]),
    st.sampled_from([str, escaped, capital]),
    st.lists(st.integers(1, 250), max_size=5),
)
def test_a_key_that_is_cut_into_events_leaves_at_no_cut(
    where: str, written: Callable[[str], str], cuts: list[int]
) -> None:
    # What is escaped is so in the text of the arguments; in the others the JSON of the event has the escapes.
    text = f'{{"q": "a {written(KEY)} b"}}' if where == "arguments" else f"a {KEY} b"
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    events: list[str] = []
    for start, end in pairwise(places):
        piece = text[start:end]
        delta: dict[str, Any] = {where: piece}
        if where == "arguments":
            delta = {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "look", "arguments": piece}}]}
        events.append(json.dumps({"choices": [{"delta": delta}]}))
    values, heard = told([*events, "[DONE]"])
    assert not shows((values, heard))
    assert HIDDEN in repr(values) if where == "arguments" else heard == f"a {HIDDEN} b"


def test_the_word_for_the_end_is_one_that_is_known() -> None:
    for said, known in (("length", "length"), ("cancelled", "other"), ("steps", "other"), (KEY, "other")):
        values, _ = told([json.dumps({"choices": [{"delta": {"content": "x"}, "finish_reason": said}]})])
        assert values[2] == known


def test_a_text_of_backslashes_costs_no_more_than_another() -> None:
    assert Scrubber((Secret(KEY),)).prose("\\" * 500_000) == "\\" * 500_000
