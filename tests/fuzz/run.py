"""A fuzz run: an engine process, and workers that send it broken requests over connections of their own.

Owns what counts as a fault: a 500, an answer that breaks off, a traceback or an error in the log, an engine that has
ended or does not answer well any more, calls that were left over, and memory that has grown.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import trio

from tests.fuzz.requests import FuzzRequest, RequestMaker, pool
from tests.transport.mcp_client import McpClient, SseClient
from tests.transport.raw_http import ConnectionEndedError, RawConnection, connect
from tests.transport.serving_process import ServingProcess, serving_process
from tests.transport.stateless_client import StatelessClient
from transport.sse_endpoint import USE_SSE

REQUESTS = 100_000
WORKERS = 24

WHOLE_SECONDS, SPOILT_SECONDS = 2.0, 0.1
"""How long an answer is waited for. Spoilt requests are often half ones, whose rest the engine waits for."""

STREAM_SECONDS = 0.01
"""How long a stream that was opened is read."""

PER_CONNECTION = 50
"""How many requests one connection carries at most."""

PER_SESSION = 200
"""How many requests a session lasts, so that sessions come and go too."""

PER_SHARED_SESSION = 50
"""The same for the one session of forced SSE, which each worker renews: requests that open a stream end it too."""

WARM_SHARE = 0.25
"""After this part of the requests everything that is filled once is full; memory is compared from then on."""

GROWN_BYTES = 48 * 1024 * 1024
"""Growth that is noise: kept sessions, streams, worlds and stories that valid requests among the others have made."""

LEFT_SECONDS = 20.0
"""How long calls may take to end after the last request."""

KEPT_FAULTS = 20

RECEIVE_BYTES = 64 * 1024


@dataclass(slots=True)
class FuzzReport:
    """What came of a run. `faults` are lines for people; without any the run was good."""

    statuses: Counter[int] = field(default_factory=Counter[int])
    kinds: Counter[str] = field(default_factory=Counter[str])
    unanswered: int = 0
    whole_unanswered: Counter[str] = field(default_factory=Counter[str])
    connections: int = 0
    sessions: int = 0
    seconds: float = 0.0
    memory: list[int] = field(default_factory=list[int])
    faults: list[str] = field(default_factory=list[str])

    def summary(self) -> str:
        """Figures in a few lines."""
        sent = sum(self.statuses.values()) + self.unanswered
        mib = " → ".join(f"{size / 2**20:.0f}" for size in self.memory)
        lines = [
            f"{sent} requests in {self.seconds:.0f} s over {self.connections} connections and {self.sessions} sessions",
            f"  kinds: {', '.join(f'{kind} {count}' for kind, count in sorted(self.kinds.items()))}",
            f"  statuses: {', '.join(f'{status} × {count}' for status, count in sorted(self.statuses.items()))}; "
            f"closed or silent: {self.unanswered}, "
            f"of those with whole bytes {dict(self.whole_unanswered)}",
            f"  memory at the start, warm, at the end: {mib} MiB",
            f"  faults: {len(self.faults)}",
            *(f"    {fault}" for fault in self.faults[:KEPT_FAULTS]),
        ]
        return "\n".join(lines)


def faults_of_log(log: str) -> list[str]:
    """The lines of a log that tell of a bug."""
    found: list[str] = []
    for line in log.splitlines():
        if "Traceback" in line or '"level": "error"' in line or '"level": "critical"' in line:
            found.append(f"in the log: {line[:2000]}")
    return found


def memory_of(pid: int) -> int:
    """The resident memory of a process in bytes."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} says nothing of its memory")


async def run(folder: Path, requests: int, seed: int, force_sse: bool) -> FuzzReport:
    """Send that many requests to an engine whose data is in `folder`, and look after it."""
    report = FuzzReport()
    made = await trio.to_thread.run_sync(pool, seed)
    flags = ("--force-sse",) if force_sse else ()
    async with serving_process(folder, *flags) as engine:
        started = time.monotonic()
        shared = _SharedSession(engine.port, report) if force_sse else None
        report.memory.append(memory_of(engine.process.pid))
        counts = [requests // WORKERS + (number < requests % WORKERS) for number in range(WORKERS)]
        for part in (WARM_SHARE, 1 - WARM_SHARE):
            async with trio.open_nursery() as nursery:
                for number, count in enumerate(counts):
                    warm = round(count * WARM_SHARE)
                    share = warm if part == WARM_SHARE else count - warm
                    maker = RequestMaker(seed * 1000 + number * 2 + (part == WARM_SHARE), made)
                    nursery.start_soon(_Worker(engine, maker, report, shared).run, share)
            report.memory.append(memory_of(engine.process.pid))
        report.seconds = time.monotonic() - started
        await _look_after(engine, report, force_sse)
    return report


async def _look_after(engine: ServingProcess, report: FuzzReport, force_sse: bool) -> None:
    """What must hold when it is over."""
    faults = report.faults
    grown = report.memory[-1] - report.memory[1]
    if grown > GROWN_BYTES:
        faults.append(f"memory has grown by {grown / 2**20:.0f} MiB since it was warm")
    faults.extend(faults_of_log(engine.log))
    calls: object = "unknown"
    with trio.move_on_after(LEFT_SECONDS) as scope:
        while calls := (await engine.status())["calls"]:  # noqa: ASYNC110 - another process
            await trio.sleep(0.1)
        faults.extend(f"an actor failed: {actor}" for actor in (await engine.status())["actors"] if actor["failed"])
        if not force_sse:
            client = await McpClient.initialized(engine.port)
            await client.ask("ping")
            assert (await StatelessClient(engine.port).ask("tools/list"))["tools"]
    if scope.cancelled_caught:
        faults.append(f"the engine has not come to rest within {LEFT_SECONDS:g} s; calls: {calls}")


class _SharedSession:
    """The session of forced SSE, of which there is one at a time: its endpoint, and its stream, which is read."""

    def __init__(self, port: int, report: FuzzReport) -> None:
        self._port = port
        self._report = report
        self._stream: RawConnection | None = None
        self.endpoint = "/mcp"

    async def renew(self, nursery: trio.Nursery) -> None:
        """A new one; the engine ends the old one."""
        try:
            client = await SseClient.opened(self._port)
        except (ConnectionEndedError, OSError):
            # One of the requests has opened a stream in the same moment.
            return
        self._report.sessions += 1
        self.endpoint, self._stream = client.endpoint, client.stream
        nursery.start_soon(self._read, client.stream)

    async def _read(self, stream: RawConnection) -> None:
        with suppress(OSError, trio.BrokenResourceError, trio.ClosedResourceError):
            try:
                while await stream.stream.receive_some(RECEIVE_BYTES):
                    pass
            finally:
                with trio.CancelScope(shield=True):
                    await stream.finish()


class _Worker:
    """Sends requests one after the other, over one connection at a time, in one session at a time."""

    def __init__(
        self, engine: ServingProcess, maker: RequestMaker, report: FuzzReport, shared: _SharedSession | None
    ) -> None:
        self._engine = engine
        self._maker = maker
        self._report = report
        self._shared = shared
        self._connection: RawConnection | None = None
        self._carried = 0
        self._status: int | None = None

    async def run(self, count: int) -> None:
        """Send that many."""
        endpoint, headers = "/mcp", ()
        async with trio.open_nursery() as nursery:
            for number in range(count):
                if self._shared is not None:
                    if number % PER_SHARED_SESSION == 0:
                        await self._shared.renew(nursery)
                    endpoint = self._shared.endpoint
                elif number % PER_SESSION == 0:
                    client = await McpClient.initialized(self._engine.port, "2025-11-25")
                    self._report.sessions += 1
                    headers = client.headers
                await self._send(self._maker.next(endpoint, headers))
            await self._leave()
            nursery.cancel_scope.cancel()

    async def _send(self, request: FuzzRequest) -> None:
        report = self._report
        report.kinds[request.kind] += 1
        self._status = None
        whole = False
        with trio.move_on_after(WHOLE_SECONDS if request.whole else SPOILT_SECONDS):
            with suppress(ConnectionEndedError, OSError, trio.BrokenResourceError, trio.ClosedResourceError):
                whole = await self._exchange(request)
        if not whole:
            await self._leave()
        if self._status is None:
            report.unanswered += 1
            if request.whole:
                report.whole_unanswered[request.kind] += 1
            return
        report.statuses[self._status] += 1
        # With spoilt ones the wait may have been over in the middle of it.
        if not whole and request.whole:
            report.faults.append(f"an answer that broke off: {self._status} to {request.data[:600]!r}")

    async def _exchange(self, request: FuzzRequest) -> bool:
        """Send it and count its answer. The connection is kept where it can carry more."""
        if self._connection is None:
            self._connection = await connect(self._engine.port)
            self._report.connections += 1
            self._carried = 0
        connection = self._connection
        self._carried += 1
        await connection.stream.send_all(request.data)
        head = await connection.read_head()
        while head.status < 200:
            head = await connection.read_head()
        self._status = head.status
        if head.status == 500:
            body = await connection._read_exactly(int(head.header("content-length") or 0))
            # With forced SSE this is how clients of the newer transport are told to fall back.
            if self._shared is None or body.decode() != USE_SSE:
                self._report.faults.append(f"500 to {request.data[:600]!r}")
        kept = request.whole and request.method in {"GET", "POST", "PUT", "PATCH", "DELETE"} and head.status < 400
        if head.header("content-type") == "text/event-stream":
            with trio.move_on_after(STREAM_SECONDS):
                await connection.read_chunk()
            kept = False
        elif kept and head.status != 204:
            length = head.header("content-length")
            if length is None:
                kept = False
            else:
                await connection._read_exactly(int(length))
        if not kept or head.header("connection") == "close" or self._carried >= PER_CONNECTION:
            await self._leave()
        return True

    async def _leave(self) -> None:
        if self._connection is not None:
            await self._connection.finish()
            self._connection = None
