"""The load client: keeps some connections busy for a while, one request at a time on each, and reports what it saw.

A process of its own, the same for every server. It reads jobs from standard input, one JSON object a line, and writes a
report for each. It knows nothing of MCP: requests come as they go over the wire, and so does the body that is expected.
Each response must have status 200 and exactly that body.
"""

from __future__ import annotations

import gc
import json
import selectors
import socket
import sys
import time
from typing import Any

from benchmarks.http_connection import ANSWER_SECONDS, CHUNK_BYTES
from benchmarks.quantiles import Spread

OK = b"HTTP/1.1 200"


class _Lane:
    """One connection with its request. `length` is that of a whole response, known after the first."""

    def __init__(self, port: int, request: bytes, expected: bytes) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._request = request
        self._expected = expected
        self._data = b""
        self._sent_at = 0.0

    def send(self) -> None:
        self._data = b""
        self._sent_at = time.perf_counter()
        self.socket.sendall(self._request)

    def receive(self) -> float | None:
        """The seconds that the answer took, or None while it is not whole. Raises for a wrong one."""
        data = self.socket.recv(CHUNK_BYTES)
        if not data:
            raise ConnectionError(f"the server closed the connection; last it said {self._data[:300]!r}")
        self._data += data
        head, mark, body = self._data.partition(b"\r\n\r\n")
        if not mark or (len(body) < len(self._expected) and head.startswith(OK)):
            return None
        taken = time.perf_counter() - self._sent_at
        if body != self._expected or not head.startswith(OK):
            raise ValueError(f"wrong answer {self._data[:500]!r}, expected body {self._expected[:200]!r}")
        return taken


def _run(job: dict[str, Any]) -> dict[str, float]:
    lanes = [
        _Lane(job["port"], request.encode("latin-1"), expected.encode("latin-1"))
        for request, expected in zip(job["requests"], job["expected"], strict=True)
    ]
    latencies: list[float] = []
    with selectors.DefaultSelector() as selector:
        for lane in lanes:
            selector.register(lane.socket, selectors.EVENT_READ, lane)
        started = time.perf_counter()
        end = started + job["seconds"]
        for lane in lanes:
            lane.send()
        busy = len(lanes)
        while busy:
            ready = selector.select(ANSWER_SECONDS)
            if not ready:
                raise TimeoutError(f"no answer within {ANSWER_SECONDS:g} s")
            for key, _ in ready:
                taken = key.data.receive()
                if taken is None:
                    continue
                latencies.append(taken)
                if time.perf_counter() < end:
                    key.data.send()
                else:
                    busy -= 1
        seconds = time.perf_counter() - started
    for lane in lanes:
        lane.socket.close()
    spread = Spread.of(latencies)
    return {"count": len(latencies), "seconds": seconds, "median": spread.median, "p99": spread.p99}


def main() -> None:
    """Do jobs until there are no more."""
    gc.disable()
    for line in sys.stdin:
        try:
            report: dict[str, Any] = _run(json.loads(line))
        except (OSError, ValueError) as error:
            report = {"error": str(error)}
        print(json.dumps(report), flush=True)


if __name__ == "__main__":
    main()
