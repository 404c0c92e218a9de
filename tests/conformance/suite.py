"""The official MCP conformance suite, run against a server and counted. Owns its legs, and how its reports are read.

The suite comes from npm, at the version that `package.json` pins; nothing here reaches for the network.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.conformance.older_client import offering

FOLDER = Path(__file__).parent
SUITE = FOLDER / "node_modules" / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
PINNED_NODE = FOLDER / "node_modules" / ".bin" / "node"

OLDEST_NODE = 22
"""The first Node that runs the suite."""

LEG_SECONDS = 240.0
"""The most that one leg may take. The longest takes a dozen seconds on a slow machine, nearly all of them waiting."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One run of the suite: the scenarios of one revision, or all of them at their own revisions where it is None.

    `offers` is the revision that the suite's client asks for, where that is not its newest one. `passes` is the least
    that has to pass.
    """

    name: str
    passes: int
    revision: str | None = None
    offers: str | None = None


LEGS = (
    Leg("2025-03-26", 3, "2025-03-26"),
    Leg("2025-06-18", 56, "2025-06-18"),
    Leg("2025-11-25", 84, "2025-11-25"),
    Leg("2026-07-28", 152, "2026-07-28"),
    Leg("offers-2024-11-05", 56, "2025-06-18", "2024-11-05"),
    Leg("offers-2025-03-26", 56, "2025-06-18", "2025-03-26"),
    Leg("offers-2025-06-18", 56, "2025-06-18", "2025-06-18"),
    Leg("everything", 234, None),
)
"""Every leg. The last one has the extensions too, tasks among them."""


class SuiteMissingError(Exception):
    """Raised when the suite cannot be run here. The text says what is missing and how to get it."""


@dataclass(frozen=True, slots=True)
class LegReport:
    """How a leg went. `failures` and `warnings` are lines for people: the scenario, the check, and what was wrong."""

    passed: int
    failures: tuple[str, ...]
    warnings: tuple[str, ...]


def node() -> str:
    """The Node that runs the suite: the pinned one, or else one that is installed and new enough.

    Raises `SuiteMissingError` where there is none, or no suite.
    """
    if not SUITE.exists():
        raise SuiteMissingError("the conformance suite is not installed; `make test` installs it where npm is there")
    found = str(PINNED_NODE) if PINNED_NODE.exists() else shutil.which("node")
    asked = [found or "node", "--version"]
    said = "" if found is None else subprocess.run(asked, capture_output=True, text=True, check=False).stdout
    version = re.match(r"v(\d+)\.", said)
    if found is None or version is None or int(version[1]) < OLDEST_NODE:
        raise SuiteMissingError(
            f"the conformance suite needs Node {OLDEST_NODE} or newer; found {said.strip() or 'none'}"
        )
    return found


def run_leg(leg: Leg, url: str, folder: Path) -> LegReport:
    """Run one leg against the server at `url`, and keep what the suite writes in `folder`.

    Raises `SuiteMissingError`, and `RuntimeError` where the suite ran no scenario or did not come to an end.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with _reached(url, leg.offers) as target:
        command = [node(), str(SUITE), "server", "--url", target, "-o", str(folder / "checks"), "--suite", "all"]
        if leg.revision is not None:
            command += ["--spec-version", leg.revision]
        log = folder / "suite.log"
        with log.open("w", encoding="utf-8") as output:
            try:
                subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, timeout=LEG_SECONDS, check=False)
            except subprocess.TimeoutExpired as error:
                raise RuntimeError(f"leg {leg.name} did not end within {LEG_SECONDS:g} s; see {log}") from error
    return read_reports(folder / "checks", log.read_text(encoding="utf-8"))


def read_reports(folder: Path, log: str) -> LegReport:
    """Count the checks that the suite has written below `folder`, one file for each scenario.

    A scenario that was begun and has no file is a failure, unless the log says that it was left out on purpose.
    Raises `RuntimeError` where no scenario was begun.
    """
    begun = re.findall(r"^=== Running scenario: (.+) ===$", log, re.MULTILINE)
    if not begun:
        raise RuntimeError(f"the suite ran no scenario; it said:\n{log[-2000:]}")
    passed = 0
    found: Mapping[str, list[str]] = {"FAILURE": [], "WARNING": []}
    reported: set[str] = set()
    for path in sorted(folder.glob("*/checks.json")):
        scenario = re.sub(r"-\d{4}-\d\d-\d\dT[\d-]+Z$", "", path.parent.name).removeprefix("server-")
        reported.add(scenario)
        checks: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
        for check in checks:
            passed += check["status"] == "SUCCESS"
            if check["status"] in found:
                found[check["status"]].append(f"{scenario}: {check['id']}: {check.get('errorMessage', '')}")
    for scenario in begun:
        if scenario not in reported and f"SKIPPED: scenario '{scenario}'" not in log:
            found["FAILURE"].append(f"{scenario}: it did not come to an end")
    return LegReport(passed, tuple(found["FAILURE"]), tuple(found["WARNING"]))


@contextmanager
def _reached(url: str, offers: str | None) -> Generator[str]:
    """Where the suite's client finds the server, so that it offers that revision."""
    if offers is None:
        yield url
        return
    with offering(offers, url) as address:
        yield address
