"""Headers that repeat parts of a body, and the annotations that ask for them."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from protocol.decision import CallTool
from protocol.header_parameters import header_parameters
from protocol.mcp_headers import decoded
from protocol.schema import SchemaError
from protocol.tool_registry import InvalidToolError
from tests.protocol.samples import body_of, replied, tool, tools
from tests.protocol.stateless_samples import HEADED_SCHEMA, decide, facts_of, in_header, modern


def call(arguments: dict[str, Any] | None, *headers: tuple[str, str]) -> object:
    params: dict[str, Any] = {"name": "space_routed"}
    message = modern("tools/call", params if arguments is None else {**params, "arguments": arguments})
    return decide(message, facts_of(message, *headers))


def mismatched(decision: object) -> str:
    reply = replied(decision)
    assert (reply.status, body_of(reply)["error"]["code"]) == (400, -32020)
    return body_of(reply)["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "headers"),
    [
        (None, ()),
        ({}, ()),
        ({"region": "eu"}, (("mcp-param-region", "eu"),)),
        ({"region": "eu"}, (("mcp-param-region", " eu\t"),)),
        ({"region": "Hello"}, (("mcp-param-region", "=?base64?SGVsbG8=?="),)),
        ({"region": "SGVsbG8="}, (("mcp-param-region", "SGVsbG8="),)),
        ({"region": "=?base64?SGVsbG8="}, (("mcp-param-region", "=?base64?SGVsbG8="),)),
        ({"region": "=?BASE64?SGVsbG8=?="}, (("mcp-param-region", "=?BASE64?SGVsbG8=?="),)),
        ({"region": " ü"}, (("mcp-param-region", in_header(" ü")),)),
        ({"region": ""}, (("mcp-param-region", ""),)),
        ({"count": 42}, (("mcp-param-count", "42"),)),
        ({"count": 42}, (("mcp-param-count", "42.0"),)),
        ({"count": -7}, (("mcp-param-count", "-07"),)),
        ({"deep": {"dry": True}}, (("mcp-param-dry-run", "true"),)),
        ({}, (("mcp-param-other", "x"),)),
    ],
)
def test_an_argument_that_stands_in_its_header_is_let_through(arguments: Any, headers: Any) -> None:
    assert isinstance(call(arguments, *headers), CallTool)


@pytest.mark.parametrize(
    ("arguments", "headers", "words"),
    [
        ({"region": "eu"}, (), "Mcp-Param-Region is missing"),
        ({"region": "eu"}, (("mcp-param-region", "us"),), "must be the same"),
        ({"region": "eu"}, (("mcp-param-region", "EU"),), "must be the same"),
        ({"region": "eu"}, (("mcp-param-region", "eu"), ("mcp-param-region", "eu")), "2 times"),
        ({"region": "Hello"}, (("mcp-param-region", "=?base64?SGVsbG8?="),), "cannot be read"),
        ({"region": "Hello"}, (("mcp-param-region", "=?base64?SGVs!!!bG8=?="),), "cannot be read"),
        ({"region": "Hello"}, (("mcp-param-region", "=?BASE64?SGVsbG8=?="),), "must be the same"),
        ({"region": "ü"}, (("mcp-param-region", "\u00fc"),), "cannot be read"),
        ({}, (("mcp-param-region", "eu"),), "leave both out"),
        ({"region": None}, (("mcp-param-region", "eu"),), "leave both out"),
        ({"count": 42}, (("mcp-param-count", "43"),), "must be the same"),
        ({"count": 42}, (("mcp-param-count", "many"),), "must be the same"),
        ({"count": 42}, (("mcp-param-count", "4" * 9999),), "must be the same"),
        ({"deep": {"dry": True}}, (("mcp-param-dry-run", "True"),), "must be the same"),
        ({"deep": {"dry": False}}, (), "Mcp-Param-Dry-Run is missing"),
    ],
)
def test_an_argument_that_its_header_contradicts_is_a_mismatch(arguments: Any, headers: Any, words: str) -> None:
    assert words in mismatched(call(arguments, *headers))


def test_an_argument_that_is_null_needs_no_header() -> None:
    assert replied(call({"region": None})).status == 200


def test_an_argument_of_a_wrong_type_is_told_by_the_schema() -> None:
    result = body_of(call({"region": ["eu"]}, ("mcp-param-region", "eu")))["result"]
    assert (result["isError"], "region" in result["content"][0]["text"]) == (True, True)


@given(st.text())
def test_every_text_comes_through_its_header(text: str) -> None:
    assert decoded(f"=?base64?{b64encode(text.encode()).decode()}?=") == text
    assert decoded(in_header(text)) == text or text.startswith("=?base64?")


@given(st.text(max_size=40) | st.text(max_size=20).map(lambda text: f"=?base64?{text}?="))
def test_no_header_raises(value: str) -> None:
    found = decoded(value)
    assert found is None or isinstance(found, str)


@pytest.mark.parametrize("text", ["YQ=", "YQ", "YR==", "YQ==\n", " YQ==", "_-8=", "/w==", "===="])
def test_only_canonical_base64_of_utf_8_is_read(text: str) -> None:
    assert decoded(f"=?base64?{text}?=") is None


def test_annotations_are_found_wherever_plain_members_lead() -> None:
    found = header_parameters(HEADED_SCHEMA)
    assert [(each.path, each.header) for each in found] == [
        (("region",), "mcp-param-region"),
        (("count",), "mcp-param-count"),
        (("deep", "dry"), "mcp-param-dry-run"),
    ]


ANNOTATED = {"type": "string", "x-mcp-header": "Region"}


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}, "end of a header's name"),
        ({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}, "end of a header's name"),
        ({"properties": {"a": {"type": "string", "x-mcp-header": 7}}}, "end of a header's name"),
        ({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}, "string, integer or boolean"),
        ({"properties": {"a": {"x-mcp-header": "A"}}}, "string, integer or boolean"),
        ({"properties": {"a": {"type": ["string", "null"], "x-mcp-header": "A"}}}, "string, integer or boolean"),
        ({"properties": {"a": ANNOTATED, "b": {"type": "string", "x-mcp-header": "REGION"}}}, "is taken by"),
        ({"properties": {"a": {"type": "array", "items": ANNOTATED}}}, "reached through properties"),
        ({"anyOf": [{"properties": {"a": ANNOTATED}}]}, "reached through properties"),
        ({"$defs": {"a": ANNOTATED}}, "reached through properties"),
        ({"x-mcp-header": "Top", "type": "string"}, "reached through properties"),
    ],
)
def test_a_wrong_annotation_is_refused_with_the_place_and_the_reason(schema: Any, words: str) -> None:
    with pytest.raises(SchemaError, match=words):
        header_parameters(schema)


def test_a_tool_with_a_wrong_annotation_is_not_registered() -> None:
    with pytest.raises(InvalidToolError, match=r"'space_hello': inputSchema is refused: at a: x-mcp-header"):
        tools(tool(input_schema={"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}))


def test_a_member_or_a_value_of_that_name_is_no_annotation() -> None:
    member = {"type": "string", "enum": ["x-mcp-header"]}
    assert header_parameters({"properties": {"x-mcp-header": member}, "default": {"x-mcp-header": 1}}) == ()
