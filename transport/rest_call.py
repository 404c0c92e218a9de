"""A call of a tool over REST, through the same gate as MCP. Owns its record, its end by a person, and its words.

Nobody stands at the other end: it can be cancelled, and be looked at while it runs, and never asks. It ends when its
request does.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import trio

from actors.call_log import CallLog
from actors.calls import run_tool
from actors.logged_call import BY_A_PERSON, Caller, CallSource, LoggedCall
from protocol.prepared_call import PreparedCall
from protocol.result import wire_result
from protocol.versions import NEWEST_SESSION_VERSION


class RestCall:
    """`ToolCall` without a client to report to: whoever looks at its record sees how far it is."""

    step_group: str | None = None

    def __init__(self, logged: LoggedCall) -> None:
        self.logged = logged

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        """See `ToolCall`."""
        self.logged.report(done, total, message)
        await trio.lowlevel.checkpoint()


async def run_rest_call(log: CallLog, prepared: PreparedCall, agent: str | None) -> dict[str, Any]:
    """Run a call that may run, and give its result as REST shows it."""
    scope = trio.CancelScope()
    name = prepared.entry.definition.name
    logged = log.begin(caller_over_rest(agent), name, prepared.arguments, lambda reason: scope.cancel())
    try:
        with scope:
            outcome = await run_tool(prepared, RestCall(logged))
            logged.end(outcome)
            made = wire_result(prepared.entry, outcome, NEWEST_SESSION_VERSION)
            if made.problem is not None:
                logged.mar(made.problem)
            return called(json.loads(made.body))
        return refusal(f"{name} was cancelled: {BY_A_PERSON}")
    finally:
        logged.give_up(*((BY_A_PERSON,) if scope.cancelled_caught else ()))


def caller_over_rest(agent: str | None) -> Caller:
    """Who calls over REST with the tools of that agent, or of none."""
    return Caller(CallSource.REST, agent)


def refusal(text: str) -> dict[str, Any]:
    """The result of a call that was not run, or not to its end."""
    return called({"content": [{"type": "text", "text": text}], "isError": True})


def called(wire: Mapping[str, Any]) -> dict[str, Any]:
    """The result of a call as REST shows it."""
    return {
        "content": wire["content"],
        "structured_content": wire.get("structuredContent"),
        "is_error": wire.get("isError", False),
    }
