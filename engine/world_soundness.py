"""Whether a world that came from elsewhere hangs together, now and at every point of its history. Pure."""

from __future__ import annotations

import re
from collections import Counter as Tally
from collections.abc import Iterable, Mapping, Sequence

from engine.records import Counter, Record
from engine.rules import Key, Rules
from engine.world import Step, WorldContent
from engine.world_file_error import WorldFileError

MAX_SERIES_NUMBER = 2**53
"""Largest number in an id; what JSON carries exactly."""

_NUMBERED = re.compile(r"(.+)-([1-9][0-9]{0,15})", re.DOTALL)


def check_sound(content: WorldContent, rules: Sequence[Rules]) -> None:
    """Raise `WorldFileError` for an id that would be given again, and for a reference to a record that is not there.

    References hold now, and after each step that can be undone or done again.
    """
    _check_ids(content, rules)
    walk = _Walk(content.records, rules)
    walk.check_all()
    for step in reversed(content.steps[: content.position]):
        walk.go(((change.collection, change.id, change.before) for change in reversed(step.changes)), step, "undone")
    walk = _Walk(content.records, rules)
    for step in content.steps[content.position :]:
        walk.go(((change.collection, change.id, change.after) for change in step.changes), step, "done again")


def _check_ids(content: WorldContent, rules: Sequence[Rules]) -> None:
    counters = {record.id: record.next for record in content.records if isinstance(record, Counter)}
    for series, number in counters.items():
        if not 1 <= number <= MAX_SERIES_NUMBER:
            raise WorldFileError(f"the counter {series!r:.80} is at {number}; it counts from 1 to {MAX_SERIES_NUMBER}")
    series_of = {collection: series for each in rules for collection, series in each.series.items()}
    for collection, record_id in _ids(content, series_of):
        series = series_of[collection]
        match = _NUMBERED.fullmatch(record_id)
        if match is None or match.group(1) != series:
            raise WorldFileError(f"{collection} {record_id!r:.80} must have an id such as '{series}-7'")
        if int(match.group(2)) >= counters.get(series, 1):
            raise WorldFileError(
                f"{collection} {record_id!r:.80} is there, yet the counter {series!r} would give that id again"
            )


def _ids(content: WorldContent, collections: Mapping[str, str]) -> Iterable[Key]:
    seen = {(record.collection, record.id) for record in content.records if record.collection in collections}
    for step in content.steps:
        seen.update((change.collection, change.id) for change in step.changes if change.collection in collections)
    return sorted(seen)


class _Walk:
    """The records at one point of the history, and how often each is needed by others."""

    def __init__(self, records: Iterable[Record], rules: Sequence[Rules]) -> None:
        self._references = {collection: each.references for each in rules for collection in each.collections}
        self._present = {(record.collection, record.id): record for record in records}
        self._needed: Tally[Key] = Tally()
        for record in self._present.values():
            self._needed.update(self._needs(record))

    def check_all(self) -> None:
        for key in self._needed:
            if key not in self._present:
                raise WorldFileError(f"{key[0]} {key[1]!r:.80} is not there, and another record refers to it")

    def go(self, moves: Iterable[tuple[str, str, Record | None]], step: Step, how: str) -> None:
        """Let each record become what the move says, then look at what was touched."""
        touched: set[Key] = set()
        for collection, record_id, after in moves:
            key = (collection, record_id)
            touched.add(key)
            before = self._present.pop(key, None)
            if before is not None:
                self._needed.subtract(self._needs(before))
            if after is not None:
                self._present[key] = after
                needs = self._needs(after)
                self._needed.update(needs)
                touched.update(needs)
        for key in touched:
            if key not in self._present and self._needed[key] > 0:
                raise WorldFileError(
                    f"step {step.sequence} ({step.label}) {how} leaves a reference to {key[0]} {key[1]!r:.80}, "
                    "which is not there then"
                )

    def _needs(self, record: Record) -> Sequence[Key]:
        references = self._references.get(record.collection)
        return () if references is None else tuple(references(record))
