"""Whatever a client sends, the parser and the handler answer it, blame the client and never crash."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from protocol.client_capabilities import Capability, ClientCapabilities
from protocol.client_requests import ClientRequestTable
from protocol.completion import CompletionOutcome
from protocol.decision import (
    Accepted,
    CallTool,
    CancelCall,
    CancelTask,
    ClientAnswered,
    Complete,
    Decision,
    GetPrompt,
    GetTask,
    HiddenOrUnknownTool,
    Listen,
    OpenSession,
    ReadResource,
    Reply,
    RootsChanged,
    RunBatch,
    SetLogLevel,
    Subscribe,
    Unsubscribe,
    UpdateTask,
)
from protocol.handler import Handler
from protocol.http_facts import HttpFacts
from protocol.input_request import ElicitForm, InputRequest, InputRequired, ListRoots, MalformedAnswer, Sample, settle
from protocol.jsonrpc import Notification, ParseFault, Request, encode, encode_result, parse
from protocol.notifications import acknowledged
from protocol.prompt import PromptOutcome
from protocol.resource import ResourceOutcome
from protocol.rounds import Rounds
from protocol.schema import compile_schema
from protocol.session import Session
from protocol.task_table import TaskTable
from protocol.tool import ToolOutcome
from protocol.versions import SESSION_VERSIONS
from tests.protocol.samples import HANDLER, NOW, SHAPE_SCHEMA, TOOLS, post, session
from tests.protocol.stateless_samples import CLOCK, EVERYTHING, OFFER, STATELESS, VERSION, headers_of, meta

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
SESSIONS = st.none() | st.builds(session, st.sampled_from(list(SESSION_VERSIONS)), negotiated=st.booleans())
FACTS = st.builds(
    post,
    st.none() | st.sampled_from(["session-1", "gone", "", "ü\u2028"]),
    st.none() | st.sampled_from([*SESSION_VERSIONS, "2026-07-28", "", "\ud800"]),
)


ALL_CAPABILITIES = ClientCapabilities(frozenset(Capability))
CLIENT_CODES = {-32700, -32600, -32601, -32602, -32001, -32002, -32020, -32021, -32022}


def assert_blames_the_client(reply: Reply) -> None:
    """A reply is JSON-RPC on one line; an error in it has a code and a text, and an id only where one was readable."""
    assert reply.status in {200, 400, 404}
    assert b"\n" not in reply.body
    body = json.loads(reply.body)
    assert body["jsonrpc"] == "2.0"
    assert ("result" in body) != ("error" in body)
    assert "id" not in body or (isinstance(body["id"], int | str) and not isinstance(body["id"], bool))
    if "error" in body:
        assert body["error"]["code"] in CLIENT_CODES
        assert body["error"]["message"]


QUESTIONS: dict[str, InputRequest] = {
    "name": ElicitForm("Who?", {"properties": {"name": {"type": "string"}}, "required": ["name"]}),
    "roots": ListRoots(),
    "text": Sample(messages=(), max_tokens=1),
}


def assert_sound(decision: Decision, handler: Handler = HANDLER) -> None:
    """Carry a decision through to its bytes."""
    match decision:
        case Reply():
            assert_blames_the_client(decision)
        case HiddenOrUnknownTool():
            assert_blames_the_client(handler.unknown_tool_reply(decision))
            assert_blames_the_client(handler.refused_tool_reply(decision, "hidden"))
        case CallTool(stateless=sender):
            assert_blames_the_client(handler.call_reply(decision, ToolOutcome.text("ran")).reply)
            if sender is not None:
                asked = Rounds(sender).ask(QUESTIONS, sender.state)
                if isinstance(asked, InputRequired):
                    assert_blames_the_client(handler.call_reply(decision, ToolOutcome.ask(asked)).reply)
                assert_blames_the_client(
                    handler.task_created_reply(decision, TaskTable().create(NOW, VERSION, sender.principal))
                )
        case ReadResource():
            assert_blames_the_client(handler.read_reply(decision, ResourceOutcome(())))
            assert_blames_the_client(handler.missing_resource_reply(decision))
        case GetPrompt():
            assert_blames_the_client(handler.prompt_reply(decision, PromptOutcome(())))
        case Complete():
            assert_blames_the_client(handler.completion_reply(decision, CompletionOutcome(("a",))))
        case SetLogLevel() | Subscribe() | Unsubscribe():
            assert_blames_the_client(handler.empty_reply(decision))
        case Listen():
            assert json.loads(acknowledged(decision.request_id, decision.kept))["method"]
            assert_blames_the_client(handler.listen_end_reply(decision))
        case GetTask() | CancelTask() | UpdateTask():
            assert_blames_the_client(handler.empty_reply(decision))
            assert_blames_the_client(handler.unknown_task_reply(decision))
        case OpenSession():
            assert_blames_the_client(handler.initialize_reply(decision, session(), offer=OFFER))
        case RunBatch():
            for item in decision.items:
                assert_sound(item, handler)
        case ClientAnswered(response=response):
            table = ClientRequestTable(prefix="")
            for question in QUESTIONS.values():
                table.ask("session-1", question, ALL_CAPABILITIES, "2025-11-25")
            table.answer("session-1", response)
        case CancelCall() | Accepted() | RootsChanged():
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


# both generations, with everything on offer

FEATURE_METHODS = st.sampled_from(
    [
        *("initialize", "ping", "server/discover", "tools/list", "tools/call", "subscriptions/listen"),
        *("resources/list", "resources/templates/list", "resources/read", "resources/subscribe"),
        *("resources/unsubscribe", "prompts/list", "prompts/get", "completion/complete", "logging/setLevel"),
        *("tasks/get", "tasks/update", "tasks/cancel", "notifications/cancelled", "notifications/roots/list_changed"),
    ]
)
FEATURE_VALUES = JSON_VALUES | st.sampled_from(
    [
        *(
            "space_hello",
            "space_job",
            "space_routed",
            "space_slow",
            "space://world",
            "space://object/1",
            "draw",
            "debug",
        ),
        {"what": "a"},
        {"name": "what", "value": ""},
        {"region": "a", "count": 2},
        {"type": "ref/prompt", "name": "draw"},
        {"type": "ref/resource", "uri": "space://object/{id}"},
        {"name": {"action": "accept", "content": {"name": "a"}}, "roots": {"roots": []}},
        {"name": {}},
        {"toolsListChanged": True, "resourceSubscriptions": ["a"], "taskIds": ["b"]},
    ]
)
FEATURE_PARAMS = st.dictionaries(
    st.sampled_from(
        [
            *("name", "arguments", "uri", "ref", "argument", "context", "level", "cursor", "notifications", "taskId"),
            *("inputResponses", "requestState", "_meta", "protocolVersion", "capabilities"),
        ]
    ),
    FEATURE_VALUES,
    max_size=5,
)
METAS = st.sampled_from([meta(), meta(client=EVERYTHING), meta(client=EVERYTHING, logLevel="debug", progressToken=1)])
FEATURE_REQUESTS = st.builds(
    lambda request_id, method, params, about, claims: {
        "jsonrpc": "2.0",
        "id": request_id,
        "method": method,
        "params": {"_meta": about, **params} if claims else params,
    },
    st.integers(-5, 5) | st.text(max_size=3),
    FEATURE_METHODS,
    FEATURE_PARAMS,
    METAS | st.dictionaries(st.sampled_from(list(meta())), JSON_VALUES),
    st.booleans(),
)
HEADER_NAMES = st.sampled_from(
    ["mcp-protocol-version", "mcp-method", "mcp-name", "mcp-param-region", "mcp-param-count", "mcp-session-id"]
)
HEADERS = st.lists(
    st.tuples(HEADER_NAMES, st.text(max_size=12) | st.sampled_from([VERSION, "tools/call", "=?base64?YQ==?=", "2"])),
    max_size=3,
).map(tuple)


@quick
@given(FEATURE_REQUESTS, SESSIONS)
def test_every_feature_answers_whatever_a_client_of_a_session_asks(message: Any, of: Session | None) -> None:
    facts = post(None if of is None else "session-1")
    assert_sound(STATELESS.decide(facts, parse(json.dumps(message).encode()), of, OFFER), STATELESS)


@settings(quick, max_examples=400)
@given(FEATURE_REQUESTS, HEADERS, st.booleans())
def test_every_feature_answers_whatever_a_client_without_a_session_asks(
    message: Any, headers: tuple[tuple[str, str], ...], fitting: bool
) -> None:
    known = (*headers_of(message), *(() if fitting else headers))
    facts = post(None, VERSION, mcp_headers=known)
    assert_sound(STATELESS.decide(facts, parse(json.dumps(message).encode()), None, OFFER), STATELESS)


@quick
@given(MESSAGES | st.lists(MESSAGES, max_size=4) | JSON_VALUES, HEADERS, st.sampled_from([None, VERSION, "x"]))
def test_every_body_is_answered_without_a_session(message: Any, headers: Any, version: str | None) -> None:
    facts = post(None, version, mcp_headers=headers)
    assert_sound(STATELESS.decide(facts, parse(json.dumps(message).encode()), None, OFFER), STATELESS)


@quick
@given(st.dictionaries(st.sampled_from([*QUESTIONS, "other"]), JSON_VALUES | FEATURE_VALUES))
def test_every_answer_to_a_question_is_judged(answers: Any) -> None:
    found = settle(QUESTIONS, answers)
    assert isinstance(found, MalformedAnswer) or set(found.answers) | set(found.missing) == set(QUESTIONS)
    tasks = TaskTable()
    task = tasks.create(CLOCK(), VERSION, "me")
    tasks.require(task.id, QUESTIONS, CLOCK())
    assert tasks.answer(task.id, "me", answers, CLOCK()) is not None
