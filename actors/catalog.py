"""The catalog actor: sole owner of the MCP tool registry, its revision and its owners.

Every change is one batch, whole or not at all. Published: the tool list, frozen; whoever lists or calls reads that
value, so what is listed and what may be called are decided on the same snapshot.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.published import Published
from protocol.tool import ToolDefinition
from protocol.tool_list import ToolList
from protocol.tool_registry import OwnershipError, ToolRegistry, ToolRegistryStatus


@dataclass(frozen=True, slots=True)
class ApplyBatch(Message[int]):
    """Register and unregister tools of one owner at once. The reply is the revision of the list after it.

    Raises `ToolRegistryError` (an invalid tool, or a name that belongs to somebody else) with nothing changed.
    """

    owner: str
    register: tuple[ToolDefinition, ...] = ()
    unregister: tuple[str, ...] = ()


class CatalogActor(Actor[ToolRegistry]):
    """Owns the registry, which is whole or not at all by itself. Asks nobody."""

    name: ClassVar[str] = "catalog"
    rank: ClassVar[int] = ranks.CATALOG

    def __init__(self, registry: ToolRegistry, clock: Callable[[], float] = time.time) -> None:
        super().__init__(registry)
        self._clock = clock
        self.tools: Published[ToolList] = Published(registry.snapshot())
        self.status: Published[ToolRegistryStatus] = Published(registry.status())

    @handles(ApplyBatch)
    async def _apply(self, message: ApplyBatch) -> int:
        for definition in message.register:
            if definition.owner != message.owner:
                raise OwnershipError(definition.name, definition.owner, message.owner, "register")
        tools = self.state.apply(
            removals=[(name, message.owner) for name in message.unregister],
            additions=message.register,
            now=self._clock(),
        )
        if tools is not self.tools.value:
            self.tools.publish(tools)
            self.status.publish(self.state.status())
        return tools.revision


def owners_of(tools: ToolList) -> dict[str, str]:
    """Who registered each tool, by name."""
    return {entry.definition.name: entry.definition.owner for entry in tools}
