"""The least and the greatest of numbers that come and go. Owns keeping both at hand, whatever is taken away."""

from __future__ import annotations

import heapq
from collections import Counter


class Extremes:
    """Numbers, each as often as it was added. Adding and discarding cost next to nothing, in any order."""

    def __init__(self) -> None:
        self._count: Counter[float] = Counter()
        # Heaps of what was ever added; what is gone is dropped when it comes to the top.
        self._low: list[float] = []
        self._high: list[float] = []

    @property
    def least(self) -> float:
        """The least number. Raises `IndexError` where there is none."""
        while self._low[0] not in self._count:
            heapq.heappop(self._low)
        return self._low[0]

    @property
    def most(self) -> float:
        """The greatest number. Raises `IndexError` where there is none."""
        while -self._high[0] not in self._count:
            heapq.heappop(self._high)
        return -self._high[0]

    def add(self, number: float) -> None:
        """Follow a number that came."""
        self._count[number] += 1
        if self._count[number] == 1:
            heapq.heappush(self._low, number)
            heapq.heappush(self._high, -number)

    def discard(self, number: float) -> None:
        """Follow a number that went; it was added before."""
        self._count[number] -= 1
        if not self._count[number]:
            del self._count[number]
