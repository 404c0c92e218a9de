"""What the existing engine asserts of its HTTP server and its endpoint, in this engine's form; each with its number.

Where this engine differs on purpose, the test says how. The live cases (195 to 197) are under `tests/live`.
"""

from __future__ import annotations

from typing import cast

import pytest
import trio
from quart import Response

from actors.context import EditCapabilities
from actors.errors import MailboxFullError
from actors.resolution import CapabilityEdit
from actors.sessions import ReadSessions
from tests.transport.conftest import LogEntries
from tests.transport.mcp_client import LIST_CHANGED, McpClient, call, initialize, post_bytes, rpc
from tests.transport.raw_http import BOUND_SECONDS, connected
from tests.transport.running_engine import RunningEngine
from tests.transport.tools_on_trial import ECHO, SLOW
from transport.asgi import AsgiApp
from transport.guard import GuardPolicy
from transport.listener import ListenError, open_listener
from transport.server import AlreadyListeningError, HttpServer

NEW_TOOL_LIST = EditCapabilities(CapabilityEdit(remove_presets=("trial-canvas-tools",)))


async def test_stopping_twice_is_no_error(engine: RunningEngine) -> None:
    """Case 159."""
    engine.server.stop()
    engine.server.stop()
    assert await engine.server.wait_ended()
    engine.server.stop()


async def test_listening_twice_is_refused(engine: RunningEngine) -> None:
    """Case 160."""
    with pytest.raises(AlreadyListeningError, match="listen is called more than once"):
        await engine.server.run()
    assert (await engine.request("GET", "/status")).status == 200


async def test_a_route_after_the_first_request_is_refused(engine: RunningEngine) -> None:
    """The document: callers that register routes after listen fail loudly."""

    async def late() -> Response:
        return Response("late")

    await engine.request("GET", "/status")
    with pytest.raises(AssertionError, match="can no longer be called"):
        engine.app.add_url_rule("/late", "late", late)
    assert (await engine.request("GET", "/late")).status == 404


async def test_a_post_is_answered_with_what_its_route_makes_of_it(engine: RunningEngine) -> None:
    """Case 163: the route that echoes is a tool here."""
    response = await engine.request(
        "POST", f"/api/tools/{ECHO}/call", (("Content-Type", "application/json"),), b'{"text": "the same"}'
    )
    assert response.status == 200
    assert response.json["content"][0]["text"] == "the same"


async def test_a_route_that_raises_is_500_with_a_problem_that_gives_nothing_away(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch, errors_logged: LogEntries
) -> None:
    """Case 164, differing: not the text "Handler error" but problem+json, and at the endpoint a JSON-RPC error."""

    async def broken(*_: object) -> str:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(engine.space.app, "capture_svg", broken)
    response = await engine.request("GET", "/api/view.svg")
    assert response.status == 500
    assert response.header("content-type") == "application/problem+json"
    assert "secret detail" not in response.body.decode()
    monkeypatch.setattr(engine.space.sessions, "ask", broken)
    response = await McpClient(engine.port).post(initialize())
    assert (response.status, response.json["error"]["code"]) == (500, -32603)
    monkeypatch.undo()
    assert (await engine.request("GET", "/status")).status == 200
    failed = [entry for entry in errors_logged if entry["log_level"] == "error"]
    assert [(entry["event"], entry["path"]) for entry in failed] == [
        ("request_failed", "/api/view.svg"),
        ("request_failed", "/mcp"),
    ]
    errors_logged.clear()


async def test_an_overload_is_one_warning_without_a_traceback(
    engine: RunningEngine, errors_logged: LogEntries, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(_: object) -> None:
        raise MailboxFullError("blocks", 64, 5.0)

    monkeypatch.setattr(engine.space.blocks, "ask", full)
    response = await engine.request("GET", "/api/stories")
    monkeypatch.undo()
    assert response.status == 503
    (entry,) = [entry for entry in errors_logged if entry["event"].startswith("request_")]
    assert (entry["log_level"], "exc_info" in entry) == ("warning", False)
    assert "mailbox held 64 messages" in entry["reason"]


async def test_each_path_answers_with_its_own_body(engine: RunningEngine) -> None:
    """Case 166."""
    status, context = await engine.request("GET", "/status"), await engine.request("GET", "/api/context")
    assert "actors" in status.json
    assert context.json["surface"] == "canvas"


async def test_the_first_event_of_a_stream_arrives(sse_engine: RunningEngine) -> None:
    """Cases 167, 168 and 170."""
    client = await sse_engine.sse_client()
    assert client.endpoint.startswith("/mcp?sessionId=")
    await client.stream.finish()


async def test_the_end_of_a_stream_is_told_to_its_owner(sse_engine: RunningEngine) -> None:
    """Case 169: the callback of a closing stream is a message to the actor that owns it."""
    client = await sse_engine.sse_client()
    await client.stream.finish()
    with trio.fail_after(BOUND_SECONDS):
        while (await sse_engine.status())["mcp"]["sse_connected"]:
            pass


async def test_initialize_is_answered_with_its_id(engine: RunningEngine) -> None:
    """Case 172."""
    response = await McpClient(engine.port).post({**initialize(), "id": 1})
    assert response.status == 200
    assert (response.json["jsonrpc"], response.json["id"]) == ("2.0", 1)


async def test_the_version_asked_for_is_answered(engine: RunningEngine) -> None:
    """Case 173."""
    response = await McpClient(engine.port).post(initialize("2025-03-26"))
    assert response.json["result"]["protocolVersion"] == "2025-03-26"


async def test_initialize_gives_a_session_id(engine: RunningEngine) -> None:
    """Case 175."""
    assert (await McpClient(engine.port).post(initialize())).header("mcp-session-id")


async def test_the_list_has_every_tool(engine: RunningEngine) -> None:
    """Case 176."""
    assert {ECHO, SLOW} <= set(await (await engine.client()).tool_names())


async def test_a_call_of_a_tool_has_content_and_is_no_error(engine: RunningEngine) -> None:
    """Case 177."""
    result = await (await engine.client()).call(ECHO, {"text": "x"})
    assert result["content"]
    assert result["isError"] is False


async def test_a_call_of_an_unknown_tool_is_an_error_of_parameters(engine: RunningEngine) -> None:
    """Case 178."""
    response = await (await engine.client()).post(call("space_nothing"))
    assert response.json["error"]["code"] == -32602


async def test_the_initialized_notification_is_202(engine: RunningEngine) -> None:
    """Case 180."""
    client = await engine.client()
    assert (await client.post(rpc("notifications/initialized", request_id=None))).status == 202


async def test_initialize_with_an_id_of_the_clients_own_is_200(engine: RunningEngine) -> None:
    """Case 182, differing: the session gets an id of ours, since one that a client makes up could be guessed."""
    async with connected(engine.port) as connection:
        await connection.send(post_bytes(initialize(), target="/mcp?sessionId=made-up"))
        response = await connection.read_response()
    assert response.status == 200
    assert response.header("mcp-session-id") not in {None, "made-up"}


async def test_a_refused_probe_is_the_last_error(sse_engine: RunningEngine) -> None:
    """Case 185."""
    assert (await McpClient(sse_engine.port).post(initialize())).status == 500
    assert (await sse_engine.status())["mcp"]["last_error"] == "Use SSE transport"


async def test_a_stopped_server_runs_no_more(engine: RunningEngine) -> None:
    """Case 186, differing: the status is served by the server itself, so what a stopped one says is nothing."""
    assert (await engine.status())["mcp"]["running"] is True
    await engine.end()
    with pytest.raises(OSError, match="all attempts to connect"):
        await engine.connect()


async def test_the_first_stream_gets_the_endpoint_and_one_list_changed(sse_engine: RunningEngine) -> None:
    """Case 187."""
    client = await sse_engine.sse_client()
    assert await client.stream.next_message() == LIST_CHANGED
    counted = (await sse_engine.status())["mcp"]
    assert (counted["sse_connect_count"], counted["list_changed_count"]) == (1, 1)
    await client.stream.finish()


async def test_after_a_reconnect_a_new_tool_list_is_the_third_announcement(sse_engine: RunningEngine) -> None:
    """Case 190."""
    first = await sse_engine.sse_client()
    assert await first.stream.next_message() == LIST_CHANGED
    second = await sse_engine.sse_client()
    assert await second.stream.next_message() == LIST_CHANGED
    await sse_engine.space.context.ask(NEW_TOOL_LIST)
    assert await second.stream.next_message() == LIST_CHANGED
    assert (await sse_engine.status())["mcp"]["list_changed_count"] == 3
    await first.stream.finish()
    await second.stream.finish()


async def test_a_stopped_server_announces_nothing(sse_engine: RunningEngine) -> None:
    """Case 192."""
    client = await sse_engine.sse_client()
    assert await client.stream.next_message() == LIST_CHANGED
    sse_engine.server.stop()
    assert await sse_engine.space.drain(1)
    assert await client.stream.next_event() is None
    await client.stream.finish()
    assert await sse_engine.server.wait_ended()
    await sse_engine.space.context.ask(NEW_TOOL_LIST)
    counters = (await sse_engine.space.sessions.ask(ReadSessions())).counters
    assert counters.list_changed_count == 1


def test_listening_beyond_loopback_is_refused() -> None:
    """Case 193."""
    with pytest.raises(ListenError, match="non-loopback"):
        open_listener("0.0.0.0", 0, peer_timeout=1)


async def test_listening_beyond_loopback_when_allowed_takes_a_port() -> None:
    """Case 194, differing: it demands a token besides."""
    listener = open_listener("0.0.0.0", 0, allow_non_loopback=True, token="t", peer_timeout=1)

    async def app(scope: object, receive: object, send: object) -> None:
        raise AssertionError("nobody asks")

    server = HttpServer(cast("AsgiApp", app), listener, GuardPolicy(loopback_only=False, token="t"), grace=1)
    async with trio.open_nursery() as nursery:
        await nursery.start(server.run)
        assert listener.port > 0
        server.stop()
