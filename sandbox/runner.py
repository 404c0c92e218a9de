"""One runner: a process that runs programs behind walls. Owns the process and its pipes, from the start to the reaping.

Says to one receiver what the process sends, and what has become of it. Never judges what a frame asks for.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import trio

from sandbox.frames import Frame, FrameError, FrameReader, OutputLimitError, Ready, Walls, parse_frame

DIAGNOSTICS_LIMIT_BYTES = 8_192
"""Kept of stderr, from its end: V8 says there what it died of."""

READ_BYTES = 65_536
"""As much as a pipe holds."""

LARGE_FRAME_BYTES = 65_536
"""From here on a frame is read in a thread: it takes a millisecond or more. A thread costs a tenth of one."""

UNSENT_LIMIT_BYTES = 8 * 1024**2
"""What may wait for a runner that does not read. Beyond it whoever answers calls waits too."""

_PING = b'{"t":"ping"}\n'

_SANDBOX = Path(__file__).parent
_HARNESS = _SANDBOX / "runner.js"
_LAUNCHER = _SANDBOX / "launcher.py"
_RANDOMNESS = "/dev/urandom"
"""V8's seed; where it cannot be read, V8 makes do with the time."""

_FLAGS = (
    *("run", "--quiet", "--no-prompt", "--no-config", "--no-lock", "--no-check"),
    # The main module's own imports are under no permission, and deno imports from some hosts unless told otherwise.
    *("--no-remote", "--no-npm", "--cached-only", "--deny-import"),
    *("--deny-read", "--deny-write", "--deny-net", "--deny-env", "--deny-sys", "--deny-run", "--deny-ffi"),
)

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE") if sys.platform != "win32" else 4096
_LINUX = sys.platform == "linux"


@dataclass(frozen=True, slots=True)
class RunnerPlan:
    """How to start a runner. Runners of equal plans are alike."""

    deno: Path
    libraries: tuple[str, ...]
    heap_bytes: int
    memory_bytes: int

    def command(self) -> Sequence[str]:
        """The launcher, which becomes deno."""
        readable = (*self.libraries, _RANDOMNESS, str(_HARNESS))
        return [
            sys.executable,
            "-I",
            "-S",
            str(_LAUNCHER),
            str(os.getpid()),
            str(self.memory_bytes),
            "\n".join(readable),
            str(self.deno),
            *_FLAGS,
            # Without its compilers V8 has fewer bugs to offer, and does with less memory.
            f"--v8-flags=--jitless,--max-heap-size={self.heap_bytes // 1024**2}",
            str(_HARNESS),
        ]


def runner_environment(environment: Mapping[str, str]) -> Mapping[str, str]:
    """All that a runner sees of the environment: nothing, but for where this Python's own libraries may be."""
    # No folder can be made below /dev/null, so deno keeps nothing: not localStorage and not the cache, which need no
    # permission and would outlive the process.
    kept = {"DENO_DIR": "/dev/null/x", "NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1"}
    if path := environment.get("LD_LIBRARY_PATH"):
        kept["LD_LIBRARY_PATH"] = path
    return kept


@dataclass(frozen=True, slots=True)
class Loss:
    """How a process has ended."""

    code: int
    """Exit code, or the negative number of a signal."""
    diagnostics: str
    """The end of what it wrote to stderr."""

    @property
    def aborted(self) -> bool:
        """Whether it gave up by itself, as V8, Rust and C++ do where memory cannot be had. Some say so, some do not."""
        return -self.code in (signal.SIGABRT, signal.SIGTRAP, signal.SIGILL)

    @property
    def how(self) -> str:
        """In words."""
        return f"signal {-self.code}" if self.code < 0 else f"exit code {self.code}"


class Receiver(Protocol):
    """Who hears of a runner. Called from the task that reads; must not raise."""

    def received(self, frame: Frame) -> None: ...
    def broken(self, error: FrameError | OutputLimitError) -> None: ...
    def lost(self, loss: Loss) -> None: ...
    def closing(self) -> None: ...


class Runner:
    """A process and its pipes. Whoever makes one has to run `serve`, which ends it and leaves nothing behind.

    Made in the thread that runs trio, and not by another one for it: the kernel ends the process together with the
    thread that made it, which is how none outlives an engine that is killed. Raises `OSError` where it cannot start.
    """

    def __init__(self, plan: RunnerPlan, environment: Mapping[str, str]) -> None:
        self.plan = plan
        self.walls: tuple[str, ...] = ()
        self.loss: Loss | None = None
        self.receiver: Receiver | None = None
        self.peak_bytes = 0
        """Most memory that `resident_bytes` has seen."""
        self.failed_to_start = False
        """Whether it has ended by itself before it was ready."""
        self._cpu_seconds = 0.0
        self._booted = trio.Event()
        self._answered = trio.Event()
        self._ready = False
        self._killed = False
        self._unsent = bytearray()
        self._more_to_send = trio.Event()
        self._drained = trio.Event()
        self._diagnostics = bytearray()
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            plan.command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            cwd="/",
            env=dict(environment),
            start_new_session=True,
        )
        assert self._process.stdin is not None  # noqa: S101 - PIPE was asked for
        assert self._process.stdout is not None  # noqa: S101 - PIPE was asked for
        assert self._process.stderr is not None  # noqa: S101 - PIPE was asked for
        self._pipes = (self._process.stdin, self._process.stdout, self._process.stderr)
        self._stdin, self._stdout, self._stderr = (pipe.fileno() for pipe in self._pipes)
        for descriptor in (self._stdin, self._stdout, self._stderr):
            os.set_blocking(descriptor, False)

    @property
    def process_id(self) -> int:
        return self._process.pid

    @property
    def usable(self) -> bool:
        """Whether it has not been killed and has not ended, as far as is known."""
        return not self._killed and self.loss is None

    @property
    def lives(self) -> bool:
        """Whether the process is there at this moment."""
        return self.usable and self._process.poll() is None

    async def booted(self) -> bool:
        """Wait until the harness waits for programs. False when the process ended before, and then `loss` says how."""
        await self._booted.wait()
        return self._ready

    async def answers(self) -> bool:
        """Ask a booted runner for a sign of life, and wait for it. False when the process has ended instead."""
        self._answered = trio.Event()
        self.send(_PING)
        await self._answered.wait()
        return self.usable

    def send(self, frame: bytes) -> None:
        """Give the runner a line, at once as far as the pipe takes it. Does nothing for one that has ended."""
        if not self.usable:
            return
        if not self._unsent:
            try:
                frame = frame[os.write(self._stdin, frame) :]
            except BlockingIOError:
                pass
            except OSError:
                return  # its end is about to be seen by the reader
        if frame:
            if not self._unsent:
                self._drained = trio.Event()
            self._unsent += frame
            self._more_to_send.set()

    async def room(self) -> None:
        """Wait while more than `UNSENT_LIMIT_BYTES` wait to be sent."""
        while len(self._unsent) > UNSENT_LIMIT_BYTES:
            await self._drained.wait()

    def kill(self) -> None:
        """End the process at once. `serve` reaps it."""
        self._killed = True
        if self._process.returncode is None:
            self._process.kill()

    def cpu_seconds(self) -> float:
        """Processor time of its threads so far, as last seen once it has ended; 0 where the system does not tell."""
        if _LINUX and self.loss is None:
            with suppress(OSError):  # it has ended, and is about to be reaped
                # The kernel's name for the clock of a process.
                self._cpu_seconds = time.clock_gettime((~self._process.pid << 3) | 2)
        return self._cpu_seconds

    def resident_bytes(self) -> int:
        """What of its memory is resident; 0 where the system does not tell."""
        if not _LINUX or self.loss is not None:
            return 0
        try:
            with open(f"/proc/{self._process.pid}/statm", "rb") as file:
                resident = int(file.read().split()[1]) * _PAGE_BYTES
        except (OSError, IndexError):
            return 0
        self.peak_bytes = max(self.peak_bytes, resident)
        return resident

    async def serve(self) -> None:
        """Read from the process until it ends; when that has been told, or on cancellation, there is nothing left."""
        ended = False
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._send_rest)
                nursery.start_soon(self._keep_diagnostics)
                await self._read()
                ended = True
                self.failed_to_start = not (self._ready or self._killed)
                nursery.cancel_scope.cancel()
        finally:
            if not ended and self.receiver is not None:
                self.receiver.closing()
            self.kill()
            with trio.CancelScope(shield=True):
                await self._reap()

    async def _reap(self) -> None:
        """Wait for the killed process, close the pipes and tell what has become of it."""
        if self._process.poll() is None:
            await _wait_for_end(self._process)
        code = self._process.wait()
        self._take_diagnostics()
        for pipe in self._pipes:
            pipe.close()
        self.loss = Loss(code, self._diagnostics.decode("utf-8", "replace"))
        self._unsent.clear()
        self._drained.set()
        self._booted.set()
        self._answered.set()
        if self.receiver is not None:
            self.receiver.lost(self.loss)

    async def _read(self) -> None:
        reader = FrameReader()
        try:
            while data := await _received(self._stdout):
                for line in reader.feed(data):
                    frame = await _parsed(line)
                    if self._killed:
                        return
                    self._take(frame)
        except (FrameError, OutputLimitError) as error:
            self.kill()
            if self.receiver is not None:
                self.receiver.broken(error)

    def _take(self, frame: Frame) -> None:
        if self._ready:
            if isinstance(frame, Ready):
                self._answered.set()
            elif self.receiver is not None:
                self.receiver.received(frame)
        elif isinstance(frame, Walls):
            self.walls = frame.names
        elif isinstance(frame, Ready):
            self._ready = True
            self._booted.set()

    async def _send_rest(self) -> None:
        while True:
            await self._more_to_send.wait()
            self._more_to_send = trio.Event()
            while self._unsent:
                await trio.lowlevel.wait_writable(self._stdin)
                try:
                    sent = os.write(self._stdin, bytes(self._unsent[:READ_BYTES]))
                except BlockingIOError:
                    continue
                except OSError:
                    return
                del self._unsent[:sent]
                if len(self._unsent) <= UNSENT_LIMIT_BYTES:
                    self._drained.set()
                    self._drained = trio.Event()

    async def _keep_diagnostics(self) -> None:
        while data := await _received(self._stderr):
            self._diagnostics += data
            del self._diagnostics[:-DIAGNOSTICS_LIMIT_BYTES]

    def _take_diagnostics(self) -> None:
        try:
            while data := os.read(self._stderr, READ_BYTES):
                self._diagnostics += data
                del self._diagnostics[:-DIAGNOSTICS_LIMIT_BYTES]
        except OSError:
            return


async def _parsed(line: bytes) -> Frame:
    """The frame in a line; beside the event loop where it is so large that others would wait."""
    if len(line) < LARGE_FRAME_BYTES:
        return parse_frame(line)
    return await trio.to_thread.run_sync(parse_frame, line, abandon_on_cancel=True)


async def _wait_for_end(process: subprocess.Popen[bytes]) -> None:
    if sys.platform == "linux":
        try:
            watch = os.pidfd_open(process.pid)
        except OSError:
            pass  # a kernel before 5.3
        else:
            try:
                await trio.lowlevel.wait_readable(watch)
            finally:
                os.close(watch)
            return
    await trio.to_thread.run_sync(process.wait)


async def _received(descriptor: int) -> bytes:
    """What a pipe has; nothing when the other side has closed it."""
    await trio.lowlevel.checkpoint()  # before, since what has been read would be lost with a cancellation
    while True:
        try:
            return os.read(descriptor, READ_BYTES)
        except BlockingIOError:
            await trio.lowlevel.wait_readable(descriptor)
