"""A real engine as a process of its own, used through the `space` command as a user would. Owns the process."""

from __future__ import annotations

import json
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from types import TracebackType
from typing import Any, Self

SPACE = Path(sys.executable).with_name("space")

PORTS = range(20_000, 32_000)
"""Below the range from which outgoing connections take theirs, so that a restarted engine finds its port free."""

START_SECONDS = 30.0
COMMAND_SECONDS = 60.0
STOP_SECONDS = 30.0

LOOK_SECONDS = 0.1
"""Between two looks at a condition that only another process can bring about."""


def free_port() -> int:
    """A port in `PORTS` that is free now."""
    while True:
        port = random.choice(PORTS)
        with closing(socket.socket()) as probe:
            if probe.connect_ex(("127.0.0.1", port)) != 0:
                return port


class LiveEngine:
    """A running `space serve` on a fixed port and data folder. A context manager that ends it."""

    def __init__(self, folder: Path, environment: Mapping[str, str], *flags: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.log = folder / "engine.log"
        self._environment = {**environment, "SPACE_URL": self.url}
        self._command = [
            *(str(SPACE), "serve", "--port", str(self.port), "--data", str(folder / "engine")),
            *("--workspace", str(self.workspace), "--log-format", "json", "--log-level", "debug", *flags),
        ]
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> None:
        """Start the process and wait until it says that it listens. Raises `RuntimeError` when it does not."""
        with self.log.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                self._command, env=self._environment, stdout=subprocess.PIPE, stderr=log, text=True
            )
        output = self._process.stdout
        assert output is not None
        guard = threading.Timer(START_SECONDS, self._process.kill)
        guard.start()
        line = output.readline()
        guard.cancel()
        guard.join()
        if line != f"space: listening on {self.url}/mcp\n":
            self.stop()
            raise RuntimeError(f"the engine said {line!r}; its log:\n{self.log.read_text(encoding='utf-8')}")

    def stop(self) -> int:
        """End the process as a user would, with a signal. Returns its exit code."""
        process = self._process
        assert process is not None
        process.terminate()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        return process.returncode

    def space(self, *arguments: str) -> str:
        """Run the `space` command against this engine; what it printed. Raises `RuntimeError` when it fails."""
        ran = subprocess.run(
            [SPACE, *arguments],
            env=self._environment,
            cwd=self.workspace,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
        if ran.returncode != 0:
            raise RuntimeError(f"space {' '.join(arguments)}: exit code {ran.returncode}: {ran.stderr}")
        return ran.stdout

    def ask(self, *arguments: str) -> Any:
        """The JSON that the `space` command prints for programs."""
        return json.loads(self.space(*arguments, "--json"))


def wait_until(condition: Callable[[], bool], what: str, seconds: float = 30.0) -> None:
    """Look again and again until another process has brought something about. Raises `AssertionError` past the time."""
    deadline = time.monotonic() + seconds
    never = threading.Event()
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {seconds:g} s"
        never.wait(LOOK_SECONDS)
