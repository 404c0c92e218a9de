"""Projections: what an agent may do is the same in every mode, and list, prompt and executor agree on the rest."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from presets.definition import Risk
from presets.presentation import RUN_CODE_NAME, Presentation
from presets.projection import (
    AgentTools,
    Hidden,
    MayCall,
    NoCodeRuntimeError,
    RouteThroughProgram,
    Unknown,
    capabilities_of,
    member_access,
    project,
    reproject,
)
from presets.scope import Scope
from presets.scope_view import ScopeView
from protocol.tool import ToolDefinition
from protocol.tool_list import ToolEntry, ToolList
from tests.presets.samples import tool
from tests.presets.scope_samples import NAMES, RUN_CODE, TOOLS, labelled, listed, run_code

NATIVE, CODE, BOTH = Presentation.NATIVE, Presentation.CODE, Presentation.BOTH
OFFERED = {NATIVE: NAMES, CODE: (RUN_CODE_NAME,), BOTH: tuple(sorted((*NAMES, RUN_CODE_NAME)))}


def shown(mode: Presentation, tools: ToolList = TOOLS) -> AgentTools:
    """What an agent without restrictions sees in that mode."""
    return project(tools, ScopeView(mode=mode), run_code, 1)


@pytest.mark.parametrize("mode", Presentation)
def test_the_mode_decides_what_is_offered_and_never_what_the_agent_may_do(mode: Presentation):
    tools = shown(mode)
    assert tools.capabilities.names == NAMES
    assert tools.offered.names == OFFERED[mode]
    assert (tools.mode, tools.programs_only) == (mode, mode is CODE)


@pytest.mark.parametrize("mode", Presentation)
def test_what_is_offered_may_be_called_and_nothing_else(mode: Presentation):
    tools = shown(mode)
    for name in (*NAMES, RUN_CODE_NAME, "space_ghost"):
        assert isinstance(tools.decide_call(name), MayCall) == (tools.offered.get(name) is not None)


@pytest.mark.parametrize("mode", Presentation)
def test_a_program_reaches_every_capability_and_never_the_tool_that_runs_it(mode: Presentation):
    tools = shown(mode)
    assert all(tools.decide_call(name, from_program=True) == MayCall(entry_of(name)) for name in NAMES)
    assert tools.decide_call(RUN_CODE_NAME, from_program=True) == Unknown(RUN_CODE_NAME)


def test_a_native_agent_does_not_find_run_code_by_name_either():
    beside = shown(CODE)
    tools = shown(NATIVE)
    assert beside.decide_call(RUN_CODE_NAME) == MayCall(RUN_CODE)
    assert tools.offered.get(RUN_CODE_NAME) is None
    assert tools.capabilities.get(RUN_CODE_NAME) is None
    assert tools.decide_call(RUN_CODE_NAME) == Unknown(RUN_CODE_NAME)
    assert tools.why_hidden(RUN_CODE_NAME) is None


def test_a_direct_call_under_code_is_told_the_way_through_a_program():
    decision = shown(CODE).decide_call("space_draw")
    assert isinstance(decision, RouteThroughProgram)
    assert decision.text == (
        "only `space_run_code` is callable directly — call `space_draw` from inside a program: "
        "`await tools.space_draw({...})`"
    )


def test_a_name_that_is_no_identifier_is_written_in_brackets():
    assert member_access("space_a.b-c") == 'tools["space_a.b-c"]'
    assert member_access("space_a") == "tools.space_a"


def test_both_routes_are_open_under_both():
    tools = shown(BOTH)
    assert tools.decide_call("space_draw") == MayCall(entry_of("space_draw"))
    assert tools.decide_call("space_draw", from_program=True) == MayCall(entry_of("space_draw"))


def test_entries_are_kept_and_lists_have_the_revision_that_they_were_given():
    tools = project(TOOLS, ScopeView(mode=BOTH), run_code, 41)
    assert all(tools.offered.get(name) is TOOLS.get(name) for name in NAMES)
    assert (tools.offered.revision, tools.capabilities.revision) == (41, 41)


# Restrictions


def test_a_restriction_holds_in_every_mode_and_for_programs_too():
    agent = Scope.deployment().child("agent", "x")
    for mode, offered in (
        (NATIVE, ("space_draw",)),
        (CODE, (RUN_CODE_NAME,)),
        (BOTH, ("space_draw", RUN_CODE_NAME)),
    ):
        with agent.present_as(mode), agent.restrict(allow=["space_draw"], known=NAMES):
            tools = project(TOOLS, agent.view(), run_code, 1)
            assert (tools.capabilities.names, tools.offered.names) == (("space_draw",), offered)
            for from_program in (False, True):
                assert isinstance(tools.decide_call("space_bash", from_program=from_program), Hidden)
        assert project(TOOLS, agent.view(), run_code, 1).capabilities.names == NAMES


def test_restrictions_intersect_and_are_lifted_one_by_one():
    agent = Scope.deployment().child("agent", "x")
    allow = agent.restrict(allow=["space_draw", "space_erase"], known=NAMES).__enter__()
    with agent.restrict(deny=["space_erase"], known=NAMES):
        assert names_of(agent) == ("space_draw",)
        allow.undo()
        assert names_of(agent) == tuple(name for name in NAMES if name != "space_erase")


def test_a_parents_restriction_reaches_those_below_it():
    deployment = Scope.deployment()
    session = deployment.child("agent", "x").child("session", "1")
    with deployment.restrict(deny=["space_bash"], known=NAMES):
        assert "space_bash" not in names_of(session)
        assert names_of(session) == names_of(deployment)


def test_tools_that_come_later_pass_a_denial_and_not_a_list_of_allowed_ones():
    agent = Scope.deployment().child("agent", "x")
    more = listed(*(entry.definition for entry in TOOLS), labelled("space_later", "later", "general"))
    with agent.restrict(deny=["space_draw"], known=NAMES):
        assert "space_later" in capabilities_of(more, agent.view(), 1).names
    with agent.restrict(allow=["space_draw"], known=NAMES):
        assert "space_later" not in capabilities_of(more, agent.view(), 1).names


def test_groups_presets_and_risk_filter_by_what_offers_a_tool():
    agent = Scope.deployment().child("agent", "x")
    with agent.restrict_groups(allow=["drawing"]):
        assert names_of(agent) == ("space_draw", "space_erase")
    with agent.restrict_groups(allow=["drawing", "none"], deny=["drawing"]):
        assert names_of(agent) == ("space_foreign", "space_own")
    with agent.restrict_presets(deny=["shell", "none"]):
        assert names_of(agent) == ("space_draw", "space_erase", "space_own", "space_read")
    with agent.risk_ceiling(Risk.FILESYSTEM_READ):
        assert names_of(agent) == ("space_draw", "space_foreign", "space_own", "space_read")


def test_a_risk_that_nobody_knows_counts_as_the_highest():
    odd = tool("space_odd")
    tools = listed(replaced(odd, {"risk": "cosmic"}))
    agent = Scope.deployment().child("agent", "x")
    with agent.risk_ceiling(Risk.DESTRUCTIVE):
        assert capabilities_of(tools, agent.view(), 1).names == ()
    with agent.risk_ceiling(Risk.SHELL):
        assert capabilities_of(tools, agent.view(), 1).names == ("space_odd",)


def test_a_hidden_tool_says_which_scope_hides_it_by_what_and_why():
    deployment = Scope.deployment()
    agent = deployment.child("agent", "minimal")
    session = agent.child("session", "7")
    with (
        deployment.restrict_groups(allow=["drawing"], by="the option"),
        agent.risk_ceiling(Risk.NORMAL, by='composition.yml, row 1 "risk-ceiling"'),
        session.restrict(deny=["space_draw"], known=NAMES),
    ):
        tools = project(TOOLS, session.view(), run_code, 1)
    assert tools.why_hidden("space_draw") == "Tool 'space_draw' is hidden by session '7': it is denied there."
    assert tools.why_hidden("space_erase") == (
        "Tool 'space_erase' is hidden by agent 'minimal' (composition.yml, row 1 \"risk-ceiling\"): its risk is "
        "'destructive', and the highest that is allowed there is 'normal'."
    )
    assert tools.why_hidden("space_own") == (
        "Tool 'space_own' is hidden by the deployment (the option): it is in no group, which is not among the groups "
        "that are allowed there: drawing."
    )
    assert tools.decide_call("space_erase") == Hidden("space_erase", tools.why_hidden("space_erase") or "")
    assert tools.decide_call("space_ghost") == Unknown("space_ghost")


def test_a_list_of_allowed_tools_is_not_repeated_at_length():
    tools = listed(*(tool(f"space_{number:03}") for number in range(40)), tool("space_other"))
    agent = Scope.deployment().child("agent", "x")
    with agent.restrict(allow=[name for name in tools.names if name != "space_other"], known=tools.names):
        said = project(tools, agent.view(), None, 1).why_hidden("space_other") or ""
    assert said.endswith("space_000, space_001, space_002, space_003, space_004, space_005 and 34 more.")


def test_a_hidden_tool_under_code_gets_its_reason_and_no_route():
    agent = Scope.deployment().child("agent", "x")
    with agent.present_as(CODE), agent.restrict(deny=["space_bash"], known=NAMES):
        assert isinstance(project(TOOLS, agent.view(), run_code, 1).decide_call("space_bash"), Hidden)


# The tool that runs programs


@pytest.mark.parametrize("mode", [CODE, BOTH])
def test_without_a_runtime_the_error_quotes_the_scopes_mode_and_who_chose_it(mode: Presentation):
    agent = Scope.deployment().child("agent", "x")
    with (
        agent.present_as(mode, by='composition.yml, row 4 "tool-presentation"'),
        pytest.raises(NoCodeRuntimeError) as refused,
    ):
        project(TOOLS, agent.view(), None, 1)
    assert str(refused.value) == (
        f"presentation '{mode.value}', chosen by agent 'x' (composition.yml, row 4 \"tool-presentation\"), needs the "
        "code runtime, and this deployment has none"
    )


def test_without_a_runtime_the_default_is_quoted_as_the_deployments():
    with pytest.raises(NoCodeRuntimeError, match=r"'code', chosen by the deployment's default \(--presentation\)"):
        project(TOOLS, Scope.deployment(CODE).child("agent", "x").view(), None, 1)


def test_a_native_agent_needs_no_runtime():
    assert project(TOOLS, ScopeView(), None, 1).offered.names == NAMES


def test_the_tool_that_runs_programs_is_made_for_the_capabilities():
    agent = Scope.deployment().child("agent", "x")
    asked: list[tuple[str, ...]] = []

    def make(capabilities: ToolList) -> ToolEntry:
        asked.append(capabilities.names)
        return RUN_CODE

    with agent.present_as(CODE), agent.restrict(allow=["space_draw"], known=NAMES):
        project(TOOLS, agent.view(), make, 1)
    assert asked == [("space_draw",)]


def test_a_tool_of_another_name_cannot_run_the_programs():
    with pytest.raises(ValueError, match="'space_run_code', not 'space_else'"):
        project(TOOLS, ScopeView(mode=CODE), lambda capabilities: ToolEntry.of(tool("space_else")), 1)


def test_an_impostor_that_a_careless_registry_let_in_is_no_capability():
    tools = listed(tool(RUN_CODE_NAME, "impostor"), tool("space_draw"))
    assert shown(NATIVE, tools).offered.names == ("space_draw",)
    assert shown(BOTH, tools).offered.get(RUN_CODE_NAME) is RUN_CODE


# After a change


def test_the_revision_rises_only_when_a_client_can_see_a_difference():
    before = project(TOOLS, ScopeView(), run_code, 3)
    agent = Scope.deployment().child("agent", "x")
    with agent.risk_ceiling(Risk.SHELL):
        assert reproject(before, TOOLS, agent.view(), run_code).offered.revision == 3
    with agent.risk_ceiling(Risk.NORMAL):
        after = reproject(before, TOOLS, agent.view(), run_code)
    assert (after.offered.revision, after.looks_like(before)) == (4, False)
    assert reproject(after, TOOLS, ScopeView(mode=CODE), run_code).offered.revision == 5


def test_under_code_other_capabilities_are_no_difference_to_a_list_of_one():
    before = shown(CODE)
    after = reproject(before, listed(tool("space_draw")), before.view, run_code)
    assert (after.offered.revision, after.capabilities.names) == (1, ("space_draw",))


def test_nothing_is_projected_anew_where_nothing_has_changed():
    before = shown(NATIVE)
    assert reproject(before, TOOLS, ScopeView(), run_code) is before


def test_labels_never_reach_the_wire():
    plain = listed(*(replaced(entry.definition, {}) for entry in TOOLS))
    wire = shown(NATIVE).offered.wire("2025-11-25")
    assert wire == shown(NATIVE, plain).offered.wire("2025-11-25")
    assert {member for one in json.loads(wire) for member in one} == {"name", "description", "inputSchema"}


def entry_of(name: str) -> ToolEntry:
    entry = TOOLS.get(name)
    assert entry is not None
    return entry


def names_of(scope: Scope) -> tuple[str, ...]:
    return project(TOOLS, scope.view(), run_code, 1).capabilities.names


def replaced(definition: ToolDefinition, labels: dict[str, str]) -> ToolDefinition:
    return replace(definition, labels=labels)
