"""Results and errors as replies, in the form of each generation. Owns that form, and what every answer of ours carries.

Without a session every result says what it is and who made it; in a session none does.
"""

from __future__ import annotations

from protocol.cache_hint import CacheHint
from protocol.decision import Reply
from protocol.jsonrpc import ErrorCode, RequestId, encode, encode_error, encode_result
from protocol.server_info import ServerInfo
from protocol.stateless_facts import SERVER_CLAIM

COMPLETE = "complete"
INPUT_REQUIRED = "input_required"
TASK = "task"


def error_reply(request_id: RequestId | None, code: int, message: str, status: int = 200, data: object = None) -> Reply:
    """An answer that is a JSON-RPC error. Its status is 200 where the message was understood as one of the talk."""
    return Reply(status, encode_error(request_id, code, message, data))


def refusal(status: int, reason: str) -> Reply:
    """An answer below the level of messages. It is JSON-RPC all the same: without it clients try other transports."""
    return error_reply(None, ErrorCode.INVALID_REQUEST, reason, status)


class Answers:
    """Writes results for one server."""

    def __init__(self, server: ServerInfo) -> None:
        about = {"name": server.name, "version": server.version}
        if server.title is not None:
            about["title"] = server.title
        self._maker = b'{"%b":%b' % (SERVER_CLAIM.encode(), encode(about))

    def in_session(self, request_id: RequestId, body: bytes) -> Reply:
        """A result, which is a JSON object, as sessions know it."""
        return Reply(200, encode_result(request_id, body))

    def stateless(
        self,
        request_id: RequestId,
        body: bytes,
        *,
        kind: str = COMPLETE,
        cache: CacheHint | None = None,
        meta: bytes = b"",
    ) -> Reply:
        """A result, which is a JSON object, with what every stateless one says besides.

        `meta` are more members of `_meta`, as JSON that begins with a comma.
        """
        kept = b"" if cache is None else b'"ttlMs":%d,"cacheScope":"%b",' % (cache.ttl_ms, cache.scope.value.encode())
        rest = b"}" if body == b"{}" else b",%b" % body[1:]
        whole = b'{"resultType":"%b",%b"_meta":%b%b}%b' % (kind.encode(), kept, self._maker, meta, rest)
        return Reply(200, encode_result(request_id, whole))
