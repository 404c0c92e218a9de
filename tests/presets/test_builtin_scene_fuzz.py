"""Whatever arguments come, a scene tool answers or refuses, and a refusal changes nothing."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import EngineError
from engine.scene.bodies import AddBody
from engine.scene.state import state_json
from engine.scene.terrain import AddTerrain
from engine.scene.vector import Vector
from engine.world import Command
from presets.adapters import ToolAdapter
from presets.builtins import scene
from tests.engine.scene.samples import Scene, steps
from tests.presets.fake_app import FakeApp
from tests.presets.test_builtin_drawing_fuzz import anything, check_call

ADAPTERS = scene.adapters()
FUZZ = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

ids = st.sampled_from(["body-1", "body-2", "terrain-1", "sun", "ambient", "light-1", "body-99"])


def state_of(commands: list[Command[object]]) -> dict[str, Any]:
    made = Scene()
    for command in commands:
        with suppress(EngineError):
            made.do(command)
    return state_json(made.snapshot())


states = st.lists(steps, max_size=4).map(state_of)
"""Whole states, as the tool gives them."""


def values_of(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema of these tools mostly accepts; numbers are small where they may be."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "boolean":
            return st.booleans()
        case "integer":
            low = schema.get("minimum", 0)
            return st.integers(low, min(schema.get("maximum", low + 5), low + 5))
        case "number":
            low, high = schema.get("minimum", schema.get("exclusiveMinimum", -10)), schema.get("maximum", 10)
            near = st.floats(max(low, -3), min(high, max(low, -3) + 6), exclude_min="exclusiveMinimum" in schema)
            return near | st.sampled_from([high, low] if "minimum" in schema else [high])
        case "string" if schema.get("pattern", "").endswith("json$"):
            return st.sampled_from(["kept.json", "missing.json", "../out.json"])
        case "string" if "pattern" in schema:
            return st.sampled_from(["#FF0000", "00ff80"])
        case "string":
            return st.sampled_from(["x", "wood.png", "æ/ø"]) | st.text(min_size=1, max_size=3)
        case "array":
            least = schema.get("minItems", 0)
            return st.lists(values_of(schema["items"]), min_size=least, max_size=least + 1)
        case "object" if "properties" in schema:
            return objects_of(schema)
        case "object":
            return states | st.dictionaries(st.sampled_from(["version", "bodies", "camera"]), anything, max_size=3)
        case _:
            return anything


def objects_of(schema: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    required = set(schema.get("required", ()))
    members = {name: values_of(member) for name, member in schema["properties"].items() if name != "base_revision"}
    return st.fixed_dictionaries(
        {name: values for name, values in members.items() if name in required},
        optional={name: values for name, values in members.items() if name not in required},
    )


def arguments_of(adapter: ToolAdapter) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments that the schema mostly accepts; ids often name something, and runs are short."""
    made = objects_of(adapter.input_schema)
    properties = adapter.input_schema["properties"]
    if "id" in properties:
        made = st.builds(lambda given, name: {**given, "id": name} if "id" in given else given, made, ids)
    if "seconds" in properties:
        made = st.builds(lambda given, time: {**given, "seconds": time}, made, st.floats(0, 0.2, exclude_min=True))
    return made


def fresh(workspace: Path) -> FakeApp:
    app = FakeApp(workspace)
    for command in (
        AddBody(shape="box", size=Vector(1, 1, 1), position=Vector(0, 2, 0)),
        AddBody(shape="sphere", size=Vector(1, 1, 1), dynamic=False),
        AddTerrain(),
    ):
        app.engine.execute(command)
    return app


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_arguments_that_fit_the_schema_are_answered_or_refused_with_a_reason(adapter: ToolAdapter, tmp_path: Path):
    @FUZZ
    @given(st.lists(arguments_of(adapter), min_size=1, max_size=3))
    def check(calls: list[dict[str, Any]]) -> None:
        app = fresh(tmp_path)
        for arguments in calls:
            check_call(adapter, app, arguments)

    check()


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_arguments_that_hold_anything_anywhere_break_nothing(adapter: ToolAdapter, tmp_path: Path):
    members = sorted(adapter.input_schema["properties"])

    @FUZZ
    @given(arguments_of(adapter), st.sampled_from([*members, "surprise"]), anything)
    def check(arguments: dict[str, Any], member: str, value: object) -> None:
        check_call(adapter, fresh(tmp_path), {**arguments, member: value})

    check()
