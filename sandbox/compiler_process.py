"""One trusted deno process: how it is started, read, written and ended. Owns its pipes; knows no protocol.

Its text comes from us, yet what it works on is hostile: it may die, hang or flood at any time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import trio

from sandbox.deno import DenoMissingError, deno_libraries, probe_deno
from sandbox.frames import FrameError, Walls, parse_frame
from sandbox.runner import runner_environment

PROJECT = Path(__file__).parent / "compiler_project"
"""The folder of the compiler's own files: the only one that its processes are told of."""

MAX_HEAP_MEGABYTES = 400
"""Old space of V8 in each process. The checker stands at 110 with four large SDKs."""

MAX_FRAME_BYTES = 8 * 1024 * 1024
"""Of one answer. A program has 64 kB, and messages quote types that the checker itself cuts."""

MEMORY_BYTES = 1_536 * 1024**2
"""Of data in each process, where the system holds to it. deno sets aside 730 MiB with the largest SDKs loaded."""

_CHUNK_BYTES = 64 * 1024
_KILL_SECONDS = 5.0
"""Longest wait for a killed process. The kernel needs milliseconds."""

_LAUNCHER = Path(__file__).parent / "launcher.py"
_READABLE = (
    "/dev/urandom",
    # Where the C library finds the size of the main thread's stack. deno's parser asks for it, and aborts without.
    "/proc/self/maps",
)


@dataclass(frozen=True, slots=True)
class CompilerPlan:
    """With what the processes are started: the binary, and the libraries that it may read to start."""

    deno: Path
    libraries: tuple[str, ...]

    @classmethod
    async def made(cls) -> CompilerPlan:
        """The plan for the deno that is found here. Raises `DenoMissingError`, also where there can be no compiler."""
        if sys.platform == "win32":
            raise DenoMissingError("the compiler needs Linux or macOS")
        deno = await probe_deno()
        return cls(deno.path, tuple(await deno_libraries(deno, _environment())))

    def command(self, arguments: Sequence[str]) -> list[str]:
        """The launcher, which becomes deno. It may read the project's folder and nothing else of anybody's."""
        readable = "\n".join((*self.libraries, *_READABLE, os.fspath(PROJECT)))
        launch = [sys.executable, "-I", "-S", os.fspath(_LAUNCHER), str(os.getpid()), str(MEMORY_BYTES), readable]
        return [*launch, os.fspath(self.deno), *arguments]


def _environment() -> dict[str, str]:
    """The environment of a runner, which holds nothing of ours, and the switches of the compiler."""
    return {
        **runner_environment(os.environ),
        "DENO_NO_PACKAGE_JSON": "1",
        "DENO_V8_FLAGS": f"--max-old-space-size={MAX_HEAP_MEGABYTES}",
    }


class CompilerProcessError(Exception):
    """The process has ended, or has answered what makes no sense. It is of no more use and must be killed."""


class CompilerProcess:
    """A running process with a reader for lines and exact numbers of bytes. Whoever starts it kills it.

    Made in the thread that runs trio: the kernel ends it together with the thread that made it. Raises `OSError` where
    it cannot start.
    """

    def __init__(self, plan: CompilerPlan, arguments: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            plan.command(arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",
            env=_environment(),
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - PIPE was asked for
        assert self._process.stdout is not None  # noqa: S101 - PIPE was asked for
        with self._process.stdin as stdin, self._process.stdout as stdout:
            self._stdin = trio.lowlevel.FdStream(os.dup(stdin.fileno()))
            self._stdout = trio.lowlevel.FdStream(os.dup(stdout.fileno()))
        self._sending = trio.Lock()
        self._unread = bytearray()

    async def walls(self) -> tuple[str, ...]:
        """What the launcher says stands around the process: its first line. Raises `CompilerProcessError`."""
        try:
            frame = parse_frame(await self.line())
        except FrameError as error:
            raise CompilerProcessError(str(error)) from None
        if not isinstance(frame, Walls):
            raise CompilerProcessError("the launcher did not say what it built")
        return frame.names

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self._process.pid

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    def cpu_seconds(self) -> float | None:
        """Processor time of its threads so far; None where the system does not tell, or once it has ended."""
        if sys.platform != "linux":
            return None
        try:
            return time.clock_gettime((~self._process.pid << 3) | 2)  # the kernel's name for the clock of a process
        except OSError:
            return None

    async def send(self, data: bytes) -> None:
        """Write all of it, after what others write. Raises `CompilerProcessError` when the process reads no more."""
        try:
            async with self._sending:
                await self._stdin.send_all(data)
        except trio.BrokenResourceError:
            raise CompilerProcessError("the process has closed its input") from None

    async def line(self) -> bytes:
        """The next line, without its end. Raises `CompilerProcessError` at the end of the output."""
        searched = 0
        while (end := self._unread.find(b"\n", searched)) < 0:
            searched = len(self._unread)
            await self._read_more()
        line = bytes(self._unread[:end])
        del self._unread[: end + 1]
        return line

    async def exactly(self, count: int) -> bytes:
        """That many bytes. Raises `CompilerProcessError` at the end of the output, or when they are too many."""
        if count > MAX_FRAME_BYTES:
            raise CompilerProcessError(f"the process announced {count} bytes")
        while len(self._unread) < count:
            await self._read_more()
        data = bytes(self._unread[:count])
        del self._unread[:count]
        return data

    async def kill(self) -> None:
        """End the process and wait until it is gone. May be called again; a cancelled caller does not stop it."""
        with trio.CancelScope(shield=True), trio.move_on_after(_KILL_SECONDS):
            if self.is_alive:
                self._process.kill()
            await self._stdin.aclose()
            await self._stdout.aclose()
            await trio.to_thread.run_sync(self._process.wait)

    async def _read_more(self) -> None:
        data = await self._stdout.receive_some(_CHUNK_BYTES)
        if not data or len(self._unread) > MAX_FRAME_BYTES:
            raise CompilerProcessError("the process has ended" if not data else "the process floods")
        self._unread += data
