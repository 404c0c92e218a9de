"""What must hold after a thousand comings and goings, at a shutdown under load, and after a kill."""

from __future__ import annotations

import json
import os
import random
import signal
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeVar

import pytest
import trio

from actors.sessions import ReadSessions
from tests.transport.mcp_client import BOTH, JSON_BODY, LIST_CHANGED, McpClient, SseClient, call, post_bytes, rpc
from tests.transport.raw_http import (
    BOUND_SECONDS,
    ConnectionEndedError,
    RawConnection,
    connect,
    connected,
    request_bytes,
)
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.serving_process import ServingProcess, is_running, open_files, serving_process
from tests.transport.silent_clients import silent_clients, unsent_bytes
from tests.transport.tools_on_trial import PROGRESS, SLOW

pytestmark = pytest.mark.slow

SEED = 20_241
CONNECTS = 1000
RESETS = 200
AT_A_TIME = 8
"""How many clients come and go side by side."""

LOOK_SECONDS = 0.02
"""Between two looks at what no event tells: the figures of another process, the tasks of the loop."""

SHELL = "space_app_run_bash"


async def until(condition: Callable[[], Awaitable[bool]], what: Callable[[], object]) -> None:
    """Look again and again until the condition holds; past the bound the test fails with `what`."""
    with trio.move_on_after(BOUND_SECONDS):
        while not await condition():  # noqa: ASYNC110 - what is looked at has no event
            await trio.sleep(LOOK_SECONDS)
        return
    raise AssertionError(f"not within {BOUND_SECONDS:g} s: {what()}")


SAME_LOOKS = 5
"""So many looks that show the same mean that what was under way has come to its end."""

FiguresT = TypeVar("FiguresT")


async def settled(look: Callable[[], FiguresT]) -> FiguresT:
    """The figures, once they have stayed the same for a while."""
    with trio.fail_after(BOUND_SECONDS):
        last, same = look(), 1
        while same < SAME_LOOKS:
            await trio.sleep(LOOK_SECONDS)
            now = look()
            last, same = now, same + 1 if now == last else 1
        return last


def tasks() -> Counter[str]:
    """Every task of this loop by name."""
    found: Counter[str] = Counter()
    root = trio.lowlevel.current_root_task()
    waiting = [] if root is None else [root]
    while waiting:
        task = waiting.pop()
        found[task.name] += 1
        waiting.extend(child for nursery in task.child_nurseries for child in nursery.child_tasks)
    return found


def left_here() -> Counter[str]:
    """The tasks of this loop and the open files of this process."""
    return tasks() + open_files(os.getpid())


async def until_as_before(look: Callable[[], Counter[str]], before: Counter[str]) -> None:
    """Wait until the figures are exactly what they were."""

    async def as_before() -> bool:
        return look() == before

    await until(as_before, lambda: ("more:", look() - before, "fewer:", before - look()))


async def vanish_at_a_random_moment(connection: RawConnection, asked: bytes, rng: random.Random) -> None:
    """Send all or a part of a request, let the server get somewhere with it, and be gone with an RST."""
    await connection.send(asked[: rng.choice([1, len(asked) // 2, len(asked), len(asked), len(asked)])])
    for _ in range(rng.randrange(60)):
        await trio.lowlevel.checkpoint()
    if rng.random() < 0.3:
        with trio.move_on_after(rng.random() * 0.005):
            await connection.stream.receive_some()
    await connection.reset()


async def come_and_go(port: int, asked: Callable[[], bytes], reset: bool, rng: random.Random) -> None:
    """One client of a stream: it reads until the announcement, or is gone before."""
    connection = await connect(port)
    if reset:
        await vanish_at_a_random_moment(connection, asked(), rng)
        return
    await connection.send(asked())
    try:
        assert (await connection.read_head()).status == 200
        while (event := await connection.next_event()) is not None and event.event != "message":
            pass
    except ConnectionEndedError:
        # In forced SSE mode the next client has taken the stream over meanwhile.
        pass
    await connection.finish()


async def comings_and_goings(port: int, sessions: list[McpClient]) -> None:
    """A thousand streams, two hundred of which end by RST; of these sessions, or of none."""
    rng = random.Random(SEED)
    resets = [True] * RESETS + [False] * (CONNECTS - RESETS)
    rng.shuffle(resets)
    accept = ("Accept", "text/event-stream")
    limit = trio.CapacityLimiter(AT_A_TIME)

    def asked() -> bytes:
        session = rng.choice(sessions).headers if sessions else ()
        return request_bytes("GET", "/mcp", (accept, *session))

    async def one(reset: bool) -> None:
        async with limit:
            await come_and_go(port, asked, reset, rng)

    with trio.fail_after(60):
        async with trio.open_nursery() as nursery:
            for reset in resets:
                nursery.start_soon(one, reset)


async def left_alone(engine: RunningEngine) -> bool:
    """Whether no session has a stream, a call or a request that still goes on."""
    rows = (await engine.space.sessions.ask(ReadSessions())).sessions
    return all(not row.has_stream and row.calls == 0 and row.session.in_flight == 0 for row in rows)


@pytest.mark.parametrize("force_sse", [False, True], ids=["direct", "sse"])
async def test_a_thousand_streams_leave_no_task_no_file_and_no_error_behind(tmp_path: Path, force_sse: bool) -> None:
    async with running_engine(tmp_path, force_sse=force_sse) as engine:
        sessions = [] if force_sse else [await engine.client() for _ in range(AT_A_TIME)]
        before = await settled(left_here)
        await comings_and_goings(engine.port, sessions)
        await until(lambda: left_alone(engine), lambda: "a stream, call or request that still goes on")
        await until_as_before(left_here, before)
        status = await engine.status()
        assert status["mcp"]["session_count"] == len(sessions)
        assert status["mcp"]["sse_connected"] is False
        assert all(actor["failed"] == 0 for actor in status["actors"])
        for session in sessions:
            assert (await session.ask("ping"))["result"] == {}


@pytest.mark.nightly
@pytest.mark.parametrize("force_sse", [False, True], ids=["direct", "sse"])
async def test_a_thousand_streams_leave_nothing_behind_in_a_process(tmp_path: Path, force_sse: bool) -> None:
    async with serving_process(tmp_path, *(("--force-sse",) if force_sse else ())) as engine:
        sessions = [] if force_sse else [await McpClient.initialized(engine.port) for _ in range(AT_A_TIME)]
        await engine.status()
        before = await settled(engine.open_files)
        await comings_and_goings(engine.port, sessions)
        await until_as_before(engine.open_files, before)
        status = await engine.status()
        assert not any(session["stream"] or session["calls"] for session in status["sessions"])
        assert all((actor["failed"], actor["depth"]) == (0, 0) for actor in status["actors"])
        engine.signal(signal.SIGTERM)
        assert await engine.wait() == 0
        assert_quiet(engine.log)


def assert_quiet(log: str) -> None:
    """No line of the log is a traceback or an error, and all of them are JSON."""
    assert "Traceback" not in log
    for line in log.splitlines():
        assert json.loads(line)["level"] in {"info", "warning"}, line


async def test_two_hundred_calls_that_lose_their_client_at_random_moments_leave_nothing_behind(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    async with running_engine(tmp_path, stream_after=0.002) as engine:
        sessions = [await engine.client() for _ in range(AT_A_TIME)]
        before = await settled(left_here)
        limit = trio.CapacityLimiter(AT_A_TIME)

        async def one(number: int) -> None:
            session = rng.choice(sessions)
            message = rng.choice(
                [
                    call(SLOW, {}, number),
                    call(PROGRESS, {"steps": 3}, number, progress=number),
                    rpc("tools/list", request_id=number),
                ]
            )
            async with limit:
                connection = await connect(engine.port)
                await vanish_at_a_random_moment(connection, post_bytes(message, (*BOTH, *session.headers)), rng)

        with trio.fail_after(60):
            async with trio.open_nursery() as nursery:
                for number in range(RESETS):
                    nursery.start_soon(one, number)
        await until(lambda: left_alone(engine), lambda: "a call or request that still goes on")
        await until_as_before(left_here, before)
        assert engine.space.calls.running() == ()


@asynccontextmanager
async def call_in_flight(engine: ServingProcess, folder: Path) -> AsyncGenerator[Callable[[], None]]:
    """A shell command that waits for what the yielded function does; the tool for it is turned on."""
    gate = folder / "workspace" / "gate"
    os.mkfifo(gate)
    await engine.send("PUT", "/api/presets/general-shell-tools/override", {"state": "on"})

    def release() -> None:
        descriptor = os.open(gate, os.O_WRONLY | os.O_NONBLOCK)
        os.write(descriptor, b"through the gate\n")
        os.close(descriptor)

    yield release


async def running_call(engine: ServingProcess) -> None:
    """Wait until the shell command waits at its gate."""

    async def has_one() -> bool:
        return len((await engine.status())["calls"]) == 1

    await until(has_one, lambda: "a call in flight")


async def at_the_gate(release: Callable[[], None]) -> None:
    """Release the command, as soon as it has come to the gate."""

    async def released() -> bool:
        try:
            release()
        except OSError:
            return False
        return True

    await until(released, lambda: "a command at the gate")


async def stopping(engine: ServingProcess) -> None:
    """Wait until the engine has noted the signal."""

    async def noted() -> bool:
        return '"event": "stopping"' in engine.log

    await until(noted, lambda: engine.log)


GRACE_SECONDS = 10.0


async def silent(engine: ServingProcess, count: int) -> None:
    """Wait until the engine is stuck in a send to each of so many clients."""

    async def stuck() -> bool:
        return sum(size > 0 for size in unsent_bytes(engine.port)) >= count

    await until(stuck, lambda: unsent_bytes(engine.port))


async def test_a_signal_under_load_answers_the_call_and_ends_every_stream_in_direct_mode(tmp_path: Path) -> None:
    """20 clients that do not read, open streams, a call in flight; the peer timeout and the grace are the defaults."""
    async with serving_process(tmp_path) as engine, call_in_flight(engine, tmp_path) as release:
        clients = [await McpClient.initialized(engine.port) for _ in range(5)]
        streams = [await client.following_stream() for client in clients]
        idle = await connect(engine.port)
        caller = await McpClient.initialized(engine.port)
        connection = await caller.begin(call(SHELL, {"command": "cat gate"}, "c"))
        await running_call(engine)
        with silent_clients(engine.port, 20):
            await silent(engine, 20)
            began = trio.current_time()
            engine.signal(signal.SIGTERM)
            await stopping(engine)
            await at_the_gate(release)
            answer = await connection.read_response()
            assert answer.json["result"]["structuredContent"]["stdout"] == "through the gate\n"
            for stream in streams:
                assert await stream.next_event() is None
            assert await idle.wait_closed() == b""
            assert await engine.wait() == 0
        assert trio.current_time() - began < GRACE_SECONDS
        for stream in (*streams, idle, connection):
            await stream.finish()
        assert_quiet(engine.log)


async def test_a_signal_under_load_answers_the_call_over_the_stream_and_ends_it(tmp_path: Path) -> None:
    flags = ("--force-sse", "--peer-timeout", "1")
    async with serving_process(tmp_path, *flags) as engine, call_in_flight(engine, tmp_path) as release:
        client = await SseClient.opened(engine.port)
        assert await client.stream.next_message() == LIST_CHANGED
        assert (await client.post(call(SHELL, {"command": "cat gate"}, "c"))).status == 202
        await running_call(engine)
        with silent_clients(engine.port, 20):
            await silent(engine, 20)
            began = trio.current_time()
            engine.signal(signal.SIGTERM)
            await stopping(engine)
            await at_the_gate(release)
            answer = await client.stream.next_message()
            assert answer["id"] == "c"
            assert "through the gate" in answer["result"]["content"][0]["text"]
            assert await client.stream.next_event() is None
            assert await engine.wait() == 0
        assert trio.current_time() - began < GRACE_SECONDS / 2
        await client.stream.finish()
        assert_quiet(engine.log)


async def test_a_call_that_outlasts_the_grace_is_cut_off_and_the_exit_code_says_so(tmp_path: Path) -> None:
    async with serving_process(tmp_path, "--grace", "0.5") as engine, call_in_flight(engine, tmp_path):
        caller = await McpClient.initialized(engine.port)
        connection = await caller.begin(call(SHELL, {"command": "cat gate"}))
        await running_call(engine)
        began = trio.current_time()
        engine.signal(signal.SIGTERM)
        assert await engine.wait() == 1
        assert trio.current_time() - began < 5
        await connection.finish()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_second_signal_ends_at_once(tmp_path: Path, number: signal.Signals) -> None:
    async with serving_process(tmp_path) as engine, call_in_flight(engine, tmp_path):
        caller = await McpClient.initialized(engine.port)
        connection = await caller.begin(call(SHELL, {"command": "cat gate"}))
        await running_call(engine)
        engine.signal(number)
        await stopping(engine)
        began = trio.current_time()
        commands = engine.children()
        engine.signal(number)
        assert await engine.wait() == 128 + number
        assert trio.current_time() - began < 1
        await connection.finish()
        assert commands
        await until(_none_runs(commands), lambda: commands)


async def test_a_terminal_that_is_closed_ends_the_engine_well(tmp_path: Path) -> None:
    async with serving_process(tmp_path) as engine:
        engine.signal(signal.SIGHUP)
        assert await engine.wait() == 0


async def test_what_was_acknowledged_is_there_after_a_kill(tmp_path: Path) -> None:
    rng = random.Random(SEED)
    drawn: list[str] = []

    async def draw(port: int) -> None:
        """Draw shape after shape on one connection until the engine is gone, and note each that was acknowledged."""
        try:
            async with connected(port) as connection:
                while True:
                    shape = {"shape": "rectangle", "x": rng.randrange(100), "y": 0, "width": 5, "height": 5}
                    target = "/api/tools/space_drawing_insert_shape/call"
                    response = await connection.request("POST", target, JSON_BODY, json.dumps(shape).encode())
                    assert response.json["is_error"] is False, response
                    drawn.append(response.json["structured_content"]["id"])
        except (ConnectionEndedError, trio.BrokenResourceError):
            return

    for _ in range(3):
        async with serving_process(tmp_path) as engine:
            wanted = len(drawn) + rng.randrange(20, 60)
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    nursery.start_soon(draw, engine.port)
                await until(_reached(drawn, wanted), lambda: len(drawn))
                engine.signal(signal.SIGKILL)
                assert await engine.wait() == -signal.SIGKILL
    async with serving_process(tmp_path) as engine:
        kept = await _ids(engine)
        assert set(drawn) <= kept
        assert len(set(drawn)) == len(drawn)


def _none_runs(commands: list[int]) -> Callable[[], Awaitable[bool]]:
    async def none_runs() -> bool:
        return not any(map(is_running, commands))

    return none_runs


def _reached(drawn: list[str], wanted: int) -> Callable[[], Awaitable[bool]]:
    async def reached() -> bool:
        return len(drawn) >= wanted

    return reached


async def _ids(engine: ServingProcess) -> set[str]:
    """The ids of every object of the drawing, page by page."""
    found: set[str] = set()
    offset: int | None = 0
    while offset is not None:
        response = await engine.send("POST", "/api/tools/space_drawing_inspect/call", {"offset": offset})
        page = response.json["structured_content"]
        found |= {item["id"] for item in page["objects"]}
        offset = page.get("next")
    return found
