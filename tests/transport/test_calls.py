"""Calls in direct mode while they run: progress, long answers, cancelling, and clients that vanish."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
import trio

from protocol.limits import Limits
from tests.transport.conftest import LogEntries
from tests.transport.mcp_client import BOTH, LIST_CHANGED, ONLY_JSON, McpClient, call, post_bytes, rpc
from tests.transport.raw_http import BOUND_SECONDS, RawConnection, connect, connected
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.tools_on_trial import BIG, ECHO, PROGRESS, SLOW

Vanish = Callable[[RawConnection], Awaitable[None]]


async def started(engine: RunningEngine) -> None:
    """Wait until one more call of a slow tool has started."""
    with trio.fail_after(BOUND_SECONDS):
        await engine.hooks.started.acquire()


async def cancelled(engine: RunningEngine) -> None:
    """Wait until one more slow call was cancelled."""
    with trio.fail_after(BOUND_SECONDS):
        await engine.hooks.cancelled.acquire()


async def no_calls(engine: RunningEngine) -> None:
    """Wait until neither a call nor its claim is left."""
    with trio.fail_after(BOUND_SECONDS):
        while True:
            status = await engine.status()
            if not status["calls"] and all(session["calls"] == 0 for session in status["sessions"]):
                return


def progress(done: int, token: int | str = "t") -> object:
    """The notification for a step of the progress tool with three of them."""
    params = {"progressToken": token, "progress": done, "total": 3, "message": f"step {done}"}
    return {"jsonrpc": "2.0", "method": "notifications/progress", "params": params}


async def test_an_answer_becomes_a_stream_at_the_first_progress(engine: RunningEngine) -> None:
    client = await engine.client()
    connection = await client.begin(call(PROGRESS, {"steps": 3}, "c", progress="t"))
    await started(engine)
    await engine.hooks.fed.send(None)
    head = await connection.read_head()
    assert (head.status, head.header("content-type")) == (200, "text/event-stream")
    assert await connection.next_message() == progress(1)
    await engine.hooks.fed.send(None)
    assert await connection.next_message() == progress(2)
    await engine.hooks.fed.send(None)
    assert await connection.next_message() == progress(3)
    engine.hooks.go.set()
    answer = await connection.next_message()
    assert (answer["id"], answer["result"]["content"][0]["text"]) == ("c", "all steps done")
    assert await connection.next_event() is None
    # The stream had its end, so the connection serves on.
    await connection.send(post_bytes(rpc("ping"), (*BOTH, *client.headers)))
    assert (await connection.read_response()).json["result"] == {}
    await connection.finish()


async def test_progress_goes_to_the_session_stream_when_the_answer_must_be_json(engine: RunningEngine) -> None:
    client = await engine.client()
    stream = await client.following_stream()
    connection = await client.begin(call(PROGRESS, {"steps": 3}, progress="t"), ONLY_JSON)
    await started(engine)
    for step in (1, 2, 3):
        await engine.hooks.fed.send(None)
        assert await stream.next_message() == progress(step)
    engine.hooks.go.set()
    response = await connection.read_response()
    assert response.header("content-type") == "application/json"
    assert response.json["result"]["content"][0]["text"] == "all steps done"
    await connection.finish()
    await stream.finish()


async def test_without_a_token_there_is_no_progress_and_the_answer_is_json(engine: RunningEngine) -> None:
    client = await engine.client()
    connection = await client.begin(call(PROGRESS, {"steps": 2}))
    await started(engine)
    engine.hooks.go.set()
    await engine.hooks.fed.send(None)
    await engine.hooks.fed.send(None)
    response = await connection.read_response()
    assert response.header("content-type") == "application/json"
    await connection.finish()


async def test_progress_without_anybody_to_hear_it_does_not_hold_the_call(engine: RunningEngine) -> None:
    client = await engine.client()
    connection = await client.begin(call(PROGRESS, {"steps": 3}, progress="t"), ONLY_JSON)
    engine.hooks.go.set()
    for _ in range(3):
        await engine.hooks.fed.send(None)
    assert (await connection.read_response()).json["result"]["isError"] is False
    await connection.finish()


async def test_an_answer_that_takes_long_becomes_a_stream(tmp_path: Path) -> None:
    async with running_engine(tmp_path, stream_after=0.01) as engine:
        client = await engine.client()
        connection = await client.begin(call(SLOW, {}, "c"))
        head = await connection.read_head()
        assert head.header("content-type") == "text/event-stream"
        engine.hooks.go.set()
        answer = await connection.next_message()
        assert (answer["id"], answer["result"]["content"][0]["text"]) == ("c", "slow and steady")
        assert await connection.next_event() is None
        await connection.finish()


async def test_a_cancelled_call_is_answered_as_cancelled_and_its_tool_ends(engine: RunningEngine) -> None:
    client = await engine.client()
    connection = await client.begin(call(SLOW, {}, "c"))
    await started(engine)
    response = await client.post(rpc("notifications/cancelled", {"requestId": "c", "reason": "enough"}, None))
    assert (response.status, response.body) == (202, b"")
    await cancelled(engine)
    error = (await connection.read_response()).json["error"]
    assert error["code"] == -32800
    await connection.finish()
    await no_calls(engine)


async def test_a_cancellation_of_a_finished_call_does_nothing(engine: RunningEngine) -> None:
    client = await engine.client()
    await client.call(ECHO, {"text": "x"}, request_id=7)
    assert (await client.post(rpc("notifications/cancelled", {"requestId": 7}, None))).status == 202
    assert (await client.call(ECHO, {"text": "y"}, request_id=7))["isError"] is False


async def test_a_cancellation_reaches_no_other_session(engine: RunningEngine) -> None:
    victim, stranger = await engine.client(), await engine.client()
    connection = await victim.begin(call(SLOW, {}, 1))
    await started(engine)
    assert (await stranger.post(rpc("notifications/cancelled", {"requestId": 1}, None))).status == 202
    engine.hooks.go.set()
    assert (await connection.read_response()).json["result"]["isError"] is False
    await connection.finish()


async def test_the_end_of_a_session_cancels_its_calls(engine: RunningEngine) -> None:
    client = await engine.client()
    connection = await client.begin(call(SLOW))
    await started(engine)
    assert (await client.delete()).status == 204
    await cancelled(engine)
    await connection.finish()


@pytest.mark.parametrize("vanish", [RawConnection.finish, RawConnection.reset], ids=["FIN", "RST"])
@pytest.mark.parametrize("accept", [BOTH, ONLY_JSON], ids=["both", "json"])
async def test_a_client_that_vanishes_cancels_its_call(
    engine: RunningEngine, vanish: Vanish, accept: tuple[tuple[str, str], ...]
) -> None:
    client = await engine.client()
    connection = await client.begin(call(SLOW, {}, "c"), accept)
    await started(engine)
    await vanish(connection)
    await cancelled(engine)
    await no_calls(engine)


@pytest.mark.parametrize("vanish", [RawConnection.finish, RawConnection.reset], ids=["FIN", "RST"])
async def test_a_client_that_vanishes_from_a_streamed_answer_cancels_its_call(tmp_path: Path, vanish: Vanish) -> None:
    async with running_engine(tmp_path, stream_after=0.01) as engine:
        client = await engine.client()
        connection = await client.begin(call(SLOW, {}, "c"))
        await connection.read_head()
        await vanish(connection)
        await cancelled(engine)
        await no_calls(engine)


async def test_calls_of_one_session_run_side_by_side(engine: RunningEngine) -> None:
    client = await engine.client()
    connections = [await client.begin(call(SLOW, {}, number)) for number in range(5)]
    for _ in connections:
        await started(engine)
    assert len((await engine.status())["calls"]) == 5
    engine.hooks.go.set()
    for number, connection in enumerate(connections):
        assert (await connection.read_response()).json["id"] == number
        await connection.finish()


async def test_a_call_beyond_the_limit_is_refused_with_the_reason(tmp_path: Path) -> None:
    async with running_engine(tmp_path, limits=Limits(calls_per_session=1)) as engine:
        client = await engine.client()
        connection = await client.begin(call(SLOW))
        await started(engine)
        error = (await client.post(call(ECHO, {"text": "x"}))).json["error"]
        assert "1 calls in flight" in error["message"]
        engine.hooks.go.set()
        await connection.read_response()
        await connection.finish()
        await no_calls(engine)
        assert (await client.call(ECHO, {"text": "x"}))["isError"] is False


async def test_requests_on_one_connection_are_answered_in_their_order(engine: RunningEngine) -> None:
    client = await engine.client()
    headers = (*BOTH, *client.headers)
    async with connected(engine.port) as connection:
        await connection.send(
            post_bytes(call(SLOW, {}, "first"), headers)
            + post_bytes(rpc("ping", request_id="second"), headers)
            + post_bytes(call(ECHO, {"text": "x"}, "third"), headers)
        )
        await started(engine)
        engine.hooks.go.set()
        ids = [(await connection.read_response()).json["id"] for _ in range(3)]
    assert ids == ["first", "second", "third"]


async def test_a_big_answer_arrives_whole(engine: RunningEngine) -> None:
    client = await engine.client()
    result = await client.call(BIG, {"bytes": 3_000_000})
    assert len(result["content"][0]["text"]) == 3_000_000


async def test_an_answer_too_big_for_an_event_says_so_in_its_place(tmp_path: Path, errors_logged: LogEntries) -> None:
    async with running_engine(tmp_path, force_sse=True) as engine:
        client = await engine.sse_client()
        assert await client.stream.next_message() == LIST_CHANGED
        answer = await client.ask(call(BIG, {"bytes": 2_000_000}, "big"))
        assert answer["id"] == "big"
        assert "cannot be sent" in answer["error"]["message"]
        await client.stream.finish()
    assert [entry["event"] for entry in errors_logged if entry["log_level"] == "error"] == ["event_too_large"]
    errors_logged.clear()


async def test_a_request_that_never_becomes_whole_does_no_harm(engine: RunningEngine) -> None:
    client = await engine.client()
    whole = post_bytes(call(ECHO, {"text": "x"}), (*BOTH, *client.headers))
    for length in (1, 20, whole.index(b"\r\n\r\n") + 2, len(whole) - 1):
        half = await connect(engine.port)
        await half.send(whole[:length])
        await half.finish()
    assert await McpClient(engine.port, client.session).ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}
    status = await engine.status()
    assert [session["calls"] for session in status["sessions"]] == [0]
