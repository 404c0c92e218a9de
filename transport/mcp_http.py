"""Between Quart's requests and responses and the handler's values. Owns the translation, decides nothing."""

from __future__ import annotations

from quart import Request, Response
from werkzeug.exceptions import RequestEntityTooLarge

from protocol.decision import Reply
from protocol.handler import Handler
from protocol.http_facts import HttpFacts
from protocol.jsonrpc import Batch, Message, Notification, ParseFault
from protocol.jsonrpc import Request as RpcRequest

ACCEPTED = Reply(202, b"", ())
"""Strict clients drop the transport when a notification is answered with anything but an empty 202."""


def facts_of(request: Request) -> HttpFacts:
    """What the request says about itself."""
    headers, query = request.headers, request.args
    return HttpFacts(
        method=request.method,
        content_type=headers.get("Content-Type"),
        accept=headers.get("Accept"),
        session_header=headers.get("Mcp-Session-Id"),
        session_query=query.get("sessionId") or query.get("session_id"),
        version_header=headers.get("Mcp-Protocol-Version"),
    )


async def body_of(request: Request, handler: Handler) -> bytes | Reply:
    """The body, or the refusal of one that is too long (a declared length was checked by the guard before)."""
    try:
        data = await request.get_data()
    except RequestEntityTooLarge:
        refused = handler.refuse_body()
        return Reply(refused.status, refused.body, (*refused.headers, ("connection", "close")))
    return data.encode() if isinstance(data, str) else data


def response_of(reply: Reply) -> Response:
    """The reply as an HTTP response, with the status and headers that it names."""
    response = Response(reply.body, reply.status)
    # An empty 202 has no content type: Quart would add one.
    response.headers.pop("Content-Type", None)
    for name, value in reply.headers:
        response.headers[name] = value
    return response


def methods_of(message: Message | ParseFault) -> tuple[str, ...]:
    """The methods that a body names, for the counters."""
    if isinstance(message, Batch):
        return tuple(item.method for item in message.items if isinstance(item, RpcRequest | Notification))
    return (message.method,) if isinstance(message, RpcRequest | Notification) else ()
