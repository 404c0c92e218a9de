"""Configs: what is valid, and what an error says about one that is not."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from blocks.config import EMPTY_CONFIG, AgentBlockConfig, BlockConfig, BlockOverride, CustomBlockDefinition
from blocks.issue import InvalidBlockDataError
from blocks.json_value import JsonValue
from blocks.story import StoryMeta
from tests.blocks.recorded import cases

SCHEMAS: dict[str, type[JsonValue]] = {
    schema.__name__: schema for schema in (BlockOverride, CustomBlockDefinition, BlockConfig, AgentBlockConfig)
}


@cases("schema_validation")
def test_recorded(case: dict[str, Any]):
    schema = SCHEMAS[case["input"]["schema"]]
    expected = case["expected"]
    if expected["ok"]:
        assert schema.from_json(case["input"]["value"]).to_json() == expected["value"]
        return
    with pytest.raises(InvalidBlockDataError) as caught:
        schema.from_json(case["input"]["value"])
    assert [{"path": list(one.path), "code": one.code} for one in caught.value.issues] == expected["issues"]


def test_an_error_says_where_and_what_would_be_right():
    with pytest.raises(InvalidBlockDataError) as caught:
        AgentBlockConfig.from_json({"customBlocks": [{"id": "bad", "name": "N", "role": "user", "content": "c"}]})
    assert str(caught.value) == (
        "customBlocks[0].id: must be 'cb-' and 4 to 12 of a-z and 0-9, such as 'cb-a1b2c3'; "
        "customBlocks[0].type: is missing"
    )


def test_an_error_about_many_values_names_some_and_counts_the_rest():
    with pytest.raises(InvalidBlockDataError, match=r"blockOrder\[0\].*and 90 more") as caught:
        AgentBlockConfig.from_json({"blockOrder": [1] * 100})
    assert len(caught.value.issues) == 100


def test_keys_of_the_json_are_camel_case_alone():
    assert AgentBlockConfig.from_json({"block_order": ["x"]}) == EMPTY_CONFIG


def test_whole_numbers_are_written_alike_however_they_were_given():
    assert repr(BlockOverride.from_json({"order": 100.0}).to_json()["order"]) == "100"
    assert repr(BlockOverride.from_json({"order": 0.5}).to_json()["order"]) == "0.5"


@pytest.mark.parametrize("order", [float("nan"), float("inf"), 10**400, True, "1", None, [1]])
def test_what_is_no_finite_number_is_no_order(order: object):
    with pytest.raises(InvalidBlockDataError, match="order"):
        BlockOverride.from_json({"order": order})


def test_a_text_that_is_no_unicode_is_refused_because_it_could_not_be_stored():
    with pytest.raises(InvalidBlockDataError, match="customContent"):
        BlockOverride.from_json({"customContent": "a\ud800"})
    with pytest.raises(InvalidBlockDataError):
        AgentBlockConfig.from_json({"overrides": {"\ud800": {}}})


def test_a_config_cannot_be_changed():
    config = AgentBlockConfig.from_json({"overrides": {"a": {"enabled": False}}, "blockOrder": ["a"]})
    with pytest.raises(TypeError):
        config.overrides["b"] = BlockOverride()  # pyright: ignore[reportIndexIssue]
    with pytest.raises(ValueError, match="frozen"):
        config.block_order = ()  # pyright: ignore[reportAttributeAccessIssue]


def test_a_config_that_changes_nothing_is_empty_and_one_switch_makes_a_difference():
    assert AgentBlockConfig.from_json({}).empty
    assert not AgentBlockConfig.from_json({"disableAutoAnalysis": True}).empty
    assert not AgentBlockConfig.from_json({"overrides": {"a": {}}}).empty


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        "\ud800",
        {"\ud800": 1},
        {1, 2},
        functools.reduce(lambda inner, _: [inner], range(5000), 0),
    ],
)
def test_what_could_not_be_written_as_json_is_refused_in_a_free_object_too(value: object):
    with pytest.raises(InvalidBlockDataError, match="settings"):
        StoryMeta.from_json({"name": "N", "settings": {"a": [value]}})


def test_a_free_object_comes_back_as_it_was_and_cannot_be_changed():
    raw = {"name": "N", "settings": {"a": [1, {"b": None}], "c": 1.5}}
    story = StoryMeta.from_json(raw)
    assert story.to_json()["settings"] == raw["settings"]
    with pytest.raises(TypeError):
        story.settings["a"] = 1  # pyright: ignore[reportIndexIssue]
    story.to_json()["settings"]["a"].append(2)
    assert story.to_json()["settings"] == raw["settings"]
