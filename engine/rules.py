"""What a domain promises of its records, so that records from elsewhere can be checked. Owns the form of the rules.

Commands keep these promises and readers rely on them. A world file was written by anybody, so whoever reads one asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from engine.records import Record

Key = tuple[str, str]
"""A record by its collection and its id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The promises of one domain.

    `check` raises `InvalidArgumentError` for a record that no command would have made. `references` gives the records
    that must exist as long as this one does, at every point of the history. `series` says by collection from which
    series ids are taken (`Transaction.new_id`): `object` where they are `object-1`, `object-2`, …
    """

    collections: frozenset[str]
    check: Callable[[Record], None]
    references: Callable[[Record], Iterable[Key]]
    series: Mapping[str, str] = field(default_factory=dict[str, str])
