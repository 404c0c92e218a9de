"""Work in a child of this process that leaves no process behind, not even one in a session of its own.

Owns that child. Linux alone has what it takes; elsewhere the work is done in this process, and such a one is left.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType

_PR_SET_CHILD_SUBREAPER = 36
"""Of `prctl`: whose parent has ended becomes a child of this process, and not of the first of the system."""

_ROUNDS = 1000
"""How often it is looked for children that are left. One that is killed may have left some of its own."""


def supervised(work: Callable[[], int]) -> int:
    """Do the work in a child, and give its exit code back; a signal that ends the child ends this process as well.

    For the main thread of a process that has no other.
    """
    if not _adopts():
        return work()
    child = os.fork()
    if child == 0:
        os._exit(_done(work))
    signal.signal(signal.SIGTERM, _end_with)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    _end_all()
    if code < 0:
        _end_by(-code)
    return code


def _done(work: Callable[[], int]) -> int:
    code = 1
    try:
        code = work()
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:  # noqa: BLE001 - the bottom of the child: it must not go on as its parent
        traceback.print_exc()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    return code


def _adopts() -> bool:
    """Become the parent of orphans; False where the system has no such thing."""
    if sys.platform != "linux":
        return False
    try:
        return ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0 and _can_list()
    except (OSError, AttributeError):
        return False


def _can_list() -> bool:
    return _list().exists()


def _list() -> Path:
    return Path(f"/proc/self/task/{os.getpid()}/children")


def _end_with(number: int, _frame: FrameType | None) -> None:
    _end_all()
    _end_by(number)


def _end_all() -> None:
    """Kill what runs below this process. It has no other children than the one, and those that it was left."""
    for _ in range(_ROUNDS):
        children = _list().read_text().split()
        if not children:
            return
        for child in map(int, children):
            # Ours until we have waited for it, so that the number cannot be another's.
            with suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(child, 0)


def _end_by(number: int) -> None:
    with suppress(OSError):  # SIGKILL has no other action
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
