"""Between requests and responses and the handler's values. Owns the translation, decides nothing."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus

import trio

from presets.suggestions import quoted
from protocol.decision import Reply
from protocol.handler import Handler, error_reply
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Batch, ErrorCode, Message, Notification, ParseFault, parse, parse_json
from protocol.jsonrpc import Request as RpcRequest
from protocol.limits import Limits
from protocol.sse import EVENT_STREAM, EventTooLargeError, encode_message
from transport.defaults import MCP_PATH
from transport.endpoint_request import BodyTooLargeError, EndpointRequest

BODY_SECONDS = 60.0
"""How long a body may take to come, seconds: as long as the web framework gives the other routes."""

LONG_BODY_BYTES = 256 * 1024
"""Parsing takes about 0.2 s for a hostile MiB, so a few milliseconds for this; a thread costs 0.1 ms."""

ACCEPTED = Reply(202, b"", ())
"""Strict clients drop the transport when a notification is answered with anything but an empty 202."""


def facts_of(request: EndpointRequest) -> HttpFacts:
    """What the request says about itself. Of a header that comes twice, the last one counts, but in `mcp_headers`."""
    # Read in one pass: this is the hot path, and six look-ups by name cost as much as parsing a call.
    query = request.query
    known: dict[str, str] = {}
    mcp_headers: list[tuple[str, str]] = []
    principal = ""
    for name, value in request.headers:
        if name.startswith(b"mcp-"):
            pair = (name.decode("latin-1"), value.decode("latin-1"))
            mcp_headers.append(pair)
            if name in _HEADERS:
                known[_HEADERS[name]] = pair[1]
        elif name in _HEADERS:
            known[_HEADERS[name]] = value.decode("latin-1")
        elif name == b"authorization":
            principal = sha256(value).hexdigest()
    return HttpFacts(
        method=request.method,
        session_query=query.get("sessionId") or query.get("session_id"),
        agent=request.path[len(MCP_PATH) + 1 :] or query.get("agent", ""),
        presentation=query.get("presentation") or None,
        mcp_headers=tuple(mcp_headers),
        principal=principal,
        **known,
    )


def refuse_address(request: EndpointRequest) -> Reply | None:
    """Why the address of a request is nobody's: it ends in `/`, or asks for two things at once. None for any other."""
    named = request.path[len(MCP_PATH) + 1 :]
    if request.path.endswith("/"):
        right = request.path.rstrip("/") or MCP_PATH
        reason = f"there is no endpoint at {quoted(request.path)}: its path has no '/' at the end. Use {quoted(right)}"
        return error_reply(None, ErrorCode.INVALID_REQUEST, reason, HTTPStatus.NOT_FOUND)
    if not request.query:
        return None
    for member, also in (("agent", named), ("presentation", "")):
        said = [value for value in (also, *request.values(member)) if value]
        other = next((value for value in said if value != said[0]), None)
        if other is not None:
            where = "the path and the query of the address name" if also else "the query of the address names"
            reason = (
                f"{where} two values of {member!r}, {quoted(said[0])} and {quoted(other)}; "
                "a client has one. Leave one of them out"
            )
            return error_reply(None, ErrorCode.INVALID_REQUEST, reason, HTTPStatus.BAD_REQUEST)
    return None


def last_event_id_of(request: EndpointRequest) -> str | None:
    """The last event that the client has seen of a stream which it comes back for; None where it says nothing."""
    found = next((value for name, value in request.headers if name == b"last-event-id"), b"").strip()
    return found.decode("latin-1") or None


_EVENT_HEADERS = (("content-type", EVENT_STREAM), ("cache-control", "no-cache, no-transform"))

_HEADERS = {
    b"content-type": "content_type",
    b"accept": "accept",
    b"mcp-session-id": "session_header",
    b"mcp-protocol-version": "version_header",
}


async def body_of(request: EndpointRequest, handler: Handler) -> bytes | Reply:
    """The body, or the refusal of one that is too long or too slow.

    A declared length was checked by the guard before.
    """
    try:
        with trio.fail_after(BODY_SECONDS):
            return await request.body.whole()
    except BodyTooLargeError:
        refused = handler.refuse_body()
    except trio.TooSlowError:
        reason = f"the body did not come within {BODY_SECONDS:g} s"
        refused = error_reply(None, ErrorCode.INVALID_REQUEST, reason, HTTPStatus.REQUEST_TIMEOUT)
    return Reply(refused.status, refused.body, (*refused.headers, ("connection", "close")))


async def message_of(body: bytes, limits: Limits) -> Message | ParseFault:
    """The message in a body. A long one is parsed beside the event loop, which it would hold for up to a second."""
    if len(body) > LONG_BODY_BYTES:
        return await trio.to_thread.run_sync(parse, body, limits)
    return parse(body, limits)


async def json_of(body: bytes, limits: Limits) -> object | ParseFault:
    """The JSON in a body, parsed where `message_of` parses."""
    if len(body) > LONG_BODY_BYTES:
        return await trio.to_thread.run_sync(parse_json, body, limits)
    return parse_json(body, limits)


@dataclass(frozen=True, slots=True)
class WireReply:
    """A whole response as it goes out. Making one of Quart's costs a call as much as deciding what to answer."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def response_of(reply: Reply) -> WireReply:
    """The reply as an HTTP response, with the status and headers that it names."""
    headers = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in reply.headers
        # An empty answer has no type.
        if reply.body or name != "content-type"
    ]
    if reply.status != HTTPStatus.NO_CONTENT:
        # RFC 9110, 8.6: that one must not name a length, not even none.
        headers.append((b"content-length", b"%d" % len(reply.body)))
    return WireReply(reply.status, headers, reply.body)


def event_response_of(reply: Reply) -> WireReply:
    """An answer as a stream of one event, for a client that would rather have it so. What is no answer stays as it is.

    So does an answer that is longer than clients read in one event.
    """
    if reply.status != HTTPStatus.OK or not reply.body:
        return response_of(reply)
    try:
        body = encode_message(reply.body)
    except EventTooLargeError:
        return response_of(reply)
    kept = tuple(header for header in reply.headers if header[0] != "content-type")
    return response_of(Reply(reply.status, body, (*kept, *_EVENT_HEADERS)))


def methods_of(message: Message | ParseFault) -> tuple[str, ...]:
    """The methods that a body names, for the counters."""
    if isinstance(message, Batch):
        return tuple(item.method for item in message.items if isinstance(item, RpcRequest | Notification))
    return (message.method,) if isinstance(message, RpcRequest | Notification) else ()
