"""What Hypercorn with quart-trio brings along, each with the remedy that keeps it from users.

Every one of these fails when its remedy is taken away.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path
from typing import Any, cast

import pytest
import trio
import trio.testing
from hypercorn.config import Config
from hypercorn.events import RawData
from hypercorn.trio.task_group import TaskGroup
from hypercorn.trio.worker_context import WorkerContext
from hypercorn.typing import ConnectionState

from actors.context import PatchContext
from tests.transport.conftest import LogEntries
from tests.transport.mcp_client import BOTH, LIST_CHANGED, McpClient, call, post_bytes, rpc
from tests.transport.raw_http import BOUND_SECONDS, connected, request_bytes
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.serving_process import ended_at_once, serve_command, serving_process
from tests.transport.silent_clients import silent_clients, unsent_bytes
from tests.transport.tools_on_trial import SLOW
from transport.connection import AT_ONCE_SECONDS
from transport.listener import open_listener
from transport.tcp_connection import TcpConnection, _Http1

LONG_GRACE_SECONDS = 20.0
SHORT_SECONDS = 4.0
"""Far less than the grace, far more than an end that waits for nobody needs."""


async def stuck(port: int, count: int) -> None:
    """Wait until the server has that many connections on which it cannot send."""
    with trio.fail_after(BOUND_SECONDS):
        before: list[int] = []
        while True:
            now = unsent_bytes(port)
            if sum(size > 0 for size in now) == count and now == before:
                return
            before = now
            await trio.sleep(0.02)


@pytest.mark.slow
async def test_1_clients_that_do_not_read_hold_no_shutdown(tmp_path: Path) -> None:
    """Remedy: TCP_USER_TIMEOUT on the listening socket. Without it the end takes the grace, and longer."""
    async with running_engine(tmp_path, built_in=True, grace=LONG_GRACE_SECONDS, peer_timeout=0.5) as engine:
        with silent_clients(engine.port, 5):
            await stuck(engine.port, 5)
            with trio.fail_after(SHORT_SECONDS):
                assert await engine.end()


def test_1_accepted_connections_inherit_the_time_limit_for_peers() -> None:
    listener = open_listener("127.0.0.1", 0, peer_timeout=3)
    with listener.socket, socket.create_connection(("127.0.0.1", listener.port), timeout=5):
        listener.socket.setblocking(True)
        listener.socket.settimeout(5)
        accepted, _ = listener.socket.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT) == 3000


@pytest.mark.parametrize("force_sse", [False, True], ids=["direct", "sse"])
async def test_2_open_streams_end_cleanly_and_hold_no_shutdown(tmp_path: Path, force_sse: bool) -> None:
    """Remedy: streams are told to end before connections are waited for. Without it they are cut at the grace."""
    async with running_engine(tmp_path, force_sse=force_sse, grace=LONG_GRACE_SECONDS) as engine:
        if force_sse:
            streams = [(await engine.sse_client()).stream]
            assert await streams[0].next_message() == LIST_CHANGED
        else:
            streams = [await (await engine.client()).following_stream() for _ in range(5)]
        with trio.fail_after(SHORT_SECONDS):
            assert await engine.end()
        for stream in streams:
            # None is the terminator of the chunked body; a stream that is cut raises instead.
            assert await stream.next_event() is None
            assert await stream.wait_closed() == b""
            await stream.finish()


async def test_3_an_idle_connection_is_closed(tmp_path: Path) -> None:
    """Remedy: a late disconnect does not cancel the last send. Without it the idle time never begins again."""
    async with running_engine(tmp_path, idle_seconds=0.05) as engine, connected(engine.port) as connection:
        assert (await connection.request("GET", "/status")).status == 200
        client = await engine.client()
        await connection.send(post_bytes(rpc("ping"), (*BOTH, *client.headers)))
        assert (await connection.read_response()).status == 200
        assert await connection.wait_closed() == b""


async def test_3_idle_connections_hold_no_shutdown(tmp_path: Path) -> None:
    async with running_engine(tmp_path, grace=LONG_GRACE_SECONDS) as engine:
        connections = [await engine.connect() for _ in range(5)]
        for connection in connections[1:]:
            assert (await connection.request("GET", "/status")).status == 200
        with trio.fail_after(SHORT_SECONDS):
            assert await engine.end()
        for connection in connections:
            assert await connection.wait_closed() == b""
            await connection.finish()


async def test_4_a_stream_outlives_the_time_limit_for_responses(engine: RunningEngine) -> None:
    """Remedy: streams have no limit of their own. Without it they are cut after 60 s; here after 20 ms."""
    engine.app.config["RESPONSE_TIMEOUT"] = 0.02
    client = await engine.client()
    stream = await client.following_stream()
    with trio.move_on_after(0.1):
        data = await stream.stream.receive_some()
        raise AssertionError(f"the stream did not stay as it was: {data!r}")
    await engine.space.context.ask(PatchContext({"surface": "scene"}))
    assert await stream.next_message() == LIST_CHANGED
    await stream.finish()


async def test_5_a_fault_in_one_connection_ends_that_one_alone(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch, errors_logged: LogEntries
) -> None:
    """Remedy: the boundary of a connection. Without it the fault ends the server, and the engine with it."""
    stream = await (await engine.client()).following_stream()

    async def broken(_: TcpConnection) -> None:
        raise trio.BusyResourceError("two tasks in one socket")

    monkeypatch.setattr(TcpConnection, "_read_data", broken)
    async with connected(engine.port) as connection:
        assert await connection.wait_closed() == b""
    monkeypatch.undo()
    assert (await engine.request("GET", "/status")).status == 200
    await engine.space.context.ask(PatchContext({"surface": "scene"}))
    assert await stream.next_message() == LIST_CHANGED
    await stream.finish()
    assert [entry["event"] for entry in errors_logged if entry["log_level"] == "error"] == ["connection_failed"]
    errors_logged.clear()


async def test_5_a_crash_of_the_web_app_leaves_the_actors_alone(
    engine: RunningEngine, monkeypatch: pytest.MonkeyPatch, errors_logged: LogEntries
) -> None:
    """Remedy: the engine stands outside the app, which owns no nursery that a crash could close."""
    client = await engine.client()

    async def crash(*_: object) -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(_raise)

    monkeypatch.setattr(engine.app, "handle_request", crash)
    assert (await engine.request("GET", "/status")).status == 500
    monkeypatch.undo()
    assert await client.ask("ping") == {"jsonrpc": "2.0", "id": 1, "result": {}}
    assert all(actor.failed == 0 for actor in engine.space.supervisor.statistics())
    assert [entry["event"] for entry in errors_logged if entry["log_level"] == "error"] == ["hypercorn"]
    errors_logged.clear()


async def _raise() -> None:
    raise RuntimeError("a bug in a background task")


FAILING_START = """
import sys
from pathlib import Path
import actors.space
from engine.errors import ConflictError
from transport.serve import ServeOptions, run

def fail():
    raise {error}

actors.space.built_in_capabilities = fail
folder = Path(sys.argv[1])
sys.exit(run(ServeOptions(data=folder / "data", workspace=folder, port=0)))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("error", "expected", "traceback"),
    [("ConflictError('two of a name')", 2, False), ("RuntimeError('a bug')", 1, True)],
    ids=["refused", "bug"],
)
async def test_6_a_start_that_fails_ends_with_an_exit_code(
    tmp_path: Path, error: str, expected: int, traceback: bool
) -> None:
    """Remedy: the engine starts first, by itself. A failing lifespan would be logged, and served without."""
    script = FAILING_START.format(error=error)
    code, output, errors = await ended_at_once([sys.executable, "-c", script, str(tmp_path)])
    assert (code, output) == (expected, "")
    assert ("Traceback" in errors) is traceback
    assert ("cannot start: two of a name" in errors) is not traceback


@pytest.mark.slow
async def test_6_a_port_or_data_folder_that_is_taken_ends_with_an_exit_code(tmp_path: Path) -> None:
    async with serving_process(tmp_path) as first:
        code, output, errors = await ended_at_once(serve_command(tmp_path))
        assert (code, output) == (2, "")
        assert "cannot start" in errors
        assert str(tmp_path / "data") in errors
        other = tmp_path / "other"
        other.mkdir()
        code, _, errors = await ended_at_once(serve_command(other, "--port", str(first.port)))
        assert code == 2
        assert f"port {first.port}" in errors
        assert (await first.status())["mcp"]["running"] is True


@pytest.mark.slow
async def test_7_a_connection_serves_more_than_a_thousand_requests(engine: RunningEngine) -> None:
    """Remedy: no limit of requests on a connection. Without it the connection ends in the middle of a session."""
    client = await engine.client()
    ping = post_bytes(rpc("ping"), (*BOTH, *client.headers))
    async with connected(engine.port) as connection:
        for _ in range(1100):
            await connection.send(ping)
            response = await connection.read_response()
            assert (response.status, response.header("connection")) == (200, None)
    assert await McpClient(engine.port, client.session).ask("ping")


async def test_8_a_client_that_vanishes_with_a_second_request_waiting_leaves_nothing_behind(tmp_path: Path) -> None:
    """Remedy: a connection that is over is not read from. Without it its reader waits for ever for the first answer."""
    async with running_engine(tmp_path, grace=LONG_GRACE_SECONDS) as engine:
        client = await engine.client()
        headers = (*BOTH, *client.headers)
        connection = await engine.connect()
        await connection.send(post_bytes(call(SLOW), headers) + post_bytes(rpc("ping"), headers))
        with trio.fail_after(BOUND_SECONDS):
            await engine.hooks.started.acquire()
        await connection.reset()
        engine.hooks.go.set()
        with trio.fail_after(SHORT_SECONDS):
            assert await engine.end()


async def test_9_an_offer_to_speak_http_2_holds_no_shutdown(tmp_path: Path) -> None:
    """Remedy: the offer is not taken. Without it what Hypercorn opens stays open when the client has gone."""
    async with running_engine(tmp_path, grace=LONG_GRACE_SECONDS) as engine:
        async with connected(engine.port) as connection:
            upgrade = (("Connection", "Upgrade, HTTP2-Settings"), ("Upgrade", "h2c"), ("HTTP2-Settings", "AAMAAABk"))
            await connection.send(request_bytes("GET", "/status", upgrade))
            await connection.read_head()
        with trio.fail_after(SHORT_SECONDS):
            assert await engine.end()


async def test_10_a_client_that_leaves_an_idle_connection_leaves_nothing_behind(engine: RunningEngine) -> None:
    """Remedy: the idle time ends with the connection. Without it each one left costs a file until the time is up."""
    for _ in range(5):
        async with connected(engine.port) as connection:
            assert (await connection.request("GET", "/status")).status == 200
        await (await engine.connect()).finish()
    with trio.fail_after(SHORT_SECONDS):
        while any("idle_timeout" in task.name for task in _tasks()):  # noqa: ASYNC110 - a task's end has no event
            await trio.sleep(0.005)


def _tasks() -> list[trio.lowlevel.Task]:
    root = trio.lowlevel.current_root_task()
    found = [] if root is None else [root]
    for task in found:
        found.extend(child for nursery in task.child_nurseries for child in nursery.child_tasks)
    return found


@pytest.mark.parametrize("sent", [b"", b"{"], ids=["no byte of it", "a byte of it"])
async def test_11_a_body_that_does_not_come_to_its_end_holds_no_shutdown(tmp_path: Path, sent: bytes) -> None:
    async with running_engine(tmp_path, grace=LONG_GRACE_SECONDS) as engine:
        connection = await engine.connect()
        head = f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{engine.port}\r\nContent-Type: application/json\r\n"
        await connection.send(head.encode() + b"Content-Length: 40\r\n\r\n" + sent)
        await trio.testing.wait_all_tasks_blocked(AT_ONCE_SECONDS * 2)
        with trio.fail_after(SHORT_SECONDS):
            assert await engine.end()
        assert (await connection.wait_closed()).startswith(b"HTTP/1.1 503 ")
        await connection.finish()


async def test_a_write_beside_the_end_of_its_connection_is_no_fault() -> None:
    """Remedy: `TcpConnection.protocol_send` takes the end for the client's leaving. Without it trio calls it a bug.

    It is what happens when an answer is ready in the moment in which the rest of its request turns out to be no HTTP.
    """
    for _ in range(20):  # trio runs the two in either order
        ours, theirs = trio.socket.socketpair()
        context = WorkerContext(None)
        connection = TcpConnection(cast("Any", None), Config(), context, trio.SocketStream(ours))
        over = trio.Event()
        async with TaskGroup() as group:
            sending = connection.protocol_send
            http = _Http1(
                cast("Any", None), Config(), context, group, ConnectionState({}), False, None, None, send=sending
            )
            http.on_closed = over.set
            connection.protocol = cast("Any", http)
            async with trio.open_nursery() as nursery:
                nursery.start_soon(connection._close)
                nursery.start_soon(sending, RawData(b"late"))
        with theirs:
            assert await theirs.recv(10) in {b"", b"late"}
