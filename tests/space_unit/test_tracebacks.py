"""Errors in words: whatever an error does when it is asked for them, there are some."""

from __future__ import annotations

import pytest

from space_unit.tracebacks import MAX_WORDS_CHARACTERS, in_one_line, own_traceback, words_of


class _NoTextError(Exception):
    def __str__(self) -> str:
        raise ValueError("no")


class _InterruptsError(Exception):
    def __str__(self) -> str:
        raise KeyboardInterrupt

    def __repr__(self) -> str:
        raise SystemExit(1)


class _NoStringError(Exception):
    def __str__(self) -> str:
        return 5  # noqa: PLE0307  # pyright: ignore[reportReturnType]


class _NoCauseError(Exception):
    @property
    def __cause__(self) -> BaseException | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise KeyboardInterrupt

    @property
    def __notes__(self) -> list[str]:  # pyright: ignore[reportIncompatibleVariableOverride]
        raise KeyboardInterrupt


@pytest.mark.parametrize("kind", [_NoTextError, _InterruptsError, _NoStringError, _NoCauseError])
def test_an_error_that_cannot_be_described_is_described_by_its_kind(kind: type[Exception]) -> None:
    error = kind()
    for text in (own_traceback(error), in_one_line(error)):
        assert kind.__name__ in text
    assert isinstance(words_of(error), str)
    group = BaseExceptionGroup("two", [error, KeyboardInterrupt()])
    assert kind.__name__ in own_traceback(group)
    assert "KeyboardInterrupt" in own_traceback(group)


def test_what_an_error_says_is_cut_in_a_sentence() -> None:
    said = in_one_line(ValueError("x" * 10**6))
    assert len(said) < MAX_WORDS_CHARACTERS + 100
    assert "996000 characters left out" in said
