"""Preset definitions: their form, their errors, and that nobody changes one afterwards."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest

from presets.definition import DefaultState, InvalidPresetError, PresetDefinition, Risk

VALID: dict[str, Any] = {
    "name": "drawing-shape-tools",
    "group": "drawing",
    "default_state": "auto",
    "risk": "normal",
    "contexts": [{"surface": "canvas", "activity": "drawing", "canvas_visible": True}],
    "tool_ids": ["drawing.set-tool", "drawing.insert-shape"],
    "resource_ids": [],
    "prompt_ids": [],
    "system_prompt": "Use drawing tools.",
}


def made_with(**fields: Any) -> PresetDefinition:
    return PresetDefinition.model_validate({**VALID, **fields})


def test_a_definition_has_the_same_names_in_json_as_in_python():
    assert made_with().model_dump(mode="json") == VALID


def test_a_definition_survives_json():
    again = PresetDefinition.model_validate(json.loads(made_with().model_dump_json()))
    assert again == made_with()
    assert hash(again) == hash(made_with())


def test_group_and_prompt_may_be_left_out():
    bare = {key: value for key, value in VALID.items() if key not in {"group", "system_prompt"}}
    made = PresetDefinition.model_validate(bare)
    assert (made.group, made.system_prompt) == (None, None)


def test_an_empty_prompt_is_a_prompt():
    assert made_with(system_prompt="").system_prompt == ""


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("risk", "dangerous", "'normal', 'filesystem-read', 'filesystem-write', 'destructive' or 'shell'"),
        ("default_state", "on", "'auto' or 'off'"),
        ("default_state", None, "'auto' or 'off'"),
        ("contexts", [], "at least 1 item"),
        ("contexts", None, "must be a list"),
        ("contexts", {"surface": "canvas"}, "must be a list"),
        ("contexts", ["canvas"], "must be an object such as {'surface': 'canvas'}"),
        ("contexts", [{"mode": "drawing"}], "use 'activity'"),
        ("contexts", [{"activity": True}], "activity must be a string"),
        ("contexts", [{"activity": None}], "write 'none' to match its absence"),
        ("contexts", [{"world_id": ["home"]}], "a plain value"),
        ("contexts", [{"zoom": float("nan")}], "a plain value"),
        ("contexts", [{"zoom": float("inf")}], "a plain value"),
        ("contexts", [{"": "x"}], "must be the name of a fact"),
        ("contexts", [{1: "x"}], "must be the name of a fact"),
        ("tool_ids", [], "at least 1 item"),
        ("tool_ids", "drawing.undo", "must be a list"),
        ("tool_ids", {"drawing.undo"}, "must be a list"),
        ("tool_ids", [""], "at least 1 character"),
        ("tool_ids", [7], "valid string"),
        ("group", 7, "valid string"),
        ("system_prompt", 7, "valid string"),
        ("tools", ["drawing.undo"], "not permitted"),
    ],
)
def test_what_is_wrong_is_refused_naming_preset_and_field(field: str, value: object, said: str):
    with pytest.raises(InvalidPresetError) as refused:
        made_with(**{field: value})
    assert "preset 'drawing-shape-tools'" in str(refused.value)
    assert field in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("field", ["name", "default_state", "risk", "contexts", "tool_ids"])
def test_a_required_field_that_is_missing_is_named(field: str):
    with pytest.raises(InvalidPresetError, match=f"{field}: Field required"):
        PresetDefinition.model_validate({key: value for key, value in VALID.items() if key != field})


@pytest.mark.parametrize("name", ["", None, 7])
def test_a_preset_needs_a_name(name: object):
    with pytest.raises(InvalidPresetError, match="a preset without a name is not valid: name"):
        made_with(name=name)


def test_every_wrong_field_is_named_at_once():
    with pytest.raises(InvalidPresetError) as refused:
        made_with(risk="x", tool_ids=[], contexts=[{"surface": "canvas"}, {"mode": "x"}])
    assert all(field in str(refused.value) for field in ("risk", "tool_ids", "contexts[1]"))


def test_a_later_change_of_what_it_was_made_from_does_not_reach_in():
    context: dict[str, Any] = {"surface": "canvas"}
    tool_ids = ["a"]
    made = made_with(contexts=[context], tool_ids=tool_ids)
    context["surface"] = "scene"
    tool_ids.append("b")
    assert made.contexts[0]["surface"] == "canvas"
    assert made.tool_ids == ("a",)


def test_a_definition_cannot_be_changed():
    made: Any = made_with()
    with pytest.raises(ValueError, match="frozen"):
        made.name = "other"
    with pytest.raises(TypeError):
        made.contexts[0]["surface"] = "scene"


def test_what_it_prints_can_be_changed_without_harm():
    made = made_with()
    made.model_dump()["contexts"][0]["surface"] = "scene"
    dict(made.contexts[0])["surface"] = "scene"
    assert made.contexts[0]["surface"] == "canvas"


def test_a_deep_copy_is_equal():
    assert copy.deepcopy(made_with()) == made_with()


def test_a_dangerous_preset_may_be_auto_as_the_table_of_built_ins_has_one():
    assert made_with(risk="destructive").default_state is DefaultState.AUTO


def test_risks_are_ranked_from_normal_to_shell():
    assert [risk.rank for risk in Risk] == [0, 1, 2, 3, 4]
    assert max(Risk, key=lambda risk: risk.rank) is Risk.SHELL


@pytest.mark.parametrize("field", ["resource_ids", "prompt_ids"])
def test_a_preset_may_offer_what_is_no_tool_and_nothing_else(field: str):
    made = made_with(tool_ids=[], **{field: ["drawing.picture"]})
    assert (made.tool_ids, getattr(made, field)) == ((), ("drawing.picture",))
