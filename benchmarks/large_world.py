"""A large world for the benchmarks, put into a store at once. Owns what is in it, never how it is measured.

Everything lies as close together in a small world as in a large one, so a box of one size holds as much in both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path

from engine.codec import Codec
from engine.domains import world_codec
from engine.drawing.document import FIRST_LAYER
from engine.drawing.geometry import Point
from engine.drawing.records import DrawingFocus, Rectangle
from engine.drawing.style import Style
from engine.graph.records import GraphEdge, GraphNode, edge_id
from engine.records import Change, Counter, Record
from engine.scene.records import Body, Terrain
from engine.scene.vector import Vector
from engine.store import Store
from engine.stored import Commit, WorldCreation, WorldRows

NOW = datetime(2026, 1, 1, tzinfo=UTC)
"""The time that the stores are opened at; nothing here depends on it."""

OBJECT_SPACING = 20.0
"""From object to object of the drawing, in document units."""

NODE_WIDTH, NODE_HEIGHT = 260.0, 130.0
"""From node to node of the graph, in graph units: as near as they are put where nobody says where."""

BODY_SPACING = 2.0
"""From body to body of the scene, in metres: no two touch."""

LAYERS_OF_BODIES = 4
"""Bodies stand above each other, so that they fall on each other when they are simulated."""


@dataclass(frozen=True)
class WorldSize:
    """How much is in a world."""

    objects: int
    nodes: int
    bodies: int

    def tenth(self) -> WorldSize:
        """A tenth of it."""
        return WorldSize(self.objects // 10, self.nodes // 10, self.bodies // 10)

    def __str__(self) -> str:
        return f"{self.objects:,} objects, {self.nodes:,} nodes, {self.bodies:,} bodies"


def store_world(folder: Path, size: WorldSize, *, with_history: bool = False) -> None:
    """Make a data folder whose active world holds that much; there is an edge from each node to the next.

    With a history, each thing came by a step of its own, as if single commands had made them all.
    """
    codec = world_codec()
    records = (*_drawing(size.objects), *_graph(size.nodes), *scene(size.bodies))
    steps = tuple(_steps(records, codec)) if with_history else ()
    rows = WorldRows(
        records=tuple((record.collection, record.id, codec.encode(record)) for record in records), steps=steps
    )
    world = WorldCreation(id="world-2", name="large", created_at=NOW, revision=1, position=len(steps), rows=rows)
    with Store.open(folder, now=NOW) as store:
        settings = replace(store.load().settings, active_world_id=world.id)
        store.write(Commit(settings=settings, next_world_number=3, created=(world,)))


def _steps(records: Iterable[Record], codec: Codec) -> Iterator[tuple[int, str, str]]:
    """A step for each record that undo would take away. An object of the drawing is selected as it comes."""
    number, focus = 0, None
    for record in records:
        if isinstance(record, Counter):
            continue
        number += 1
        changes = [Change(record.collection, record.id, None, record)]
        if isinstance(record, Rectangle):
            selected = DrawingFocus(active_layer_id=record.layer_id, selection=(record.id,))
            changes.append(Change(selected.collection, selected.id, focus, selected))
            focus = selected
        yield number, "insert", codec.encode_changes(changes)


def _drawing(count: int) -> Iterator[Record]:
    side = math.isqrt(count)
    yield FIRST_LAYER
    yield DrawingFocus(active_layer_id=FIRST_LAYER.id)
    yield Counter(id="object", next=count + 1)
    for number in range(count):
        row, column = divmod(number, side)
        yield Rectangle(
            id=f"object-{number + 1}",
            layer_id=FIRST_LAYER.id,
            order=number + 1,
            style=Style(),
            center=Point(column * OBJECT_SPACING, row * OBJECT_SPACING),
            size=Point(8.0, 6.0),
        )


def _graph(count: int) -> Iterator[Record]:
    side = math.isqrt(count)
    yield Counter(id="node", next=count + 1)
    keys = [f"string-entity:node-{number + 1}" for number in range(count)]
    for number, key in enumerate(keys):
        row, column = divmod(number, side)
        yield GraphNode(
            id=key,
            kind="string-entity",
            label=f"Note {number + 1}",
            position=Point((column - side // 2) * NODE_WIDTH, (row - side // 2) * NODE_HEIGHT),
            order=number + 1,
        )
    for number, (source, target) in enumerate(pairwise(keys)):
        yield GraphEdge(id=edge_id(source, target), source=source, target=target, label="next", order=number + 1)


def scene(count: int) -> Iterator[Record]:
    """Boxes above flat ground, in layers."""
    side = max(1, math.isqrt(count // LAYERS_OF_BODIES))
    yield Counter(id="body", next=count + 1)
    yield Counter(id="terrain", next=2)
    extent = (side + 2) * BODY_SPACING
    yield Terrain(
        id="terrain-1",
        kind="flat",
        position=Vector(extent / 2, 0.0, extent / 2),
        size_x=extent,
        size_z=extent,
        color="#808080",
        friction=0.8,
    )
    for number in range(count):
        layer, place = divmod(number, side * side)
        row, column = divmod(place, side)
        yield Body(
            id=f"body-{number + 1}",
            shape="box",
            position=Vector((column + 1) * BODY_SPACING, 0.5 + layer * BODY_SPACING, (row + 1) * BODY_SPACING),
            size=Vector(1.0, 1.0, 1.0),
            color="#9AA7B8",
            mass=1.0,
            friction=0.6,
        )
