"""Worlds and commands for the tests of the scene."""

from __future__ import annotations

from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st

from engine.records import Record, RecordTable
from engine.scene.backdrop import SKY_NAMES, SetBackground, SetSkybox
from engine.scene.bodies import AddBody
from engine.scene.lighting import AddLight, LightChanges, SetLightState
from engine.scene.physics import Motion, Simulation
from engine.scene.records import Body, BodyShape
from engine.scene.selection import SelectObjects
from engine.scene.simulate import ApplySimulation, StartSimulation
from engine.scene.snapshot import SceneSnapshot, snapshot
from engine.scene.terrain import AddTerrain, NoiseRecipe, RemoveTerrain
from engine.scene.vector import ORIGIN, Box, Degrees, Vector
from engine.scene.viewpoint import ResetCamera, SetCamera
from engine.world import Command, World

EXAMPLES = settings(max_examples=60, deadline=None)
"""For properties: enough examples to meet every rule, few enough for a fast test; a loaded machine fails none."""

CommandT = TypeVar("CommandT")

SIZES: dict[BodyShape, Vector] = {
    "box": Vector(1.0, 2.0, 1.5),
    "sphere": Vector(1.0, 1.0, 1.0),
    "cylinder": Vector(1.0, 2.0, 1.0),
    "capsule": Vector(0.6, 1.6, 0.6),
}


class Scene:
    """A world, and the shortest words for working in it."""

    def __init__(self) -> None:
        self.world = World("world-1", "home")

    def do(self, command: Command[CommandT]) -> CommandT:
        return self.world.execute(command).result

    def body(self, shape: BodyShape = "box", at: Vector = ORIGIN, **more: object) -> Body:
        values: dict[str, object] = {"size": SIZES[shape], **more}
        return self.do(AddBody(shape=shape, position=at, **values)).body  # pyright: ignore[reportArgumentType]

    def ground(self, **more: object) -> str:
        return self.do(AddTerrain(**more)).terrain.id  # pyright: ignore[reportArgumentType]

    def run(self, seconds: float, *, timestep: float = 0.002, chunk: int = 100) -> Motion:
        """Simulate, and put the outcome into the world."""
        start = self.do(StartSimulation())
        simulation = Simulation(start.bodies, start.terrains, timestep=timestep)
        steps = round(seconds / timestep)
        while simulation.steps < steps:
            simulation.advance(min(chunk, steps - simulation.steps))
        motion = simulation.motion()
        self.do(ApplySimulation(start, motion))
        return motion

    def now(self, body_id: str) -> Body:
        body = self.table.get(Body, body_id)
        assert body is not None
        return body

    def snapshot(self) -> SceneSnapshot:
        return snapshot(self.table)

    @property
    def table(self) -> RecordTable:
        return self.world.read()

    def records(self) -> dict[tuple[str, str], Record]:
        return {(record.collection, record.id): record for record in self.table}


coordinates = st.floats(-20, 20).map(lambda value: round(value, 3))
points = st.builds(Vector, coordinates, coordinates, coordinates)
angles = st.floats(-180, 180)
colors = st.sampled_from(["#FF0000", "00ff00", "#123abc"])
ids = st.sampled_from(["body-1", "body-2", "body-3", "terrain-1", "light-1", "sun", "ambient", "body-99"])

bodies = st.sampled_from(list(SIZES)).flatmap(
    lambda shape: st.builds(
        AddBody,
        shape=st.just(shape),
        position=points,
        rotation=st.builds(Degrees, angles, angles, angles).map(Degrees.quaternion),
        size=st.just(SIZES[shape]),
        color=colors,
        mass=st.sampled_from([0.5, 1, 1e9]),
        dynamic=st.booleans(),
        velocity=st.sampled_from([ORIGIN, Vector(1, 2, 3)]),
    )
)
terrains = st.builds(
    AddTerrain,
    kind=st.sampled_from(["flat", "perlin"]),
    position=points,
    size_x=st.sampled_from([5.0, 10.0]),
    noise=st.none() | st.builds(NoiseRecipe, seed=st.integers(0, 3), samples=st.just(5)),
)
lights = st.builds(
    AddLight,
    kind=st.sampled_from(["point", "directional", "spot"]),
    settings=st.builds(LightChanges, x=st.none() | coordinates, color=st.none() | colors),
)
light_changes = st.builds(
    SetLightState,
    kind=st.sampled_from(["ambient", "point", "directional", "spot"]),
    light_id=ids,
    changes=st.builds(LightChanges, enabled=st.booleans(), intensity=st.none() | st.floats(0, 2)),
)
views = (
    st.builds(SetCamera, position=points, yaw=st.none() | angles, target=st.none() | points)
    | st.builds(ResetCamera, fit=st.booleans())
    | st.builds(SetSkybox, sky=st.sampled_from([*SKY_NAMES, "green"]))
    | st.builds(SetBackground, color=colors)
)
steps: st.SearchStrategy[Command[object]] = (
    bodies | terrains | lights | light_changes | views | st.builds(RemoveTerrain, ids)
)
"""Commands that are steps of the history, some of which are refused."""
asides: st.SearchStrategy[Command[object]] = st.builds(
    SelectObjects,
    ids=st.none() | st.lists(ids, max_size=3).map(tuple),
    all=st.booleans(),
    bounds=st.none() | st.tuples(points, points).map(lambda pair: box_between(*pair)),
    mode=st.sampled_from(["replace", "add", "remove"]),
)
"""Commands that are no steps."""


def box_between(one: Vector, other: Vector) -> Box:
    """The box with those two corners."""
    pairs = list(zip(one, other, strict=True))
    return Box(Vector(*map(min, pairs)), Vector(*map(max, pairs)))
