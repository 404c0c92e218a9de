"""The requests of the fuzz run: JSON made by hypothesis in well-formed requests, and those spoilt byte by byte.

Owns how a request is made of a seed; sends nothing. The same seed makes the same requests.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.transport.mcp_client import BOTH, JSON_BODY, ONLY_JSON
from tests.transport.raw_http import chunked, request_bytes
from tests.transport.stateless_client import PREFIX
from tests.transport.stateless_client import VERSION as STATELESS

POOL = 2000
"""How many values hypothesis makes for a run. Requests combine and spoil them, so that none is like another."""

SPOILT_SHARE = 0.2
"""The part of requests whose bytes are spoilt after they were made."""

SMALL_JSON_BYTES = 4000

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", STATELESS, "2026-07-29", "", "x")
METHODS = (
    *("initialize", "ping", "tools/list", "tools/call", "prompts/list", "prompts/get", "resources/list"),
    *("resources/read", "resources/templates/list", "resources/subscribe", "resources/unsubscribe"),
    *("completion/complete", "logging/setLevel", "notifications/cancelled", "notifications/initialized"),
    *("notifications/progress", "server/discover", "subscriptions/listen", "tasks/get", "tasks/update", "tasks/cancel"),
)
TOOLS = (
    *("space_drawing_inspect", "space_drawing_insert_line", "space_drawing_insert_shape", "space_drawing_undo"),
    *("space_app_switch_surface", "space_app_set_activity", "space_app_set_theme", "space_scene_add_cuboid"),
    *("space_scene_inspect", "space_scene_simulate", "space_scene_set_camera", "space_drawing_select", "nothing"),
)
URIS = (
    "space://context",
    "space://worlds",
    "space://world/world-1",
    "space://presets",
    "space://agents/x",
    "space://x",
)
ROUTES = (
    *(("GET", path) for path in ("/status", "/api/context", "/api/presets", "/api/tools", "/api/prompt-fragments")),
    *(("GET", path) for path in ("/api/view.svg", "/api/worlds", "/api/worlds/deleted", "/api/units", "/api/agents")),
    *(("GET", path) for path in ("/api/providers", "/api/model-roles", "/api/programs", "/api/export-configs")),
    *(("GET", path) for path in ("/api/agents/{}", "/api/agents/{}/sdk", "/api/agents/{}/prompt", "/api/programs/{}")),
    *(("GET", path) for path in ("/api/worlds/{}/export", "/api/stories", "/api/stories/{}", "/api/providers/{}")),
    *(("GET", path) for path in ("/api/stories/{}/fragments", "/api/stories/{}/runs", "/api/stories/{}/branches")),
    *(("GET", path) for path in ("/api/view/marks?since={}", "/api/world/history?limit={}", "/api/context/changes")),
    *(("PUT", "/api/context"), ("PATCH", "/api/context"), ("PATCH", "/api/context")),
    *(("POST", "/api/world/undo"), ("POST", "/api/world/redo")),
    *(("PUT", "/api/presets/{}/override"), ("POST", "/api/tools/{}/call"), ("GET", "/api/tools/{}")),
    *(("POST", "/api/worlds/import"), ("POST", "/api/worlds/{}/activate"), ("POST", "/api/worlds/{}/recover")),
    *(("DELETE", "/api/worlds/{}"), ("POST", "/api/agents"), ("DELETE", "/api/agents/{}")),
    *(("PUT", "/api/sessions/{}/presentation"), ("POST", "/api/stories"), ("PATCH", "/api/stories/{}")),
    *(("PATCH", "/api/stories/{}/settings"), ("POST", "/api/stories/{}/fragments"), ("POST", "/api/import-configs")),
    *(("PUT", "/api/stories/{}/fragments/order"), ("POST", "/api/stories/{}/generate")),
    *(("PUT", "/api/providers"), ("PUT", "/api/providers/{}"), ("DELETE", "/api/providers/{}")),
    *(("POST", "/api/units/{}/reload"), ("GET", "/api/units/{}/log"), ("GET", "/api/nothing")),
)
NAMES = (*TOOLS, "world-1", "standard", "general-theme-tools", "drawing-shape-tools", "..", "%2e%2e", "%00", "a/b", "ü")
MEMBERS = (
    *(
        "name",
        "arguments",
        "uri",
        "cursor",
        "protocolVersion",
        "capabilities",
        "clientInfo",
        "requestId",
        "level",
        "ref",
    ),
    *("argument", "taskId", "notifications", "inputResponses", "requestState", "surface", "activity", "state", "title"),
    *("x1", "y1", "x2", "y2", "width", "color", "id", "kind", "text", "content", "mode", "agents", "base_revision"),
)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=40)
    | st.sampled_from([*NAMES, *URIS, *VERSIONS, "canvas", "scene", "on", "off", "debug", "\ud800", "\x00"])
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(MEMBERS) | st.text(max_size=8), inner, max_size=5)
    ),
    max_leaves=12,
)
params = st.dictionaries(st.sampled_from(MEMBERS), values, max_size=5)


def pool(seed: int) -> list[Any]:
    """Values for a run: half of them objects with members that the engine knows."""
    found: list[Any] = []

    @hypothesis.seed(seed)
    @settings(
        max_examples=POOL,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
    )
    @given(params | values)
    def collect(value: Any) -> None:
        found.append(value)

    collect()
    return found


@dataclass(frozen=True, slots=True)
class FuzzRequest:
    """A request as it goes over the wire. `whole` says that its bytes were not spoilt."""

    kind: str
    method: str
    data: bytes
    whole: bool


class RequestMaker:
    """Makes one request after the other. `endpoint` and `headers` are those of the worker's session, if it has one."""

    def __init__(self, seed: int, made: list[Any]) -> None:
        self._random = random.Random(seed)
        self._pool = made
        self._kinds: tuple[Callable[[str, tuple[tuple[str, str], ...]], tuple[str, str, bytes]], ...] = (
            self._in_session,
            self._in_session,
            self._without_session,
            self._without_session,
            self._odd_headers,
            self._rest,
            self._rest,
            self._rest,
        )

    def next(self, endpoint: str, headers: tuple[tuple[str, str], ...]) -> FuzzRequest:
        """The next one."""
        kind, method, data = self._random.choice(self._kinds)(endpoint, headers)
        if self._random.random() < SPOILT_SHARE:
            return FuzzRequest(f"{kind}, spoilt", method, self._spoilt(data), whole=False)
        return FuzzRequest(kind, method, data, whole=True)

    def _value(self) -> Any:
        return self._random.choice(self._pool)

    def _message(self, meta: Any = None) -> Any:
        """A JSON-RPC message, right in most of its members."""
        pick = self._random
        method = pick.choice(METHODS)
        given: Any = {}
        if "/call" in method:
            given = {"name": pick.choice(TOOLS), "arguments": self._value()}
        elif method.startswith("resources/"):
            given = {"uri": pick.choice(URIS)}
        elif method == "prompts/get":
            given = {"name": pick.choice(("space_context", "space_preset_x"))}
        elif method == "initialize":
            given = {"protocolVersion": pick.choice(VERSIONS), "capabilities": {}, "clientInfo": self._value()}
        elif method == "subscriptions/listen":
            given = {"notifications": {"toolsListChanged": True, "resourceSubscriptions": self._value()}}
        more = self._value()
        if pick.random() < 0.5 and isinstance(more, dict):
            given = {**given, **more}
        elif pick.random() < 0.15:
            given = more
        if meta is not None and isinstance(given, dict):
            given = {**given, "_meta": meta}
        message: Any = {"jsonrpc": "2.0", "method": method, "params": given}
        if not method.startswith("notifications/") or pick.random() < 0.1:
            message["id"] = pick.choice((1, "a", pick.randrange(10**6)))
        if pick.random() < 0.1:
            message[pick.choice(tuple(message))] = self._value()
        if pick.random() < 0.05:
            del message[pick.choice(tuple(message))]
        return message

    def _in_session(self, endpoint: str, headers: tuple[tuple[str, str], ...]) -> tuple[str, str, bytes]:
        message = self._message()
        if self._random.random() < 0.05:
            message = [message, self._message(), self._value()]
        accept = self._random.choice((BOTH, BOTH, ONLY_JSON))
        return "in a session", "POST", request_bytes("POST", endpoint, (*accept, *headers), self._json(message))

    def _without_session(self, endpoint: str, headers: tuple[tuple[str, str], ...]) -> tuple[str, str, bytes]:
        meta: Any = {f"{PREFIX}protocolVersion": STATELESS, f"{PREFIX}clientCapabilities": {}}
        if self._random.random() < 0.3:
            meta[self._random.choice((*meta, f"{PREFIX}logLevel", f"{PREFIX}clientInfo"))] = self._value()
        message = self._message(meta)
        head = (("MCP-Protocol-Version", STATELESS), ("Mcp-Method", self._text(message.get("method"))))
        given = message.get("params")
        name = (given.get("name") or given.get("uri") or given.get("taskId")) if isinstance(given, dict) else None
        named = (("Mcp-Name", self._text(name)),) if name is not None and self._random.random() < 0.9 else ()
        body = self._json(message)
        return "without a session", "POST", request_bytes("POST", "/mcp", (*BOTH, *head, *named), body)

    def _odd_headers(self, endpoint: str, headers: tuple[tuple[str, str], ...]) -> tuple[str, str, bytes]:
        pick = self._random
        names = (
            *("Content-Type", "Accept", "Mcp-Session-Id", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name", "Origin"),
            *(
                "Authorization",
                "Last-Event-ID",
                "Content-Encoding",
                "Expect",
                "Transfer-Encoding",
                "Connection",
                "Host",
            ),
        )
        chosen = [(pick.choice(names), self._text(self._value())) for _ in range(pick.randrange(5))]
        chosen += [(pick.choice(names), pick.choice((*VERSIONS, "*/*", "text/event-stream", "application/json")))]
        method = pick.choice(("GET", "POST", "POST", "DELETE", "PUT", "HEAD", "OPTIONS", "TRACE", "X"))
        target = pick.choice((endpoint, "/mcp", f"/mcp?sessionId={quote(self._text(self._value()))}", "/status", "*"))
        body = self._json(self._message()) if pick.random() < 0.7 else None
        return "odd headers", method, request_bytes(method, target, (*headers, *chosen), body)

    def _rest(self, endpoint: str, headers: tuple[tuple[str, str], ...]) -> tuple[str, str, bytes]:
        pick = self._random
        method, path = pick.choice(ROUTES)
        if "{}" in path:
            name = pick.choice(NAMES) if pick.random() < 0.8 else self._text(self._value())
            path = path.replace("{}", name if name.isascii() and pick.random() < 0.5 else quote(name, safe=""))
        if pick.random() < 0.1:
            path += f"?{pick.choice(('surface', 'agent', 'limit', 'x'))}={quote(self._text(self._value()))}"
        path = "".join(character for character in path if "!" <= character <= "~")
        if method == "GET":
            return "REST", method, request_bytes(method, path)
        return "REST", method, request_bytes(method, path, JSON_BODY, self._json(self._value()))

    def _json(self, value: Any) -> bytes:
        if self._random.random() < 0.05:
            chosen = ("[" * 3000, '{"a":' * 900, "1" * SMALL_JSON_BYTES, '{"jsonrpc":"2.0","id":1e999}', "\ufeff{}", "")
            return self._random.choice(chosen).encode()
        return json.dumps(value, ensure_ascii=self._random.random() < 0.7).encode("utf-8", "surrogatepass")

    def _text(self, value: Any) -> str:
        """A value as a header or a part of a path can carry it."""
        text = value if isinstance(value, str) else json.dumps(value)
        return "".join(character for character in text if "\x20" <= character <= "\xff" and character != "\x7f")[:200]

    def _spoilt(self, data: bytes) -> bytes:
        """Cut, filled, turned round, doubled or sent in chunks, once or several times."""
        pick = self._random
        for _ in range(pick.choice((1, 1, 1, 2, 5))):
            where = pick.randrange(len(data) + 1)
            match pick.randrange(6):
                case 0:
                    data = data[:where] + pick.randbytes(pick.randrange(1, 12)) + data[where:]
                case 1:
                    data = data[:where] + data[where + pick.randrange(1, 12) :]
                case 2 if data:
                    place = min(where, len(data) - 1)
                    data = data[:place] + bytes([data[place] ^ 1 << pick.randrange(8)]) + data[place + 1 :]
                case 3:
                    data = data[:where]
                case 4:
                    data = data[:where] + data[max(0, where - 30) : where] + data[where:]
                case _:
                    head, _, body = data.partition(b"\r\n\r\n")
                    head = head.replace(b"Content-Length", b"X-Length") + b"\r\nTransfer-Encoding: chunked\r\n\r\n"
                    data = head + chunked(*(part for part in (body[: len(body) // 2], body[len(body) // 2 :]) if part))
        return data
