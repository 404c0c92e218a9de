"""Resolution: what is active in which context, and that it says the same each time."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from presets.context import ContextSnapshot, FactValue
from presets.definition import DefaultState, OverrideState, PresetDefinition, Risk
from presets.overrides import NO_OVERRIDES, Overrides
from presets.registry import PresetRegistry
from presets.resolution import DuplicateToolError, PromptFragment, Reason, Resolution, resolve
from tests.presets.samples import ANYWHERE, DRAWING, EXAMPLES, GRAPH, IN_DRAWING, SCENE, preset


def active(registry: PresetRegistry, context: ContextSnapshot, **said: str) -> list[tuple[str, str]]:
    resolution = resolve(registry, context, Overrides(said))
    return [(one.name, one.reason.value) for one in resolution.active_presets]


@pytest.mark.parametrize(
    ("contexts", "context", "is_active"),
    [
        ([IN_DRAWING], DRAWING, True),
        ([IN_DRAWING], SCENE, False),
        ([ANYWHERE], SCENE, True),
        ([ANYWHERE], GRAPH, True),
        ([{"surface": "scene"}], SCENE.patched({"activity": "drawing"}), True),
        ([{"surface": "scene", "activity": "none"}], SCENE.patched({"activity": "drawing"}), False),
        ([{"surface": "scene", "activity": "none"}], SCENE, True),
        ([IN_DRAWING, {"surface": "scene"}], DRAWING, True),
        ([IN_DRAWING, {"surface": "scene"}], SCENE, True),
        ([IN_DRAWING, {"surface": "scene"}], GRAPH, False),
        ([IN_DRAWING, {"surface": "canvas"}, ANYWHERE], DRAWING, True),
        ([{"repos_available": True}], DRAWING, False),
        ([{"repos_available": True}], DRAWING.patched({"repos_available": True}), True),
        ([{"repos_available": True}], DRAWING.patched({"repos_available": 1}), False),
    ],
)
def test_an_auto_preset_is_active_where_a_pattern_fits(
    contexts: list[Mapping[str, FactValue]], context: ContextSnapshot, is_active: bool
):
    registry = PresetRegistry([preset("p", contexts=contexts)])
    assert active(registry, context) == ([("p", "context")] if is_active else [])


def test_a_preset_that_is_off_by_default_never_turns_itself_on():
    registry = PresetRegistry([preset("p", default_state=DefaultState.OFF)])
    assert active(registry, SCENE) == []


def test_on_turns_a_preset_on_in_every_context():
    registry = PresetRegistry([preset("p", contexts=[IN_DRAWING], default_state=DefaultState.OFF)])
    assert active(registry, DRAWING, p="on") == [("p", "override")]
    assert active(registry, SCENE, p="on") == [("p", "override")]


def test_on_is_the_reason_even_where_the_context_fits():
    assert active(PresetRegistry([preset("p")]), SCENE, p="on") == [("p", "override")]


def test_off_turns_a_preset_off_though_the_context_fits():
    assert active(PresetRegistry([preset("p")]), SCENE, p="off") == []


def test_an_orphaned_override_has_no_effect_until_its_preset_comes_back():
    registry = PresetRegistry([preset("p"), preset("q")])
    said = Overrides({"p": "off"})
    gone = registry.unregister("p")
    assert [one.name for one in resolve(registry, SCENE, said).active_presets] == ["q"]
    registry.register(gone)
    assert [one.name for one in resolve(registry, SCENE, said).active_presets] == ["q"]


def test_tool_ids_and_prompts_come_in_order_of_registration():
    registry = PresetRegistry(
        [preset("b", "b.2", "b.1", system_prompt="B"), preset("x"), preset("a", system_prompt="")]
    )
    resolution = resolve(registry, SCENE, NO_OVERRIDES)
    assert resolution.tool_ids == ("b.2", "b.1", "x.tool", "a.tool")
    assert resolution.prompt_fragments == (PromptFragment("b", "B"), PromptFragment("a", ""))


def test_the_json_has_the_shape_of_the_document():
    registry = PresetRegistry([preset("p", group="g", risk=Risk.SHELL, system_prompt="Hi")])
    assert resolve(registry, SCENE, NO_OVERRIDES).to_json() == {
        "active_presets": [{"name": "p", "reason": "context", "risk": "shell", "group": "g"}],
        "tool_ids": ["p.tool"],
        "prompt_fragments": [{"preset": "p", "prompt": "Hi"}],
    }


def test_a_tool_that_two_active_presets_list_is_refused_naming_both():
    registry = PresetRegistry([preset("p", "shared"), preset("q", "own", "shared")])
    with pytest.raises(DuplicateToolError) as refused:
        resolve(registry, SCENE, NO_OVERRIDES)
    assert all(word in str(refused.value) for word in ("'p'", "'q'", "'shared'"))


def test_a_tool_that_two_presets_list_is_fine_while_one_is_active():
    registry = PresetRegistry([preset("p", "shared"), preset("q", "shared", contexts=[IN_DRAWING])])
    assert resolve(registry, SCENE, NO_OVERRIDES).tool_ids == ("shared",)
    assert resolve(registry, DRAWING, Overrides({"p": "off"})).tool_ids == ("shared",)


def test_a_preset_that_lists_a_tool_twice_is_refused_when_it_is_active():
    registry = PresetRegistry([preset("p", "same", "same", default_state=DefaultState.OFF)])
    assert resolve(registry, SCENE, NO_OVERRIDES).tool_ids == ()
    with pytest.raises(DuplicateToolError, match="'p' lists tool 'same' twice"):
        resolve(registry, SCENE, Overrides({"p": "on"}))


def test_a_changed_fact_that_alters_nothing_is_no_change():
    registry = PresetRegistry([preset("p", contexts=[IN_DRAWING])])
    before = resolve(registry, DRAWING, NO_OVERRIDES)
    after = resolve(registry, DRAWING.patched({"world_id": "other", "zoom": 3}), NO_OVERRIDES)
    assert after.signature == before.signature


@pytest.mark.parametrize(
    ("context", "said"),
    [(DRAWING, {}), (SCENE, {"p": "on"}), (SCENE, {"p": "off"}), (SCENE, {"gone": "on"})],
)
def test_presets_reasons_and_overrides_count_as_a_change(context: ContextSnapshot, said: dict[str, str]):
    registry = PresetRegistry([preset("p", contexts=[IN_DRAWING])])
    before = resolve(registry, SCENE, NO_OVERRIDES)
    assert resolve(registry, context, Overrides(said)).signature != before.signature


@pytest.mark.parametrize(
    "other", [preset("p", "p.other"), preset("p", system_prompt="Hi"), preset("p", system_prompt="")]
)
def test_tools_and_prompts_count_as_a_change(other: PresetDefinition):
    before = resolve(PresetRegistry([preset("p")]), SCENE, NO_OVERRIDES)
    assert resolve(PresetRegistry([other]), SCENE, NO_OVERRIDES).signature != before.signature


def test_risk_and_group_do_not_count_as_a_change():
    before = resolve(PresetRegistry([preset("p")]), SCENE, NO_OVERRIDES)
    other = resolve(PresetRegistry([preset("p", group="g", risk=Risk.SHELL)]), SCENE, NO_OVERRIDES)
    assert other.signature == before.signature


FACTS: st.SearchStrategy[FactValue] = st.sampled_from(["canvas", "scene", "any", True, False, 1, 0, 1.0])
FIELDS = ["surface", "activity", "canvas_visible", "zoom", "kind"]
WORDS = st.sampled_from(["canvas", "scene", "drawing", "any", "none"])


def pattern_value(field: str) -> st.SearchStrategy[FactValue]:
    return WORDS if field in {"surface", "activity"} else WORDS | FACTS


PATTERNS = st.fixed_dictionaries({}, optional={field: pattern_value(field) for field in FIELDS})
CONTEXTS = st.builds(
    ContextSnapshot.model_validate,
    st.fixed_dictionaries(
        {"surface": st.sampled_from(["canvas", "scene", "any", "none"]), "canvas_visible": st.booleans()},
        optional={"activity": st.sampled_from(["drawing", "canvas"]), "zoom": FACTS, "kind": FACTS},
    ),
)
PRESETS = st.lists(
    st.builds(
        preset,
        st.sampled_from("abcdefgh"),
        contexts=st.lists(PATTERNS, min_size=1, max_size=3),
        default_state=st.sampled_from(DefaultState),
        risk=st.sampled_from(Risk),
        system_prompt=st.none() | st.sampled_from(["", "Hi"]),
    ),
    unique_by=lambda one: one.name,
)
OVERRIDES = st.builds(Overrides, st.dictionaries(st.sampled_from("abcdefghxyz"), st.sampled_from(OverrideState)))


def reference(
    presets: list[PresetDefinition], context: ContextSnapshot, overrides: Overrides
) -> list[tuple[str, Reason]]:
    """The document's rules written down as they stand there: every preset, every pattern, every field."""
    facts = context.facts()
    found: list[tuple[str, Reason]] = []
    for one in presets:
        state = overrides.get(one.name)
        if state is OverrideState.ON:
            found.append((one.name, Reason.OVERRIDE))
        elif state is None and one.default_state is DefaultState.AUTO and any(fits(p, facts) for p in one.contexts):
            found.append((one.name, Reason.CONTEXT))
    return found


def fits(pattern: Mapping[str, FactValue], facts: Mapping[str, FactValue]) -> bool:
    for field, wanted in pattern.items():
        if wanted == "any":
            continue
        if wanted == "none":
            if field in facts:
                return False
        elif field not in facts or facts[field] != wanted or isinstance(facts[field], bool) != isinstance(wanted, bool):
            return False
    return True


@EXAMPLES
@given(presets=PRESETS, context=CONTEXTS, overrides=OVERRIDES)
def test_resolution_says_what_the_rules_say(
    presets: list[PresetDefinition], context: ContextSnapshot, overrides: Overrides
):
    resolution = resolve(PresetRegistry(presets), context, overrides)
    expected = reference(presets, context, overrides)
    by_name = {one.name: one for one in presets}
    assert [(one.name, one.reason) for one in resolution.active_presets] == expected
    assert resolution.tool_ids == tuple(tool for name, _ in expected for tool in by_name[name].tool_ids)
    prompts = [(name, by_name[name].system_prompt) for name, _ in expected]
    assert [(part.preset, part.prompt) for part in resolution.prompt_fragments] == [
        p for p in prompts if p[1] is not None
    ]


@EXAMPLES
@given(presets=PRESETS, context=CONTEXTS, overrides=OVERRIDES)
def test_the_same_input_gives_the_same_bytes(
    presets: list[PresetDefinition], context: ContextSnapshot, overrides: Overrides
):
    first = resolve(PresetRegistry(presets), context, overrides)
    detour = PresetRegistry(presets)
    for one in presets:
        detour.unregister(one.name)
    for one in presets:
        detour.register(one)
    second = resolve(detour, context, Overrides(dict(reversed(list(overrides.items())))))
    assert printed(first) == printed(second)
    assert first.signature == second.signature


def printed(resolution: Resolution) -> bytes:
    return json.dumps(resolution.to_json()).encode("utf-8")
