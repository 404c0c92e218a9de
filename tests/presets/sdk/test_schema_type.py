"""JSON Schema to TypeScript, form by form."""

from __future__ import annotations

from typing import Any

import pytest

from presets.sdk.schema_type import ANY, MAX_LITERALS, type_of_schema
from presets.sdk.type_tree import print_type

NUMBER, TEXT = {"type": "number"}, {"type": "string"}


def translated(schema: object, **options: Any) -> str:
    made = type_of_schema(schema, prefix="Tool", root="Args", **options)
    declared = "".join(f"type {name} = {print_type(type_, documented=False)}; " for name, type_ in made.declarations)
    return declared + print_type(made.type, documented=False)


def with_properties(properties: dict[str, Any], **rest: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, **rest}


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (True, "JsonValue"),
        ({}, "JsonValue"),
        (False, "never"),
        ({"type": "integer"}, "number"),
        ({"type": ["string", "null"]}, "string | null"),
        ({"type": "string", "nullable": True}, "string | null"),
        ({"enum": ["a", 1, None, True]}, '"a" | 1 | null | true'),
        ({"type": "string", "enum": ["a", None]}, '"a"'),
        ({"const": {"b": [1, "x"], "a": 2.5}}, '{ a: 2.5; b: [1, "x"] }'),
        ({"enum": [1.0, 10**400, 1e300]}, "1 | number"),
        ({"enum": ["x" * 300]}, "string"),
        (with_properties({"b": TEXT, "a": NUMBER}, required=["b"]), "{ b: string; a?: number }"),
        (with_properties({"a": NUMBER}, additionalProperties=False), "{ a?: number }"),
        (with_properties({"a": NUMBER}, additionalProperties=TEXT), "{ a?: number; [key: string]: any }"),
        ({"type": "object", "additionalProperties": NUMBER}, "{ [key: string]: number }"),
        ({"type": "object"}, "{ [key: string]: JsonValue }"),
        ({"type": "object", "additionalProperties": False}, "{ [key: string]: never }"),
        ({"properties": {"a": TEXT}}, "{ a?: string }"),
        ({"type": "object", "required": ["a"]}, "{ a: JsonValue }"),
        ({"type": "array", "items": {"anyOf": [TEXT, NUMBER]}}, "(string | number)[]"),
        ({"type": "array"}, "JsonValue[]"),
        ({"prefixItems": [TEXT, NUMBER], "minItems": 2, "maxItems": 2}, "[string, number]"),
        ({"prefixItems": [TEXT, NUMBER], "minItems": 1, "items": False}, "[string, number?]"),
        ({"type": "array", "items": [TEXT], "additionalItems": NUMBER}, "[string?, ...number[]]"),
        ({"anyOf": [{"type": "null"}, TEXT, TEXT]}, "null | string"),
        ({"oneOf": [TEXT, {}]}, "JsonValue"),
        ({"allOf": [with_properties({"a": TEXT}), with_properties({"b": TEXT})]}, "{ a?: string } & { b?: string }"),
        (
            with_properties({"a": TEXT, "b": NUMBER}, anyOf=[{"required": ["a"]}, {"required": ["b"]}]),
            "{ a?: string; b?: number } & ({ a: string } | { b: number })",
        ),
        ({"$ref": "https://elsewhere.example/schema"}, "JsonValue"),
        ({"$ref": "#/$defs/none"}, "JsonValue"),
        ({"not": TEXT}, "JsonValue"),
        ({"type": "file"}, "JsonValue"),
        ({"allOf": [TEXT, False]}, "never"),
        ({"type": 7, "enum": "no list"}, "JsonValue"),
    ],
)
def test_a_schema_becomes_the_type_that_says_the_same_or_more(schema: object, expected: str) -> None:
    assert translated(schema) == expected


def test_the_widest_type_of_results_is_any() -> None:
    assert translated(with_properties({"a": {}, "b": {"type": "object"}}), widest=ANY) == (
        "{ a?: any; b?: { [key: string]: any } }"
    )


def test_a_definition_that_is_used_once_is_written_in_place() -> None:
    schema = {"$ref": "#/definitions/Point", "definitions": {"Point": with_properties({"x": NUMBER})}}
    assert translated(schema) == "{ x?: number }"


def test_a_definition_that_is_used_twice_is_declared_under_its_name() -> None:
    point = {"$ref": "#/$defs/a point"}
    schema = with_properties({"from": point, "to": point}, **{"$defs": {"a point": with_properties({"x": NUMBER})}})
    assert translated(schema) == "type Tool_APoint = { x?: number }; { from?: Tool_APoint; to?: Tool_APoint }"


def test_a_small_definition_that_is_used_twice_is_repeated() -> None:
    color = {"$ref": "#/$defs/color"}
    schema = with_properties({"fill": color, "line": color}, **{"$defs": {"color": TEXT}})
    assert translated(schema) == "{ fill?: string; line?: string }"


def test_a_schema_that_holds_itself_is_a_declaration_that_names_itself() -> None:
    tree = with_properties({"children": {"type": "array", "items": {"$ref": "#"}}})
    assert translated(tree) == "type Tool_Args = { children?: Tool_Args[] }; Tool_Args"


def test_two_definitions_that_hold_each_other_end() -> None:
    schema = {
        "$ref": "#/$defs/a",
        "$defs": {
            "a": with_properties({"b": {"$ref": "#/$defs/b"}}),
            "b": with_properties({"a": {"$ref": "#/$defs/a"}}),
        },
    }
    assert translated(schema) == "type Tool_A = { b?: { a?: Tool_A } }; Tool_A"


def test_a_definition_that_is_nothing_but_itself_is_wide() -> None:
    schema = {"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"$ref": "#/$defs/a"}}}
    assert translated(schema) == "type Tool_A = JsonValue; Tool_A"


def test_references_are_read_inside_the_resource_that_holds_them() -> None:
    inner = {"$id": "inner", "$ref": "#/$defs/value", "$defs": {"value": NUMBER}}
    schema = with_properties({"a": inner}, **{"$id": "https://space.example/outer", "$defs": {"value": TEXT}})
    assert translated(schema) == "{ a?: number }"


@pytest.mark.parametrize("word", ["items", "not", "allOf", "properties", "$ref"])
def test_a_schema_of_5000_levels_is_wide_where_nobody_reads_any_more(word: str) -> None:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(5_000):
        schema = {word: [schema] if word == "allOf" else {"a": schema} if word == "properties" else schema}
    assert len(translated({"type": "object", "properties": {"a": schema}})) < 1_000


def test_a_chain_of_5000_shared_definitions_is_translated_without_end_of_the_stack() -> None:
    definitions = {
        f"d{number}": with_properties(
            {"a": {"$ref": f"#/$defs/d{number + 1}"}, "b": {"$ref": f"#/$defs/d{number + 1}"}}
        )
        for number in range(5_000)
    }
    assert translated({"$ref": "#/$defs/d0", "$defs": definitions}).startswith("type Tool_D1 = ")


def test_many_values_become_their_common_type() -> None:
    assert translated({"enum": [f"v{number}" for number in range(MAX_LITERALS + 1)]}) == "string"


def test_a_schema_that_branches_without_end_is_cut() -> None:
    schema: dict[str, Any] = TEXT
    for _ in range(20):
        schema = {"anyOf": [with_properties({"a": schema}), with_properties({"b": schema})]}
    assert len(translated(schema)) < 200_000


def test_what_is_inside_of_data_is_no_reference() -> None:
    assert translated({"const": {"$ref": "#/a", "$id": "x"}}) == '{ $id: "x"; $ref: "#/a" }'
