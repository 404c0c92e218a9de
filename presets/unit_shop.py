"""What may be asked of the units of the running engine: looked at, changed, tested, loaded again. Owns the protocol and
its values; the actors implement it. Reached through `App.units`.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

from engine.units.log import LogPage
from engine.units.report import DEFAULT_TEST_SECONDS, TestReport
from engine.units.snapshots import Snapshot
from engine.units.source import SourceFile


class UnitState(StrEnum):
    """How a unit stands."""

    LOADED = "loaded"
    """What lies on disk is what runs."""
    STALE = "stale"
    """What lies on disk cannot be loaded; the version before it still runs."""
    BROKEN = "broken"
    """It cannot be loaded, and nothing of it runs."""
    LOADING = "loading"
    """It is being loaded for the first time, or again after it was broken; nothing of it runs yet."""
    DISABLED = "disabled"
    """Its manifest says that it is not to be loaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitRow:
    """A unit at a glance. `problem` says what is wrong in a line or two, `report` all of it, with a traceback."""

    name: str
    folder: str
    kind: str
    state: UnitState
    title: str | None = None
    description: str = ""
    version: int = 0
    """Counts the loads that succeeded; 0 while none has."""
    fingerprint: str = field(default="", repr=False)
    """Of the source that was loaded, or tried, last."""
    problem: str | None = None
    report: str | None = field(default=None, repr=False)
    tools: tuple[str, ...] = ()
    presets: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    hooks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitLook:
    """A unit from near: its row, its files, its snapshots, and the keys that it keeps in the active world."""

    row: UnitRow
    files: tuple[SourceFile, ...]
    snapshots: tuple[str, ...]
    state_keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A unit that may be meant. `confidence` is the share of the words that were found, 0 to 1."""

    unit: str
    confidence: float
    evidence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSource:
    """One file of a unit."""

    unit: str
    path: str
    text: str
    hash: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedUnit:
    """A change of a unit's files that stands. `snapshot` is what takes it back, None where nothing was there before.

    `reloaded` is False where only tests were changed. `files` are those that were written, `deleted` those that went.
    """

    row: UnitRow
    files: tuple[SourceFile, ...]
    deleted: tuple[str, ...]
    snapshot: str | None
    reloaded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TakenSnapshot:
    """A snapshot of a unit's files, and what the unit keeps in the active world."""

    snapshot: Snapshot
    state: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RanTests:
    """The tests of a unit: the report, and what they printed, cut in the middle; the log has it whole."""

    unit: str
    report: TestReport
    output: str
    output_is_cut: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitChange:
    """What to do with the files of a unit: new contents by path, or a patch, or one piece of a file that is replaced.

    Exactly one of `files`, `patch`, and `old` together with `new` and `path`. `path` is also the file of a patch that
    names none. `expected_hash` is that of `path` before the change. `must_be_new` refuses files that are there.
    """

    reason: str
    files: Mapping[str, str] | None = None
    path: str | None = None
    patch: str | None = None
    old: str | None = None
    new: str | None = None
    anywhere: bool = False
    expected_hash: str | None = None
    must_be_new: bool = False
    must_exist: bool = False


TestProgress = Callable[[float, float | None, str | None], Awaitable[None]]
"""Told how many tests have ended, of how many, and a word on it."""


class UnitShop(Protocol):
    """The units of a running engine. Every method raises `EngineError`: `NotFoundError` for a unit that is none."""

    def rows(self) -> tuple[UnitRow, ...]:
        """Every unit, sorted by name."""
        ...

    def folders(self) -> tuple[str, ...]:
        """Where units are looked for; new ones are made in the first."""
        ...

    def row(self, unit: str) -> UnitRow:
        """One unit."""
        ...

    def resolve(self, description: str, limit: int) -> tuple[Candidate, ...]:
        """The units that a description may mean, the likeliest first."""
        ...

    async def look(self, unit: str) -> UnitLook:
        """One unit from near."""
        ...

    async def read_source(self, unit: str, path: str) -> ReadSource:
        """One file of a unit."""
        ...

    async def change(self, unit: str, change: UnitChange) -> ChangedUnit:
        """Change files of a unit and load it again; when it does not load, the files are as they were and it raises."""
        ...

    async def create(self, unit: str, files: Mapping[str, str] | None = None) -> ChangedUnit:
        """Make a unit of these files, or of the template, and load it; when it does not load, it is gone again."""
        ...

    async def restore(self, unit: str, snapshot: str) -> ChangedUnit:
        """Let the files be those of a snapshot, and load them."""
        ...

    async def reload(self, unit: str) -> UnitRow:
        """Load what lies on disk. Raises `UnitLoadError` when it cannot be; what ran before goes on."""
        ...

    async def run_tests(
        self,
        unit: str,
        only: str | None = None,
        seconds: float = DEFAULT_TEST_SECONDS,
        progress: TestProgress | None = None,
    ) -> RanTests:
        """Run the unit's tests, or some of them, in a process of their own."""
        ...

    async def read_log(
        self,
        unit: str,
        *,
        last: int | None = None,
        offset: int | None = None,
        limit: int | None = None,
        grep: str | None = None,
    ) -> LogPage:
        """Lines of the unit's log; see `engine.units.log.choose_lines`."""
        ...

    async def snapshot(self, unit: str) -> TakenSnapshot:
        """Keep the unit's files as they are now, and read what it keeps in the active world."""
        ...
