"""The schemas that models see: what is not told is checked all the same, and then it is said."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
from pydantic import Field

from engine.errors import InvalidArgumentError
from presets.builtins import drawing, general, graph, scene
from presets.schema import FAR_AWAY, MAX_REVISION, ToolArguments, WriteArguments, schema_of
from protocol.tool import ToolError
from tests.presets.fake_app import FakeApp, SilentCall

ADAPTERS = [adapter for group in (drawing, graph, scene, general) for adapter in group.adapters()]


class Inner(ToolArguments):
    maximum: Annotated[float, Field(ge=-1e6, le=1e6)] | None = None


class Wide(ToolArguments):
    far: Annotated[int, Field(ge=1, le=FAR_AWAY)] = 1
    near: Annotated[int, Field(ge=-FAR_AWAY + 1, lt=FAR_AWAY - 1)] = 1
    text: Annotated[str, Field(min_length=1, max_length=200_000)] = "x"
    points: Annotated[tuple[Inner, ...], Field(max_length=1_000_000)] = ()


def test_bounds_that_only_a_mistake_goes_beyond_are_not_told_and_all_others_are() -> None:
    members = schema_of(Wide)["properties"]
    assert members["far"] == {"type": "integer", "minimum": 1, "default": 1}
    assert members["near"] == {"type": "integer", "minimum": -99_999, "exclusiveMaximum": 99_999, "default": 1}
    assert members["text"] == {"type": "string", "minLength": 1, "default": "x"}
    assert "maxItems" not in members["points"]
    assert members["points"]["items"]["properties"] == {"maximum": {"type": "number"}}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"far": FAR_AWAY + 1}, "far: expected at most 100000, got 100001"),
        ({"text": "x" * 200_001}, "text: expected at most 200000 characters, got 200001"),
        ({"points": [{}, {"maximum": -1e7}]}, "points[1].maximum: expected at least -1000000"),
        ({"points": [{"maximum": 10**400}]}, "points[0].maximum: expected at most 1000000"),
    ],
)
def test_a_value_beyond_a_bound_that_is_not_told_is_refused_with_its_place_and_the_limit(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        Wide.model_validate(given)
    assert str(caught.value).startswith(f"Invalid arguments; nothing was done:\n- {said}")


@pytest.mark.parametrize(("revision", "limit"), [(-1, "0"), (MAX_REVISION + 1, str(MAX_REVISION))])
def test_a_revision_that_cannot_be_is_refused_with_the_limit_although_no_bound_is_told(
    revision: int, limit: str
) -> None:
    assert set(schema_of(WriteArguments)["properties"]["base_revision"]) == {"type", "description"}
    with pytest.raises(InvalidArgumentError, match=f"base_revision: .* {limit}, got {revision}"):
        WriteArguments.model_validate({"base_revision": revision})


def bounds_in(node: Any) -> Iterator[float]:
    if isinstance(node, dict):
        for key, value in node.items():
            if key.startswith(("min", "max", "exclusive")) and isinstance(value, int | float):
                yield value
            yield from bounds_in(value)
    elif isinstance(node, list):
        for item in node:
            yield from bounds_in(item)


def test_no_built_in_tool_tells_a_bound_that_is_far_away() -> None:
    told = [bound for adapter in ADAPTERS for bound in bounds_in(adapter.input_schema)]
    assert len(told) > 100
    assert max(map(abs, told)) < FAR_AWAY


@pytest.mark.parametrize(
    ("tool", "given", "said"),
    [
        (
            "space_drawing_insert_line",
            {"x1": 0, "y1": 0, "x2": 0, "y2": 2e6},
            "y2: expected at most 1000000.0, got 2000000.0",
        ),
        ("space_scene_add_cuboid", {"mass": 1e9}, "mass: expected at most 1000000.0, got 1000000000.0"),
        ("space_drawing_inspect", {"offset": 10**9}, "offset: expected at most 10000000, got 1000000000"),
        ("space_scene_add_terrain", {"seed": 2**53}, f"seed: expected at most {2**53 - 1}, got {2**53}"),
        ("space_app_write_file", {"path": "a", "content": "x" * (2**22 + 1)}, "content: expected at most 4194304 char"),
    ],
)
async def test_a_tool_refuses_what_is_far_away_in_words_for_the_model(
    tool: str, given: dict[str, Any], said: str
) -> None:
    (adapter,) = [one for one in ADAPTERS if one.mcp_name == tool]
    app = FakeApp()
    before = app.engine.active_world.revision
    with pytest.raises(ToolError) as caught:
        await adapter.make_run(app)(given, SilentCall())
    assert said in str(caught.value)
    assert app.engine.active_world.revision == before
