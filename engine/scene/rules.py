"""What every record of a scene keeps, checked on records that came from elsewhere. Owns the check alone.

The limits are those of the commands. Lights are in no series of ids, since two of them have names.
"""

from __future__ import annotations

from collections.abc import Iterable

from engine.errors import InvalidArgumentError
from engine.records import Record
from engine.rules import Key, Rules
from engine.scene.backdrop import checked_backdrop
from engine.scene.bodies import checked_body
from engine.scene.lighting import checked_lights
from engine.scene.records import Backdrop, Body, Camera, Light, SceneSelection, Terrain
from engine.scene.terrain import checked_terrain
from engine.scene.viewpoint import checked_camera


def check(record: Record) -> None:
    """See `Rules.check`."""
    match record:
        case Body():
            normal: Record = checked_body(record)
        case Terrain():
            normal = checked_terrain(record)
        case Light():
            (normal,) = checked_lights((record,))
        case Backdrop():
            normal = checked_backdrop(record)
        case Camera():
            normal = checked_camera(record)
        case _:
            normal = record
    if normal != record:
        raise InvalidArgumentError(f"{record.collection} {record.id!r:.80} is not in its normal form")


def references(record: Record) -> Iterable[Key]:
    """See `Rules.references`. The selection may name what is gone."""
    del record
    return ()


RULES = Rules(
    collections=frozenset(kind.collection for kind in (Body, Terrain, Light, Backdrop, Camera, SceneSelection)),
    check=check,
    references=references,
    series={Body.collection: "body", Terrain.collection: "terrain"},
)
"""The rules of the scene."""
