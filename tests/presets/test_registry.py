"""The preset registry: names, order, groups, listeners, and edits that can be taken back exactly."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import ConflictError, EngineError
from presets.definition import DefaultState
from presets.overrides import NO_OVERRIDES
from presets.registry import (
    DuplicatePresetError,
    PresetRegistry,
    Register,
    RegistryEdit,
    UnknownPresetError,
    Unregister,
)
from presets.resolution import resolve
from tests.presets.samples import DRAWING, EXAMPLES, IN_DRAWING, SCENE, preset


class Listener:
    """Counts how often it was called, and does what it is told then."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> None:
        self.calls += 1


def names(registry: PresetRegistry) -> list[str]:
    return [one.name for one in registry.list()]


def test_a_fresh_registry_is_empty():
    registry = PresetRegistry()
    assert registry.status().preset_count == 0
    assert registry.list() == ()


def test_what_was_registered_is_listed_as_it_was():
    registry = PresetRegistry()
    registry.register(preset("a", "a.one", "a.two", system_prompt="Hello"))
    assert registry.list() == (preset("a", "a.one", "a.two", system_prompt="Hello"),)
    assert registry.get("a") is registry.list()[0]


def test_a_name_that_is_taken_is_refused_naming_it():
    registry = PresetRegistry([preset("dup", "first")])
    with pytest.raises(DuplicatePresetError, match="'dup'"):
        registry.register(preset("dup", "second"))
    assert registry.require("dup").tool_ids == ("first",)
    assert registry.status().change_count == 1


def test_an_unknown_name_gives_nothing():
    assert PresetRegistry().get("ghost") is None


def test_unregistering_an_unknown_name_is_refused_with_close_names():
    registry = PresetRegistry([preset("drawing-shape-tools")])
    with pytest.raises(
        UnknownPresetError, match=r"no preset 'drawing-shape-tool'\. Did you mean 'drawing-shape-tools'"
    ):
        registry.unregister("drawing-shape-tool")


def test_the_order_of_registration_is_the_order_everywhere():
    registry = PresetRegistry([preset("c"), preset("a"), preset("b")])
    assert names(registry) == ["c", "a", "b"]
    assert list(registry) == ["c", "a", "b"]
    assert [one.name for one in resolve(registry, SCENE, NO_OVERRIDES).active_presets] == ["c", "a", "b"]


def test_a_group_lists_its_presets_and_an_unknown_group_none():
    registry = PresetRegistry([preset("a", group="x"), preset("b", group="x"), preset("c", group="y"), preset("d")])
    assert [one.name for one in registry.list_by_group("x")] == ["a", "b"]
    assert [one.name for one in registry.list_by_group("y")] == ["c"]
    assert registry.list_by_group("z") == ()


def test_a_preset_that_comes_back_goes_to_the_end():
    registry = PresetRegistry([preset("a"), preset("b")])
    registry.register(registry.unregister("a"))
    assert names(registry) == ["b", "a"]


def test_a_listener_hears_of_registering_and_unregistering():
    registry = PresetRegistry()
    listener = Listener()
    assert registry.add_on_change(listener) is listener
    registry.register(preset("a"))
    registry.unregister("a")
    assert listener.calls == 2
    assert registry.status().change_count == 2


def test_a_removed_listener_hears_nothing_and_every_copy_of_it_is_gone():
    registry = PresetRegistry()
    listener = Listener()
    registry.add_on_change(listener)
    registry.add_on_change(listener)
    registry.remove_on_change(listener)
    registry.register(preset("a"))
    assert listener.calls == 0
    assert registry.status().listener_count == 0


def test_a_listener_may_remove_itself_while_it_is_called():
    registry = PresetRegistry()
    later = Listener()

    def once() -> None:
        registry.remove_on_change(once)

    registry.add_on_change(once)
    registry.add_on_change(later)
    registry.register(preset("a"))
    assert later.calls == 1


def test_a_listener_that_is_added_while_listeners_run_hears_the_next_change():
    registry = PresetRegistry()
    late = Listener()
    registry.add_on_change(lambda: registry.add_on_change(late) and None)
    registry.register(preset("a"))
    assert late.calls == 0
    registry.register(preset("b"))
    assert late.calls == 1


def test_a_refused_change_calls_nobody():
    registry = PresetRegistry([preset("a")])
    listener = Listener()
    registry.add_on_change(listener)
    with pytest.raises(DuplicatePresetError):
        registry.register(preset("a"))
    assert listener.calls == 0


def test_presets_are_found_by_tool():
    registry = PresetRegistry([preset("a", "shared", "own"), preset("b", "shared")])
    assert [one.name for one in registry.with_tool("shared")] == ["a", "b"]
    registry.unregister("a")
    assert [one.name for one in registry.with_tool("shared")] == ["b"]
    assert registry.with_tool("own") == ()
    assert set(registry.tool_ids()) == {"shared"}


def test_a_batch_is_one_change_for_listeners_and_can_be_taken_back():
    registry = PresetRegistry([preset("a"), preset("b"), preset("c")])
    listener = Listener()
    registry.add_on_change(listener)
    inverse = registry.edit([Unregister("b"), Register(preset("d")), Unregister("a")])
    assert names(registry) == ["c", "d"]
    assert listener.calls == 1
    registry.edit(inverse)
    assert names(registry) == ["a", "b", "c"]


def test_a_batch_that_fails_half_way_changes_nothing():
    registry = PresetRegistry([preset("a"), preset("b")])
    listener = Listener()
    registry.add_on_change(listener)
    with pytest.raises(UnknownPresetError):
        registry.edit([Unregister("a"), Register(preset("c")), Unregister("ghost")])
    assert names(registry) == ["a", "b"]
    assert (listener.calls, registry.status().change_count) == (0, 2)


@pytest.mark.parametrize("position", [0, 7, -1])
def test_a_position_that_nobody_freed_is_refused(position: int):
    registry = PresetRegistry([preset("a")])
    with pytest.raises(ConflictError, match="position"):
        registry.edit([Register(preset("b"), position)])
    assert names(registry) == ["a"]


def test_an_empty_batch_calls_nobody():
    registry = PresetRegistry()
    listener = Listener()
    registry.add_on_change(listener)
    assert registry.edit([]) == ()
    assert listener.calls == 0


def test_a_trial_that_fails_leaves_no_trace():
    registry = PresetRegistry([preset("a"), preset("b")])
    listener = Listener()
    registry.add_on_change(listener)
    before = (registry.list(), registry.status())
    with pytest.raises(UnknownPresetError), registry.trial([Unregister("a"), Register(preset("c"))]):
        registry.require("a")
    assert (registry.list(), registry.status()) == before
    assert listener.calls == 0


def test_a_trial_that_ends_well_is_kept_and_told_at_its_end():
    registry = PresetRegistry()
    listener = Listener()
    registry.add_on_change(listener)
    with registry.trial([Register(preset("a")), Register(preset("b"))]):
        assert listener.calls == 0
    assert listener.calls == 1
    assert registry.status().change_count == 2


def test_a_preset_whose_patterns_say_the_same_can_be_taken_away():
    twice = preset("a", contexts=[IN_DRAWING, {"activity": "drawing", "surface": "canvas"}, {"surface": "canvas"}])
    registry = PresetRegistry([twice])
    registry.unregister("a")
    assert list(registry.matching(DRAWING.facts())) == []


def test_presets_that_went_away_cost_nothing():
    registry = PresetRegistry([preset(f"p{number}", contexts=[{f"fact_{number}": 1}]) for number in range(50)])
    for name in tuple(registry):
        registry.unregister(name)
    before = registry.probes
    assert list(registry.matching(DRAWING.facts())) == []
    assert registry.probes == before


NAMES = "abcdef"
EDITS = st.lists(
    st.builds(
        Register,
        st.builds(
            preset,
            st.sampled_from(NAMES),
            contexts=st.sampled_from([[IN_DRAWING], [{"surface": "any"}], [{"activity": "none"}, IN_DRAWING]]),
            default_state=st.sampled_from(DefaultState),
        ),
    )
    | st.builds(Unregister, st.sampled_from(NAMES)),
    max_size=12,
)


@EXAMPLES
@given(before=EDITS, batch=EDITS)
def test_any_batch_is_taken_back_exactly(before: list[RegistryEdit], batch: list[RegistryEdit]):
    registry = PresetRegistry()
    for edit in before:
        try_edit(registry, [edit])
    seen = everything(registry)
    inverse = try_edit(registry, batch)
    registry.edit(inverse)
    assert everything(registry) == seen


def try_edit(registry: PresetRegistry, edits: list[RegistryEdit]) -> tuple[RegistryEdit, ...]:
    """The inverse; where the batch is refused, nothing has to be taken back."""
    try:
        return registry.edit(edits)
    except EngineError:
        return ()


def everything(registry: PresetRegistry) -> tuple[object, ...]:
    matching = [sorted(set(registry.matching(context.facts()))) for context in (DRAWING, SCENE)]
    by_tool = {tool_id: registry.with_tool(tool_id) for tool_id in sorted(registry.tool_ids())}
    return registry.list(), matching, by_tool
