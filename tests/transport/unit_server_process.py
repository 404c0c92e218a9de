"""`space units serve` as a process of its own. Owns the process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

SPACE = Path(sys.executable).with_name("space")

START_SECONDS = 30.0
END_SECONDS = 30.0


class UnitServerProcess:
    """A running server, in an environment of its own below `folder`. A context manager that ends it."""

    def __init__(self, folder: Path, *flags: str, environment: Mapping[str, str] | None = None) -> None:
        self.units = folder / "units"
        self.units.mkdir(exist_ok=True)
        self.log = folder / "unit-server.log"
        temporary = folder / "temporary"
        temporary.mkdir(exist_ok=True)
        self.temporary = temporary
        """Where it makes its temporary folders."""
        own = dict(os.environ) if environment is None else dict(environment)
        self._environment = {
            **own,
            "TMPDIR": str(temporary),
            "XDG_RUNTIME_DIR": str(temporary),
            "XDG_DATA_HOME": str(folder / "xdg-data"),
        }
        self._command = [str(SPACE), "units", "serve", "--units", str(self.units), "--log-format", "json", *flags]
        self.lines: list[str] = []
        """What it has printed to standard output."""

    def __enter__(self) -> Self:
        with self.log.open("w", encoding="utf-8") as log:
            self.process = subprocess.Popen(
                self._command,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        output = self.process.stdout
        assert output is not None
        guard = threading.Timer(START_SECONDS, self.process.kill)
        guard.start()
        self.lines = [output.readline().rstrip("\n"), output.readline().rstrip("\n")]
        guard.cancel()
        guard.join()
        if not all(self.lines):
            self.__exit__(None, None, None)
            raise RuntimeError(f"it said {self.lines}; its log:\n{self.log.read_text(encoding='utf-8')}")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    @property
    def url(self) -> str:
        """Where its MCP endpoint is."""
        return self.lines[0].removeprefix("MCP_URL=")

    @property
    def port(self) -> int:
        """The port of `url`."""
        return int(self.url.rpartition(":")[2].partition("/")[0])

    @property
    def config_home(self) -> Path:
        """What `XDG_CONFIG_HOME` is to be for opencode."""
        return Path(self.lines[1].removeprefix("OPENCODE_XDG_CONFIG_HOME="))

    def end(self, *signals: signal.Signals) -> tuple[int, str]:
        """Send these signals; its exit code, and what else it printed to standard output."""
        for number in signals:
            self.process.send_signal(number)
        more, _ = self.process.communicate(timeout=END_SECONDS)
        return self.process.returncode, more
