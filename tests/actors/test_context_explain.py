"""Every known tool is explained, and the built-in groups are offered where they belong."""

from __future__ import annotations

import re

import pytest

from actors.catalog import ApplyBatch, owners_of
from actors.context import (
    ExplainAllTools,
    ReadPresets,
    SetContext,
    SetOverride,
)
from actors.space import Space, built_in_capabilities
from presets.explain import ToolState
from presets.resolution import Reason
from tests.actors.capabilities import HAZARDS, PLAIN, SCENE, explain, tools_of
from tests.actors.fakes import running, tool


@pytest.mark.parametrize(
    ("name", "state", "said"),
    [
        ("space_a_common", ToolState.SHOWN, "it fits this context"),
        ("a.common", ToolState.SHOWN, "it fits this context"),
        ("space_a_graph", ToolState.HIDDEN, "activity=drawing.*it is offered with activity=graph"),
        ("space_a_draw", ToolState.OFF, "the user turned preset 'draw' off.*space preset auto draw"),
        ("space_a_risky", ToolState.RISK, r"off by default because of its risk \(shell\).*space preset on risky"),
        ("space_a_grahp", ToolState.UNKNOWN, "space_a_graph"),
        ("space_foreign", ToolState.SHOWN, "'somebody' has registered it"),
        ("space_b_foreign", ToolState.SHOWN, "'somebody' has registered it"),
        ("b.foreign", ToolState.COLLIDING, "'somebody' and 'agent-presets:foreign'"),
    ],
)
async def test_every_tool_is_explained_by_exactly_one_state(
    space: Space, name: str, state: ToolState, said: str
) -> None:
    async with running(space, PLAIN, HAZARDS):
        foreign = tool("space_foreign", "somebody"), tool("space_b_foreign", "somebody")
        await space.catalog.ask(ApplyBatch("somebody", foreign))
        await space.context.ask(SetOverride("draw", "off"))
        explanation = await explain(space, name)
        assert explanation.state is state
        assert re.search(said, explanation.reason), explanation.reason


async def test_all_tools_are_explained_as_each_is(space: Space) -> None:
    async with running(space, PLAIN, HAZARDS):
        owners = owners_of(space.catalog.tools.value)
        rows = await space.context.ask(ExplainAllTools(owners))
        shown = [row.mcp_name for row in rows if row.state is ToolState.SHOWN]
        assert tuple(shown) == tools_of(space)
        assert {row.tool_id for row in rows} >= {"a.draw", "a.graph", "a.risky", "b.one", "b.two", "b.missing"}


async def test_the_rows_say_what_is_active_and_why(space: Space) -> None:
    async with running(space, PLAIN):
        await space.context.ask(SetOverride("risky", "on"))
        rows = {row.name: row for row in (await space.context.ask(ReadPresets())).rows}
        assert rows["draw"].active_reason is Reason.CONTEXT
        assert rows["risky"].active_reason is Reason.OVERRIDE
        assert not rows["graph"].active


async def test_the_built_in_groups_offer_something_on_the_scene(space: Space) -> None:
    """Cases 052 and 054. Case 053 asks for a tool of the scene group, which is not built in yet."""
    async with running(space, built_in_capabilities()):
        await space.context.ask(SetContext(SCENE))
        assert "space_app_set_theme" in tools_of(space)
        assert not [name for name in tools_of(space) if name.startswith("space_drawing_")]


async def test_the_drawing_group_is_offered_while_drawing(space: Space) -> None:
    """Cases 058, 062, 064 and 065."""
    async with running(space, built_in_capabilities()):
        tools = {entry.definition.name: entry.definition for entry in space.catalog.tools.value}
        assert {"rotation_degrees", "scale"} <= set(
            tools["space_drawing_transform_selection"].input_schema["properties"]
        )
        for name in ("space_drawing_insert_shape", "space_drawing_insert_stroke"):
            assert "+y moves up" in tools[name].description


async def test_the_prompt_of_the_shape_tools_says_which_way_is_up(space: Space) -> None:
    """Case 063."""
    async with running(space, built_in_capabilities()):
        fragments = space.context.view.value.resolution.prompt_fragments
        (prompt,) = [part.prompt for part in fragments if part.preset == "drawing-shape-tools"]
        assert "+y moves up" in prompt


@pytest.mark.parametrize("name", ["space_drawing_delete_selected", "space_drawing_delete_layer"])
async def test_what_destroys_is_off_until_somebody_turns_it_on(space: Space, name: str) -> None:
    """Cases 060 and 061 have these tools active; overruled by the document: destructive presets are off by default."""
    async with running(space, built_in_capabilities()):
        assert name not in tools_of(space)
        explanation = await explain(space, name)
        assert explanation.state is ToolState.RISK
        assert explanation.preset is not None
        await space.context.ask(SetOverride(explanation.preset, "on"))
        assert name in tools_of(space)
