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
from presets.suggestions import MAX_SUGGESTIONS, close_names, did_you_mean, quoted
from space_unit.collecting import Surroundings, collect
from space_unit.modules import ENTRY, UnitModules
from space_unit.supervised import supervised
from space_unit.tracebacks import kind_of, own_traceback, words_of

MEMORY_BYTES = 4 * 1024**3
"""Of address space, most of which libraries only reserve."""

FILE_BYTES = 64 * 1024**2
"""Of one file that a test writes."""


MOST_NAMED = 30
"""Tests that are named to whoever asked for one that there is not."""


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

    def work() -> int:
        _limit(given.cpu_seconds)
        with given.report.open("w", encoding="utf-8", buffering=1) as report:
            return 0 if run_tests(given.folder, report, given.only) else 1

    return supervised(work)


def run_tests(folder: Path, report: TextIO, only: str | None = None) -> bool:
    """Run the tests of the unit in that folder; True when all is well. `only` is a file, or a file, `::` and a test."""

    def tell(event: str, **members: Any) -> None:
        report.write(json.dumps({"event": event, **members}) + "\n")

    modules = UnitModules()
    modules.install()
    try:
        source = UnitFolder(folder).read()
        tests = list(_found(source, modules, only))
        tell("found", tests=len(tests))
        if not tests:
            tell("problem", text=_why_none(source, modules, only))
            return False
    except BaseException as error:  # noqa: BLE001 - the boundary to the unit's code
        tell("problem", text=words_of(error) if isinstance(error, EngineError) else own_traceback(error))
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


def _why_none(source: UnitSource, modules: UnitModules, only: str | None) -> str:
    """Why there is nothing to run, and what would be."""
    known = [name for name, _ in _found(source, modules, None)]
    if not known:
        return "there are no tests: write tests/test_unit.py"
    form = "ask for a file (tests/test_unit.py), or for one test of it (tests/test_unit.py::test_it)"
    close = did_you_mean(close_names(only or "", known) or _ending_so(only or "", known))
    more = f", and {len(known) - MOST_NAMED} more" if len(known) > MOST_NAMED else ""
    return f"there is no test {quoted(only or '')}; {form}.{close} There are: {', '.join(known[:MOST_NAMED])}{more}."


def _ending_so(only: str, known: list[str]) -> list[str]:
    """The tests whose name alone is what was asked for."""
    return [name for name in known if name.endswith(f"::{only}")][:MAX_SUGGESTIONS]


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
        tell("skipped", test=name, message=words_of(skip))
        return True
    except BaseException as error:  # noqa: BLE001 - the boundary to a test
        # The traceback is told and not printed as well: who reads both would read it twice.
        tell("failed", test=name, where=_where(error, name), message=_message(error), traceback=own_traceback(error))
        print(f"FAILED {name}")
        return False
    tell("passed", test=name, seconds=round(time.monotonic() - started, 4))
    print(f"passed {name}")
    return True


def _message(error: BaseException) -> str:
    words = words_of(error)
    text = f"{kind_of(error)}: {words}" if words else kind_of(error)
    if isinstance(error, AssertionError) and not words:
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
