"""Units that stand for MCP servers, for tests: their manifests, servers that behave as asked, what became of them."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from actors.resolution import CapabilityEdit
from engine.units.folder import UnitFolder, make_unit
from tests.actors.units_on_trial import Trial, units_on_trial

RAW = Path(__file__).with_name("raw_mcp_server.py")

PRESETS = """
[[proxy.preset]]
name = "notes"
tools = ["*"]
risk = "normal"
default = "auto"
"""


def manifest(command: list[str], more: str = "", presets: str = PRESETS, cwd: str | None = None) -> str:
    """The manifest of a unit whose server is that command; `more` are members of its table."""
    where = "" if cwd is None else f"cwd = {json.dumps(cwd)}\n"
    return f'kind = "proxy"\n[proxy]\ncommand = {json.dumps(command)}\n{where}{more}\n{presets}'


def raw(*modes: str) -> list[str]:
    """The command of the server that behaves as these modes say."""
    return [sys.executable, "-S", "-E", str(RAW), *modes]


@dataclass
class ProxyTrial(Trial):
    """A running engine with one unit `notes`, whose server works in `desk`."""

    desk: Path

    def seen(self) -> list[str]:
        """What the servers have noted, in order."""
        path = self.desk / "seen.txt"
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    def pids(self) -> list[int]:
        """The processes of the servers that were started, in order."""
        return [int(line.split()[1]) for line in self.seen() if line.startswith("started")]

    def list_now(self, tools: list[dict[str, Any]], *, say_so: bool = True) -> None:
        """Let the server list these tools from now on, and say so."""
        path = self.desk / "tools.new"
        path.write_text(json.dumps(tools), encoding="utf-8")
        path.replace(self.desk / "tools.json")
        if say_so:
            os.kill(self.pids()[-1], signal.SIGUSR1)

    async def log(self) -> str:
        """The unit's log."""
        page = await self.space.units.read_log("notes", last=1000)
        return "\n".join(text for _, text in page.lines)


@asynccontextmanager
async def proxy_on_trial(
    folder: Path,
    *modes: str,
    more: str = "",
    presets: str = PRESETS,
    tools: list[dict[str, Any]] | None = None,
    capabilities: Sequence[CapabilityEdit] = (),
) -> AsyncGenerator[ProxyTrial]:
    """Run an engine with a unit whose server behaves as these modes say, and lists these tools."""
    desk = folder / "desk"
    desk.mkdir(exist_ok=True)
    if tools is not None:
        (desk / "tools.json").write_text(json.dumps(tools), encoding="utf-8")
    write_unit(folder, manifest(raw(*modes), more, presets, str(desk)))
    async with units_on_trial(folder, capabilities) as trial:
        await loaded(trial)
        yield ProxyTrial(trial.space, trial.root, desk)
    for pid in ProxyTrial(trial.space, trial.root, desk).pids():
        assert not lives(pid), "the engine has ended, and the server of a unit has not"


async def loaded(trial: Trial, unit: str = "notes") -> None:
    """Wait until the unit was tried: a busy engine does not wait for it at its start."""
    await trial.tried(unit)


def write_unit(folder: Path, text: str, unit: str = "notes") -> None:
    """Let that be the manifest of a unit, which is made where it is not there."""
    root = folder / "data" / "units"
    root.mkdir(parents=True, exist_ok=True)
    if (root / unit).exists():
        UnitFolder(root / unit).change({"unit.toml": text.encode()})
    else:
        make_unit(root, unit, {"unit.toml": text.encode()})


def lives(pid: int) -> bool:
    """Whether that process is there and runs."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"
