"""Sealed states: what was given out comes back as it was, or not at all."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.request_state import STATE_BYTES, State, StateBinding, StateFault, StateSealer
from tests.protocol.stateless_samples import Clock

HERE = StateBinding("tools/call", {"name": "space_hello", "arguments": {"a": 1}}, "somebody")
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


def sealer(clock: Clock | None = None, **changes: Any) -> StateSealer:
    return StateSealer(changes.pop("key", b"k" * 32), clock or Clock(), **changes)


@pytest.mark.slow
@given(JSON)
def test_a_state_comes_back_as_it_was(value: object) -> None:
    assert sealer().open(sealer().seal(value, HERE), HERE) == State(value)


def test_a_retry_may_bring_what_belongs_to_a_round() -> None:
    text = sealer().seal(1, HERE)
    again = {**HERE.params, "_meta": {"progressToken": 2}, "inputResponses": {"a": {}}, "requestState": text}
    assert sealer().open(text, StateBinding("tools/call", again, "somebody")) == State(1)


def test_no_arguments_and_empty_ones_are_the_same_request() -> None:
    text = sealer().seal(1, StateBinding("tools/call", {"name": "a", "arguments": {}}, ""))
    assert sealer().open(text, StateBinding("tools/call", {"name": "a"}, "")) == State(1)


@pytest.mark.parametrize(
    "other",
    [
        StateBinding("prompts/get", HERE.params, "somebody"),
        StateBinding("tools/call", HERE.params, "somebody else"),
        StateBinding("tools/call", {"name": "space_hello", "arguments": {"a": 2}}, "somebody"),
        StateBinding("tools/call", {"name": "space_shape", "arguments": {"a": 1}}, "somebody"),
        StateBinding("tools/call", {**HERE.params, "extra": 1}, "somebody"),
    ],
)
def test_a_state_of_another_request_or_another_caller_is_refused(other: StateBinding) -> None:
    assert isinstance(sealer().open(sealer().seal(1, HERE), other), StateFault)


def test_a_state_of_another_key_is_refused() -> None:
    assert isinstance(sealer(key=b"x" * 32).open(sealer().seal(1, HERE), HERE), StateFault)


def test_a_state_expires() -> None:
    clock = Clock()
    text = sealer(clock, ttl_seconds=10).seal(1, HERE)
    clock.now += 9.9
    assert sealer(clock).open(text, HERE) == State(1)
    clock.now += 0.2
    found = sealer(clock).open(text, HERE)
    assert isinstance(found, StateFault)
    assert "expired" in found.reason


def test_a_state_for_once_opens_once_and_says_why_not_again() -> None:
    seals = sealer()
    text, other = seals.seal(1, HERE, once=True), seals.seal(1, HERE, once=True)
    assert text != other
    assert seals.open(text, HERE) == State(1)
    again = seals.open(text, HERE)
    assert isinstance(again, StateFault)
    assert "used already" in again.reason
    assert seals.open(other, HERE) == State(1)


def test_a_state_for_once_that_belongs_to_another_request_is_not_used_up_by_it() -> None:
    seals = sealer()
    text = seals.seal(1, HERE, once=True)
    assert isinstance(seals.open(text, StateBinding("tools/call", HERE.params, "thief")), StateFault)
    assert seals.open(text, HERE) == State(1)


def test_no_used_state_opens_again_however_many_were_used_since() -> None:
    clock = Clock()
    seals = sealer(clock, used=4)
    texts: list[str] = []
    for _ in range(12):
        clock.now += 1
        texts.append(seals.seal(1, HERE, once=True))
        assert seals.open(texts[-1], HERE) == State(1)
    assert all(isinstance(seals.open(text, HERE), StateFault) for text in texts)


@given(st.data())
def test_no_changed_character_is_overlooked(data: st.DataObject) -> None:
    text = sealer().seal({"step": 1}, HERE)
    place = data.draw(st.integers(0, len(text) - 1))
    letter = data.draw(st.sampled_from("ABCxyz019-_= \n+/.\u00fc"))
    changed = text[:place] + letter + text[place + 1 :]
    assert changed == text or isinstance(sealer().open(changed, HERE), StateFault)


@given(st.text(max_size=200))
def test_no_text_raises(text: str) -> None:
    assert isinstance(sealer().open(text, HERE), StateFault)


@pytest.mark.parametrize("change", ["{}-TAMPERED", "{}=", " {}", "{}\n"])
def test_a_seal_cannot_be_dressed_up(change: str) -> None:
    text = sealer().seal({"a": 1}, HERE)
    assert isinstance(sealer().open(change.format(text), HERE), StateFault)


def test_a_state_that_is_too_long_or_no_json_is_not_sealed() -> None:
    for value in ("x" * STATE_BYTES, object()):
        with pytest.raises(ValueError, match=r"bytes|serialize"):
            sealer().seal(value, HERE)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        sealer(key=b"short")
