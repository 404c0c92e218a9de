"""Streams that a client can come back to, from 2025-11-25 on: ids, the first event, going away and coming back."""

from __future__ import annotations

from typing import Any

import pytest
import trio
from quart import Response as QuartResponse

from actors.event_log import EventLog, LogReader, parse_event_id
from actors.event_store import EventStore
from actors.sessions import Begin, CallClaim
from protocol.decision import CallTool
from protocol.handler import Handler, ServerInfo
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Request
from tests.transport.mcp_client import LIST_CHANGED, McpClient, call
from tests.transport.raw_http import BOUND_SECONDS, Event, RawConnection, connected, request_bytes
from tests.transport.running_engine import RunningEngine
from tests.transport.talking_tools import HANG_UP, TalkHooks
from tests.transport.tools_on_trial import ECHO, PROGRESS
from transport.call_answers import CallAnswers
from transport.event_stream import EventStreamBody
from transport.mcp_service import McpService

NUMBERED, PLAIN = "2025-11-25", "2025-06-18"


async def event_of(stream: RawConnection) -> Event:
    event = await stream.next_event()
    assert event is not None, "the stream ended"
    return event


async def opened(client: McpClient, message: Any) -> tuple[RawConnection, str]:
    """A call that is answered with a stream, and the id of its first event."""
    connection = await client.begin(message)
    assert (await connection.read_head()).header("content-type") == "text/event-stream"
    first = await event_of(connection)
    assert (first.data, first.event) == ("", None)
    assert first.id is not None
    return connection, first.id


async def progressing(engine: RunningEngine, client: McpClient, steps: int = 2) -> tuple[RawConnection, str]:
    """A call that has reported once and waits; the id of its first event."""
    connection = await client.begin(call(PROGRESS, {"steps": steps}, "c", progress="t"))
    await engine.hooks.fed.send(None)
    await connection.read_head()
    first = await event_of(connection)
    assert first.id is not None
    return connection, first.id


async def rest_of(stream: RawConnection) -> list[Event]:
    """What is left of a stream that ends."""
    events: list[Event] = []
    with trio.fail_after(BOUND_SECONDS):
        while (event := await stream.next_event()) is not None:
            events.append(event)
    return events


async def no_calls(engine: RunningEngine) -> None:
    with trio.fail_after(BOUND_SECONDS):
        while any(session["calls"] for session in (await engine.status())["sessions"]):
            pass


async def test_a_streamed_answer_begins_with_an_id_and_every_event_has_one(engine: RunningEngine) -> None:
    client = await engine.client(NUMBERED)
    connection, first = await progressing(engine, client)
    await engine.hooks.fed.send(None)
    engine.hooks.go.set()
    events = [await event_of(connection) for _ in range(3)]
    name, number = parse_event_id(first) or ("", 0)
    assert number == 0
    assert [event.id for event in events] == [f"{name}-{number}" for number in (1, 2, 3)]
    assert events[-1].json["result"]["content"][0]["text"] == "all steps done"
    assert await connection.next_event() is None
    await connection.finish()


async def test_an_answer_that_needs_no_stream_is_json_as_ever(engine: RunningEngine) -> None:
    client = await engine.client(NUMBERED)
    response = await client.post(call(ECHO, {"text": "x"}))
    assert response.header("content-type") == "application/json"


async def test_older_clients_see_neither_ids_nor_empty_events(engine: RunningEngine) -> None:
    client = await engine.client(PLAIN)
    connection = await client.begin(call(PROGRESS, {"steps": 1}, "c", progress="t"))
    await engine.hooks.fed.send(None)
    engine.hooks.go.set()
    await connection.read_head()
    events = [await event_of(connection) for _ in range(2)]
    assert [(event.id, bool(event.data)) for event in events] == [(None, True)] * 2
    await connection.finish()
    stream = await client.open_stream(after="anything-1")
    assert (await event_of(stream)).json == LIST_CHANGED
    await stream.finish()


async def test_a_client_that_was_cut_off_gets_the_rest_of_that_stream_and_no_other(engine: RunningEngine) -> None:
    client = await engine.client(NUMBERED)
    connection, first = await progressing(engine, client)
    await connection.reset()
    await engine.hooks.fed.send(None)
    engine.hooks.go.set()
    rest = await client.open_stream(after=first)
    events = [await event_of(rest) for _ in range(3)]
    assert [event.json.get("method") for event in events[:2]] == ["notifications/progress"] * 2
    assert events[2].json["id"] == "c"
    assert await rest.next_event() is None
    await rest.finish()
    await no_calls(engine)


async def test_what_was_seen_already_does_not_come_again(engine: RunningEngine) -> None:
    client = await engine.client(NUMBERED)
    connection, _ = await progressing(engine, client)
    seen = await event_of(connection)
    assert seen.id is not None
    await connection.reset()
    await engine.hooks.fed.send(None)
    engine.hooks.go.set()
    rest = await client.open_stream(after=seen.id)
    assert (await event_of(rest)).json["params"]["progress"] == 2
    assert (await event_of(rest)).json["id"] == "c"
    await rest.finish()
    # The answer is kept for a while, for a client that lost it on the way.
    again = await client.open_stream(after=seen.id)
    assert (await event_of(again)).json["params"]["progress"] == 2
    await again.finish()


async def test_a_tool_may_send_its_client_away_until_there_is_more(talking: RunningEngine, talk: TalkHooks) -> None:
    client = await talking.client(NUMBERED)
    connection, first = await opened(client, call(HANG_UP, {}, "c"))
    retry = await event_of(connection)
    assert (retry.retry, retry.id, retry.data) == (1000, None, "")
    assert await connection.next_event() is None
    await connection.finish()
    rest = await client.open_stream(after=first)
    talk.go.set()
    assert (await event_of(rest)).json["result"]["content"][0]["text"] == "back again"
    assert await rest.next_event() is None
    await rest.finish()


async def test_nobody_is_sent_away_who_could_not_come_back(talking: RunningEngine, talk: TalkHooks) -> None:
    client = await talking.client(PLAIN)
    talk.go.set()
    response = await client.post(call(HANG_UP, {}, "c"))
    assert response.header("content-type") == "application/json"
    assert response.json["result"]["content"][0]["text"] == "back again"


async def test_the_end_of_the_session_ends_its_streams_and_what_was_kept(engine: RunningEngine) -> None:
    client = await engine.client(NUMBERED)
    connection, first = await progressing(engine, client)
    assert (await client.delete()).status == 204
    events = await rest_of(connection)
    assert events[-1].json["error"] == {"code": -32800, "message": "the call was cancelled: its session has ended"}
    await connection.finish()
    async with connected(engine.port) as again:
        headers = (("Accept", "text/event-stream"), *client.headers, ("Last-Event-ID", first))
        await again.send(request_bytes("GET", "/mcp", headers))
        assert (await again.read_response()).status == 404


@pytest.mark.parametrize("event_id", ["nonsense", "0123456789abcdef-3", "-1", "x-" + "9" * 40])
async def test_an_event_of_nobody_is_refused(engine: RunningEngine, event_id: str) -> None:
    client = await engine.client(NUMBERED)
    async with connected(engine.port) as connection:
        headers = (("Accept", "text/event-stream"), *client.headers, ("Last-Event-ID", event_id))
        await connection.send(request_bytes("GET", "/mcp", headers))
        response = await connection.read_response()
    assert response.status == 400
    assert "Last-Event-ID" in response.json["error"]["message"]


async def test_another_session_does_not_find_the_stream(engine: RunningEngine) -> None:
    client, stranger = await engine.client(NUMBERED), await engine.client(NUMBERED)
    connection, first = await progressing(engine, client)
    async with connected(engine.port) as other:
        headers = (("Accept", "text/event-stream"), *stranger.headers, ("Last-Event-ID", first))
        await other.send(request_bytes("GET", "/mcp", headers))
        assert (await other.read_response()).status == 400
    await connection.finish()
    await client.delete()


async def test_the_stream_of_a_session_can_be_come_back_to_as_well(engine: RunningEngine) -> None:
    client = await engine.client(NUMBERED)
    stream = await client.open_stream()
    first, second = await event_of(stream), await event_of(stream)
    assert (first.data, second.json) == ("", LIST_CHANGED)
    assert first.id is not None
    await stream.reset()
    again = await client.open_stream(after=first.id)
    replayed = await event_of(again)
    assert (replayed.id, replayed.json) == (second.id, LIST_CHANGED)
    await again.finish()


async def test_a_session_stream_that_the_engine_ends_says_when_to_come_back(engine: RunningEngine) -> None:
    client = await engine.client(NUMBERED)
    stream = await client.open_stream()
    await event_of(stream)
    await event_of(stream)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(engine.end)
        assert (await event_of(stream)).retry == 1000
        assert await stream.next_event() is None
        await stream.finish()


# The log itself


async def frames(reader: LogReader, count: int) -> list[bytes | None]:
    with trio.fail_after(BOUND_SECONDS):
        return [await reader.next() for _ in range(count)]


async def test_a_log_keeps_the_newest_events_in_bounds() -> None:
    log = EventLog("s", most_events=3, most_bytes=1000)
    for _ in range(5):
        log.write(b"data: x\n\n")
    assert log.count == 5
    log.end()
    assert await frames(log.read(0), 4) == [*(b"id: s-%d\ndata: x\n\n" % number for number in (2, 3, 4)), None]


async def test_a_log_keeps_its_last_event_however_long_it_is() -> None:
    log = EventLog("s", most_bytes=10)
    log.write(b"data: short\n\n")
    log.write(b"data: %b\n\n" % (b"x" * 100))
    assert [len(frame) > 100 for frame in log.after(-1)] == [True]


async def test_a_writer_waits_for_a_reader_that_is_there_and_for_no_other(autojump_clock: object) -> None:
    log = EventLog("s")
    for _ in range(100):
        log.write(b"data: x\n\n")
    with trio.fail_after(1):
        await log.room()
    reader = log.read()
    with trio.move_on_after(1) as waiting:
        await log.room()
    assert waiting.cancelled_caught
    await reader.close()
    with trio.fail_after(1):
        await log.room()


async def test_a_newer_reader_ends_the_older_one() -> None:
    log = EventLog("s")
    old, new = log.read(), log.read()
    log.write(b"data: x\n\n")
    assert await frames(old, 1) == [None]
    assert await frames(new, 1) == [b"id: s-0\ndata: x\n\n"]


def test_a_store_forgets_the_oldest_streams_that_have_ended() -> None:
    store = EventStore(streams_per_session=2)
    logs = [store.open("a") for _ in range(4)]
    for log in logs[:3]:
        log.end()
    store.open("a")
    assert [store.find("a", log.name) is log for log in logs] == [False, False, True, True]
    store.end_session("a")
    assert (len(store), logs[3].ended) == (0, False), "whoever writes it has an answer left to write"


def test_a_store_keeps_no_more_bytes_than_it_may() -> None:
    store = EventStore(bytes_in_all=50)
    logs = [store.open(session) for session in "abc"]
    for log in logs:
        log.write(b"data: 0123456789\n\n")
        log.end()
    store.open("d")
    assert [store.find(session, log.name) is not None for session, log in zip("abc", logs, strict=True)] == [
        False,
        False,
        True,
    ]


async def test_a_call_whose_client_does_not_come_back_is_cancelled_in_the_end(
    talking: RunningEngine, talk: TalkHooks
) -> None:
    space = talking.space
    service = McpService(space, Handler(ServerInfo(name="space", version="1")))
    answers = CallAnswers(service, come_back=0.05)
    client = await talking.client(NUMBERED)
    active = await space.sessions.ask(Begin(client.session or "", (CallClaim(1),), "standard"))
    assert active is not None
    message = Request(1, "tools/call", {"name": HANG_UP, "arguments": {}})
    facts = HttpFacts(method="POST", session_header=client.session)
    decision = service.decide(facts, message, active)
    assert isinstance(decision, CallTool)
    answer = await answers.answer(decision, facts, message, active)
    body = answer.made.response if isinstance(answer.made, QuartResponse) else None
    assert isinstance(body, EventStreamBody)
    async with body:
        assert (await anext(body)).endswith(b"data: \n\n")
    with trio.fail_after(BOUND_SECONDS):
        await talk.cancelled.acquire()
    await no_calls(talking)
