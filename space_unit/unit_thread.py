"""A thread for code of a unit, which is given up when its time is over, and then ended. Owns that thread's life.

Python ends no thread from outside, but lets an exception be raised in one: at the next step of its own that it makes.
So a loop ends, and a call into C (a `sleep`, a request without a limit) not before it returns. It must not hit code
that takes or gives back a lock, least of all that of imports, which all threads share: so it is raised where the unit's
own code is. The thread is none of the event loop's pool, in which such an exception could hit somebody else's work.
"""

from __future__ import annotations

import ctypes
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Generic, TypeVar

import outcome
import trio

from space_unit.modules import PREFIX

ResultT = TypeVar("ResultT")

FIRST_KICK_SECONDS = 0.02
"""After so long it is tried again to end a thread which has caught the exception, twice as long each time."""

MOST_KICK_SECONDS = 0.25
"""And never longer: for a thread in a call into C, which ends some day. To look costs microseconds."""


OWN_SECONDS = 1.0
"""So long only the unit's own code is hit; a loop comes by there. After it, other code that is not known to lock."""

_LOCKING = ("<frozen ", "threading.py", "queue.py", "logging/__init__.py", "unit_thread.py", "trio/")


class GivenUp(SystemExit):
    """Raised inside a unit's code whose time is over. As a `SystemExit` it ends a thread without a word."""


class UnitThread(Generic[ResultT]):
    """A function that runs in a thread of its own, once. Used from the event loop."""

    def __init__(self, name: str, function: Callable[[], ResultT]) -> None:
        self.ended = trio.Event()
        """Set once nothing of the function runs any more."""
        self._function = function
        self._outcome: outcome.Outcome[ResultT] | None = None
        self._began = False
        self._left = False
        self._kicking = threading.Lock()
        self._token = trio.lowlevel.current_trio_token()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    async def run(self) -> ResultT:
        """Run the function and give its result, or raise what it raised. Cancelled, it gives the function up at once,
        which is then ended from outside; `ended` says when that was.
        """
        self._thread.start()
        try:
            await self.ended.wait()
        except BaseException:
            threading.Thread(target=self._end, name=f"{self._thread.name}, being ended", daemon=True).start()
            raise
        if self._outcome is None:
            raise RuntimeError("the thread ended without a result")
        return self._outcome.unwrap()

    def _run(self) -> None:
        # All of it may be hit by the exception, and is gone through again then: but for the function.
        while True:
            try:
                if not self._began:
                    self._began = True
                    self._outcome = outcome.capture(self._function)
                with self._kicking:
                    self._left = True
                _raise_in(self._thread, None)
                break
            except GivenUp:
                pass
        self._tell()

    def _end(self) -> None:
        wait, own_until = FIRST_KICK_SECONDS, time.monotonic() + OWN_SECONDS
        while self._thread.is_alive():
            # Under the lock, which the thread takes before it ends: another one may get its number.
            with self._kicking:
                # From looking to raising takes microseconds, and this thread has just got its turn of milliseconds.
                if not self._left and _may_be_hit(self._thread, own_code_alone=time.monotonic() < own_until):
                    _raise_in(self._thread, GivenUp)
            self._thread.join(wait)
            wait = min(2 * wait, MOST_KICK_SECONDS)
        self._tell()

    def _tell(self) -> None:
        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(self.ended.set)


def _may_be_hit(thread: threading.Thread, *, own_code_alone: bool) -> bool:
    frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] - there is no other way
    frame = None if thread.ident is None else frames.get(thread.ident)
    if frame is None:
        return False
    if str(frame.f_globals.get("__name__")).startswith(PREFIX):
        return True
    return not own_code_alone and not any(part in frame.f_code.co_filename for part in _LOCKING)


def _raise_in(thread: threading.Thread, kind: type[BaseException] | None) -> None:
    """Let that be raised in the thread at its next step; None takes back what has not been raised yet."""
    if thread.ident is not None:
        raised = ctypes.py_object() if kind is None else ctypes.py_object(kind)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), raised)
