"""The motion of a scene, computed by MuJoCo from a frozen snapshot. Pure: the same snapshot gives the same bytes.

A simulation is compiled anew for every run, so nothing is left over from the one before. Fixed steps; gravity of the
Earth along -y; where two surfaces touch, the more slippery of them decides the friction. See docs/scene.md, "Physics".
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from engine.errors import ConflictError, InvalidArgumentError
from engine.scene.measures import MAX_COORDINATE, MAX_SPEED, MAX_SPIN, checked
from engine.scene.mujoco_frame import (
    RADIANS,
    from_mujoco,
    geom_size,
    to_mujoco,
    turn_from_mujoco,
    turn_to_mujoco,
)
from engine.scene.mujoco_library import geom_type, mujoco, warnings_heard
from engine.scene.mujoco_terrain import add_terrain_geom
from engine.scene.records import Body, Terrain
from engine.scene.shape import Floats
from engine.scene.vector import ORIGIN, Vector

GRAVITY = 9.81
"""Metres per second per second, downwards."""
DEFAULT_TIMESTEP = 0.002
"""Seconds. MuJoCo's own, fine enough for bodies of some centimetres at walking speed."""
MIN_TIMESTEP = 0.0005
"""Seconds."""
MAX_TIMESTEP = 0.01
"""Seconds; contacts are springs with a time constant of 0.02, which coarser steps cannot follow."""
MAX_SECONDS = 60.0
"""Longest simulation of one call, in seconds of the scene."""
MAX_BODY_STEPS = 5_000_000
"""Moving bodies times steps of one call; MuJoCo needs some microseconds for each, so about half a minute."""
REST_SPEED = 0.01
"""Metres per second below which a body is at rest; what turns is judged by the speed of its outermost points."""
REST_CHECK_SECONDS = 0.1
"""How often a run that ends at rest looks whether it has come; of the scene's time, so that runs are reproducible."""
WORLD_FLOOR = -1_000.0
"""Y in metres at which what has fallen off the ground stops, so that nothing falls out of the space."""

_SPIN_FRICTION = 0.005
"""Metres: MuJoCo's default resistance to spinning on the spot."""
_ROLL_FRICTION = 0.001
"""Metres: resistance to rolling, as of a ball on grass, so that balls come to rest."""
_SLIDING_ONLY = 3
_SLIDING_AND_ROLLING = 6
"""Dimensions of a contact in MuJoCo: the first has friction against sliding, the other also against turning."""
_MEMORY_BASE = 32 * 2**20
_MEMORY_PER_BODY = 256 * 2**10
"""Bytes that are set aside for contacts; enough for each body to touch a dozen others. Unused, they cost nothing."""
_TAKEN_UP_BY = 7
"""Numbers of a free body's pose in MuJoCo: place and quaternion."""
_RATES = 6
"""Numbers of a free body's velocity."""


@dataclass(frozen=True, slots=True)
class Motion:
    """What a run made of the moving bodies, in their order, after `steps` steps.

    `lost` names those that fell below `WORLD_FLOOR` and were stopped there, `resting` those that are at rest.
    """

    bodies: tuple[Body, ...]
    steps: int
    resting: frozenset[str]
    lost: tuple[str, ...]


TOO_MANY_CONTACTS = (
    "Too many bodies touch or overlap at one place for the memory of a simulation, so nothing was changed: spread them "
    "out, or have fewer of them."
)


class Simulation:
    """One run. Belongs to whoever made it; `advance` may be called from any thread, one at a time.

    Raises `InvalidArgumentError` for a time step outside the limits, and `ConflictError` when memory does not suffice.
    """

    def __init__(
        self, bodies: tuple[Body, ...], terrains: tuple[Terrain, ...], *, timestep: float = DEFAULT_TIMESTEP
    ) -> None:
        self.timestep = checked(timestep, "timestep", MIN_TIMESTEP, MAX_TIMESTEP, "seconds")
        self.moving = tuple(body for body in bodies if body.dynamic)
        """The bodies that move, in the order of the snapshot."""
        self.steps = 0
        """How many steps have been made."""
        self._model = compile_scene(bodies, terrains, timestep=self.timestep)
        self._data: Any = mujoco().MjData(self._model)
        self._velocities()[:] = _rates_of(self.moving)
        with _memory_demanded():
            mujoco().mj_forward(self._model, self._data)
        self._reach = np.array([max(body.size) / 2 for body in self.moving])

    def advance(self, steps: int) -> None:
        """Make that many steps. Raises `ConflictError` when the motion becomes unstable or memory does not suffice."""
        with warnings_heard() as heard, _memory_demanded():
            mujoco().mj_step(self._model, self._data, nstep=steps)
        self.steps += steps
        self._demand_sound(heard)

    @property
    def at_rest(self) -> bool:
        """Whether every body is at rest."""
        return bool(np.all(self._speeds() < REST_SPEED))

    def motion(self) -> Motion:
        """Where everything is now."""
        poses = np.asarray(self._data.qpos).reshape(-1, _TAKEN_UP_BY).tolist()
        rates = np.asarray(self._data.qvel).reshape(-1, _RATES).tolist()
        bodies: list[Body] = []
        lost: list[str] = []
        for body, pose, rate in zip(self.moving, poses, rates, strict=True):
            position, turn = from_mujoco(*pose[:3]), turn_from_mujoco(*pose[3:])
            # MuJoCo gives the angular velocity of a free body along its own axes.
            spin = _at_most(turn.turn(from_mujoco(*rate[3:])).times(1 / RADIANS), MAX_SPIN)
            velocity = _at_most(from_mujoco(*rate[:3]), MAX_SPEED)
            moved = replace(body, position=position, rotation=turn, velocity=velocity, spin=spin)
            if position.y < WORLD_FLOOR or max(map(abs, position)) > MAX_COORDINATE:
                lost.append(body.id)
                moved = replace(moved, position=_within(position), velocity=ORIGIN, spin=ORIGIN)
            bodies.append(moved)
        resting = self._speeds() < REST_SPEED
        still = frozenset(body.id for body, rests in zip(self.moving, resting, strict=True) if rests)
        return Motion(tuple(bodies), self.steps, still | frozenset(lost), tuple(lost))

    def _velocities(self) -> Floats:
        return np.asarray(self._data.qvel).reshape(-1, _RATES)

    def _speeds(self) -> Floats:
        rates = self._velocities()
        return np.linalg.norm(rates[:, :3], axis=1) + np.linalg.norm(rates[:, 3:], axis=1) * self._reach

    def _demand_sound(self, heard: list[str]) -> None:
        warnings = mujoco().mjtWarning
        full = (warnings.mjWARN_CONTACTFULL, warnings.mjWARN_CNSTRFULL)
        if any(int(self._data.warning[int(kind)].number) for kind in full):
            raise ConflictError(TOO_MANY_CONTACTS)
        happened = {kind: int(self._data.warning[int(kind)].number) for kind in _unsound(warnings)}
        if any(happened.values()) or not np.all(np.isfinite(self._data.qpos)):
            raise ConflictError(
                f"The motion became unstable after {self.steps * self.timestep:g} s, so nothing was changed: use a "
                "smaller timestep, and avoid very fast bodies, very unequal masses and bodies inside each other."
                + "".join(f" MuJoCo: {warning}" for warning in heard)
            )


@contextmanager
def _memory_demanded() -> Generator[None]:
    """Say in our words what MuJoCo cannot go on with: the pairs of bodies inside each other grow with their square."""
    try:
        yield
    except mujoco().FatalError as error:
        raise ConflictError(TOO_MANY_CONTACTS) from error


def _unsound(warnings: Any) -> tuple[Any, ...]:
    return (
        warnings.mjWARN_BADQPOS,
        warnings.mjWARN_BADQVEL,
        warnings.mjWARN_BADQACC,
    )


def steps_of(seconds: float, timestep: float, moving: int) -> int:
    """How many steps that time takes. Raises `InvalidArgumentError` when it is more than one call may compute."""
    seconds = checked(seconds, "seconds", timestep, MAX_SECONDS, "seconds")
    steps = round(seconds / timestep)
    if steps * moving > MAX_BODY_STEPS:
        most = MAX_BODY_STEPS // moving * timestep
        raise InvalidArgumentError(
            f"{seconds:g} s of {moving} moving bodies at {timestep:g} s a step is too much for one call; simulate at "
            f"most {math.floor(most * 100) / 100:g} s and call again."
        )
    return steps


def compile_scene(bodies: tuple[Body, ...], terrains: tuple[Terrain, ...], *, timestep: float) -> Any:
    """The scene as an `MjModel`, its moving bodies in order, ready to be stepped."""
    library = mujoco()
    spec = library.MjSpec()
    spec.memory = _MEMORY_BASE + _MEMORY_PER_BODY * len(bodies)
    option = spec.option
    option.timestep = timestep
    option.gravity = (0.0, 0.0, -GRAVITY)
    option.integrator = library.mjtIntegrator.mjINT_IMPLICITFAST
    option.cone = library.mjtCone.mjCONE_ELLIPTIC
    slippery = _ranks((*(body.friction for body in bodies), *(terrain.friction for terrain in terrains)))
    for terrain in terrains:
        _touch(add_terrain_geom(spec, terrain), terrain.friction, slippery[terrain.friction], _SLIDING_ONLY)
    for body in bodies:
        pose = {"pos": to_mujoco(body.position), "quat": turn_to_mujoco(body.rotation)}
        shape = {"type": geom_type(body.shape), "size": geom_size(body.shape, body.size), "mass": body.mass}
        if body.dynamic:
            holder = spec.worldbody.add_body(**pose)
            holder.add_freejoint()
            geom = holder.add_geom(**shape)
        else:
            geom = spec.worldbody.add_geom(**pose, **shape)
        round_one = body.shape != "box"
        dimensions = _SLIDING_AND_ROLLING if round_one else _SLIDING_ONLY
        _touch(geom, body.friction, slippery[body.friction], dimensions)
    return spec.compile()


def _ranks(frictions: tuple[float, ...]) -> dict[float, int]:
    """MuJoCo's priority for each friction: of two surfaces, the one with the higher priority decides."""
    return {friction: rank for rank, friction in enumerate(sorted(set(frictions), reverse=True))}


def _touch(geom: Any, friction: float, priority: int, dimensions: int) -> None:
    geom.friction = (friction, _SPIN_FRICTION, _ROLL_FRICTION)
    geom.priority = priority
    geom.condim = dimensions


def _rates_of(bodies: tuple[Body, ...]) -> Floats:
    rates = np.zeros((len(bodies), _RATES))
    for row, body in zip(rates, bodies, strict=True):
        row[:3] = to_mujoco(body.velocity)
        row[3:] = to_mujoco(body.rotation.inverse().turn(body.spin.times(RADIANS)))
    return rates


def _at_most(rate: Vector, most: float) -> Vector:
    """The velocity, its direction kept and its length cut to what a scene can hold."""
    return rate if rate.length <= most else rate.times(most / rate.length)


def _within(position: Vector) -> Vector:
    x, y, z = (max(-MAX_COORDINATE, min(MAX_COORDINATE, value)) for value in position)
    return Vector(x, max(WORLD_FLOOR, y), z)
