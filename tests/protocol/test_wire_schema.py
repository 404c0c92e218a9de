"""What leaves this server matches the published models of its revision."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import PromptMessage, TextContent, TextResourceContents, methods

from protocol.completion import CompletionOutcome
from protocol.decision import CallTool, Complete, GetPrompt, ReadResource
from protocol.input_request import ElicitForm, InputRequired, ListRoots
from protocol.jsonrpc import parse
from protocol.prompt import PromptOutcome
from protocol.resource import ResourceOutcome
from protocol.tool import ToolOutcome
from protocol.versions import REVISIONS, SESSION_VERSIONS
from tests.protocol.samples import body_of, initialize, post, request, session
from tests.protocol.stateless_samples import EVERYTHING, OFFER, STATELESS, VERSION, decide, modern

REQUESTS: list[tuple[str, dict[str, Any]]] = [
    ("server/discover", {}),
    ("tools/list", {}),
    ("tools/call", {"name": "space_hello"}),
    ("resources/list", {}),
    ("resources/templates/list", {}),
    ("resources/read", {"uri": "space://world"}),
    ("prompts/list", {}),
    ("prompts/get", {"name": "sketch"}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "draw"}, "argument": {"name": "what", "value": ""}}),
]


def answered(decision: Any) -> Any:
    """The result of a request, carried out with a simple outcome where it has to be."""
    match decision:
        case CallTool():
            reply = STATELESS.call_reply(decision, ToolOutcome.text("hi")).reply
        case ReadResource():
            contents = TextResourceContents(uri="space://world", text="hi")
            reply = STATELESS.read_reply(decision, ResourceOutcome((contents,)))
        case GetPrompt():
            message = PromptMessage(role="user", content=TextContent(type="text", text="hi"))
            reply = STATELESS.prompt_reply(decision, PromptOutcome((message,)))
        case Complete():
            reply = STATELESS.completion_reply(decision, CompletionOutcome(("a",)))
        case _:
            reply = decision
    return body_of(reply)["result"]


@pytest.mark.parametrize(("method", "params"), REQUESTS)
@pytest.mark.parametrize("version", list(REVISIONS))
def test_every_result_is_one_of_its_revision(method: str, params: dict[str, Any], version: str) -> None:
    if version == VERSION:
        decision: Any = decide(modern(method, params))
    elif method == "server/discover":
        return
    else:
        message = parse(json.dumps(request(method, params)).encode())
        decision = STATELESS.decide(post("session-1"), message, session(version), OFFER)
    result = answered(decision)
    methods.parse_server_result(method, version, result)
    # Nothing is dropped as foreign to the schema either.
    assert methods.serialize_server_result(method, version, result).keys() >= result.keys()


@pytest.mark.parametrize("method", ["tools/call", "prompts/get", "resources/read"])
def test_a_result_that_asks_is_one_of_its_revision(method: str) -> None:
    form = ElicitForm("Who?", {"properties": {"name": {"type": "string"}}})
    required = InputRequired({"a": form, "b": ListRoots()}, 1)
    found = decide(modern(method, dict(REQUESTS)[method], client=EVERYTHING))
    match found:
        case CallTool():
            reply = STATELESS.call_reply(found, ToolOutcome.ask(required)).reply
        case ReadResource():
            reply = STATELESS.read_reply(found, ResourceOutcome((), input_required=required))
        case GetPrompt():
            reply = STATELESS.prompt_reply(found, PromptOutcome((), input_required=required))
        case _:
            raise AssertionError(found)
    methods.parse_server_result(method, VERSION, body_of(reply)["result"])


def test_the_answer_to_initialize_is_one_of_every_revision() -> None:
    for version in SESSION_VERSIONS:
        opening = STATELESS.decide(post(), parse(json.dumps(initialize(version)).encode()), None, OFFER)
        result = body_of(STATELESS.initialize_reply(opening, session(version), offer=OFFER))["result"]  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
        methods.parse_server_result("initialize", version, result)
