"""`python -m tests.fuzz`: many broken requests against real engine processes. Exit code 1 when something was wrong."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import trio

from tests.fuzz.run import REQUESTS, run


def main() -> int:
    """See the module."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz the engine over its sockets.")
    parser.add_argument("--requests", type=int, default=REQUESTS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="a folder for the logs and the data of the engines")
    given = parser.parse_args()
    wrong = False
    with TemporaryDirectory(prefix="space-fuzz-") as temporary:
        folder = Path(given.keep or temporary)
        for force_sse, share in ((False, 0.75), (True, 0.25)):
            place = folder / ("sse" if force_sse else "direct")
            place.mkdir(parents=True, exist_ok=True)
            report = trio.run(run, place, int(given.requests * share), given.seed, force_sse)
            print(f"{'forced SSE' if force_sse else 'direct'}, seed {given.seed}: {report.summary()}", flush=True)
            wrong = wrong or bool(report.faults)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
