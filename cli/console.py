"""What a command prints: tables for people, JSON for programs. Owns how text gets to the terminal, never what it says.

Standard output holds the answer and nothing else; notes and failures go to standard error.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from protocol.visible_text import is_seen, visible

GAP = "  "
"""Between the columns of a plain table."""

SHORT = 13
"""Cells up to this width are never folded; a narrow terminal takes the room from the longer ones."""

Cell = str | int | float | bool | None
Row = Sequence[Cell]


def say(text: str) -> None:
    """Print text as it is, without markup, wrapping or colour; control characters are shown, not sent."""
    print(_harmless(text))


def note(text: str) -> None:
    """Print a line to standard error: a failure, or what a program that reads the output must not find in it."""
    print(_harmless(text), file=sys.stderr)


def replace_what_cannot_be_printed() -> None:
    """Make standard output and error show characters that their encoding lacks as escapes, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def print_json(value: Any) -> None:
    """Print JSON, indented. It is valid whatever the encoding of the output, and hides nothing from who reads it."""
    unicode = (sys.stdout.encoding or "").lower().startswith("utf")
    text = json.dumps(value, indent=2, ensure_ascii=not unicode)
    # A lone surrogate fits no encoding; as an escape it is still the same JSON.
    print(visible(text.encode("utf-8", "backslashreplace").decode("utf-8"), keep="\n"))


def print_table(title: str | None, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """Print a table: on a terminal folded into its width, elsewhere one line a row, whole, in columns of spaces."""
    cells = [[shown(cell) for cell in row] for row in rows]
    if sys.stdout.isatty():
        _rich_table(title, columns, cells)
    else:
        _plain_table(title, columns, cells)


def print_facts(title: str | None, facts: Sequence[tuple[str, Cell]]) -> None:
    """Print names and values, a line each."""
    print_table(title, (), [(name, value) for name, value in facts])


def shown(cell: Cell) -> str:
    """A value in words and on one line: yes, no, numbers without noise, and a dash for nothing."""
    if cell is None or cell == "":
        return "-"
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return _harmless(str(cell)).replace("\n", " ")


def _rich_table(title: str | None, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    if title is not None:
        print(f"\n{_harmless(title)}")
    width = max([len(columns), *(len(row) for row in cells)])
    table = Table(box=SIMPLE_HEAD, show_header=bool(columns), pad_edge=False, collapse_padding=True)
    for index in range(width):
        head = columns[index] if index < len(columns) else ""
        widest = max(cell_len(text) for text in (head, *(row[index] for row in cells)))
        table.add_column(Text(head), overflow="fold", no_wrap=widest <= SHORT)
    for row in cells:
        table.add_row(*(Text(cell) for cell in row))
    Console().print(table)


def _plain_table(title: str | None, columns: Sequence[str], cells: Sequence[Sequence[str]]) -> None:
    if title is not None:
        print(f"\n{_harmless(title)}:")
    lines = [list(columns), *cells] if columns else list(cells)
    if not lines:
        return
    widths = [max(cell_len(line[index]) for line in lines) for index in range(len(lines[0]))]
    for line in lines:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True))
        print(GAP.join(padded).rstrip())


def _harmless(text: str) -> str:
    """The text with what is not seen as escapes: what came from elsewhere must neither drive the terminal nor hide."""
    return "".join(c if is_seen(c) or c == "\n" else _escape(c) for c in text)


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
