"""A call that changes the tool list is answered only after its client had the chance to fetch the new one.

Measured with opencode: 0 of 10 without, 10 of 10 with it (opencode as an MCP client, section 0, item 3).
"""

from __future__ import annotations

import pytest
import trio

from actors.calls import LIST_SETTLE_SECONDS, LIST_WAIT_SECONDS
from tests.transport.mcp_client import LIST_CHANGED, call, rpc
from tests.transport.raw_http import RawConnection
from tests.transport.running_engine import RunningEngine
from tests.transport.tools_on_trial import ECHO, MOVE, SCENE_ONLY

TICK_SECONDS = 0.005
"""How far the clocks of two tasks may seem to be apart."""


async def nothing_comes(connection: RawConnection, seconds: float) -> None:
    """Watch a connection for that long, on which nothing may come."""
    with trio.move_on_after(seconds) as scope:
        data = await connection.stream.receive_some()
        raise AssertionError(f"something came: {data!r}")
    assert scope.cancelled_caught


async def test_in_direct_mode_the_list_is_announced_and_fetched_before_the_answer(engine: RunningEngine) -> None:
    client = await engine.client()
    stream = await client.following_stream()
    await client.tool_names()
    connection = await client.begin(call(MOVE, {"surface": "scene"}, "m"))
    assert await stream.next_message() == LIST_CHANGED
    await nothing_comes(connection, LIST_SETTLE_SECONDS)
    listed = trio.current_time()
    assert SCENE_ONLY in await client.tool_names()
    answer = (await connection.read_response()).json
    assert trio.current_time() - listed >= LIST_SETTLE_SECONDS - TICK_SECONDS
    assert answer["result"]["content"][0]["text"] == "moved to scene"
    await connection.finish()
    await stream.finish()


async def test_over_the_single_stream_announcement_list_and_answer_come_in_this_order(
    sse_engine: RunningEngine,
) -> None:
    client = await sse_engine.sse_client()
    assert await client.stream.next_message() == LIST_CHANGED
    await client.ask(rpc("tools/list"))
    assert (await client.post(call(MOVE, {"surface": "scene"}, "m"))).status == 202
    assert await client.stream.next_message() == LIST_CHANGED
    listed = trio.current_time()
    answer = await client.ask(rpc("tools/list", request_id="l"))
    assert answer["id"] == "l"
    assert SCENE_ONLY in [tool["name"] for tool in answer["result"]["tools"]]
    assert (await client.stream.next_message())["id"] == "m"
    assert trio.current_time() - listed >= LIST_SETTLE_SECONDS - TICK_SECONDS
    await client.stream.finish()


async def test_a_call_that_leaves_the_list_alone_is_answered_at_once(engine: RunningEngine) -> None:
    client = await engine.client()
    stream = await client.following_stream()
    await client.tool_names()
    began = trio.current_time()
    await client.call(ECHO, {"text": "x"})
    await client.call(MOVE, {"surface": "canvas"})
    assert trio.current_time() - began < LIST_WAIT_SECONDS / 2
    await stream.finish()


async def test_a_client_without_a_stream_is_not_waited_for(engine: RunningEngine) -> None:
    client = await engine.client()
    began = trio.current_time()
    assert (await client.call(MOVE, {"surface": "scene"}))["isError"] is False
    assert trio.current_time() - began < LIST_WAIT_SECONDS / 2
    assert SCENE_ONLY in await client.tool_names()


@pytest.mark.slow
async def test_a_client_that_does_not_list_is_waited_for_once_and_never_again(engine: RunningEngine) -> None:
    client = await engine.client()
    stream = await client.following_stream()
    began = trio.current_time()
    await client.call(MOVE, {"surface": "scene"})
    waited = trio.current_time() - began
    assert LIST_WAIT_SECONDS - TICK_SECONDS <= waited < LIST_WAIT_SECONDS + 0.5
    began = trio.current_time()
    await client.call(MOVE, {"surface": "canvas"})
    assert trio.current_time() - began < LIST_WAIT_SECONDS / 2
    await stream.finish()
