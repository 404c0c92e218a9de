"""A shell command and its result, with their limits. Owns these values and how output is cut; never runs a process."""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import InvalidArgumentError

DEFAULT_SHELL_TIMEOUT_SECONDS = 120.0
"""Long enough for a build or a test run, short enough that a command which waits for input does not block an agent."""

MAX_SHELL_TIMEOUT_SECONDS = 600.0
"""Ten minutes. Clients give up on a call at about that time."""

MAX_COMMAND_CHARACTERS = 32_000
"""A command is one argument of a process; Linux takes 128 KiB for one, of which a character may need four bytes."""

STDOUT_LIMIT_BYTES = 24_000
"""Bytes kept of what a command prints. Clients show 50 KiB of a result; JSON escapes and stderr need their share."""

STDERR_LIMIT_BYTES = 8_000
"""Bytes kept of the errors a command prints. See `STDOUT_LIMIT_BYTES`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCommand:
    """One command for `bash -c`, the seconds it may take, and where it runs (relative to the workspace folder).

    Raises `InvalidArgumentError` for an empty command, one with a NUL or too long, and a time outside the limits.
    """

    command: str
    timeout_seconds: float = DEFAULT_SHELL_TIMEOUT_SECONDS
    working_directory: str = "."

    def __post_init__(self) -> None:
        if not self.command.strip():
            raise InvalidArgumentError("command is empty; give what bash should run, such as 'ls -l'")
        if "\0" in self.command:
            raise InvalidArgumentError("command holds a NUL character, which no command can hold")
        if len(self.command) > MAX_COMMAND_CHARACTERS:
            raise InvalidArgumentError(
                f"command has {len(self.command)} characters; at most {MAX_COMMAND_CHARACTERS} are taken. "
                "Write a script into a file and run that."
            )
        if not 0 < self.timeout_seconds <= MAX_SHELL_TIMEOUT_SECONDS:
            raise InvalidArgumentError(
                f"timeout_seconds is {self.timeout_seconds:g}; it must be above 0 "
                f"and at most {MAX_SHELL_TIMEOUT_SECONDS:g}"
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellResult:
    """What came of a command.

    `exit_code` is None when the command was killed, by its time limit (`timed_out`) or by a signal (`signal`, its
    number). `background_ended` says that processes which it had left running were ended when it was done itself.
    `stdout` and `stderr` are as `CutOutput.text`; the omitted bytes say what is missing in their middle.
    """

    exit_code: int | None
    stdout: str
    stderr: str
    timed_out: bool = False
    signal: int | None = None
    background_ended: bool = False
    stdout_omitted_bytes: int = 0
    stderr_omitted_bytes: int = 0

    @property
    def truncated(self) -> bool:
        """Whether some of the output is missing."""
        return self.stdout_omitted_bytes > 0 or self.stderr_omitted_bytes > 0


@dataclass(frozen=True, slots=True)
class CutOutput:
    """Output as text, without its middle where it was too long; a note stands in the place of what was left out."""

    text: str
    omitted_bytes: int


class BoundedOutput:
    """Collects the output of a process in bounded memory: its head and its tail, each half of `limit_bytes`."""

    def __init__(self, limit_bytes: int) -> None:
        self._head_limit = limit_bytes - limit_bytes // 2
        self._tail_limit = limit_bytes // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._total = 0

    def append(self, chunk: bytes) -> None:
        """Take the next piece of output."""
        self._total += len(chunk)
        room = self._head_limit - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > self._tail_limit:
            del self._tail[: len(self._tail) - self._tail_limit]

    def cut(self) -> CutOutput:
        """What was collected so far. Bytes that are no UTF-8 appear as U+FFFD."""
        omitted = self._total - len(self._head) - len(self._tail)
        if not omitted:
            return CutOutput(bytes(self._head + self._tail).decode("utf-8", "replace"), 0)
        head = _without_partial_end(bytes(self._head))
        tail = _without_partial_start(bytes(self._tail))
        omitted = self._total - len(head) - len(tail)
        note = f"\n[... {omitted} bytes left out ...]\n"
        return CutOutput(head.decode("utf-8", "replace") + note + tail.decode("utf-8", "replace"), omitted)


def cut_middle(output: bytes, limit_bytes: int) -> CutOutput:
    """The output as text with at most `limit_bytes` of its own bytes; what is too much is left out of the middle."""
    collected = BoundedOutput(limit_bytes)
    collected.append(output)
    return collected.cut()


_LONGEST_UTF8 = 4


def _is_continuation(byte: int) -> bool:
    return byte & 0b1100_0000 == 0b1000_0000


def _without_partial_end(data: bytes) -> bytes:
    """Without a character at the end whose last bytes were cut away."""
    for back in range(1, min(_LONGEST_UTF8, len(data)) + 1):
        lead = data[-back]
        if _is_continuation(lead):
            continue
        needed = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        return data[:-back] if needed > back else data
    return data


def _without_partial_start(data: bytes) -> bytes:
    """Without bytes at the start whose first byte was cut away."""
    start = 0
    while start < min(_LONGEST_UTF8 - 1, len(data)) and _is_continuation(data[start]):
        start += 1
    return data[start:]
