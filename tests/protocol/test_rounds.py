"""Calls that ask their client first: the result that asks, and the request that comes back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest
from mcp_types import SamplingMessage, TextContent

from protocol.decision import CallTool, GetPrompt, ReadResource
from protocol.input_request import (
    ElicitAnswer,
    ElicitForm,
    ElicitUrl,
    InputRequired,
    ListRoots,
    MalformedAnswer,
    Sample,
)
from protocol.prompt import PromptOutcome
from protocol.resource import ResourceOutcome
from protocol.rounds import Rounds
from protocol.tool import ToolOutcome
from tests.protocol.samples import HANDLER, SERVER, body_of, called, post, replied, request, session
from tests.protocol.samples import decide as decide_in_session
from tests.protocol.stateless_samples import CLOCK, EVERYTHING, STATELESS, decide, headers_of, modern

FORM = ElicitForm("Who?", {"properties": {"name": {"type": "string"}}, "required": ["name"]})
AGE = ElicitForm("How old?", {"properties": {"age": {"type": "integer"}}})
SAMPLE = Sample(messages=(SamplingMessage(role="user", content=TextContent(type="text", text="hi")),), max_tokens=1)
ADA = {"action": "accept", "content": {"name": "Ada"}}


def call(answers: Any = None, state: object = None, client: object = None, name: str = "space_hello") -> CallTool:
    params: dict[str, Any] = {"name": name}
    if answers is not None:
        params["inputResponses"] = answers
    if state is not None:
        params["requestState"] = state
    return called(decide(modern("tools/call", params, client=EVERYTHING if client is None else client)))


def asked(decision: CallTool, required: InputRequired) -> Any:
    return body_of(STATELESS.call_reply(decision, ToolOutcome.ask(required)).reply)


def rounds(decision: CallTool) -> Rounds:
    assert decision.stateless is not None
    return Rounds(decision.stateless)


def test_a_question_is_a_result_that_says_so() -> None:
    result = asked(call(), InputRequired({"user_name": FORM}))["result"]
    assert result["resultType"] == "input_required"
    assert result["inputRequests"]["user_name"]["method"] == "elicitation/create"
    assert "io.modelcontextprotocol/serverInfo" in result["_meta"]
    assert not {"requestState", "content", "isError", "ttlMs", "cacheScope"} & set(result)


def test_prompts_and_resources_may_ask_too() -> None:
    required = InputRequired({"who": FORM})
    got = decide(modern("prompts/get", {"name": "sketch"}, client=EVERYTHING))
    assert isinstance(got, GetPrompt)
    read = decide(modern("resources/read", {"uri": "space://world"}, client=EVERYTHING))
    assert isinstance(read, ReadResource)
    for reply in (
        STATELESS.prompt_reply(got, PromptOutcome((), input_required=required)),
        STATELESS.read_reply(read, ResourceOutcome((), input_required=required)),
    ):
        result = body_of(reply)["result"]
        assert (result["resultType"], list(result["inputRequests"])) == ("input_required", ["who"])


def test_a_state_comes_back_to_the_same_call() -> None:
    state = asked(call(), InputRequired({"user_name": FORM}, {"step": 1}))["result"]["requestState"]
    again = call({"user_name": ADA}, state)
    assert again.stateless is not None
    assert (again.stateless.state, again.stateless.answers) == ({"step": 1}, {"user_name": ADA})


@pytest.mark.parametrize(
    "change",
    [
        lambda state: f"{state}-TAMPERED",
        lambda state: state[:-4] + ("AAAA" if state[-4:] != "AAAA" else "BBBB"),
        lambda state: "",
        lambda state: "nonsense",
    ],
)
def test_a_tampered_state_is_invalid_params(change: Any) -> None:
    state = asked(call(), InputRequired({"user_name": FORM}, 1))["result"]["requestState"]
    reply = decide(modern("tools/call", {"name": "space_hello", "requestState": change(state)}))
    assert body_of(reply)["error"]["code"] == -32602


def test_a_state_of_another_call_or_another_caller_is_invalid_params() -> None:
    state = asked(call(), InputRequired({"user_name": FORM}, 1))["result"]["requestState"]
    other_tool = modern("tools/call", {"name": "space_slow", "requestState": state})
    assert body_of(decide(other_tool))["error"]["code"] == -32602
    same = modern("tools/call", {"name": "space_hello", "requestState": state})
    facts = post(None, "2026-07-28", mcp_headers=headers_of(same), principal="somebody else")
    assert body_of(decide(same, facts))["error"]["code"] == -32602


def test_an_expired_state_is_invalid_params() -> None:
    state = asked(call(), InputRequired({"user_name": FORM}, 1))["result"]["requestState"]
    CLOCK.now += 601
    reply = decide(modern("tools/call", {"name": "space_hello", "requestState": state}))
    assert (body_of(reply)["error"]["code"], "expired" in body_of(reply)["error"]["message"]) == (-32602, True)


@pytest.mark.parametrize(
    "params", [{"requestState": 7}, {"inputResponses": []}, {"inputResponses": "x"}, {"inputResponses": {"a": 1}}]
)
def test_malformed_answers_and_states_are_invalid_params(params: Any) -> None:
    reply = replied(decide(modern("tools/call", {"name": "space_hello", **params})))
    assert body_of(reply)["error"]["code"] == -32602


def test_lists_look_at_no_answers() -> None:
    message = modern("tools/list", {"inputResponses": 7, "requestState": "nonsense"})
    assert body_of(decide(message))["result"]["resultType"] == "complete"


def test_what_the_client_cannot_be_asked_is_left_out() -> None:
    required = InputRequired({"a": FORM, "b": SAMPLE, "c": ListRoots(), "d": ElicitUrl("Go", "https://e.com")})
    result = asked(call(client={"sampling": {}}), required)["result"]
    assert (result["resultType"], list(result["inputRequests"])) == ("input_required", ["b"])


def test_a_client_that_can_be_asked_nothing_of_it_is_told_what_it_lacks() -> None:
    reply = STATELESS.call_reply(call(client={}), ToolOutcome.ask(InputRequired({"a": SAMPLE}, {"s": 1}))).reply
    error = body_of(reply)["error"]
    assert (reply.status, error["code"]) == (400, -32021)
    assert error["data"] == {"requiredCapabilities": {"sampling": {}}}


def test_a_state_alone_can_be_what_is_required() -> None:
    result = asked(call(client={}), InputRequired({}, {"s": 1}))["result"]
    assert (result["resultType"], "inputRequests" in result) == ("input_required", False)


def test_a_state_that_cannot_be_sealed_is_a_bug_for_the_log() -> None:
    made = STATELESS.call_reply(call(), ToolOutcome.ask(InputRequired({}, object())))
    assert body_of(made.reply)["error"]["code"] == -32603
    assert made.problem is not None


# the rounds of one call


def test_several_questions_are_asked_over_as_many_rounds_as_it_takes() -> None:
    def body(decision: CallTool) -> object:
        """A tool that asks twice, and keeps nothing for itself."""
        talk = rounds(decision)
        first = talk.ask({"name": FORM})
        if not isinstance(first, Mapping):
            return first
        second = talk.ask({"age": AGE})
        return second if not isinstance(second, Mapping) else {**first, **second}

    one = body(call())
    assert one == InputRequired({"name": FORM})
    two = body(call({"name": ADA}))
    assert isinstance(two, InputRequired)
    assert list(two.requests) == ["age"]
    state = asked(call({"name": ADA}), two)["result"]["requestState"]
    three = body(call({"age": {"action": "accept", "content": {"age": 36}}}, state))
    assert three == {"name": ElicitAnswer("accept", {"name": "Ada"}), "age": ElicitAnswer("accept", {"age": 36})}


def test_a_wrong_or_missing_answer_is_asked_for_again_and_an_unknown_one_skipped() -> None:
    for answers in ({}, {"wrong": ADA}, {"name": {"action": "accept", "content": {"name": 7}}}):
        found = rounds(call(answers)).ask({"name": FORM})
        assert isinstance(found, InputRequired)
        assert list(found.requests) == ["name"]
    settled = rounds(call({"name": ADA, "extra": {"x": 1}})).ask({"name": FORM})
    assert settled == {"name": ElicitAnswer("accept", {"name": "Ada"})}


def test_of_two_questions_the_answered_one_is_not_asked_again() -> None:
    required = rounds(call({"name": ADA})).ask({"name": FORM, "age": AGE}, {"mine": 1})
    assert isinstance(required, InputRequired)
    assert list(required.requests) == ["age"]
    state = asked(call({"name": ADA}), required)["result"]["requestState"]
    again = rounds(call({"age": {"action": "decline"}}, state))
    assert again.state == {"mine": 1}
    assert again.ask({"name": FORM, "age": AGE}) == {
        "name": ElicitAnswer("accept", {"name": "Ada"}),
        "age": ElicitAnswer("decline"),
    }


def test_an_answer_that_was_taken_cannot_be_changed_later() -> None:
    required = rounds(call({"name": ADA})).ask({"name": FORM, "age": AGE})
    assert isinstance(required, InputRequired)
    state = asked(call({"name": ADA}), required)["result"]["requestState"]
    eve = {"action": "accept", "content": {"name": "Eve"}}
    found = rounds(call({"name": eve, "age": {"action": "decline"}}, state)).ask({"name": FORM, "age": AGE})
    assert isinstance(found, Mapping)
    assert found["name"] == ElicitAnswer("accept", {"name": "Ada"})


def test_a_malformed_answer_ends_the_round() -> None:
    assert isinstance(rounds(call({"name": {"action": "maybe"}})).ask({"name": FORM}), MalformedAnswer)


# in sessions


def test_a_question_at_the_end_of_a_call_of_a_session_is_a_bug() -> None:
    found = called(decide_in_session(request("tools/call", {"name": "space_hello"}), session()))
    made = HANDLER.call_reply(found, ToolOutcome.ask(InputRequired({"a": FORM})))
    assert body_of(made.reply)["error"]["code"] == -32603
    assert made.problem is not None


@pytest.mark.parametrize(("version", "code"), [("2025-11-25", -32042), ("2025-06-18", -32603)])
def test_pages_that_must_be_visited_first_are_an_error_of_one_revision(version: str, code: int) -> None:
    found = called(decide_in_session(request("tools/call", {"name": "space_hello"}), session(version)))
    page = ElicitUrl("Log in", "https://example.com", "e1")
    error = body_of(HANDLER.call_reply(found, ToolOutcome.ask(InputRequired({"a": page}))).reply)["error"]
    assert error["code"] == code
    if code == -32042:
        assert error["data"]["elicitations"] == [
            {"mode": "url", "message": "Log in", "url": "https://example.com", "elicitationId": "e1"}
        ]


def test_every_result_without_a_session_says_who_made_it() -> None:
    result = json.loads(STATELESS.call_reply(call(), ToolOutcome.text("hi")).reply.body)["result"]
    about = {"name": SERVER.name, "version": SERVER.version, "title": SERVER.title}
    assert result == {
        "resultType": "complete",
        "_meta": {"io.modelcontextprotocol/serverInfo": about},
        "content": [{"type": "text", "text": "hi"}],
        "isError": False,
    }


AGREE = ElicitForm("May I?", {"properties": {}}, agreement=True)
YES = {"action": "accept", "content": {}}


def agreed(decision: CallTool, form: ElicitForm = AGREE) -> object:
    return rounds(decision).ask({"sure": form})


def test_an_agreement_that_nobody_was_asked_for_is_none() -> None:
    found = agreed(call({"sure": YES}))
    assert isinstance(found, InputRequired)
    assert found.once
    assert set(found.requests) == {"sure"}


def test_an_agreement_counts_with_the_state_of_its_question_and_once() -> None:
    required = agreed(call())
    assert isinstance(required, InputRequired)
    state = asked(call(), required)["result"]["requestState"]
    assert agreed(call({"sure": YES}, state)) == {"sure": ElicitAnswer("accept", {})}
    params = {"name": "space_hello", "inputResponses": {"sure": YES}, "requestState": state}
    error = body_of(replied(decide(modern("tools/call", params, client=EVERYTHING))))["error"]
    assert error["code"] == -32602
    assert "used already" in error["message"]


def test_an_agreement_to_one_question_is_none_to_another_of_the_same_name() -> None:
    required = agreed(call())
    assert isinstance(required, InputRequired)
    state = asked(call(), required)["result"]["requestState"]
    other = ElicitForm("May I burn it?", {}, agreement=True)
    assert isinstance(agreed(call({"sure": YES}, state), other), InputRequired)


def test_a_state_that_carries_an_agreement_into_a_later_round_is_for_once_as_well() -> None:
    required = agreed(call())
    assert isinstance(required, InputRequired)
    state = asked(call(), required)["result"]["requestState"]
    second = rounds(call({"sure": YES}, state))
    assert second.ask({"sure": AGREE}) == {"sure": ElicitAnswer("accept", {})}
    more = second.ask({"user_name": FORM})
    assert isinstance(more, InputRequired)
    assert more.once
    third = rounds(call({"user_name": ADA}, asked(call(), more)["result"]["requestState"]))
    assert third.ask({"sure": AGREE}) == {"sure": ElicitAnswer("accept", {})}
