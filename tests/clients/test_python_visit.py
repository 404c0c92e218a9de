"""The official Python client visits the engine, with sessions and without."""

from __future__ import annotations

import gc
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from mcp import Client, MCPError
from mcp.client.subscriptions import ToolsListChanged
from mcp_types import ResourceUpdatedNotification, TextContent, TextResourceContents, ToolListChangedNotification

from tests.clients.visit import visit
from tests.clients.visitor import TOLD_SECONDS, TOOLS, VisitError, Visitor

# The client's HTTP library leaves half-read streams to the garbage collector, of which trio complains.
pytestmark = [
    pytest.mark.live,
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:Async generator .* was garbage collected:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    # Notifications of the sessions' generation are deprecated in the client, and are what is tried here.
    pytest.mark.filterwarnings("ignore::mcp.shared.exceptions.MCPDeprecationWarning"),
]


@pytest.fixture(autouse=True)
def garbage_collected() -> Generator[None]:
    """What the client leaves is collected within its test, and troubles no other."""
    yield
    gc.collect()


class Heard:
    """What the engine has said, each thing until it was asked for."""

    def __init__(self) -> None:
        self._words: set[str] = set()
        self._came = trio.Event()

    def hear(self, word: str) -> None:
        self._words.add(word)
        self._came.set()
        self._came = trio.Event()

    async def message(self, message: object) -> None:
        """What the client does with messages of a session."""
        if isinstance(message, ToolListChangedNotification):
            self.hear(TOOLS)
        elif isinstance(message, ResourceUpdatedNotification):
            self.hear(str(message.params.uri))

    async def wait(self, word: str) -> None:
        with trio.move_on_after(TOLD_SECONDS) as scope:
            while word not in self._words:
                await self._came.wait()
        if scope.cancelled_caught:
            raise VisitError(f"no word of {word} came within {TOLD_SECONDS:g} s; there was word of {self._words}")
        self._words.remove(word)


@contextmanager
def reported() -> Generator[None]:
    """The client's own error becomes the visit's."""
    try:
        yield
    except MCPError as error:
        raise VisitError(str(error)) from error


class PythonVisitor:
    """The visitor. What it waits for beside its calls runs in the nursery."""

    def __init__(self, client: Client, heard: Heard, nursery: trio.Nursery, *, sessions: bool) -> None:
        self._client = client
        self._heard = heard
        self._nursery = nursery
        self._sessions = sessions
        self._begun = trio.CancelScope()
        self._given_up = trio.Event()

    async def version(self) -> str:
        return str(self._client.protocol_version)

    async def tools(self) -> list[str]:
        with reported():
            return [tool.name for tool in (await self._client.list_tools()).tools]

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        with reported():
            result = await self._client.call_tool(name, arguments)
        text = "".join(part.text for part in result.content if isinstance(part, TextContent))
        if result.is_error:
            raise VisitError(text)
        return text

    async def begin(self, name: str, arguments: dict[str, Any]) -> None:
        self._begun, self._given_up = trio.CancelScope(), trio.Event()

        async def run() -> None:
            with self._begun:
                await self._client.call_tool(name, arguments)
            self._given_up.set()

        self._nursery.start_soon(run)

    async def cancel(self) -> None:
        self._begun.cancel()
        await self._given_up.wait()
        assert self._begun.cancelled_caught

    async def prompts(self) -> list[str]:
        with reported():
            return [prompt.name for prompt in (await self._client.list_prompts()).prompts]

    async def prompt(self, name: str) -> str:
        with reported():
            result = await self._client.get_prompt(name)
        return "".join(part.content.text for part in result.messages if isinstance(part.content, TextContent))

    async def read(self, uri: str) -> str:
        with reported():
            result = await self._client.read_resource(uri)
        return "".join(part.text for part in result.contents if isinstance(part, TextResourceContents))

    async def watch(self, uri: str) -> None:
        with reported():
            if self._sessions:
                await self._client.subscribe_resource(uri)  # pyright: ignore[reportDeprecated]
            else:
                await self._nursery.start(self._listen, uri)

    async def told(self, what: str) -> None:
        await self._heard.wait(what)

    async def _listen(self, uri: str, *, task_status: trio.TaskStatus[None]) -> None:
        """Until the engine ends the stream, which it does in order when it ends itself."""
        async with self._client.listen(tools_list_changed=True, resource_subscriptions=[uri]) as events:
            task_status.started()
            async for event in events:
                self._heard.hear(TOOLS if isinstance(event, ToolsListChanged) else event.uri)  # pyright: ignore[reportAttributeAccessIssue]


@asynccontextmanager
async def arriving(url: str, *, mode: str) -> AsyncGenerator[Visitor]:
    """A client that has connected in that mode."""
    heard = Heard()
    async with Client(url, mode=mode, message_handler=heard.message) as client, trio.open_nursery() as nursery:
        yield PythonVisitor(client, heard, nursery, sessions=client.protocol_version < "2026")
        nursery.cancel_scope.cancel()


async def test_a_client_with_sessions_sees_all_there_is_and_begins_anew_after_a_restart(tmp_path: Path) -> None:
    await visit(tmp_path, partial(arriving, mode="legacy"), "2025-11-25", sessions=True)


@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
async def test_a_client_without_sessions_sees_all_there_is_and_goes_on_after_a_restart(
    mode: str, tmp_path: Path
) -> None:
    await visit(tmp_path, partial(arriving, mode=mode), "2026-07-28", sessions=False)
