"""The fixture server as a process of its own. Owns its start and its end."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]

START_SECONDS = 30.0
STOP_SECONDS = 20.0

_LISTENING = "space: listening on "


@contextmanager
def fixture_server(log: Path) -> Generator[str]:
    """Start it and give its address; its log goes to a file. Raises `RuntimeError` when it does not start."""
    command = [sys.executable, "-m", "tests.conformance.server", "--port", "0"]
    with log.open("w", encoding="utf-8") as errors:
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=errors, text=True)
    with process:
        try:
            guard = threading.Timer(START_SECONDS, process.kill)
            guard.start()
            line = ""
            assert process.stdout is not None
            for line in process.stdout:
                # Log lines come on the same stream.
                if line.startswith(_LISTENING):
                    break
            guard.cancel()
            guard.join()
            if not line.startswith(_LISTENING):
                raise RuntimeError(f"the fixture server did not start:\n{line}{log.read_text(encoding='utf-8')}")
            # Somebody has to read on, or a full pipe would stop the server.
            reader = threading.Thread(target=process.stdout.read, daemon=True)
            reader.start()
            yield line.removeprefix(_LISTENING).strip()
        finally:
            process.terminate()
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
