"""Mounting: the rows of an agent take hold of its scope, all of them or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from presets.agents.composition import InvalidCompositionError, parse_composition
from presets.agents.definition import AgentDefinition, Trust, UnusableAgentError
from presets.agents.mounting import KnownCapabilities, check_agent, mount, unusable_without_runtime
from presets.agents.rows import PROMPT_BLOCKS
from presets.agents.yaml_file import parse_yaml
from presets.definition import Risk
from presets.presentation import Presentation
from presets.projection import project
from presets.scope import Scope
from presets.scope_view import ScopeView
from tests.presets.scope_samples import NAMES, TOOLS, run_code

KNOWN = KnownCapabilities(tools=NAMES, presets=("shapes", "shell"), groups=("drawing", "general"))


def agent(composition: str, agent_id: str = "x") -> AgentDefinition:
    rows = parse_composition(parse_yaml(composition))
    return AgentDefinition(id=agent_id, path=Path("agents") / agent_id, trust=Trust.USER, rows=rows)


def test_each_row_declares_what_it_says_and_all_of_it_is_taken_back():
    scope = Scope.deployment().child("agent", "x")
    definition = agent(
        "- {row: preset-groups, groups: [drawing, general]}\n- {row: presets, deny: [shapes]}\n"
        "- {row: restrict, deny: [space_read]}\n- {row: risk-ceiling, risk: destructive}\n"
        "- {row: tool-presentation, mode: both}\n- {row: prompt-blocks, blocks: [tools]}"
    )
    with mount(definition, scope, known=KNOWN):
        tools = project(TOOLS, scope.view(), run_code, 1)
        assert (tools.capabilities.names, tools.mode) == (("space_erase",), Presentation.BOTH)
        assert scope.mode_source == "agent 'x' (composition.yml, row 5 \"tool-presentation\")"
        assert scope.view().ceiling is Risk.DESTRUCTIVE
        assert 'row 3 "restrict"' in (tools.why_hidden("space_read") or "")
    assert scope.view() == ScopeView()


def test_all_groups_without_exception_restrict_nothing():
    scope = Scope.deployment().child("agent", "x")
    with mount(agent("- {row: preset-groups, groups: all}"), scope, known=KNOWN):
        assert scope.view() == ScopeView()


def test_a_disabled_row_declares_nothing_and_still_counts():
    scope = Scope.deployment().child("agent", "x")
    definition = agent(
        "- {row: risk-ceiling, risk: normal, disabled: true}\n- {row: tool-presentation, mode: code, id: form}"
    )
    with mount(definition, scope, known=KNOWN):
        assert scope.view().filters == ()
        assert scope.mode_source == "agent 'x' (composition.yml, row 2 \"tool-presentation\", id 'form')"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        (
            "{row: restrict, allow: [space_drow]}",
            "row 2 \"restrict\": unknown tools: 'space_drow'. Did you mean 'space_draw'",
        ),
        ("{row: presets, allow: [shape]}", "row 2 \"presets\": unknown presets: 'shape'. Did you mean 'shapes'"),
        ("{row: preset-groups, groups: all, except: [drawin]}", "row 2 \"preset-groups\": unknown groups: 'drawin'"),
    ],
)
def test_a_row_that_names_what_does_not_exist_undoes_the_others_and_is_named(row: str, reason: str):
    heard: list[ScopeView] = []
    deployment = Scope.deployment(on_change=lambda: heard.append(scope.view()))
    scope = deployment.child("agent", "x")
    with pytest.raises(UnusableAgentError) as refused:
        mount(agent(f"- {{row: risk-ceiling, risk: normal}}\n- {row}"), scope, known=KNOWN)
    unusable = refused.value.unusable
    assert (unusable.row, unusable.path) == (2, Path("agents/x/composition.yml"))
    assert reason in unusable.reason
    assert (scope.view(), heard[-1]) == (ScopeView(), ScopeView())


def test_a_scope_that_already_presents_takes_no_second_presentation():
    scope = Scope.deployment().child("agent", "x")
    with (
        scope.present_as(Presentation.NATIVE),
        pytest.raises(UnusableAgentError, match=r"composition\.yml: row 1 .*'code' conflicts with 'native'"),
    ):
        mount(agent("- {row: tool-presentation, mode: code}"), scope, known=KNOWN)


def test_a_listener_that_fails_leaves_nothing_mounted():
    def listener() -> None:
        if len(scope.view().filters) == 2:
            raise RuntimeError("the listener failed")

    scope = Scope.deployment(on_change=listener).child("agent", "x")
    with pytest.raises(RuntimeError, match="the listener failed"):
        mount(agent("- {row: risk-ceiling, risk: normal}\n- {row: risk-ceiling, risk: shell}"), scope, known=KNOWN)
    assert scope.view() == ScopeView()


def test_the_group_of_units_may_be_named_before_there_are_any():
    assert check_agent(agent("- {row: preset-groups, groups: all, except: [units]}"), known=KNOWN) is None


def test_presets_and_groups_are_not_checked_where_they_are_not_known():
    known = KnownCapabilities(tools=NAMES)
    assert check_agent(agent("- {row: presets, deny: [x]}\n- {row: preset-groups, groups: [y]}"), known=known) is None


# The code runtime


@pytest.mark.parametrize("mode", ["code", "both"])
def test_an_agent_that_presents_programs_without_a_runtime_is_unusable_and_names_the_row(mode: str):
    definition = agent(f"- {{row: risk-ceiling, risk: shell}}\n- {{row: tool-presentation, mode: {mode}}}", "mine")
    scope = Scope.deployment().child("agent", "mine")
    with pytest.raises(UnusableAgentError) as refused:
        mount(definition, scope, known=KNOWN, no_runtime_because="Deno cannot be started")
    unusable = refused.value.unusable
    assert unusable.reason == (
        f'presentation "{mode}" of agent "mine" (composition.yml, row 2 "tool-presentation") needs the code runtime: '
        "Deno cannot be started"
    )
    assert unusable.row == 2
    assert scope.view() == ScopeView()
    assert check_agent(definition, known=KNOWN, no_runtime_because="Deno cannot be started") == unusable
    assert check_agent(definition, known=KNOWN) is None


def test_a_native_agent_needs_no_runtime_even_where_the_default_is_code():
    definition = agent("- {row: tool-presentation, mode: native}")
    assert check_agent(definition, known=KNOWN, no_runtime_because="none", default=Presentation.CODE) is None


def test_an_agent_that_leaves_the_choice_to_the_deployment_names_the_option():
    definition = agent("[]", "mine")
    unusable = check_agent(definition, known=KNOWN, no_runtime_because="none", default=Presentation.CODE)
    assert unusable is not None
    assert unusable == unusable_without_runtime(definition, "none", Presentation.CODE)
    assert unusable.row is None
    assert unusable.reason == (
        'presentation "code" of agent "mine" (the deployment\'s default, --presentation) needs the code runtime: none'
    )
    assert check_agent(definition, known=KNOWN, no_runtime_because="none") is None


# What a definition says of its rows


def test_an_agent_has_every_prompt_block_unless_a_row_chooses():
    assert agent("[]").prompt_blocks == PROMPT_BLOCKS
    assert agent("- {row: prompt-blocks, blocks: [world, tools]}").prompt_blocks == ("world", "tools")
    assert agent("- {row: prompt-blocks, blocks: [world], disabled: true}").prompt_blocks == PROMPT_BLOCKS


def test_an_agent_chooses_a_presentation_only_by_an_enabled_row():
    assert agent("- {row: tool-presentation, mode: code}").presentation is Presentation.CODE
    assert agent("- {row: tool-presentation, mode: code, disabled: true}").presentation is None


def test_the_pair_that_finds_tools_is_a_row_of_its_own_and_may_stand_once():
    scope = Scope.deployment().child("agent", "x")
    with mount(agent("- {row: tool-finder}"), scope, known=KNOWN):
        assert scope.view() == ScopeView(tool_finder=True)
        assert scope.child("session", "s").view().tool_finder
    assert scope.view() == ScopeView()
    with pytest.raises(InvalidCompositionError, match="row 1 is a 'tool-finder' already"):
        agent("- {row: tool-finder}\n- {row: tool-finder}")
    with mount(agent("- {row: tool-finder, disabled: true}"), scope, known=KNOWN):
        assert not scope.view().tool_finder
