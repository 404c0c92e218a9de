"""Whatever arguments come, a drawing tool answers or refuses, and a refusal changes nothing.

Valid arguments are made from the schema of each tool; invalid ones by putting anything in the place of something.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from engine.drawing.insert import InsertBox, InsertStroke, InsertText
from engine.drawing.layers import AddLayer
from presets.adapters import ToolAdapter
from presets.builtins import drawing
from protocol.tool import ToolError
from tests.presets.fake_app import FakeApp, SilentCall

ADAPTERS = drawing.adapters()
FUZZ = settings(max_examples=25, deadline=None)

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
names = st.sampled_from(["layer-1", "layer-2", "object-1", "object-2", "object-3", "Layer 1", "sky", "", "#"])
texts = names | st.text(max_size=6) | st.text(st.characters(), max_size=3)


def values_of(schema: Mapping[str, Any]) -> st.SearchStrategy[Any]:
    """Values that a schema of these tools mostly accepts."""
    if "anyOf" in schema:
        return st.one_of([values_of(option) for option in schema["anyOf"]])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "const" in schema:
        return st.just(schema["const"])
    match schema.get("type"):
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", 0), min(schema.get("maximum", 5), 5))
        case "number":
            low, high = schema.get("minimum", schema.get("exclusiveMinimum", -10)), schema.get("maximum", 10)
            spread = st.floats(low, high, exclude_min="exclusiveMinimum" in schema)
            return spread | st.integers(max(1, int(low)), min(9, int(high))) | st.sampled_from([high])
        case "string" if "pattern" in schema:
            return st.sampled_from(["#FF0000", "00ff0080", "#12345678"])
        case "string":
            return texts.filter(lambda text: schema.get("minLength", 0) <= len(text) <= schema.get("maxLength", 99))
        case "array":
            least = schema.get("minItems", 0)
            return st.lists(values_of(schema["items"]), min_size=least, max_size=least + 3)
        case "object":
            return objects_of(schema)
        case _:
            return anything


def objects_of(schema: Mapping[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    required = set(schema.get("required", ()))
    members = {name: values_of(member) for name, member in schema["properties"].items()}
    return st.fixed_dictionaries(
        {name: values for name, values in members.items() if name in required},
        optional={name: values for name, values in members.items() if name not in required},
    )


def fresh() -> FakeApp:
    app = FakeApp()
    for command in (
        InsertBox(kind="rectangle", x=0, y=0, width=10, height=4, rotation_degrees=30),
        InsertText(x=0, y=0, text="sky"),
        AddLayer(name="sky"),
        InsertStroke(points=((0, 0), (5, 5))),
    ):
        app.engine.execute(command)
    return app


def world_of(app: FakeApp) -> tuple[int, dict[tuple[str, str], object]]:
    world = app.engine.active_world
    return world.revision, {(record.collection, record.id): record for record in world.read()}


def check_call(adapter: ToolAdapter, app: FakeApp, arguments: Mapping[str, Any]) -> None:
    """Call the tool. Anything but an answer that fits its schema or a refusal that changes nothing is a bug."""
    fits = jsonschema_rs.is_valid(dict(adapter.input_schema), arguments)
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
        outcome.content[0].model_dump_json()
        return
    assert reason
    assert world_of(app) == before


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_arguments_that_fit_the_schema_are_answered_or_refused_with_a_reason(adapter: ToolAdapter):
    @FUZZ
    @given(st.lists(objects_of(adapter.input_schema), min_size=1, max_size=3))
    def check(calls: list[dict[str, Any]]) -> None:
        app = fresh()
        for arguments in calls:
            check_call(adapter, app, arguments)

    check()


@pytest.mark.parametrize("adapter", ADAPTERS, ids=lambda adapter: adapter.mcp_name)
def test_arguments_that_hold_anything_anywhere_break_nothing(adapter: ToolAdapter):
    members = sorted(adapter.input_schema["properties"])

    @FUZZ
    @given(objects_of(adapter.input_schema), st.sampled_from([*members, "surprise"]), anything)
    def check(arguments: dict[str, Any], member: str, value: object) -> None:
        check_call(adapter, fresh(), {**arguments, member: value})

    check()
