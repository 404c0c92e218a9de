"""How tables and JSON are printed."""

from __future__ import annotations

import io
import json
import re
import sys

import pytest
from rich.cells import cell_len

from cli.console import print_json, print_table, replace_what_cannot_be_printed, say, shown

ROWS = [("a name that is long enough to need folding", "[red]markup[/red]", 7), ("漢字", None, True)]


class Terminal(io.StringIO):
    """Standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


STYLE = re.compile(r"\x1b\[[0-9;]*m")


def test_a_table_is_plain_and_whole_where_no_person_reads(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Things", ("name", "what", "count"), ROWS)
    assert capsys.readouterr().out.splitlines() == [
        "",
        "Things:",
        "name                                        what               count",
        "a name that is long enough to need folding  [red]markup[/red]  7",
        "漢字                                        -                  yes",
    ]


def test_a_table_fits_into_the_terminal_and_loses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stdout", terminal)
    print_table("Things", ("name", "what", "count"), ROWS)
    lines = STYLE.sub("", terminal.getvalue()).splitlines()
    assert max(cell_len(line) for line in lines) <= 40
    assert "[red]markup[/" in "".join(lines)
    assert "漢字" in "".join(lines)


def test_a_table_without_rows_is_its_head(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(None, ("name",), [])
    assert capsys.readouterr().out == "name\n"


def test_facts_without_rows_are_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(None, (), [])
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("cell", "words"),
    [(None, "-"), ("", "-"), (True, "yes"), (False, "no"), (0.1 + 0.2, "0.3"), (7, "7"), ("a\nb", "a b")],
)
def test_a_cell_is_one_line_of_words(cell: str | float | bool | None, words: str) -> None:
    assert shown(cell) == words


def test_json_hides_nothing_and_stays_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    hidden = "a\u202eb\u200bc\x9bd\u3164e\U000e0041"
    print_json({"said": hidden, hidden: [1]})
    out = capsys.readouterr().out
    assert not set(out) & set(hidden[1::2])
    assert json.loads(out) == {"said": hidden, hidden: [1]}


def test_text_cannot_drive_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    say("two\nlines \x1b[31mred\x1b[0m \u202e")
    assert capsys.readouterr().out == "two\nlines \\x1b[31mred\\x1b[0m \\u202e\n"


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_json_is_valid_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    value = {"text": "ü漢\ud800\x1b"}
    out = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    monkeypatch.setattr(sys, "stdout", out)
    print_json(value)
    out.seek(0)
    assert json.loads(out.read()) == value


def test_output_that_its_encoding_lacks_becomes_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)
    replace_what_cannot_be_printed()
    say("ü")
    out.seek(0)
    assert out.read() == "\\xfc\n"
