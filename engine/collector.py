"""Python's garbage collector: held off while very many objects are made that all stay, and set for serving.

Owns these two settings alone.
"""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

MANY_OBJECTS = 200_000
"""Objects from which on looking through them once would hold the whole process up for longer than a request should."""


YOUNG_OBJECTS = 20_000
"""New objects between two searches among them. Python's 700 means a search with every other request, for nothing."""


def settle_collector() -> None:
    """Set the collector for a process that has started and serves from now on. For the owner of the process alone.

    What exists now stays, so it is not looked at again; and the young are searched less often.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG_OBJECTS, *gc.get_threshold()[1:])


@contextmanager
def collector_paused() -> Generator[None]:
    """Make no search for garbage within the block: each would look at all that was made so far and find none of it.

    Reading a large world takes less than half the time with it. Where very many objects were made, those that exist at
    the end are never looked at again: a world stays, and a search through it would stop everything else. Reference
    counting goes on for all of them. Where the collector was off before, by hand or by another thread that is in such a
    block, it stays off.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if gc.get_count()[0] > MANY_OBJECTS:
            gc.freeze()
        gc.enable()
