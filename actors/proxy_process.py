"""An MCP server as a process: started, talked with over its pipes, and ended with all that it has started itself.

Owns the process and its pipes. Reads no more of a message than there may be of one, and passes over what is none.
"""

from __future__ import annotations

import math
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import anyio
import trio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCMessage, jsonrpc_message_adapter
from pydantic import ValidationError

from actors.process import end_group
from actors.process_groups import ProcessGroups
from actors.process_tree import ProcessesBelow
from actors.proxy_depth import within_depth
from actors.proxy_log import ProxyLog
from actors.proxy_target import ProxyServerError

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""Of one message of a server; a picture has some megabytes as text."""

THREAD_BYTES = 256 * 1024
"""Messages from here on are read in a thread: a megabyte takes 10 ms, in which nothing else would run."""

READ_BYTES = 64 * 1024
"""Read at a time; Linux holds as much in a pipe."""

LEAVE_SECONDS = 0.5
"""How long a server may take to end by itself once its input has ended, before it is told to."""

LAST_WORDS_SECONDS = 0.2
"""How long the errors of a server that has ended are still read."""

_JUNK_SHOWN = 200

Incoming = MemoryObjectSendStream[SessionMessage | Exception]
Outgoing = MemoryObjectReceiveStream[SessionMessage]
Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """What is run, where, and all that it finds in its environment."""

    arguments: Sequence[str]
    folder: Path
    environment: Mapping[str, str]


async def run_server_process(
    command: ServerCommand,
    groups: ProcessGroups,
    log: ProxyLog,
    *,
    task_status: trio.TaskStatus[Streams] = trio.TASK_STATUS_IGNORED,
) -> str:
    """Run the server and carry messages between it and the streams, until it ends or closes its output; then say how.

    Whatever happens, cancelling included, nothing of its process group is left. Raises `ProxyServerError` where it
    cannot be started.
    """
    log.forget_tail()
    process = await _start(command)
    incoming, received = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    sent, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    with groups.holding(process.pid):
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(_read_errors, process, log)
                nursery.start_soon(_write, process, outgoing)
                task_status.started((received, sent))
                problem = await _read(process, incoming, log)
                # Whoever waits for an answer hears of the end now.
                incoming.close()
                with trio.move_on_after(LAST_WORDS_SECONDS):
                    await process.wait()
                nursery.cancel_scope.deadline = trio.current_time() + LAST_WORDS_SECONDS
        finally:
            incoming.close()
            outgoing.close()
            with trio.CancelScope(shield=True):
                await _end(process)
    return problem or _how_it_ended(process)


async def _start(command: ServerCommand) -> trio.Process:
    if not command.folder.is_dir():
        raise ProxyServerError(f"cwd {str(command.folder)!r} is no folder")
    try:
        return await trio.lowlevel.open_process(
            list(command.arguments),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=command.folder,
            env=dict(command.environment),
            start_new_session=True,
        )
    except FileNotFoundError:
        raise ProxyServerError(
            f"the command {command.arguments[0]!r} was not found; give its whole path, or install it"
        ) from None
    except (OSError, ValueError) as error:
        raise ProxyServerError(f"the command {command.arguments[0]!r} could not be started: {error}") from error


async def _read(process: trio.Process, incoming: Incoming, log: ProxyLog) -> str | None:
    """Pass on the messages of the server until there are no more. Says what was wrong where that is why."""
    assert process.stdout is not None  # noqa: S101 - PIPE was asked for
    pending = bytearray()
    try:
        while data := await process.stdout.receive_some(READ_BYTES):
            searched = len(pending)
            pending += data
            start = 0
            while (end := pending.find(b"\n", max(start, searched))) >= 0:
                line = bytes(pending[start:end])
                start = end + 1
                message = await _message(line, log)
                if message is not None:
                    await incoming.send(SessionMessage(message))
            del pending[:start]
            if len(pending) > MAX_MESSAGE_BYTES:
                return f"it sent a message of more than {MAX_MESSAGE_BYTES} bytes"
    except (anyio.BrokenResourceError, anyio.ClosedResourceError, trio.BrokenResourceError, trio.ClosedResourceError):
        return None
    return None


async def _message(line: bytes, log: ProxyLog) -> JSONRPCMessage | None:
    if not line.strip():
        return None
    try:
        if len(line) >= THREAD_BYTES:
            notes: list[str] = []
            # The log is the event loop's; a thread tells it afterwards.
            message = await trio.to_thread.run_sync(_parsed, line, notes.append, abandon_on_cancel=True)
            for note in notes:
                log.say(note)
            return message
        return _parsed(line, log.say)
    except ValidationError:
        shown = line[:_JUNK_SHOWN].decode("utf-8", "replace")
        log.printed(f"(among its messages) {shown}{'…' if len(line) > _JUNK_SHOWN else ''}\n")
        return None


def _parsed(line: bytes, say: Callable[[str], object]) -> JSONRPCMessage:
    return jsonrpc_message_adapter.validate_json(within_depth(line, say), by_name=False)


async def _write(process: trio.Process, outgoing: Outgoing) -> None:
    assert process.stdin is not None  # noqa: S101 - PIPE was asked for
    try:
        async for item in outgoing:
            text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
            await process.stdin.send_all(text.encode() + b"\n")
        # The session has ended, and an end of the input is how a server is asked to go.
        await process.stdin.aclose()
    except (trio.BrokenResourceError, trio.ClosedResourceError, anyio.ClosedResourceError):
        return


async def _read_errors(process: trio.Process, log: ProxyLog) -> None:
    assert process.stderr is not None  # noqa: S101 - PIPE was asked for
    try:
        async for data in process.stderr:
            log.printed(bytes(data).decode("utf-8", "replace"))
    except (trio.BrokenResourceError, trio.ClosedResourceError):
        return


async def _end(process: trio.Process) -> None:
    assert process.stdin is not None  # noqa: S101 - PIPE was asked for
    assert process.stdout is not None  # noqa: S101 - PIPE was asked for
    assert process.stderr is not None  # noqa: S101 - PIPE was asked for
    # Before it ends: afterwards nobody knows any more what it has started in sessions of their own.
    started = ProcessesBelow(process.pid)
    try:
        await process.stdin.aclose()
        with trio.move_on_after(LEAVE_SECONDS):
            await process.wait()
        await end_group(process)
    finally:
        started.kill()
    await process.stdout.aclose()
    await process.stderr.aclose()


def _how_it_ended(process: trio.Process) -> str:
    code = process.returncode
    if code is None or math.isnan(code):
        return "it closed its output"
    return f"it ended with signal {-code}" if code < 0 else f"it ended with exit code {code}"
