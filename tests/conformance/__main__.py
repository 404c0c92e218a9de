"""`python -m tests.conformance [LEG …]`: the conformance suite against the fixture server, leg by leg.

Prints a line for each leg, and what is wrong. Exit code 0 when every leg is clean, 1 when one is not, 2 when the suite
cannot be run.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.conformance.serving import fixture_server
from tests.conformance.suite import LEGS, SuiteMissingError, node, run_leg


def main() -> int:
    """See the module."""
    names = [leg.name for leg in LEGS]
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description="Run the MCP conformance suite.")
    parser.add_argument(
        "legs", nargs="*", metavar="LEG", help=f"which to run; all of them by default: {', '.join(names)}"
    )
    parser.add_argument("--keep", type=Path, help="a folder for what the suite writes")
    given = parser.parse_args()
    wanted: list[str] = given.legs or names
    if unknown := [name for name in wanted if name not in names]:
        parser.error(f"there is no leg {unknown[0]!r}; there are {', '.join(names)}")
    try:
        node()
    except SuiteMissingError as error:
        print(f"conformance: {error}", file=sys.stderr)
        return 2
    clean = True
    with TemporaryDirectory(prefix="space-conformance-") as temporary:
        folder = Path(given.keep or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        with fixture_server(folder / "server.log") as url:
            for leg in LEGS:
                if leg.name not in wanted:
                    continue
                started = time.monotonic()
                report = run_leg(leg, url, folder / leg.name)
                seconds = time.monotonic() - started
                counted = f"{report.passed} passed, {len(report.failures)} failed, {len(report.warnings)} warnings"
                print(f"{leg.name}: {counted} (at least {leg.passes} must pass), {seconds:.1f} s", flush=True)
                for line in (*report.failures, *report.warnings):
                    print(f"  {line}")
                clean = clean and not report.failures and not report.warnings and report.passed >= leg.passes
    return 0 if clean else 1


if __name__ == "__main__":
    sys.exit(main())
