"""The limits of a shell command, and how its output is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import InvalidArgumentError
from engine.shell import (
    MAX_COMMAND_CHARACTERS,
    MAX_SHELL_TIMEOUT_SECONDS,
    BoundedOutput,
    ShellCommand,
    ShellResult,
    cut_middle,
)


def test_a_command_has_two_minutes_in_the_workspace_folder_unless_told_otherwise() -> None:
    command = ShellCommand(command="ls")
    assert (command.timeout_seconds, command.working_directory) == (120, ".")


@pytest.mark.parametrize(
    ("command", "words"),
    [("", "empty"), (" \n", "empty"), ("a\0b", "NUL"), ("x" * (MAX_COMMAND_CHARACTERS + 1), "file")],
)
def test_a_command_that_cannot_run_is_refused(command: str, words: str) -> None:
    with pytest.raises(InvalidArgumentError, match=words):
        ShellCommand(command=command)


@pytest.mark.parametrize("seconds", [0, -1, MAX_SHELL_TIMEOUT_SECONDS + 1, float("nan"), float("inf")])
def test_a_time_outside_the_limits_is_refused(seconds: float) -> None:
    with pytest.raises(InvalidArgumentError, match="timeout_seconds"):
        ShellCommand(command="ls", timeout_seconds=seconds)


def test_a_result_is_truncated_when_any_of_its_output_is_missing() -> None:
    assert not ShellResult(exit_code=0, stdout="", stderr="").truncated
    assert ShellResult(exit_code=0, stdout="", stderr="", stdout_omitted_bytes=1).truncated
    assert ShellResult(exit_code=0, stdout="", stderr="", stderr_omitted_bytes=1).truncated


def test_output_within_the_limit_is_whole() -> None:
    cut = cut_middle(b"hello", 5)
    assert (cut.text, cut.omitted_bytes) == ("hello", 0)


def test_too_much_output_loses_its_middle_and_says_how_much() -> None:
    cut = cut_middle(b"head" + b"." * 92 + b"tail", 8)
    assert (cut.text, cut.omitted_bytes) == ("head\n[... 92 bytes left out ...]\ntail", 92)


def test_a_character_is_not_cut_into_pieces() -> None:
    cut = cut_middle("äöü€𝄞".encode() * 10, 31)
    assert "\ufffd" not in cut.text


def test_bytes_that_are_no_text_are_shown_as_replacements() -> None:
    assert cut_middle(b"a\xffb", 10).text == "a\ufffdb"


@given(st.binary(max_size=60), st.integers(2, 50), st.integers(1, 20))
def test_it_does_not_matter_in_which_pieces_output_arrives(output: bytes, limit: int, size: int) -> None:
    collected = BoundedOutput(limit)
    for start in range(0, len(output), size):
        collected.append(output[start : start + size])
    assert collected.cut() == cut_middle(output, limit)


@given(st.text(max_size=60), st.integers(8, 60))
def test_what_is_kept_and_what_is_left_out_make_the_whole(text: str, limit: int) -> None:
    output = text.encode("utf-8", "replace")
    cut = cut_middle(output, limit)
    if len(output) <= limit:
        assert (cut.text.encode(), cut.omitted_bytes) == (output, 0)
    else:
        head, tail = (part.encode() for part in cut.text.split(f"\n[... {cut.omitted_bytes} bytes left out ...]\n", 1))
        assert len(head) + len(tail) + cut.omitted_bytes == len(output)
        assert output.startswith(head)
        assert output.endswith(tail)
        assert len(head) + len(tail) <= limit


def test_it_holds_no_more_than_its_limit() -> None:
    collected = BoundedOutput(1000)
    for _ in range(1000):
        collected.append(b"x" * 10_000)
    assert len(collected._head) + len(collected._tail) <= 1000
    assert collected.cut().omitted_bytes == 1000 * 10_000 - 1000
