"""The state of a scene: out and in again, exactly; and what is no state is refused with nothing changed."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.codec import Codec
from engine.errors import EngineError, InvalidArgumentError
from engine.records import Counter
from engine.scene.bodies import AddBody
from engine.scene.records import RECORD_TYPES
from engine.scene.rules import RULES
from engine.scene.state import RestoreState, parse_state, state_json
from engine.scene.vector import Vector
from engine.world import Command
from tests.engine.scene.samples import EXAMPLES, Scene, asides, steps


def made(commands: list[Command[object]]) -> Scene:
    scene = Scene()
    for command in commands:
        with suppress(EngineError):
            scene.do(command)
    return scene


@pytest.mark.slow
@EXAMPLES
@given(st.lists(steps | asides, max_size=12), st.lists(steps | asides, max_size=8))
def test_a_state_restores_exactly_into_any_scene_and_undo_takes_it_back(
    commands: list[Command[object]], others: list[Command[object]]
):
    scene, other = made(commands), made(others)
    state = json.loads(json.dumps(state_json(scene.snapshot())))
    before = other.records()

    other.do(RestoreState(parse_state(state)))

    assert other.snapshot() == scene.snapshot()
    assert state_json(other.snapshot()) == state
    if other.world.undo_count and other.records() != before:
        other.world.undo()
        undone = {key: record for key, record in other.records().items() if not isinstance(record, Counter)}
        assert undone == {key: record for key, record in before.items() if not isinstance(record, Counter)}


@pytest.mark.slow
@EXAMPLES
@given(st.lists(steps, max_size=10))
def test_records_are_stored_and_read_as_they_are_and_keep_the_rules(commands: list[Command[object]]):
    codec = Codec((Counter, *RECORD_TYPES))

    for record in made(commands).table:
        assert codec.decode(record.collection, record.id, codec.encode(record)) == record
        RULES.check(record)


def test_a_moved_scene_restores_exactly_and_goes_on_the_same():
    scene = Scene()
    scene.ground()
    scene.body("capsule", Vector(0.1, 2, 0), spin=Vector(10, 20, 30))
    scene.run(0.7)
    other = Scene()

    other.do(RestoreState(parse_state(json.loads(json.dumps(state_json(scene.snapshot()))))))

    assert other.run(0.3) == scene.run(0.3)


def test_new_objects_take_no_id_of_a_restored_state():
    scene = Scene()
    for _ in range(3):
        scene.body()
    state = parse_state(state_json(scene.snapshot()))
    other = Scene()
    other.do(RestoreState(state))

    assert other.body().id == "body-4"


def test_restoring_what_is_there_changes_nothing():
    scene = Scene()
    scene.body()
    revision = scene.world.revision

    scene.do(RestoreState(parse_state(state_json(scene.snapshot()))))

    assert scene.world.revision == revision


def valid() -> dict[str, Any]:
    scene = Scene()
    scene.ground(kind="heightfield", heights=((0.0, 1.0), (1.0, 2.0)))
    scene.do(AddBody(shape="box", size=Vector(1, 1, 1)))
    return state_json(scene.snapshot())


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        (("version",), 2, "version"),
        (("surprise",), 1, "surprise"),
        (("bodies", 0, "surprise"), 1, "bodies.0.surprise"),
        (("bodies", 0, "shape"), "cone", "bodies.0.shape"),
        (("bodies", 0, "position"), [0, 0], "bodies.0.position"),
        (("bodies", 0, "position"), [0, 0, "1"], "bodies.0.position"),
        (("bodies", 0, "position"), [0, 1e9, 0], "position.y must be"),
        (("bodies", 0, "position"), [0, math.nan, 0], "This is no state"),
        (("bodies", 0, "position"), [0, math.inf, 0], "This is no state"),
        (("bodies", 0, "mass"), -1, "mass must be"),
        (("bodies", 0, "id"), "body-0", "must be like body-7"),
        (("bodies", 0, "id"), "terrain-1", "must be like body-7"),
        (("terrains", 0, "rows"), 3, "32-bit floats"),
        (("terrains", 0, "heights"), "????", "32-bit floats"),
        (("terrains", 0, "kind"), "flat", "no heights"),
        (("lights", 0, "kind"), "point", "must be of kind ambient"),
        (("backdrop", "sky"), "green", "no sky 'green'"),
        (("camera", "fov"), 0, "fov_degrees must be"),
        (("selection",), ["body-9"], "selection names 'body-9'"),
        (("bodies",), "all", "bodies"),
        (("bodies",), [[[[[[]]]]]], "bodies"),
    ],
)
def test_what_is_no_state_is_refused_saying_where(path: tuple[str | int, ...], value: object, text: str):
    state = deepcopy(valid())
    holder: Any = state
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value

    with pytest.raises(EngineError) as error:
        parse_state(state)
    assert text in str(error.value)


def test_an_id_that_stands_twice_is_refused():
    state = valid()
    state["bodies"] = state["bodies"] * 2

    with pytest.raises(InvalidArgumentError, match="body-1 stands twice"):
        parse_state(state)


def test_a_state_that_is_nested_without_end_is_refused():
    deep: Any = []
    for _ in range(100_000):
        deep = [deep]

    with pytest.raises(InvalidArgumentError):
        parse_state({"version": 1, "bodies": deep})


def test_what_a_state_leaves_out_is_as_in_a_new_scene():
    scene = Scene()
    scene.body()

    scene.do(RestoreState(parse_state({"version": 1})))

    assert scene.snapshot() == Scene().snapshot()
