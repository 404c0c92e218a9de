"""Secrets do not show, and what may hold one is cleaned, however it comes."""

from __future__ import annotations

import pickle
import time
import traceback
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from actors.secret import HIDDEN, Scrubber, Secret

KEY = "sk-abcabcabcabcabcabcd"


def test_a_secret_shows_itself_only_when_asked() -> None:
    secret = Secret(KEY)
    assert secret.reveal() == KEY
    for shown in (str(secret), repr(secret), f"{secret!r:>30}", repr([secret]), repr({"key": secret})):
        assert KEY not in shown
    with pytest.raises(TypeError):
        pickle.dumps(secret)
    assert KEY not in "".join(traceback.format_exception(ValueError(secret)))


def test_secrets_with_the_same_text_are_equal_and_an_empty_one_is_false() -> None:
    assert Secret("a") == Secret("a") != Secret("b")
    assert len({Secret("a"), Secret("a")}) == 1
    assert bool(Secret("a")) is True
    assert bool(Secret("")) is False


def test_messages_lose_secrets_their_parts_and_what_looks_like_the_rest_of_one() -> None:
    scrubber = Scrubber((Secret(KEY), Secret("Basic dXNlcjpwdw==")))
    for text in (f"bad key {KEY}", "bad dXNlcjpwdw==", "Incorrect API key: sk-ab****abcd.", "sk-a•••cd"):
        clean = scrubber.message(text)
        assert HIDDEN in clean
        assert "sk-a" not in clean
        assert "dXNlcjpwdw" not in clean


def test_a_long_message_is_cleaned_in_no_time() -> None:
    started = time.perf_counter()
    assert Scrubber((Secret(KEY),)).message("x" * 300_000 + "*" * 2) != HIDDEN
    assert Scrubber((Secret(KEY),)).message("x" * 300_000 + "*" * 3) == HIDDEN
    assert time.perf_counter() - started < 1


def test_a_short_key_takes_no_letters_out_of_ordinary_words() -> None:
    scrubber = Scrubber((Secret("none"), Secret("lm-studio")))
    assert scrubber.message("none of it, said lm-studio") == f"none of it, said {HIDDEN}"
    assert scrubber.prose("none of it, said lm-studio") == "none of it, said lm-studio"


@given(st.text("sk-abcd ", max_size=30), st.text("sk-abcd ", max_size=30), st.lists(st.integers(0, 90), max_size=6))
def test_a_secret_that_comes_in_pieces_is_taken_out_and_nothing_else_is_changed(
    before: str, after: str, cuts: list[int]
) -> None:
    text = before + KEY + after
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    flow = Scrubber((Secret(KEY),)).flow()
    shown = "".join(flow.feed(text[a:b]) for a, b in pairwise(places)) + flow.end()
    assert shown == text.replace(KEY, HIDDEN)


def test_a_text_without_secrets_is_not_held_back() -> None:
    flow = Scrubber((Secret(KEY),)).flow()
    assert [flow.feed("Once upon"), flow.feed(" a time"), flow.end()] == ["Once upon", " a time", ""]


def test_what_was_decoded_loses_secrets_at_every_depth_and_keeps_all_else() -> None:
    scrubber = Scrubber((Secret(KEY),))
    assert scrubber.tree({"a": [f"x {KEY}", {KEY: 1.5}], "b": None, "c": True}) == {
        "a": [f"x {HIDDEN}", {HIDDEN: 1.5}],
        "b": None,
        "c": True,
    }


def test_the_beginning_of_a_long_text_holds_no_part_of_a_secret() -> None:
    assert Scrubber((Secret(KEY),)).beginning("x" * 15 + f" {KEY}", 20) == "x" * 15 + f" {HIDDEN}"[:5]
