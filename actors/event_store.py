"""The streams that clients of sessions can come back for: those that go on, and the last ones that have ended.

Owns which streams are kept, and for how long; the events are those of `EventLog`. A session never finds the stream of
another one.
"""

from __future__ import annotations

from collections import OrderedDict

from actors.event_log import EventLog

STREAMS_PER_SESSION = 16
"""Ended streams of one session that are kept: as many calls as a model makes at once, and their answers got lost."""

EVENT_BYTES_IN_ALL = 64 * 1024 * 1024
"""Bytes of ended streams that are kept for all sessions together. Beyond it the oldest are forgotten."""


class EventStore:
    """Streams by session and name."""

    def __init__(
        self, *, streams_per_session: int = STREAMS_PER_SESSION, bytes_in_all: int = EVENT_BYTES_IN_ALL
    ) -> None:
        self._per_session = streams_per_session
        self._bytes = bytes_in_all
        self._logs: OrderedDict[tuple[str, str], EventLog] = OrderedDict()

    def open(self, session_id: str) -> EventLog:
        """A new stream of a session. It is kept while it goes on; whoever writes it ends it."""
        self._make_room(session_id)
        log = EventLog()
        self._logs[session_id, log.name] = log
        return log

    def find(self, session_id: str, name: str) -> EventLog | None:
        """The stream of that name, or None where the session has none, or it is kept no more."""
        return self._logs.get((session_id, name))

    def end_session(self, session_id: str) -> None:
        """Forget the streams of a session. One that goes on is ended by whoever writes it, with the last word."""
        for key in [key for key in self._logs if key[0] == session_id]:
            del self._logs[key]

    def __len__(self) -> int:
        return len(self._logs)

    def _make_room(self, session_id: str) -> None:
        ended = [key for key, log in self._logs.items() if log.ended and not log.attended]
        own = [key for key in ended if key[0] == session_id]
        for key in own[: max(0, len(own) - self._per_session + 1)]:
            del self._logs[key]
        size = sum(log.size for log in self._logs.values())
        for key in ended:
            if size <= self._bytes:
                return
            log = self._logs.pop(key, None)
            size -= 0 if log is None else log.size
