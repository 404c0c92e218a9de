"""No agent's prompt grows unseen: the built-in presets and the shipped agents, against recorded lengths."""

from __future__ import annotations

import pytest

from benchmarks.prompt_budgets import HOW_TO_RAISE, exceeded, lengths, recorded
from benchmarks.prompts import AGENTS, PLACES, BuiltIns

DRAWING, _, SCENE, EVERYTHING = PLACES


@pytest.mark.slow
def test_no_prompt_is_longer_than_its_budget():
    grown = exceeded(lengths(), recorded())
    assert not grown, f"{'; '.join(grown)}. {HOW_TO_RAISE}"


def test_every_agent_has_a_budget_for_every_place():
    assert {agent: set(places) for agent, places in recorded().items()} == {
        agent: {place.name for place in PLACES} for agent in AGENTS
    }


def test_a_prompt_within_the_margin_is_let_through_and_one_beyond_it_is_named_with_its_length():
    budgets = {"standard": {"scene": 1000, "graph": 500}}
    assert exceeded({"standard": {"scene": 1020, "graph": 400}}, budgets) == []
    (said,) = exceeded({"standard": {"scene": 1021, "graph": 400}}, budgets)
    assert said.startswith("the prompt of agent 'standard', scene, has 1,021 characters; recorded are 1,000")


def test_a_prompt_that_nobody_has_recorded_is_named():
    assert exceeded({"new": {"scene": 1}}, {}) == ["the prompt of agent 'new', scene, has 1 characters and no budget"]


@pytest.mark.slow
def test_what_is_measured_is_what_each_agent_is_offered():
    built_ins = BuiltIns()
    standard, code = built_ins.seen("standard", DRAWING), built_ins.seen("code", DRAWING)
    assert len(standard.prompt.tools) == len(standard.tools.capabilities) > 1
    assert standard.tools.capabilities.names == code.tools.capabilities.names
    (run_code,) = code.prompt.tools
    assert all(name in run_code for name in code.tools.capabilities.names)
    assert "space_scene_inspect" in built_ins.seen("standard", SCENE).prompt.text
    assert "space_app_run_bash" in built_ins.seen("standard", EVERYTHING).prompt.text


@pytest.mark.slow
def test_every_form_names_every_tool():
    built_ins = BuiltIns()
    tools = built_ins.seen("standard", EVERYTHING).tools.capabilities
    for text in built_ins.forms(tools).values():
        assert all(name in text for name in tools.names)
