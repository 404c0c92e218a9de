"""A measured process: started as a Python module, known by the address it prints, and gone when its block ends."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from types import TracebackType
from typing import Self

START_SECONDS = 30.0
"""How long a process may take to listen; the slowest needs about two seconds on a machine that is busy."""

END_SECONDS = 5.0
"""How long a process may take to end once its standard input is closed; it does nothing but end."""

_ADDRESS = re.compile(r"listening on http://127\.0\.0\.1:(\d+)(/\S*)")


class ProcessError(Exception):
    """Raised when a measured process does not start. The text holds what it said."""


class MeasuredProcess:
    """One server under measurement. Used as a context manager; entering waits until it listens."""

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = [sys.executable, "-m", module, *arguments]
        self.port = 0
        self.path = ""
        self.seconds_to_listening = 0.0
        """From the start of the process to its word that it listens."""

    def __enter__(self) -> Self:
        self._complaints = tempfile.TemporaryFile()
        started = time.perf_counter()
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        try:
            address = self._first_address()
            self.seconds_to_listening = time.perf_counter() - started
            self.port, self.path = int(address[1]), address[2]
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def cpu_seconds(self) -> float:
        """What the process has used of the processors so far, its threads together. Linux only."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def resident_bytes(self) -> int:
        """The memory that the process holds now. Linux only."""
        pages = Path(f"/proc/{self._process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def _first_address(self) -> re.Match[str]:
        assert self._process.stdout is not None
        given_up = threading.Timer(START_SECONDS, self._process.kill)
        given_up.start()
        try:
            for line in self._process.stdout:
                found = _ADDRESS.search(line)
                if found is not None:
                    return found
        finally:
            given_up.cancel()
        self._complaints.seek(0)
        said = self._complaints.read().decode("utf-8", "replace")
        raise ProcessError(f"{' '.join(self._command)} did not listen within {START_SECONDS:g} s:\n{said}")

    def _end(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._complaints.close()
