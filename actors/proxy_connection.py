"""One connection to an MCP server: its handshake, its list of tools, its calls, and how it ends.

Owns the session of the official client, which is imported here and in what this module imports: a quarter of a second,
so that nobody else does. What comes from the server is somebody else's, and every wait for it has a limit.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial
from importlib import metadata
from typing import Any, TypeVar, cast

import trio
from mcp import ClientSession, MCPError
from mcp.client.session import IncomingMessage
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost, listen
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.jsonrpc_dispatcher import JSONRPCDispatcher
from mcp_types import (
    CONNECTION_CLOSED,
    METHOD_NOT_FOUND,
    REQUEST_TIMEOUT,
    CallToolRequest,
    CallToolRequestParams,
    CallToolResult,
    Implementation,
    InputRequiredResult,
    LoggingMessageNotificationParams,
    PaginatedRequestParams,
    Tool,
    ToolListChangedNotification,
)
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import TypeAdapter, ValidationError

from actors.process_groups import ProcessGroups
from actors.proxy_http import http_client
from actors.proxy_log import ProxyLog
from actors.proxy_process import ServerCommand, run_server_process
from actors.proxy_target import ProxyServerError, ProxyTarget
from protocol.tool import JsonObject

START_SECONDS = 120.0
"""How long a server may take until it has shaken hands. One that is fetched first takes its time."""

ANSWER_SECONDS = 30.0
"""How long a server may take to list all its tools, or to show that it is there."""

SETTLE_SECONDS = 3.0
"""How long it is waited for the reason of an end. A process that has closed its output is ended before it is told."""

MAX_PAGES = 100
"""Of one list."""

MAX_LISTED = 1000
"""Tools of one list; of them at most 200 are offered."""

HEALTH_SECONDS = 20.0
"""How often it is looked whether a server without a process still answers."""

POLL_SECONDS = 60.0
"""How often the tools of a server are listed that cannot say when they change."""

ResultT = TypeVar("ResultT")

_RESULT: TypeAdapter[CallToolResult | InputRequiredResult] = TypeAdapter(CallToolResult | InputRequiredResult)


class ProxyConnection:
    """One connection. `run` holds it; when that has reported, the other methods may be used until `closed`."""

    def __init__(self, target: ProxyTarget, groups: ProcessGroups, log: ProxyLog) -> None:
        self._target = target
        self._groups = groups
        self._log = log
        self._session: ClientSession | None = None
        self._dispatcher: JSONRPCDispatcher[Any] | None = None
        self._leaving = trio.Event()
        self._doubted = trio.Event()
        self.closed = trio.Event()
        """Set when the connection is over; `reason` says why."""
        self.reason = "the connection was closed"
        self.greeting = "nobody"
        """Who the server says it is, and which MCP it speaks."""
        self.changed = trio.Event()
        """Set when the server has said that its tools have changed. Whoever hears of it puts a new event here."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Connect, report, and hold the connection until it ends, or `leave` was called.

        Raises `ProxyServerError` when no connection comes about.
        """
        ready = False

        def started() -> None:
            nonlocal ready
            ready = True
            task_status.started()

        try:
            if self._target.url is None:
                await self._run_process(started)
            else:
                await self._run_http(self._target.url, started)
        except Exception as error:
            # The boundary to the server and to the client's code, which raises many things for what a server does.
            self.reason = _said(error)
            if not ready:
                raise ProxyServerError(self.reason) from error
        except BaseExceptionGroup as group:
            # Cancelled while the connection broke: what broke is of no interest any more, and must not get further.
            raise _without_errors(group) from None
        finally:
            self.closed.set()

    def leave(self) -> None:
        """End the connection in good order. Returns at once; `run` returns when it is done."""
        self._leaving.set()

    async def list_tools(self) -> tuple[Tool, ...]:
        """All tools of the server, as far as they are taken. Raises `ProxyServerError`; the log has what is odd."""
        return self._cut(await self._in_time("list its tools", ANSWER_SECONDS, self._all_pages))

    async def call(self, tool: str, arguments: JsonObject, seconds: float, progress: ProgressFnT) -> CallToolResult:
        """Call a tool; cancelling tells the server. Raises `ProxyServerError`, and `MCPError` for what it refuses."""
        session = self._ready()
        try:
            result = await session.send_request(
                CallToolRequest(params=CallToolRequestParams(name=tool, arguments=dict(arguments))),
                _RESULT,
                request_read_timeout_seconds=seconds,
                progress_callback=progress,
            )
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self._settle()
                raise ProxyServerError(f"{self.reason} during the call; whether it was done is not known") from error
            if error.code == REQUEST_TIMEOUT:
                raise ProxyServerError(
                    f"it has not answered within {seconds:g} s, and was told that nobody waits any more"
                ) from error
            # It may have been started anew and know nobody; whether it does is looked at now.
            self._doubted.set()
            raise
        except ValidationError as error:
            raise ProxyServerError(f"its answer is none that MCP knows: {_said(error)}") from error
        if isinstance(result, InputRequiredResult):
            raise ProxyServerError("it asks for an answer of the user, which cannot be passed on; the call is over")
        return result

    async def _run_process(self, started: Callable[[], None]) -> None:
        target = self._target
        command = ServerCommand(arguments=target.arguments, folder=target.folder, environment=target.environment)

        async def hold(*, task_status: trio.TaskStatus[Any]) -> None:
            self.reason = await run_server_process(command, self._groups, self._log, task_status=task_status)
            self.closed.set()

        async with trio.open_nursery() as nursery:
            streams = await nursery.start(hold)
            await self._talk(streams, started)

    async def _run_http(self, url: str, started: Callable[[], None]) -> None:
        async with (
            http_client(self._target, self._log.say) as client,
            streamable_http_client(url, http_client=client) as streams,
        ):
            await self._talk(streams, started)

    async def _talk(self, streams: tuple[Any, Any], started: Callable[[], None]) -> None:
        # Made here and not by the session, which gives no raw answers: one bad tool would spoil a whole list.
        self._dispatcher = JSONRPCDispatcher[Any](*streams)
        async with ClientSession(
            dispatcher=self._dispatcher,
            logging_callback=self._on_log,
            message_handler=self._on_message,
            client_info=Implementation(name="space", version=metadata.version("space")),
        ) as session:
            await self._in_time("answer the handshake", START_SECONDS, partial(_shake_hands, session))
            self._session = session
            known = session.server_info
            who = "a server without a name" if known is None else f"{known.name[:80]} {known.version[:40]}"
            self.greeting = f"{who}, MCP {session.protocol_version}"
            started()
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._wait_for_end, nursery.cancel_scope)
                if session.protocol_version in MODERN_PROTOCOL_VERSIONS:
                    nursery.start_soon(self._listen, session)
                elif self._target.url is not None:
                    nursery.start_soon(self._look_after, session)
            self._session = None

    async def _wait_for_end(self, scope: trio.CancelScope) -> None:
        async with trio.open_nursery() as nursery:
            for event in (self.closed, self._leaving):
                nursery.start_soon(_cancel_after, event, nursery.cancel_scope)
        scope.cancel()

    async def _look_after(self, session: ClientSession) -> None:
        """A server without a process says nothing when it goes."""
        while True:
            with trio.move_on_after(HEALTH_SECONDS):
                await self._doubted.wait()
            self._doubted = trio.Event()
            try:
                with trio.fail_after(ANSWER_SECONDS):
                    await session.send_ping()
            except MCPError as error:
                if error.code != METHOD_NOT_FOUND:
                    self._lost(f"it does not answer any more: {error}")
            except trio.TooSlowError:
                self._lost(f"it has not answered for {ANSWER_SECONDS:g} s")
            except ValidationError:
                pass  # odd, and there

    async def _listen(self, session: ClientSession) -> None:
        """A server without sessions says what changes on a stream that is asked for; else it is asked now and then."""
        try:
            async with listen(session, tools_list_changed=True) as subscription:
                async for _ in subscription:
                    self.changed.set()
            self._lost("it has ended the stream of its changes")
        except SubscriptionLost:
            self._lost("the stream of its changes has broken off")
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                self._lost(str(error))
                return
            while True:
                await trio.sleep(POLL_SECONDS)
                self.changed.set()

    def _lost(self, reason: str) -> None:
        if not self.closed.is_set():
            self.reason = reason
            self.closed.set()

    async def _all_pages(self) -> list[Tool]:
        found: list[Tool] = []
        seen: set[str] = set()
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            tools, cursor = await self._page(cursor)
            found += tools
            if cursor is None or len(found) > MAX_LISTED:
                return found
            if cursor in seen:
                self._log.say("its list of tools goes round in circles: a cursor came again, and the list ends there")
                return found
            seen.add(cursor)
        self._log.say(f"its list of tools does not end: {MAX_PAGES} pages were read, and the rest is left out")
        return found

    async def _page(self, cursor: str | None) -> tuple[list[Tool], str | None]:
        session = self._ready()
        params = None if cursor is None else PaginatedRequestParams(cursor=cursor)
        try:
            listed = await session.list_tools(params=params)
        except ValidationError as error:
            return await self._salvaged(cursor, error)
        return listed.tools, listed.next_cursor

    async def _salvaged(self, cursor: str | None, error: ValidationError) -> tuple[list[Tool], str | None]:
        """The tools of a page that are sound, where not all are."""
        dispatcher, session = self._dispatcher, self._ready()
        if dispatcher is None or session.protocol_version in MODERN_PROTOCOL_VERSIONS:
            raise ProxyServerError(f"its list of tools is not sound: {_said(error)}") from error
        raw = await dispatcher.send_raw_request(
            "tools/list", None if cursor is None else {"cursor": cursor}, {"timeout": ANSWER_SECONDS}
        )
        listed = raw.get("tools")
        if not isinstance(listed, list):
            raise ProxyServerError("its list of tools is no list") from error
        tools: list[Tool] = []
        for one in cast("list[object]", listed[:MAX_LISTED]):
            try:
                tools.append(Tool.model_validate(one, by_name=False))
            except ValidationError as fault:
                name = cast("dict[str, Any]", one).get("name") if isinstance(one, dict) else None
                self._log.say(f"a tool of its list is left out, {name!r:.80}: {_said(fault)}")
        following = raw.get("nextCursor")
        return tools, following if isinstance(following, str) else None

    def _cut(self, tools: list[Tool]) -> tuple[Tool, ...]:
        if len(tools) > MAX_LISTED:
            self._log.say(f"it lists {len(tools)} tools; those after the first {MAX_LISTED} are left out")
        return tuple(tools[:MAX_LISTED])

    async def _on_log(self, params: LoggingMessageNotificationParams) -> None:
        data = params.data if isinstance(params.data, str) else json.dumps(params.data, ensure_ascii=False, default=str)
        self._log.printed(f"({params.level}) {data}\n")

    async def _on_message(self, message: IncomingMessage) -> None:
        if isinstance(message, ToolListChangedNotification):
            self.changed.set()
        elif isinstance(message, Exception):
            self._log.printed(f"(among its messages) {_said(message)}\n")

    async def _settle(self) -> None:
        """Wait a moment for the reason, which comes after the news that it is over."""
        with trio.move_on_after(SETTLE_SECONDS):
            await self.closed.wait()

    def _ready(self) -> ClientSession:
        if self._session is None or self.closed.is_set():
            raise ProxyServerError(self.reason)
        return self._session

    async def _in_time(self, what: str, seconds: float, work: Callable[[], Awaitable[ResultT]]) -> ResultT:
        """Do that with the server. Raises `ProxyServerError` when it takes too long, and for what the server says."""
        try:
            with trio.fail_after(seconds):
                return await work()
        except trio.TooSlowError:
            raise ProxyServerError(f"it did not {what} within {seconds:g} s") from None
        except MCPError as error:
            if error.code == CONNECTION_CLOSED:
                await self._settle()
                raise ProxyServerError(self.reason) from error
            raise ProxyServerError(f"it did not {what}, but said: {error}") from error


async def _shake_hands(session: ClientSession) -> None:
    """The handshake that every server knows; where it is refused, the one of servers that have no other."""
    try:
        await session.initialize()
    except MCPError as error:
        if error.code in (CONNECTION_CLOSED, REQUEST_TIMEOUT):
            raise
        with suppress(MCPError, ValidationError, RuntimeError):
            await session.discover()
            return
        raise


async def _cancel_after(event: trio.Event, scope: trio.CancelScope) -> None:
    await event.wait()
    scope.cancel()


def _said(error: BaseException) -> str:
    """One error of several, and in one line."""
    first = next(_leaves(error))
    if isinstance(first, ValidationError):
        fault = first.errors(include_url=False, include_input=False)[0]
        return f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}"[:300]
    text = " ".join(str(first).split())[:500]
    if isinstance(first, ProxyServerError | MCPError) and text:
        return text
    return f"{type(first).__name__}: {text}" if text else type(first).__name__


def _without_errors(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """What is left of it without errors, which is never nothing: a group of errors alone is an `Exception`."""
    _, rest = group.split(Exception)
    assert rest is not None  # noqa: S101 - see above
    return rest


def _leaves(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for inner in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _leaves(inner)
    else:
        yield error
