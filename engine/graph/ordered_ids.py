"""Ids in an order that is given with each of them. Owns keeping them so; adding and discarding cost little."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterator


class OrderedIds:
    """Ids by ascending order number. Changed by an index alone; no id is in it twice with the same number."""

    # A large map has several for each node.
    __slots__ = ("_keys",)

    def __init__(self) -> None:
        self._keys: list[tuple[int, str]] = []

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return (member for _, member in self._keys)

    def page(self, offset: int, limit: int) -> list[str]:
        """Up to `limit` ids, `offset` of them left out."""
        return [member for _, member in self._keys[offset : offset + limit]]

    @property
    def top(self) -> int:
        """The highest order number; 0 where there is none."""
        return self._keys[-1][0] if self._keys else 0

    def add(self, order: int, member: str) -> None:
        """Put an id in its place."""
        key = (order, member)
        if self._keys and key < self._keys[-1]:
            insort(self._keys, key)
        else:
            self._keys.append(key)

    def discard(self, order: int, member: str) -> None:
        """Take away an id that is in it with that number."""
        key = (order, member)
        if self._keys[-1] == key:
            self._keys.pop()
        else:
            del self._keys[bisect_left(self._keys, key)]
