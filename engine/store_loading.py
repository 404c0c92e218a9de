"""Reading the whole state out of a store. Owns what happens to a part that cannot be understood.

Such a part is moved into the table `set_aside`, reported in a sentence, and never stops the rest. What depends on it is
mended: a history ends where a step is missing, and a series of ids goes on behind every id that was ever used.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import get_type_hints

from pydantic import TypeAdapter, ValidationError

from engine import store_rows
from engine.codec import Codec, UndecodableError
from engine.collector import collector_paused
from engine.records import Counter, Record
from engine.settings import Settings
from engine.stored import DeletedContent, StoredState, StoredWorld, WorldCreation, fresh_state
from engine.theme import DEFAULT_THEME, THEMES
from engine.world import Step

_SETTING_TYPES: dict[str, TypeAdapter[object]] = {
    **{name: TypeAdapter(hint) for name, hint in get_type_hints(Settings).items()},
    store_rows.NEXT_WORLD_NUMBER: TypeAdapter(int),
}

_LIVE_WORLDS = """
SELECT id, name, created_at, revision, position FROM worlds WHERE deleted_at IS NULL ORDER BY number
"""

_ONE_WORLD = "SELECT id, name, created_at, revision, position FROM worlds WHERE id = ?"

_WORLD_NUMBERS = "SELECT substr(id, 7) FROM worlds WHERE id GLOB 'world-[0-9]*' AND id NOT GLOB 'world-*[^0-9]*'"

_STEPS = "SELECT sequence, label, changes FROM steps WHERE world_id = ? ORDER BY sequence"

_EVERY_TEXT = """
SELECT id FROM records WHERE world_id = :world
UNION ALL SELECT changes FROM steps WHERE world_id = :world
UNION ALL SELECT name || ' ' || data FROM set_aside WHERE world_id = :world
"""


class StateLoader:
    """Loads the state once, within a transaction of the caller. `now` is the time that set-aside parts are given."""

    def __init__(self, connection: sqlite3.Connection, codec: Codec, now: datetime) -> None:
        self._connection = connection
        self._codec = codec
        self._now = now
        self._reports: list[str] = []

    def load(self) -> StoredState:
        """The state; that of `fresh_state` when the store was never used. What is mended is written as well."""
        settings = self._settings()
        worlds = [self._world(*row) for row in self._connection.execute(_LIVE_WORLDS).fetchall()]
        state = self._assembled(settings, worlds)
        known = {world.id for world in worlds}
        for world in state.worlds:
            if world.id not in known:
                creation = WorldCreation(id=world.id, name=world.name, created_at=world.created_at)
                store_rows.add_world(self._connection, creation)
        values = store_rows.setting_values(state.settings, state.next_world_number)
        changed = {name: value for name, value in values.items() if name not in settings or settings[name] != value}
        store_rows.put_settings(self._connection, changed)
        return state

    def load_one(self, world_id: str) -> StoredWorld:
        """One world, deleted or not, that is known to be there. What is mended is written as well."""
        return self._world(*self._connection.execute(_ONE_WORLD, (world_id,)).fetchone())

    @property
    def reports(self) -> tuple[str, ...]:
        """What was found damaged so far, a sentence each."""
        return tuple(self._reports)

    def _assembled(self, settings: dict[str, object], worlds: list[StoredWorld]) -> StoredState:
        used = [int(number) for (number,) in self._connection.execute(_WORLD_NUMBERS)]
        if not settings and not used:
            return replace(fresh_state(self._now), reports=tuple(self._reports))
        stored_next = settings.get(store_rows.NEXT_WORLD_NUMBER, 1)
        next_number = max([*used, 0]) + 1
        if isinstance(stored_next, int):
            next_number = max(next_number, stored_next)
        if not worlds:
            self._reports.append("There was no world left; an empty one named 'home' was made.")
            worlds = [StoredWorld(id=f"world-{next_number}", name="home", created_at=self._now)]
            next_number += 1
        return StoredState(
            settings=self._valid_settings(settings, worlds),
            next_world_number=next_number,
            worlds=tuple(worlds),
            reports=tuple(self._reports),
        )

    def _settings(self) -> dict[str, object]:
        """The settings that are there and of the right type."""
        good: dict[str, object] = {}
        for name, text in self._connection.execute("SELECT name, value FROM settings").fetchall():
            try:
                good[name] = _SETTING_TYPES[name].validate_python(json.loads(text), strict=True)
            except (KeyError, ValueError, ValidationError) as error:
                self._set_aside(None, "setting", name, text, f"unknown or not of its type ({type(error).__name__})")
                self._connection.execute("DELETE FROM settings WHERE name = ?", (name,))
        return good

    def _valid_settings(self, values: dict[str, object], worlds: Sequence[StoredWorld]) -> Settings:
        names = {field.name for field in fields(Settings)}
        first = worlds[0].id
        known = {name: value for name, value in values.items() if name in names}
        settings = TypeAdapter(Settings).validate_python({"active_world_id": first, **known})
        if settings.active_world_id not in {world.id for world in worlds}:
            self._reports.append(f"The active world {settings.active_world_id!r} is gone; {first} is active now.")
            settings = replace(settings, active_world_id=first)
        if settings.theme not in THEMES:
            self._reports.append(f"There is no theme {settings.theme!r}; {DEFAULT_THEME!r} is chosen now.")
            settings = replace(settings, theme=DEFAULT_THEME)
        return settings

    def _world(self, world_id: str, name: str, created_at: str, revision: int, position: int) -> StoredWorld:
        records, lost_series = self._records(world_id)
        steps, done = self._steps(world_id, position)
        if done != position:
            store_rows.set_progress(self._connection, world_id, revision, done)
        records += [self._mended_counter(world_id, series) for series in lost_series]
        return StoredWorld(
            id=world_id,
            name=name,
            created_at=store_rows.time_of(created_at) or self._now,
            revision=revision,
            records=tuple(records),
            steps=tuple(steps),
            position=done,
        )

    def _records(self, world_id: str) -> tuple[list[Record], list[str]]:
        """The records of a world, and the series of ids whose counter could not be understood."""
        records: list[Record] = []
        lost_series: list[str] = []
        rows = self._connection.execute("SELECT collection, id, data FROM records WHERE world_id = ?", (world_id,))
        for collection, record_id, data in rows.fetchall():
            try:
                records.append(self._codec.decode(collection, record_id, data))
            except UndecodableError as error:
                self._set_aside(world_id, "record", f"{collection} {record_id}", data, str(error))
                store_rows.drop_records(self._connection, world_id, [(collection, record_id)])
                if collection == Counter.collection:
                    lost_series.append(record_id)
        return records, lost_series

    def _mended_counter(self, world_id: str, series: str) -> Counter:
        """Behind every id of the series that occurs anywhere, in the history and in what was set aside too."""
        pattern = re.compile(rf"\b{re.escape(series)}-(\d{{1,18}})\b")
        numbers = [
            int(number)
            for (text,) in self._connection.execute(_EVERY_TEXT, {"world": world_id})
            for number in pattern.findall(text)
        ]
        counter = Counter(id=series, next=max([*numbers, 0]) + 1)
        store_rows.put_records(
            self._connection, world_id, [(counter.collection, counter.id, self._codec.encode(counter))]
        )
        return counter

    def _steps(self, world_id: str, position: int) -> tuple[list[Step], int]:
        """The steps around the position that can be undone and redone one after the other, and how many are done."""
        rows: dict[int, tuple[str, str]] = {
            sequence: (label, changes)
            for sequence, label, changes in self._connection.execute(_STEPS, (world_id,)).fetchall()
        }
        steps: dict[int, Step] = {}
        for sequence, (label, changes) in rows.items():
            try:
                steps[sequence] = Step(sequence, label, self._codec.decode_changes(changes))
            except UndecodableError as error:
                self._lose_step(world_id, sequence, label, changes, str(error))
        first = position + 1
        while first - 1 in steps:
            first -= 1
        after = position + 1
        while after in steps:
            after += 1
        for sequence in [number for number in steps if not first <= number < after]:
            self._lose_step(world_id, sequence, *rows[sequence], "a step between it and the present is missing")
        gone = first - 1
        if gone:
            store_rows.renumber_steps(self._connection, world_id, gone)
        kept = [steps[number] for number in range(first, after)]
        if gone:
            kept = [replace(step, sequence=step.sequence - gone) for step in kept]
        return kept, position - gone

    def _lose_step(self, world_id: str, sequence: int, label: str, changes: str, reason: str) -> None:
        self._set_aside(world_id, "step", f"{sequence} {label}", changes, reason)
        self._connection.execute("DELETE FROM steps WHERE world_id = ? AND sequence = ?", (world_id, sequence))

    def _set_aside(self, world_id: str | None, what: str, name: str, data: str, reason: str) -> None:
        store_rows.add_set_aside(self._connection, self._now, world_id, what, name, data, reason)
        where = f" of {world_id}" if world_id else ""
        self._reports.append(f"The {what} {name!r}{where} was set aside (table set_aside): {reason}.")


def decoded(content: DeletedContent, codec: Codec) -> StoredWorld:
    """A deleted world out of its rows. Takes seconds for a large one, and touches nothing but its arguments.

    Raises `UndecodableError` when a part cannot be understood; then `StateLoader` has to mend it.
    """
    with collector_paused():
        records = tuple(codec.decode(*row) for row in content.rows.records)
        steps = tuple(Step(number, label, codec.decode_changes(text)) for number, label, text in content.rows.steps)
    if [step.sequence for step in steps] != list(range(1, len(steps) + 1)) or content.position > len(steps):
        raise UndecodableError("a step of the history is missing")
    return StoredWorld(
        id=content.world.id,
        name=content.world.name,
        created_at=content.created_at,
        revision=content.revision,
        records=records,
        steps=steps,
        position=content.position,
    )
