"""Whatever arguments come, a graph tool answers or refuses, and a refusal changes nothing.

Valid arguments are made from the schema of each tool; invalid ones by putting anything in the place of something.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.commands import CreateWorld
from engine.graph.edges import AddEdge
from engine.graph.identities import CreateIdentity
from engine.graph.nodes import AddNode, RemoveNodes
from presets.adapters import ToolAdapter
from presets.builtins import graph
from protocol.tool import ToolError
from tests.presets.fake_app import FakeApp, SilentCall

ADAPTERS = graph.adapters()
FUZZ = settings(max_examples=25, deadline=None)
MOST_BYTES = 40 * 1024

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=5,
)
keys = st.sampled_from(
    [
        *(f"string-entity:node-{n}" for n in range(1, 5)),
        "identity:identity-1",
        "file:a.txt",
        "file:gone",
        "world:world-2/string-entity:node-1",
        "world:world-1",
    ]
)
texts = keys | keys | st.sampled_from(["red", "Ada", ""]) | st.text(max_size=6) | st.text(st.characters(), max_size=3)


def values_of(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema of these tools mostly accepts."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", 0), min(schema.get("maximum", 5), 5))
        case "number":
            low, high = schema.get("minimum", -10), schema.get("maximum", 10)
            return st.floats(low, high) | st.integers(-9, 9)
        case "string" if "pattern" in schema:
            return st.sampled_from(["person", "string-entity", "a_b-9"])
        case "string":
            return texts.filter(lambda text: schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 99))
        case "array":
            least = schema.get("minItems", 0)
            return st.lists(values_of(schema["items"]), min_size=least, max_size=least + 3)
        case "object" if "properties" in schema:
            return objects_of(schema)
        case "object":
            return st.dictionaries(st.text(max_size=4), json_values, max_size=3)
        case _:
            return json_values


def objects_of(schema: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    required = set(schema.get("required", ()))
    members = {name: values_of(member) for name, member in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: values for name, values in members.items() if name in required},
        optional={name: values for name, values in members.items() if name not in required},
    )


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("workspace")
    (folder / "a.txt").write_text("text")
    return folder


def fresh(workspace: Path) -> FakeApp:
    app = FakeApp(workspace)
    app.engine.execute(CreateWorld("other"))
    for command in (
        AddNode(title="red"),
        AddNode(title="red fox", data={"a": [None]}, position=(3, 4)),
        AddEdge(source="string-entity:node-1", target="string-entity:node-2", edge_label="x"),
        CreateIdentity(name="Ada", members=("string-entity:node-1",)),
        AddNode(title="gone"),
        RemoveNodes(("string-entity:node-3",)),
    ):
        app.engine.execute(command)
    return app


def world_of(app: FakeApp) -> tuple[int, dict[tuple[str, str], object]]:
    world = app.engine.active_world
    return world.revision, {(record.collection, record.id): record for record in world.read()}


def check_call(adapter: ToolAdapter, app: FakeApp, arguments: Mapping[str, Any]) -> None:
    """Call the tool. Anything but an answer that fits its schema or a refusal that changes nothing is a bug."""
    try:
        json.dumps(arguments, ensure_ascii=False, allow_nan=False).encode()
        fits = jsonschema_rs.is_valid(dict(adapter.input_schema), arguments)
    except ValueError:  # what is no JSON at all, such as an infinite number and half of a surrogate pair
        fits = False
    before = world_of(app)
    try:
        outcome = trio.run(adapter.make_run(app), arguments, SilentCall())
    except ToolError as error:
        reason = str(error)
    except ValidationError as error:
        # What the schema allows must not fail in the models behind it: the caller could not have known.
        reason = "" if fits else str(error)
    else:
        assert outcome.structured is not None
        assert adapter.output_schema is not None
        jsonschema_rs.validate(dict(adapter.output_schema), dict(outcome.structured))
        assert len(outcome.content[0].model_dump_json().encode()) < MOST_BYTES
        assert adapter.read_only <= (world_of(app) == before)
        return
    assert reason
    assert world_of(app) == before


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_arguments_that_fit_the_schema_are_answered_or_refused_with_a_reason(adapter: ToolAdapter, workspace: Path):
    @FUZZ
    @given(st.lists(objects_of(adapter.input_schema), min_size=1, max_size=3))
    def check(calls: list[dict[str, Any]]) -> None:
        app = fresh(workspace)
        for arguments in calls:
            check_call(adapter, app, arguments)

    check()


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_arguments_that_hold_anything_anywhere_break_nothing(adapter: ToolAdapter, workspace: Path):
    members = sorted(adapter.input_schema["properties"])

    @FUZZ
    @given(objects_of(adapter.input_schema), st.sampled_from([*members, "surprise"]), anything)
    def check(arguments: dict[str, Any], member: str, value: object) -> None:
        check_call(adapter, fresh(workspace), {**arguments, member: value})

    check()
