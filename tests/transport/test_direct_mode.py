"""Direct mode over a real socket: sessions, their streams, and what each message is answered with."""

from __future__ import annotations

import pytest

from actors.context import EditCapabilities, PatchContext
from actors.resolution import CapabilityEdit
from tests.transport.conftest import LogEntries
from tests.transport.mcp_client import BOTH, LIST_CHANGED, ONLY_JSON, McpClient, call, initialize, post_bytes, rpc
from tests.transport.raw_http import connected, request_bytes
from tests.transport.running_engine import RunningEngine
from tests.transport.tools_on_trial import CRASH, ECHO, FAIL, IMAGE, PIXEL, SCENE_ONLY

NOBODY = "00000000-0000-4000-8000-000000000000"


async def test_initialize_opens_a_session_and_says_who_serves(engine: RunningEngine) -> None:
    response = await McpClient(engine.port).post(initialize("2025-11-25"))
    assert response.status == 200
    assert response.header("content-type") == "application/json"
    answer = response.json
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 0)
    assert answer["result"]["protocolVersion"] == "2025-11-25"
    assert answer["result"]["capabilities"] == {
        "tools": {"listChanged": True},
        "resources": {"subscribe": True, "listChanged": True},
        "prompts": {"listChanged": True},
        "completions": {},
        "logging": {},
    }
    assert answer["result"]["serverInfo"]["name"] == "space"
    assert "surface=canvas" in answer["result"]["instructions"]
    session = response.header("mcp-session-id")
    assert session is not None
    assert len(session) == 36


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("2024-11-05", "2024-11-05"),
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
        ("yesterday", "2025-11-25"),
    ],
)
async def test_the_version_that_is_asked_for_is_spoken_where_it_is_served(
    engine: RunningEngine, asked: str, answered: str
) -> None:
    response = await McpClient(engine.port).post(initialize(asked))
    assert response.json["result"]["protocolVersion"] == answered


async def test_each_initialize_opens_a_session_of_its_own(engine: RunningEngine) -> None:
    first, second = await engine.client(), await engine.client()
    assert first.session != second.session
    assert (await engine.status())["mcp"]["session_count"] == 2


async def test_the_list_has_the_tools_of_this_context_and_no_others(engine: RunningEngine) -> None:
    client = await engine.client()
    names = await client.tool_names()
    assert names == sorted(names)
    assert ECHO in names
    assert SCENE_ONLY not in names


async def test_a_call_is_answered_with_text_and_structured_content(engine: RunningEngine) -> None:
    client = await engine.client()
    result = await client.call(ECHO, {"text": "hällo\u2028"})
    assert result == {
        "content": [{"type": "text", "text": "hällo\u2028"}],
        "structuredContent": {"text": "hällo\u2028"},
        "isError": False,
    }


async def test_an_image_is_image_content(engine: RunningEngine) -> None:
    client = await engine.client()
    result = await client.call(IMAGE)
    assert result["content"][-1] == {"type": "image", "data": PIXEL, "mimeType": "image/png"}


async def test_a_tool_that_refuses_answers_with_its_reason(engine: RunningEngine) -> None:
    client = await engine.client()
    result = await client.call(FAIL)
    assert result["isError"] is True
    assert "there is no such thing; try another" in result["content"][0]["text"]


async def test_a_tool_with_a_bug_fails_its_call_and_nothing_else(
    engine: RunningEngine, errors_logged: LogEntries
) -> None:
    client = await engine.client()
    result = await client.call(CRASH)
    assert result["isError"] is True
    assert (await client.call(ECHO, {"text": "still here"}))["isError"] is False
    (entry,) = [entry for entry in errors_logged if entry["log_level"] == "error"]
    assert (entry["event"], entry["tool"]) == ("tool_failed", CRASH)
    errors_logged.clear()


async def test_arguments_are_checked_before_the_tool_runs(engine: RunningEngine) -> None:
    client = await engine.client()
    result = await client.call(ECHO, {"text": 7})
    assert result["isError"] is True
    assert "text" in result["content"][0]["text"]


async def test_an_unknown_tool_is_an_error_of_the_parameters(engine: RunningEngine) -> None:
    client = await engine.client()
    error = (await client.ask("tools/call", {"name": "space_nothing"}))["error"]
    assert error["code"] == -32602
    assert "space_nothing" in error["message"]


async def test_a_hidden_tool_is_refused_with_its_reason(engine: RunningEngine) -> None:
    client = await engine.client()
    result = await client.call(SCENE_ONLY)
    assert result["isError"] is True
    assert "surface=scene" in result["content"][0]["text"]


async def test_ping_is_answered_with_an_empty_result(engine: RunningEngine) -> None:
    client = await engine.client()
    assert await client.ask("ping", request_id="p-1") == {"jsonrpc": "2.0", "id": "p-1", "result": {}}


async def test_a_method_that_is_not_served_is_named_in_the_error(engine: RunningEngine) -> None:
    client = await engine.client()
    error = (await client.ask("resources/everything"))["error"]
    assert error["code"] == -32601
    assert "resources/everything" in error["message"]


@pytest.mark.parametrize(
    "message",
    [
        rpc("notifications/initialized", request_id=None),
        rpc("notifications/cancelled", {"requestId": 99, "reason": "late"}, None),
        rpc("notifications/nobody/knows/this", request_id=None),
        {"jsonrpc": "2.0", "id": 5, "result": {}},
    ],
    ids=["initialized", "cancelled", "unknown", "response"],
)
async def test_what_wants_no_answer_gets_202_and_an_empty_body(engine: RunningEngine, message: object) -> None:
    client = await engine.client()
    response = await client.post(message)
    assert (response.status, response.body) == (202, b"")
    assert response.header("content-length") == "0"
    assert response.header("content-type") is None


async def test_an_unknown_session_is_exactly_404(engine: RunningEngine) -> None:
    stranger = McpClient(engine.port, NOBODY)
    response = await stranger.post(rpc("tools/list"))
    assert response.status == 404
    assert response.json["id"] == 1
    assert (await stranger.delete()).status == 404
    get = await engine.request("GET", "/mcp", (("Accept", "text/event-stream"), *stranger.headers))
    assert get.status == 404
    assert get.json["error"]["code"] == -32001


async def test_no_session_is_400(engine: RunningEngine) -> None:
    nobody = McpClient(engine.port)
    assert (await nobody.post(rpc("tools/list"))).status == 400
    assert (await nobody.delete()).status == 400
    assert (await engine.request("GET", "/mcp", (("Accept", "text/event-stream"),))).status == 400


async def test_the_session_may_stand_in_the_query(engine: RunningEngine) -> None:
    client = await engine.client()
    for name in ("sessionId", "session_id"):
        async with connected(engine.port) as connection:
            await connection.send(post_bytes(rpc("ping"), target=f"/mcp?{name}={client.session}"))
            assert (await connection.read_response()).json["result"] == {}


async def test_a_deleted_session_is_unknown_for_ever_after(engine: RunningEngine) -> None:
    client = await engine.client()
    stream = await client.following_stream()
    response = await client.delete()
    assert (response.status, response.body, response.header("content-length")) == (204, b"", None)
    assert await stream.next_event() is None
    assert (await client.post(rpc("ping"))).status == 404
    assert (await client.delete()).status == 404
    await stream.finish()


async def test_a_stream_begins_with_list_changed_and_tells_of_each_change(engine: RunningEngine) -> None:
    client = await engine.client()
    stream = await client.open_stream()
    assert await stream.next_message() == LIST_CHANGED
    await engine.space.context.ask(PatchContext({"surface": "scene"}))
    assert await stream.next_message() == LIST_CHANGED
    assert SCENE_ONLY in await client.tool_names()
    await engine.space.context.ask(EditCapabilities(CapabilityEdit(remove_presets=("trial-scene-tools",))))
    assert await stream.next_message() == LIST_CHANGED
    await stream.finish()


async def test_a_change_that_leaves_the_list_as_it_was_tells_nobody(engine: RunningEngine) -> None:
    client = await engine.client()
    stream = await client.following_stream()
    before = (await engine.status())["mcp"]["list_changed_count"]
    await engine.space.context.ask(PatchContext({"weather": "fine"}))
    await engine.space.context.ask(PatchContext({"surface": "scene"}))
    assert await stream.next_message() == LIST_CHANGED
    assert (await engine.status())["mcp"]["list_changed_count"] == before + 1
    await stream.finish()


async def test_a_second_stream_replaces_the_first(engine: RunningEngine) -> None:
    client = await engine.client()
    first = await client.following_stream()
    second = await client.following_stream()
    assert await first.next_event() is None
    await engine.space.context.ask(PatchContext({"surface": "scene"}))
    assert await second.next_message() == LIST_CHANGED
    await first.finish()
    await second.finish()


async def test_streams_of_two_sessions_live_side_by_side(engine: RunningEngine) -> None:
    streams = [await (await engine.client()).following_stream() for _ in range(2)]
    await engine.space.context.ask(PatchContext({"surface": "scene"}))
    for stream in streams:
        assert await stream.next_message() == LIST_CHANGED
        await stream.finish()


async def test_a_stream_is_never_cached_nor_buffered(engine: RunningEngine) -> None:
    client = await engine.client()
    async with connected(engine.port) as connection:
        await connection.send(request_bytes("GET", "/mcp", client.headers))
        head = await connection.read_head()
    assert head.header("cache-control") == "no-cache, no-transform"
    assert head.header("x-accel-buffering") == "no"
    assert head.header("transfer-encoding") == "chunked"


async def test_an_array_of_messages_is_answered_as_an_array_in_the_version_that_has_them(
    engine: RunningEngine,
) -> None:
    client = await engine.client("2025-03-26")
    response = await client.post(
        [
            rpc("ping", request_id="a"),
            rpc("notifications/initialized", request_id=None),
            call(ECHO, {"text": "b"}, "b"),
            {"jsonrpc": "2.0", "id": "c"},
            call("space_nothing", {}, "d"),
        ]
    )
    assert response.status == 200
    answers = {answer["id"]: answer for answer in response.json}
    assert sorted(answers) == ["a", "b", "c", "d"]
    assert answers["a"]["result"] == {}
    assert answers["b"]["result"]["content"] == [{"type": "text", "text": "b"}]
    assert answers["c"]["error"]["code"] == -32600
    assert answers["d"]["error"]["code"] == -32602


async def test_an_array_that_asks_nothing_is_accepted(engine: RunningEngine) -> None:
    client = await engine.client("2025-03-26")
    response = await client.post([rpc("notifications/initialized", request_id=None)])
    assert (response.status, response.body) == (202, b"")


@pytest.mark.parametrize("version", ["2025-06-18", "2025-11-25"])
async def test_later_versions_have_no_arrays_of_messages(engine: RunningEngine, version: str) -> None:
    client = await engine.client(version)
    response = await client.post([rpc("ping")])
    assert response.status == 400
    assert response.json["error"]["code"] == -32600


async def test_an_empty_array_is_refused(engine: RunningEngine) -> None:
    client = await engine.client("2025-03-26")
    assert (await client.post([])).status == 400


async def test_a_version_that_is_not_served_is_400_and_names_those_that_are(engine: RunningEngine) -> None:
    client = await engine.client()
    client.version = "1999-01-01"
    response = await client.post(rpc("ping"))
    assert response.status == 400
    assert "1999-01-01" in response.json["error"]["message"]


@pytest.mark.parametrize("accept", [ONLY_JSON, BOTH], ids=["json", "both"])
async def test_an_answer_that_is_there_soon_is_json(engine: RunningEngine, accept: tuple[tuple[str, str], ...]) -> None:
    client = await engine.client()
    response = await client.post(call(ECHO, {"text": "x"}), accept)
    assert response.header("content-type") == "application/json"


async def test_clients_may_give_every_request_the_same_id(engine: RunningEngine) -> None:
    clients = [await engine.client() for _ in range(3)]
    texts = [
        (await client.call(ECHO, {"text": str(number)}))["content"][0]["text"] for number, client in enumerate(clients)
    ]
    assert texts == ["0", "1", "2"]


async def test_the_status_counts_what_came_in(engine: RunningEngine) -> None:
    client = await engine.client(name="counting")
    await client.tool_names()
    await client.call(ECHO, {"text": "x"})
    await McpClient(engine.port).post(rpc("ping"))
    status = await engine.status()
    counted = status["mcp"]
    assert (counted["post_count"], counted["initialize_count"]) == (5, 1)
    assert (counted["tools_list_count"], counted["tools_call_count"]) == (1, 1)
    assert counted["last_method"] == "ping"
    assert "no session is named" in counted["last_error"]
    (session,) = status["sessions"]
    assert (session["client_name"], session["protocol_version"]) == ("counting", "2025-06-18")
    assert (session["stream"], session["calls"]) == (False, 0)
    await client.ask("ping")
    assert (await engine.status())["mcp"]["last_error"] is None
