"""What the tests of the actors stand on: a store in memory with a hook, a clock that is set, an engine that runs."""

from __future__ import annotations

import math
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import trio

from actors.actor import Actor
from actors.agents import AgentOptions
from actors.resolution import CapabilityEdit
from actors.space import Space, SpaceOptions
from engine.engine import Engine
from engine.errors import NotFoundError
from engine.stored import Commit, DeletedContent, DeletedWorld, StoredState, StoredWorld, fresh_state
from protocol.decision import CallTool
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.prepared_call import PreparedCall
from protocol.tool import JsonObject, ToolCall, ToolDefinition, ToolOutcome, ToolRun
from protocol.tool_list import ToolList

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

LIMIT_SECONDS = 5.0
"""How long a test may wait for the engine, seconds of its clock."""

VERSION = "2025-11-25"


class MemoryStore:
    """A store in memory. `before_write` runs in the thread of the store, before a commit becomes durable."""

    def __init__(self) -> None:
        self.commits: list[Commit] = []
        self.close_count = 0
        self.before_write: Callable[[Commit], None] = lambda _: None

    def write(self, commit: Commit) -> None:
        assert not self.close_count, "a commit came after the store was closed"
        self.before_write(commit)
        self.commits.append(commit)

    def deleted_worlds(self, now: datetime) -> tuple[DeletedWorld, ...]:
        return ()

    def read_deleted(self, world_id: str, now: datetime) -> DeletedContent:
        raise NotFoundError(f"No deleted world has the id {world_id!r}.")

    def mend_deleted(self, world_id: str, now: datetime) -> tuple[StoredWorld, tuple[str, ...]]:
        raise NotFoundError(f"No deleted world has the id {world_id!r}.")

    def close(self) -> None:
        self.close_count += 1


class SetClock:
    """A clock that shows what it was set to, epoch seconds."""

    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def two_worlds() -> StoredState:
    """`world-1` is active, `world-2` is empty."""
    fresh = fresh_state(NOW)
    garden = StoredWorld(id="world-2", name="garden", created_at=NOW)
    return replace(fresh, worlds=(*fresh.worlds, garden), next_world_number=3)


def engine_of(stored: StoredState | None = None) -> Engine:
    """An engine whose clock stands still."""
    return Engine(two_worlds() if stored is None else stored, clock=lambda: NOW)


def space_of(workspace: Path, store: MemoryStore | None = None, limits: Limits = DEFAULT_LIMITS) -> Space:
    """An engine in memory that has not started yet. Looks at no folders: a virtual clock waits for no thread."""
    agents = AgentOptions(look_seconds=math.inf)
    options = SpaceOptions(workspace=workspace, limits=limits, agents=agents)
    return Space(engine_of(), MemoryStore() if store is None else store, options)


@asynccontextmanager
async def running(space: Space, *edits: CapabilityEdit) -> AsyncGenerator[Space]:
    """Run the engine with these capabilities for the body of the block; then it ends in order."""
    with trio.fail_after(LIMIT_SECONDS):
        async with trio.open_nursery() as nursery:
            await nursery.start(space.run, edits)
            yield space
            space.stop()


@asynccontextmanager
async def running_actors(*actors: Actor[Any]) -> AsyncGenerator[trio.Nursery]:
    """Run these actors, the lowest first, for the body of the block. The nursery is there for tasks of the test."""
    with trio.fail_after(LIMIT_SECONDS):
        async with trio.open_nursery() as nursery:
            for actor in actors:
                await nursery.start(actor.run)
            yield nursery
            for actor in reversed(actors):
                actor.close()
                await actor.wait_finished()
            nursery.cancel_scope.cancel()


def tool(
    name: str = "space_hello", owner: str = "tests", *, source: str = "a.tool", run: ToolRun | None = None
) -> ToolDefinition:
    """A tool without arguments. Its body is `run`, or answers with the source."""

    async def answer(arguments: JsonObject, call: ToolCall) -> ToolOutcome:
        return ToolOutcome.text(source)

    return ToolDefinition(
        name=name,
        description="Says hello.",
        input_schema={"type": "object"},
        run=answer if run is None else run,
        owner=owner,
        source=source,
    )


def call_of(
    tools: ToolList, session_id: str, name: str = "space_hello", *, request_id: int = 1, token: int | None = None
) -> CallTool:
    """The decision to call a tool of this list without arguments."""
    entry = tools.get(name)
    assert entry is not None, name
    return CallTool(request_id, session_id, VERSION, PreparedCall(entry, {}), token)


def text_of(outcome: ToolOutcome | None) -> str:
    """The text of an outcome."""
    assert outcome is not None, "the call was cancelled"
    return "".join(getattr(block, "text", "") for block in outcome.content)
