"""What has become of a run. Values only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sandbox.namespace import JsonValue

FailureKind = Literal[
    "exception",
    "timeout",
    "cpu-limit",
    "memory-limit",
    "call-limit",
    "output-limit",
    "program-limit",
    "invalid-output",
    "worker-exit",
    "abort",
]
"""`exception`: the program threw. `…-limit` and `timeout`: a limit, which the message names. `invalid-output`: the
result is no JSON. `worker-exit`: the process ended or broke the rules. `abort`: the lease was closed meanwhile."""


@dataclass(frozen=True, slots=True)
class LogLine:
    """One call of the console."""

    level: str
    """log, info, warn, error or debug."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunError:
    """Why a run failed, in words for whoever wrote the program."""

    kind: FailureKind
    message: str
    name: str = ""
    """The error's class, like TypeError; empty unless the program threw an error."""
    line: int | None = None
    """In the program, from 1. None where no line of it is to blame."""
    column: int | None = None
    line_text: str = ""
    """That line as it is in the program."""
    frames: tuple[str, ...] = ()
    """The program's own part of the stack, innermost first, like "parse, line 3, column 7"."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Everything that a run has left. Failed exactly when `error` is there."""

    value: JsonValue = None
    has_value: bool = False
    """Whether the program returned something; null is something."""
    logs: tuple[LogLine, ...] = ()
    logs_cut: bool = False
    """Whether the program has logged more than is kept."""
    error: RunError | None = None
    calls: int = 0
    """Calls of host functions that were begun or refused."""
    calls_unawaited: int = 0
    """Of them, how many the program has left without waiting for their answer. What still went on was cancelled."""
    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Zero where the system does not tell."""
