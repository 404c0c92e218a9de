"""The tool that lets the scene move: a run on frozen values, off the world, put into it as one step."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import Field

from engine.scene.physics import (
    DEFAULT_TIMESTEP,
    MAX_SECONDS,
    MAX_TIMESTEP,
    MIN_TIMESTEP,
    REST_CHECK_SECONDS,
    Motion,
    Simulation,
    steps_of,
)
from engine.scene.records import Body
from engine.scene.simulate import ApplySimulation, StartSimulation
from engine.scene.vector import UPRIGHT
from presets.adapters import ToolAdapter, typed_adapter
from presets.app import App
from presets.builtins.bounds_result import shown
from presets.builtins.page import within_budget
from presets.builtins.scene_tools.arguments import SPACE
from presets.builtins.scene_tools.results import BODIES_BUDGET, PointResult, TurnResult
from presets.schema import ToolResult, WriteArguments
from protocol.interaction import Interaction
from protocol.tool import TaskSupport

DEFAULT_SECONDS = 2.0
"""Long enough for something to fall from some metres and come to rest."""
CHUNK_BODY_STEPS = 50_000
"""Moving bodies times steps between two words about progress: some tenths of a second."""


class SimulateArguments(WriteArguments):
    """How long, and how finely."""

    seconds: Annotated[float, Field(gt=0, le=MAX_SECONDS)] = Field(
        DEFAULT_SECONDS, description="Of the scene's time; at least one timestep."
    )
    timestep: Annotated[float, Field(ge=MIN_TIMESTEP, le=MAX_TIMESTEP)] = Field(
        DEFAULT_TIMESTEP, description="Seconds per step; smaller is more exact and takes longer."
    )
    until_at_rest: bool = Field(False, description="End earlier, as soon as everything rests.")


class MovedBody(ToolResult):
    """A moving body after the run. `at_rest`: slower than 0.01 m/s. `lost`: fell off the ground, stopped far below."""

    id: str
    position: PointResult
    rotation_degrees: TurnResult | None = None
    speed: float
    at_rest: bool
    lost: bool | None = None


class SimulateResult(ToolResult):
    """What the run did. `bodies` lists the first of those that can move; space_scene_inspect shows the rest."""

    seconds: float
    steps: int
    moving_count: int
    moved_count: int
    resting_count: int
    lost_count: int
    all_at_rest: bool
    bodies: list[MovedBody]
    bodies_truncated: bool
    changed: bool
    revision: int


def adapters() -> tuple[ToolAdapter, ...]:
    """`scene.simulate`."""
    return (
        typed_adapter(
            id="scene.simulate",
            mcp_name="space_scene_simulate",
            title="Simulate the scene",
            description="Let the scene move by rigid-body physics (gravity 9.81 m/s² along -y) for some seconds, and "
            "keep where everything comes to. The same scene gives the same result. One step to undo; refused when "
            "the scene is changed meanwhile. Returns where the bodies are now. " + SPACE,
            arguments=SimulateArguments,
            result=SimulateResult,
            run=_simulate,
            task_support=TaskSupport.OPTIONAL,
        ),
    )


async def _simulate(app: App, arguments: SimulateArguments, call: Interaction) -> SimulateResult:
    start = (await app.execute(StartSimulation())).result
    steps = steps_of(arguments.seconds, arguments.timestep, start.moving)
    run = await app.in_thread(partial(Simulation, start.bodies, start.terrains, timestep=arguments.timestep))
    check_steps = max(1, round(REST_CHECK_SECONDS / arguments.timestep))
    chunk = check_steps if arguments.until_at_rest else max(1, CHUNK_BODY_STEPS // start.moving)
    rested = False
    if steps > chunk:
        await call.become_task()
    while run.steps < steps:
        await app.in_thread(partial(run.advance, min(chunk, steps - run.steps)))
        await call.progress(run.steps, steps, f"{run.steps * run.timestep:.2f} s simulated")
        # At the top of its flight a body is slow for a moment, but not twice.
        rests = arguments.until_at_rest and run.at_rest
        if rests and rested:
            break
        rested = rests
    motion = await app.in_thread(run.motion)
    done = await app.execute(ApplySimulation(start, motion))
    return _written(motion, run.timestep, done.result, changed=done.changed, revision=done.revision)


def _written(motion: Motion, timestep: float, moved: int, *, changed: bool, revision: int) -> SimulateResult:
    bodies = list(within_budget((_moved(body, motion) for body in motion.bodies), BODIES_BUDGET))
    return SimulateResult(
        seconds=shown(motion.steps * timestep),
        steps=motion.steps,
        moving_count=len(motion.bodies),
        moved_count=moved,
        resting_count=len(motion.resting),
        lost_count=len(motion.lost),
        all_at_rest=len(motion.resting) == len(motion.bodies),
        bodies=bodies,
        bodies_truncated=len(bodies) < len(motion.bodies),
        changed=changed,
        revision=revision,
    )


def _moved(body: Body, motion: Motion) -> MovedBody:
    return MovedBody(
        id=body.id,
        position=PointResult.of(body.position),
        rotation_degrees=None if body.rotation == UPRIGHT else TurnResult.of(body.rotation),
        speed=shown(body.velocity.length),
        at_rest=body.id in motion.resting,
        lost=True if body.id in motion.lost else None,
    )
