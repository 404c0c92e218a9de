"""A whole scene as JSON and back, exactly. Owns that form, and the command that puts one scene in another's place."""

from __future__ import annotations

import json
import re
from collections import Counter as CountOf
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, cast

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass as checked_dataclass

from engine.errors import InvalidArgumentError
from engine.records import Counter, Record, Transaction
from engine.scene.backdrop import checked_backdrop
from engine.scene.bodies import checked_body
from engine.scene.index import SceneIndex, in_order
from engine.scene.lighting import checked_lights
from engine.scene.measures import MAX_BODIES, MAX_TERRAINS
from engine.scene.reading import DEFAULT_BACKDROP, DEFAULT_CAMERA, DEFAULT_LIGHTS
from engine.scene.records import Backdrop, Body, Camera, Light, SceneSelection, Terrain
from engine.scene.snapshot import SceneSnapshot, snapshot
from engine.scene.terrain import checked_terrain
from engine.scene.viewpoint import checked_camera
from engine.world import Command

STATE_VERSION = 1
"""Of the form of the JSON; another form gets another number."""

_STRICT = ConfigDict(extra="forbid", allow_inf_nan=False)
_NUMBERED = re.compile(r"(body|terrain|light)-([1-9][0-9]{0,14})", re.ASCII)


@checked_dataclass(frozen=True, kw_only=True, config=_STRICT)
class _State:
    """The members of the JSON. What is left out is as in a new scene."""

    version: Literal[1]
    bodies: tuple[Body, ...] = ()
    terrains: tuple[Terrain, ...] = ()
    lights: tuple[Light, ...] = DEFAULT_LIGHTS
    backdrop: Backdrop = DEFAULT_BACKDROP
    camera: Camera = DEFAULT_CAMERA
    selection: tuple[str, ...] = ()


_ADAPTER = TypeAdapter(_State)


@dataclass(frozen=True, slots=True)
class Restored:
    """How many of each the scene holds now."""

    body_count: int
    terrain_count: int
    light_count: int


def state_json(scene: SceneSnapshot) -> dict[str, Any]:
    """The scene as a JSON object; `parse_state` gives exactly the same scene back."""
    state = _State(
        version=STATE_VERSION,
        bodies=scene.bodies,
        terrains=scene.terrains,
        lights=scene.lights,
        backdrop=scene.backdrop,
        camera=scene.camera,
        selection=scene.selection,
    )
    return _ADAPTER.dump_python(state, mode="json", warnings="error")


def parse_state(value: object) -> SceneSnapshot:
    """The scene of that JSON. Raises `InvalidArgumentError` saying where it is not as it should be."""
    if _holds_a_state(value):
        raise InvalidArgumentError("This is no state of a scene, but has one: pass its `state` alone.")
    try:
        # Through text, so that numbers and tuples are read by the rules of JSON, whoever made the value.
        state = _ADAPTER.validate_json(json.dumps(value, allow_nan=False), strict=True, extra="forbid")
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in fault["loc"]) or "the whole"
        raise InvalidArgumentError(f"This is no state of a scene: {where}: {fault['msg']}.") from error
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidArgumentError(f"This is no state of a scene: {error}") from error
    if len(state.bodies) > MAX_BODIES or len(state.terrains) > MAX_TERRAINS:
        raise InvalidArgumentError(
            f"The state has {len(state.bodies)} bodies and {len(state.terrains)} terrains; a scene has at most "
            f"{MAX_BODIES} and {MAX_TERRAINS}."
        )
    _check_ids("body", state.bodies)
    _check_ids("terrain", state.terrains)
    _check_ids("light", state.lights, also=tuple(light.id for light in DEFAULT_LIGHTS))
    there = {record.id for record in (*state.bodies, *state.terrains, *state.lights, *DEFAULT_LIGHTS)}
    for object_id in state.selection:
        if object_id not in there:
            raise InvalidArgumentError(f"selection names {object_id!r:.80}, which the state does not have.")
    return SceneSnapshot(
        bodies=tuple(checked_body(body) for body in state.bodies),
        terrains=tuple(checked_terrain(terrain) for terrain in state.terrains),
        lights=checked_lights(state.lights),
        backdrop=checked_backdrop(state.backdrop),
        camera=checked_camera(state.camera),
        selection=tuple(in_order(tuple(dict.fromkeys(state.selection)))),
    )


def _holds_a_state(value: object) -> bool:
    """Whether it is a whole answer with a state in it, as `space_scene_get_state` gives."""
    if not isinstance(value, dict):
        return False
    members = cast("dict[str, object]", value)
    return "version" not in members and isinstance(members.get("state"), dict)


@dataclass(frozen=True, slots=True)
class RestoreState(Command[Restored]):
    """Put that scene in the place of this one, as one step. Parse the state before, off the world."""

    label: ClassVar[str] = "restore scene"
    scene: SceneSnapshot

    def run(self, world: Transaction) -> Restored:
        """Restore it."""
        index = world.index(SceneIndex)
        for kind, records in ((Body, self.scene.bodies), (Terrain, self.scene.terrains), (Light, self.scene.lights)):
            _replace_all(world, kind, index.ids(kind), records)
        now = snapshot(world)
        for record, present in ((self.scene.backdrop, now.backdrop), (self.scene.camera, now.camera)):
            if record != present:
                world.put(record)
        if self.scene.selection != now.selection:
            world.put(SceneSelection(ids=self.scene.selection))
        return Restored(len(self.scene.bodies), len(self.scene.terrains), len(now.lights))


def _replace_all(world: Transaction, kind: type[Record], present: list[str], wanted: tuple[Record, ...]) -> None:
    keep = {record.id for record in wanted}
    for record_id in reversed(present):
        if record_id not in keep:
            world.remove(kind, record_id)
    highest: dict[str, int] = {}
    for record in wanted:
        if record not in DEFAULT_LIGHTS or world.get(kind, record.id) is not None:
            world.put(record)
        match = _NUMBERED.fullmatch(record.id)
        if match is not None:
            highest[match[1]] = max(highest.get(match[1], 0), int(match[2]))
    for series, number in highest.items():
        counter = world.get(Counter, series) or Counter(id=series)
        if counter.next <= number:  # or a new object would take an id of the state
            world.put(Counter(id=series, next=number + 1), undoable=False)


def _check_ids(series: str, records: tuple[Record, ...], *, also: tuple[str, ...] = ()) -> None:
    for record in records:
        match = _NUMBERED.fullmatch(record.id)
        if record.id not in also and (match is None or match[1] != series):
            raise InvalidArgumentError(f"The id {record.id!r:.80} must be like {series}-7.")
    twice = [record_id for record_id, count in CountOf(record.id for record in records).items() if count > 1]
    if twice:
        raise InvalidArgumentError(f"The id {twice[0]} stands twice in the state.")
