"""Tools, sessions and messages that the tests of the protocol share."""

from __future__ import annotations

import json
from typing import Any

from protocol.decision import CallTool, Decision, Reply
from protocol.handler import Handler, ServerInfo
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import parse
from protocol.session import Session
from protocol.tool import JsonObject, ToolCall, ToolDefinition, ToolOutcome
from protocol.tool_list import ToolList
from protocol.tool_registry import ToolRegistry

NOW = 1_700_000_000.0
SERVER = ServerInfo(name="space", version="0.1.0", title="Space")
HANDLER = Handler(SERVER)

SHAPE_SCHEMA: JsonObject = {
    "type": "object",
    "properties": {
        "shape": {"type": "string", "enum": ["rectangle", "ellipse"]},
        "width": {"type": "number", "exclusiveMinimum": 0},
        "style": {
            "type": "object",
            "properties": {"stroke": {"type": "string", "pattern": "^#"}, "opacity": {"type": "number"}},
            "additionalProperties": False,
        },
        "points": {"type": "array", "items": {"type": "object", "properties": {"x": {"type": "number"}}}},
    },
    "required": ["shape", "width"],
    "additionalProperties": False,
}


async def say_hello(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text("hello")


async def say_goodbye(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
    return ToolOutcome.text("goodbye")


class SilentCall:
    """A `ToolCall` of which nobody asks anything."""

    step_group: str | None = None

    async def progress(self, done: float, total: float | None = None, message: str | None = None) -> None:
        raise NotImplementedError


def tool(name: str = "space_hello", **changes: Any) -> ToolDefinition:
    members: dict[str, Any] = {
        "name": name,
        "description": "Says hello.",
        "input_schema": {"type": "object", "properties": {}},
        "run": say_hello,
        "owner": "presets",
        "source": "general.hello",
    }
    return ToolDefinition(**{**members, **changes})


def tools(*definitions: ToolDefinition) -> ToolList:
    registry = ToolRegistry()
    return registry.apply(additions=definitions, now=NOW)


TOOLS = tools(tool(), tool("space_shape", input_schema=SHAPE_SCHEMA))


def session(version: str = "2025-11-25", **changes: Any) -> Session:
    members: dict[str, Any] = {
        "id": "session-1",
        "protocol_version": version,
        "created_at": NOW,
        "last_seen": NOW,
        "negotiated": True,
    }
    return Session(**{**members, **changes})


def post(session_id: str | None = None, version: str | None = None, **changes: Any) -> HttpFacts:
    members: dict[str, Any] = {
        "method": "POST",
        "content_type": "application/json",
        "accept": "application/json, text/event-stream",
        "session_header": session_id,
        "version_header": version,
    }
    return HttpFacts(**{**members, **changes})


def request(method: str, params: object = None, request_id: object = 1) -> dict[str, object]:
    message: dict[str, object] = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return message if params is None else {**message, "params": params}


def notification(method: str, params: object = None) -> dict[str, object]:
    message: dict[str, object] = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def initialize(version: str = "2025-11-25", request_id: object = 1) -> dict[str, object]:
    client = {"name": "opencode", "version": "1.18.33"}
    return request(
        "initialize", {"protocolVersion": version, "capabilities": {"roots": {}}, "clientInfo": client}, request_id
    )


def decide(
    message: object,
    of: Session | None = None,
    *,
    facts: HttpFacts | None = None,
    listed: ToolList = TOOLS,
    handler: Handler = HANDLER,
) -> Decision:
    """Decide about a message as a POST of a session, with raw bytes or a value to be encoded."""
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    known = facts if facts is not None else post(None if of is None else of.id)
    return handler.decide(known, parse(body), of, listed)


def replied(decision: object) -> Reply:
    assert isinstance(decision, Reply), decision
    return decision


def body_of(decision: object) -> Any:
    """The JSON of a reply."""
    return json.loads(replied(decision).body)


def called(decision: object) -> CallTool:
    assert isinstance(decision, CallTool), decision
    return decision
