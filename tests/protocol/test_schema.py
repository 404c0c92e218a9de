"""Checking arguments against JSON Schema 2020-12, and the words for what does not match."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from protocol.schema import DETAIL_WEIGHT_LIMIT, PROBLEM_LIMIT, SchemaError, closest, compile_schema, preview
from tests.protocol.samples import SHAPE_SCHEMA

SHAPE = compile_schema(SHAPE_SCHEMA)


def said(schema: dict[str, Any], value: object) -> list[str]:
    return [str(problem) for problem in compile_schema(schema).problems(value)]


def member(schema: dict[str, Any], value: object) -> list[str]:
    return said({"type": "object", "properties": {"a": schema}}, {"a": value})


def test_matching_arguments_have_no_problems() -> None:
    assert SHAPE.problems({"shape": "ellipse", "width": 2, "style": {"stroke": "#fff"}, "points": [{"x": 1}]}) == ()


def test_several_problems_are_reported_at_once_with_their_paths() -> None:
    found = SHAPE.problems({"shape": "circle", "width": "ten", "style": {"opacity": None}, "points": [{}, {"x": "a"}]})
    assert [problem.path for problem in found] == ["shape", "width", "style.opacity", "points[1].x"]
    assert found[1].text == 'expected number, got a string, "ten"'
    assert found[2].text == "expected number, got null"


def test_a_missing_member_is_named_at_its_object() -> None:
    assert [str(problem) for problem in SHAPE.problems({})] == [
        'missing required member "shape"',
        'missing required member "width"',
    ]


def test_who_passes_more_than_what_is_wanted_is_told_which_part_of_it_is() -> None:
    whole = {"drawn": {"shape": "ellipse", "width": 1}, "revision": 3}
    found = [str(problem) for problem in SHAPE.problems(whole)]
    assert 'missing required member "shape"; what is wanted here is inside its "drawn": pass that alone' in found
    large = {**whole, "more": ["long"] * DETAIL_WEIGHT_LIMIT}
    assert any("pass that alone" in problem.text for problem in SHAPE.problems(large))
    for other in ({"drawn": {"shape": "ellipse"}}, {"style": {"shape": "ellipse", "width": 1}}, {"drawn": [whole]}):
        assert not any("pass that" in problem.text for problem in SHAPE.problems(other))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"shape": "ellipse", "width": 1, "widht": 2}, 'unknown member "widht"; did you mean "width"?'),
        ({"shape": "ellipse", "width": 1, "SHAPE": 2}, 'unknown member "SHAPE"; did you mean "shape"?'),
        (
            {"shape": "ellipse", "width": 1, "style": {"storke": "#f"}},
            'style: unknown member "storke"; did you mean "stroke"?',
        ),
        (
            {"shape": "ellipse", "width": 1, "zzz": 2},
            'unknown member "zzz"; known members: "shape", "width", "style", "points"',
        ),
    ],
)
def test_an_unknown_member_comes_with_the_name_that_was_meant(value: object, text: str) -> None:
    assert [str(problem) for problem in SHAPE.problems(value)] == [text]


def test_a_schema_without_members_says_that_none_are_expected() -> None:
    found = said({"type": "object", "properties": {}, "additionalProperties": False}, {"x": 1})
    assert found == ['unknown member "x"; no members are expected here']
    assert said({"type": "object", "additionalProperties": False}, {"x": 1}) == ["no members are expected here"]


@pytest.mark.parametrize(
    ("schema", "value", "text"),
    [
        ({"type": ["string", "null"]}, 3, "a: expected null or string, got a whole number, 3"),
        ({"type": "object"}, [1, 2], "a: expected object, got an array of 2 items"),
        ({"type": "array"}, {"b": 1}, "a: expected array, got an object of 1 member"),
        ({"enum": ["left", "right"]}, "lft", 'a: expected one of "left", "right", got "lft"; did you mean "left"?'),
        ({"const": 3}, 4, "a: expected 3, got 4"),
        ({"minimum": 1}, 0, "a: expected at least 1, got 0"),
        ({"maximum": 1}, 2, "a: expected at most 1, got 2"),
        ({"exclusiveMinimum": 0}, 0, "a: expected more than 0, got 0"),
        ({"exclusiveMaximum": 1}, 1.5, "a: expected less than 1, got 1.5"),
        ({"multipleOf": 2}, 3, "a: expected a multiple of 2, got 3"),
        ({"minLength": 1}, "", "a: expected at least 1 character, got 0"),
        ({"maxLength": 2}, "abc", "a: expected at most 2 characters, got 3"),
        ({"minItems": 2}, [1], "a: expected at least 2 items, got 1"),
        ({"maxItems": 1}, [1, 2], "a: expected at most 1 item, got 2"),
        ({"minProperties": 1}, {}, "a: expected at least 1 member, got 0"),
        ({"maxProperties": 1}, {"b": 1, "c": 2}, "a: expected at most 1 member, got 2"),
        ({"uniqueItems": True}, [1, 1], "a: expected items that all differ"),
        ({"pattern": "^#"}, "red", 'a: expected text that matches ^#, got "red"'),
        (False, 1, "a: no value is allowed here"),
    ],
)
def test_each_keyword_says_what_was_expected(schema: Any, value: object, text: str) -> None:
    assert member(schema, value) == [text]


def test_a_keyword_without_words_of_ours_speaks_with_those_of_the_validator() -> None:
    assert len(member({"not": {"type": "string"}}, "x" * 1000)[0]) < 300


def test_alternatives_of_types_are_said_as_one() -> None:
    found = member({"anyOf": [{"type": "number"}, {"type": "string"}]}, None)
    assert found == ["a: expected number or string, got null"]


def test_of_tagged_alternatives_the_tagged_one_is_explained() -> None:
    alternatives = [
        {"type": "object", "properties": {"kind": {"const": "circle"}, "radius": {"type": "number"}}},
        {"type": "object", "properties": {"kind": {"const": "line"}, "to": {"type": "number"}}, "required": ["to"]},
    ]
    assert member({"oneOf": alternatives}, {"kind": "line"}) == ['a: missing required member "to"']
    assert member({"oneOf": alternatives}, {"kind": "circle", "radius": "big"}) == [
        'a.radius: expected number, got a string, "big"'
    ]


def test_several_alternatives_that_match_are_a_problem_of_their_own() -> None:
    found = member({"oneOf": [{"type": "number"}, {"minimum": 0}]}, 1)
    assert found == ["a: matches several of its alternatives where only one may match"]


def test_deep_alternatives_come_to_an_end() -> None:
    schema: dict[str, Any] = {"type": "number"}
    for _ in range(20):
        schema = {"anyOf": [{"type": "array", "items": schema}, {"const": 1}]}
    value: object = "x"
    for _ in range(20):
        value = [value]
    assert len(member(schema, value)) == 1


def test_the_number_of_problems_is_bounded() -> None:
    found = SHAPE.problems({"shape": "ellipse", "width": 1, **{f"unknown{number}": 1 for number in range(100)}})
    assert len(found) == PROBLEM_LIMIT
    found = SHAPE.problems({"shape": "ellipse", "width": 1, "points": [{"x": "bad"}] * 100})
    assert len(found) == PROBLEM_LIMIT


def test_a_very_large_value_costs_one_problem_only() -> None:
    rows = [{"x": "bad"}] * DETAIL_WEIGHT_LIMIT
    assert [problem.path for problem in SHAPE.problems({"shape": "ellipse", "width": 1, "points": rows})] == [
        "points[0].x"
    ]
    assert len(SHAPE.problems({"shape": "y" * 4_000_000, "width": "x"})) == 1


def test_a_long_value_is_cut_in_the_text() -> None:
    assert len(str(SHAPE.problems({"shape": "ellipse", "width": "x" * 10_000})[0])) < 200
    assert len(str(SHAPE.problems({"shape": "ellipse", "width": 1, "k" * 10_000: 1})[0])) < 300


def test_what_is_no_json_is_a_problem_and_no_crash() -> None:
    assert "not JSON" in str(SHAPE.problems({1: 2})[0])
    assert SHAPE.problems({"shape": "ellipse", "width": object()})
    assert SHAPE.problems({"shape": "ellipse", "width": float("nan")})


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({"type": "objekt"}, "at type"),
        ({"properties": 3}, "at properties"),
        ({"pattern": "("}, "at pattern"),
        ({"$ref": "http://example.com/schema.json"}, "example.com"),
        ({"$ref": "file:///etc/passwd"}, "passwd"),
        ({"properties": {"a": {"$ref": "#/$defs/missing"}}}, "missing"),
        ({"$schema": "http://json-schema.org/draft-07/schema#"}, "2020-12"),
        ({"$schema": 7}, "2020-12"),
        ({"default": object()}, "JSON"),
    ],
)
def test_a_bad_schema_is_refused_with_the_place(schema: dict[str, Any], text: str) -> None:
    with pytest.raises(SchemaError, match=re.escape(text)):
        compile_schema(schema)


def test_a_reference_to_a_file_is_not_read(tmp_path: Path) -> None:
    elsewhere = tmp_path / "schema.json"
    elsewhere.write_text('{"type": "object"}', encoding="utf-8")
    with pytest.raises(SchemaError, match="Retrieval is disabled"):
        compile_schema({"$ref": elsewhere.as_uri()})


def test_references_inside_the_schema_work() -> None:
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "properties": {"a": {"$ref": "#/$defs/size"}},
        "$defs": {"size": {"type": "number"}},
    }
    assert said(schema, {"a": 1}) == []
    assert said(schema, {"a": "x"}) == ['a: expected number, got a string, "x"']


def test_later_changes_of_the_schema_have_no_effect() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "number"}}}
    compiled = compile_schema(schema)
    schema["properties"]["a"]["type"] = "string"
    assert compiled.problems({"a": 1}) == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [("a\nb", '"a\\nb"'), (None, "null"), (True, "true"), (object, "a value of type type"), ("é", '"é"')],
)
def test_a_preview_is_one_printable_line(value: object, text: str) -> None:
    assert preview(value) == text


def test_nothing_is_close_to_a_very_long_name() -> None:
    assert closest("a" * 1_000_000, ["a"]) is None
    assert closest("space_draw_shap", ["space_draw_shape", "space_other"]) == "space_draw_shape"
