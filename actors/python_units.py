"""Units of Python: loaded in a thread, under a time limit, into modules of their own. Owns those modules' life.

What a unit's code does while it is imported happens in the engine's process, with the user's trust. An import that does
not come to its end costs a thread, and no more than `MOST_LOADS` of those are ever taken.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

import trio

from actors.unit_kind import LOAD_SECONDS, LoadedUnit, UnitHost, UnitLoadError
from engine.errors import EngineError
from engine.units.manifest import PYTHON
from engine.units.source import UnitSource
from space_unit.collecting import Surroundings, collect
from space_unit.contribution import Contribution
from space_unit.modules import ENTRY, UnitModules
from space_unit.tracebacks import in_one_line, own_traceback

MOST_LOADS = 4
"""Units that are loaded at a time."""


class PythonUnits:
    """The kind `python`."""

    name: ClassVar[str] = PYTHON

    def __init__(self, load_seconds: float = LOAD_SECONDS) -> None:
        self.modules = UnitModules()
        """The modules of the units that are loaded, and of those with calls in flight."""
        self._limiter = trio.CapacityLimiter(MOST_LOADS)
        self._load_seconds = load_seconds

    async def load(self, source: UnitSource, host: UnitHost) -> LoadedUnit:
        """See `UnitKind`."""
        if f"{ENTRY}.py" not in source.files:
            raise UnitLoadError(f"unit {source.name!r} has no {ENTRY}.py, which says what it contributes")
        if source.manifest.settings:
            raise UnitLoadError(f"unit.toml: a unit of Python has no settings, so the table [{PYTHON}] must be empty")
        loaded = _LoadedPython(self.modules, self.modules.add(source))
        around = Surroundings(unit=source.name, in_use=loaded.in_use, log=host.log)
        try:
            with trio.fail_after(self._load_seconds):
                await trio.to_thread.run_sync(
                    partial(loaded.load, source, around), abandon_on_cancel=True, limiter=self._limiter
                )
        except trio.TooSlowError:
            loaded.abandon()
            raise UnitLoadError(
                f"unit {source.name!r} was not loaded within {self._load_seconds:g} s: something that it does "
                "when it is imported does not come to its end, or as many other units hang already"
            ) from None
        except BaseException:
            loaded.abandon()
            raise
        return loaded

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """See `UnitKind`."""
        self.modules.install()
        try:
            task_status.started()
            await trio.sleep_forever()
        finally:
            self.modules.remove()


class _LoadedPython:
    """One load of a unit."""

    def __init__(self, modules: UnitModules, package: str) -> None:
        self._modules = modules
        self._package = package
        self._contribution: Contribution | None = None
        self._uses = 0
        self._retired = False
        self._abandoned = False

    @property
    def contribution(self) -> Contribution:
        """See `LoadedUnit`."""
        assert self._contribution is not None, "it is given out only when it was loaded"  # noqa: S101
        return self._contribution

    def load(self, source: UnitSource, around: Surroundings) -> None:
        """Import the unit and read what it contributes. Blocks. Raises `UnitLoadError`."""
        try:
            self._contribution = collect(source, vars(self._modules.load(self._package, ENTRY)), around)
        except (Exception, SystemExit) as error:
            # The boundary to the unit's code.
            said = str(error) if isinstance(error, EngineError) else f"it could not be loaded: {in_one_line(error)}"
            report = self._in_own_words(own_traceback(error, (__file__,)), source.name)
            raise UnitLoadError(f"unit {source.name!r}: {self._in_own_words(said, source.name)}", report) from error
        finally:
            if self._abandoned:
                # Nobody waits any more; what came in since it was given up goes as well.
                self._modules.purge(self._package)

    def _in_own_words(self, text: str, unit: str) -> str:
        """Without the private name of the package, which means nothing to the unit's author."""
        return text.replace(f"{self._package}.", "").replace(self._package, unit)

    def abandon(self) -> None:
        """Give up a load."""
        self._abandoned = True
        self._modules.purge(self._package)

    @contextmanager
    def in_use(self) -> Generator[None]:
        """Keep the modules for the block: code that runs may import more of its unit."""
        self._uses += 1
        try:
            yield
        finally:
            self._uses -= 1
            self._settle()

    def retire(self) -> None:
        """See `LoadedUnit`."""
        self._retired = True
        self._settle()

    def _settle(self) -> None:
        if self._retired and not self._uses:
            self._modules.purge(self._package)
