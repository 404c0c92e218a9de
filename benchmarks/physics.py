"""What the scene's physics cost beside MuJoCo called directly: the same bodies, the same steps, in turns.

Measured is stepping alone; compiling the scene comes once for each simulation and is shown beside it.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.large_world import scene
from benchmarks.quantiles import Spread
from benchmarks.table import Figure, Requirement, Row
from engine.scene.mujoco_frame import to_mujoco
from engine.scene.mujoco_library import mujoco
from engine.scene.physics import DEFAULT_TIMESTEP, Simulation, compile_scene
from engine.scene.records import Body, Terrain

MOST_RATIO = 1.1
"""What a step may cost as a multiple of MuJoCo's own; promised in Space's design."""

CHUNK_STEPS = 25
"""Steps between two words about progress, as the tool makes them with 2,000 bodies."""

WARM_UP_CHUNKS = 2


@dataclass(frozen=True)
class Effort:
    """How thoroughly to measure."""

    bodies: int
    chunks: int


def measure(effort: Effort) -> list[Row]:
    """The rows of the table. Raises `AssertionError` when the two come to different places."""
    records = tuple(scene(effort.bodies))
    bodies = tuple(record for record in records if isinstance(record, Body))
    terrains = tuple(record for record in records if isinstance(record, Terrain))
    started = time.perf_counter()
    simulation = Simulation(bodies, terrains)
    compiled = time.perf_counter() - started
    library = mujoco()
    model = compile_scene(bodies, terrains, timestep=DEFAULT_TIMESTEP)
    data = library.MjData(model)
    library.mj_forward(model, data)

    def advance() -> None:
        simulation.advance(CHUNK_STEPS)

    def advance_directly() -> None:
        library.mj_step(model, data, nstep=CHUNK_STEPS)

    own: list[float] = []
    direct: list[float] = []
    turns = [(advance, own), (advance_directly, direct)]
    for _ in range(WARM_UP_CHUNKS + effort.chunks):
        for step, times in turns:
            started = time.perf_counter()
            step()
            times.append((time.perf_counter() - started) / CHUNK_STEPS)
        turns.reverse()
    _demand_same(simulation, data)
    own, direct = own[WARM_UP_CHUNKS:], direct[WARM_UP_CHUNKS:]
    # Both make the same steps, so each chunk is compared with its twin: contacts make some chunks dearer than others.
    ratio = statistics.median(mine / theirs for mine, theirs in zip(own, direct, strict=True))
    return [
        Figure(f"a step of the physics of {effort.bodies:,} bodies"),
        Figure("  engine", len(own) / sum(own), Spread.of(own)),
        Figure("  MuJoCo called directly", len(direct) / sum(direct), Spread.of(direct)),
        Figure("  before the first step: compiling the scene", value=f"{compiled * 1e3:>16,.0f} ms"),
        Requirement("cost of a step as a multiple of MuJoCo's own, median", ratio, MOST_RATIO),
    ]


def _demand_same(simulation: Simulation, data: Any) -> None:
    own = [to_mujoco(body.position) for body in simulation.motion().bodies]
    if not np.array_equal(np.array(own), np.asarray(data.qpos).reshape(-1, 7)[:, :3]):
        raise AssertionError("the engine's physics and MuJoCo's came to different places after the same steps")
