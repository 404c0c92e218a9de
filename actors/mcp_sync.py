"""The sync actor: sole owner of what it has put into the catalog (tools, resources, prompts), and from which source.

It turns what is wanted into one batch for the catalog, or refuses with nothing changed. It never touches what somebody
else registered. Source: agent-presets, "MCP Sync".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.catalog import (
    NO_ITEMS,
    ApplyBatch,
    CatalogActor,
    ItemChanges,
    owners_of,
    owners_of_prompts,
    owners_of_resources,
)
from engine.errors import ConflictError
from presets.item_plan import plan_items
from presets.prompt_adapters import OfferedPrompt
from presets.resource_adapters import OfferedResource, OfferedTemplate
from presets.sync_plan import ManagedTools, plan_sync
from presets.tool_definitions import MANAGED_OWNER
from protocol.owned_table import RegistrationError
from protocol.tool import ToolDefinition
from protocol.tool_registry import ToolRegistryError


class RefusedToolsError(ConflictError):
    """Raised when the catalog refuses what is wanted (a schema that does not compile, a name that is taken)."""


@dataclass(frozen=True, slots=True)
class SyncStatus:
    """What the sync holds. `started` is False once it has been stopped, until the next `Sync`."""

    started: bool
    owner: str
    managed_names: tuple[str, ...]
    managed_uris: tuple[str, ...] = ()
    managed_prompts: tuple[str, ...] = ()

    @property
    def managed_tool_count(self) -> int:
        """How many tools it has registered."""
        return len(self.managed_names)


@dataclass(frozen=True, slots=True)
class Sync(Message[int]):
    """Let the catalog show exactly these managed tools, resources and prompts. The reply is the revision of the tools.

    Raises `SyncOwnershipError`, `DuplicateToolNameError` and `RefusedToolsError`, with nothing changed.
    """

    wanted: tuple[ToolDefinition, ...]
    resources: tuple[OfferedResource | OfferedTemplate, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()


@dataclass(frozen=True, slots=True)
class StopSync(Message[None]):
    """Take away all that is managed; what others registered stays. Harmless the second time."""


@dataclass(frozen=True, slots=True)
class ReadSyncStatus(Message[SyncStatus]):
    """What is managed now?"""


@dataclass(frozen=True, slots=True)
class SyncState:
    """What the sync has registered."""

    managed: ManagedTools
    started: bool = False
    resources: Mapping[str, OfferedResource | OfferedTemplate] = field(default_factory=lambda: MappingProxyType({}))
    prompts: Mapping[str, OfferedPrompt] = field(default_factory=lambda: MappingProxyType({}))


class McpSyncActor(Actor[SyncState]):
    """Owns what is managed. Asks the catalog."""

    name: ClassVar[str] = "mcp sync"
    rank: ClassVar[int] = ranks.MCP_SYNC

    def __init__(self, catalog: CatalogActor, owner: str = MANAGED_OWNER) -> None:
        super().__init__(SyncState(ManagedTools()))
        self._catalog = catalog
        self._owner = owner

    @handles(Sync)
    async def _sync(self, message: Sync) -> int:
        return await self._show(message, started=True)

    @handles(StopSync)
    async def _stop(self, message: StopSync) -> None:
        await self._show(Sync(()), started=False)

    @handles(ReadSyncStatus)
    async def _read_status(self, message: ReadSyncStatus) -> SyncStatus:
        state = self.state
        return SyncStatus(
            state.started,
            self._owner,
            state.managed.names,
            tuple(sorted(state.resources)),
            tuple(sorted(state.prompts)),
        )

    async def _show(self, wanted: Sync, *, started: bool) -> int:
        state, owner, catalog = self.state, self._owner, self._catalog
        tools = catalog.tools.value
        plan = plan_sync(state.managed, wanted.wanted, owners_of(tools), owner)
        resources = plan_items(
            "resource", state.resources, wanted.resources, owners_of_resources(catalog.resources.value), owner
        )
        prompts = plan_items("prompt", state.prompts, wanted.prompts, owners_of_prompts(catalog.prompts.value), owner)
        revision = tools.revision
        items = (
            NO_ITEMS
            if resources.empty and prompts.empty
            else ItemChanges(resources.register, resources.unregister, prompts.register, prompts.unregister)
        )
        if not plan.empty or items is not NO_ITEMS:
            try:
                revision = await catalog.ask(ApplyBatch(owner, plan.register, plan.unregister, items))
            except ToolRegistryError as error:
                raise RefusedToolsError(f"the tool list cannot be shown: {error}") from error
            except RegistrationError as error:
                raise RefusedToolsError(f"the resources and prompts cannot be shown: {error}") from error
        self.state = SyncState(plan.managed, started, resources.managed, prompts.managed)
        return revision
