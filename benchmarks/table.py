"""The table that the benchmarks print, and whether what is required holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from benchmarks.quantiles import Spread

NAME_WIDTH = 62


@dataclass(frozen=True)
class Figure:
    """Something measured. Seconds throughout; what does not apply is None."""

    name: str
    rate: float | None = None
    """Per second."""
    latency: Spread | None = None
    cpu: float | None = None
    """Seconds of a processor for each request."""
    value: str = ""
    """Anything else."""


@dataclass(frozen=True)
class Requirement:
    """Something measured that has to be at least or at most so much."""

    name: str
    measured: float
    limit: float
    unit: str = ""
    at_least: bool = False

    @property
    def holds(self) -> bool:
        """Whether the figure is as it has to be."""
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


Row = Figure | Requirement


def print_table(rows: Sequence[Row]) -> None:
    """Print every row, in the order given."""
    print(f"{'':{NAME_WIDTH}}{'per s':>9}{'median':>11}{'p99':>11}{'CPU':>9}")
    for row in rows:
        print(_required(row) if isinstance(row, Requirement) else _measured(row))


def _measured(row: Figure) -> str:
    rate = "" if row.rate is None else f"{row.rate:,.0f}"
    median = "" if row.latency is None else _time(row.latency.median)
    p99 = "" if row.latency is None else _time(row.latency.p99)
    cpu = "" if row.cpu is None else f"{row.cpu * 1e6:.0f} µs"
    if row.value:
        return f"{row.name:{NAME_WIDTH}}{row.value}"
    return f"{row.name:{NAME_WIDTH}}{rate:>9}{median:>11}{p99:>11}{cpu:>9}".rstrip()


def _required(row: Requirement) -> str:
    bound = f"{'at least' if row.at_least else 'at most'} {row.limit:g}{row.unit}"
    verdict = "holds" if row.holds else "MISSED"
    return f"  > {row.name:{NAME_WIDTH - 4}}{f'{row.measured:.2f}{row.unit}':>9}   {bound:<18}{verdict}"


def _time(seconds: float) -> str:
    return f"{seconds * 1e3:.2f} ms"
