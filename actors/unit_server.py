"""The parts of a server on which agents from outside develop units, with no engine of the user's behind it.

Two engines in memory, which know nothing of each other: on the bench units are loaded, among all that Space brings
along, so that what is refused there would be refused by the user's engine too; at the counter stand the ten tools, and
nothing that a unit contributes ever gets there. Owns how the two are put together. Nothing of the user's worlds,
stories, agents or providers is read. Source: remote-mcp, "External Unit MCP Server".
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import trio

from actors.agents import AgentOptions
from actors.resolution import CapabilityEdit
from actors.space import Space, SpaceOptions
from actors.unit_workshop import UnitOptions
from engine.engine import Engine
from engine.errors import NotFoundError
from engine.stored import Commit, DeletedContent, DeletedWorld, StoredWorld, fresh_state
from presets.agents.roster import SHIPPED_ROOT
from presets.builtins import outside_units
from protocol.limits import DEFAULT_LIMITS, Limits
from protocol.session import SESSION_TTL_SECONDS

AGENT = "unit-developer"
"""The only agent at the counter."""

AGENTS_ROOT = SHIPPED_ROOT.with_name("outside")
"""Where its folder lies: apart from the agents of an engine, which are none of this server's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitServerOptions:
    """What a unit server can be told. `workspace` is an empty folder, which no tool of its ever looks into.

    `places` says where units lie and where their logs and snapshots are kept.
    """

    places: UnitOptions
    workspace: Path
    limits: Limits = DEFAULT_LIMITS
    session_ttl_seconds: float = SESSION_TTL_SECONDS


class UnitServer:
    """The bench and the counter. `run` starts both; when that has reported, the counter's tools answer."""

    def __init__(self, options: UnitServerOptions) -> None:
        self.bench = _in_memory(_BenchOptions(workspace=options.workspace, places=options.places))
        """Where units are loaded."""
        self.counter = _in_memory(
            SpaceOptions(
                workspace=options.workspace,
                limits=options.limits,
                session_ttl_seconds=options.session_ttl_seconds,
                agents=AgentOptions(shipped_root=AGENTS_ROOT, default=AGENT),
                # Whoever starts this server has agreed to what its tools do.
                ask_before_destroying=False,
            )
        )
        """What clients reach."""

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run until `stop`. An error of the start, or a crash of an actor, ends both and is raised here."""
        tools = CapabilityEdit(add_adapters=outside_units.adapters(self.bench.app), add_presets=outside_units.presets())
        async with trio.open_nursery() as nursery:
            await nursery.start(self.bench.run)
            await nursery.start(self.counter.run, (tools,))
            task_status.started()

    async def drain(self, seconds: float) -> bool:
        """Take no more calls, and let those in flight end, as `Space.drain`."""
        return await self.counter.drain(seconds)

    def stop(self) -> None:
        """Begin the ordered end: `run` returns. Returns at once."""
        self.counter.stop()
        self.bench.stop()

    async def wait_ended(self) -> None:
        """Wait until every actor has ended."""
        await self.counter.wait_ended()
        await self.bench.wait_ended()

    def kill(self) -> None:
        """End the processes that run for it, tests above all, at once."""
        self.bench.app.process_groups.kill()
        self.counter.app.process_groups.kill()


@dataclass(frozen=True, slots=True, kw_only=True)
class _BenchOptions(SpaceOptions):
    """An engine with units and without a data folder."""

    places: UnitOptions

    @property
    def units(self) -> UnitOptions:
        """See `SpaceOptions`."""
        return self.places


class _ForgetfulStore:
    """A store that keeps nothing: what happens in these worlds is over when the server ends."""

    def write(self, commit: Commit) -> None:
        """See `CommitStore`."""

    def deleted_worlds(self, now: datetime) -> tuple[DeletedWorld, ...]:
        """There are none."""
        return ()

    def read_deleted(self, world_id: str, now: datetime) -> DeletedContent:
        """There are none. Raises `NotFoundError`."""
        raise NotFoundError(f"No deleted world has the id {world_id!r}.")

    def mend_deleted(self, world_id: str, now: datetime) -> tuple[StoredWorld, tuple[str, ...]]:
        """There are none. Raises `NotFoundError`."""
        raise NotFoundError(f"No deleted world has the id {world_id!r}.")

    def close(self) -> None:
        """There is nothing to give back."""


def _in_memory(options: SpaceOptions) -> Space:
    def clock() -> datetime:
        return datetime.now(UTC)

    return Space(Engine(fresh_state(clock()), clock=clock), _ForgetfulStore(), options)
