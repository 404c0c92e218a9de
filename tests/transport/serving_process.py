"""`space serve` as a process of its own, for what only a process shows: signals, exit codes, kills."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import trio

from tests.transport.mcp_client import JSON_BODY, Headers
from tests.transport.raw_http import Response, connected, request_bytes

SPACE = Path(sys.executable).with_name("space")

START_SECONDS = 30.0
END_SECONDS = 30.0


class ServingProcess:
    """A running `space serve`."""

    def __init__(self, process: trio.Process, port: int, log: Path) -> None:
        self.process = process
        self.port = port
        self._log = log

    @property
    def log(self) -> str:
        """What it has written to standard error so far."""
        return self._log.read_text(encoding="utf-8")

    def signal(self, number: signal.Signals) -> None:
        """Send a signal."""
        self.process.send_signal(number)

    async def wait(self) -> int:
        """Its exit code; negative for a signal that killed it."""
        with trio.fail_after(END_SECONDS):
            return await self.process.wait()

    def children(self) -> list[int]:
        """The processes that it has started and that still run."""
        tasks = Path(f"/proc/{self.process.pid}/task")
        found = [int(pid) for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
        return [pid for pid in found if is_running(pid)]

    def open_files(self) -> Counter[str]:
        """See the function of this name."""
        return open_files(self.process.pid)

    async def request(self, method: str, target: str, headers: Headers = (), body: bytes | None = None) -> Response:
        """One request on a connection of its own."""
        async with connected(self.port) as connection:
            await connection.send(request_bytes(method, target, headers, body))
            return await connection.read_response(method)

    async def send(self, method: str, target: str, body: Any) -> Response:
        """A request with a JSON body, which must be answered with 200."""
        response = await self.request(method, target, JSON_BODY, json.dumps(body).encode())
        assert response.status == 200, response
        return response

    async def status(self) -> Any:
        """What `GET /status` says."""
        return (await self.request("GET", "/status")).json


def is_running(pid: int) -> bool:
    """Whether there is such a process and it is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def open_files(pid: int) -> Counter[str]:
    """What the file descriptors of a process point at; sockets and pipes without their numbers."""
    found: Counter[str] = Counter()
    folder = f"/proc/{pid}/fd"
    for name in os.listdir(folder):
        try:
            found[os.readlink(f"{folder}/{name}").partition(":[")[0]] += 1
        except FileNotFoundError:
            continue
    return found


def serve_command(folder: Path, *flags: str) -> list[str]:
    """The command for an engine whose data and workspace are in that folder, on a free port."""
    (folder / "workspace").mkdir(exist_ok=True)
    return [
        *(str(SPACE), "serve", "--port", "0", "--data", str(folder / "data")),
        *("--workspace", str(folder / "workspace"), "--log-format", "json", *flags),
    ]


@asynccontextmanager
async def serving_process(
    folder: Path, *flags: str, command: Sequence[str] | None = None
) -> AsyncGenerator[ServingProcess]:
    """Start an engine and wait until it says that it listens; whatever is left of it is killed at the end."""
    log = folder / "engine.log"
    with log.open("ab") as stderr:
        process = await trio.lowlevel.open_process(
            list(command) if command is not None else serve_command(folder, *flags),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
        )
    try:
        assert process.stdout is not None
        line = b""
        with trio.fail_after(START_SECONDS):
            while not line.endswith(b"\n"):
                data = await process.stdout.receive_some()
                assert data, f"it ended before it listened: {log.read_text(encoding='utf-8')}"
                line += data
        assert line.startswith(b"space: listening on http://127.0.0.1:"), line
        yield ServingProcess(process, int(line.rsplit(b":", 1)[1].partition(b"/")[0]), log)
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
        if process.stdout is not None:
            await process.stdout.aclose()


async def ended_at_once(command: Sequence[str]) -> tuple[int, str, str]:
    """Run a command that is not expected to serve; its exit code and what it printed."""
    with trio.fail_after(START_SECONDS):
        ran = await trio.run_process(
            list(command), stdin=subprocess.DEVNULL, capture_stdout=True, capture_stderr=True, check=False
        )
    return ran.returncode, ran.stdout.decode(), ran.stderr.decode()
