"""Scopes: who declares, what holds where, and that leaving takes back exactly what entering wrote."""

from __future__ import annotations

from contextlib import ExitStack

import pytest

from presets.definition import Risk
from presets.presentation import Presentation
from presets.scope import InvalidDeclarationError, Scope, ScopeConflictError
from presets.scope_view import ScopeView, deny_reason
from tests.presets.scope_samples import NAMES

NATIVE, CODE, BOTH = Presentation.NATIVE, Presentation.CODE, Presentation.BOTH


class Listener:
    """Counts its calls, and fails on request."""

    def __init__(self) -> None:
        self.calls = 0
        self.fails = False

    def __call__(self) -> None:
        self.calls += 1
        if self.fails:
            raise RuntimeError("the listener failed")


def test_a_scope_that_declares_nothing_has_the_deployments_default():
    for default in Presentation:
        deployment = Scope.deployment(default)
        agent = deployment.child("agent", "standard")
        assert (agent.mode, agent.child("session", "1").mode, deployment.mode) == (default, default, default)
        assert agent.mode_source == "the deployment's default (--presentation)"


def test_the_nearest_declaration_wins_and_says_who_made_it():
    agent = Scope.deployment().child("agent", "code")
    session = agent.child("session", "1")
    with agent.present_as(CODE, by='composition.yml, row 4 "tool-presentation"'):
        assert (session.mode, session.mode_source) == (
            CODE,
            "agent 'code' (composition.yml, row 4 \"tool-presentation\")",
        )
        with session.present_as(NATIVE):
            assert (session.mode, agent.mode) == (NATIVE, CODE)
            assert session.mode_source == "session '1'"
        assert session.mode is CODE
    assert session.mode is NATIVE


def test_what_one_agent_declares_no_other_agent_sees():
    deployment = Scope.deployment()
    one, other = deployment.child("agent", "one"), deployment.child("agent", "other")
    with one.present_as(CODE), one.restrict(deny=["space_draw"], known=NAMES):
        assert (other.mode, other.view(), deployment.view()) == (NATIVE, ScopeView(), ScopeView())


def test_a_second_presentation_in_one_scope_is_refused_naming_the_first():
    agent = Scope.deployment().child("agent", "x")
    early = agent.present_as(BOTH)
    with agent.present_as(CODE, by="row 1"):
        with pytest.raises(ScopeConflictError, match=r"'both' conflicts with 'code', which agent 'x' \(row 1\)"):
            agent.present_as(BOTH)
        with pytest.raises(ScopeConflictError, match="'both' conflicts with 'code'"):
            early.__enter__()
    with agent.present_as(BOTH):
        assert agent.mode is BOTH


def test_the_deployment_declares_no_presentation_since_that_is_an_option():
    deployment = Scope.deployment()
    with pytest.raises(ScopeConflictError, match=r"agent's or a session's scope is needed.* --presentation code"):
        deployment.present_as(CODE)
    assert deployment.mode is NATIVE


def test_a_word_that_is_no_presentation_or_risk_is_refused():
    agent = Scope.deployment().child("agent", "x")
    with pytest.raises(InvalidDeclarationError, match="'ptc' is none of native, code, both"):
        agent.present_as("ptc")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidDeclarationError, match="'huge' is none of normal, "):
        agent.risk_ceiling("huge")  # pyright: ignore[reportArgumentType]


def test_declarations_may_be_left_in_any_order_and_twice():
    agent = Scope.deployment().child("agent", "x")
    mode, first, second = agent.present_as(CODE), agent.risk_ceiling(Risk.NORMAL), agent.risk_ceiling(Risk.NORMAL)
    for one in (mode, first, second):
        one.__enter__()
    first.undo()
    first.undo()
    assert (len(agent.view().filters), agent.mode) == (1, CODE)
    mode.undo()
    with agent.present_as(BOTH):
        mode.undo()
        assert agent.mode is BOTH
    second.undo()
    assert agent.view() == ScopeView()


def test_a_declaration_is_entered_once():
    agent = Scope.deployment().child("agent", "x")
    declaration = agent.present_as(CODE)
    with declaration, pytest.raises(ScopeConflictError, match="entered twice"):
        declaration.__enter__()
    with pytest.raises(ScopeConflictError, match="entered twice"):
        declaration.__enter__()
    assert (agent.mode, declaration.holds) == (NATIVE, False)


def test_what_raises_in_the_body_unwinds_the_declaration_and_comes_out():
    agent = Scope.deployment().child("agent", "x")
    with pytest.raises(KeyError, match="body"), agent.present_as(CODE):
        raise KeyError("body")
    assert agent.mode is NATIVE


def test_a_declaration_that_is_never_entered_changes_nothing():
    agent = Scope.deployment().child("agent", "x")
    agent.present_as(CODE)
    agent.risk_ceiling(Risk.NORMAL)
    assert agent.view() == ScopeView()


def test_an_exit_stack_takes_everything_back():
    agent = Scope.deployment().child("agent", "x")
    with ExitStack() as stack:
        stack.enter_context(agent.present_as(CODE))
        stack.enter_context(agent.restrict(allow=["space_draw"], known=NAMES))
        assert agent.view() != ScopeView()
    assert agent.view() == ScopeView()


# What a restriction may say


def test_a_restriction_that_says_nothing_is_refused():
    agent = Scope.deployment().child("agent", "x")
    for deny in (None, []):
        with pytest.raises(InvalidDeclarationError, match="needs 'allow' or 'deny'; this one does nothing"):
            agent.restrict(deny=deny, known=NAMES)


def test_a_restriction_that_allows_nothing_is_one():
    agent = Scope.deployment().child("agent", "x")
    with agent.restrict(allow=[], known=NAMES):
        assert len(agent.view().filters) == 1


def test_an_unknown_tool_is_refused_with_close_names():
    agent = Scope.deployment().child("agent", "x")
    with pytest.raises(InvalidDeclarationError, match=r"unknown tools: 'space_drow'\. Did you mean 'space_draw'"):
        agent.restrict(deny=["space_drow", "space_draw"], known=NAMES)
    with pytest.raises(InvalidDeclarationError, match=r"Known are: space_bash, space_draw, "):
        agent.restrict(allow=["zzz"], known=NAMES)


def test_where_no_tool_is_known_the_refusal_says_so():
    agent = Scope.deployment().child("agent", "x")
    with pytest.raises(InvalidDeclarationError, match=r"Known are: \(none\)\."):
        agent.restrict(allow=["space_draw"], known=())


@pytest.mark.parametrize("name", ["space_run_code", "run_code", "Space_Run-Code"])
def test_a_restriction_cannot_name_the_tool_that_runs_programs(name: str):
    agent = Scope.deployment().child("agent", "x")
    for lists in ({"allow": [name]}, {"deny": [name]}):
        with pytest.raises(InvalidDeclarationError, match="follows from the presentation"):
            agent.restrict(**lists, known=[*NAMES, name])  # pyright: ignore[reportArgumentType]


def test_later_changes_of_the_callers_list_change_nothing():
    agent = Scope.deployment().child("agent", "x")
    deny = ["space_draw"]
    with agent.restrict(deny=deny, known=NAMES):
        before = agent.view()
        deny.append("space_bash")
        assert agent.view() == before


def test_a_text_in_the_place_of_a_list_is_refused():
    agent = Scope.deployment().child("agent", "x")
    with pytest.raises(InvalidDeclarationError, match="'allow' is a list of tools, not the text 'space_draw'"):
        agent.restrict(allow="space_draw", known=NAMES)


def test_groups_and_presets_are_checked_where_the_known_ones_are_given():
    agent = Scope.deployment().child("agent", "x")
    with pytest.raises(InvalidDeclarationError, match=r"unknown groups: 'drawin'\. Did you mean 'drawing'\?"):
        agent.restrict_groups(allow=["drawin", "none"], known=["drawing"])
    with pytest.raises(InvalidDeclarationError, match="unknown presets: 'ghost'"):
        agent.restrict_presets(deny=["ghost"], known=["shapes"])
    with agent.restrict_groups(allow=["later"]), agent.restrict_presets(deny=["later"]):
        assert agent.view().groups == {"later"}


def test_the_lowest_ceiling_and_the_common_groups_are_what_a_view_shows():
    agent = Scope.deployment().child("agent", "x")
    session = agent.child("session", "1")
    assert (session.view().ceiling, session.view().groups) == (None, None)
    with agent.risk_ceiling(Risk.DESTRUCTIVE), session.risk_ceiling(Risk.SHELL):
        assert session.view().ceiling is Risk.DESTRUCTIVE
    with agent.restrict_groups(allow=["a", "b", "c"]), session.restrict_groups(allow=["b", "c", "d"], deny=["c"]):
        assert session.view().groups == {"b"}


# Views


def test_a_view_is_a_snapshot():
    agent = Scope.deployment().child("agent", "x")
    with agent.present_as(CODE):
        taken = agent.view()
    assert (taken.mode, agent.view().mode) == (CODE, NATIVE)


def test_a_view_is_the_same_object_while_nothing_on_its_chain_changes():
    deployment = Scope.deployment()
    agent, other = deployment.child("agent", "x"), deployment.child("agent", "y")
    with agent.present_as(CODE):
        taken = agent.view()
        with other.present_as(BOTH):
            assert agent.view() is taken
        assert agent.view() is taken


def test_sessions_that_declare_nothing_share_the_view_of_their_agent():
    agent = Scope.deployment().child("agent", "x")
    one, other = agent.child("session", "1"), agent.child("session", "2")
    with agent.present_as(CODE):
        assert one.view() is other.view() is agent.view()


def test_equal_views_are_one_key():
    agent = Scope.deployment().child("agent", "x")
    views: list[ScopeView] = []
    for _ in range(2):
        with agent.risk_ceiling(Risk.NORMAL), agent.restrict(deny=["space_draw"], known=NAMES):
            views.append(agent.view())
    assert len(set(views)) == 1


# Guards


def test_the_first_guard_that_objects_speaks_and_the_farthest_is_asked_first():
    deployment = Scope.deployment()
    agent = deployment.child("agent", "x")
    asked: list[str] = []

    def guard(name: str, answer: str | None):
        def check(tool: str, arguments: object) -> str | None:
            asked.append(name)
            return answer

        return check

    with agent.guard(guard("agent", "not today")), deployment.guard(guard("deployment", None)):
        view = agent.child("session", "1").view()
        assert deny_reason(view, "space_draw", {}) == "not today"
        assert asked == ["deployment", "agent"]
        assert deny_reason(deployment.view(), "space_draw", {}) is None
    assert deny_reason(agent.view(), "space_draw", {}) is None


def test_the_same_guard_twice_is_two_guards():
    agent = Scope.deployment().child("agent", "x")

    def check(tool: str, arguments: object) -> str:
        return "no"

    first, second = agent.guard(check), agent.guard(check)
    with second:
        with first:
            pass
        assert deny_reason(agent.view(), "space_draw", {}) == "no"
    assert deny_reason(agent.view(), "space_draw", {}) is None


def test_an_empty_reason_denies_too():
    agent = Scope.deployment().child("agent", "x")
    with agent.guard(lambda tool, arguments: ""):
        assert deny_reason(agent.view(), "space_draw", {}) == ""


def test_a_guard_gets_arguments_that_it_cannot_change():
    agent = Scope.deployment().child("agent", "x")
    arguments = {"style": {"width": 1}, "points": [{"x": 1}]}
    faults: list[type[Exception]] = []

    def check(tool: str, given: object) -> None:
        for spoil in (
            lambda: given["new"],  # pyright: ignore[reportIndexIssue]
            lambda: given["style"].update(width=2),  # pyright: ignore[reportIndexIssue]
            lambda: given["points"].append(1),  # pyright: ignore[reportIndexIssue]
            lambda: given["points"][0].update(x=2),  # pyright: ignore[reportIndexIssue]
        ):
            try:
                spoil()
            except (AttributeError, KeyError) as error:
                faults.append(type(error))

    with agent.guard(check):
        assert deny_reason(agent.view(), "space_draw", arguments) is None
    assert faults == [KeyError, AttributeError, AttributeError, AttributeError]
    assert arguments == {"style": {"width": 1}, "points": [{"x": 1}]}


def test_deep_arguments_reach_a_guard_whole():
    deep: dict[str, object] = {}
    for _ in range(5000):
        deep = {"in": [deep]}
    depths: list[int] = []

    def check(tool: str, given: object) -> None:
        depth = 0
        while given:
            given, depth = given["in"][0], depth + 1  # pyright: ignore[reportIndexIssue]
        depths.append(depth)

    agent = Scope.deployment().child("agent", "x")
    with agent.guard(check):
        deny_reason(agent.view(), "space_draw", deep)
    assert depths == [5000]


def test_a_guard_that_fails_keeps_the_call_from_running():
    agent = Scope.deployment().child("agent", "x")

    def check(tool: str, arguments: object) -> None:
        raise ZeroDivisionError

    with agent.guard(check), pytest.raises(ZeroDivisionError):
        deny_reason(agent.view(), "space_draw", {})


def test_a_guard_that_is_declared_by_a_guard_acts_from_the_next_view_on():
    agent = Scope.deployment().child("agent", "x")
    later = agent.guard(lambda tool, arguments: "now")

    def check(tool: str, arguments: object) -> None:
        if not later.holds:
            later.__enter__()

    with agent.guard(check):
        assert deny_reason(agent.view(), "space_draw", {}) is None
        assert deny_reason(agent.view(), "space_draw", {}) == "now"


# The listener


def test_the_listener_hears_of_each_write_and_each_undo_with_the_change_in_place():
    modes: list[Presentation] = []
    deployment = Scope.deployment(on_change=lambda: modes.append(session.mode))
    agent = deployment.child("agent", "x")
    session = agent.child("session", "1")
    declaration = agent.present_as(CODE)
    assert modes == []
    with declaration:
        assert modes == [CODE]
    declaration.undo()
    assert modes == [CODE, NATIVE]


def test_a_listener_that_fails_rolls_the_write_back_and_is_told_of_that():
    seen: list[Presentation] = []

    def listener() -> None:
        seen.append(agent.mode)
        if len(seen) == 1:
            raise RuntimeError("the listener failed")

    agent = Scope.deployment(on_change=listener).child("agent", "x")
    declaration = agent.present_as(CODE)
    with pytest.raises(RuntimeError, match="the listener failed"), declaration:
        raise AssertionError("the body must not run")
    assert (seen, agent.mode, declaration.holds) == ([CODE, NATIVE], NATIVE, False)
    with agent.present_as(BOTH):
        assert agent.mode is BOTH


def test_a_listener_that_fails_does_not_hold_up_an_undo():
    listener = Listener()
    agent = Scope.deployment(on_change=listener).child("agent", "x")
    declaration = agent.present_as(CODE).__enter__()
    listener.fails = True
    with pytest.raises(RuntimeError):
        declaration.undo()
    assert agent.mode is NATIVE
    declaration.undo()


# Closing


def test_closing_takes_everything_back_tells_it_once_and_refuses_further_use():
    listener = Listener()
    deployment = Scope.deployment(on_change=listener)
    agent = deployment.child("agent", "x")
    session = agent.child("session", "1")
    declarations = [agent.present_as(CODE), agent.risk_ceiling(Risk.NORMAL), session.present_as(BOTH)]
    for one in declarations:
        one.__enter__()
    listener.calls = 0
    agent.close()
    agent.close()
    assert (listener.calls, agent.closed, session.closed) == (1, True, True)
    for use in (
        lambda: agent.present_as(CODE),
        lambda: agent.restrict(deny=["space_draw"], known=NAMES),
        lambda: agent.guard(lambda tool, arguments: None),
        lambda: agent.child("session", "2"),
        lambda: session.risk_ceiling(Risk.SHELL),
        agent.view,
        lambda: session.mode,
    ):
        with pytest.raises(ScopeConflictError, match=r"the scope of (agent 'x'|session '1') is closed"):
            use()
    for one in declarations:
        one.undo()
        assert not one.holds
    assert (listener.calls, deployment.view()) == (1, ScopeView())


def test_closing_what_declared_nothing_tells_nobody():
    listener = Listener()
    Scope.deployment(on_change=listener).child("agent", "x").close()
    assert listener.calls == 0


def test_a_declaration_made_before_the_closing_cannot_come_into_force_after_it():
    agent = Scope.deployment().child("agent", "x")
    declaration = agent.present_as(CODE)
    agent.close()
    with pytest.raises(ScopeConflictError, match="is closed"):
        declaration.__enter__()


def test_closing_a_session_leaves_its_agent_and_its_siblings_alone():
    agent = Scope.deployment().child("agent", "x")
    sibling = agent.child("session", "2")
    session = agent.child("session", "1")
    with agent.present_as(CODE), session, session.present_as(BOTH), sibling.risk_ceiling(Risk.NORMAL):
        session.close()
        assert (sibling.mode, sibling.view().ceiling) == (CODE, Risk.NORMAL)


def test_a_listener_that_fails_does_not_hold_up_a_closing():
    listener = Listener()
    agent = Scope.deployment(on_change=listener).child("agent", "x")
    agent.present_as(CODE).__enter__()
    listener.fails = True
    with pytest.raises(RuntimeError):
        agent.close()
    assert agent.closed


def test_a_chain_reads_from_the_nearest_to_the_deployment():
    deployment = Scope.deployment()
    agent = deployment.child("agent", "x")
    session = agent.child("session", "1")
    assert session.chain == (session, agent, deployment)
    assert repr(session) == "<Scope session '1' < agent 'x' < the deployment>"
