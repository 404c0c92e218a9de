"""Metadata: what people see of an agent. Whatever is wrong with it, the agent works."""

from __future__ import annotations

from pathlib import Path

import pytest

from presets.agents.definition import AgentDefinition, Trust
from presets.agents.metadata import AgentMetadata, read_metadata
from presets.agents.roster import Roster
from tests.presets.agents.folders import write_agent


def read(tmp_path: Path, text: str) -> AgentMetadata:
    file = tmp_path / "preset.yml"
    file.write_text(text, encoding="utf-8")
    return read_metadata(file)


def test_names_and_descriptions_are_read_by_language(tmp_path: Path):
    shown = read(tmp_path, "name: {en: ' Mine ', zh: 我的}\ndescription: {zh: 说明}\norder: 2.5")
    assert (dict(shown.names), dict(shown.descriptions), shown.order) == (
        {"en": "Mine", "zh": "我的"},
        {"zh": "说明"},
        2.5,
    )


def test_a_plain_text_stands_for_every_language(tmp_path: Path):
    assert dict(read(tmp_path, "name: Mine").names) == {"en": "Mine"}


@pytest.mark.parametrize(
    "text",
    [
        "", "- a list", "just text", "name: [", "name: 3", "name: ' '", "name: {en: 3, 7: x, zh: ' '}",
        "description: []", "order: true", "order: .inf", "order: .nan", "order: first", "id: other\ntrust: shipped",
        "a: &a b", "order: 1" + "0" * 400,
    ],
)  # fmt: skip
def test_what_is_wrong_or_unknown_is_left_out(tmp_path: Path, text: str):
    assert read(tmp_path, text) == AgentMetadata()


def test_one_wrong_member_costs_no_other(tmp_path: Path):
    shown = read(tmp_path, "name: 3\ndescription: Good\norder: 0")
    assert (dict(shown.names), dict(shown.descriptions), shown.order) == ({}, {"en": "Good"}, 0)


def test_an_agent_without_metadata_is_usable_and_shown_by_its_id(tmp_path: Path):
    write_agent(tmp_path, "plain", "[]")
    write_agent(tmp_path, "spoiled", "[]", "name: [")
    roster = Roster.load(tmp_path / "none", tmp_path)
    assert [(agent.name(), agent.description()) for agent in roster.agents] == [("plain", None), ("spoiled", None)]


def test_a_language_that_is_missing_falls_back_to_english_then_to_any():
    agent = AgentDefinition(
        id="x",
        path=Path("x"),
        trust=Trust.USER,
        rows=(),
        names={"zh": "我的", "en": "Mine"},
        descriptions={"zh": "说明"},
    )
    assert (agent.name("zh"), agent.name("de"), agent.description("de")) == ("我的", "Mine", "说明")
