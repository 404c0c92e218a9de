"""SVG to PNG in child processes. Owns these processes, how many there are, and how long one picture may take.

A picture never holds up the engine: the thread that asks waits, and every other goes on. Never composes SVG.
"""

from __future__ import annotations

import atexit
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from engine.errors import ConflictError, EngineError
from engine.rasteriser_worker import ANSWER_HEAD, PAINTED, REQUEST_HEAD

MAX_PROCESSES = 2
"""Pictures painted at the same time. One heavy picture leaves room for others, and a small machine can do its work."""

RENDER_LIMIT_SECONDS = 20.0
"""Longest time for one picture. Ordinary ones take milliseconds, and clients give up on a call after about a minute."""

QUEUE_LIMIT_SECONDS = 30.0
"""Longest wait until a process is free. With the picture's own time it is still below what clients wait."""

_ALARM_GRACE_SECONDS = 2
"""By how much the alarm of the process itself comes later than our own limit."""

_WORKER_FILE = Path(__file__).with_name("rasteriser_worker.py")


@dataclass(frozen=True, slots=True, kw_only=True)
class SvgFonts:
    """What text is shown in: the fonts of these files, `family` where the text names none, those of the machine too."""

    files: tuple[str, ...]
    family: str
    system: bool


class Rasteriser:
    """Paints pictures in at most `MAX_PROCESSES` processes, which start when needed and stay. For any thread."""

    def __init__(self, *, limit_seconds: float = RENDER_LIMIT_SECONDS) -> None:
        self._limit_seconds = limit_seconds
        # By file and without the current folder (-P): another `engine` may lie where the user works.
        self._command = (sys.executable, "-P", str(_WORKER_FILE), str(int(limit_seconds) + _ALARM_GRACE_SECONDS))
        self._places = threading.BoundedSemaphore(MAX_PROCESSES)
        self._lock = threading.Lock()
        self._idle: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._closed = False

    def render(self, svg: str, fonts: SvgFonts) -> bytes:
        """The PNG of an SVG document. Waits for it, as long as the limits of this module say.

        Raises `ConflictError` where that is not enough, `EngineError` when the process was lost or cannot be started,
        and `ValueError` for what is no SVG.
        """
        options = {"font_files": fonts.files, "font_family": fonts.family, "system_fonts": fonts.system}
        request = _request(options, svg)
        if not self._places.acquire(timeout=QUEUE_LIMIT_SECONDS):
            raise ConflictError(
                f"{MAX_PROCESSES} other pictures are being painted and took longer than {QUEUE_LIMIT_SECONDS:g} "
                "seconds; ask again later, or for smaller pictures."
            )
        try:
            return self._painted(request)
        finally:
            self._places.release()

    def process_ids(self) -> tuple[int, ...]:
        """The processes there are now."""
        with self._lock:
            return tuple(worker.process_id for worker in (*self._idle, *self._busy))

    def close(self) -> None:
        """End all processes and wait until they are gone. Whoever waits for a picture gets an `EngineError`."""
        with self._lock:
            self._closed = True
            idle, busy = tuple(self._idle), tuple(self._busy)
            self._idle.clear()
        for worker in busy:
            worker.kill()  # its connection is closed by the thread that reads from it
        for worker in idle:
            worker.end()

    def _painted(self, request: Sequence[bytes]) -> bytes:
        worker = self._taken()
        kept = False
        try:
            outcome, data = worker.answer(request, self._limit_seconds)
            kept = True
        except TimeoutError:
            raise self._too_slow() from None
        except (EOFError, OSError):
            code = worker.kill()
            if self._closed:
                raise _closed() from None
            raise self._too_slow() if code == -signal.SIGALRM else _lost(code) from None
        finally:
            self._give_back(worker, kept=kept)
        if outcome != PAINTED:
            raise ValueError(data.decode())
        return data

    def _taken(self) -> _Worker:
        with self._lock:
            if self._closed:
                raise _closed()
            worker = None
            while worker is None and self._idle:
                worker = self._idle.pop()
                if not worker.lives():
                    worker.end()
                    worker = None
            if worker is None:
                try:
                    worker = _Worker(self._command)
                except OSError as error:
                    raise EngineError(f"The program that paints pictures could not be started: {error}.") from error
            self._busy.add(worker)
            return worker

    def _give_back(self, worker: _Worker, *, kept: bool) -> None:
        with self._lock:
            self._busy.discard(worker)
            if kept and not self._closed:
                self._idle.append(worker)
                return
        worker.end()

    def _too_slow(self) -> ConflictError:
        return ConflictError(
            f"Painting the picture took longer than {self._limit_seconds:g} seconds and was ended. Ask for a smaller "
            "width and height, or for a box around a part of it; or delete some of what has very many points."
        )


@cache
def shared_rasteriser() -> Rasteriser:
    """The one of this process, made at the first call and closed when the interpreter exits."""
    made = Rasteriser()
    atexit.register(made.close)
    return made


class _Worker:
    """One process and the connection to it. One thread at a time uses it; only `kill` may come from another."""

    def __init__(self, command: Sequence[str]) -> None:
        self._connection, theirs = socket.socketpair()
        try:
            with theirs:
                self._process = subprocess.Popen(  # noqa: S603 - our own program, by our own interpreter
                    command,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
        except BaseException:
            self._connection.close()
            raise

    @property
    def process_id(self) -> int:
        return self._process.pid

    def lives(self) -> bool:
        return self._process.poll() is None

    def answer(self, request: Sequence[bytes], limit_seconds: float) -> tuple[int, bytes]:
        """Raises `TimeoutError` at the limit, `EOFError` or `OSError` when the process is lost."""
        deadline = time.monotonic() + limit_seconds
        for part in request:
            self._connection.settimeout(_left_until(deadline))
            self._connection.sendall(part)
        outcome, size = ANSWER_HEAD.unpack(self._received(ANSWER_HEAD.size, deadline))
        return outcome, self._received(size, deadline)

    def kill(self) -> int:
        self._process.kill()
        return self._process.wait()

    def end(self) -> None:
        self.kill()
        self._connection.close()

    def _received(self, size: int, deadline: float) -> bytes:
        data = bytearray(size)
        view, filled = memoryview(data), 0
        while filled < size:
            self._connection.settimeout(_left_until(deadline))
            count = self._connection.recv_into(view[filled:])
            if not count:
                raise EOFError
            filled += count
        return bytes(data)


def _request(options: Mapping[str, object], svg: str) -> tuple[bytes, ...]:
    described, document = json.dumps(options).encode(), svg.encode()
    return REQUEST_HEAD.pack(len(described), len(document)), described, document


def _left_until(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _lost(code: int) -> EngineError:
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return EngineError(
        f"The program that paints pictures ended before the picture was done ({how}). Ask again; where that does not "
        "help, ask for a smaller picture, since it may have needed too much memory."
    )


def _closed() -> EngineError:
    return EngineError("The engine is ending, and no picture is painted any more.")
