"""The tool calls in flight: how many there are, and which one a cancellation means.

Owns the table. Cancels nothing itself. Three traps are kept out here: 1 and "1" are two ids, equal ids of two sessions
are two calls, and some clients give every request the id 1, so a call is known by a handle and never by its id.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from protocol.jsonrpc import RequestId
from protocol.limits import DEFAULT_LIMITS, Limits


@dataclass(frozen=True, slots=True)
class CallHandle:
    """One call in flight. `serial` is unique in its table and grows."""

    serial: int
    session_id: str
    request_id: RequestId
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class TooManyCalls:
    """Why a call may not begin: the limit that is reached. `whose` says who has reached it."""

    limit: int
    whose: str

    def __str__(self) -> str:
        return f"{self.whose} already has {self.limit} calls in flight, which is the most; wait for one to end"


class CallTable:
    """Calls in flight by session and request id."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self._limits = limits
        self._sessions: dict[str, dict[int, CallHandle]] = {}
        self._alone: Counter[str] = Counter()
        """Calls without a session, by whose they are."""
        self._count = 0
        self._serial = 0

    def begin(self, session_id: str, request_id: RequestId, principal: str | None = None) -> CallHandle | TooManyCalls:
        """Note a call, unless a limit is reached. Each handle must be given to `end`.

        `principal` says whose a call without a session is; None for one of a session.
        """
        of_session = self._sessions.get(session_id, {})
        if len(of_session) >= self._limits.calls_per_session:
            return TooManyCalls(self._limits.calls_per_session, "this session")
        if self._count >= self._limits.calls_total:
            return TooManyCalls(self._limits.calls_total, "the engine")
        if principal is not None:
            if self._alone[principal] >= self._limits.calls_per_principal:
                return TooManyCalls(self._limits.calls_per_principal, "whoever has this credential at this endpoint")
            self._alone[principal] += 1
        self._serial += 1
        handle = CallHandle(self._serial, session_id, request_id, principal)
        self._sessions.setdefault(session_id, of_session)[handle.serial] = handle
        self._count += 1
        return handle

    def end(self, handle: CallHandle) -> None:
        """Forget a call. Harmless when repeated."""
        of_session = self._sessions.get(handle.session_id, {})
        if of_session.pop(handle.serial, None) is None:
            return
        self._count -= 1
        if handle.principal is not None:
            self._alone[handle.principal] -= 1
            if not self._alone[handle.principal]:
                del self._alone[handle.principal]
        if not of_session:
            del self._sessions[handle.session_id]

    def find(self, session_id: str, request_id: RequestId) -> CallHandle | None:
        """The call that a cancellation means, or None: then it ended already, and there is nothing to do.

        Of several calls with one id it is the one that began first.
        """
        of_session = self._sessions.get(session_id, {})
        return next((handle for handle in of_session.values() if handle.request_id == request_id), None)

    def of_session(self, session_id: str) -> tuple[CallHandle, ...]:
        """The calls of a session, in the order in which they began."""
        return tuple(self._sessions.get(session_id, {}).values())

    def __len__(self) -> int:
        return self._count
