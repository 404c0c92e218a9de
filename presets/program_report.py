"""What a model is told of a program that has run. Owns the words, and the one cap on what a run says.

Pure: what happened in, text out. Source: tool-presentation; findings on Code Mode, 3.4.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from presets.json_preview import json_preview, json_text

REPORT_CHARACTERS = 24_000
"""Most characters of output and result together that enter a model's context. The tool's description says it."""

_LOG_SHARE = 0.5
"""The part of the cap that output gets where both output and result are long."""

_LINE_CHARACTERS = 200
"""Of the line that is to blame. A program may be one line of sixty thousand."""

_FAILURE_CHARACTERS = 8_000
"""Of a failure's message. An error has four thousand at most; what a check found may be longer, and is cut."""

_MAX_SAID_CALLS = 20
"""Calls that a report of a failure names one by one."""


@dataclass(frozen=True, slots=True)
class CallNote:
    """One call that a program made: whether it ended well, or why it did not."""

    tool: str
    error: str | None = None
    finished: bool = True


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program failed. Line and column count from 1 in the program as it was sent; `line_text` is that line."""

    kind: str
    message: str
    line: int | None = None
    column: int | None = None
    line_text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRun:
    """What a run left behind. `has_result` is False for a program that returned nothing."""

    logs: tuple[str, ...] = ()
    has_result: bool = False
    result: object = None
    failure: Failure | None = None
    calls: tuple[CallNote, ...] = ()
    unawaited: int = 0
    notes: tuple[str, ...] = ()
    """What the check of the program remarked without stopping it."""


@dataclass(frozen=True, slots=True)
class Report:
    """The text for the model, and whether anything of the run is not in it."""

    text: str
    shortened: bool


def report_of(run: ProgramRun, program_id: str, characters: int = REPORT_CHARACTERS) -> Report:
    """What the model reads: output and result, or why the program failed and what it had done by then."""
    parts = list(run.notes)
    shortened = False
    if run.failure is not None:
        parts.append(_failure(run.failure))
        parts.append(_calls(run.calls, run.unawaited))
    result = json_text(run.result) if run.has_result and not isinstance(run.result, str) else run.result
    result = result if isinstance(result, str) else ""
    logs = "\n".join(run.logs)
    if len(logs) + len(result) > characters:
        shortened = True
        for_logs = _share(len(logs), len(result), characters)
        logs = _head_and_tail(logs, for_logs)
        for_result = characters - min(len(logs), for_logs)
        if len(result) > for_result:
            whole = isinstance(run.result, str)
            result = _head_and_tail(result, for_result) if whole else json_preview(run.result, for_result)
    if run.failure is not None and logs:
        logs = f"Output before the failure:\n{logs}"
    parts.extend(part for part in (logs, result) if part)
    if shortened:
        parts.append(
            f"[Shortened: output and result together may have {characters} characters here. The whole is kept as "
            f"program {program_id}. To see what you need, return less of it.]"
        )
    if run.failure is not None and not shortened:
        parts.append(f"[Kept as program {program_id}.]")
    if run.failure is None:
        if not logs and not run.has_result:
            parts.append("The program returned nothing and printed nothing; use `return` to see a value.")
        if run.unawaited:
            parts.append(f"[{_not_awaited(run.unawaited)} Their effects may be missing: await every call.]")
    return Report("\n".join(part for part in parts if part), shortened)


def history_note(pieces: int, worlds: int) -> str:
    """A line that says into how many steps of the history the changes went; empty where they are one, or none.

    Each world has one, unless steps of others stay between those of the program.
    """
    if pieces <= 1:
        return ""
    why = (
        f"one in each of {worlds} worlds"
        if pieces == worlds
        else "since something else changed the same world meanwhile"
    )
    return (
        f"\n[What the program changed is {pieces} steps of the history, {why}: undo takes each of them back by itself.]"
    )


def _failure(failure: Failure) -> str:
    where = ""
    if failure.line is not None:
        where = f" in line {failure.line}" + ("" if failure.column is None else f", column {failure.column}")
    line = _around(failure.line_text or "", failure.column or 1)
    shown = "" if not line or failure.line is None else f"\n  {failure.line} | {line}"
    return f"{failure.kind}{where}: {_beginning(failure.message)}{shown}"


def _around(line: str, column: int) -> str:
    """The part of a long line in which the column lies."""
    if len(line) <= _LINE_CHARACTERS:
        return line
    start = min(max(column - 1 - _LINE_CHARACTERS // 2, 0), len(line) - _LINE_CHARACTERS)
    end = start + _LINE_CHARACTERS
    return f"{'…' if start else ''}{line[start:end]}{'…' if end < len(line) else ''}"


def _beginning(message: str) -> str:
    if len(message) <= _FAILURE_CHARACTERS:
        return message
    return f"{message[:_FAILURE_CHARACTERS]}… ({len(message) - _FAILURE_CHARACTERS} more characters)"


def _calls(calls: Sequence[CallNote], unawaited: int) -> str:
    if not calls and not unawaited:
        return "No tool had been called."
    said = [f"{call.tool} ({_outcome(call)})" for call in calls[:_MAX_SAID_CALLS]]
    if len(calls) > _MAX_SAID_CALLS:
        failed = sum(call.error is not None for call in calls[_MAX_SAID_CALLS:])
        said.append(f"{len(calls) - _MAX_SAID_CALLS} more, {failed} of them failed")
    text = f"Calls that already happened, and are not taken back: {', '.join(said)}." if said else ""
    return " ".join(part for part in (text, _not_awaited(unawaited) if unawaited else "") if part)


def _not_awaited(count: int) -> str:
    return f"Calls not awaited: {count}."


def _outcome(call: CallNote) -> str:
    if not call.finished:
        return "cut off"
    return "ok" if call.error is None else "failed"


def _share(logs: int, result: int, characters: int) -> int:
    """How many characters the output gets: its share, and what the result does not need."""
    share = int(characters * _LOG_SHARE)
    return min(logs, max(share, characters - result))


def _head_and_tail(text: str, characters: int) -> str:
    """The beginning and the end of a long text, with a line between them that counts what is missing."""
    if len(text) <= characters:
        return text
    half = max(characters // 2 - 30, 0)
    tail = text[len(text) - half :] if half else ""
    return f"{text[:half]}\n… {len(text) - 2 * half} characters left out …\n{tail}"
