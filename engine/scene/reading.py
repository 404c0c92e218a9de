"""How to read a scene: its bodies, lights, camera, selection. Owns what holds where no record says it.

A scene always has an ambient light and a sun, a backdrop and a camera; they become records when they are changed.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from engine.records import Index, Record, RecordTable
from engine.scene.index import SceneIndex, order_of
from engine.scene.records import Backdrop, Body, Camera, Light, SceneSelection, Terrain
from engine.scene.vector import Vector

RecordT = TypeVar("RecordT", bound=Record)
IndexT = TypeVar("IndexT", bound=Index)

AMBIENT = Light(id="ambient", kind="ambient", intensity=0.35)
"""The light from all sides, of a scene in which nothing was said about it."""
SUN = Light(id="sun", kind="directional", intensity=0.75, direction=Vector(-0.45, -0.8, -0.4).unit())
"""The light from above, of a scene in which nothing was said about it."""
DEFAULT_LIGHTS = (AMBIENT, SUN)
"""The lights of a scene in which none was added."""
DEFAULT_BACKDROP = Backdrop()
"""The backdrop of a scene in which nothing was said about it: the colour of the theme."""
DEFAULT_CAMERA = Camera()
"""The camera of a scene in which it was never moved."""


class Reader(Protocol):
    """What `RecordTable` and `Transaction` have in common."""

    def get(self, kind: type[RecordT], record_id: str) -> RecordT | None:
        """See `RecordTable.get`."""
        ...

    def index(self, kind: type[IndexT]) -> IndexT:
        """See `RecordTable.index`."""
        ...


def existing(reader: Reader, kind: type[RecordT], record_id: str) -> RecordT:
    """The record of that id, which the caller has from the index or from a checked selection."""
    record = reader.get(kind, record_id)
    if record is None:
        raise LookupError(f"the scene's index names {record_id}, which its table lacks")
    return record


def bodies_of(reader: Reader) -> tuple[Body, ...]:
    """The bodies in order of creation."""
    return tuple(existing(reader, Body, body_id) for body_id in reader.index(SceneIndex).ids(Body))


def terrains_of(reader: Reader) -> tuple[Terrain, ...]:
    """The terrains in order of creation."""
    return tuple(existing(reader, Terrain, terrain_id) for terrain_id in reader.index(SceneIndex).ids(Terrain))


def lights_of(reader: Reader) -> tuple[Light, ...]:
    """The lights: the ambient one, the sun, then the others in order of creation."""
    kept = {light_id: existing(reader, Light, light_id) for light_id in reader.index(SceneIndex).ids(Light)}
    firsts = tuple(kept.pop(light.id, light) for light in DEFAULT_LIGHTS)
    return (*firsts, *(kept[light_id] for light_id in sorted(kept, key=order_of)))


def light_of(reader: Reader, light_id: str) -> Light | None:
    """The light of that id, or None."""
    return reader.get(Light, light_id) or next((light for light in DEFAULT_LIGHTS if light.id == light_id), None)


def backdrop_of(reader: Reader) -> Backdrop:
    """What is behind everything."""
    return reader.get(Backdrop, DEFAULT_BACKDROP.id) or DEFAULT_BACKDROP


def camera_of(reader: Reader) -> Camera:
    """Where pictures are taken from."""
    return reader.get(Camera, DEFAULT_CAMERA.id) or DEFAULT_CAMERA


def is_there(reader: Reader, object_id: str) -> bool:
    """Whether a body, a terrain or a light has that id."""
    boxes = reader.index(SceneIndex).boxes
    return object_id in boxes or light_of(reader, object_id) is not None


def selected_ids(reader: Reader) -> tuple[str, ...]:
    """The selection, without what no longer exists."""
    selection = reader.get(SceneSelection, "selection")
    if selection is None or not selection.ids:
        return ()
    ids = selection.ids
    return ids if all(is_there(reader, i) for i in ids) else tuple(i for i in ids if is_there(reader, i))


def selection_kind(table: RecordTable) -> str | None:
    """`scene-object` when at least one object of the scene is selected."""
    return "scene-object" if selected_ids(table) else None
