"""A composition: the list of rows that makes an agent. Owns its form as a whole; each row's form is in `rows`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from presets.agents.rows import AnyRow, InvalidRowError, parse_row
from presets.suggestions import quoted

MAX_ROWS = 200
"""Rows of one composition; the shipped ones have five."""


@dataclass(frozen=True, slots=True)
class RowFault:
    """What is wrong with a composition, and with which row; None for the whole."""

    row: int | None
    reason: str


class InvalidCompositionError(ValueError):
    """Raised for a list of rows that is none. `faults` holds at least one fault, in the order of the rows."""

    def __init__(self, faults: tuple[RowFault, ...]) -> None:
        super().__init__("; ".join(fault.reason for fault in faults))
        self.faults = faults


def parse_composition(raw: object) -> tuple[AnyRow, ...]:
    """The rows of a composition, as its YAML says. Disabled rows are checked too, and kept.

    Raises `InvalidCompositionError` with every faulty row.
    """
    if not isinstance(raw, list):
        raise InvalidCompositionError((RowFault(None, "must be a top-level list of rows, each beginning '- row: …'"),))
    items = cast("list[object]", raw)
    if len(items) > MAX_ROWS:
        raise InvalidCompositionError((RowFault(None, f"has {len(items)} rows; the most is {MAX_ROWS}"),))
    rows: list[AnyRow] = []
    faults: list[RowFault] = []
    ids: dict[str, int] = {}
    singles: dict[str, int] = {}
    for number, item in enumerate(items, 1):
        try:
            row = parse_row(item)
        except InvalidRowError as error:
            faults.append(RowFault(number, str(error)))
            continue
        rows.append(row)
        if row.id is not None and (first := ids.setdefault(row.id, number)) != number:
            faults.append(RowFault(number, f"row {first} has the id {quoted(row.id)} already"))
        if row.SINGLE and not row.disabled and (first := singles.setdefault(row.KIND, number)) != number:
            faults.append(RowFault(number, f"row {first} is a {row.KIND!r} already; an agent has at most one"))
    if faults:
        raise InvalidCompositionError(tuple(faults))
    return tuple(rows)
