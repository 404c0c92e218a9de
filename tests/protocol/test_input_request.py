"""Questions to clients and their answers. MCP specification, client features; 2026-07-28, multi round-trip requests."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import SamplingMessage, TextContent, Tool

from protocol.client_capabilities import Capability, ClientCapabilities, required_capabilities
from protocol.input_request import (
    ElicitAnswer,
    ElicitForm,
    ElicitUrl,
    InputRefused,
    InputRequest,
    InputRequired,
    ListRoots,
    MalformedAnswer,
    Root,
    RootsAnswer,
    Sample,
    SampleAnswer,
    Settled,
    needs,
    possible,
    read_answer,
    refused_answer,
    settle,
    wire_request,
)
from protocol.jsonrpc import encode
from protocol.versions import REVISIONS
from tests.protocol.stateless_samples import EVERYTHING, TASKS

NAME = {"properties": {"name": {"type": "string"}}, "required": ["name"]}
FORM = ElicitForm("Who?", NAME)
PAGE = ElicitUrl("Log in", "https://example.com/login", "e1")
SAMPLE = Sample(
    messages=(SamplingMessage(role="user", content=TextContent(type="text", text="hi")),),
    max_tokens=9,
    system_prompt="Be brief.",
)
WITH_TOOLS = Sample(messages=(), max_tokens=1, tools=(Tool(name="a", input_schema={"type": "object"}),))


def client(declared: object) -> ClientCapabilities:
    found = ClientCapabilities.read(declared)
    assert isinstance(found, ClientCapabilities)
    return found


@pytest.mark.parametrize(
    ("declared", "known"),
    [
        ({}, set()),
        ({"elicitation": {}}, {Capability.ELICITATION_FORM}),
        ({"elicitation": {"form": {}}}, {Capability.ELICITATION_FORM}),
        ({"elicitation": {"url": {}}}, {Capability.ELICITATION_URL}),
        ({"elicitation": {"form": {}, "url": {}}}, {Capability.ELICITATION_FORM, Capability.ELICITATION_URL}),
        ({"sampling": {}}, {Capability.SAMPLING}),
        ({"sampling": {"tools": {}}}, {Capability.SAMPLING, Capability.SAMPLING_TOOLS}),
        ({"roots": {"listChanged": True}}, {Capability.ROOTS}),
        (TASKS, {Capability.TASKS}),
        (EVERYTHING, set(Capability)),
        ({"experimental": [], "roots": None}, set()),
    ],
)
def test_what_a_client_declares_is_what_it_can_do(declared: object, known: set[Capability]) -> None:
    assert client(declared).known == known


@pytest.mark.parametrize("declared", [None, [], "x", {"roots": True}, {"sampling": []}, {"extensions": "x"}])
def test_what_is_no_object_of_capabilities_is_told(declared: object) -> None:
    assert isinstance(ClientCapabilities.read(declared), str)


@pytest.mark.parametrize(
    ("capability", "wanted"),
    [
        (Capability.SAMPLING, {"sampling": {}}),
        (Capability.ELICITATION_FORM, {"elicitation": {}}),
        (Capability.ELICITATION_URL, {"elicitation": {"url": {}}}),
        (Capability.TASKS, TASKS),
    ],
)
def test_a_lack_is_told_as_the_object_that_would_have_declared_it(capability: Capability, wanted: object) -> None:
    assert required_capabilities([capability]) == wanted


@pytest.mark.parametrize(
    ("request_", "declared", "since"),
    [
        (FORM, {"elicitation": {}}, "2024-11-05"),
        (PAGE, {"elicitation": {"url": {}}}, "2025-11-25"),
        (SAMPLE, {"sampling": {}}, "2024-11-05"),
        (WITH_TOOLS, {"sampling": {"tools": {}}}, "2025-11-25"),
        (ListRoots(), {"roots": {}}, "2024-11-05"),
    ],
)
@pytest.mark.parametrize("version", list(REVISIONS))
def test_a_client_is_asked_only_what_it_declared_and_its_revision_knows(
    request_: InputRequest, declared: object, since: str, version: str
) -> None:
    assert possible(request_, client(declared), REVISIONS[version]) == (version >= since)
    assert not possible(request_, client({}), REVISIONS[version])


def test_a_question_has_its_wire_form() -> None:
    def wire(request_: InputRequest, version: str = "2026-07-28") -> Any:
        return json.loads(encode(wire_request(request_, REVISIONS[version])))

    form = {"message": "Who?", "requestedSchema": {"type": "object", **NAME}}
    assert wire(FORM) == {"method": "elicitation/create", "params": {"mode": "form", **form}}
    assert wire(FORM, "2025-06-18") == {"method": "elicitation/create", "params": form}
    assert wire(PAGE, "2025-11-25")["params"]["elicitationId"] == "e1"
    assert wire(PAGE)["params"] == {"mode": "url", "message": "Log in", "url": "https://example.com/login"}
    assert wire(ListRoots()) == {"method": "roots/list", "params": {}}
    assert wire(SAMPLE) == {
        "method": "sampling/createMessage",
        "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "hi"}}],
            "maxTokens": 9,
            "systemPrompt": "Be brief.",
        },
    }
    assert wire(WITH_TOOLS)["params"]["tools"] == [{"name": "a", "inputSchema": {"type": "object"}}]


@pytest.mark.parametrize(
    ("request_", "value", "answer"),
    [
        (FORM, {"action": "accept", "content": {"name": "Ada"}}, ElicitAnswer("accept", {"name": "Ada"})),
        (FORM, {"action": "decline"}, ElicitAnswer("decline")),
        (FORM, {"action": "cancel", "content": 7}, ElicitAnswer("cancel")),
        (FORM, {"action": "accept", "content": {"name": 7}}, None),
        (FORM, {"action": "accept"}, None),
        (PAGE, {"action": "accept"}, ElicitAnswer("accept")),
        (ListRoots(), {"roots": [{"uri": "file:///a", "name": "a"}]}, RootsAnswer((Root("file:///a", "a"),))),
        (
            SAMPLE,
            {"role": "assistant", "content": {"type": "text", "text": "yo"}, "model": "m", "stopReason": "endTurn"},
            SampleAnswer("assistant", ({"type": "text", "text": "yo"},), "m", "endTurn"),
        ),
        (SAMPLE, {"role": "assistant", "content": [], "model": "m"}, SampleAnswer("assistant", (), "m")),
    ],
)
def test_an_answer_is_read(request_: InputRequest, value: object, answer: object) -> None:
    assert read_answer(request_, value) == answer


@pytest.mark.parametrize(
    ("request_", "value"),
    [
        *((request_, value) for request_ in (FORM, PAGE, SAMPLE, ListRoots()) for value in (None, [], "x", {}, 1)),
        (FORM, {"action": "maybe"}),
        (FORM, {"action": "accept", "content": []}),
        (SAMPLE, {"role": "assistant", "content": "hi", "model": "m"}),
        (SAMPLE, {"role": "assistant", "content": ["hi"], "model": "m"}),
        (ListRoots(), {"roots": [{}]}),
    ],
)
def test_what_is_no_answer_is_malformed(request_: InputRequest, value: object) -> None:
    assert isinstance(read_answer(request_, value), MalformedAnswer)


def test_the_text_of_a_sample_is_its_text_blocks() -> None:
    blocks = ({"type": "text", "text": "a"}, {"type": "image"}, {"type": "text", "text": "b"})
    assert SampleAnswer("assistant", blocks, "m").text == "a\nb"


def test_questions_without_an_answer_stay_open_and_answers_without_a_question_are_skipped() -> None:
    found = settle({"a": FORM, "b": ListRoots(), "c": FORM}, {"b": {"roots": []}, "c": {"action": "accept"}, "z": 1})
    assert found == Settled({"b": RootsAnswer(())}, {"a": FORM, "c": FORM})


def test_a_malformed_answer_spoils_the_round_and_is_named() -> None:
    found = settle({"user_name": FORM}, {"user_name": {}})
    assert isinstance(found, MalformedAnswer)
    assert '"user_name"' in found.reason


def test_an_error_of_the_client_is_an_answer() -> None:
    assert refused_answer({"code": -1, "message": "User rejected"}) == InputRefused(-1, "User rejected")
    assert refused_answer({}) == InputRefused(0, "the client gave no reason")


def test_input_that_is_required_has_a_question_or_a_state() -> None:
    with pytest.raises(ValueError, match="neither"):
        InputRequired({})
    assert InputRequired({}, {"step": 1}).state == {"step": 1}
    assert needs(WITH_TOOLS) == {Capability.SAMPLING, Capability.SAMPLING_TOOLS}
