"""What each audience sees: one projection while nothing changes, and a revision that rises where a client can tell.

Numbers in square brackets are those of the cases about presentation. Source: tool-presentation, "Consequences".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

import pytest
from structlog.testing import capture_logs

from actors.agent_tools import FIRST_REVISION, AgentToolLists, ToolsNotShownError
from actors.agents import SESSION_ORIGIN, Agents
from actors.published import Published
from presets.agents.definition import AgentDefinition, Trust, UnusableAgent, UnusableAgentError
from presets.agents.roster import Roster, UnknownAgentError
from presets.presentation import RUN_CODE_NAME, Presentation
from presets.scope import Scope
from protocol.session import Audience
from protocol.tool import ToolDefinition
from protocol.tool_list import ToolEntry, ToolList
from tests.actors.fakes import tool

A, B, C = "space_a", "space_b", "space_c"
WHOLE, PART = Audience("whole"), Audience("part")
IDS = ("whole", "part")


def listed(revision: int, *names: str, description: str = "Does it.") -> ToolList:
    entries = {name: ToolEntry.of(replace(tool(name), description=description)) for name in names}
    return ToolList.of(revision, entries)


def roster(*ids: str, broken: Sequence[str] = ()) -> Roster:
    folder = Path("/agents")
    return Roster(
        agents=tuple(AgentDefinition(id=each, path=folder / each, trust=Trust.USER, rows=()) for each in ids),
        unusable=tuple(
            UnusableAgent(id=each, path=folder / each, trust=Trust.USER, reason="row 1 is wrong") for each in broken
        ),
    )


@dataclass
class Engine:
    """The lists of two agents: `whole` has every tool, `part` has A and B."""

    deployment: Scope = field(default_factory=Scope.deployment)
    tools: Published[ToolList] = field(default_factory=lambda: Published(listed(1, A, B, C)))
    agents: Published[Agents] = field(init=False)
    lists: AgentToolLists = field(init=False)
    fault: Exception | None = None
    """What making the tool that runs programs raises."""
    described: bool = True
    """Whether the tool that runs programs names the capabilities."""

    def __post_init__(self) -> None:
        self.whole = self.deployment.child("agent", "whole")
        self.part = self.deployment.child("agent", "part")
        self.part.restrict(allow=[A, B], known=[A, B, C]).__enter__()
        self.agents = Published(Agents())
        self.mount()
        self.lists = AgentToolLists(self.tools, self.agents, self.run_code)

    def mount(self, *, broken: Sequence[str] = ()) -> None:
        views = {name: scope.view() for name, scope in (("whole", self.whole), ("part", self.part))}
        usable = [name for name in views if name not in broken]
        self.agents.publish(
            Agents(roster(*usable, broken=broken), MappingProxyType({name: views[name] for name in usable}), "whole")
        )

    def run_code(self, audience: Audience, capabilities: ToolList) -> ToolEntry:
        if self.fault is not None:
            raise self.fault
        description = f"Runs: {', '.join(capabilities.names)}" if self.described else "Runs."
        made: ToolDefinition = replace(tool(RUN_CODE_NAME), description=description, source=audience.agent)
        return ToolEntry.of(made)

    def names(self, audience: Audience) -> tuple[str, ...]:
        return self.lists.of(audience).offered.names


@pytest.fixture
def engine() -> Engine:
    return Engine()


def test_each_audience_sees_its_own_and_the_same_object_while_nothing_changes(engine: Engine) -> None:
    assert engine.names(WHOLE) == (A, B, C)
    assert engine.names(PART) == (A, B)
    assert engine.lists.of(PART) is engine.lists.of(PART)
    assert engine.lists.revisions() == {WHOLE: FIRST_REVISION, PART: FIRST_REVISION}


def test_a_revision_rises_for_those_alone_who_can_see_the_difference(engine: Engine) -> None:
    for audience in (WHOLE, PART):
        engine.lists.of(audience)
    engine.tools.publish(listed(2, A, B))
    assert engine.lists.revisions() == {WHOLE: FIRST_REVISION + 1, PART: FIRST_REVISION}
    engine.tools.publish(listed(3, A))
    assert engine.lists.revisions() == {WHOLE: FIRST_REVISION + 2, PART: FIRST_REVISION + 1}


def test_what_is_offered_is_asked_of_the_tools_of_this_moment(engine: Engine) -> None:
    engine.lists.of(PART)
    engine.tools.publish(listed(2, B, C))
    assert engine.names(PART) == (B,)


def test_a_session_that_chose_its_form_has_a_list_of_its_own(engine: Engine) -> None:
    code, both, native = (
        replace(PART, presentation=mode.value) for mode in (Presentation.CODE, Presentation.BOTH, Presentation.NATIVE)
    )
    assert engine.names(code) == (RUN_CODE_NAME,)  # [084]
    assert engine.names(both) == (A, B, RUN_CODE_NAME)  # [093]
    assert engine.names(native) == engine.names(PART) == (A, B)  # [198]
    assert engine.lists.of(code).view.mode_origin == SESSION_ORIGIN
    assert engine.lists.of(native).view is engine.lists.of(PART).view


def test_capabilities_are_the_same_in_every_form(engine: Engine) -> None:
    for mode in Presentation:
        assert engine.lists.of(replace(PART, presentation=mode.value)).capabilities.names == (A, B)


def test_programs_are_told_of_by_a_tool_that_names_its_audience(engine: Engine) -> None:
    code = replace(PART, presentation="code")
    entry = engine.lists.of(code).offered.get(RUN_CODE_NAME)
    assert entry is not None
    assert entry.definition.source == "part"
    assert entry.definition.description == f"Runs: {A}, {B}"  # [094]


def test_capabilities_that_change_unseen_do_not_raise_the_revision_of_a_client_of_programs(engine: Engine) -> None:
    engine.described = False
    code = replace(PART, presentation="code")
    engine.lists.of(code)
    engine.tools.publish(listed(2, B))
    assert engine.lists.revision(code) == FIRST_REVISION
    assert engine.lists.of(code).capabilities.names == (B,)
    engine.described = True
    engine.tools.publish(listed(3, A, B))
    assert engine.lists.revision(code) == FIRST_REVISION + 1


def test_mounting_anew_what_is_the_same_raises_nothing(engine: Engine) -> None:
    code = replace(WHOLE, presentation="code")
    before = {audience: engine.lists.of(audience).offered.revision for audience in (WHOLE, PART, code)}
    engine.mount()
    assert engine.lists.revisions() == before


def test_a_scope_that_restricts_more_is_seen_after_the_next_mount_and_its_end_as_well(engine: Engine) -> None:
    engine.lists.of(PART)
    with engine.part.restrict(deny=[A], known=[A, B, C]):
        assert engine.names(PART) == (A, B)
        engine.mount()
        assert engine.names(PART) == (B,)
    engine.mount()
    assert engine.names(PART) == (A, B)  # [096, 099]
    assert engine.lists.revision(PART) == FIRST_REVISION + 2


def test_an_agent_that_cannot_be_used_has_no_list_and_no_revision_until_it_can(engine: Engine) -> None:
    engine.lists.of(PART)
    engine.mount(broken=["part"])
    with pytest.raises(UnusableAgentError, match="row 1 is wrong"):
        engine.lists.of(PART)
    assert engine.lists.revision(PART) is None
    assert engine.lists.revisions() == {PART: None}
    engine.mount()
    assert engine.lists.revision(PART) == FIRST_REVISION


def test_a_bug_in_what_one_audience_would_see_is_an_error_for_that_one_and_ends_nothing(engine: Engine) -> None:
    code = replace(PART, presentation="code")
    engine.lists.of(code)
    engine.fault = LookupError("a schema of which nobody thought")
    engine.tools.publish(listed(2, A))
    with (
        capture_logs() as entries,
        pytest.raises(ToolsNotShownError, match="the tools of agent 'part' cannot be shown"),
    ):
        engine.lists.of(code)
    assert [entry["event"] for entry in entries] == ["tools_not_shown"]
    with capture_logs():
        assert engine.lists.revisions() == {code: None}
    assert engine.names(PART) == (A,)
    engine.fault = None
    assert engine.names(code) == (RUN_CODE_NAME,)
    assert engine.lists.revision(code) == FIRST_REVISION + 1


def test_an_agent_that_does_not_exist_has_none_either(engine: Engine) -> None:
    with pytest.raises(UnknownAgentError):
        engine.lists.of(Audience("nobody"))
    assert engine.lists.revision(Audience("nobody")) is None
    assert engine.lists.revisions() == {}
