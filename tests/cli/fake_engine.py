"""A fake engine on loopback that speaks the REST contract, with hooks to answer otherwise. Shipped with the tests."""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

POLL_SECONDS = 0.01
"""How soon the server notices that it is to stop; the default of half a second would be every test's time."""

PROBLEM = "application/problem+json"
PNG = b"\x89PNG\r\n\x1a\n-not-really"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><rect/></svg>'


@dataclass(frozen=True)
class Reply:
    """What goes out for a request."""

    status: int = 200
    content_type: str = "application/json"
    body: bytes = b"{}"

    @classmethod
    def of(cls, value: Any, status: int = 200, content_type: str = "application/json") -> Reply:
        return cls(status, content_type, json.dumps(value).encode())

    @classmethod
    def problem(cls, status: int, title: str, detail: str, **members: Any) -> Reply:
        body = {"type": "about:blank", "title": title, "status": status, "detail": detail, **members}
        return cls.of(body, status, PROBLEM)


@dataclass(frozen=True)
class Request:
    """What came in. `path` is decoded; `query` holds the last value of each name; `body` is `data` if that is JSON."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any
    data: bytes


STATUS: dict[str, Any] = {
    "engine": {
        "version": "0.1.0",
        "pid": 4711,
        "uptime_seconds": 3725.5,
        "data": "/data/of/space",
        "workspace": "/home/user/project",
        "url": "http://127.0.0.1:7787/mcp",
    },
    "mcp": {"running": True, "force_sse": False, "session_count": 1, "last_error": None, "tool_count": 12},
    "context": {"surface": "canvas", "canvas_visible": True, "activity": "drawing", "world_id": "world-1"},
    "world": {
        "active": {"id": "world-1", "name": "home"},
        "worlds": [{"id": "world-1", "name": "home"}, {"id": "world-2", "name": "garden"}],
        "undo_count": 3,
        "redo_count": 1,
        "theme": "dark",
    },
    "sessions": [
        {
            "id": "0b7c",
            "client_name": "opencode",
            "client_version": "1.18.33",
            "protocol_version": "2025-11-25",
            "created_at": "2026-01-01T00:00:00+00:00",
            "last_seen": "2026-01-01T00:01:00+00:00",
            "stream": True,
            "calls": 7,
            "agent": "standard",
            "presentation": None,
        }
    ],
    "default_agent": {"id": "standard", "problem": None},
    "agents": [
        {
            "id": "standard",
            "usable": True,
            "reason": None,
            "mode": "native",
            "mode_source": "the deployment's default (--presentation)",
            "sessions": 1,
        },
        {
            "id": "code",
            "usable": False,
            "reason": "agent 'code' is unusable: no deno",
            "mode": None,
            "mode_source": None,
            "sessions": 0,
        },
    ],
    "code_runtime": {
        "available": False,
        "reason": "no deno",
        "deno_version": None,
        "walls": [],
        "spares": 0,
        "leases": 0,
        "most_leases": 4,
        "leases_taken": 0,
        "kills": {"timeout": 2},
        "programs_kept": 0,
    },
    "actors": [
        {
            "name": "world",
            "depth": 0,
            "capacity": 64,
            "handled": 42,
            "refused": 0,
            "failed": 1,
            "withdrawn": 0,
            "seconds_per_message": 0.00125,
            "longest_seconds": 0.02,
        }
    ],
}


def preset_row(name: str, **members: Any) -> dict[str, Any]:
    return {
        "name": name,
        "group": "drawing",
        "risk": "normal",
        "default_state": "auto",
        "contexts": [{"activity": "drawing"}],
        "tool_ids": ["drawing.inspect"],
        "tool_count": 1,
        "override_state": "auto",
        "active": True,
        "active_reason": "context",
        **members,
    }


def explanation(tool: str, state: str = "shown", **members: Any) -> dict[str, Any]:
    return {
        "tool": tool,
        "state": state,
        "reason": f"Tool {tool!r} is {state}.",
        "mcp_name": tool,
        "tool_id": "drawing.inspect",
        "preset": "drawing-inspect-tools",
        "risk": "normal",
        "presets": ["drawing-inspect-tools"],
        "shown_in": [{"activity": "drawing"}],
        "remedy": None,
        "owners": [],
        "suggestions": [],
        **members,
    }


@dataclass
class FakeEngine:
    """A context manager; `url` answers while it is open.

    `replies` overrides the answer of a method and path. `token` is demanded where it is set. `requests` lists what
    came in, also what was refused.
    """

    token: str | None = None
    replies: dict[tuple[str, str], Reply] = field(default_factory=dict)
    requests: list[Request] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=lambda: dict(STATUS["context"]))
    url: str = ""

    def __enter__(self) -> Self:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name that it overrides
                pass

            def answer(self) -> None:
                data = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                parts = urlsplit(self.path)
                request = Request(
                    self.command,
                    unquote(parts.path),
                    {name: values[-1] for name, values in parse_qs(parts.query).items()},
                    {name.lower(): value for name, value in self.headers.items()},
                    json.loads(data) if self.headers.get("Content-Type") == "application/json" else None,
                    data,
                )
                engine.requests.append(request)
                reply = engine.reply(request)
                self.send_response(reply.status)
                if reply.content_type:
                    self.send_header("Content-Type", reply.content_type)
                self.send_header("Content-Length", str(len(reply.body)))
                self.end_headers()
                self.wfile.write(reply.body)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = answer  # noqa: N815 - the names that the base class looks for

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(POLL_SECONDS,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def last(self) -> Request:
        return self.requests[-1]

    def reply(self, request: Request) -> Reply:
        if self.token is not None and request.headers.get("authorization") != f"Bearer {self.token}":
            return Reply.problem(403, "Token required", "Send the engine's token as 'Authorization: Bearer TOKEN'.")
        key = (request.method, request.path)
        if key in self.replies:
            return self.replies[key]
        match key:
            case ("GET", "/status"):
                return Reply.of(STATUS)
            case ("GET", "/api/context"):
                return Reply.of(self.facts)
            case ("PATCH", "/api/context"):
                changed = {**self.facts, **request.body}
                self.facts = {name: value for name, value in changed.items() if value is not None}
                return Reply.of(self.facts)
            case ("GET", "/api/presets"):
                rows = [
                    preset_row("drawing-inspect-tools"),
                    preset_row("file-write-tools", active=False, active_reason=None),
                ]
                return Reply.of({"presets": rows, "orphaned_overrides": [{"preset": "gone-tools", "state": "on"}]})
            case ("GET", "/api/tools"):
                rows = [explanation("space_draw"), explanation("space_scene", "hidden")]
                return Reply.of({"revision": 3, "tools": rows})
            case ("GET", "/api/view.svg"):
                return Reply(content_type="image/svg+xml; charset=utf-8", body=SVG)
            case ("GET", "/api/view.png"):
                return Reply(content_type="image/png", body=PNG)
            case _:
                return Reply.problem(404, "Not Found", f"There is no {request.path}.")
