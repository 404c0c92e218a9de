"""The commands at both ends of a simulation: what it starts from, and putting its outcome into the world.

Between them, the run works on frozen values, away from the world (`engine.scene.physics`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.errors import ConflictError
from engine.records import Transaction
from engine.scene.physics import Motion
from engine.scene.reading import bodies_of, terrains_of
from engine.scene.records import Body, Terrain
from engine.world import Command


@dataclass(frozen=True, slots=True)
class Material:
    """What a simulation works on: nothing else of a scene has a part in its motion."""

    bodies: tuple[Body, ...]
    terrains: tuple[Terrain, ...]
    world_id: str

    @property
    def moving(self) -> int:
        """How many bodies can move."""
        return sum(body.dynamic for body in self.bodies)


@dataclass(frozen=True, slots=True)
class StartSimulation(Command[Material]):
    """Give what is to be simulated. Raises `ConflictError` where nothing can move. Changes nothing."""

    label: ClassVar[str] = "start simulation"

    def run(self, world: Transaction) -> Material:
        """Give it."""
        material = Material(bodies_of(world), terrains_of(world), world.world_id)
        if not material.moving:
            raise ConflictError("Nothing in the scene can move: add a body with dynamic: true first.")
        return material


@dataclass(frozen=True, slots=True)
class ApplySimulation(Command[int]):
    """Put the bodies where the run took them, as one step, and say how many of them are somewhere else now.

    Raises `ConflictError` when the bodies or the terrains are not those that the run started from.
    """

    label: ClassVar[str] = "simulate"
    start: Material
    motion: Motion

    def run(self, world: Transaction) -> int:
        """Apply it."""
        if world.world_id != self.start.world_id:
            raise ConflictError(
                f"The scene of {self.start.world_id} was simulated, and {world.world_id} is active now, so nothing was "
                f"moved; switch back to {self.start.world_id} and simulate again."
            )
        if (bodies_of(world), terrains_of(world)) != (self.start.bodies, self.start.terrains):
            raise ConflictError("The scene was changed while it was simulated, so nothing was moved; simulate again.")
        before = {body.id: body for body in self.start.bodies}
        for body in self.motion.bodies:
            world.put(body)
        return sum(before[body.id].position != body.position for body in self.motion.bodies)
