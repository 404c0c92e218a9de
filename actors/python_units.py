"""Units of Python: loaded in a thread, under a time limit, into modules of their own. Owns those modules' life.

What a unit's code does while it is imported happens in the engine's process, with the user's trust. Whatever it raises
is a unit that cannot be loaded. An import that does not come to its end is given up and ended from outside; what cannot
be ended (a call into C that does not return) costs a thread, and nobody else's turn.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

import trio

from actors.loop_watch import LoopWatch
from actors.unit_kind import LOAD_SECONDS, LoadedUnit, UnitHost, UnitLoadError
from engine.errors import EngineError
from engine.units.folder import MAX_SOURCE_BYTES
from engine.units.manifest import PYTHON
from engine.units.source import UnitSource, is_test
from presets.suggestions import quoted
from space_unit.collecting import Surroundings, collect
from space_unit.contribution import Contribution
from space_unit.modules import ENTRY, UnitModules
from space_unit.tracebacks import in_one_line, own_traceback, words_of
from space_unit.unit_thread import UnitThread

MOST_LOADS = 4
"""Units that are loaded at a time."""

TURN_SECONDS = 60.0
"""How long a unit waits for its turn: until some two dozen others that hang have been given up."""

END_SECONDS = 1.0
"""How long a load that was given up may take to end. A loop ends within milliseconds."""

MOST_HANGING = 8
"""Loads of one unit that could not be ended. Each has a thread; the unit is not tried again before the engine is."""


class PythonUnits:
    """The kind `python`."""

    name: ClassVar[str] = PYTHON

    def __init__(self, load_seconds: float = LOAD_SECONDS) -> None:
        self.modules = UnitModules()
        """The modules of the units that are loaded, and of those with calls in flight."""
        self._turns = trio.Semaphore(MOST_LOADS)
        self._loading: list[str] = []
        self._hanging: dict[str, list[UnitThread[None]]] = {}
        self._watch = LoopWatch()
        self._load_seconds = load_seconds

    async def load(self, source: UnitSource, host: UnitHost) -> LoadedUnit:
        """See `UnitKind`. The time for loading does not count while other units have their turn."""
        _check(source)
        self._check_hanging(source.name)
        if not self._turns.value:
            host.log(f"waits for its turn; being loaded: {', '.join(sorted(self._loading))}")
        with trio.move_on_after(TURN_SECONDS) as waiting:
            await self._turns.acquire()
        if waiting.cancelled_caught:
            raise UnitLoadError(
                f"unit {source.name!r} was not loaded: other units have had every turn for {TURN_SECONDS:g} s "
                f"({', '.join(sorted(self._loading))}); mend or delete those that hang"
            )
        self._loading.append(source.name)
        loaded = _LoadedPython(self.modules, self.modules.add(source), self._watch, source.name, host)
        try:
            await self._load(loaded, source, host)
        except BaseException:
            loaded.abandon()
            raise
        finally:
            self._loading.remove(source.name)
            self._turns.release()
        return loaded

    async def _load(self, loaded: _LoadedPython, source: UnitSource, host: UnitHost) -> None:
        around = Surroundings(unit=source.name, in_use=loaded.in_use, log=host.log)
        thread = UnitThread(f"unit {source.name} being loaded", partial(loaded.load, source, around))
        with trio.move_on_after(self._load_seconds) as limit:
            try:
                await thread.run()
            finally:
                if not thread.ended.is_set():
                    await self._give_up(source.name, thread)
        if not limit.cancelled_caught:
            return
        said = f"unit {source.name!r} was not loaded within {self._load_seconds:g} s: something that it does when it "
        if thread.ended.is_set():
            raise UnitLoadError(f"{said}is imported does not come to its end, and was ended")
        raise UnitLoadError(
            f"{said}is imported does not come to its end, and cannot be ended, as what waits outside of Python "
            "cannot; it has a thread of the engine until it returns, or you restart the engine"
        )

    async def _give_up(self, unit: str, thread: UnitThread[None]) -> None:
        """Wait a moment for the end of a load that nobody waits for, and remember it where it goes on."""
        with trio.move_on_after(END_SECONDS, shield=True):
            await thread.ended.wait()
        if not thread.ended.is_set():
            self._hanging.setdefault(unit, []).append(thread)

    def _check_hanging(self, unit: str) -> None:
        alive = [thread for thread in self._hanging.pop(unit, ()) if not thread.ended.is_set()]
        if alive:
            self._hanging[unit] = alive
        if len(alive) >= MOST_HANGING:
            raise UnitLoadError(
                f"unit {unit!r} is not loaded: {len(alive)} loads of it hang in something that cannot be ended; "
                "mend it, and restart the engine"
            )

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """See `UnitKind`."""
        self.modules.install()
        try:
            await self._watch.run(task_status=task_status)
        finally:
            self.modules.remove()


def _check(source: UnitSource) -> None:
    """Raise `UnitLoadError` for what need not be imported to be refused."""
    if f"{ENTRY}.py" not in source.files:
        raise UnitLoadError(f"unit {source.name!r} has no {ENTRY}.py, which says what it contributes")
    if source.manifest.settings:
        raise UnitLoadError(f"unit.toml: a unit of Python has no settings, so the table [{PYTHON}] must be empty")
    for path, data in source.files.items():
        if path.endswith(".py") and not is_test(path) and len(data) > MAX_SOURCE_BYTES:
            raise UnitLoadError(
                f"{quoted(path)} has {len(data):,} bytes, and a module of a unit has at most {MAX_SOURCE_BYTES:,}; "
                "keep data in a file that is no module"
            )


class _LoadedPython:
    """One load of a unit."""

    def __init__(self, modules: UnitModules, package: str, watch: LoopWatch, unit: str, host: UnitHost) -> None:
        self._modules = modules
        self._package = package
        self._watch = watch
        self._unit = unit
        self._host = host
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
        except BaseException as error:  # noqa: BLE001 - the boundary to the unit's code
            said = f"it could not be loaded: {in_one_line(error)}"
            if isinstance(error, EngineError):
                said = words_of(error)
            report = self._in_own_words(own_traceback(error, (__file__,)), source.name)
            # Without the error as its cause: whoever prints that one would run code of the unit.
            raise UnitLoadError(f"unit {source.name!r}: {self._in_own_words(said, source.name)}", report) from None
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
        """Keep the modules for the block, and watch: code that runs may import more of its unit, and hold up all."""
        self._uses += 1
        try:
            with self._watch.watching(self._package, self._unit, self._host.log):
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
