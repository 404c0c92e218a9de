"""The units of a running engine as people and models work on them: found, read, changed, tested, loaded again.

Owns where units lie, and that one thing at a time happens to each of them. What is loaded, and what that has
registered, is the units actor's; the files are read and written here, in threads. Implements
`presets.unit_shop.UnitShop`.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

import structlog
import trio

from actors.app import RunningApp
from actors.errors import ActorError, ActorStoppedError
from actors.unit_changes import planned_changes
from actors.unit_kind import LoadedUnit, UnitHost, UnitKind, UnitLoadError
from actors.unit_places import UnitPlaces
from actors.unit_resolve import resolve_units
from actors.unit_tests import run_unit_tests
from actors.unit_turns import UnitTurns, alone_in
from actors.unit_watch import watch_folders
from actors.units import PlaceUnit, ReportUnit, TakeUnit, UnitsActor
from engine.errors import ConflictError, EngineError, NotFoundError
from engine.units.folder import UnitFolder, bytes_of, make_unit
from engine.units.log import LogPage, UnitLogs, choose_lines
from engine.units.report import DEFAULT_TEST_SECONDS
from engine.units.snapshots import UnitSnapshots
from engine.units.source import UnitSource, hash_of, listing_of
from engine.units.state import ReadUnitValues
from presets.suggestions import close_names, did_you_mean, quoted
from presets.unit_shop import (
    Candidate,
    ChangedUnit,
    RanTests,
    ReadSource,
    TakenSnapshot,
    TestProgress,
    UnitChange,
    UnitLook,
    UnitRow,
    UnitState,
)
from space_unit.template import template_files

FIRST_LOAD_SECONDS = 3.0
"""How long the start of the engine waits for units. Those that take longer come when they are ready."""

_log = structlog.stdlib.get_logger("units")

ResultT = TypeVar("ResultT")


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitOptions:
    """Where units lie: in `roots`, folders of units or units themselves. New ones are made in the first.

    `home` is where logs and snapshots are kept.
    """

    home: Path
    roots: tuple[Path, ...]


class UnitWorkshop:
    """The units. `run` loads them and follows their files; the methods may be used from then on.

    Without options there are no units, and each method says so.
    """

    def __init__(
        self, options: UnitOptions | None, actor: UnitsActor, app: RunningApp, kinds: Sequence[UnitKind]
    ) -> None:
        self._options = options
        self._actor = actor
        self._app = app
        self._kinds = {kind.name: kind for kind in kinds}
        self._places = UnitPlaces(() if options is None else options.roots)
        home = Path(os.devnull) if options is None else options.home
        self.logs = UnitLogs(home / "unit-logs")
        """What is known of each unit's life, for people and models."""
        self._snapshots = UnitSnapshots(home / "unit-snapshots")
        self._turns = UnitTurns()
        self._changed: set[str] = set()
        self._woken = trio.Event()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Load every unit, then follow changes of their files until cancelled."""
        if self._options is None:
            task_status.started()
            return
        await self._in_thread(partial(self._options.roots[0].mkdir, mode=0o700, parents=True, exist_ok=True))
        async with trio.open_nursery() as nursery:
            for kind in self._kinds.values():
                await nursery.start(kind.run)
            await nursery.start(watch_folders, [root.resolve() for root in self._options.roots], self._note)
            first = trio.Event()
            nursery.start_soon(self._follow, nursery, first)
            with trio.move_on_after(FIRST_LOAD_SECONDS):
                await first.wait()
            task_status.started()

    # Looking

    def rows(self) -> tuple[UnitRow, ...]:
        """See `UnitShop`."""
        return self._actor.rows.value

    def folders(self) -> tuple[str, ...]:
        """See `UnitShop`."""
        return () if self._options is None else tuple(str(root.absolute()) for root in self._options.roots)

    def row(self, unit: str) -> UnitRow:
        """See `UnitShop`."""
        found = next((row for row in self.rows() if row.name == unit), None)
        if found is None:
            close = did_you_mean(close_names(unit, [row.name for row in self.rows()]))
            known = ", ".join(row.name for row in self.rows()) or "none"
            raise NotFoundError(f"unit {quoted(unit)} was not found.{close} There are: {known}.")
        return found

    def resolve(self, description: str, limit: int) -> tuple[Candidate, ...]:
        """See `UnitShop`."""
        return resolve_units(self.rows(), description, limit)

    async def look(self, unit: str) -> UnitLook:
        """See `UnitShop`."""
        row, folder = self.row(unit), await self._folder(unit)
        contents = await self._beside(folder.contents)
        values = (await self._app.execute(ReadUnitValues(unit=unit))).result
        snapshots = await self._beside(partial(self._snapshots.ids, unit))
        return UnitLook(row=row, files=listing_of(contents), snapshots=snapshots, state_keys=tuple(values))

    async def read_source(self, unit: str, path: str) -> ReadSource:
        """See `UnitShop`."""
        folder = await self._folder(unit)
        text = await self._beside(partial(folder.text, path))
        return ReadSource(unit=unit, path=folder.checked(path), text=text, hash=hash_of(text.encode()))

    async def read_log(
        self,
        unit: str,
        *,
        last: int | None = None,
        offset: int | None = None,
        limit: int | None = None,
        grep: str | None = None,
    ) -> LogPage:
        """See `UnitShop`."""
        self.row(unit)
        lines = await self._beside(partial(self.logs.lines, unit))
        return choose_lines(lines, last=last, offset=offset, limit=limit, grep=grep)

    # Changing

    async def change(self, unit: str, change: UnitChange) -> ChangedUnit:
        """See `UnitShop`."""
        async with self._turn(unit) as folder:
            changes = await self._beside(partial(planned_changes, folder, change))
            return await self._make(folder, changes, change.reason)

    async def _begin(self, folder: UnitFolder) -> UnitRow:
        """Load a unit that was just made; when it does not load, it is gone again."""
        try:
            async with alone_in(folder.path):
                return await self._load(folder, report=False)
        except BaseException:
            with trio.CancelScope(shield=True):
                await self._in_thread(partial(shutil.rmtree, folder.path, ignore_errors=True))
                await self._forget(folder.name)
            raise

    async def restore(self, unit: str, snapshot: str) -> ChangedUnit:
        """See `UnitShop`."""
        async with self._turn(unit) as folder:
            kept = await self._beside(partial(self._snapshots.read, unit, snapshot))
            before = await self._beside(folder.contents)
            gone: dict[str, bytes | None] = {path: None for path in before if path not in kept.files}
            changed = {path: data for path, data in kept.files.items() if before.get(path) != data}
            return await self._make(folder, {**gone, **changed}, f"restore {snapshot}")

    async def create(self, unit: str, files: Mapping[str, str] | None = None) -> ChangedUnit:
        """See `UnitShop`."""
        if self._options is None:
            raise _no_units()
        contents = template_files(unit)
        if files is not None:
            contents = {path: bytes_of(path, text) for path, text in files.items()}
        async with self._turns.of(unit):
            if any(row.name == unit for row in self.rows()):
                raise ConflictError(f"a unit {unit!r} already exists; choose another name, or change that one")
            folder = await self._in_thread(partial(make_unit, self._options.roots[0], unit, contents))
            row = await self._begin(folder)
        return ChangedUnit(row=row, files=listing_of(contents), deleted=(), snapshot=None, reloaded=True)

    async def snapshot(self, unit: str) -> TakenSnapshot:
        """See `UnitShop`."""
        async with self._turn(unit) as folder:
            files = await self._beside(folder.contents)
            taken = await self._in_thread(partial(self._snapshots.take, unit, files, "asked for", datetime.now(UTC)))
        values = (await self._app.execute(ReadUnitValues(unit=unit))).result
        return TakenSnapshot(snapshot=taken, state={key: json.loads(value) for key, value in values.items()})

    async def reload(self, unit: str) -> UnitRow:
        """See `UnitShop`."""
        async with self._turn(unit) as folder:
            return await self._load(folder)

    async def run_tests(
        self,
        unit: str,
        only: str | None = None,
        seconds: float = DEFAULT_TEST_SECONDS,
        progress: TestProgress | None = None,
    ) -> RanTests:
        """See `UnitShop`."""
        folder = await self._folder(unit)
        environment, groups = self._app.shell_environment(), self._app.process_groups
        ran = await run_unit_tests(folder.path, only, seconds, environment, groups, progress)
        self.logs.write(unit, f"tests: {ran.ended}\n{ran.for_log}")
        return RanTests(unit=unit, report=ran.report, output=ran.output, output_is_cut=ran.output_is_cut)

    # Following

    async def refresh(self, unit: str) -> None:
        """Let what is loaded follow what lies on disk: load, load again, take away. Never raises for a broken unit."""
        async with self._turns.of(unit):
            place = await self._beside(partial(self._places.find, unit))
            if place is None:
                await self._forget(unit)
                return
            if place.problem is not None:
                await self._failed(_bare_row(unit, place.path, place.problem))
                return
            async with alone_in(place.path):
                # Whoever had the folder may have taken it away, as one does that could not be loaded.
                if await self._beside(partial(self._places.find, unit)) == place:
                    await self._follow_folder(unit, place.path)

    async def _follow_folder(self, unit: str, path: Path) -> None:
        row = next((row for row in self.rows() if row.name == unit), None)
        try:
            folder = await self._beside(partial(UnitFolder, path))
            source = await self._beside(folder.read)
        except EngineError as error:
            await self._failed(_bare_row(unit, path, str(error)))
            return
        if row is not None and row.fingerprint == source.fingerprint and row.folder == str(folder.path):
            return
        try:
            await self._load(folder, source)
        except (EngineError, UnitLoadError):
            return  # it stands in the row and in the log

    def _note(self, paths: frozenset[Path]) -> None:
        """What has changed on disk, as names of units; a root stands for all that are in it."""
        self._changed |= self._places.units_at(paths, known=[row.name for row in self.rows()])
        self._woken.set()

    async def _follow(self, nursery: trio.Nursery, first: trio.Event) -> None:
        names = await self._beside(self._places.names)
        async with trio.open_nursery() as loading:
            for name in names:
                loading.start_soon(self._refresh, name)
        first.set()
        while True:
            await self._woken.wait()
            self._woken = trio.Event()
            changed, self._changed = self._changed, set()
            for name in sorted(changed):
                nursery.start_soon(self._refresh, name)

    async def _refresh(self, unit: str) -> None:
        try:
            await self.refresh(unit)
        except ActorStoppedError:
            return
        except (EngineError, ActorError) as error:
            _log.error("unit_not_followed", unit=unit, reason=str(error))

    # Loading

    async def _make(self, folder: UnitFolder, changes: Mapping[str, bytes | None], reason: str) -> ChangedUnit:
        """Make the changes and load the unit; with an error everything is as it was."""
        unit = folder.name
        before = await self._beside(folder.contents)
        changes = {path: data for path, data in changes.items() if before.get(path) != data}
        if not changes:
            return ChangedUnit(row=self.row(unit), files=(), deleted=(), snapshot=None, reloaded=False)
        taken = await self._in_thread(partial(self._snapshots.take, unit, before, reason, datetime.now(UTC)))
        try:
            await self._in_thread(partial(folder.change, changes))
            source = await self._beside(folder.read)
            row = self.row(unit)
            reloaded = row.state is not UnitState.LOADED or row.fingerprint != source.fingerprint
            if reloaded:
                row = await self._load(folder, source, report=False)
        except BaseException as error:
            await self._in_thread(partial(folder.become, before))
            if isinstance(error, UnitLoadError):
                raise UnitLoadError(
                    f"{error}\nThe change was not made: source restored, and what ran before runs on.", error.report
                ) from error
            raise
        written = {path: data for path, data in changes.items() if data is not None}
        gone = tuple(path for path, data in changes.items() if data is None)
        self.logs.write(unit, f"{reason}: {', '.join(changes)}; {taken.id} takes it back")
        return ChangedUnit(row=row, files=listing_of(written), deleted=gone, snapshot=taken.id, reloaded=reloaded)

    async def _load(self, folder: UnitFolder, source: UnitSource | None = None, *, report: bool = True) -> UnitRow:
        """Load a unit and let it serve. Raises `UnitLoadError`, with what served before still serving.

        Without `report` the row of the unit stays as it is then: what could not be loaded will not be there either.
        """
        unit = folder.name
        row = _bare_row(unit, folder.path, None)
        before = self._row_or_none(unit)
        loaded: LoadedUnit | None = None
        try:
            source = await self._beside(folder.read) if source is None else source
            manifest = source.manifest
            row = replace(
                row,
                kind=manifest.kind,
                title=manifest.title,
                description=manifest.description,
                fingerprint=source.fingerprint,
            )
            if not manifest.enabled:
                return await self._actor.ask(ReportUnit(replace(row, state=UnitState.DISABLED)))
            if report:
                # Without a fingerprint: what is only being loaded must not be taken for loaded.
                await self._actor.ask(ReportUnit(replace(row, state=UnitState.LOADING, fingerprint="")))
            loaded = await self._kind(manifest.kind).load(source, self._host(row))
            placed = await self._actor.ask(PlaceUnit(row, loaded))
        except UnitLoadError as error:
            await self._failed(replace(row, problem=str(error), report=error.report), report=report)
            raise
        except EngineError as error:
            if loaded is not None:
                loaded.retire()
            await self._failed(replace(row, problem=str(error), report=str(error)), report=report)
            raise UnitLoadError(str(error)) from error
        except BaseException:
            if loaded is not None and not self._serves(loaded):
                loaded.retire()
            await self._show_again(unit, before)
            raise
        self.logs.write(unit, f"loaded version {placed.version}: {', '.join(placed.tools) or 'no tools'}")
        return placed

    async def _show_again(self, unit: str, before: UnitRow | None) -> None:
        """Show a unit as it was before a load of it that was cut off."""
        now = self._row_or_none(unit)
        if now is None or now.state is not UnitState.LOADING:
            return
        with trio.CancelScope(shield=True), suppress(ActorError):
            await self._actor.ask(TakeUnit(unit) if before is None else ReportUnit(before))

    def _row_or_none(self, unit: str) -> UnitRow | None:
        return next((row for row in self.rows() if row.name == unit), None)

    def _serves(self, loaded: LoadedUnit) -> bool:
        return any(held.loaded is loaded for held in self._actor.state.values())

    def _kind(self, name: str) -> UnitKind:
        kind = self._kinds.get(name)
        if kind is None:
            raise UnitLoadError(
                f"unit.toml: there is no kind {quoted(name)} of unit; there are: {', '.join(self._kinds)}"
            )
        return kind

    def _host(self, row: UnitRow) -> UnitHost:
        async def serve_instead(old: LoadedUnit, new: LoadedUnit) -> None:
            placed = await self._actor.ask(PlaceUnit(row, new, instead_of=old))
            self.logs.write(row.name, f"its tools have changed: {', '.join(placed.tools) or 'none'}")

        return UnitHost(log=partial(self.logs.write, row.name), replace=serve_instead)

    async def _failed(self, row: UnitRow, *, report: bool = True) -> None:
        shown = await self._actor.ask(ReportUnit(row)) if report else row
        going_on = "; the version before it serves on" if shown.state is UnitState.STALE else ""
        self.logs.write(row.name, f"not loaded{going_on}: {row.report or row.problem}")

    async def _forget(self, unit: str) -> None:
        if any(row.name == unit for row in self.rows()):
            await self._actor.ask(TakeUnit(unit))
            self.logs.write(unit, "removed")

    async def _folder(self, unit: str) -> UnitFolder:
        if self._options is None:
            raise _no_units()
        row = self.row(unit)
        return await self._beside(partial(UnitFolder, Path(row.folder)))

    @asynccontextmanager
    async def _turn(self, unit: str) -> AsyncGenerator[UnitFolder]:
        """One thing at a time happens to a unit, also among processes: its folder for as long as it is ours."""
        async with self._turns.of(unit):
            folder = await self._folder(unit)
            async with alone_in(folder.path):
                yield folder

    async def _beside(self, look: Callable[[], ResultT]) -> ResultT:
        """Read and reckon. Who is cancelled does not wait for it; what it gives is thrown away."""
        return await trio.to_thread.run_sync(look, abandon_on_cancel=True)

    async def _in_thread(self, function: Callable[[], ResultT]) -> ResultT:
        """Change files, which is short and must not go on after this unit's next turn has begun."""
        with trio.CancelScope(shield=True):
            return await trio.to_thread.run_sync(function)
        raise AssertionError("nothing cancels that scope")


def _bare_row(unit: str, folder: Path, problem: str | None) -> UnitRow:
    return UnitRow(
        name=unit, folder=str(folder), kind="python", state=UnitState.BROKEN, problem=problem, report=problem
    )


def _no_units() -> ConflictError:
    return ConflictError("this engine has no data folder, and so no units")
