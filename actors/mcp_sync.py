"""The sync actor: sole owner of which tools it has put into the catalog, and from which source.

It turns the wanted tools into one batch for the catalog, or refuses with nothing changed. It never touches a tool that
somebody else registered. Source: agent-presets, "MCP Sync".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.catalog import ApplyBatch, CatalogActor, owners_of
from engine.errors import ConflictError
from presets.sync_plan import ManagedTools, plan_sync
from presets.tool_definitions import MANAGED_OWNER
from protocol.tool import ToolDefinition
from protocol.tool_registry import ToolRegistryError


class RefusedToolsError(ConflictError):
    """Raised when the catalog refuses the wanted tools (a schema that does not compile, a name that is taken)."""


@dataclass(frozen=True, slots=True)
class SyncStatus:
    """What the sync holds. `started` is False once it has been stopped, until the next `Sync`."""

    started: bool
    owner: str
    managed_names: tuple[str, ...]

    @property
    def managed_tool_count(self) -> int:
        """How many tools it has registered."""
        return len(self.managed_names)


@dataclass(frozen=True, slots=True)
class Sync(Message[int]):
    """Let the catalog show exactly these managed tools. The reply is the revision of the tool list.

    Raises `SyncOwnershipError`, `DuplicateToolNameError` and `RefusedToolsError`, with nothing changed.
    """

    wanted: tuple[ToolDefinition, ...]


@dataclass(frozen=True, slots=True)
class StopSync(Message[None]):
    """Take every managed tool away; others stay. Harmless the second time."""


@dataclass(frozen=True, slots=True)
class ReadSyncStatus(Message[SyncStatus]):
    """What is managed now?"""


@dataclass(frozen=True, slots=True)
class SyncState:
    """What the sync has registered."""

    managed: ManagedTools
    started: bool = False


class McpSyncActor(Actor[SyncState]):
    """Owns the managed tools. Asks the catalog."""

    name: ClassVar[str] = "mcp sync"
    rank: ClassVar[int] = ranks.MCP_SYNC

    def __init__(self, catalog: CatalogActor, owner: str = MANAGED_OWNER) -> None:
        super().__init__(SyncState(ManagedTools()))
        self._catalog = catalog
        self._owner = owner

    @handles(Sync)
    async def _sync(self, message: Sync) -> int:
        return await self._show(message.wanted, started=True)

    @handles(StopSync)
    async def _stop(self, message: StopSync) -> None:
        await self._show((), started=False)

    @handles(ReadSyncStatus)
    async def _read_status(self, message: ReadSyncStatus) -> SyncStatus:
        return SyncStatus(self.state.started, self._owner, self.state.managed.names)

    async def _show(self, wanted: tuple[ToolDefinition, ...], *, started: bool) -> int:
        tools = self._catalog.tools.value
        plan = plan_sync(self.state.managed, wanted, owners_of(tools), self._owner)
        revision = tools.revision
        if not plan.empty:
            batch = ApplyBatch(self._owner, plan.register, plan.unregister)
            try:
                revision = await self._catalog.ask(batch)
            except ToolRegistryError as error:
                raise RefusedToolsError(f"the tool list cannot be shown: {error}") from error
        self.state = SyncState(plan.managed, started)
        return revision
