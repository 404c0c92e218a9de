"""Runs the tests of one unit, in a process of its own: `python -m space_unit.runner FOLDER REPORT [--only TEST]`.

A test is a function `test_…`, async or not, without parameters, in `tests/test_….py` or `test_….py`. Reports go into a
file, a JSON object per line as it happens, so that what was reported stands when the process is ended. Exit code: 0
when all is well, else 1. Owns finding, running and reporting; limits itself before it loads anything.
"""

from __future__ import annotations

import argparse
import inspect
import json
import resource
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO

import trio

from engine.errors import EngineError
from engine.units.folder import UnitFolder
from engine.units.manifest import PYTHON
from engine.units.source import UnitSource, is_test
from space_unit.collecting import Surroundings, collect
from space_unit.modules import ENTRY, UnitModules
from space_unit.tracebacks import own_traceback

MEMORY_BYTES = 4 * 1024**3
"""Of address space, most of which libraries only reserve."""

FILE_BYTES = 64 * 1024**2
"""Of one file that a test writes."""


class SkipTest(Exception):  # noqa: N818 - as the standard library's own
    """Raise this in a test that cannot run here; its text says why."""


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("report", type=Path)
    parser.add_argument("--only", default=None)
    parser.add_argument("--cpu-seconds", type=int, default=60)
    given = parser.parse_args()
    _limit(given.cpu_seconds)
    with given.report.open("w", encoding="utf-8", buffering=1) as report:
        return 0 if run_tests(given.folder, report, given.only) else 1


def run_tests(folder: Path, report: TextIO, only: str | None = None) -> bool:
    """Run the tests of the unit in that folder; True when all is well. `only` is a file, or a file, `::` and a test."""

    def tell(event: str, **members: Any) -> None:
        report.write(json.dumps({"event": event, **members}) + "\n")

    modules = UnitModules()
    modules.install()
    try:
        tests = list(_found(UnitFolder(folder).read(), modules, only))
        tell("found", tests=len(tests))
        if not tests:
            tell(
                "problem", text=f"there is no test {only!r}" if only else "there are no tests: write tests/test_unit.py"
            )
            return False
    except EngineError as error:
        tell("problem", text=str(error))
        return False
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary to the unit's code
        text = own_traceback(error)
        tell("problem", text=text)
        print(text, file=sys.stderr)
        return False
    well = [_run(name, test, tell) for name, test in tests]
    tell("ended")
    return all(well)


def _found(source: UnitSource, modules: UnitModules, only: str | None) -> Iterable[tuple[str, Callable[[], Any]]]:
    package = modules.add(source)
    wanted_file, _, wanted_test = (only or "").partition("::")
    if source.manifest.kind == PYTHON:
        around = Surroundings(unit=source.name, in_use=nullcontext, log=print)
        collect(source, vars(modules.load(package, ENTRY)), around)
    for path in source.files:
        named = wanted_file in ("", path, path.rpartition("/")[2], path.rpartition("/")[2].removesuffix(".py"))
        if is_test(path) and path.rpartition("/")[2].startswith("test_") and path.endswith(".py") and named:
            module = modules.load(package, path.removesuffix(".py").replace("/", "."))
            for name, test in _tests(module):
                if wanted_test in ("", name):
                    yield f"{path}::{name}", test


def _tests(module: ModuleType) -> Iterable[tuple[str, Callable[[], Any]]]:
    for name, value in tuple(vars(module).items()):
        if name.startswith("test_") and inspect.isfunction(value) and value.__module__ == module.__name__:
            yield name, value


def _run(name: str, test: Callable[[], Any], tell: Callable[..., None]) -> bool:
    tell("started", test=name)
    started = time.monotonic()
    try:
        if inspect.iscoroutinefunction(test):
            trio.run(test)
        else:
            test()
    except SkipTest as skip:
        tell("skipped", test=name, message=str(skip))
        return True
    except (Exception, SystemExit) as error:  # noqa: BLE001 - the boundary to a test
        text = own_traceback(error)
        tell("failed", test=name, where=_where(error, name), message=_message(error), traceback=text)
        print(f"FAILED {name}\n{text}")
        return False
    tell("passed", test=name, seconds=round(time.monotonic() - started, 4))
    print(f"passed {name}")
    return True


def _message(error: BaseException) -> str:
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    if isinstance(error, AssertionError) and not str(error):
        line = traceback.extract_tb(error.__traceback__)[-1].line
        return f"{text}: {line}" if line else text
    return text


def _where(error: BaseException, name: str) -> str:
    """The last place in the test itself: where the reader looks first."""
    path = name.partition("::")[0]
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.endswith(path)]
    return f"{path}:{frames[-1].lineno}" if frames else path


def _limit(cpu_seconds: int) -> None:
    for what, most in (
        (resource.RLIMIT_CPU, cpu_seconds),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, FILE_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(what)
        resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


if __name__ == "__main__":
    sys.exit(main())
