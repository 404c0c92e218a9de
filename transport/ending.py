"""How a process that serves is told to end, and how it does. Owns the signals, and what follows when it takes long.

At the first signal: no new connections, calls in flight are answered, streams end, the parts stop. A second signal ends
the process at once, with 128 plus its number, and so does a thread when that takes longer than it may, whatever
holds it: from the signal until all is closed. What holds the exit after that is the matter of `cli.leaving`.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from types import TracebackType
from typing import Protocol, Self

import structlog
import trio

from transport.server import HttpServer

LAST_RESORT_SECONDS = 5.0
"""Beyond the grace, when the process is ended from outside the event loop: nothing may hold it for ever."""

STARVED_SECONDS = 1.0
"""Beyond that, when the process is ended without Python: code that never lets another thread run holds ours as well."""

STREAMS_SHARE = 0.8
"""The part of the grace that calls may take; the rest is for streams and connections."""

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
"""What ends the process. The last one comes when its terminal is closed."""

EXIT_OK, EXIT_CUT_OFF, EXIT_CANNOT_START = 0, 1, 2

_log = structlog.stdlib.get_logger("space")


class Served(Protocol):
    """What stands behind the HTTP server, from its start to its end."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until `stop`."""
        ...

    async def drain(self, seconds: float) -> bool:
        """Take no more calls, and let those in flight end; False when some had to be cut off after that time."""
        ...

    def stop(self) -> None:
        """Begin the end. Returns at once."""
        ...

    async def wait_ended(self) -> None:
        """Wait until all of it has ended."""
        ...

    def kill(self) -> None:
        """The process ends now: end what runs for it and take away what must not stay. From any thread."""
        ...


class LastResort:
    """Ends the process from outside the event loop. A context manager: what it is held around has to end in time."""

    def __init__(self) -> None:
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()
            faulthandler.cancel_dump_traceback_later()

    def begin(self, seconds: float, served: Served) -> None:
        """From now on it must end within that time. Once."""
        self._timer = threading.Timer(seconds, _end_at_once, (served, EXIT_CUT_OFF))
        self._timer.daemon = True
        self._timer.start()
        # It needs no turn of Python's, says on standard error where each thread is, and exits with 1 as well.
        faulthandler.dump_traceback_later(seconds + STARVED_SECONDS, exit=True, file=_STANDARD_ERROR)


_STANDARD_ERROR = 2


async def serve_until_told(
    served: Served,
    server: HttpServer,
    grace: float,
    ready: Callable[[], Awaitable[None]],
    last_resort: LastResort,
) -> bool:
    """Start both, call `ready`, and serve until a signal ends it. True when nothing had to be cut off.

    From the signal on `last_resort` is on; whoever holds it decides what all has to end in time. What `ready` raises
    ends both and is raised here, as is what keeps one of them from starting.
    """
    clean = True
    # Around the start as well: a signal that comes meanwhile must not end it halfway.
    with trio.open_signal_receiver(*ENDING_SIGNALS) as signals:
        async with trio.open_nursery() as nursery:
            await nursery.start(served.run)
            await nursery.start(server.run)
            await ready()
            number = await anext(signals)
            _log.info("stopping", signal=signal.Signals(number).name, grace=grace)
            last_resort.begin(grace + LAST_RESORT_SECONDS, served)
            nursery.start_soon(_end_at_once_on_the_second, signals, served)
            clean = await end_in_order(served, server, grace)
            nursery.cancel_scope.cancel()
    _log.info("stopped", clean=clean)
    return clean


async def end_in_order(served: Served, server: HttpServer, grace: float) -> bool:
    """The ordered end; True when nothing had to be cut off."""
    server.stop()
    drained = await served.drain(grace * STREAMS_SHARE)
    ended = await server.wait_ended()
    served.stop()
    await served.wait_ended()
    return drained and ended


async def _end_at_once_on_the_second(signals: AsyncIterator[int], served: Served) -> None:
    number = await anext(signals)
    _log.warning("ended_at_once", signal=signal.Signals(number).name)
    _end_at_once(served, 128 + number)


def _end_at_once(served: Served, code: int) -> None:
    try:
        served.kill()
    finally:
        os._exit(code)
