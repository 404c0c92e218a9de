"""What each audience is offered beside its tools: projections that are kept, and a revision for each list."""

from __future__ import annotations

from types import MappingProxyType
from typing import cast

import pytest

from actors.agent_offers import AgentOffers
from actors.agent_tools import FIRST_REVISION, AgentToolLists
from actors.agents import Agents
from actors.published import Published
from presets.agents.roster import UnknownAgentError
from presets.app import App
from presets.scope import Scope
from presets.tool_labels import ToolLabels
from protocol.offer import Offer
from protocol.prompt_list import PromptRegistry
from protocol.resource_list import ResourceRegistry
from protocol.session import Audience
from protocol.subscription import ListKind
from protocol.tool_list import ToolEntry, ToolList
from tests.actors.fakes import tool
from tests.presets.item_samples import prompt, resource

WHOLE, PART = Audience("whole"), Audience("part")
APP = cast("App", object())
GENERAL, DRAWING = ToolLabels("looking", "general"), ToolLabels("pictures", "drawing")


class Engine:
    """Two agents: `part` has nothing of the group `drawing`."""

    def __init__(self) -> None:
        self.resources, self.prompts = ResourceRegistry(), PromptRegistry()
        self.tools = Published(ToolList.of(1, {"space_a": ToolEntry.of(tool("space_a"))}))
        self.published_resources = Published(self.resources.snapshot())
        self.published_prompts = Published(self.prompts.snapshot())
        deployment = Scope.deployment()
        whole, part = deployment.child("agent", "whole"), deployment.child("agent", "part")
        part.restrict_groups(deny=["drawing"]).__enter__()
        self.agents = Published(Agents(views=MappingProxyType({"whole": whole.view(), "part": part.view()})))
        lists = AgentToolLists(self.tools, self.agents, lambda _, __: ToolEntry.of(tool("space_run_code")))
        self.offers = AgentOffers(lists, self.published_resources, self.published_prompts)

    def add_resource(self, name: str, labels: ToolLabels) -> None:
        made = resource(f"a.{name}", f"test://{name}").make(APP, labels, "us")
        self.published_resources.publish(self.resources.apply(additions=(made,)))

    def add_prompt(self, name: str, labels: ToolLabels) -> None:
        made = prompt(f"p.{name}", name).make(APP, labels, "us")
        self.published_prompts.publish(self.prompts.apply(additions=(made,)))


@pytest.fixture
def engine() -> Engine:
    made = Engine()
    for name, labels in (("general", GENERAL), ("drawing", DRAWING)):
        made.add_resource(name, labels)
        made.add_prompt(name, labels)
    return made


def test_each_audience_is_offered_what_its_scope_lets_through(engine: Engine) -> None:
    whole, part = engine.offers.of(WHOLE), engine.offers.of(PART)
    assert whole.resources.uris == ("test://drawing", "test://general")
    assert (part.resources.uris, part.prompts.names) == (("test://general",), ("general",))
    offer = part.offer
    assert isinstance(offer, Offer)
    assert (offer.tools, offer.resources, offer.prompts) == (part.tools.offered, part.resources, part.prompts)
    assert offer.completions


def test_lists_stay_the_same_objects_while_nothing_changes(engine: Engine) -> None:
    assert engine.offers.of(PART).resources is engine.offers.of(PART).resources
    assert engine.offers.resources_of(PART) is engine.offers.of(PART).resources
    assert engine.offers.prompts_of(PART) is engine.offers.of(PART).prompts


def test_each_list_has_its_own_revision_which_rises_for_those_who_can_tell(engine: Engine) -> None:
    for audience in (WHOLE, PART):
        engine.offers.of(audience)
    engine.add_resource("more", DRAWING)
    same = {ListKind.TOOLS: FIRST_REVISION, ListKind.PROMPTS: FIRST_REVISION}
    assert engine.offers.revisions() == {
        WHOLE: {**same, ListKind.RESOURCES: FIRST_REVISION + 1},
        PART: {**same, ListKind.RESOURCES: FIRST_REVISION},
    }
    engine.add_prompt("more", GENERAL)
    assert engine.offers.revisions()[PART][ListKind.PROMPTS] == FIRST_REVISION + 1


def test_an_audience_whose_agent_is_gone_sees_nothing_and_says_so(engine: Engine) -> None:
    engine.offers.of(PART)
    engine.agents.publish(Agents())
    nothing = {ListKind.TOOLS: None, ListKind.RESOURCES: None, ListKind.PROMPTS: None}
    assert engine.offers.revisions() == {PART: nothing}
    with pytest.raises(UnknownAgentError):
        engine.offers.of(PART)
    with pytest.raises(UnknownAgentError):
        engine.offers.resources_of(PART)
