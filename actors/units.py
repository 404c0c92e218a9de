"""The units actor: sole owner of which units are loaded, and of what each of them has registered.

A load that takes the place of another goes into the tool list as one change, with one notification, or not at all;
then the one before it serves on. Loading, reading and writing files happen elsewhere: it gets loads that are done.
Published: every unit as a row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

import structlog

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.context import ContextActor, EditCapabilities
from actors.published import Published
from actors.resolution import CapabilityEdit, ReadKnown, ResolutionActor
from actors.unit_kind import LoadedUnit
from blocks.hooks import Hooks
from engine.errors import ConflictError
from presets.context import FactValue
from presets.unit_shop import UnitRow, UnitState
from space_unit.contribution import EMPTY, Contribution, check_contribution

_log = structlog.stdlib.get_logger("units")


@dataclass(frozen=True, slots=True)
class PlaceUnit(Message[UnitRow]):
    """Let this load of a unit serve from now on, instead of the one before it, which is retired.

    `row` says who it is; what it contributes and how it stands is filled in. Raises `EngineError` with everything as it
    was, and then the load is the asker's to retire; `ConflictError` when another one than `instead_of`, where that is
    given, serves now.
    """

    row: UnitRow
    loaded: LoadedUnit
    instead_of: LoadedUnit | None = None


@dataclass(frozen=True, slots=True)
class ReportUnit(Message[UnitRow]):
    """Show that a unit cannot be loaded, is being loaded, or is disabled.

    What serves of it goes on serving, unless it is disabled; while it does, a load that is under way is not shown.
    """

    row: UnitRow


@dataclass(frozen=True, slots=True)
class ReportTrouble(Message[None]):
    """Show that something is wrong with a unit that serves. Nothing changes where that load serves no more."""

    of: LoadedUnit
    problem: str
    report: str


@dataclass(frozen=True, slots=True)
class TakeUnit(Message[None]):
    """Take a unit away with all that it has registered, and nothing else. One that is not there changes nothing."""

    name: str


@dataclass(frozen=True, slots=True)
class _Held:
    row: UnitRow
    loaded: LoadedUnit | None = None

    @property
    def contribution(self) -> Contribution:
        return EMPTY if self.loaded is None else self.loaded.contribution


UnitRows = tuple[UnitRow, ...]


class UnitsActor(Actor[Mapping[str, _Held]]):
    """Owns the units that are there. Asks context and resolution; the hooks of prompts are its alone to change."""

    name: ClassVar[str] = "units"
    rank: ClassVar[int] = ranks.UNITS

    def __init__(self, context: ContextActor, resolution: ResolutionActor, hooks: Hooks) -> None:
        super().__init__(MappingProxyType({}))
        self._context = context
        self._resolution = resolution
        self._hooks = hooks
        self.rows: Published[UnitRows] = Published(())

    @handles(PlaceUnit)
    async def _place(self, message: PlaceUnit) -> UnitRow:
        name, made = message.row.name, message.loaded.contribution
        before = self.state.get(name)
        if message.instead_of is not None and (before is None or before.loaded is not message.instead_of):
            raise ConflictError(f"unit {name!r} was loaded again, or removed, meanwhile")
        check_contribution(name, made)
        await self._move(name, EMPTY if before is None else before.contribution, made)
        row = replace(
            message.row,
            state=UnitState.LOADED,
            version=(0 if before is None else before.row.version) + 1,
            problem=None,
            report=None,
            tools=tuple(adapter.mcp_name for adapter in made.adapters),
            presets=tuple(preset.name for preset in made.presets),
            facts=tuple(made.facts),
            blocks=made.block_ids,
            hooks=made.hooks,
        )
        self._hold(_Held(row, message.loaded))
        _log.info("unit_loaded", unit=name, version=row.version, tools=len(row.tools))
        if before is not None and before.loaded is not None:
            before.loaded.retire()
        return row

    @handles(ReportUnit)
    async def _report(self, message: ReportUnit) -> UnitRow:
        row = message.row
        before = self.state.get(row.name)
        if row.state is UnitState.DISABLED:
            await self._withdraw(row.name)
            self._hold(_Held(row))
            return row
        if row.state is UnitState.LOADING:
            if before is not None and before.loaded is not None:
                return before.row
            self._hold(_Held(row))
            return row
        if before is not None and before.loaded is not None:
            state, serving = UnitState.STALE, before.row
            row = replace(serving, state=state, problem=row.problem, report=row.report, fingerprint=row.fingerprint)
        self._hold(_Held(row, None if before is None else before.loaded))
        _log.warning("unit_not_loaded", unit=row.name, state=row.state.value, reason=row.problem)
        return row

    @handles(ReportTrouble)
    async def _report_trouble(self, message: ReportTrouble) -> None:
        held = next((held for held in self.state.values() if held.loaded is message.of), None)
        if held is None:
            return
        row = replace(held.row, state=UnitState.STALE, problem=message.problem, report=message.report)
        self._hold(_Held(row, held.loaded))
        _log.warning("unit_in_trouble", unit=row.name, reason=row.problem)

    @handles(TakeUnit)
    async def _take(self, message: TakeUnit) -> None:
        if message.name not in self.state:
            return
        await self._withdraw(message.name)
        self._show({name: held for name, held in self.state.items() if name != message.name})
        _log.info("unit_removed", unit=message.name)

    async def release(self) -> None:
        """Give the loads back; the tools go with the actors below."""
        for held in self.state.values():
            if held.loaded is not None:
                held.loaded.retire()

    async def _withdraw(self, name: str) -> None:
        before = self.state.get(name)
        if before is None or before.loaded is None:
            return
        await self._move(name, before.contribution, EMPTY)
        self._hold(_Held(before.row))
        before.loaded.retire()

    async def _move(self, name: str, old: Contribution, new: Contribution) -> None:
        """Register what is new and take away what is not there any more, as one change. Raises with nothing changed."""
        await self._check_names(name, old, new)
        kept = [preset for preset in old.presets if preset in new.presets]
        edit = CapabilityEdit(
            remove_presets=tuple(preset.name for preset in old.presets if preset not in kept),
            remove_adapters=tuple(adapter.id for adapter in old.adapters),
            add_adapters=new.adapters,
            add_presets=tuple(preset for preset in new.presets if preset not in kept),
        )
        # A fact that is declared as before may have been changed since by a tool, and stays as it is.
        facts: dict[str, FactValue | None] = {fact: None for fact in old.facts if fact not in new.facts}
        facts.update({fact: value for fact, value in new.facts.items() if old.facts.get(fact) != value})
        if edit != CapabilityEdit() or facts:
            await self._context.ask(EditCapabilities(edit, facts))
        if new.hooks:
            self._hooks.replace(
                name,
                before_context=new.before_context,
                before_blocks=new.before_blocks,
                before_generation=new.before_generation,
            )
        elif old.hooks:
            self._hooks.unregister(name)

    async def _check_names(self, name: str, old: Contribution, new: Contribution) -> None:
        """Refuse what somebody else has, offered now or not: it would break a later change of the context."""
        known = await self._resolution.ask(ReadKnown())
        own = {adapter.mcp_name for adapter in old.adapters}
        for adapter in new.adapters:
            if adapter.mcp_name in known.tools and adapter.mcp_name not in own:
                raise ConflictError(
                    f"unit {name!r} has a tool {adapter.mcp_name!r}, and somebody else has one of that name; "
                    "give the function, or the unit, another name"
                )
        present = self._context.view.value.context.facts()
        for fact in new.facts:
            if fact in present and fact not in old.facts:
                raise ConflictError(
                    f"unit {name!r} declares the fact {fact!r}, which the context has from somebody else already; "
                    "give it another name"
                )

    def _hold(self, held: _Held) -> None:
        self._show({**self.state, held.row.name: held})

    def _show(self, units: Mapping[str, _Held]) -> None:
        self.state = MappingProxyType(dict(sorted(units.items())))
        self.rows.publish(tuple(held.row for held in self.state.values()))
