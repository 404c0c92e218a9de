"""Configs on their way out and in."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from blocks.config import EMPTY_CONFIG, AgentBlockConfig
from blocks.exchange import export_bundle, export_config, import_bundle, import_config
from blocks.issue import InvalidBlockDataError
from blocks.story_agents.roster import STORY_AGENTS, story_agents
from tests.blocks.configs import CONFIGS

AGENTS = story_agents()
BLOCK = {"id": "cb-new1", "name": "N", "role": "system", "type": "script", "content": "C"}


def could_be_made(raw: dict[str, Any]) -> bool:
    """Whether an editor lets all of that in."""
    blocks = raw.get("customBlocks", [])
    texts = [one["content"] for one in blocks] + [
        one.get("customContent") or "" for one in raw.get("overrides", {}).values()
    ]
    return (
        len({one["id"] for one in blocks}) == len(blocks)
        and all(one["name"].isprintable() and one["name"].strip() for one in blocks)
        and not any("\0" in text for text in texts)
    )


@given(CONFIGS.filter(could_be_made))
def test_what_was_exported_comes_back_as_it_was(raw: dict[str, Any]):
    config = AgentBlockConfig.from_json(raw)
    envelope = export_config(STORY_AGENTS[0], config)
    assert (envelope["agentName"], envelope["displayName"]) == ("generation.writer", "Writer")
    assert import_config(envelope).config.to_json() == config.to_json()
    bundle = export_bundle({"librarian.chat": config, "generation.writer": EMPTY_CONFIG})
    imported = import_bundle(bundle, AGENTS)
    assert list(imported) == ([] if config.empty else ["librarian.chat"])
    assert all(one.config.to_json() == config.to_json() for one in imported.values())


@pytest.mark.parametrize(
    ("config", "place"),
    [
        ({"customBlocks": [BLOCK, BLOCK]}, ("config", "customBlocks", 1, "id")),
        ({"customBlocks": [{**BLOCK, "name": "a\0b"}]}, ("config", "customBlocks", 0, "name")),
        ({"customBlocks": [{**BLOCK, "content": "a\0b"}]}, ("config", "customBlocks", 0, "content")),
        ({"overrides": {"tools": {"customContent": "a\0b"}}}, ("config", "overrides", "tools", "customContent")),
    ],
)
def test_what_no_editor_would_let_in_is_not_imported(config: dict[str, Any], place: tuple[str | int, ...]):
    with pytest.raises(InvalidBlockDataError) as caught:
        import_config({"config": config})
    assert [issue.path for issue in caught.value.issues] == [place]


def test_other_keys_are_ignored_and_scripts_are_named():
    imported = import_config({"agentName": "librarian.chat", "config": {"customBlocks": [BLOCK], "junk": 1}})
    assert [one.id for one in imported.config.custom_blocks] == ["cb-new1"]
    assert imported.scripts == ("N",)


@pytest.mark.parametrize("raw", [{}, {"config": None}, {"agentBlockConfigs": {}}])
def test_an_envelope_without_a_config_is_refused(raw: dict[str, Any]):
    with pytest.raises(InvalidBlockDataError, match="config: is missing"):
        import_config(raw)


def test_the_paths_of_an_error_are_those_of_the_envelope():
    with pytest.raises(InvalidBlockDataError) as caught:
        import_config({"config": {"customBlocks": [{"id": "x"}]}})
    assert [one.path[:3] for one in caught.value.issues] == [("config", "customBlocks", 0)] * 5
    with pytest.raises(InvalidBlockDataError, match="config: must be"):
        import_config({"config": []})
    with pytest.raises(InvalidBlockDataError, match="the value: must be an object"):
        import_config(None)


def test_a_bundle_is_taken_whole_or_not_at_all():
    good = {"blockOrder": ["a"]}
    configs = {
        "generation.writer": good,
        "librarian.chat": {"blockOrder": [1]},
        "../../../escape": good,
        "no.agent": good,
    }
    with pytest.raises(InvalidBlockDataError) as caught:
        import_bundle({"agentBlockConfigs": configs}, AGENTS)
    assert [one.path for one in caught.value.issues] == [
        ("agentBlockConfigs", "../../../escape"),
        ("agentBlockConfigs", "librarian.chat", "blockOrder", 0),
        ("agentBlockConfigs", "no.agent"),
    ]


def test_an_empty_bundle_changes_nothing():
    assert export_bundle({"generation.writer": EMPTY_CONFIG}) == {}
    assert import_bundle({}, AGENTS) == {}
    assert import_bundle({"agentBlockConfigs": {}, "fragments": []}, AGENTS) == {}


def test_a_bundle_with_something_else_than_configs_is_refused():
    with pytest.raises(InvalidBlockDataError, match="configs: is not known; there are agentBlockConfigs"):
        import_bundle({"configs": {}}, AGENTS)


def test_a_config_that_only_turns_analysis_off_is_exported():
    config = AgentBlockConfig.from_json({"disableAutoAnalysis": True})
    assert list(export_bundle({"librarian.analyze": config})["agentBlockConfigs"]) == ["librarian.analyze"]
