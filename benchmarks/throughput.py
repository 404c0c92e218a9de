"""What one `tools/call` costs, side by side with a bare route of the same web server and with FastMCP.

Every server runs in its own process and gets the same load, in turns of about a second: so what else the machine does
hits all alike. Compared are the rounds, each with its neighbours; the medians of these comparisons are what counts.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.http_connection import HttpConnection
from benchmarks.load_client import Job, LoadClient, LoadReport
from benchmarks.mcp_client import HEADERS, McpAnswerError, call_request, open_session, result_of, session_headers
from benchmarks.process import MeasuredProcess
from benchmarks.quantiles import Spread
from benchmarks.table import Figure, Requirement, Row

SPACE, ECHO, FASTMCP = "Space", "bare quart-trio route, JSON echo", "FastMCP 4, stateless, JSON"

LEAST_OF_ECHO = 0.85
"""The part of the bare route's throughput that Space has to reach; promised in its design."""

LEAST_OF_FASTMCP = 2.0
"""How many times FastMCP's throughput Space has to reach; promised in its design."""

CONNECTIONS = (1, 8)
"""One agent that waits for each answer, and more than a server can do at once.

Judged is the latter. With one connection a server waits for its client most of the time, so that is its latency.
"""

WARM_UP_SECONDS = 0.3

TEXT = "hello"


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure."""

    rounds: int
    seconds: float
    """Of each round, for each server."""


@dataclass
class _Contender:
    """One server with what is sent to it, and its rounds so far."""

    name: str
    process: MeasuredProcess
    job: Job
    reports: list[LoadReport] = field(default_factory=list[LoadReport])
    cpu: list[float] = field(default_factory=list[float])

    def run(self, load: LoadClient, seconds: float) -> None:
        before = self.process.cpu_seconds()
        report = load.run(self.job, seconds)
        self.cpu.append((self.process.cpu_seconds() - before) / report.count)
        self.reports.append(report)

    @property
    def rates(self) -> list[float]:
        return [report.count / report.seconds for report in self.reports]

    def figure(self) -> Figure:
        latency = Spread(
            statistics.median(report.latency.median for report in self.reports),
            statistics.median(report.latency.p99 for report in self.reports),
        )
        return Figure(f"  {self.name}", statistics.median(self.rates), latency, statistics.median(self.cpu))


def measure(folder: Path, effort: Effort) -> list[Row]:
    """The rows of the table. `folder` is for the engine's data. Raises when a server does not answer as it should."""
    rows: list[Row] = []
    with ExitStack() as stack:
        load = stack.enter_context(LoadClient())
        space = stack.enter_context(MeasuredProcess("benchmarks.servers.space_tool", str(folder)))
        echo = stack.enter_context(MeasuredProcess("benchmarks.servers.echo"))
        fastmcp = stack.enter_context(MeasuredProcess("benchmarks.servers.fastmcp_tool"))
        for connections in CONNECTIONS:
            contenders = (
                _Contender(SPACE, space, _space_job(space, connections)),
                _Contender(ECHO, echo, _echo_job(echo, connections)),
                _Contender(FASTMCP, fastmcp, _fastmcp_job(fastmcp, connections)),
            )
            for contender in contenders:
                load.run(contender.job, WARM_UP_SECONDS)
            for _ in range(effort.rounds):
                for contender in contenders:
                    contender.run(load, effort.seconds)
            rows += _rows(connections, contenders)
    return rows


def _rows(connections: int, contenders: Sequence[_Contender]) -> list[Row]:
    space, echo, fastmcp = contenders
    of_echo, of_fastmcp = _ratio(space.rates, echo.rates), _ratio(space.rates, fastmcp.rates)
    noun = "connection" if connections == 1 else "connections"
    rows: list[Row] = [
        Figure(f"tools/call of a trivial tool, {connections} {noun}"),
        *(contender.figure() for contender in contenders),
    ]
    if connections == max(CONNECTIONS):
        return [
            *rows,
            Requirement("throughput as a multiple of the bare route's", of_echo, LEAST_OF_ECHO, at_least=True),
            Requirement("throughput as a multiple of FastMCP's", of_fastmcp, LEAST_OF_FASTMCP, at_least=True),
        ]
    return [
        *rows,
        Figure("  Space as a multiple", value=f"{of_echo:>9.2f} of the route's, {of_fastmcp:.2f} of FastMCP's"),
    ]


def _ratio(own: Sequence[float], other: Sequence[float]) -> float:
    return statistics.median(mine / theirs for mine, theirs in zip(own, other, strict=True))


def _space_job(process: MeasuredProcess, connections: int) -> Job:
    """A session for each connection, as each agent has one."""
    with HttpConnection(process.port) as connection:
        requests = tuple(
            call_request(
                process.path,
                session_headers(open_session(connection, process.path)),
                "space_benchmark_echo",
                {"text": TEXT},
            )
            for _ in range(connections)
        )
    return _tool_job(process, requests)


def _fastmcp_job(process: MeasuredProcess, connections: int) -> Job:
    """Without sessions, which is less to do and what FastMCP is fastest at."""
    request = call_request(process.path, HEADERS, "benchmark_echo", {"text": TEXT})
    return _tool_job(process, (request,) * connections)


def _tool_job(process: MeasuredProcess, requests: Sequence[bytes]) -> Job:
    """The job of calling a tool, after a first call whose answer must be right."""
    with HttpConnection(process.port) as connection:
        answer = connection.ask(requests[0])
    if answer.status != 200:
        raise McpAnswerError(f"a call was answered {answer.status}: {answer.body[:300]!r}")
    result: Mapping[str, object] = result_of(answer.json())
    if result["structuredContent"] != {"text": TEXT}:
        raise McpAnswerError(f"a call did not give its text back: {result}")
    return Job(process.port, requests, (answer.body,) * len(requests))


def _echo_job(process: MeasuredProcess, connections: int) -> Job:
    """The same message as a call of Space, so that as much is read and parsed."""
    request = call_request(
        process.path, session_headers("00000000-0000-0000-0000-000000000000"), "space_benchmark_echo", {"text": TEXT}
    )
    with HttpConnection(process.port) as connection:
        answer = connection.ask(request)
    if answer.status != 200 or answer.json()["params"]["arguments"] != {"text": TEXT}:
        raise McpAnswerError(f"the bare route was answered {answer.status}: {answer.body[:300]!r}")
    return Job(process.port, (request,) * connections, (answer.body,) * connections)
