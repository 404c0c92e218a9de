"""The order in which the calls of one program run. Owns whose turn it is; runs nothing itself.

Calls that only read overlap, up to a number; one that may change something waits for all before it and runs alone, and
what comes behind it waits for its end. So a program that starts several calls at once changes the world in the order in
which it made them.
"""

from __future__ import annotations

from collections import deque

import trio

PARALLEL_CALLS = 10
"""How many calls of one program may run at the same time."""


class CallLane:
    """A queue of calls. `enter` takes the next place at once; the place is then awaited as a context manager."""

    def __init__(self, parallel: int = PARALLEL_CALLS) -> None:
        if parallel < 1:
            raise ValueError(f"at least one call must be able to run at a time, not {parallel}")
        self._parallel = parallel
        self._waiting: deque[CallTurn] = deque()
        self._running: dict[CallTurn, None] = {}

    def enter(self, *, shared: bool) -> CallTurn:
        """The next place in the queue. `shared` is for a call that only reads. Whoever takes it must enter it."""
        turn = CallTurn(self, shared=shared)
        self._waiting.append(turn)
        self._advance()
        return turn

    def leave(self, turn: CallTurn) -> None:
        """Give the place up, whether its turn had come or not. For the turn alone."""
        if self._running.pop(turn, self) is self:
            self._waiting.remove(turn)
        self._advance()

    def _advance(self) -> None:
        while self._waiting and self._fits(self._waiting[0]):
            turn = self._waiting.popleft()
            self._running[turn] = None
            turn.come.set()

    def _fits(self, turn: CallTurn) -> bool:
        if not self._running:
            return True
        return turn.shared and all(each.shared for each in self._running) and len(self._running) < self._parallel


class CallTurn:
    """One place in the queue. Entering waits for the turn; leaving, also by cancellation, lets the next ones go on."""

    def __init__(self, lane: CallLane, *, shared: bool) -> None:
        self._lane = lane
        self.shared = shared
        self.come = trio.Event()
        """Set once the call may run."""

    async def __aenter__(self) -> None:
        try:
            await self.come.wait()
        except BaseException:
            self._lane.leave(self)
            raise

    async def __aexit__(self, *error: object) -> None:
        self._lane.leave(self)
