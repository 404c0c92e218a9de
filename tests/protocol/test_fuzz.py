"""Whatever a client sends, the parser and the handler answer it, blame the client and never crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from protocol.decision import (
    Accepted,
    CallTool,
    CancelCall,
    Decision,
    HiddenOrUnknownTool,
    OpenSession,
    Reply,
    RunBatch,
)
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Notification, ParseFault, Request, encode, encode_result, parse
from protocol.schema import compile_schema
from protocol.session import Session
from protocol.tool import ToolOutcome
from protocol.versions import REVISIONS
from tests.protocol.samples import HANDLER, SHAPE_SCHEMA, TOOLS, post, session

pytestmark = pytest.mark.slow

quick = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.sampled_from(["2.0", "\u2028", "space_shape", "2025-03-26", 10**400, -(2**63)])
)
JSON_VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
METHODS = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "notifications/initialized", "notifications/cancelled", "x"]
)
PARAMS = st.dictionaries(
    st.sampled_from(
        ["name", "arguments", "cursor", "_meta", "protocolVersion", "clientInfo", "requestId", "progressToken"]
    ),
    JSON_VALUES
    | st.sampled_from(
        ["space_shape", "space_hello", {"progressToken": 1}, {"shape": "ellipse", "width": 1}, "2025-06-18"]
    ),
)
MESSAGES = st.fixed_dictionaries(
    {},
    optional={
        "jsonrpc": st.just("2.0") | JSON_VALUES,
        "id": st.integers(-5, 5) | st.text(max_size=3) | JSON_VALUES,
        "method": METHODS | JSON_VALUES,
        "params": PARAMS | JSON_VALUES,
        "result": JSON_VALUES,
        "error": JSON_VALUES,
    },
) | st.builds(
    lambda request_id, method, params: {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params},
    st.integers(-5, 5),
    METHODS,
    PARAMS,
)
SESSIONS = st.none() | st.builds(session, st.sampled_from(list(REVISIONS)), negotiated=st.booleans())
FACTS = st.builds(
    post,
    st.none() | st.sampled_from(["session-1", "gone", "", "ü\u2028"]),
    st.none() | st.sampled_from([*REVISIONS, "2026-07-28", "", "\ud800"]),
)


def assert_blames_the_client(reply: Reply) -> None:
    """A reply is JSON-RPC on one line; an error in it has a code and a text, and an id only where one was readable."""
    assert reply.status in {200, 400, 404}
    assert b"\n" not in reply.body
    body = json.loads(reply.body)
    assert body["jsonrpc"] == "2.0"
    assert ("result" in body) != ("error" in body)
    assert "id" not in body or (isinstance(body["id"], int | str) and not isinstance(body["id"], bool))
    if "error" in body:
        assert body["error"]["code"] in {-32700, -32600, -32601, -32602, -32001, -32022}
        assert body["error"]["message"]


def assert_sound(decision: Decision) -> None:
    """Carry a decision through to its bytes."""
    match decision:
        case Reply():
            assert_blames_the_client(decision)
        case HiddenOrUnknownTool():
            assert_blames_the_client(HANDLER.unknown_tool_reply(decision))
            assert_blames_the_client(HANDLER.refused_tool_reply(decision, "hidden"))
        case CallTool():
            assert_blames_the_client(HANDLER.call_reply(decision, ToolOutcome.text("ran")).reply)
        case OpenSession():
            assert_blames_the_client(HANDLER.initialize_reply(decision, session()))
        case RunBatch():
            for item in decision.items:
                assert_sound(item)
        case CancelCall() | Accepted():
            pass


def decide(body: bytes, facts: HttpFacts, of: Session | None) -> Decision:
    return HANDLER.decide(facts, parse(body), of if facts.session_id is not None else None, TOOLS)


@quick
@given(st.binary(max_size=200), FACTS, SESSIONS)
def test_random_bytes_are_answered(body: bytes, facts: HttpFacts, of: Session | None) -> None:
    assert_sound(decide(body, facts, of))


@quick
@given(st.text(alphabet='{}[]":,0123456789eE+-.\\untrfalsey \ud83d', max_size=60))
def test_almost_json_is_answered(text: str) -> None:
    assert_sound(decide(text.encode("utf-8", "surrogatepass"), post("session-1"), session()))


@quick
@given(MESSAGES | st.lists(MESSAGES, max_size=4) | JSON_VALUES, FACTS, SESSIONS)
@example(
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "\ud800"}}, post("session-1"), session()
)
def test_random_messages_are_answered(message: Any, facts: HttpFacts, of: Session | None) -> None:
    # The writer of the standard library also writes NaN and half characters, as a careless client would.
    assert_sound(decide(json.dumps(message).encode(), facts, of))


@quick
@given(MESSAGES)
def test_a_readable_id_comes_back(message: dict[str, Any]) -> None:
    found = parse(json.dumps(message).encode())
    if isinstance(found, Request):
        assert (found.id, type(found.id)) == (message["id"], type(message["id"]))
        assert json.loads(encode_result(found.id, b"{}"))["id"] == message["id"]
    elif isinstance(found, Notification):
        assert "id" not in message


@quick
@given(st.integers(65, 3000), st.sampled_from(["[", '{"a":', '[{"a":']), st.booleans())
def test_deep_nesting_is_answered(depth: int, opening: str, closed: bool) -> None:
    ends = {"[": "]", '{"a":': "}", '[{"a":': "}]"}
    body = opening * depth + "1" + (ends[opening] * depth if closed else "")
    found = parse(body.encode())
    assert isinstance(found, ParseFault)


@quick
@given(st.from_regex(r"-?[1-9][0-9]{0,5}(\.[0-9]{1,5})?[eE][+-]?[0-9]{1,5}", fullmatch=True))
def test_a_number_is_finite_or_refused(number: str) -> None:
    found = parse(b'{"jsonrpc":"2.0","method":"p","params":{"a":%b}}' % number.encode())
    if isinstance(found, Notification):
        assert abs(found.params["a"]) < float("inf")
    else:
        assert abs(float(number)) == float("inf")


@quick
@given(JSON_VALUES | st.dictionaries(st.sampled_from(["shape", "width", "style", "points", "x"]), JSON_VALUES))
def test_random_arguments_are_judged(value: Any) -> None:
    for problem in compile_schema(SHAPE_SCHEMA).problems(value):
        assert 0 < len(str(problem)) < 600
        encode(str(problem).encode("utf-8", "replace").decode())
