"""The official Python client against the engine, over both of its transports."""

from __future__ import annotations

import gc
from collections.abc import Generator
from pathlib import Path

import pytest
import trio
from mcp import ClientSession
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import ImageContent, TextContent, ToolListChangedNotification

from tests.transport.raw_http import BOUND_SECONDS
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.tools_on_trial import ECHO, IMAGE, MOVE, PROGRESS, SCENE_ONLY

# The client's HTTP library leaves half-read streams to the garbage collector, of which trio complains.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Async generator .* was garbage collected:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(autouse=True)
def garbage_collected() -> Generator[None]:
    """What the client leaves is collected within its test, and troubles no other."""
    yield
    gc.collect()


class Changes:
    """What a client does with messages of the server: it counts the announcements of a new tool list."""

    def __init__(self) -> None:
        self.announced = trio.Semaphore(0)

    async def __call__(self, message: object) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.announced.release()


async def use(session: ClientSession, engine: RunningEngine, changes: Changes) -> None:
    """Everything that a client does in a session, up to a tool list that changes in the middle of it."""
    initialized = await session.initialize()
    assert initialized.server_info.name == "space"
    assert initialized.instructions
    await session.send_ping()
    await changes.announced.acquire()
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert SCENE_ONLY not in tools
    assert tools[ECHO].input_schema["required"] == ["text"]
    result = await session.call_tool(ECHO, {"text": "hello"})
    assert result.is_error is False
    assert result.content == [TextContent(type="text", text="hello")]
    assert isinstance((await session.call_tool(IMAGE, {})).content[-1], ImageContent)
    hidden = await session.call_tool(SCENE_ONLY, {})
    assert hidden.is_error is True

    steps: list[float] = []

    async def on_progress(progress: float, total: float | None, message: str | None) -> None:
        steps.append(progress)

    engine.hooks.go.set()
    for _ in range(3):
        await engine.hooks.fed.send(None)
    result = await session.call_tool(PROGRESS, {"steps": 3}, progress_callback=on_progress)
    assert result.is_error is False
    assert steps == [1, 2, 3]

    async with trio.open_nursery() as nursery:
        nursery.start_soon(session.call_tool, MOVE, {"surface": "scene"})
        await changes.announced.acquire()
        assert SCENE_ONLY in [tool.name for tool in (await session.list_tools()).tools]
    assert (await session.call_tool(SCENE_ONLY, {})).is_error is False


async def test_over_streamable_http(engine: RunningEngine) -> None:
    changes = Changes()
    with trio.fail_after(BOUND_SECONDS):
        async with (
            streamable_http_client(f"http://127.0.0.1:{engine.port}/mcp") as (reading, writing),
            ClientSession(reading, writing, message_handler=changes) as session,
        ):
            await use(session, engine, changes)
            assert (await engine.status())["mcp"]["session_count"] == 1
        # It ends its session with a DELETE.
        assert (await engine.status())["mcp"]["session_count"] == 0


async def test_over_sse(tmp_path: Path) -> None:
    changes = Changes()
    with trio.fail_after(BOUND_SECONDS):
        async with (
            running_engine(tmp_path, force_sse=True) as engine,
            sse_client(f"http://127.0.0.1:{engine.port}/mcp") as (reading, writing),
            ClientSession(reading, writing, message_handler=changes) as session,
        ):
            await use(session, engine, changes)
