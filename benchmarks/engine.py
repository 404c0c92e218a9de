"""What a user and an agent feel of `space serve`: its start, the list, a drawing call, and how fast tools follow.

A context switch is timed with an open stream: when the reply came, when the announcement was on the wire, and that a
`tools/list` sent the moment the reply was there shows the new tools.
"""

from __future__ import annotations

import selectors
import socket
import statistics
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from benchmarks.http_connection import ANSWER_SECONDS, CHUNK_BYTES, Answer, HttpConnection, request_bytes
from benchmarks.mcp_client import (
    McpAnswerError,
    call_request,
    list_request,
    open_session,
    result_of,
    session_headers,
)
from benchmarks.process import MeasuredProcess
from benchmarks.quantiles import Spread
from benchmarks.table import Figure, Requirement, Row

MOST_MILLISECONDS = 10.0
"""From a switch of the context to the announcement on the wire, median; promised in Space's design."""

SURFACES = ("scene", "canvas")

DRAWING_TOOL = "space_drawing_insert_shape"
"""Offered on the canvas only, so it tells the two lists apart."""

ANNOUNCEMENT = b"notifications/tools/list_changed"

MIB = 2**20


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure."""

    starts: int
    requests: int
    switches: int


@dataclass(frozen=True)
class _Switch:
    """One switch of the context, in seconds: the reply after the PATCH, the announcement after the PATCH."""

    reply: float
    announced: float


def measure(folder: Path, effort: Effort) -> list[Row]:
    """The rows of the table. `folder` is for data. Raises when the engine does not answer as it should."""
    starts: list[float] = []
    for number in range(effort.starts - 1):
        with _engine(folder / f"start-{number}", folder) as engine:
            starts.append(engine.seconds_to_listening)
    with _engine(folder / "data", folder) as engine:
        starts.append(engine.seconds_to_listening)
        before = engine.resident_bytes()
        with ExitStack() as stack:
            client = _Client(engine, stack)
            rows = [
                _requests("tools/list", engine, effort.requests, client.list_tools),
                _requests(f"{DRAWING_TOOL}, in the store", engine, effort.requests, client.draw),
                *_switches([client.switch(SURFACES[turn % 2]) for turn in range(effort.switches)]),
            ]
        after = engine.resident_bytes()
    start = f"{statistics.median(starts) * 1e3:>16,.0f} ms"
    memory = f"{before / MIB:>15.0f} MiB, {after / MIB:.0f} MiB after all this"
    return [
        Figure("space serve"),
        *rows,
        Figure("  from start to listening, data folder made", value=start),
        Figure("  memory once it listens", value=memory),
    ]


def _engine(data: Path, workspace: Path) -> MeasuredProcess:
    return MeasuredProcess(
        "benchmarks.servers.engine", "--port", "0", "--data", str(data), "--workspace", str(workspace)
    )


def _requests(name: str, engine: MeasuredProcess, count: int, request: Callable[[int], None]) -> Figure:
    request(0)
    times: list[float] = []
    cpu = engine.cpu_seconds()
    for number in range(count):
        started = time.perf_counter()
        request(number)
        times.append(time.perf_counter() - started)
    return Figure(f"  {name}", count / sum(times), Spread.of(times), (engine.cpu_seconds() - cpu) / count)


def _switches(switches: list[_Switch]) -> list[Row]:
    announced = Spread.of([switch.announced for switch in switches])
    return [
        Figure(
            "  context switch (PATCH), until it is answered", latency=Spread.of([switch.reply for switch in switches])
        ),
        Figure("  context switch, until the announcement is on the wire", latency=announced),
        Figure(
            "  context switch, from its answer to the announcement",
            latency=Spread.of([switch.announced - switch.reply for switch in switches]),
        ),
        Figure(
            "  context switch, tools/list right after its answer is new",
            value=f"{len(switches):>9,} of {len(switches):,}",
        ),
        Requirement("announcement on the wire, median", announced.median * 1e3, MOST_MILLISECONDS, " ms"),
    ]


class _Client:
    """An agent with an open stream, and a user who goes from surface to surface."""

    def __init__(self, engine: MeasuredProcess, stack: ExitStack) -> None:
        self._path = engine.path
        self._agent = stack.enter_context(HttpConnection(engine.port))
        self._user = stack.enter_context(HttpConnection(engine.port))
        self._headers = session_headers(open_session(self._agent, engine.path))
        self._list = list_request(engine.path, self._headers)
        stream = stack.enter_context(HttpConnection(engine.port))
        stream.socket.sendall(request_bytes("GET", engine.path, self._headers))
        self._stream = stream.socket
        # Every stream begins with an announcement.
        _read_announcement(self._stream)

    def list_tools(self, number: int) -> None:
        """List the tools."""
        self._names(self._agent.ask(self._list))

    def draw(self, number: int) -> None:
        """Draw a rectangle. The answer comes after it is in the store."""
        arguments = {"shape": "rectangle", "x": 10 * (number % 100), "y": number // 10, "width": 8, "height": 6}
        answer = self._agent.ask(call_request(self._path, self._headers, DRAWING_TOOL, arguments))
        result_of(answer.json())

    def switch(self, surface: str) -> _Switch:
        """Go to a surface, and list the tools as soon as the answer to that is there."""
        changes = {"surface": surface}
        replied = announced = None
        with selectors.DefaultSelector() as selector:
            selector.register(self._user.socket, selectors.EVENT_READ)
            selector.register(self._stream, selectors.EVENT_READ)
            sent = time.perf_counter()
            self._user.socket.sendall(request_bytes("PATCH", "/api/context", {}, changes))
            while replied is None or announced is None:
                ready = [key.fileobj for key, _ in selector.select(ANSWER_SECONDS)]
                now = time.perf_counter() - sent
                if not ready:
                    raise McpAnswerError("a context switch was not answered, or not announced")
                if self._stream in ready:
                    _read_announcement(self._stream)
                    announced = now
                if self._user.socket in ready:
                    self._check_reply(self._user.read_answer(), surface)
                    replied = now
                    self._check_list(self._agent.ask(self._list), surface)
        return _Switch(replied, announced)

    def _check_reply(self, answer: Answer, surface: str) -> None:
        if answer.status != 200 or answer.json()["surface"] != surface:
            raise McpAnswerError(f"the switch to {surface} was answered {answer.status}: {answer.body[:300]!r}")

    def _check_list(self, answer: Answer, surface: str) -> None:
        if (DRAWING_TOOL in self._names(answer)) != (surface == "canvas"):
            raise McpAnswerError(f"tools/list after the switch to {surface} shows the tools of before")

    def _names(self, answer: Answer) -> set[str]:
        return {tool["name"] for tool in result_of(answer.json())["tools"]}


def _read_announcement(stream: socket.socket) -> None:
    """Read until an announcement is there. At most one can be: each is waited for before the next switch."""
    data = b""
    while ANNOUNCEMENT not in data:
        received = stream.recv(CHUNK_BYTES)
        if not received:
            raise McpAnswerError(f"the stream has ended after {data[-300:]!r}")
        data += received
