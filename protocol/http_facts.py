"""What an HTTP request says about itself besides its body: the few headers and query members that MCP looks at.

Owns their reading. Knows no web framework; `Host`, `Origin` and tokens are checked before this. Source: MCP
specification, transports; remote-mcp, "Transport Modes" (the session in the query).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

VERSION_HEADER = "mcp-protocol-version"
METHOD_HEADER = "mcp-method"
NAME_HEADER = "mcp-name"
PARAMETER_HEADER_PREFIX = "mcp-param-"

_QVALUE = re.compile(r"[01](?:\.[0-9]{0,3})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpFacts:
    """One request. Header values are as they came, None where the header is absent.

    `session_query` is the query member `sessionId` or `session_id`. `method` is in upper case. `agent` is whose
    endpoint it came to, empty for that of the default one; `presentation` is the form of the tools in the query.

    `mcp_headers` are all headers whose names begin with `mcp-`: names in lower case, in the order in which they came,
    each as often as it came. `principal` tells callers apart that have different credentials, empty where nobody needs
    one; it is never shown.
    """

    method: str
    content_type: str | None = None
    accept: str | None = None
    session_header: str | None = None
    session_query: str | None = None
    version_header: str | None = None
    agent: str = ""
    presentation: str | None = None
    mcp_headers: tuple[tuple[str, str], ...] = ()
    principal: str = ""

    @property
    def session_id(self) -> str | None:
        """The session that the request names: the header before the query; an empty one is none."""
        return (self.session_header or "").strip() or (self.session_query or "").strip() or None

    @property
    def version(self) -> str | None:
        """The protocol version that the request names, without blanks around it; an empty one is none."""
        return (self.version_header or "").strip() or None

    def values(self, name: str) -> tuple[str, ...]:
        """The values of an `mcp-` header, without blanks around them, as often as it came. `name` is in lower case."""
        return tuple(value.strip(" \t") for key, value in self.mcp_headers if key == name)

    @property
    def versions(self) -> tuple[str, ...]:
        """The protocol versions that the headers name, several where it came more than once. An empty one is none."""
        # Asked several times for each request: a list, since a generator costs twice as much.
        named = [value.strip(" \t") for key, value in self.mcp_headers if key == VERSION_HEADER]
        found = tuple([value for value in named if value])
        return found if found or self.version is None else (self.version,)

    @property
    def has_json_body(self) -> bool:
        """Whether the content type is exactly `application/json`, with or without parameters."""
        return _media_type(self.content_type or "") == JSON

    @property
    def accepts_json(self) -> bool:
        """Whether the client takes a JSON answer. One that says nothing takes anything."""
        return _accepts(self.accept, JSON)

    @property
    def accepts_event_stream(self) -> bool:
        """Whether the client takes a stream of events. One that says nothing takes anything."""
        return _accepts(self.accept, EVENT_STREAM)

    @property
    def prefers_event_stream(self) -> bool:
        """Whether the client would rather have a stream of events than JSON.

        By weight, and among equals by the order in which it names them; a wildcard, or silence, wishes for nothing.
        """
        return _prefers_event_stream(self.accept)


HEADERS_KEPT = 64
"""Headers whose reading is kept: clients send a handful of them, the same with every request."""


@lru_cache(maxsize=HEADERS_KEPT)
def _prefers_event_stream(accept: str | None) -> bool:
    if accept is None or EVENT_STREAM not in accept.lower():
        return False
    weights: dict[str, float] = {}
    for item in accept.split(","):
        weights.setdefault(_media_type(item), _weight(item))
    stream, plain = weights.get(EVENT_STREAM, 0.0), weights.get(JSON, 0.0)
    return stream > plain or (stream == plain > 0 and list(weights).index(EVENT_STREAM) < list(weights).index(JSON))


@lru_cache(maxsize=HEADERS_KEPT)
def _media_type(value: str) -> str:
    return value.partition(";")[0].strip().lower()


@lru_cache(maxsize=HEADERS_KEPT)
def _accepts(accept: str | None, media_type: str) -> bool:
    if accept is None or not accept.strip():
        return True
    ranges = {media_type, f"{media_type.partition('/')[0]}/*", "*/*"}
    return any(_media_type(item) in ranges and not _is_refused(item) for item in accept.split(","))


def _is_refused(item: str) -> bool:
    """A weight of zero means "not this one" (RFC 9110, 12.4.2)."""
    return _weight(item) == 0


def _weight(item: str) -> float:
    """How much a media type is wanted, 0 to 1. What is no number means nothing, and is taken for 1."""
    for parameter in item.split(";")[1:]:
        name, _, value = parameter.replace(" ", "").lower().partition("=")
        if name == "q":
            return float(value) if _QVALUE.fullmatch(value) else 0.0 if not value.strip("0.") else 1.0
    return 1.0
