"""What only sessions have: log levels, watched resources, questions as requests of ours, and what is declared."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp_types import Icon

from protocol.client_capabilities import Capability, ClientCapabilities
from protocol.client_requests import Answered, AskedClient, ClientRequestTable, NotAsked
from protocol.decision import Accepted, ClientAnswered, OpenSession, RootsChanged, RunBatch, SetLogLevel
from protocol.input_request import ElicitAnswer, ElicitForm, ElicitUrl, InputRefused, ListRoots, MalformedAnswer
from protocol.jsonrpc import Response, parse
from protocol.log_level import LogLevel
from protocol.offer import Offer
from protocol.session import SessionTable, TooManySubscriptionsError
from protocol.versions import SESSION_VERSIONS
from tests.protocol.samples import (
    HANDLER,
    NOW,
    TOOLS,
    body_of,
    initialize,
    notification,
    post,
    request,
    session,
    tool,
    tools,
)
from tests.protocol.samples import decide as decide_with_tools
from tests.protocol.stateless_samples import EVERYTHING, OFFER, STATELESS, decide, modern

FORM = ElicitForm("Who?", {"properties": {"name": {"type": "string"}}, "required": ["name"]})


def in_session(message: Any, version: str = "2025-11-25", offer: Offer = OFFER) -> Any:
    return HANDLER.decide(post("session-1"), parse(json.dumps(message).encode()), session(version), offer)


def client(declared: object) -> ClientCapabilities:
    found = ClientCapabilities.read(declared)
    assert isinstance(found, ClientCapabilities)
    return found


# what is declared


@pytest.mark.parametrize("version", SESSION_VERSIONS)
def test_what_is_offered_is_declared_as_far_as_the_revision_knows_it(version: str) -> None:
    opening = decide_with_tools(initialize(version))
    assert isinstance(opening, OpenSession)
    declared = body_of(HANDLER.initialize_reply(opening, session(version), offer=OFFER))["result"]["capabilities"]
    wanted: dict[str, Any] = {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "logging": {},
    }
    assert declared == (wanted if version == "2024-11-05" else {**wanted, "completions": {}})


def test_the_description_of_the_server_names_what_is_offered() -> None:
    result = body_of(decide(modern("server/discover")))["result"]
    assert result["supportedVersions"] == ["2026-07-28"]
    assert result["instructions"] == "Draw with +y up."
    assert set(result["capabilities"]) == {"tools", "resources", "prompts", "completions", "logging", "extensions"}
    assert result["capabilities"]["extensions"] == {"io.modelcontextprotocol/tasks": {}}
    assert "serverInfo" not in result
    bare = body_of(decide(modern("server/discover"), offer=Offer()))["result"]
    assert (bare["capabilities"], "instructions" in bare) == ({"tools": {"listChanged": True}}, False)


def test_what_is_declared_answers_and_what_is_not_does_not() -> None:
    methods = {
        "resources": "resources/list",
        "prompts": "prompts/list",
        "completions": "completion/complete",
        "logging": "logging/setLevel",
    }
    for method in methods.values():
        assert body_of(in_session(request(method), offer=Offer(tools=TOOLS)))["error"]["code"] == -32601
        found = in_session(request(method))
        assert body_of(found).get("error", {}).get("code") != -32601


def test_what_a_client_can_do_is_known_from_the_start() -> None:
    message = request("initialize", {"protocolVersion": "2025-11-25", "capabilities": EVERYTHING})
    opening = decide_with_tools(message)
    assert isinstance(opening, OpenSession)
    assert opening.capabilities.known == set(Capability)
    odd = decide_with_tools(request("initialize", {"protocolVersion": "2025-11-25", "capabilities": {"roots": 7}}))
    assert isinstance(odd, OpenSession)
    assert not odd.capabilities.known


def test_a_tool_shows_its_icons_where_the_revision_knows_them() -> None:
    offer = Offer(tools=tools(tool(icons=(Icon(src="https://example.com/a.png"),))))
    for version in SESSION_VERSIONS:
        (listed,) = body_of(in_session(request("tools/list"), version, offer))["result"]["tools"]
        assert ("icons" in listed) == (version >= "2025-11-25")


# logging


@pytest.mark.parametrize("level", list(LogLevel))
def test_a_session_chooses_its_log_level(level: LogLevel) -> None:
    found = in_session(request("logging/setLevel", {"level": level.value}))
    assert found == SetLogLevel(1, "session-1", level)
    assert body_of(HANDLER.empty_reply(found))["result"] == {}


@pytest.mark.parametrize("level", [None, "loud", 7, ["info"], "INFO"])
def test_a_level_that_does_not_exist_is_invalid_params(level: object) -> None:
    assert body_of(in_session(request("logging/setLevel", {"level": level})))["error"]["code"] == -32602


def test_a_message_reaches_those_who_want_its_level_or_a_lesser_one() -> None:
    assert LogLevel.ERROR.reaches(LogLevel.WARNING)
    assert LogLevel.WARNING.reaches(LogLevel.WARNING)
    assert not LogLevel.INFO.reaches(LogLevel.WARNING)
    assert not LogLevel.EMERGENCY.reaches(None)


# the record of a session


def test_a_session_remembers_what_its_client_can_do_and_wants() -> None:
    table = SessionTable(new_id=lambda: "s", subscriptions=2)
    opened = table.open(NOW, "2025-11-25", capabilities=client({"roots": {}}))
    assert Capability.ROOTS in opened.session.capabilities
    table.set_log_level("s", LogLevel.ERROR)
    table.subscribe("s", "a://1")
    table.subscribe("s", "a://2")
    table.subscribe("s", "a://2")
    with pytest.raises(TooManySubscriptionsError, match="2 resources"):
        table.subscribe("s", "a://3")
    table.unsubscribe("s", "a://1")
    table.unsubscribe("s", "a://none")
    table.begin("s", NOW)
    table.end("s", NOW)
    found = table.get("s")
    assert found is not None
    assert (found.log_level, found.subscriptions) == (LogLevel.ERROR, {"a://2"})
    assert Capability.ROOTS in found.capabilities
    assert table.subscribe("gone", "a://1") is table.unsubscribe("gone", "a://1") is None
    assert table.set_log_level("gone", LogLevel.INFO) is None


def test_a_version_without_sessions_opens_none() -> None:
    with pytest.raises(ValueError, match="has no sessions"):
        SessionTable().open(NOW, "2026-07-28")


# requests of ours


def test_an_answer_is_handed_on_where_somebody_waits_for_answers() -> None:
    message = {"jsonrpc": "2.0", "id": "space-1", "result": {"roots": []}}
    assert in_session(message) == ClientAnswered("session-1", Response("space-1", {"roots": []}))
    assert in_session(message, offer=Offer()) == Accepted()
    batch = in_session([message, message], "2025-03-26")
    assert isinstance(batch, RunBatch)
    assert all(isinstance(item, ClientAnswered) for item in batch.items)


def test_a_change_of_the_folders_is_told() -> None:
    changed = notification("notifications/roots/list_changed")
    assert in_session(changed) == RootsChanged("session-1")
    assert in_session(changed, offer=Offer()) == Accepted()


def asking(table: ClientRequestTable, request_: Any = FORM, session_id: str = "s", declared: Any = EVERYTHING) -> Any:
    return table.ask(session_id, request_, client(declared), "2025-11-25")


def test_a_question_goes_out_with_an_id_of_ours_and_its_answer_is_known_by_it() -> None:
    table = ClientRequestTable()
    sent = asking(table)
    assert isinstance(sent, AskedClient)
    message = json.loads(sent.message)
    assert (message["jsonrpc"], message["id"], message["method"]) == ("2.0", sent.id, "elicitation/create")
    answer = {"action": "accept", "content": {"name": "Ada"}}
    assert table.answer("s", Response(sent.id, answer)) == Answered(sent.id, ElicitAnswer("accept", {"name": "Ada"}))
    assert table.answer("s", Response(sent.id, answer)) is None
    assert len(table) == 0


def test_a_question_without_params_has_none() -> None:
    sent = asking(ClientRequestTable(), ListRoots())
    assert "params" not in json.loads(sent.message)


def test_only_the_session_that_was_asked_can_answer() -> None:
    table = ClientRequestTable()
    sent = asking(table)
    for session_id, request_id in [("other", sent.id), ("s", 1), ("s", None), ("s", "space-99")]:
        assert table.answer(session_id, Response(request_id, {"action": "accept"})) is None
    assert len(table) == 1


@pytest.mark.parametrize(
    ("response", "answer"),
    [
        (Response("space-1", error={"code": -1, "message": "no"}), InputRefused(-1, "no")),
        (Response("space-1", {"action": "accept", "content": {}}), None),
    ],
)
def test_a_refusal_and_a_form_filled_in_wrongly_are_told_apart(response: Response, answer: object) -> None:
    table = ClientRequestTable()
    asking(table)
    assert table.answer("s", response) == Answered("space-1", answer)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_an_answer_that_is_none_is_malformed() -> None:
    table = ClientRequestTable()
    asking(table)
    found = table.answer("s", Response("space-1", []))
    assert found is not None
    assert isinstance(found.answer, MalformedAnswer)


def test_a_client_is_not_asked_what_it_cannot_do_or_too_much() -> None:
    table = ClientRequestTable(limit=1)
    refused = asking(table, declared={})
    assert isinstance(refused, NotAsked)
    assert "elicitation/create" in refused.reason
    asking(table)
    assert isinstance(asking(table), NotAsked)
    assert isinstance(asking(table, session_id="other"), AskedClient)


def test_a_page_needs_an_id_in_a_session() -> None:
    table = ClientRequestTable()
    assert isinstance(asking(table, ElicitUrl("Go", "https://example.com")), NotAsked)
    assert isinstance(asking(table, ElicitUrl("Go", "https://example.com", "e1")), AskedClient)


def test_a_session_that_ends_is_waited_for_no_more() -> None:
    table = ClientRequestTable()
    first, second = asking(table), asking(table)
    table.forget("s", first.id)
    table.forget("s", first.id)
    assert table.end_session("s") == (second.id,)
    assert (table.end_session("s"), len(table)) == ((), 0)


def test_a_failure_is_an_internal_error_of_its_request() -> None:
    found = in_session(request("resources/read", {"uri": "space://world"}, "r"))
    body = body_of(STATELESS.failure_reply(found, "the disk is gone"))
    assert (body["id"], body["error"]) == ("r", {"code": -32603, "message": "the disk is gone"})
