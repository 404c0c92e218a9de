"""`transport.serve` as a process, and the parts of a start and an end that need none."""

from __future__ import annotations

import json
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest
import trio

from actors.errors import ActorStoppedError
from tests.transport.conftest import LogEntries
from tests.transport.mcp_client import BOTH, JSON_BODY, LIST_CHANGED, initialize, rpc
from tests.transport.raw_http import BOUND_SECONDS, chunked, connected, request_bytes
from tests.transport.running_engine import RunningEngine
from tests.transport.serving_process import ended_at_once, serve_command, serving_process
from transport.event_stream import HEARTBEAT, EventStreamBody

TOKEN = "s3cret-and-long"


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_an_idle_engine_ends_at_once_and_well(tmp_path: Path, number: signal.Signals) -> None:
    async with serving_process(tmp_path) as engine:
        async with connected(engine.port) as connection:
            assert (await connection.request("GET", "/status")).status == 200
            began = trio.current_time()
            engine.signal(number)
            assert await engine.wait() == 0
            assert trio.current_time() - began < 2
        events = [json.loads(line)["event"] for line in engine.log.splitlines()]
    assert events[0] == "started"
    assert events[-2:] == ["stopping", "stopped"]


@pytest.mark.slow
async def test_an_engine_whose_default_agent_is_missing_starts_and_says_so_loudly(tmp_path: Path) -> None:
    async with serving_process(tmp_path, "--agent", "mine", "--presentation", "both") as engine:
        (entry,) = [line for line in map(json.loads, engine.log.splitlines()) if line["level"] == "error"]
        assert (entry["event"], entry["agent"]) == ("default_agent_unusable", "mine")
        assert "there is no agent 'mine'" in entry["reason"]
        status = await engine.status()
        assert "there is no agent 'mine'" in status["default_agent"]["problem"]
        assert {agent["id"]: agent["mode"] for agent in status["agents"]}["standard"] == "both"
        refused = await engine.request("POST", "/mcp", BOTH, json.dumps(initialize()).encode())
        assert "there is no agent 'mine'" in refused.json["error"]["message"]
        # A copy in the data folder takes the place, without another start.
        await engine.request("POST", "/api/agents", JSON_BODY, json.dumps({"from": "minimal", "id": "mine"}).encode())
        assert (tmp_path / "data" / "agents" / "mine" / "composition.yml").is_file()
        assert (await engine.status())["default_agent"] == {"id": "mine", "problem": None}
        assert (await engine.request("POST", "/mcp", BOTH, json.dumps(initialize()).encode())).status == 200
        engine.signal(signal.SIGTERM)
        assert await engine.wait() == 0


@pytest.mark.slow
async def test_the_token_is_in_nothing_that_the_engine_writes(tmp_path: Path) -> None:
    flags = ("--token", TOKEN, "--log-level", "debug")
    async with serving_process(tmp_path, *flags) as engine:
        for given in (TOKEN, "wrong"):
            headers = (*BOTH, ("Authorization", f"Bearer {given}"))
            response = await engine.request("POST", "/mcp", headers, json.dumps(initialize()).encode())
            assert TOKEN not in response.body.decode()
            await engine.request("POST", "/mcp", headers, b"{")
        engine.signal(signal.SIGTERM)
        assert await engine.wait() == 0
        assert TOKEN not in engine.log
        assert '"event": "post"' in engine.log


@pytest.mark.slow
async def test_beyond_loopback_the_engine_does_not_start_without_leave_and_token(tmp_path: Path) -> None:
    code, output, errors = await ended_at_once(serve_command(tmp_path, "--host", "0.0.0.0"))
    assert (code, output) == (2, "")
    assert "non-loopback" in errors
    code, output, errors = await ended_at_once(serve_command(tmp_path, "--host", "0.0.0.0", "--allow-non-loopback"))
    assert (code, output) == (2, "")
    assert "--token" in errors


LOGGING = """
import sys, structlog
from transport.logs import LogFormat, LogLevel, configure_logs

configure_logs(LogFormat(sys.argv[1]), LogLevel.INFO)
log = structlog.stdlib.get_logger("trial")

def fails(token):
    raise RuntimeError("a bug")

try:
    fails("s3cret" + "-and-long")
except RuntimeError:
    log.exception("failed")
log.debug("too much")
if sys.argv[2:] == ["hostile"]:
    hostile = "\\x1b[31m\\x00\\u202e\\nforged"
    log.info("opened", client=hostile + "x" * 3_000_000, methods=["\\x07" * 9_000], path={"a": "\\x9b"})
    try:
        raise RuntimeError("\\x1b[2J" + "y" * 3_000_000)
    except RuntimeError:
        log.exception("failed again")
elif len(sys.argv) > 2:
    sys.stderr.close()
    log.info("to nobody")
print("alive")
"""


@pytest.mark.slow
@pytest.mark.parametrize("log_format", ["console", "json"])
async def test_a_traceback_shows_where_and_never_the_values(log_format: str) -> None:
    code, output, errors = await ended_at_once([sys.executable, "-c", LOGGING, log_format])
    assert (code, output) == (0, "alive\n")
    assert "a bug" in errors
    assert "fails" in errors
    assert "trial" in errors
    assert "too much" not in errors
    assert TOKEN not in errors
    if log_format == "json":
        assert json.loads(errors)["event"] == "failed"


@pytest.mark.slow
@pytest.mark.parametrize("log_format", ["console", "json"])
async def test_what_a_client_writes_can_neither_fill_the_log_nor_drive_the_terminal(log_format: str) -> None:
    code, _, errors = await ended_at_once([sys.executable, "-c", LOGGING, log_format, "hostile"])
    assert code == 0
    assert len(errors) < 150_000
    assert not set(errors) & set("\x1b\x00\x07\x9b\u202e")
    assert not any(line.startswith("forged") for line in errors.splitlines())
    assert "[31m" in errors


@pytest.mark.slow
async def test_a_log_that_nobody_reads_ends_nothing() -> None:
    code, output, _ = await ended_at_once([sys.executable, "-c", LOGGING, "console", "closed"])
    assert (code, output) == (0, "alive\n")


async def test_while_the_engine_ends_new_calls_are_refused_and_a_new_stream_has_an_end(engine: RunningEngine) -> None:
    client = await engine.client()
    assert await engine.space.drain(1)
    response = await client.post(rpc("tools/call", {"name": "space_trial_slow", "arguments": {}}))
    assert response.status == 503
    assert "shutting down" in response.json["error"]["message"]
    stream = await client.open_stream()
    assert await stream.next_message() == LIST_CHANGED
    assert await stream.next_event() is None
    await stream.finish()


async def test_a_silent_stream_shows_a_sign_of_life(autojump_clock: trio.abc.Clock) -> None:
    ends: list[float] = []

    async def nothing() -> bytes | None:
        await trio.sleep_forever()
        raise AssertionError

    async def on_end() -> None:
        ends.append(trio.current_time())

    began = trio.current_time()
    async with EventStreamBody(nothing, on_end, heartbeat=15) as body:
        for beat in (1, 2, 3):
            assert await anext(body.__aiter__()) == HEARTBEAT
            assert trio.current_time() - began == pytest.approx(15 * beat)
        assert ends == []
    assert len(ends) == 1


async def test_a_frame_that_comes_with_the_heartbeat_is_not_lost(autojump_clock: trio.abc.Clock) -> None:
    send, receive = trio.open_memory_channel[bytes | None](1)

    async def on_end() -> None:
        return

    async def feed() -> None:
        for number in range(20):
            await trio.sleep(15)
            await send.send(b"%d" % number)
        await send.send(None)

    frames: list[bytes] = []
    async with trio.open_nursery() as nursery:
        nursery.start_soon(feed)
        async with EventStreamBody(receive.receive, on_end, heartbeat=15) as body:
            frames.extend([frame async for frame in body])
    assert [frame for frame in frames if frame != HEARTBEAT] == [b"%d" % number for number in range(20)]


@pytest.mark.parametrize("failure", ["stopped", "slow"])
async def test_an_owner_that_cannot_be_told_of_the_end_is_logged_and_holds_nothing_up(
    autojump_clock: trio.abc.Clock, errors_logged: LogEntries, failure: str
) -> None:
    async def nothing() -> bytes | None:
        return None

    async def on_end() -> None:
        if failure == "stopped":
            raise ActorStoppedError("sessions")
        await trio.sleep_forever()

    async with EventStreamBody(nothing, on_end, heartbeat=15) as body:
        assert [frame async for frame in body] == []
    assert [entry["event"] for entry in errors_logged] == ["stream_end_not_noted"]


async def test_a_body_that_is_still_being_sent_when_its_answer_is_there_does_no_harm(engine: RunningEngine) -> None:
    async with connected(engine.port) as connection:
        headers = (("Content-Type", "text/plain"), ("Transfer-Encoding", "chunked"))
        await connection.send(request_bytes("POST", "/mcp", headers))
        assert (await connection.read_response()).status == 415
        with trio.move_on_after(BOUND_SECONDS):
            with suppress(trio.BrokenResourceError):
                await connection.send(chunked(*[b"x" * 1000] * 1000))
    assert (await engine.request("GET", "/status")).status == 200
