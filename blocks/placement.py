"""Where a block stands that the user's order does not name. Owns that rule alone.

A saved order lists what was there when it was saved. A block that comes later keeps its neighbours: what is first by
default goes first, what is last goes last, and everything between stays behind the block that it stands behind by
default, wherever the user has moved that one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Standing:
    """A block's id and role, and the order that it has by default."""

    id: str
    role: str
    order: float


def placed_orders(standings: Sequence[Standing], block_order: Sequence[str]) -> tuple[float, ...]:
    """The order of each block, where `block_order` is what the user wants.

    A listed block has its index, the last one where it is listed twice; the index counts through both roles. Any other
    keeps its own number where that puts it where it belongs, and gets one that does where not.
    """
    positions = {block_id: index for index, block_id in enumerate(block_order)}
    orders = [positions.get(one.id, one.order) for one in standings]
    for role in {one.role for one in standings}:
        indexes = [index for index, one in enumerate(standings) if one.role == role]
        _place_unlisted(standings, sorted(indexes, key=lambda index: standings[index].order), positions, orders)
    return tuple(orders)


def insertion_index(standings: Sequence[Standing], added: Standing, block_order: Sequence[str]) -> int:
    """Where in `block_order` the id of a new block goes, so that it stands where its order puts it by default."""
    listed = set(block_order)
    if not any(one.role == added.role and one.id in listed for one in standings):
        return len(block_order)
    # As a block of which nothing is known but its order, so that an old entry under the same id does not count.
    order = placed_orders([*standings, Standing("", added.role, added.order)], block_order)[-1]
    return sum(index < order for index in range(len(block_order)))


def _place_unlisted(
    standings: Sequence[Standing], by_default: Sequence[int], positions: Mapping[str, int], orders: list[float]
) -> None:
    """Set the orders of the blocks of one role, given in their default order, that are in no position."""
    head: list[int] = []
    behind: dict[int, list[int]] = {}  # position -> what stands behind the block there
    run = head
    for index in by_default:
        position = positions.get(standings[index].id)
        if position is None:
            run.append(index)
        else:
            run = behind.setdefault(position, [])
    if not behind:
        return
    first, last = min(behind), max(behind)
    tail = behind.pop(last)
    if run is not tail:  # what is last by default goes behind whatever is last now
        tail = [*tail, *run]
        run.clear()
    if head and standings[head[-1]].order >= first:
        _number(head, orders, (first - len(head) + step for step in range(len(head))))
    if tail and standings[tail[0]].order <= last:
        _number(tail, orders, (last + 1 + step for step in range(len(tail))))
    for position, members in behind.items():
        _number(members, orders, (position + (step + 1) / (len(members) + 1) for step in range(len(members))))


def _number(members: Sequence[int], orders: list[float], numbers: Iterable[float]) -> None:
    for index, number in zip(members, numbers, strict=True):
        orders[index] = number
