"""The last calls of tools, whichever way they came: those that run, how those have ended that ran, what was refused.

Owns how many are kept, how much of the large ones, and the order in which they have changed. Arguments are kept as
they came, since they are what people look for; keys of providers are never arguments of a tool, and never come here.
Lives in memory alone, and is over with the engine. Noting a call costs a few microseconds and never waits.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import islice

from actors.change_counter import ChangeCounter
from actors.logged_call import Caller, Cancel, LoggedCall

KEPT_CALLS = 10_000
"""Calls that are kept, the last ones, and all that run."""

BULKY_BYTES = 1024
"""From where on a call is a large one. All others together have ten megabytes at most."""

KEPT_BYTES = 32 * 1024 * 1024
"""Arguments and results of all large calls together. The oldest give way to later ones, but for a look at them."""


class CallLog:
    """Records of calls, by id. `changes` counts each change of any of them; a record has the number of its last one."""

    def __init__(self, most: int = KEPT_CALLS, most_bytes: int = KEPT_BYTES) -> None:
        self.changes = ChangeCounter()
        self._most = most
        self._most_bytes = most_bytes
        self._calls: dict[int, LoggedCall] = {}
        self._by_change: OrderedDict[int, LoggedCall] = OrderedDict()
        self._bulky: dict[int, int] = {}
        """Of the large calls that are kept whole: their bytes by id, in the order of their ends."""
        self._bytes = 0
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._calls)

    @property
    def bytes_kept(self) -> int:
        """Of the large calls that are kept whole."""
        return self._bytes

    def begin(self, caller: Caller, tool: str, arguments: object, cancel: Cancel | None = None) -> LoggedCall:
        """Note a call that begins. Whoever runs it tells the record how it ends. `cancel` is what cancels it."""
        self._last_id = call_id = self._last_id + 1
        call = LoggedCall(self, call_id, caller, tool, arguments, cancel)
        self._calls[call_id] = self._by_change[call_id] = call
        call.version = self.changes.count()
        if len(self._calls) > self._most:
            self._drop_oldest()
        return call

    def refused(self, caller: Caller, tool: str, arguments: object, reason: str) -> None:
        """Note a call that was not run, and why."""
        self.begin(caller, tool, arguments).refuse(reason)

    def get(self, call_id: int) -> LoggedCall | None:
        """The record of that id, or None where there is none (any more)."""
        return self._calls.get(call_id)

    def changed_after(self, version: int, most: int) -> tuple[LoggedCall, ...]:
        """Those that have changed since then, the oldest change first; of too many the oldest changes."""
        found: list[LoggedCall] = []
        for call in reversed(self._by_change.values()):
            if call.version <= version:
                break
            found.append(call)
        return tuple(islice(reversed(found), most))

    def latest(self, most: int) -> tuple[LoggedCall, ...]:
        """Those that have changed last, the oldest change first."""
        return tuple(islice(reversed(self._by_change.values()), most))[::-1]

    def __iter__(self) -> Iterator[LoggedCall]:
        return iter(tuple(self._calls.values()))

    # What a record tells its keeper.

    def changed(self, call: LoggedCall) -> None:
        """See `CallKeeper`."""
        if call.id in self._calls:
            call.version = self.changes.count()
            self._by_change.move_to_end(call.id)

    def ended(self, call: LoggedCall) -> None:
        """See `CallKeeper`."""
        self.changed(call)
        size = call.size
        if size <= BULKY_BYTES or call.id not in self._calls:
            return
        self._bulky[call.id] = size
        self._bytes += size
        while self._bytes > self._most_bytes:
            oldest = next(iter(self._bulky))
            self._bytes -= self._bulky.pop(oldest)
            self._calls[oldest].shorten()

    def _drop_oldest(self) -> None:
        """Forget the oldest call that does not run any more. There are few that run."""
        oldest = next((call for call in self._calls.values() if not call.is_running), None)
        if oldest is not None:
            del self._calls[oldest.id]
            del self._by_change[oldest.id]
            self._bytes -= self._bulky.pop(oldest.id, 0)
