"""Edits of a config: what each does, and that none makes one that is not valid."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blocks.config import EMPTY_CONFIG, AgentBlockConfig
from blocks.edits import (
    add_custom_block,
    delete_custom_block,
    patch_config,
    patch_overrides,
    set_auto_analysis_disabled,
    set_block_order,
    set_disabled_tools,
    set_enabled,
    update_custom_block,
)
from blocks.issue import InvalidBlockDataError, shown_path
from engine.errors import EngineError, NotFoundError
from tests.blocks.configs import BLOCK_IDS, CONFIGS, DEFINITIONS, OVERRIDES
from tests.blocks.recorded import DECISIONS, blocks, cases

DEFAULTS = blocks(
    [
        {"id": "instructions", "role": "system", "content": "", "order": 100, "source": "builtin"},
        {"id": "story-info", "role": "user", "content": "", "order": 100, "source": "builtin"},
        {"id": "prose", "role": "user", "content": "", "order": 500, "source": "builtin"},
        {"id": "author-input", "role": "user", "content": "", "order": 600, "source": "builtin"},
    ]
)


def custom(block_id: str = "cb-aaaa", **more: Any) -> dict[str, Any]:
    return {"id": block_id, "name": "N", "role": "user", "type": "simple", "content": "c", **more}


def config(**raw: Any) -> AgentBlockConfig:
    return AgentBlockConfig.from_json(raw)


@cases(
    "config_store",
    {
        "corrupt JSON reads as empty and is left alone": "a matter of the store, which is not here",
        "empty file reads as empty": "a matter of the store",
        "wrong top-level type reads as empty": "a matter of the store",
        "add appends to customBlocks and blockOrder": DECISIONS[1],
        "update changes only the first of two duplicates": DECISIONS[1],
    },
)
def test_recorded_operations(case: dict[str, Any]):
    state = AgentBlockConfig.from_json(case["input"]["initialFile"] or {})
    for op, expected in zip(case["input"]["ops"], case["expected"]["results"], strict=True):
        match op:
            case {"op": "get"}:
                pass
            case {"op": "updateDisabledTools"}:
                state = set_disabled_tools(state, op["disabledTools"])
            case {"op": "updateOverrides"}:
                state = patch_config(state, {key: value for key, value in op.items() if key != "op"})
            case _:
                assert op["op"] == "updateCustom"
                with pytest.raises(NotFoundError):
                    update_custom_block(state, op["blockId"], op["updates"])
                assert expected is None
                continue
        assert state.to_json() == expected


def test_adding_to_an_empty_block_order_leaves_it_empty():
    added = add_custom_block(add_custom_block(EMPTY_CONFIG, custom("cb-one1"), DEFAULTS), custom("cb-two2"), DEFAULTS)
    assert [one.id for one in added.custom_blocks] == ["cb-one1", "cb-two2"]
    assert added.block_order == ()


@pytest.mark.parametrize(
    ("order", "index"),
    [(50, 0), (300, 3), (550, 2), (900, 4)],
    ids=["first", "behind story-info", "behind prose", "last"],
)
def test_a_new_block_goes_to_the_place_in_the_order_that_its_own_order_gives_it(order: int, index: int):
    before = config(blockOrder=["instructions", "prose", "story-info", "author-input"])
    added = add_custom_block(before, custom(order=order), DEFAULTS)
    expected = list(before.block_order)
    expected.insert(index, "cb-aaaa")
    assert list(added.block_order) == expected


def test_a_new_block_of_a_role_of_which_nothing_is_listed_goes_to_the_end_of_the_order():
    assert add_custom_block(config(blockOrder=["instructions"]), custom(order=1), DEFAULTS).block_order == (
        "instructions",
        "cb-aaaa",
    )


def test_updating_changes_the_first_of_two_with_the_same_id():
    state = config(customBlocks=[custom(), custom()])
    updated = update_custom_block(state, "cb-aaaa", {"name": "First only"})
    assert [one.name for one in updated.custom_blocks] == ["First only", "N"]


def test_an_id_cannot_be_changed_and_a_wrong_value_changes_nothing():
    state = config(customBlocks=[custom()])
    with pytest.raises(InvalidBlockDataError, match="id: cannot be changed"):
        update_custom_block(state, "cb-aaaa", {"id": "cb-bbbb"})
    with pytest.raises(InvalidBlockDataError, match="role: must be 'system' or 'user'"):
        update_custom_block(state, "cb-aaaa", {"role": "tool", "name": "New"})
    with pytest.raises(NotFoundError, match="there are 'cb-aaaa'"):
        update_custom_block(state, "cb-zzzz", {})
    assert update_custom_block(state, "cb-aaaa", {"id": "cb-aaaa"}) == state


def test_deleting_takes_everything_of_the_block_and_deleting_again_changes_nothing():
    state = config(
        customBlocks=[custom(), custom("cb-bbbb")],
        overrides={"cb-aaaa": {"order": 1}, "prose": {"order": 2}},
        blockOrder=["cb-aaaa", "prose", "cb-aaaa"],
    )
    deleted = delete_custom_block(state, "cb-aaaa")
    assert (
        deleted.to_json()
        == config(customBlocks=[custom("cb-bbbb")], overrides={"prose": {"order": 2}}, blockOrder=["prose"]).to_json()
    )
    assert delete_custom_block(deleted, "cb-aaaa") == deleted


def test_a_builtin_block_cannot_be_deleted():
    with pytest.raises(NotFoundError, match="set its override to null"):
        delete_custom_block(EMPTY_CONFIG, "prose")


def test_a_patch_merges_fields_and_null_removes_them():
    state = patch_overrides(EMPTY_CONFIG, {"prose": {"enabled": False, "customContent": "x"}})
    state = patch_overrides(state, {"prose": {"order": 7, "contentMode": "append"}, "tools": {"order": 1}})
    assert state.to_json()["overrides"] == {
        "prose": {"enabled": False, "order": 7, "contentMode": "append", "customContent": "x"},
        "tools": {"order": 1},
    }
    state = patch_overrides(state, {"prose": {"enabled": None, "contentMode": None, "order": None}, "tools": None})
    assert state.to_json()["overrides"] == {"prose": {"customContent": "x"}}
    assert patch_overrides(state, {"prose": {"customContent": None}}).to_json()["overrides"] == {}


def test_a_patch_with_anything_wrong_names_all_of_it_and_changes_nothing():
    with pytest.raises(InvalidBlockDataError) as caught:
        patch_config(
            EMPTY_CONFIG,
            {"overrides": {"prose": {"enabled": "no"}, "tools": 5}, "blockOrder": ["a", 1], "disabledTools": ["fine"]},
        )
    assert [one.path for one in caught.value.issues] == [
        ("blockOrder", 1),
        ("overrides", "prose", "enabled"),
        ("overrides", "tools"),
    ]


@pytest.mark.parametrize("definition", [True, False])
@pytest.mark.parametrize("override", [True, False, None])
@pytest.mark.parametrize("wanted", [True, False])
def test_every_switch_works_on_both(definition: bool, override: bool | None, wanted: bool):
    overrides = {} if override is None else {"cb-aaaa": {"enabled": override}}
    state = config(customBlocks=[custom(enabled=definition)], overrides=overrides)
    for switched in (
        set_enabled(state, "cb-aaaa", wanted),
        patch_overrides(state, {"cb-aaaa": {"enabled": wanted}}),
        update_custom_block(state, "cb-aaaa", {"enabled": wanted}),
    ):
        assert switched.custom_blocks[0].enabled is wanted
        assert switched.override("cb-aaaa").enabled in (wanted, None)


def test_switching_a_builtin_block_on_again_leaves_no_override():
    off = set_enabled(EMPTY_CONFIG, "prose", enabled=False)
    assert off.override("prose").enabled is False
    assert set_enabled(off, "prose", enabled=True) == EMPTY_CONFIG


def test_lists_and_the_switch_are_replaced():
    state = set_block_order(set_disabled_tools(EMPTY_CONFIG, ["c", "c"]), ["a"])
    state = set_auto_analysis_disabled(state, raw=True)
    assert (state.block_order, state.disabled_tools, state.disable_auto_analysis) == (("a",), ("c", "c"), True)
    with pytest.raises(InvalidBlockDataError, match="disableAutoAnalysis"):
        set_auto_analysis_disabled(state, raw=None)


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.text(), part),
    max_leaves=4,
)
EDITS: st.SearchStrategy[Callable[[AgentBlockConfig], AgentBlockConfig]] = st.one_of(
    (DEFINITIONS | JUNK).map(lambda raw: lambda config: add_custom_block(config, raw, DEFAULTS)),
    st.tuples(BLOCK_IDS, DEFINITIONS | JUNK).map(lambda pair: lambda config: update_custom_block(config, *pair)),
    BLOCK_IDS.map(lambda block_id: lambda config: delete_custom_block(config, block_id)),
    (st.dictionaries(BLOCK_IDS, OVERRIDES | JUNK) | JUNK).map(lambda raw: lambda config: patch_overrides(config, raw)),
    (CONFIGS | JUNK).map(lambda raw: lambda config: patch_config(config, raw)),
    st.tuples(BLOCK_IDS, st.booleans()).map(lambda pair: lambda config: set_enabled(config, *pair)),
)


@given(CONFIGS, st.lists(EDITS, max_size=5))
def test_edits_keep_a_config_valid(raw: dict[str, Any], edits: list[Callable[[AgentBlockConfig], AgentBlockConfig]]):
    state = AgentBlockConfig.from_json(raw)
    for edit in edits:
        before = state.to_json()
        previous = state
        with contextlib.suppress(EngineError):
            state = edit(state)
        assert previous.to_json() == before
        assert AgentBlockConfig.from_json(state.to_json()).to_json() == state.to_json()


@pytest.mark.parametrize(
    ("raw", "path"),
    [
        ({"bogus": 1}, "bogus"),
        ({"customBlocks": []}, "customBlocks"),
        ({"overrides": {"a": {"bogus": 1}}}, "overrides.a.bogus"),
        ({"overrides": {"a": {"contentMode": "override", "customContent": "x\0"}}}, "overrides.a.customContent"),
        ({"blockOrder": ["a", "b", "a"]}, "blockOrder[2]"),
    ],
)
def test_a_patch_that_says_what_nobody_knows_is_refused_with_its_path(raw: dict[str, Any], path: str):
    with pytest.raises(InvalidBlockDataError) as caught:
        patch_config(config(), raw)
    assert [shown_path(issue.path) for issue in caught.value.issues] == [path]


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"bogus": 1}, "bogus"),
        ({"name": "  "}, "name"),
        ({"name": "two\nlines"}, "name"),
        ({"name": "\x1b[31m"}, "name"),
        ({"content": "x\0"}, "content"),
    ],
)
def test_a_custom_block_that_nobody_could_read_is_neither_made_nor_changed(changes: dict[str, Any], path: str):
    for change in (
        lambda: add_custom_block(config(), {**custom(), **changes}),
        lambda: update_custom_block(config(customBlocks=[custom()]), "cb-aaaa", changes),
    ):
        with pytest.raises(InvalidBlockDataError) as caught:
            change()
        assert [shown_path(issue.path) for issue in caught.value.issues] == [path]


def test_a_config_that_is_no_object_is_refused_in_words_that_anybody_knows():
    with pytest.raises(InvalidBlockDataError, match="the value: must be an object"):
        AgentBlockConfig.from_json([])
