"""Median and 99th percentile of durations."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Spread:
    """How long something took, seconds."""

    median: float
    p99: float

    @staticmethod
    def of(durations: Sequence[float]) -> Spread:
        """The spread of at least one duration; the 99th percentile is the nearest rank."""
        ordered = sorted(durations)
        return Spread(statistics.median(ordered), ordered[(len(ordered) * 99 - 1) // 100])
