"""What one agent sees of resources and prompts: the filters of its scope, and a body that knows who asks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from presets.definition import Risk
from presets.item_projection import (
    project_prompts,
    project_resources,
    prompts_look_alike,
    resources_look_alike,
)
from presets.prompt_adapters import OfferedPrompt
from presets.scope import Declaration, Scope
from presets.tool_labels import ToolLabels
from protocol.prompt_list import PromptList, PromptRegistry
from protocol.resource_list import ResourceList, ResourceRegistry
from protocol.session import Audience
from tests.presets.item_samples import AnsweringCall, prompt, resource
from tests.presets.samples import app

GENERAL, DRAWING = ToolLabels("looking", "general"), ToolLabels("pictures", "drawing", Risk.DESTRUCTIVE)
SELF = Audience("own")


def resources() -> ResourceList:
    registry = ResourceRegistry()
    made = (
        resource("a.general", "test://general").make(app(), GENERAL, "us"),
        resource("a.drawing", "test://drawing").make(app(), DRAWING, "us"),
        resource("a.many", "test://many/{id}").make(app(), DRAWING, "us"),
    )
    return registry.apply(additions=made)


def prompts() -> PromptList:
    made: tuple[OfferedPrompt, ...] = (
        prompt("p.general", "general").make(app(), GENERAL, "us"),
        prompt("p.drawing", "drawing").make(app(), DRAWING, "us"),
    )
    return PromptRegistry().apply(additions=made)


@pytest.mark.parametrize(
    "declare",
    [
        lambda scope: scope.restrict_groups(deny=["drawing"]),
        lambda scope: scope.restrict_presets(allow=["looking"]),
        lambda scope: scope.risk_ceiling(Risk.NORMAL),
    ],
)
def test_a_preset_that_is_kept_from_an_agent_is_kept_in_every_form(declare: Callable[[Scope], Declaration]) -> None:
    with Scope.deployment().child("agent", "own") as scope, declare(scope):
        seen = project_resources(resources(), scope.view(), SELF, 7)
        spoken = project_prompts(prompts(), scope.view(), SELF, 8)
    assert (seen.uris, seen.template_texts, seen.revision) == (("test://general",), (), 7)
    assert (spoken.names, spoken.revision) == (("general",), 8)


def test_lists_of_tools_keep_no_resource_from_anybody() -> None:
    with ExitStack() as stack:
        scope = stack.enter_context(Scope.deployment().child("agent", "own"))
        stack.enter_context(scope.restrict(allow=["space_a"], known=["space_a"]))
        seen = project_resources(resources(), scope.view(), SELF, 1)
        assert resources_look_alike(seen, resources())
        assert prompts_look_alike(project_prompts(prompts(), scope.view(), SELF, 1), prompts())


async def test_what_an_agent_sees_knows_who_asks() -> None:
    view = Scope.deployment().view()
    seen = project_resources(resources(), view, SELF, 1)
    read = seen.prepare("test://many/7")
    assert read is not None
    outcome = await read.read(read.uri, read.values, AnsweringCall())
    assert getattr(outcome.contents[0], "text", "") == "a.many for own: {'id': '7'}"
    spoken = project_prompts(prompts(), view, SELF, 1).get("general")
    assert spoken is not None
    said = (await spoken.run({}, AnsweringCall())).messages[0].content
    assert getattr(said, "text", "") == "p.general for own"
