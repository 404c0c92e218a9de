"""Results of calls as each revision takes them. Case [M] 140; MCP specification, server/tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import Annotations, AudioContent, ContentBlock, ImageContent, ResourceLink, TextContent

from protocol.result import error_result, outcome_of_error, wire_result
from protocol.tool import ToolDefinition, ToolError, ToolOutcome
from protocol.tool_list import ToolEntry
from protocol.versions import REVISIONS
from tests.protocol.samples import tool, tools

PLAIN = tool()
TYPED = tool(output_schema={"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]})
IMAGE = ImageContent(type="image", data="iVBORw0KGgo=", mime_type="image/png")
AUDIO = AudioContent(type="audio", data="UklGRg==", mime_type="audio/wav")
LINK = ResourceLink(type="resource_link", name="log", uri="file:///log", description="The log")
NEWEST = "2025-11-25"


def entry(definition: ToolDefinition) -> ToolEntry:
    return tools(definition).entries[0]


def wired(outcome: ToolOutcome, version: str = NEWEST, definition: ToolDefinition = PLAIN) -> Any:
    return json.loads(wire_result(entry(definition), outcome, version).body)


def texts(result: Any) -> list[str]:
    return [block["text"] for block in result["content"] if block["type"] == "text"]


@pytest.mark.parametrize("version", list(REVISIONS))
def test_a_text_is_the_same_in_every_revision(version: str) -> None:
    result = wired(ToolOutcome.text("hello"), version)
    assert result == {"content": [{"type": "text", "text": "hello"}], "isError": False}


@pytest.mark.parametrize("version", list(REVISIONS))
def test_structured_content_is_sent_where_the_revision_knows_it(version: str) -> None:
    result = wired(ToolOutcome.text("made", {"id": "a", "none": None}), version, TYPED)
    assert ("structuredContent" in result) == (version >= "2025-06-18")
    assert result.get("structuredContent", {"id": "a", "none": None}) == {"id": "a", "none": None}


@pytest.mark.parametrize("version", list(REVISIONS))
@pytest.mark.parametrize(
    ("block", "kind", "since", "text"),
    [(AUDIO, "audio", "2025-03-26", "audio/wav"), (LINK, "resource_link", "2025-06-18", "file:///log")],
)
def test_a_type_of_content_that_the_revision_lacks_becomes_text(
    version: str, block: ContentBlock, kind: str, since: str, text: str
) -> None:
    result = wired(ToolOutcome((block, TextContent(type="text", text="see"))), version)
    first = result["content"][0]
    if version >= since:
        assert first["type"] == kind
    else:
        assert (first["type"], text in first["text"]) == ("text", True)


@pytest.mark.parametrize(
    ("outcome", "text"),
    [
        (ToolOutcome(()), "Done; there is nothing to show."),
        (ToolOutcome((IMAGE,)), "The result is content of type image."),
    ],
)
def test_there_is_always_some_text(outcome: ToolOutcome, text: str) -> None:
    assert texts(wired(outcome)) == [text]


def test_structured_content_without_text_is_repeated_as_text() -> None:
    result = wired(ToolOutcome((IMAGE,), {"id": "a"}), NEWEST, TYPED)
    assert texts(result) == ['{"id":"a"}']
    assert [block["type"] for block in result["content"]] == ["text", "image"]


def test_an_image_keeps_its_wire_names() -> None:
    result = wired(ToolOutcome((TextContent(type="text", text="x"), IMAGE)))
    assert result["content"][1] == {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}


def test_annotations_of_a_text_are_kept() -> None:
    noted = TextContent(type="text", text="x", annotations=Annotations(audience=["user"]))
    assert wired(ToolOutcome((noted,)))["content"][0]["annotations"] == {"audience": ["user"]}


@pytest.mark.parametrize("version", list(REVISIONS))
@pytest.mark.parametrize("structured", [None, {}, {"id": 7}])
def test_structured_content_that_does_not_match_is_an_error_and_a_problem_for_the_log(
    structured: dict[str, object] | None, version: str
) -> None:
    made = wire_result(entry(TYPED), ToolOutcome.text("made", structured), version)
    result = json.loads(made.body)
    assert (made.is_error, result["isError"]) == (True, True)
    assert "structuredContent" not in result
    assert made.problem is not None
    assert made.problem in texts(result)[0]


def test_a_failed_call_owes_no_structured_content() -> None:
    made = wire_result(entry(TYPED), ToolOutcome.error("no such shape"), NEWEST)
    assert made.problem is None
    assert json.loads(made.body) == {"content": [{"type": "text", "text": "no such shape"}], "isError": True}


def test_a_failed_call_sends_no_structured_content_even_where_it_has_some() -> None:
    failed = ToolOutcome((TextContent(type="text", text="half done"),), {"id": "a"}, is_error=True)
    assert "structuredContent" not in wired(failed, NEWEST, TYPED)


def test_structured_content_that_nobody_declared_is_left_out_and_a_problem_for_the_log() -> None:
    made = wire_result(entry(PLAIN), ToolOutcome.text("hi", {"a": 1}), NEWEST)
    assert json.loads(made.body) == {"content": [{"type": "text", "text": "hi"}], "isError": False}
    assert made.problem is not None
    assert not made.is_error


@pytest.mark.parametrize("structured", [{"id": "\ud800"}, {"id": "a", "b": object()}])
def test_an_outcome_that_cannot_be_json_is_an_error_and_never_raises(structured: dict[str, object]) -> None:
    made = wire_result(entry(TYPED), ToolOutcome.text("x", structured), NEWEST)
    assert json.loads(made.body)["isError"] is True
    assert made.problem is not None


def test_half_characters_in_a_text_are_replaced() -> None:
    assert texts(wired(ToolOutcome.text("na\udcffme"))) == ["na?me"]
    assert texts(json.loads(error_result("\ud800"))) == ["?"]


def test_the_text_of_a_tool_that_refuses_reaches_the_model() -> None:  # [M] 140
    result = wired(outcome_of_error("space_hello", ToolError("no layer 'sky'; there is 'ground'")))
    assert result["isError"] is True
    assert texts(result) == ["no layer 'sky'; there is 'ground'"]


def test_a_crash_is_told_as_a_bug_without_its_secrets() -> None:
    (text,) = texts(wired(outcome_of_error("space_hello", KeyError("/home/somebody/key"))))
    assert "space_hello" in text
    assert "KeyError" in text
    assert "somebody" not in text


def test_a_long_text_is_not_cut() -> None:
    assert len(texts(wired(ToolOutcome.text("x" * 200_000)))[0]) == 200_000
