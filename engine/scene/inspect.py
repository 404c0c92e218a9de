"""Looking at a scene without changing it: a summary of everything, and a page of the bodies that are asked for.

Owns which bodies those are and in which order; how they are written down, and how much of it, is the asker's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from engine.errors import NotFoundError
from engine.records import Transaction
from engine.scene.index import SceneIndex, in_order
from engine.scene.reading import (
    backdrop_of,
    camera_of,
    existing,
    lights_of,
    selected_ids,
    terrains_of,
)
from engine.scene.records import Backdrop, Body, BodyShape, Camera, Light
from engine.scene.terrain import TerrainInfo
from engine.scene.vector import Box, box_around
from engine.world import Command


@dataclass(frozen=True, slots=True)
class BodyEntry:
    """One body, the box around it, and whether it is selected."""

    body: Body
    bounds: Box
    selected: bool


@dataclass(frozen=True, slots=True)
class Inspection:
    """What was seen. `bodies` are the first of those that begin at the offset; `total` counts all that were met."""

    body_count: int
    shapes: tuple[tuple[str, int], ...]
    bounds: Box | None
    terrains: tuple[TerrainInfo, ...]
    lights: tuple[Light, ...]
    backdrop: Backdrop
    camera: Camera
    selection: tuple[str, ...]
    bodies: tuple[BodyEntry, ...]
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Inspect(Command[Inspection]):
    """Look at the scene: all but the bodies, and up to `limit` bodies from `offset` on that meet every filter.

    Bodies come in order of creation. Raises `NotFoundError` for an unknown id. Changes nothing.
    """

    label: ClassVar[str] = "inspect"
    ids: tuple[str, ...] | None = None
    shape: BodyShape | None = None
    bounds: Box | None = None
    dynamic: bool | None = None
    selected_only: bool = False
    offset: int = 0
    limit: int = 50

    def run(self, world: Transaction) -> Inspection:
        """Look."""
        index, selection = world.index(SceneIndex), selected_ids(world)
        chosen = frozenset(selection)
        if (self.ids, self.shape, self.bounds, self.dynamic, self.selected_only) == (None, None, None, None, False):
            total, found = index.count(Body), index.page(Body, self.offset, self.limit)
        else:
            met = self._met(world, chosen)
            total, found = len(met), met[self.offset : self.offset + self.limit]
        return Inspection(
            body_count=index.count(Body),
            shapes=tuple(sorted(index.kinds.items())),
            bounds=box_around(index.boxes.values()),
            terrains=tuple(TerrainInfo(terrain, index.boxes[terrain.id]) for terrain in terrains_of(world)),
            lights=lights_of(world),
            backdrop=backdrop_of(world),
            camera=camera_of(world),
            selection=selection,
            bodies=tuple(BodyEntry(existing(world, Body, i), index.boxes[i], i in chosen) for i in found),
            total=total,
        )

    def _met(self, world: Transaction, chosen: frozenset[str]) -> list[str]:
        index = world.index(SceneIndex)
        if self.ids is not None:
            for body_id in self.ids:
                if world.get(Body, body_id) is None:
                    raise NotFoundError(f"There is no body {body_id!r:.80} in this scene.")
            found = in_order(tuple(dict.fromkeys(self.ids)))
            if self.bounds is not None:
                found = [i for i in found if index.boxes[i].touches(self.bounds)]
        else:
            found = index.ids(Body) if self.bounds is None else index.touching(Body, self.bounds)
        if self.selected_only:
            found = [i for i in found if i in chosen]
        if self.shape is None and self.dynamic is None:
            return found
        bodies = (existing(world, Body, i) for i in found)
        return [
            body.id
            for body in bodies
            if (self.shape is None or body.shape == self.shape)
            and (self.dynamic is None or body.dynamic == self.dynamic)
        ]
