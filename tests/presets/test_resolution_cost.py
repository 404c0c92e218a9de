"""What a context change costs: it follows the presets that are active, not those that exist. Counted, not timed."""

from __future__ import annotations

import pytest

from benchmarks.resolution import CONTEXTS, WORKLOADS, Workload, registry_of
from presets.overrides import NO_OVERRIDES
from presets.resolution import resolve

MOST = 3
"""How often the cost of 100 presets a context change may cost with 10,000, as Space's design promises."""


@pytest.mark.parametrize("workload", WORKLOADS, ids=lambda workload: workload.name)
def test_ten_thousand_presets_cost_no_more_look_ups_than_a_hundred(workload: Workload):
    assert probes(workload, 10_000) <= MOST * probes(workload, 100)


def probes(workload: Workload, presets: int) -> int:
    registry = registry_of(workload, presets)
    before = registry.probes
    for context in CONTEXTS:
        assert len(resolve(registry, context, NO_OVERRIDES).active_presets) == 20
    return registry.probes - before
