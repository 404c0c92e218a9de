"""Which domains a world holds. The one place to add another: its record classes, and what it says of the selection.

Engine and store know the domains through this module alone.
"""

from __future__ import annotations

from engine import drawing
from engine.records import Counter, Record, RecordTable

RECORD_TYPES: tuple[type[Record], ...] = (Counter, *drawing.RECORD_TYPES)
"""Every class of record that a world may hold."""

_SELECTION_KINDS = (drawing.selection_kind,)


def selection_kind(table: RecordTable) -> str | None:
    """What kind of thing is selected in that world, such as `drawing-object`; None when nothing is.

    Where several domains have a selection, the first of them speaks.
    """
    return next((kind for of_domain in _SELECTION_KINDS if (kind := of_domain(table)) is not None), None)
