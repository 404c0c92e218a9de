"""From a resolution to resources and prompts: their labels, their reuse, what is refused, and what is planned."""

from __future__ import annotations

import pytest

from presets.adapter_registry import AdapterRegistry
from presets.definition import PresetDefinition, Risk
from presets.item_definitions import (
    SPARE_DEFINITIONS,
    DuplicateItemNameError,
    ItemCaches,
    prompt_definitions,
    resource_definitions,
)
from presets.item_plan import plan_items
from presets.overrides import NO_OVERRIDES
from presets.prompt_adapters import OfferedPrompt, PromptAdapter, prompt_adapters
from presets.registry import PresetRegistry
from presets.resolution import DuplicateIdError, Resolution, resolve
from presets.resource_adapters import ResourceAdapter, resource_adapters
from presets.sync_plan import SyncOwnershipError
from presets.tool_definitions import MANAGED_OWNER, UnknownAdapterError
from tests.presets.item_samples import AnsweringCall, item_preset, prompt, resource
from tests.presets.samples import DRAWING, IN_DRAWING, SCENE, app

APP = app()


def resolved(*presets: PresetDefinition) -> Resolution:
    return resolve(PresetRegistry(presets), DRAWING, NO_OVERRIDES)


def registered_resources(*adapters: ResourceAdapter) -> AdapterRegistry[ResourceAdapter]:
    registry = resource_adapters()
    for adapter in adapters:
        registry.register(adapter)
    return registry


def registered_prompts(*adapters: PromptAdapter) -> AdapterRegistry[PromptAdapter]:
    registry = prompt_adapters()
    for adapter in adapters:
        registry.register(adapter)
    return registry


def prompts_of(resolution: Resolution, *adapters: PromptAdapter, caches: ItemCaches | None = None):
    return prompt_definitions(resolution, registered_prompts(*adapters), APP, caches or ItemCaches.empty())


def test_resources_and_prompts_follow_the_context_with_their_preset() -> None:
    registry = PresetRegistry(
        (
            item_preset("here", resources=("a.here",), prompts=("p.here",), contexts=(IN_DRAWING,)),  # pyright: ignore[reportArgumentType]
            item_preset("anywhere", resources=("a.any",)),
        )
    )
    drawing, scene = (resolve(registry, context, NO_OVERRIDES) for context in (DRAWING, SCENE))
    assert [item.item_id for item in drawing.resources] == ["a.here", "a.any"]
    assert [item.item_id for item in drawing.prompts] == ["p.here"]
    assert [item.item_id for item in scene.resources] == ["a.any"]
    assert scene.prompts == ()
    assert drawing.signature != scene.signature


@pytest.mark.parametrize("kind", ["resources", "prompts"])
def test_an_id_that_two_active_presets_list_is_refused_with_both(kind: str) -> None:
    both = [item_preset(name, **{kind: ("a.b",)}) for name in ("one", "two")]  # pyright: ignore[reportArgumentType]
    with pytest.raises(DuplicateIdError, match=rf"presets 'one' and 'two' .* list {kind[:-1]} 'a\.b'"):
        resolved(*both)
    with pytest.raises(DuplicateIdError, match="twice"):
        resolved(item_preset("one", **{kind: ("a.b", "a.b")}))  # pyright: ignore[reportArgumentType]


def test_a_definition_has_the_labels_of_its_preset() -> None:
    resolution = resolved(item_preset("p", resources=("a.b",), group="g", risk=Risk.SHELL))
    (made,) = resource_definitions(resolution, registered_resources(resource("a.b")), APP, ItemCaches.empty())
    assert (made.owner, made.source) == (MANAGED_OWNER, "a.b")
    assert (made.labels.preset, made.labels.group, made.labels.risk) == ("p", "g", Risk.SHELL)


def test_a_definition_stays_the_same_object_until_something_about_it_changes() -> None:
    caches, registry = ItemCaches.empty(), registered_resources(resource("a.b"))
    plain, risky = (item_preset("p", resources=("a.b",), risk=risk) for risk in (Risk.NORMAL, Risk.SHELL))
    (first,) = resource_definitions(resolved(plain), registry, APP, caches)
    (again,) = resource_definitions(resolved(plain, item_preset("q", prompts=("x",))), registry, APP, caches)
    (other,) = resource_definitions(resolved(risky), registry, APP, caches)
    assert again is first
    assert other is not first


def test_an_id_without_an_adapter_and_a_uri_that_two_have_are_refused() -> None:
    with pytest.raises(UnknownAdapterError, match=r"preset 'p' lists resource 'a\.ghost', which has no adapter"):
        resource_definitions(
            resolved(item_preset("p", resources=("a.ghost",))), registered_resources(), APP, ItemCaches.empty()
        )
    same = registered_resources(resource("a.one", "test://same"), resource("a.two", "test://same"))
    with pytest.raises(DuplicateItemNameError, match=r"'a\.one' and 'a\.two' would both be offered as 'test://same'"):
        resource_definitions(resolved(item_preset("p", resources=("a.one", "a.two"))), same, APP, ItemCaches.empty())


async def test_each_active_preset_that_says_something_is_a_prompt_of_its_own() -> None:
    presets = (
        item_preset("silent", prompts=("p.own",)),
        item_preset("empty", prompts=("p.more",), system_prompt=" "),
        item_preset("speaking", resources=("a.b",), system_prompt="Draw well.", group="g"),
    )
    made = prompts_of(resolved(*presets), prompt("p.own", "own"), prompt("p.more", "more"))
    assert [one.name for one in made] == ["own", "more", "space_preset_speaking"]
    outcome = await made[-1].run({}, AnsweringCall())
    assert [message.content.type for message in outcome.messages] == ["text"]
    assert getattr(outcome.messages[0].content, "text", "") == "Draw well."
    assert made[-1].labels.group == "g"


def test_the_prompt_of_a_preset_is_made_once_for_each_text_and_old_ones_are_forgotten() -> None:
    caches = ItemCaches.empty()
    (first,) = prompts_of(resolved(item_preset("p", resources=("a",), system_prompt="One.")), caches=caches)
    (again,) = prompts_of(resolved(item_preset("p", resources=("a",), system_prompt="One.")), caches=caches)
    (other,) = prompts_of(resolved(item_preset("p", resources=("a",), system_prompt="Two.")), caches=caches)
    assert again is first
    assert other is not first
    for number in range(SPARE_DEFINITIONS + 2):
        prompts_of(resolved(item_preset(f"p{number}", resources=("a",), system_prompt="x")), caches=caches)
    assert len(caches.prompts) <= SPARE_DEFINITIONS + 1


def test_a_plan_registers_what_is_new_or_other_and_takes_away_what_is_ours_alone() -> None:
    def of(*names: str) -> dict[str, OfferedPrompt]:
        resolution = resolved(item_preset("p", prompts=[f"p.{name}" for name in names]))
        made = prompts_of(resolution, *(prompt(f"p.{name}", name) for name in names))
        return {one.name: one for one in made}

    before = of("kept", "gone", "lost")
    wanted = (before["kept"], *of("new").values())
    owners = {"kept": MANAGED_OWNER, "gone": MANAGED_OWNER, "lost": "somebody"}
    plan = plan_items("prompt", before, wanted, owners)
    assert [one.name for one in plan.register] == ["new"]
    assert plan.unregister == ("gone",)
    assert set(plan.managed) == {"kept", "new"}
    assert plan_items("prompt", plan.managed, wanted, {"kept": MANAGED_OWNER, "new": MANAGED_OWNER}).empty
    with pytest.raises(SyncOwnershipError, match="'somebody' has registered one of that name"):
        plan_items("prompt", before, (before["lost"],), owners)
