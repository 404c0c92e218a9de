"""The last programs that were run, whole: what they were, what they called, printed and returned.

Owns how many are kept. Whoever was given a shortened report finds the rest here.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from actors.change_counter import ChangeCounter
from protocol.session import Audience

KEPT_PROGRAMS = 100
"""Programs that are kept, the last ones."""

KEPT_CHARACTERS = 16 * 1024 * 1024
"""Characters of all of them together. A single run may leave four million."""


SECONDS_DIGITS = 4
"""Digits of seconds after the point: no call is shorter than a tenth of a millisecond by much."""


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One call of a program. `arguments` is JSON, shortened where it is long; times are seconds from its start."""

    tool: str
    arguments: str
    started: float
    seconds: float | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgramRecord:
    """One program. `seconds` is None while it runs; `result_text` is what was returned, as JSON or the text itself.

    `steps` is of how many steps of the history its changes are: one, unless others changed the same world meanwhile, or
    it changed several worlds.
    """

    id: str
    audience: Audience
    description: str
    code: str
    started_at: float
    """Epoch seconds."""
    seconds: float | None = None
    failure: str | None = None
    logs: tuple[str, ...] = ()
    result_text: str | None = None
    calls: tuple[CallRecord, ...] = ()
    steps: int = 0

    @property
    def characters(self) -> int:
        """How much it holds."""
        logs = sum(map(len, self.logs))
        calls = sum(len(call.arguments) + len(call.error or "") for call in self.calls)
        return len(self.code) + len(self.description) + len(self.result_text or "") + logs + calls

    def to_json(self, *, whole: bool = True) -> dict[str, Any]:
        """The record as plain JSON values; without `whole`, what a list needs."""
        row: dict[str, Any] = {
            "id": self.id,
            "agent": self.audience.agent,
            "description": self.description,
            "started_at": self.started_at,
            "seconds": self.seconds,
            "failure": self.failure,
            "call_count": len(self.calls),
            "steps": self.steps,
        }
        if not whole:
            return row
        calls = [
            {
                "tool": call.tool,
                "arguments": call.arguments,
                "started": round(call.started, SECONDS_DIGITS),
                "seconds": None if call.seconds is None else round(call.seconds, SECONDS_DIGITS),
                "error": call.error,
            }
            for call in self.calls
        ]
        return {**row, "code": self.code, "logs": list(self.logs), "result": self.result_text, "calls": calls}


class ProgramLog:
    """Programs by id. Those that began or ended longest ago give way once there are too many or too much."""

    def __init__(self, most: int = KEPT_PROGRAMS, most_characters: int = KEPT_CHARACTERS) -> None:
        self._most = most
        self._most_characters = most_characters
        self._records: OrderedDict[str, ProgramRecord] = OrderedDict()
        self._characters = 0
        self.changes = ChangeCounter()
        """Counts programs that begin, and that end."""

    def put(self, record: ProgramRecord) -> None:
        """Add a program, or replace what was known of it. It is the latest then: whoever has just ended is kept."""
        before = self._records.pop(record.id, None)
        self._characters += record.characters - (0 if before is None else before.characters)
        self._records[record.id] = record
        while len(self._records) > self._most or (self._characters > self._most_characters and len(self._records) > 1):
            _, dropped = self._records.popitem(last=False)
            self._characters -= dropped.characters
        self.changes.count()

    def get(self, program_id: str) -> ProgramRecord | None:
        """The program of that id, or None where there is none (any more)."""
        return self._records.get(program_id)

    def latest(self) -> tuple[ProgramRecord, ...]:
        """Those that are kept, the latest first."""
        return tuple(reversed(self._records.values()))


def without_middle(text: str, characters: int) -> str:
    """The text, or its beginning and how much is missing."""
    return text if len(text) <= characters else f"{text[:characters]}… ({len(text) - characters} more characters)"
