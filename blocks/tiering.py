"""How deep a fragment enters a prompt: in full, as a row of the catalogue, or not until asked for. Owns the choice."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from blocks.fragment import Fragment

CONTEXT_IDS_KEY = "writerContextIds"
"""Where in the `meta` of a piece of prose its writer left the ids of the fragments that it was written with."""

_NEVER_LISTED = frozenset({"prose", "summary", "marker"})
"""Types that have blocks of their own, so that neither sheets nor rows are made of them."""


@dataclass(frozen=True, slots=True)
class Tiers:
    """Each fragment in one of three: its whole text, a row of the catalogue, or nothing until it is asked for."""

    full: tuple[Fragment, ...]
    catalog: tuple[Fragment, ...]
    on_demand: tuple[Fragment, ...]


def tiers(fragments: Iterable[Fragment], *, promoted: Collection[str] = (), cataloged: bool = True) -> Tiers:
    """Sort fragments into tiers, each once, in the order given.

    In full are the sticky ones and those whose id was `promoted`. The others are in the catalogue where the agent has
    one (`cataloged`), and else on demand, like archived fragments and those of types that have blocks of their own.
    """
    full: list[Fragment] = []
    catalog: list[Fragment] = []
    on_demand: list[Fragment] = []
    for one in {one.id: one for one in fragments}.values():
        if one.archived or one.type in _NEVER_LISTED:
            on_demand.append(one)
        elif one.sticky or one.id in promoted:
            full.append(one)
        else:
            (catalog if cataloged else on_demand).append(one)
    return Tiers(tuple(full), tuple(catalog), tuple(on_demand))


def writer_context_ids(prose: Iterable[Fragment]) -> frozenset[str]:
    """The ids of the fragments with which this prose was written, as its pieces record them."""
    ids: set[str] = set()
    for one in prose:
        recorded: object = one.meta.get(CONTEXT_IDS_KEY)
        if isinstance(recorded, list | tuple):
            ids.update(part for part in cast("Sequence[object]", recorded) if isinstance(part, str))
    return frozenset(ids)
