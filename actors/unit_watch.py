"""Watches folders for changes of files, in a thread of its own. Owns the watcher, and says which entries have changed.

Changes that come close together are told together. Where the system has no room for watching, it says so once and ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import structlog
import trio
from watchfiles import watch

QUIET_MS = 50
"""After so long without a change they are told: editors write in several steps."""

MOST_MS = 400
"""They are told then at the latest, however busy the folder is; below the second that a user waits."""

IDLE_MS = 5_000
"""How long one wait for changes takes. Its end is nothing to be seen."""

_log = structlog.stdlib.get_logger("units")


async def watch_folders(
    roots: Sequence[Path],
    changed: Callable[[frozenset[Path]], None],
    *,
    task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED,
) -> None:
    """Call `changed` in the event loop with the paths of what has changed below these folders, until cancelled."""
    stop = threading.Event()

    def follow() -> None:
        waited = False
        for changes in watch(
            *roots,
            watch_filter=None,
            debounce=MOST_MS,
            step=QUIET_MS,
            rust_timeout=IDLE_MS,
            yield_on_timeout=True,
            stop_event=stop,
            raise_interrupt=False,
            ignore_permission_denied=True,
        ):
            # What changed just before the watcher was there is found at its first rest.
            paths = _paths(changes) if changes or waited else frozenset(roots)
            waited = waited or not changes
            if paths:
                trio.from_thread.run_sync(changed, paths)

    async def stop_when_cancelled() -> None:
        try:
            await trio.sleep_forever()
        finally:
            stop.set()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(stop_when_cancelled)
        task_status.started()
        try:
            await trio.to_thread.run_sync(follow, limiter=trio.CapacityLimiter(1))
        except (OSError, RuntimeError) as error:
            _log.error("units_not_watched", reason=str(error), roots=[str(root) for root in roots])
        nursery.cancel_scope.cancel()


def _paths(changes: Iterable[tuple[int, str]]) -> frozenset[Path]:
    return frozenset(Path(path) for _, path in changes)
