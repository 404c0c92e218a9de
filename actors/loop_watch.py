"""Looks whether code of a unit holds up the event loop, in a thread that samples. Owns that thread; ends nothing.

It costs nothing while no code of a unit runs. While some does, the loop is asked for a sign of life a few times a
second; where none comes in time, the stack of its thread says whose code it is that it is in.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import structlog
import trio

HELD_SECONDS = 1.0
"""After so long without a sign of life the loop is held up: every client waits, and sees it."""

ASKED_SECONDS = 0.25
"""How often the loop is asked."""

_log = structlog.stdlib.get_logger("units")


@dataclass(frozen=True, slots=True)
class _Watched:
    unit: str
    log: Callable[[str], None]


class LoopWatch:
    """Watches the loop in which `run` runs. `watching` is held around code of a unit, from the loop alone."""

    def __init__(self, held_seconds: float = HELD_SECONDS, asked_seconds: float = ASKED_SECONDS) -> None:
        self._held_seconds = held_seconds
        self._asked_seconds = asked_seconds
        self._packages: dict[str, _Watched] = {}
        self._uses: dict[str, int] = {}
        self._busy = threading.Event()
        self._stop = False

    @contextmanager
    def watching(self, package: str, unit: str, log: Callable[[str], None]) -> Generator[None]:
        """Watch while code of that package, which is one load of the unit, runs in the block. `log` is the unit's."""
        self._uses[package] = self._uses.get(package, 0) + 1
        self._packages = {**self._packages, package: _Watched(unit, log)}
        self._busy.set()
        try:
            yield
        finally:
            self._uses[package] -= 1
            if not self._uses[package]:
                del self._uses[package]
                self._packages = {name: each for name, each in self._packages.items() if name != package}
            if not self._uses:
                self._busy.clear()

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Watch until cancelled."""
        token, loop = trio.lowlevel.current_trio_token(), threading.get_ident()
        thread = threading.Thread(target=self._sample, args=(token, loop), name="watch of units", daemon=True)
        thread.start()
        task_status.started()
        try:
            await trio.sleep_forever()
        finally:
            self._stop = True
            self._busy.set()

    def _sample(self, token: trio.lowlevel.TrioToken, loop: int) -> None:
        with suppress(trio.RunFinishedError):
            while True:
                self._busy.wait()
                if self._stop:
                    return
                sign = threading.Event()
                asked = time.monotonic()
                token.run_sync_soon(sign.set)
                if not sign.wait(self._held_seconds):
                    self._report(loop, asked, sign)
                time.sleep(self._asked_seconds)

    def _report(self, loop: int, asked: float, sign: threading.Event) -> None:
        frames = sys._current_frames()  # pyright: ignore[reportPrivateUsage] - there is no other way
        found = _found(frames.get(loop), self._packages)
        if found is not None:
            watched, where = found
            watched.log(f"it holds up the engine for more than {self._held_seconds:g} s, at {where}: {_REMEDY}")
            _log.warning("unit_holds_the_loop", unit=watched.unit, at=where, seconds=self._held_seconds)
        while not sign.wait(self._asked_seconds) and not self._stop:
            pass
        if found is not None and not self._stop:
            seconds = round(time.monotonic() - asked, 1)
            found[0].log(f"it held up the engine for {seconds:g} s")
            _log.warning("unit_held_the_loop", unit=found[0].unit, at=found[1], seconds=seconds)


_REMEDY = "await what waits, and run what computes or blocks with trio.to_thread.run_sync"


def _found(frame: FrameType | None, packages: dict[str, _Watched]) -> tuple[_Watched, str] | None:
    """Whose code the innermost frame of a unit is of, and where."""
    while frame is not None:
        watched = packages.get(str(frame.f_globals.get("__name__")).partition(".")[0])
        if watched is not None:
            return watched, f"{Path(frame.f_code.co_filename).name}, line {frame.f_lineno}"
        frame = frame.f_back
    return None
