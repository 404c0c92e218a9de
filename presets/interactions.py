"""A call as an interaction, whoever made it. Owns what a call without a client can do: everything but talk with one.

Calls of the command line and of REST have nobody who could be asked; their tools need not know.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import cast

from protocol.client_capabilities import NO_CAPABILITIES, ClientCapabilities
from protocol.input_request import InputRequest, InputResponse
from protocol.interaction import Interaction
from protocol.log_level import LogLevel
from protocol.tool import JsonObject, ToolCall, ToolError, ToolOutcome, ToolRun

InteractiveRun = Callable[[JsonObject, Interaction], Awaitable[ToolOutcome]]
"""The body of a tool that may talk with its client. Every `ToolRun` is one."""


def interaction_of(call: ToolCall) -> Interaction:
    """The call itself where it is an interaction, else the same call with nobody at the other end."""
    return cast("Interaction", call) if callable(getattr(call, "ask", None)) else UnattendedCall(call)


def interactive(body: InteractiveRun) -> ToolRun:
    """The body of a tool as a registry takes it."""

    async def run(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        return await body(arguments, interaction_of(call))

    return run


class UnattendedCall:
    """`Interaction` without a client, over a call that is none, or over nothing. Progress goes where it went."""

    def __init__(self, call: ToolCall | None = None) -> None:
        self._call = call

    @property
    def step_group(self) -> str | None:
        """See `ToolCall`."""
        return None if self._call is None else self._call.step_group

    @property
    def client(self) -> ClientCapabilities:
        """See `Interaction`: nobody can be asked."""
        return NO_CAPABILITIES

    @property
    def state(self) -> object:
        """See `Interaction`."""
        return None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """See `ToolCall`."""
        if self._call is not None:
            await self._call.progress(done, total, message)

    async def log(self, level: LogLevel, data: object, logger: str | None = None) -> None:
        """See `Interaction`. Nobody reads it."""

    async def become_task(self) -> None:
        """See `Interaction`. There is nobody who could come back for it."""

    async def hang_up(self) -> None:
        """See `Interaction`. Nobody is on the line."""

    async def ask(self, requests: Mapping[str, InputRequest], state: object = None) -> Mapping[str, InputResponse]:
        """See `Interaction`. Raises `ToolError`."""
        raise ToolError("this call has no client that could be asked; call the tool through an MCP client that can be")
