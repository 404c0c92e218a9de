"""The requests of ours that wait for the answers of clients, in sessions.

Owns the table of them: ids, bytes, and which answer belongs to which. Sends nothing and waits for nothing. An answer
counts only in the session that was asked, so that no client can answer for another.
"""

from __future__ import annotations

from dataclasses import dataclass

from protocol.client_capabilities import ClientCapabilities
from protocol.input_request import (
    ElicitUrl,
    InputRequest,
    InputResponse,
    MalformedAnswer,
    method_of,
    params_of,
    possible,
    read_answer,
    refused_answer,
)
from protocol.jsonrpc import Response, encode_request
from protocol.limits import DEFAULT_LIMITS
from protocol.versions import REVISIONS


@dataclass(frozen=True, slots=True)
class AskedClient:
    """A request of ours that is on its way: its id, and the message to send."""

    id: str
    session_id: str
    message: bytes


@dataclass(frozen=True, slots=True)
class NotAsked:
    """Why a client was not asked."""

    reason: str


@dataclass(frozen=True, slots=True)
class Answered:
    """The answer to a request of ours. A `MalformedAnswer` is one that is none; None is a form filled in wrongly."""

    id: str
    answer: InputResponse | MalformedAnswer | None


class ClientRequestTable:
    """Requests of ours by session and id."""

    def __init__(self, *, limit: int = DEFAULT_LIMITS.client_requests, prefix: str = "space-") -> None:
        self._limit = limit
        self._prefix = prefix
        self._serial = 0
        self._waiting: dict[str, dict[str, InputRequest]] = {}

    def ask(
        self, session_id: str, request: InputRequest, client: ClientCapabilities, version: str
    ) -> AskedClient | NotAsked:
        """Note a request and give its message; each one is ended by `answer` or `forget`.

        It is not noted where the client cannot be asked this, or is asked too much. Raises `KeyError` for a version
        that is not known.
        """
        revision = REVISIONS[version]
        if not possible(request, client, revision):
            return NotAsked(f"the client cannot be asked for {method_of(request)}; it has not declared that it can")
        if isinstance(request, ElicitUrl) and request.elicitation_id is None:
            return NotAsked("a page that a client with a session is to visit needs an elicitation_id")
        waiting = self._waiting.setdefault(session_id, {})
        if len(waiting) >= self._limit:
            return NotAsked(f"{self._limit} requests wait for answers of this client, which is the most")
        self._serial += 1
        request_id = f"{self._prefix}{self._serial}"
        waiting[request_id] = request
        message = encode_request(request_id, method_of(request), params_of(request, revision) or None)
        return AskedClient(request_id, session_id, message)

    def answer(self, session_id: str, response: Response) -> Answered | None:
        """What a posted answer says; None where nobody waits for it in that session.

        Raises `SchemaError` for a form whose own schema is none.
        """
        waiting = self._waiting.get(session_id, {})
        if not isinstance(response.id, str) or response.id not in waiting:
            return None
        request = waiting[response.id]
        self.forget(session_id, response.id)
        if response.error is not None:
            return Answered(response.id, refused_answer(response.error))
        return Answered(response.id, read_answer(request, response.result))

    def forget(self, session_id: str, request_id: str) -> None:
        """Wait for that answer no more. Harmless when repeated."""
        waiting = self._waiting.get(session_id, {})
        waiting.pop(request_id, None)
        if not waiting:
            self._waiting.pop(session_id, None)

    def end_session(self, session_id: str) -> tuple[str, ...]:
        """Wait for no answers of a session any more; the ids of those that were waited for."""
        return tuple(self._waiting.pop(session_id, {}))

    def __len__(self) -> int:
        return sum(map(len, self._waiting.values()))
