"""Lines of JSON as a response: one event a line, signs of life while nothing happens, and an end that is told."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, cast

import trio
from trio.testing import MockClock

from transport.event_stream import HEARTBEAT_SECONDS
from transport.ndjson import ALIVE, NDJSON, ndjson_stream


async def test_events_are_lines_and_silence_is_filled(autojump_clock: MockClock) -> None:
    events: list[Mapping[str, Any]] = [{"text": "a\nb\u2028c"}, {"text": "later"}]
    ended: list[str] = []

    async def next_event() -> Mapping[str, Any] | None:
        if len(events) == 1:
            await trio.sleep(2.5 * HEARTBEAT_SECONDS - trio.current_time())
        return events.pop(0) if events else None

    started = trio.current_time()
    response = ndjson_stream(next_event, lambda: ended.append("told"))
    assert (response.content_type, response.timeout) == (NDJSON, None)
    body = cast("Any", response.response)
    async with body:
        lines = [line async for line in body]
        assert ended == []
    assert ended == ["told"]
    assert [json.loads(line) for line in lines] == [{"text": "a\nb\u2028c"}, ALIVE, ALIVE, {"text": "later"}]
    assert all(line.endswith(b"\n") and len(line.decode().splitlines()) == 1 for line in lines)
    assert trio.current_time() - started < 3 * HEARTBEAT_SECONDS


async def test_an_end_without_a_first_byte_is_told_too() -> None:
    ended: list[str] = []

    async def never() -> Mapping[str, Any] | None:
        await trio.sleep_forever()
        return None

    async with ndjson_stream(never, lambda: ended.append("told")).response:  # pyright: ignore[reportGeneralTypeIssues]
        pass
    assert ended == ["told"]
