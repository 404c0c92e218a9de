"""What units keep in a world: JSON values by unit and key. Owns the records, their limits and the commands on them.

They are part of the world: a change is a step that can be undone, it is durable when it is answered, and an exported
world takes it along. A unit that is gone leaves its values, and finds them again when it comes back.
"""

from __future__ import annotations

import json
from collections import Counter as Tally
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, cast

from engine.errors import ConflictError, InvalidArgumentError
from engine.records import Record, Transaction
from engine.rules import Key, Rules
from engine.units.manifest import check_unit_name
from engine.world import Command

MAX_KEY_CHARACTERS = 100
"""A key is a name, as in a dictionary."""

MAX_VALUE_BYTES = 64 * 1024
"""Of one value as JSON. What is larger belongs into several, or into a file."""

MAX_VALUES = 1000
"""Of one unit in one world. They are all in memory, and undo keeps what was there before."""

MAX_NESTING = 32
"""Of lists and objects in a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitValue(Record):
    """One value. Its id is `<unit>/<key>`, and `value` is canonical JSON, so that equal values are equal text."""

    collection: ClassVar[str] = "unit.value"
    unit: str
    key: str
    value: str


class UnitValueIndex:
    """The keys of each unit."""

    collections: ClassVar[frozenset[str]] = frozenset({UnitValue.collection})

    def __init__(self) -> None:
        self._keys: dict[str, Tally[str]] = {}

    def apply(self, before: Record | None, after: Record | None) -> None:
        """Follow one change."""
        if isinstance(before, UnitValue):
            keys = self._keys[before.unit]
            del keys[before.key]
            if not keys:
                del self._keys[before.unit]
        if isinstance(after, UnitValue):
            self._keys.setdefault(after.unit, Tally())[after.key] = 1

    def keys(self, unit: str) -> tuple[str, ...]:
        """The keys of a unit, sorted."""
        return tuple(sorted(self._keys.get(unit, ())))


@dataclass(frozen=True, slots=True, kw_only=True)
class SetUnitValues(Command[int]):
    """Let these keys of a unit hold these values, as canonical JSON; None takes one away. All of them are one step.

    The result is how many values the unit has then. Raises `InvalidArgumentError` for a key or value beyond the limits,
    and `ConflictError` beyond `MAX_VALUES`.
    """

    label = "change a unit's state"
    unit: str
    values: Mapping[str, str | None]

    def run(self, world: Transaction) -> int:
        """See the class."""
        for key, value in self.values.items():
            record_id = _id(self.unit, key)
            if value is None:
                world.remove(UnitValue, record_id)
            else:
                record = UnitValue(id=record_id, unit=self.unit, key=key, value=value)
                _check(record)
                world.put(record)
        count = len(world.index(UnitValueIndex).keys(self.unit))
        if count > MAX_VALUES:
            raise ConflictError(f"unit {self.unit!r} would keep {count} values in this world; at most {MAX_VALUES}")
        return count


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadUnitValues(Command[Mapping[str, str]]):
    """The values of a unit as JSON, by key; only of these keys where some are named. Changes nothing."""

    label = "read a unit's state"
    unit: str
    keys: tuple[str, ...] | None = None

    def run(self, world: Transaction) -> Mapping[str, str]:
        """See the class."""
        keys = world.index(UnitValueIndex).keys(self.unit) if self.keys is None else self.keys
        found = ((key, world.get(UnitValue, _id(self.unit, key))) for key in keys)
        return {key: record.value for key, record in found if record is not None}


def canonical_json(value: Any) -> str:
    """The value as JSON in the one form that is kept. Raises `InvalidArgumentError` for what is none."""
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"a unit keeps JSON, and this is none: {error}") from error


def _id(unit: str, key: str) -> str:
    return f"{unit}/{key}"


def _check(record: Record) -> None:
    """See `Rules.check`."""
    if not isinstance(record, UnitValue):
        return
    check_unit_name(record.unit)
    if not record.key.isprintable() or not 0 < len(record.key) <= MAX_KEY_CHARACTERS:
        raise InvalidArgumentError(
            f"a key is one line of 1 to {MAX_KEY_CHARACTERS} characters that can be shown, not {record.key[:80]!r}"
        )
    if record.id != _id(record.unit, record.key):
        raise InvalidArgumentError("a unit's value has an id of its unit and its key")
    try:
        size = len(record.value.encode())
        value = json.loads(record.value)
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentError(f"the value of {record.key!r} is not JSON that can be kept: {error}") from error
    if size > MAX_VALUE_BYTES:
        raise InvalidArgumentError(
            f"the value of {record.key!r} has {size} bytes as JSON; at most {MAX_VALUE_BYTES} are kept in one value"
        )
    if _depth(value) > MAX_NESTING:
        raise InvalidArgumentError(f"the value of {record.key!r} is nested more than {MAX_NESTING} deep")
    if canonical_json(value) != record.value:
        raise InvalidArgumentError(f"the value of {record.key!r} is not in canonical form")


def _depth(value: object) -> int:
    deepest = 0
    rest: list[tuple[object, int]] = [(value, 0)]
    while rest:
        node, depth = rest.pop()
        deepest = max(deepest, depth)
        if isinstance(node, dict):
            rest.extend((child, depth + 1) for child in cast("dict[str, object]", node).values())
        elif isinstance(node, list):
            rest.extend((child, depth + 1) for child in cast("list[object]", node))
    return deepest


def _no_references(record: Record) -> Iterable[Key]:
    return ()


RECORD_TYPES: tuple[type[Record], ...] = (UnitValue,)
"""Every class of record that units keep."""

RULES = Rules(collections=frozenset({UnitValue.collection}), check=_check, references=_no_references)
"""The rules of what units keep."""
