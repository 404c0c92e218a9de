"""The very end of the command. Owns how long the exit of Python may be held, which waits for what others have left.

An engine runs code of units, which may leave threads that are no daemons, and processes that Python waits for.
"""

from __future__ import annotations

import os
import sys
import threading
from contextlib import suppress

from cli.console import note

LEAVING_SECONDS = 2.0
"""How long the exit may take. All that is worth keeping is on disk by then."""


def leaving(code: int) -> int:
    """The exit code, given back to be exited with now. A process that is not gone soon ends with it all the same."""
    timer = threading.Timer(LEAVING_SECONDS, _leave, (code,))
    timer.daemon = True
    timer.start()
    return code


def _leave(code: int) -> None:
    main = threading.main_thread()
    try:
        others = sorted(each.name for each in threading.enumerate() if not each.daemon and each is not main)
        note(f"space: what was left behind held the exit, and is ended with it: {', '.join(others) or 'a process'}")
        with suppress(OSError, ValueError):
            sys.stdout.flush()
    finally:
        os._exit(code)
