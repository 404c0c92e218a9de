"""A scene as a frozen value, for work away from the world that owns it. Owns taking it; never works with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.records import Transaction
from engine.scene.reading import (
    DEFAULT_BACKDROP,
    DEFAULT_CAMERA,
    DEFAULT_LIGHTS,
    Reader,
    backdrop_of,
    bodies_of,
    camera_of,
    lights_of,
    selected_ids,
    terrains_of,
)
from engine.scene.records import Backdrop, Body, Camera, Light, Terrain
from engine.world import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class SceneSnapshot:
    """Everything that a scene holds, each in order of creation."""

    bodies: tuple[Body, ...] = ()
    terrains: tuple[Terrain, ...] = ()
    lights: tuple[Light, ...] = DEFAULT_LIGHTS
    backdrop: Backdrop = DEFAULT_BACKDROP
    camera: Camera = DEFAULT_CAMERA
    selection: tuple[str, ...] = ()


def snapshot(reader: Reader) -> SceneSnapshot:
    """The scene as it is now."""
    return SceneSnapshot(
        bodies=bodies_of(reader),
        terrains=terrains_of(reader),
        lights=lights_of(reader),
        backdrop=backdrop_of(reader),
        camera=camera_of(reader),
        selection=selected_ids(reader),
    )


@dataclass(frozen=True, slots=True)
class TakeSnapshot(Command[SceneSnapshot]):
    """Give the scene as a frozen value. Changes nothing."""

    label: ClassVar[str] = "look at the scene"

    def run(self, world: Transaction) -> SceneSnapshot:
        """See `snapshot`."""
        return snapshot(world)
