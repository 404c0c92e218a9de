"""The handle on the process that makes load. Owns that process and the form of its jobs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from benchmarks.quantiles import Spread


class LoadError(Exception):
    """Raised when a server answered wrongly, or not at all."""


@dataclass(frozen=True)
class Job:
    """What to send to whom: one connection for each request, whose answers must have the body that is expected."""

    port: int
    requests: Sequence[bytes]
    expected: Sequence[bytes]


@dataclass(frozen=True)
class LoadReport:
    """What came of it."""

    count: int
    seconds: float
    latency: Spread


class LoadClient:
    """Makes load, in a process of its own. Used as a context manager."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "benchmarks.load_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[1],
        )
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # It ends when there are no more jobs; killed, because a job may be under way.
        self._process.kill()
        self._process.communicate()

    def run(self, job: Job, seconds: float) -> LoadReport:
        """Keep every connection busy for that long. Raises `LoadError`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {
            "port": job.port,
            "requests": [request.decode("latin-1") for request in job.requests],
            "expected": [body.decode("latin-1") for body in job.expected],
            "seconds": seconds,
        }
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise LoadError("the load client has ended")
        report: dict[str, Any] = json.loads(line)
        if "error" in report:
            raise LoadError(report["error"])
        return LoadReport(report["count"], report["seconds"], Spread(report["median"], report["p99"]))
