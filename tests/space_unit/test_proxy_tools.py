"""A server's tools as a contribution: their names, their schemas, their presets, and whom is believed what."""

from __future__ import annotations

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import Tool, ToolAnnotations

from presets.adapters import ToolAdapter
from presets.definition import Risk
from presets.interactions import UnattendedCall
from protocol.interaction import Interaction
from protocol.schema import compile_schema
from protocol.tool import JsonObject, ToolOutcome
from protocol.tool_registry import TOOL_NAME_CHARS
from space_unit.contribution import check_contribution, mcp_name_of
from space_unit.proxy_names import proxy_names
from space_unit.proxy_schema import MAX_DEPTH, MAX_SCHEMA_BYTES, UnusableSchemaError, shown_schema
from space_unit.proxy_settings import ProxySettings, read_proxy_settings
from space_unit.proxy_tools import ProxyPlan, plan_proxy
from tests.presets.samples import EXAMPLES, app

PRESET: dict[str, Any] = {"name": "notes", "tools": ["*"], "risk": "normal", "default": "auto"}


def settings(*presets: dict[str, Any], **more: Any) -> ProxySettings:
    return read_proxy_settings("notes", {"command": ["x"], "preset": list(presets), **more})


def tool(name: str = "one", **hints: bool) -> Tool:
    annotations = ToolAnnotations(**cast("Any", hints)) if hints else None
    return Tool(name=name, description="One.", input_schema={"type": "object"}, annotations=annotations)


def body_of(name: str) -> Any:
    async def body(arguments: JsonObject, call: Interaction) -> ToolOutcome:
        return ToolOutcome.text(name)

    return body


def plan(made: ProxySettings, *tools: Tool) -> ProxyPlan:
    planned = plan_proxy("notes", made, tools, body_of)
    check_contribution("notes", planned.contribution)
    return planned


def only(planned: ProxyPlan) -> ToolAdapter:
    (adapter,) = planned.contribution.adapters
    return adapter


# Names


@given(names=st.lists(st.text(max_size=80), max_size=30), unit=st.sampled_from(["a", "star-map", "a" * 24]))
@EXAMPLES
def test_names_are_sound_and_do_not_depend_on_the_order_of_the_list(names: list[str], unit: str) -> None:
    found = proxy_names(unit, names)
    assert found == proxy_names(unit, names[::-1])
    whole = [mcp_name_of(unit, short) for short in found.short.values()]
    assert len({name.lower() for name in whole}) == len(whole)
    for name in whole:
        assert len(name) <= TOOL_NAME_CHARS
        assert name.replace("_", "a").isascii()
        assert name.isidentifier()
    assert len(found.short) + len(found.refused) == len(set(names))


def test_a_name_that_needs_no_change_keeps_it_whoever_comes_first() -> None:
    found = proxy_names("notes", ["read.it", "read_it", "READ-IT"])
    assert found.short == {"read_it": "read_it"}
    assert found.refused == (
        "tool 'READ-IT' is not offered: its name here would be 'space_notes_READ_IT', which 'read_it' has",
        "tool 'read.it' is not offered: its name here would be 'space_notes_read_it', which 'read_it' has",
    )


def test_a_prefix_of_the_server_is_left_out() -> None:
    assert proxy_names("git", ["git_log", "git_", "show"], "git_").short == {
        "git_log": "log",
        "git_": "git",
        "show": "show",
    }


# Schemas


def test_schemas_of_older_drafts_are_said_in_todays_words() -> None:
    old = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$ref": "#/definitions/Args",
        "definitions": {
            "Args": {
                "type": "object",
                "properties": {
                    "pair": {
                        "type": "array",
                        "items": [{"type": "number"}, {"type": "string"}],
                        "additionalItems": False,
                    },
                    "many": {"type": "array"},
                    "positive": {"type": "number", "minimum": 0, "exclusiveMinimum": True},
                    "items": {"type": "string", "default": {"items": [1]}},
                },
                "required": ["pair"],
            }
        },
    }
    shown = shown_schema(old)
    assert shown.lost == ()
    check = compile_schema(shown.schema)
    assert not check.problems({"pair": [1, "a"], "many": [1, {}], "positive": 1, "items": "x"})
    for wrong in ({"pair": ["a", 1]}, {"pair": [1, "a", 2]}, {"pair": [1, "a"], "positive": 0}, {}):
        assert check.problems(wrong), wrong
    assert shown.schema["properties"]["items"]["default"] == {"items": [1]}
    assert shown.schema["properties"]["many"]["items"] == {}


def test_what_clients_do_not_take_at_the_top_is_left_out_and_told() -> None:
    shown = shown_schema({"anyOf": [{"required": ["a"]}], "properties": {"a": {"anyOf": [{"type": "string"}]}}})
    assert (shown.schema["type"], shown.lost) == ("object", ("anyOf at the top of the schema",))
    assert shown.schema["properties"]["a"] == {"anyOf": [{"type": "string"}]}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({"type": "array"}, "it is no schema of an object, but has type 'array'"),
        ({"properties": [1]}, "its properties are no object"),
        ({"description": "x" * MAX_SCHEMA_BYTES}, "at most 65536 are taken"),
    ],
)
def test_what_cannot_be_shown_is_refused(schema: JsonObject, said: str) -> None:
    with pytest.raises(UnusableSchemaError, match=said):
        shown_schema(schema)


def test_a_schema_that_is_too_deep_is_refused() -> None:
    deep: dict[str, Any] = {}
    for _ in range(MAX_DEPTH * 2):
        deep = {"items": deep}
    with pytest.raises(UnusableSchemaError, match="nested more than 64 deep"):
        shown_schema({"properties": {"a": deep}})


# Presets and risk


def test_the_first_preset_that_fits_has_a_tool_and_the_rest_have_one_of_their_own() -> None:
    presets = ({**PRESET, "tools": ["read_*"]}, {"name": "notes-more", "tools": ["*_it"], "risk": "destructive"})
    made = plan(settings(*presets, leave_out=["drop*"]), *(tool(name) for name in ("read_it", "do_it", "x", "drop_x")))
    assert {preset.name: (preset.risk.value, preset.tool_ids) for preset in made.contribution.presets} == {
        "notes": ("normal", ("unit.notes.read_it",)),
        "notes-more": ("destructive", ("unit.notes.do_it",)),
        "notes-other": ("shell", ("unit.notes.x",)),
    }
    assert made.notes == ()


def test_a_preset_without_tools_is_left_out_and_told() -> None:
    made = plan(settings({**PRESET, "tools": ["raed_*"]}), tool())
    assert [preset.name for preset in made.contribution.presets] == ["notes-other"]
    assert made.notes == ("preset 'notes' has no tools: none of the server's is left for its patterns",)


@pytest.mark.parametrize("risk", list(Risk))
def test_no_word_of_a_server_makes_a_tool_less_risky_than_the_manifest_says(risk: Risk) -> None:
    claims = {"read_only_hint": True, "destructive_hint": False, "idempotent_hint": True, "open_world_hint": False}
    made = plan(settings({**PRESET, "risk": risk.value}), tool("one", **claims))
    (preset,) = made.contribution.presets
    assert preset.risk is risk
    harmless = risk in (Risk.NORMAL, Risk.FILESYSTEM_READ)
    assert (only(made).read_only, only(made).idempotent) == (harmless, harmless)


def test_a_tool_that_its_server_calls_destructive_is_taken_for_that_whatever_the_manifest_says() -> None:
    assert only(plan(settings(PRESET), tool(destructive_hint=True))).destroys
    quiet = only(plan(settings(PRESET), tool()))
    assert (quiet.destroys, quiet.read_only) == (None, False)
    both = only(plan(settings(PRESET), tool(destructive_hint=True, read_only_hint=True)))
    assert (both.destroys, both.read_only) == (None, False)


async def test_a_tool_without_words_of_its_own_is_described_all_the_same() -> None:
    bare = Tool(name="bare", input_schema={"type": "object"})
    adapter = only(plan(settings(PRESET), bare))
    assert adapter.description == "The tool 'bare' of the MCP server 'notes'."
    assert (await adapter.make_run(app())({}, UnattendedCall())).content
