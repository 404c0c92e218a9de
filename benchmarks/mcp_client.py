"""The few MCP requests that the benchmarks send. Owns their form; everything is checked that comes back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from benchmarks.http_connection import HttpConnection, request_bytes

VERSION = "2025-11-25"

HEADERS: Mapping[str, str] = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": VERSION}


class McpAnswerError(Exception):
    """Raised for an answer that is not what a working server gives."""


def session_headers(session_id: str) -> dict[str, str]:
    """The headers of every request of a session."""
    return {**HEADERS, "Mcp-Session-Id": session_id}


def open_session(connection: HttpConnection, path: str) -> str:
    """Open a session and give its id."""
    return begin_session(connection, path)[0]


def begin_session(connection: HttpConnection, path: str) -> tuple[str, Mapping[str, Any]]:
    """Open a session and give its id, and the result of `initialize`."""
    params = {
        "protocolVersion": VERSION,
        "capabilities": {},
        "clientInfo": {"name": "benchmarks", "version": "1"},
    }
    answer = connection.ask(request_bytes("POST", path, HEADERS, _message("initialize", params, 0)))
    session_id = answer.headers.get("mcp-session-id")
    if answer.status != 200 or session_id is None:
        raise McpAnswerError(f"initialize was answered {answer.status}: {answer.body[:300]!r}")
    initialized = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    connection.ask(request_bytes("POST", path, session_headers(session_id), initialized))
    return session_id, result_of(answer.json())


def call_request(
    path: str, headers: Mapping[str, str], tool: str, arguments: Mapping[str, Any], number: int = 1
) -> bytes:
    """A `tools/call`."""
    return request_bytes("POST", path, headers, _message("tools/call", {"name": tool, "arguments": arguments}, number))


def list_request(path: str, headers: Mapping[str, str], number: int = 1) -> bytes:
    """A `tools/list`."""
    return request_bytes("POST", path, headers, _message("tools/list", {}, number))


def result_of(body: Any) -> Any:
    """The result of an answer. Raises `McpAnswerError` where the request or the tool failed."""
    if "result" not in body or body["result"].get("isError"):
        raise McpAnswerError(f"the request failed: {body}")
    return body["result"]


def _message(method: str, params: Mapping[str, Any], number: int) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
