"""What a context change costs with few and with many presets. Prints a table and fails where it is more than allowed.

Measured is everything pure that a context change does: resolve, make the tool definitions, compare signatures, plan
the sync. In every context 20 presets are active, however many exist.

    python -m benchmarks.resolution
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

from presets.adapters import ToolAdapter, ToolAdapterRegistry
from presets.app import App
from presets.context import ContextSnapshot, FactValue
from presets.definition import DefaultState, PresetDefinition, Risk
from presets.overrides import NO_OVERRIDES
from presets.registry import PresetRegistry
from presets.resolution import resolve
from presets.sync_plan import ManagedTools, plan_sync
from presets.tool_definitions import DefinitionCache, tool_definitions
from protocol.tool import JsonObject, ToolCall, ToolOutcome, ToolRun

ACTIVE = 20
"""Presets that are active in each of the two contexts."""

FEW, MANY = 100, 10_000

MOST_RATIO = 3.0
"""What a change with `MANY` presets may cost, as a multiple of one with `FEW`; promised in Space's design."""

ROUNDS = 300
"""Changes timed for each figure; the median of them does not notice a pause of the machine."""

CONTEXTS = (
    ContextSnapshot(surface="canvas", activity="drawing", canvas_visible=True, world_id="home"),
    ContextSnapshot(surface="scene", canvas_visible=False, world_id="home"),
)
"""The two contexts between which the user goes."""


@dataclass(frozen=True)
class Workload:
    """How the presets that are not active differ from the context: `pattern(number)` is the one of such a preset."""

    name: str
    pattern: Callable[[int], Mapping[str, FactValue]]
    default_state: DefaultState = DefaultState.AUTO


WORKLOADS = (
    Workload("one activity each", lambda number: {"surface": "canvas", "activity": f"activity-{number}"}),
    Workload("one surface each", lambda number: {"surface": f"surface-{number}"}),
    Workload("one world each", lambda number: {"surface": "any", "world_id": f"world-{number}"}),
    Workload("a few shapes", lambda number: {f"fact_{number % 5}": number, "surface": "canvas"}),
    Workload("all off by default", lambda number: {"surface": "any"}, DefaultState.OFF),
)


def registry_of(workload: Workload, presets: int) -> PresetRegistry:
    """A registry of that many presets, of which `ACTIVE` are active in each of `CONTEXTS`, spread over the order."""
    drawing: Mapping[str, FactValue] = {"surface": "canvas", "activity": "drawing"}
    scene: Mapping[str, FactValue] = {"surface": "scene", "activity": "none"}
    registry = PresetRegistry()
    step = presets // (2 * ACTIVE)
    for number in range(presets):
        turn, rest = divmod(number, step)
        if rest == 0 and turn < 2 * ACTIVE:
            registry.register(_preset(number, drawing if turn % 2 else scene, DefaultState.AUTO))
        else:
            registry.register(_preset(number, workload.pattern(number), workload.default_state))
    return registry


def _preset(number: int, pattern: Mapping[str, FactValue], default_state: DefaultState) -> PresetDefinition:
    return PresetDefinition(
        name=f"preset-{number}",
        default_state=default_state,
        risk=Risk.NORMAL,
        contexts=(pattern,),
        tool_ids=(f"tool.{number}.a", f"tool.{number}.b"),
        system_prompt=f"Fragment {number}.",
    )


def _make_run(app: App) -> ToolRun:
    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        raise NotImplementedError

    return run


def adapters_of(registry: PresetRegistry) -> ToolAdapterRegistry:
    """One adapter for every tool id of the registry."""
    adapters = ToolAdapterRegistry()
    for tool_id in registry.tool_ids():
        name = "space_" + tool_id.replace(".", "_")
        adapters.register(
            ToolAdapter(
                id=tool_id, mcp_name=name, description="Does it.", input_schema={"type": "object"}, make_run=_make_run
            )
        )
    return adapters


def seconds_per_change(workload: Workload, presets: int, rounds: int = ROUNDS) -> float:
    """The median time of one context change."""
    registry = registry_of(workload, presets)
    adapters = adapters_of(registry)
    cache, app = DefinitionCache(), cast("App", object())
    managed, signature = ManagedTools(), ()
    times: list[float] = []
    gc.collect()
    gc.freeze()
    gc.disable()  # a collection walks everything that exists, which is not what is measured here
    try:
        for turn in range(rounds):
            start = time.perf_counter()
            resolution = resolve(registry, CONTEXTS[turn % 2], NO_OVERRIDES)
            changed = resolution.signature != signature
            plan = plan_sync(managed, tool_definitions(resolution, adapters, app, cache), {})
            times.append(time.perf_counter() - start)
            if not changed or len(resolution.active_presets) != ACTIVE or len(plan.register) != 2 * ACTIVE:
                raise AssertionError(f"{workload.name}: the change did not do what it is measured for")
            managed, signature = plan.managed, resolution.signature
    finally:
        gc.enable()
        gc.unfreeze()
    return statistics.median(times)


def main() -> int:
    """Print the table. Returns 1 when a ratio is above `MOST_RATIO`."""
    print(f"a context change, {ACTIVE} active presets with 2 tools each, median of {ROUNDS}")
    print(f"{'presets differ by':22}{FEW:>12,}{MANY:>12,}{'ratio':>8}")
    worst = 0.0
    for workload in WORKLOADS:
        few, many = seconds_per_change(workload, FEW), seconds_per_change(workload, MANY)
        worst = max(worst, many / few)
        print(f"{workload.name:22}{few * 1e6:>9.0f} µs{many * 1e6:>9.0f} µs{many / few:>8.2f}")
    verdict = "holds" if worst <= MOST_RATIO else "FAILS"
    print(f"at most {MOST_RATIO:g} times: {verdict} (worst {worst:.2f})")
    return 0 if worst <= MOST_RATIO else 1


if __name__ == "__main__":
    sys.exit(main())
