"""Searching the content of files with the system's `grep -E`. Owns its limits and how its output is read.

A separate process, because a pattern can be made that takes longer than anybody waits or all memory there is; this
process has limits of its own on processor time, memory and output. It never follows a link, and it starts from a
descriptor that the caller has opened, so it cannot leave the workspace folder.
"""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine.errors import ConflictError, InvalidArgumentError
from engine.printed import MAX_RESULT_BYTES, printed_size

SEARCH_TIMEOUT_SECONDS = 15
"""Enough for gigabytes of text from a warm cache; a client waits longer than this."""

SEARCH_MEMORY_KIB = 512 * 1024
"""Address space of grep. Nested repetition in a pattern can ask for many gigabytes."""

SEARCH_OUTPUT_BLOCKS = 16 * 1024
"""Output that is read, in blocks of 512 bytes (8 MiB): some hundred thousand matches, of which one page is shown."""

MAX_PATTERN_CHARACTERS = 1000
"""Longer patterns are lists of words, which belong into several searches."""

MAX_MATCHES = 500
"""Matches in one result."""

MAX_MATCH_CHARACTERS = 400
"""Of a matching line; minified files have lines of megabytes."""

LEFT_OUT_FOLDERS = (".git", ".venv", "__pycache__", "node_modules")
"""Folders of these names are not searched unless the search starts inside one: what is in them nobody wrote."""

_MATCH_OVERHEAD_BYTES = 40
"""What JSON adds to one match: braces, names of members, the number of the line."""

_ESCAPES = re.compile(r"\\(.)", re.DOTALL)

_KNOWN_ESCAPES = "bBsSwW"
"""Letters that mean something after a backslash. Before others grep drops the backslash and finds the wrong thing."""

_LONGEST_COMPLAINT_BYTES = 300

_LONG_LINE_BYTES = 64 * 1024
"""Of a line cut by the limit on output: enough for its path, its number and all that is shown of its text."""

_TROUBLE = 2
"""The exit code of grep after an error of any kind."""

# The shell only sets the limits and is then replaced by grep, so that ending the one process ends the search.
_LIMITED = (
    f'ulimit -v {SEARCH_MEMORY_KIB}; ulimit -f {SEARCH_OUTPUT_BLOCKS}; ulimit -t {SEARCH_TIMEOUT_SECONDS}; exec "$@"'
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMatch:
    """A line that matches: its file, its number from 1, and its text, cut after `MAX_MATCH_CHARACTERS`."""

    path: str
    line: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchResult:
    """The first matches in order of path and line, and how many there are in all.

    Where `total_is_exact` is False there may be even more: the search was ended when it had found that many. Where it
    ended within a line that is too long to be read whole, `ended_in` is that match; it is counted too.
    """

    matches: tuple[SearchMatch, ...]
    total: int
    total_is_exact: bool
    ended_in: SearchMatch | None = None


def search_folder(
    folder: int, prefix: str, pattern: str, *, include: str | None, limit: int, left_out: str | None = None
) -> SearchResult:
    """Search the files below the folder of that descriptor. `prefix` stands before the paths of the result.

    What lies in the folder `left_out`, named as the paths of the result are, is not in it.

    Raises `InvalidArgumentError` for a pattern or glob that grep does not take, and `ConflictError` when grep is
    missing or does not end in time.
    """
    arguments = ["-r", "-D", "skip", *(f"--exclude-dir={name}" for name in LEFT_OUT_FOLDERS)]
    if include is not None:
        if not include or "\0" in include or "/" in include:
            raise InvalidArgumentError(f"include {include!r} must be a glob for file names, such as '*.py'.")
        arguments.append(f"--include={include}")
    # The descriptor, not the path: another process may have put something else in its place. The child inherits it.
    raw = _grep(pattern, [*arguments, "--", "."], stdin=None, working_directory=f"/proc/self/fd/{folder}")
    found = [(prefix + path.removeprefix("./"), line, text) for path, line, text in _read(raw.output)]
    if left_out is not None:
        found = [one for one in found if not one[0].casefold().startswith(f"{left_out}/".casefold())]
    return _result(found, raw, limit=limit)


def search_file(file: int, path: str, pattern: str, *, limit: int) -> SearchResult:
    """Search the file of that descriptor, which is called `path` in the result. Raises as `search_folder` does."""
    raw = _grep(pattern, ["--", "-"], stdin=file, working_directory="/")
    found = [(path, line, text) for _, line, text in _read(raw.output)]
    return _result(found, raw, limit=limit)


@dataclass(frozen=True, slots=True)
class _Raw:
    output: bytes
    whole: bool

    def last_line_is_long(self) -> bool:
        """Whether it was ended within a line of which more is here than is ever shown."""
        return not self.whole and len(self.output) - (self.output.rfind(b"\n") + 1) >= _LONG_LINE_BYTES


def _grep(pattern: str, arguments: Sequence[str], *, stdin: int | None, working_directory: str) -> _Raw:
    _check(pattern)
    program = shutil.which("grep")
    if program is None:
        raise ConflictError("Searching needs the program 'grep', which is not installed; list and read files instead.")
    options = ["-E", "-n", "-H", "-I", "-s", "--null", "--color=never", "-e", pattern]
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as complaints:
        try:
            done = subprocess.run(  # noqa: S603 - the pattern and the paths are arguments, never shell text
                ["/bin/sh", "-c", _LIMITED, "sh", program, *options, *arguments],
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=output,
                stderr=complaints,
                cwd=working_directory,
                env={"LC_ALL": "C.UTF-8"},
                timeout=SEARCH_TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise _too_slow() from error
        except OSError as error:
            raise ConflictError(f"The search could not be started: {error.strerror}.") from error
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            raise _too_slow()
        output.seek(0)
        found = output.read()
        complaints.seek(0)
        complaint = complaints.read(_LONGEST_COMPLAINT_BYTES).decode("utf-8", "replace").strip()
    # Files that cannot be read also make this exit code, but no complaint (-s): what is left is the pattern.
    if done.returncode == _TROUBLE and not found and complaint and "warning:" not in complaint:
        raise InvalidArgumentError(f"The pattern {pattern!r} is not one that grep -E takes: {complaint}")
    return _Raw(found, whole=done.returncode != -signal.SIGXFSZ)


def _check(pattern: str) -> None:
    if not pattern or len(pattern) > MAX_PATTERN_CHARACTERS:
        raise InvalidArgumentError(
            f"The pattern has {len(pattern)} characters; it must have from 1 to {MAX_PATTERN_CHARACTERS}."
        )
    if "\0" in pattern or "\n" in pattern:
        raise InvalidArgumentError("The pattern holds a NUL or a line break; a match lies within one line.")
    for escaped in _ESCAPES.findall(pattern):
        if escaped.isalpha() and escaped not in _KNOWN_ESCAPES:
            raise InvalidArgumentError(
                f"The pattern holds '\\{escaped}', which grep -E does not know; write [0-9] for a digit, "
                "[[:space:]] for space, and other classes in the same way."
            )
    try:
        pattern.encode()
    except UnicodeEncodeError as error:
        raise InvalidArgumentError("The pattern holds half of a surrogate pair, which no text file holds.") from error


def _too_slow() -> ConflictError:
    return ConflictError(
        f"The search did not end within {SEARCH_TIMEOUT_SECONDS} seconds; narrow it with path, include or the pattern."
    )


def _read(output: bytes) -> Iterator[tuple[str, int, str]]:
    """Path, line number and text of each match. A last one that was cut by the limit on output is left out if short."""
    at = 0
    while (end_of_path := output.find(b"\0", at)) >= 0:
        end_of_line = output.find(b"\n", end_of_path)
        if end_of_line < 0:
            if len(output) - at < _LONG_LINE_BYTES:
                return
            end_of_line = len(output)
        number, _, text = output[end_of_path + 1 : end_of_line].partition(b":")
        path = output[at:end_of_path].decode("utf-8", "replace")
        yield path, int(number), text.decode("utf-8", "replace")
        at = end_of_line + 1


def _result(found: Sequence[tuple[str, int, str]], raw: _Raw, *, limit: int) -> SearchResult:
    ended_in = None
    if found and raw.last_line_is_long():
        path, line, text = found[-1]
        ended_in = SearchMatch(path=path, line=line, text=text[:MAX_MATCH_CHARACTERS])
    ordered = sorted(found)
    matches: list[SearchMatch] = []
    room = MAX_RESULT_BYTES
    for path, line, text in ordered[: min(limit, MAX_MATCHES)]:
        match = SearchMatch(path=path, line=line, text=text[:MAX_MATCH_CHARACTERS])
        room -= printed_size(match.path) + printed_size(match.text) + _MATCH_OVERHEAD_BYTES
        if room < 0:
            break
        matches.append(match)
    return SearchResult(matches=tuple(matches), total=len(ordered), total_is_exact=raw.whole, ended_in=ended_in)
