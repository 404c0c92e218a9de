"""Tool definitions: what they say, when they are refused, and that they are made once."""

from __future__ import annotations

import pytest

from presets.adapters import ToolAdapterRegistry
from presets.annotations import annotations_of
from presets.builtins import general
from presets.definition import PresetDefinition, Risk
from presets.overrides import NO_OVERRIDES, Overrides
from presets.registry import PresetRegistry
from presets.resolution import Resolution, resolve
from presets.sync_plan import ManagedTools, plan_sync
from presets.tool_definitions import (
    DefinitionCache,
    DuplicateToolNameError,
    UnknownAdapterError,
    tool_definitions,
)
from presets.tool_labels import ToolLabels
from tests.presets.samples import DRAWING, SCENE, adapter, adapters, app, preset

APP = app()


def resolved(*registered: object, **said: str) -> Resolution:
    return resolve(PresetRegistry(registered), SCENE, Overrides(said))  # pyright: ignore[reportArgumentType]


def test_a_definition_says_who_owns_it_and_what_it_was_made_from():
    (made,) = tool_definitions(resolved(preset("p", "drawing.set-tool")), adapters(adapter("drawing.set-tool")), APP)
    assert (made.name, made.owner, made.source) == ("space_drawing_set_tool", "agent-presets", "drawing.set-tool")
    assert made.description == "Does it."
    assert made.input_schema == {"type": "object", "properties": {}}


def test_definitions_come_in_the_order_of_presets_and_not_of_adapters():
    registry = adapters(adapter("a.one"), adapter("b.one"), adapter("b.two"))
    made = tool_definitions(resolved(preset("b", "b.two", "b.one"), preset("a", "a.one")), registry, APP)
    assert [one.source for one in made] == ["b.two", "b.one", "a.one"]


def test_a_tool_without_an_adapter_is_refused_naming_preset_and_tool():
    with pytest.raises(UnknownAdapterError, match=r"preset 'p' lists tool 'ghost\.tool'"):
        tool_definitions(resolved(preset("p", "ghost.tool")), ToolAdapterRegistry(), APP)


def test_two_tools_of_one_mcp_name_are_refused_naming_both():
    registry = adapters(adapter("old", "space_x"), adapter("new", "space_x"))
    with pytest.raises(DuplicateToolNameError) as refused:
        tool_definitions(resolved(preset("p", "old"), preset("q", "new")), registry, APP)
    assert all(word in str(refused.value) for word in ("'old'", "'new'", "'space_x'"))


def test_a_definition_is_the_same_object_while_nothing_about_its_tool_changes():
    registry, cache = adapters(adapter("a"), adapter("b")), DefinitionCache()
    first = tool_definitions(resolved(preset("p", "a"), preset("q", "b")), registry, APP, cache)
    tool_definitions(resolved(preset("q", "b")), registry, APP, cache)
    again = tool_definitions(resolved(preset("p", "a"), preset("q", "b"), p="on"), registry, APP, cache)
    assert [one is other for one, other in zip(first, again, strict=True)] == [True, True]


def test_a_definition_is_made_anew_for_another_adapter_risk_or_app():
    registry, cache = adapters(adapter("a")), DefinitionCache()
    (first,) = tool_definitions(resolved(preset("p", "a")), registry, APP, cache)
    (risky,) = tool_definitions(resolved(preset("p", "a", risk=Risk.SHELL)), registry, APP, cache)
    (elsewhere,) = tool_definitions(resolved(preset("p", "a", risk=Risk.SHELL)), registry, app(), cache)
    registry.unregister("a")
    registry.register(adapter("a"))
    (replaced,) = tool_definitions(resolved(preset("p", "a")), registry, APP, cache)
    assert len({id(one) for one in (first, risky, elsewhere, replaced)}) == 4
    assert len(cache) == 1


def test_a_definition_is_labelled_with_its_preset_group_and_risk():
    registered = (preset("p", "a", group="g", risk=Risk.SHELL), preset("q", "b"))
    made = tool_definitions(resolved(*registered), adapters(adapter("a"), adapter("b")), APP)
    assert [dict(one.labels) for one in made] == [
        {"preset": "p", "group": "g", "risk": "shell"},
        {"preset": "q", "risk": "normal"},
    ]
    assert [ToolLabels.of(one) for one in made] == [ToolLabels("p", "g", Risk.SHELL), ToolLabels("q")]


@pytest.mark.parametrize("changed", [preset("q", "a"), preset("p", "a", group="g"), preset("p", "a", risk=Risk.SHELL)])
def test_a_definition_is_made_anew_and_synced_when_its_labels_change(changed: PresetDefinition):
    registry, cache = adapters(adapter("a")), DefinitionCache()
    first = tool_definitions(resolved(preset("p", "a")), registry, APP, cache)
    second = tool_definitions(resolved(changed), registry, APP, cache)
    plan = plan_sync(ManagedTools(first), second, {first[0].name: first[0].owner})
    assert plan.register == second


def test_other_labels_are_nothing_that_a_client_sees():
    registry, cache = adapters(adapter("a")), DefinitionCache()
    first = tool_definitions(resolved(preset("p", "a")), registry, APP, cache)
    second = tool_definitions(resolved(preset("q", "a", group="g")), registry, APP, cache)
    assert not plan_sync(ManagedTools(first), second, {first[0].name: first[0].owner}).visible


def test_the_cache_does_not_outgrow_the_adapters():
    registry, cache = ToolAdapterRegistry(), DefinitionCache()
    for number in range(20):
        registry.register(adapter(f"a.{number}"))
        tool_definitions(resolved(preset("p", f"a.{number}")), registry, APP, cache)
        registry.unregister(f"a.{number}")
    tool_definitions(resolve(PresetRegistry(), DRAWING, NO_OVERRIDES), registry, APP, cache)
    assert len(cache) == 0


@pytest.mark.parametrize(
    ("risk", "read_only", "hints"),
    [
        # read only, destructive, idempotent, open world
        (Risk.NORMAL, False, (False, False, False, False)),
        (Risk.NORMAL, True, (True, False, True, False)),
        (Risk.FILESYSTEM_READ, True, (True, False, True, False)),
        (Risk.FILESYSTEM_WRITE, False, (False, True, False, False)),
        (Risk.DESTRUCTIVE, False, (False, True, False, False)),
        (Risk.DESTRUCTIVE, True, (True, False, True, False)),
        (Risk.SHELL, False, (False, True, False, True)),
    ],
)
def test_risk_and_adapter_become_hints_for_clients(risk: Risk, read_only: bool, hints: tuple[bool, ...]):
    made = annotations_of(adapter("a", read_only=read_only), risk)
    assert (made.read_only_hint, made.destructive_hint, made.idempotent_hint, made.open_world_hint) == hints


@pytest.mark.parametrize(("risk", "destroys"), [(Risk.DESTRUCTIVE, False), (Risk.NORMAL, True)])
def test_a_tool_may_know_better_than_its_risk_whether_it_destroys(risk: Risk, destroys: bool):
    assert annotations_of(adapter("a", destroys=destroys), risk).destructive_hint is destroys
    assert annotations_of(adapter("a", destroys=destroys, read_only=True), risk).destructive_hint is False


def test_making_a_world_and_going_to_one_lose_nothing_and_deleting_one_does():
    worlds = {each.mcp_name: annotations_of(each, Risk.DESTRUCTIVE).destructive_hint for each in general.adapters()}
    assert {name for name, destroys in worlds.items() if "_world" in name and destroys} == {"space_app_delete_world"}


def test_a_tool_that_writes_may_say_that_it_can_be_repeated():
    assert annotations_of(adapter("a", idempotent=True), Risk.NORMAL).idempotent_hint is True


def test_hints_keep_the_spelling_of_mcp_on_the_wire():
    said = annotations_of(adapter("a"), Risk.NORMAL).model_dump(by_alias=True, exclude_none=True)
    assert set(said) == {"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"}
