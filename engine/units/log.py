"""The log of one unit: what was loaded, what failed with its traceback, what its tests and tools printed. In one file.

Owns the file, its form and how much of it is kept, and how lines of it are chosen for a reader.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine.errors import InvalidArgumentError
from engine.printed import MAX_RESULT_BYTES, fitting_prefix, printed_size
from engine.units.manifest import InvalidUnitError, check_unit_name

MAX_LOG_BYTES = 4 * 1024 * 1024
"""Of one log; what is older moves to `.old`, which holds as much again."""

DEFAULT_LINES = 100
"""Given where nobody says how many."""

MAX_LINES = 1000
"""Given at once."""

MAX_LINE_CHARACTERS = 2000
"""Shown of one line; the file has it whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPage:
    """Some lines of a log with their numbers, from 1, of `total` in all."""

    lines: tuple[tuple[int, str], ...]
    total: int


class UnitLogs:
    """The logs of all units, below one folder. May be used from any thread.

    Writing never raises: a disk that is full must not take a tool along.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._lock = threading.Lock()

    def path(self, unit: str) -> Path:
        """Where the log of that unit lies, or would lie."""
        return self._root / f"{check_unit_name(unit)}.log"

    def write(self, unit: str, text: str) -> None:
        """Add a text under the present time, its further lines indented."""
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = f"{now} " + "\n    ".join(text.rstrip("\n").split("\n")) + "\n"
        with self._lock, suppress(OSError, InvalidUnitError):
            self._root.mkdir(mode=0o700, parents=True, exist_ok=True)
            path = self.path(unit)
            with suppress(FileNotFoundError):
                if path.stat().st_size > MAX_LOG_BYTES:
                    path.replace(path.with_suffix(".log.old"))
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            with os.fdopen(os.open(path, flags, 0o600), "ab") as file:
                file.write(entry.encode("utf-8", "backslashreplace"))

    def lines(self, unit: str) -> Sequence[str]:
        """Every line of the log that is kept, without the older half; none where there is no log yet."""
        try:
            text = self.path(unit).read_bytes().decode("utf-8", "replace")
        except OSError:
            return ()
        return text.removesuffix("\n").split("\n") if text else ()


def choose_lines(
    lines: Sequence[str],
    *,
    last: int | None = None,
    offset: int | None = None,
    limit: int | None = None,
    grep: str | None = None,
) -> LogPage:
    """Some of the lines: those that hold `grep`, from line `offset` on or the `last` ones; at most `limit` of them.

    Without either, the last `DEFAULT_LINES`. Raises `InvalidArgumentError` for numbers below 1 and beyond `MAX_LINES`.
    """
    for name, number in (("lines", last), ("offset", offset), ("limit", limit)):
        if number is not None and (number < 1 or (name != "offset" and number > MAX_LINES)):
            raise InvalidArgumentError(f"{name} is {number}; it must be 1 to {MAX_LINES}")
    if last is not None and offset is not None:
        raise InvalidArgumentError("lines counts from the end and offset from the beginning; give one of them")
    rows = [(number, line) for number, line in enumerate(lines, start=1) if grep is None or grep in line]
    if offset is not None:
        rows = [row for row in rows if row[0] >= offset][: limit or DEFAULT_LINES]
    else:
        rows = rows[-(last or limit or DEFAULT_LINES) :]
    return LogPage(lines=_fitting(rows, from_end=offset is None), total=len(lines))


def _fitting(rows: list[tuple[int, str]], *, from_end: bool) -> tuple[tuple[int, str], ...]:
    """As many of the rows as one result takes; the last ones where they count from the end."""
    room = MAX_RESULT_BYTES
    taken: list[tuple[int, str]] = []
    for number, line in reversed(rows) if from_end else rows:
        shown = line if len(line) <= MAX_LINE_CHARACTERS else fitting_prefix(line, MAX_LINE_CHARACTERS) + "…"
        room -= printed_size(shown) + 12
        if room < 0:
            break
        taken.append((number, shown))
    return tuple(reversed(taken)) if from_end else tuple(taken)
