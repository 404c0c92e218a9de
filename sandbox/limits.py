"""What a program may use. Owns the numbers and their reasons; `lease`, `launcher` and runner enforce them."""

from __future__ import annotations

from dataclasses import dataclass

FRAME_LIMIT_BYTES = 4 * 1024**2
"""Longest line that a runner may send. A result of that size is a mistake; the runner refuses a little below it."""

MOST_VALUES = 100_000
"""In one frame. Other threads wait while one reads or writes a frame: 20 to 50 ms for so many, a second for what
would fit into the bytes.
"""

LEASE_LIMIT_BYTES = 64 * 1024**2
"""What a runner may send in all. Reading and parsing it takes the engine a second, spread over the whole lease."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLimits:
    """Bounds of one run and of the process that it runs in. Reaching one ends the run with an error that names it."""

    wall_seconds: float
    """From the start to the result, without the time in which the lease was paused."""
    cpu_seconds: float
    """Processor time of the whole process during the run, its helper threads included."""
    heap_bytes: int
    """Objects and strings in V8's heap. Buffers are outside of it and count as memory only."""
    memory_bytes: int
    """What the process may map for itself, and what of it may be resident."""
    calls: int
    """Calls of host functions in one run."""
    parallel: int
    """Of them, how many the host works on at a time. Further ones wait, in the order of the calls."""
    log_chars: int
    """Characters that are kept of what the program logs. The rest is dropped, and the result says so: no error."""
    value_bytes: int
    """The result, and each argument of a call, as JSON in UTF-8. At most `FRAME_LIMIT_BYTES`, less a little."""
    values: int
    """Numbers, texts, arrays, objects and so on in the result, and in each argument of a call, all levels counted."""
    program_bytes: int
    """The program itself, in UTF-8."""


RUN_CODE_LIMITS = RunLimits(
    wall_seconds=120.0,  # tools may be slow: a shell command has as long
    cpu_seconds=10.0,
    heap_bytes=128 * 1024**2,
    memory_bytes=400 * 1024**2,  # deno without a program has 130 MiB mapped, and V8's heap comes on top
    calls=1_000,
    parallel=10,
    log_chars=64_000,
    value_bytes=3_900_000,
    values=MOST_VALUES,
    program_bytes=64 * 1024,
)
"""Of a program that a model wrote."""

SCRIPT_BLOCK_LIMITS = RunLimits(
    wall_seconds=5.0,  # a prompt waits for it
    cpu_seconds=1.0,
    heap_bytes=RUN_CODE_LIMITS.heap_bytes,  # as there, so that one spare serves both
    memory_bytes=RUN_CODE_LIMITS.memory_bytes,
    calls=1_000,
    parallel=1,
    log_chars=64_000,
    value_bytes=256 * 1024,  # it goes into a prompt
    values=MOST_VALUES,
    program_bytes=64 * 1024,
)
"""Of one script block of a prompt."""
