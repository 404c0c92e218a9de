"""The stream of changes over HTTP: at once, after each change of a topic, for many, and to an end."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import trio

from actors.agents import AgentOptions
from actors.versions import MOST_READERS
from tests.transport.raw_http import RawConnection, request_bytes
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.test_rest import assert_problem, send
from tests.transport.tools_on_trial import ECHO

BOUND_SECONDS = 20.0
TOPICS = {"context", "world", "presets", "tools", "agents", "sessions", "calls", "programs", "units", "blocks"}


@asynccontextmanager
async def reading(engine: RunningEngine) -> AsyncGenerator[RawConnection]:
    connection = await engine.connect()
    try:
        await connection.send(request_bytes("GET", "/api/events"))
        head = await connection.read_head()
        assert (head.status, head.header("content-type")) == (200, "text/event-stream")
        yield connection
    finally:
        await connection.finish()


async def next_versions(connection: RawConnection) -> Any:
    with trio.fail_after(BOUND_SECONDS):
        event = await connection.next_event()
    assert event is not None
    assert event.event == "versions"
    return json.loads(event.data)["versions"]


async def until_moved(connection: RawConnection, topic: str, before: Any) -> Any:
    """The versions, once that topic has moved."""
    while True:
        now = await next_versions(connection)
        if now[topic] > before[topic]:
            return now


async def test_the_first_frame_comes_at_once_and_has_every_topic(engine: RunningEngine) -> None:
    async with reading(engine) as connection:
        assert set(await next_versions(connection)) == TOPICS


async def test_each_topic_moves_with_what_it_is_about(tmp_path: Path) -> None:
    agents = AgentOptions(user_root=tmp_path / "agents")
    async with running_engine(tmp_path, built_in=True, agents=agents) as engine, reading(engine) as connection:
        now = await next_versions(connection)

        async def moves(topic: str, method: str, path: str, body: Any) -> None:
            nonlocal now
            assert (await send(engine, method, path, body)).status < 300, path
            now = await until_moved(connection, topic, now)

        await moves("context", "PATCH", "/api/context", {"surface": "scene"})
        await moves("presets", "PUT", "/api/presets/trial-risky-tools/override", {"state": "on"})
        await moves("tools", "PUT", "/api/presets/trial-risky-tools/override", {"state": "off"})
        await moves("world", "POST", "/api/worlds", {"name": "garden"})
        await moves("agents", "POST", "/api/agents", {"from": "code", "id": "mine"})
        await moves("blocks", "POST", "/api/stories", {"name": "A Tale"})
        await moves("units", "POST", "/api/units", {"name": "dice"})
        client = await engine.client()
        now = await until_moved(connection, "sessions", now)
        await client.delete()
        await until_moved(connection, "sessions", now)


async def test_a_call_moves_the_calls_and_nothing_else(engine: RunningEngine) -> None:
    async with reading(engine) as connection:
        before = await next_versions(connection)
        await send(engine, "POST", f"/api/tools/{ECHO}/call", {"text": "hi"})
        now = await until_moved(connection, "calls", before)
        assert {topic for topic in TOPICS if now[topic] != before[topic]} == {"calls"}


async def test_looking_moves_nothing(engine: RunningEngine) -> None:
    async with reading(engine) as connection:
        await next_versions(connection)
        for path in ("/status", "/api/calls", "/api/stories", "/api/agents", "/api/units", "/api/worlds"):
            assert (await engine.request("GET", path)).status == 200
        with trio.move_on_after(0.1) as silent:
            await connection.next_event()
        assert silent.cancelled_caught


async def test_several_readers_hear_of_the_same_change(engine: RunningEngine) -> None:
    async with reading(engine) as first, reading(engine) as second:
        before = await next_versions(first)
        assert await next_versions(second) == before
        await send(engine, "POST", f"/api/tools/{ECHO}/call", {"text": "hi"})
        assert (await until_moved(first, "calls", before))["calls"] > 0
        assert (await until_moved(second, "calls", before))["calls"] > 0


@pytest.mark.slow
async def test_one_reader_too_many_is_told_so_and_finds_a_place_when_another_leaves(engine: RunningEngine) -> None:
    connections = [await engine.connect() for _ in range(MOST_READERS)]
    for connection in connections:
        await connection.send(request_bytes("GET", "/api/events"))
        await connection.read_head()
    assert_problem(await engine.request("GET", "/api/events"), 503, str(MOST_READERS))
    await connections.pop().finish()
    with trio.fail_after(BOUND_SECONDS):
        while engine.space.versions.reader_count == MOST_READERS:  # noqa: ASYNC110 - nothing tells of it
            await trio.sleep(0.01)
    async with reading(engine) as connection:
        assert set(await next_versions(connection)) == TOPICS
    for connection in connections:
        await connection.finish()


async def test_the_end_of_the_engine_ends_the_stream_and_does_not_wait_for_it(engine: RunningEngine) -> None:
    async with reading(engine) as connection:
        await next_versions(connection)
        started = trio.current_time()
        assert await engine.end()
        assert trio.current_time() - started < engine.grace / 2
        with trio.fail_after(BOUND_SECONDS):
            while await connection.next_event() is not None:
                pass
