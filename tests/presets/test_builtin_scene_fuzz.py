"""Whatever arguments come, a scene tool answers or refuses, and a refusal changes nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.scene.bodies import AddBody
from engine.scene.terrain import AddTerrain
from engine.scene.vector import Vector
from presets.adapters import ToolAdapter
from presets.builtins import scene
from tests.presets.fake_app import FakeApp
from tests.presets.test_builtin_drawing_fuzz import anything, check_call, objects_of

ADAPTERS = scene.adapters()
FUZZ = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])

ids = st.sampled_from(["body-1", "body-2", "terrain-1", "sun", "ambient", "light-1", "body-99"])


def arguments_of(adapter: ToolAdapter) -> st.SearchStrategy[dict[str, Any]]:
    """Arguments that the schema mostly accepts; ids often name something, and runs are short."""
    made = objects_of(adapter.input_schema)
    properties = adapter.input_schema["properties"]
    if "id" in properties:
        made = st.builds(lambda given, name: {**given, "id": name} if "id" in given else given, made, ids)
    if "seconds" in properties:
        made = st.builds(lambda given, time: {**given, "seconds": time}, made, st.floats(0, 0.2))
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
