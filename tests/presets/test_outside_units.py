"""Which tools an agent from outside has for developing units. What they do is tried in `tests/transport`."""

from __future__ import annotations

import re

from actors.unit_server import AGENT, AGENTS_ROOT
from presets.agents.roster import Roster
from presets.builtins import outside_units, units
from presets.definition import DefaultState
from space_unit.testing import MemoryApp

ADAPTERS = {adapter.id: adapter for adapter in outside_units.adapters(MemoryApp())}


def test_there_are_ten_each_in_one_preset_and_all_of_them_on() -> None:
    assert tuple(ADAPTERS) == outside_units.OUTSIDE_TOOLS
    assert len(ADAPTERS) == 10
    presets = outside_units.presets()
    assert sorted(tool_id for preset in presets for tool_id in preset.tool_ids) == sorted(ADAPTERS)
    assert {preset.default_state for preset in presets} == {DefaultState.AUTO}


def test_they_are_those_of_an_engine_at_the_same_risk_with_the_same_schemas() -> None:
    risks = {tool_id: preset.risk for preset in units.presets() for tool_id in preset.tool_ids}
    for preset in outside_units.presets():
        assert {risks[tool_id] for tool_id in preset.tool_ids} == {preset.risk}
    for adapter in units.adapters():
        if adapter.id in ADAPTERS:
            own = ADAPTERS[adapter.id]
            assert (own.mcp_name, own.input_schema) == (adapter.mcp_name, adapter.input_schema)
            assert (own.output_schema, own.read_only) == (adapter.output_schema, adapter.read_only)


def test_the_guide_names_no_tool_that_is_not_there() -> None:
    (guide,) = [preset.system_prompt for preset in outside_units.presets() if preset.system_prompt]
    assert set(re.findall(r"space_unit_\w+", guide)) <= {adapter.mcp_name for adapter in ADAPTERS.values()}


def test_the_only_agent_there_is_usable() -> None:
    roster = Roster.load(AGENTS_ROOT)
    assert [agent.id for agent in roster.agents] == [AGENT]
    assert not roster.unusable
    assert not roster.problems
