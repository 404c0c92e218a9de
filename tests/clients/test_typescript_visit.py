"""The official TypeScript clients visit the engine: the first generation of the SDK, and both modes of the second."""

from __future__ import annotations

import json
import subprocess
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.clients.node_packages import node_for
from tests.clients.visit import visit
from tests.clients.visitor import TOLD_SECONDS, VisitError, Visitor

FOLDER = Path(__file__).parent
CLIENTS = FOLDER / "node_modules" / "@modelcontextprotocol"

ANSWER_SECONDS = 20.0
"""The most that one step may take. Nothing takes a second but the start of Node."""

RECEIVE_BYTES = 64 * 1024

pytestmark = [pytest.mark.live, pytest.mark.slow]


@pytest.fixture(scope="module")
def node_path() -> str:
    """The Node that runs the clients."""
    return node_for("the TypeScript clients", [CLIENTS / name / "package.json" for name in ("client", "sdk")])


class TypescriptVisitor:
    """The visitor: a Node process that does one thing after the other."""

    def __init__(self, process: trio.Process) -> None:
        self._process = process
        self._read = b""

    async def version(self) -> str:
        return await self._ask("version")

    async def tools(self) -> list[str]:
        return await self._ask("tools")

    async def call(self, name: str, arguments: dict[str, Any]) -> str:
        return await self._ask("call", name, arguments)

    async def begin(self, name: str, arguments: dict[str, Any]) -> None:
        await self._ask("begin", name, arguments)

    async def cancel(self) -> None:
        await self._ask("cancel")

    async def prompts(self) -> list[str]:
        return await self._ask("prompts")

    async def prompt(self, name: str) -> str:
        return await self._ask("prompt", name)

    async def read(self, uri: str) -> str:
        return await self._ask("read", uri)

    async def watch(self, uri: str) -> None:
        await self._ask("watch", uri)

    async def told(self, what: str) -> None:
        await self._ask("told", what, TOLD_SECONDS)

    async def _ask(self, *what: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with trio.fail_after(ANSWER_SECONDS):
            await self._process.stdin.send_all(json.dumps(what).encode() + b"\n")
            while b"\n" not in self._read:
                data = await self._process.stdout.receive_some(RECEIVE_BYTES)
                if not data:
                    raise RuntimeError(f"the visitor ended at {what}; its errors are in the test's output")
                self._read += data
        line, _, self._read = self._read.partition(b"\n")
        answer = json.loads(line)
        if "error" in answer:
            raise VisitError(answer["error"])
        return answer["said"]


@asynccontextmanager
async def arriving(url: str, *, node_path: str, mode: str) -> AsyncGenerator[Visitor]:
    """A client in a process of its own, which ends when its input does."""
    process = await trio.lowlevel.open_process(
        [node_path, str(FOLDER / "visitor.mjs"), url, mode], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        yield TypescriptVisitor(process)
        assert process.stdin is not None
        await process.stdin.aclose()
        with trio.fail_after(ANSWER_SECONDS):
            assert await process.wait() == 0
    finally:
        if process.returncode is None:
            process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    await pipe.aclose()


@pytest.mark.parametrize("mode", ["v1", "legacy"])
async def test_a_client_with_sessions_sees_all_there_is_and_begins_anew_after_a_restart(
    mode: str, node_path: str, tmp_path: Path
) -> None:
    await visit(tmp_path, partial(arriving, node_path=node_path, mode=mode), "2025-11-25", sessions=True)


@pytest.mark.parametrize("mode", ["auto", "2026-07-28"])
async def test_a_client_without_sessions_sees_all_there_is_and_goes_on_after_a_restart(
    mode: str, node_path: str, tmp_path: Path
) -> None:
    await visit(tmp_path, partial(arriving, node_path=node_path, mode=mode), "2026-07-28", sessions=False)
