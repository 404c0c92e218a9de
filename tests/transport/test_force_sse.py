"""Forced SSE mode: the single stream, its sessions, and answers that travel over it."""

from __future__ import annotations

import pytest
import trio

from actors.context import EditCapabilities, PatchContext
from actors.resolution import CapabilityEdit
from tests.transport.mcp_client import BOTH, JSON_BODY, LIST_CHANGED, McpClient, SseClient, call, initialize, rpc
from tests.transport.raw_http import BOUND_SECONDS, RawConnection, connected, request_bytes
from tests.transport.running_engine import RunningEngine
from tests.transport.tools_on_trial import CRASH, ECHO, PROGRESS, SCENE_ONLY, SLOW

NOBODY = "00000000-0000-4000-8000-000000000000"


async def ready(engine: RunningEngine) -> SseClient:
    """A client of the stream that has been through the handshake and read the first announcement."""
    client = await engine.sse_client()
    assert await client.stream.next_message() == LIST_CHANGED
    answer = await client.ask(initialize("2024-11-05"))
    assert answer["result"]["protocolVersion"] == "2024-11-05"
    assert (await client.post(rpc("notifications/initialized", request_id=None))).status == 202
    return client


async def disconnected(engine: RunningEngine) -> None:
    """Wait until the engine knows that no stream is open."""
    with trio.fail_after(BOUND_SECONDS):
        while (await engine.status())["mcp"]["sse_connected"]:
            pass


async def test_a_post_before_a_stream_exists_is_500_and_nothing_is_handled(sse_engine: RunningEngine) -> None:
    response = await McpClient(sse_engine.port).post(initialize())
    assert (response.status, response.body) == (500, b"Use SSE transport")
    assert response.header("content-type") == "text/plain; charset=utf-8"
    counted = (await sse_engine.status())["mcp"]
    assert (counted["post_count"], counted["initialize_count"], counted["session_count"]) == (0, 0, 0)
    assert counted["last_error"] == "Use SSE transport"


async def test_a_probe_without_a_session_is_500_while_a_stream_is_open(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    assert (await McpClient(sse_engine.port).post(initialize())).status == 500
    assert (await client.ask(rpc("ping")))["result"] == {}
    await client.stream.finish()


@pytest.mark.parametrize("body", [b"", b"{", b"x" * 1000])
async def test_a_probe_is_500_whatever_it_holds(sse_engine: RunningEngine, body: bytes) -> None:
    assert (await sse_engine.request("POST", "/mcp", (), body)).status == 500


async def test_the_stream_begins_with_the_endpoint_and_list_changed(sse_engine: RunningEngine) -> None:
    client = await sse_engine.sse_client()
    assert client.endpoint == f"/mcp?sessionId={client.session}"
    assert len(client.session) == 36
    assert await client.stream.next_message() == LIST_CHANGED
    counted = (await sse_engine.status())["mcp"]
    assert counted["sse_connected"] is True
    assert counted["active_session_id"] == client.session
    assert (counted["sse_connect_count"], counted["sse_reconnect_count"], counted["list_changed_count"]) == (1, 0, 1)
    await client.stream.finish()
    await disconnected(sse_engine)


async def test_answers_travel_over_the_stream_and_the_post_is_202(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    answer = await client.ask(rpc("tools/list", request_id="l"))
    assert ECHO in [tool["name"] for tool in answer["result"]["tools"]]
    answer = await client.ask(call(ECHO, {"text": "line\u2028break"}, "c"))
    assert answer["result"]["content"][0]["text"] == "line\u2028break"
    answer = await client.ask(call("space_nothing", {}, "n"))
    assert answer["error"]["code"] == -32602
    answer = await client.ask(call(SCENE_ONLY, {}, "h"))
    assert answer["result"]["isError"] is True
    assert "surface=scene" in answer["result"]["content"][0]["text"]
    answer = await client.ask(rpc("nobody/knows/this", request_id="m"))
    assert answer["error"]["code"] == -32601
    await client.stream.finish()


async def test_a_line_break_of_unicode_never_breaks_an_event(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    await client.post(call(ECHO, {"text": "a\u2028b\u2029c\u0085d"}))
    event = await client.stream.next_event()
    assert event is not None
    assert len(event.data.splitlines()) == 1
    assert event.json["result"]["content"][0]["text"] == "a\u2028b\u2029c\u0085d"
    await client.stream.finish()


async def test_the_session_may_stand_in_the_header(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    other = McpClient(sse_engine.port, client.session)
    assert (await other.post(rpc("ping", request_id="h"))).status == 202
    assert (await client.stream.next_message())["id"] == "h"
    await client.stream.finish()


async def test_a_stream_that_never_saw_initialize_may_list_and_call(sse_engine: RunningEngine) -> None:
    client = await sse_engine.sse_client()
    assert await client.stream.next_message() == LIST_CHANGED
    assert (await client.ask(rpc("tools/list")))["result"]["tools"]
    assert (await client.ask(call(ECHO, {"text": "x"})))["result"]["isError"] is False
    await client.stream.finish()


async def test_the_post_of_a_call_is_answered_at_once(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    assert (await client.post(call(SLOW, {}, "slow"))).status == 202
    assert (await client.ask(rpc("ping", request_id="meanwhile")))["id"] == "meanwhile"
    sse_engine.hooks.go.set()
    answer = await client.stream.next_message()
    assert (answer["id"], answer["result"]["content"][0]["text"]) == ("slow", "slow and steady")
    await client.stream.finish()


async def test_progress_travels_over_the_stream_before_the_answer(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    sse_engine.hooks.go.set()
    assert (await client.post(call(PROGRESS, {"steps": 2}, "p", progress=9))).status == 202
    for step in (1, 2):
        await sse_engine.hooks.fed.send(None)
        params = (await client.stream.next_message())["params"]
        # 2024-11-05 knows no messages of progress.
        assert params == {"progressToken": 9, "progress": step, "total": 2}
    assert (await client.stream.next_message())["id"] == "p"
    await client.stream.finish()


async def test_a_cancelled_call_ends_and_says_so(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    await client.post(call(SLOW, {}, "c"))
    assert (await client.post(rpc("notifications/cancelled", {"requestId": "c"}, None))).status == 202
    with trio.fail_after(BOUND_SECONDS):
        await sse_engine.hooks.cancelled.acquire()
    assert (await client.stream.next_message())["error"]["code"] == -32800
    await client.stream.finish()


async def test_list_changed_is_sent_on_each_change(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    for surface in ("scene", "canvas"):
        await sse_engine.space.context.ask(PatchContext({"surface": surface}))
        assert await client.stream.next_message() == LIST_CHANGED
    assert (await sse_engine.status())["mcp"]["list_changed_count"] == 3
    await client.stream.finish()


async def test_a_reconnect_ends_the_old_stream_its_session_and_its_calls(sse_engine: RunningEngine) -> None:
    old = await ready(sse_engine)
    await old.post(call(SLOW))
    new = await ready(sse_engine)
    assert await old.stream.next_event() is None
    with trio.fail_after(BOUND_SECONDS):
        await sse_engine.hooks.cancelled.acquire()
    assert (await old.post(rpc("ping"))).status == 404
    counted = (await sse_engine.status())["mcp"]
    assert (counted["sse_connect_count"], counted["sse_reconnect_count"], counted["session_count"]) == (2, 1, 1)
    await sse_engine.space.context.ask(EditCapabilities(CapabilityEdit(remove_presets=("trial-canvas-tools",))))
    assert await new.stream.next_message() == LIST_CHANGED
    assert (await sse_engine.status())["mcp"]["list_changed_count"] == 3
    # The late end of the old stream must not touch the new one.
    await old.stream.finish()
    assert (await new.ask(rpc("ping")))["result"] == {}
    assert (await sse_engine.status())["mcp"]["active_session_id"] == new.session
    await new.stream.finish()


@pytest.mark.parametrize("vanish", [RawConnection.finish, RawConnection.reset], ids=["FIN", "RST"])
async def test_the_end_of_the_stream_cancels_its_calls_and_ends_its_session(
    sse_engine: RunningEngine, vanish: object
) -> None:
    client = await ready(sse_engine)
    await client.post(call(SLOW))
    await (client.stream.finish() if vanish is RawConnection.finish else client.stream.reset())
    with trio.fail_after(BOUND_SECONDS):
        await sse_engine.hooks.cancelled.acquire()
    await disconnected(sse_engine)
    assert (await client.post(rpc("ping"))).status == 404
    counted = (await sse_engine.status())["mcp"]
    assert (counted["active_session_id"], counted["session_count"]) == (None, 0)


async def test_an_unknown_session_is_exactly_404_with_and_without_a_stream(sse_engine: RunningEngine) -> None:
    stranger = McpClient(sse_engine.port, NOBODY)
    assert (await stranger.post(rpc("ping"))).status == 404
    client = await ready(sse_engine)
    response = await stranger.post(rpc("ping"))
    assert response.status == 404
    assert response.json["error"]["code"] == -32001
    await client.stream.finish()


async def test_what_is_no_message_is_answered_in_the_post(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    async with connected(sse_engine.port) as connection:
        response = await connection.request("POST", client.endpoint, JSON_BODY, b"{")
    assert response.status == 400
    assert response.json["error"]["code"] == -32700
    assert (await client.post(rpc("ping"), (("Content-Type", "text/plain"),))).status == 415
    assert (await client.ask(rpc("ping")))["result"] == {}
    await client.stream.finish()


async def test_a_delete_ends_session_and_stream(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    assert (await sse_engine.request("DELETE", client.endpoint)).status == 204
    assert await client.stream.next_event() is None
    await client.stream.finish()
    await disconnected(sse_engine)


async def test_a_tool_with_a_bug_leaves_the_stream_alone(
    sse_engine: RunningEngine, errors_logged: list[object]
) -> None:
    client = await ready(sse_engine)
    assert (await client.ask(call(CRASH)))["result"]["isError"] is True
    assert (await client.ask(rpc("ping")))["result"] == {}
    errors_logged.clear()
    await client.stream.finish()


async def test_posts_on_one_kept_connection_are_answered_over_the_stream(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    async with connected(sse_engine.port) as connection:
        for number in range(3):
            body = f'{{"jsonrpc":"2.0","id":{number},"method":"ping"}}'.encode()
            assert (await connection.request("POST", client.endpoint, BOTH, body)).status == 202
            assert (await client.stream.next_message())["id"] == number
    await client.stream.finish()


async def test_a_get_that_does_not_take_the_stream_is_406_and_takes_over_nothing(sse_engine: RunningEngine) -> None:
    client = await ready(sse_engine)
    async with connected(sse_engine.port) as connection:
        await connection.send(request_bytes("GET", "/mcp", (("Accept", "application/json"),)))
        response = await connection.read_response()
    assert response.status == 406
    assert "text/event-stream" in response.json["error"]["message"]
    assert (await client.ask(rpc("ping")))["result"] == {}
    await client.stream.finish()
