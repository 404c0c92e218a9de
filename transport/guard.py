"""The guard before every route: who may speak to the engine at all. Owns the checks of Host, Origin, token and size.

It is an ASGI wrapper, so nothing behind it, an unknown path included, answers a request that it refused.
Source: MCP specification, transports, security; remote-mcp, "Production Hardening".
"""

from __future__ import annotations

import hmac
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from transport.asgi import AsgiApp, Receive, Scope, Send, answer_json
from transport.listener import is_loopback

HEADER_BYTES_SHOWN = 100
"""How much of a refused header an answer repeats."""


@dataclass(frozen=True, slots=True)
class GuardPolicy:
    """What the guard lets through. `loopback_only` demands a Host of this machine; a token is compared whole.

    `larger_bodies` are the paths whose body may have another length than `body_bytes`, with that length. `open_paths`
    are those that can be read without the token, since they hold no state; Host and Origin are checked there as well.
    """

    loopback_only: bool = True
    token: str | None = field(default=None, repr=False)
    body_bytes: int = 4 * 1024 * 1024
    larger_bodies: Mapping[str, int] = field(default_factory=dict[str, int])
    open_paths: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request stops here."""

    status: int
    title: str
    detail: str


class Guard:
    """An ASGI wrapper that answers refused requests itself, as problem+json (as a JSON-RPC error below `/mcp`)."""

    def __init__(self, app: AsgiApp, policy: GuardPolicy) -> None:
        self._app = app
        self._policy = policy

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through, or answer why not. Websockets are not served."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        if scope["type"] == "http":
            path = scope["path"]
            is_open = path in self._policy.open_paths and scope["method"] in _READING
            refusal = _check_form(scope) or check(scope["headers"], self._policy, path, needs_token=not is_open)
            if refusal is not None:
                await _refuse(scope, send, refusal)
                return
        await self._app(scope, receive, send)


def check(
    headers: Iterable[tuple[bytes, bytes]], policy: GuardPolicy, path: str = "/", *, needs_token: bool = True
) -> Refusal | None:
    """Judge a request by its headers (names in lower case) and its path. None lets it through."""
    host = origin = authorization = length = None
    for name, value in headers:
        if name == b"host":
            if host is not None:
                return Refusal(400, "Two Host headers", "A request names exactly one Host.")
            host = value
        elif name == b"origin":
            if origin is not None:
                return Refusal(403, "Two Origin headers", "A request has at most one Origin.")
            origin = value
        elif name == b"authorization":
            if authorization is not None:
                # Whoever reads the other one would see somebody else in the same request.
                return Refusal(400, "Two Authorization headers", "A request has at most one Authorization.")
            authorization = value
        elif name == b"content-length":
            length = value
    return (
        _check_host(host, policy)
        or _check_origin(origin, host)
        or (_check_token(authorization, policy) if needs_token else None)
        or _check_length(length, policy.larger_bodies.get(path, policy.body_bytes))
    )


def _check_form(scope: Scope) -> Refusal | None:
    """What no route can be asked for; the web framework fails at some of it."""
    if not scope["path"].startswith("/"):
        return Refusal(400, "Bad request target", "Send the path of this engine alone, such as /status.")
    if scope["http_version"] not in _HTTP_VERSIONS:
        # A streamed answer, its end and the limits are made for these alone.
        return Refusal(505, "HTTP version not served", "Speak HTTP/1.1.")
    return None


_HTTP_VERSIONS = frozenset({"1.0", "1.1"})
_READING = frozenset({"GET", "HEAD"})


def _check_host(host: bytes | None, policy: GuardPolicy) -> Refusal | None:
    if not policy.loopback_only:
        return None
    if host is None or not is_loopback(_hostname(host)):
        return Refusal(
            421, "Host not served", f"Host {_shown(host)} is not this machine. Use 127.0.0.1, localhost or [::1]."
        )
    return None


def _check_origin(origin: bytes | None, host: bytes | None) -> Refusal | None:
    if origin is None:
        return None
    try:
        parts = urlsplit(origin.decode("ascii"))
    except ValueError:
        parts = urlsplit("")
    same = parts.scheme == "http" and host is not None and parts.netloc.encode().lower() == host.strip().lower()
    if not same:
        return Refusal(
            403, "Origin not allowed", f"Origin {_shown(origin)} may not use this engine; only its own pages may."
        )
    return None


def _check_token(authorization: bytes | None, policy: GuardPolicy) -> Refusal | None:
    if policy.token is None:
        return None
    scheme, _, given = (authorization or b"").partition(b" ")
    expected = policy.token.encode()
    if scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), expected):
        return None
    # Not 401: opencode would start looking for an authorization server and never come back.
    return Refusal(403, "Token required", "Send the engine's token as 'Authorization: Bearer TOKEN'.")


def _check_length(length: bytes | None, most: int) -> Refusal | None:
    if length is None or not length.isdigit() or int(length[:20]) <= most:
        return None
    # Of a length that has no end, as much as tells how far it is from the most.
    told = int(length[:20])
    more = "" if len(length) <= 20 else " or more"
    return Refusal(413, "Body too large", f"The body has {told} bytes{more}; the most is {most} bytes.")


def _hostname(host: bytes) -> str:
    text = host.decode("latin-1").strip().lower()
    if text.startswith("["):
        return text[1:].partition("]")[0]
    return text.partition(":")[0]


def _shown(value: bytes | None) -> str:
    return "(none)" if value is None else repr(value[:HEADER_BYTES_SHOWN].decode("latin-1"))


async def _refuse(scope: Scope, send: Send, refusal: Refusal) -> None:
    close = refusal.status == 413
    if scope["path"] == "/mcp" or scope["path"].startswith("/mcp/"):
        error = {"code": -32600, "message": f"{refusal.title}: {refusal.detail}"}
        await answer_json(send, refusal.status, {"jsonrpc": "2.0", "error": error}, close=close)
        return
    body = {"type": "about:blank", "title": refusal.title, "status": refusal.status, "detail": refusal.detail}
    await answer_json(send, refusal.status, body, content_type="application/problem+json", close=close)
