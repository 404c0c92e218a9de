"""The context index: which presets fit a context, found without looking at the others. Owns that look-up alone.

Patterns are kept by the set of fields they compare (their shape) and, within a shape, by the values. A context is
looked up once per shape, so the cost follows the number of shapes and of the presets that match, and not the number
of presets that exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from presets.context import FactValue
from presets.matching import ContextPattern, FactKey, fact_key

_Shape = tuple[str, ...]
_Values = tuple[FactKey, ...]


class ContextIndex:
    """Names by context pattern. Says the same as `ContextPattern.matches` would for each of them."""

    def __init__(self) -> None:
        self._shapes: dict[_Shape, dict[_Values, dict[str, None]]] = {}
        self.probes = 0
        """How many values have been looked up since the start; what resolution has cost, for tests and benchmarks."""

    def add(self, name: str, patterns: Iterable[ContextPattern]) -> None:
        """Let the name be found in the contexts of any of these patterns."""
        for shape, values in map(_shape, patterns):
            self._shapes.setdefault(shape, {}).setdefault(values, {})[name] = None

    def remove(self, name: str, patterns: Iterable[ContextPattern]) -> None:
        """Forget what `add` was told with the same arguments."""
        for shape, values in map(_shape, patterns):
            # Two patterns of one preset may have the same key, and then the first one has removed it.
            buckets = self._shapes.get(shape, {})
            buckets.get(values, {}).pop(name, None)
            if not buckets.get(values):
                buckets.pop(values, None)
            if not buckets:
                self._shapes.pop(shape, None)

    def find(self, facts: Mapping[str, FactValue]) -> Iterator[str]:
        """The names that fit a context with these facts; one that fits by several patterns comes several times."""
        for shape, buckets in self._shapes.items():
            self.probes += 1
            names = buckets.get(tuple(fact_key(facts, field) for field in shape), ())
            self.probes += len(names)
            yield from names


def _shape(pattern: ContextPattern) -> tuple[_Shape, _Values]:
    return tuple(field for field, _ in pattern.key), tuple(wanted for _, wanted in pattern.key)
