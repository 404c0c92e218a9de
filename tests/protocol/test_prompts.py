"""Prompts and completion. MCP specification, server/prompts and server/utilities ("Completion")."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import AudioContent, Icon, PromptMessage, ResourceLink, TextContent

from protocol.completion import COMPLETION_VALUES, CompletionOutcome
from protocol.decision import Complete, GetPrompt
from protocol.handler import Handler
from protocol.jsonrpc import parse
from protocol.offer import Offer
from protocol.owned_table import RegistrationError
from protocol.prompt import PromptArgument, PromptOutcome
from protocol.prompt_list import PromptRegistry
from protocol.versions import SESSION_VERSIONS
from tests.protocol.samples import HANDLER, SERVER, body_of, post, request, session
from tests.protocol.stateless_samples import OFFER, STATELESS, decide, modern, prompt, suggest


def in_session(message: Any, version: str = "2025-11-25", offer: Offer = OFFER) -> Any:
    return HANDLER.decide(post("session-1"), parse(json.dumps(message).encode()), session(version), offer)


def both(method: str, params: Any) -> list[Any]:
    """The decision in a session and without one."""
    return [in_session(request(method, params)), decide(modern(method, params))]


def test_prompts_are_listed_with_their_arguments() -> None:
    listed = body_of(in_session(request("prompts/list")))["result"]["prompts"]
    assert listed == [
        {
            "name": "draw",
            "description": "Draws.",
            "arguments": [{"name": "what", "required": True}, {"name": "how", "required": False}],
        },
        {"name": "sketch"},
    ]


def test_members_of_a_prompt_that_a_revision_does_not_know_are_left_out() -> None:
    full = prompt(title="T", icons=(Icon(src="a"),), arguments=(PromptArgument(name="a", title="A", description="d"),))
    offer = Offer(prompts=PromptRegistry().apply(additions=[full]))
    for version in SESSION_VERSIONS:
        (listed,) = body_of(in_session(request("prompts/list"), version, offer))["result"]["prompts"]
        assert ("title" in listed, "title" in listed["arguments"][0]) == (version >= "2025-06-18",) * 2
        assert ("icons" in listed) == (version >= "2025-11-25")


def test_a_prompt_is_run_with_arguments_that_it_takes() -> None:
    for found in both("prompts/get", {"name": "draw", "arguments": {"what": "a tree"}}):
        assert isinstance(found, GetPrompt)
        assert (found.prompt.definition.name, found.prompt.arguments) == ("draw", {"what": "a tree"})


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "params.name"),
        ({"name": 7}, "params.name"),
        ({"name": "drew"}, 'did you mean "draw"?'),
        ({"name": "draw"}, 'needs the argument "what"'),
        ({"name": "draw", "arguments": []}, "params.arguments"),
        ({"name": "draw", "arguments": {"what": 7}}, "must be a string"),
        ({"name": "draw", "arguments": {"what": "a", "whom": "b"}}, 'no argument "whom"'),
    ],
)
def test_an_unknown_prompt_or_wrong_arguments_are_invalid_params(params: object, words: str) -> None:
    for decision in both("prompts/get", params):
        error = body_of(decision)["error"]
        assert (error["code"], words in error["message"]) == (-32602, True)


def test_messages_are_fitted_to_the_revision() -> None:
    audio = AudioContent(type="audio", data="UklGRg==", mime_type="audio/wav")
    outcome = PromptOutcome((PromptMessage(role="user", content=audio),), "For drawing")
    for version, kind in [("2024-11-05", "text"), ("2025-11-25", "audio")]:
        found = in_session(request("prompts/get", {"name": "sketch"}), version)
        result = body_of(HANDLER.prompt_reply(found, outcome))["result"]
        assert (result["messages"][0]["content"]["type"], result["description"]) == (kind, "For drawing")


def test_who_speaks_streamable_http_gets_what_came_with_it_whatever_revision_they_named() -> None:
    audio = AudioContent(type="audio", data="UklGRg==", mime_type="audio/wav")
    link = ResourceLink(type="resource_link", name="log", uri="file:///log")
    outcome = PromptOutcome(tuple(PromptMessage(role="user", content=content) for content in (audio, link)))
    for handler, kinds in [(HANDLER, ["text", "text"]), (Handler(SERVER, streamable=True), ["audio", "text"])]:
        found = in_session(request("prompts/get", {"name": "sketch"}), "2024-11-05")
        messages = body_of(handler.prompt_reply(found, outcome))["result"]["messages"]
        assert [message["content"]["type"] for message in messages] == kinds


def test_a_prompt_says_what_it_is_for_where_its_outcome_does_not() -> None:
    found = decide(modern("prompts/get", {"name": "draw", "arguments": {"what": "x"}}))
    assert isinstance(found, GetPrompt)
    message = PromptMessage(role="assistant", content=TextContent(type="text", text="hi"))
    result = body_of(STATELESS.prompt_reply(found, PromptOutcome((message,))))["result"]
    assert result["messages"] == [{"role": "assistant", "content": {"type": "text", "text": "hi"}}]
    assert (result["description"], result["resultType"]) == ("Draws.", "complete")


@pytest.mark.parametrize(
    ("definition", "words"),
    [
        (prompt(" "), "name"),
        (prompt(owner=""), "owner"),
        (prompt(arguments=(PromptArgument(name="a"), PromptArgument(name="a"))), "differ"),
        (prompt(description="\ud800"), "written as JSON"),
    ],
)
def test_a_prompt_that_will_not_do_is_refused(definition: Any, words: str) -> None:
    with pytest.raises(RegistrationError, match=words):
        PromptRegistry().apply(additions=[definition])


def test_the_revision_of_prompts_rises_where_clients_can_see_the_change() -> None:
    registry = PromptRegistry()
    first = registry.apply(additions=[prompt()])
    assert registry.apply(additions=[prompt(source="x")]).revision == first.revision
    assert registry.apply(removals=[("sketch", "blocks")]).revision == first.revision + 1


# completion


def test_an_argument_that_somebody_completes_is_handed_on() -> None:
    for reference, name in [
        ({"type": "ref/prompt", "name": "draw"}, "what"),
        ({"type": "ref/resource", "uri": "space://object/{id}"}, "id"),
    ]:
        params = {
            "ref": reference,
            "argument": {"name": name, "value": "tr"},
            "context": {"arguments": {"how": "fast"}},
        }
        for found in both("completion/complete", params):
            assert isinstance(found, Complete)
            made = found.completion
            assert (made.completer, made.argument, made.value, made.filled_in) == (suggest, name, "tr", {"how": "fast"})


@pytest.mark.parametrize(
    ("reference", "name"),
    [({"type": "ref/prompt", "name": "draw"}, "how"), ({"type": "ref/resource", "uri": "space://world"}, "x")],
)
def test_an_argument_that_nobody_completes_has_no_suggestions(reference: object, name: str) -> None:
    for decision in both("completion/complete", {"ref": reference, "argument": {"name": name, "value": ""}}):
        assert body_of(decision)["result"]["completion"] == {"values": [], "total": 0, "hasMore": False}


WHAT = {"name": "what", "value": ""}


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"ref": [], "argument": WHAT},
        {"ref": {"type": "ref/tool"}, "argument": WHAT},
        {"ref": {"type": "ref/prompt", "name": "none"}, "argument": WHAT},
        {"ref": {"type": "ref/prompt", "name": ["draw"]}, "argument": WHAT},
        {"ref": {"type": "ref/resource", "uri": "space://none"}, "argument": WHAT},
        {"ref": {"type": "ref/resource", "uri": {}}, "argument": WHAT},
        {"ref": {"type": "ref/resource", "uri": "space://object/{id}"}, "argument": WHAT},
        {"ref": {"type": "ref/prompt", "name": "draw"}, "argument": {"name": "none", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "draw"}, "argument": {"name": "what", "value": 7}},
        {"ref": {"type": "ref/prompt", "name": "draw"}, "argument": WHAT, "context": 7},
        {"ref": {"type": "ref/prompt", "name": "draw"}, "argument": WHAT, "context": {"arguments": []}},
        {"ref": {"type": "ref/prompt", "name": "draw"}, "argument": WHAT, "context": {"arguments": {"a": 7}}},
    ],
)
def test_a_completion_of_what_is_not_there_is_invalid_params(params: object) -> None:
    for decision in both("completion/complete", params):
        assert body_of(decision)["error"]["code"] == -32602


def test_an_argument_that_is_not_there_is_answered_with_those_that_are() -> None:
    asked = {"ref": {"type": "ref/prompt", "name": "draw"}, "argument": {"name": "nothing", "value": ""}}
    for decision in both("completion/complete", asked):
        assert 'there is no argument "nothing"; these are: what, how' in body_of(decision)["error"]["message"]


def test_of_many_suggestions_the_first_hundred_are_sent() -> None:
    found = decide(modern("completion/complete", {"ref": {"type": "ref/prompt", "name": "draw"}, "argument": WHAT}))
    assert isinstance(found, Complete)
    many = CompletionOutcome(tuple(map(str, range(150))))
    shown = body_of(STATELESS.completion_reply(found, many))["result"]["completion"]
    assert (len(shown["values"]), shown["total"], shown["hasMore"]) == (COMPLETION_VALUES, 150, True)
