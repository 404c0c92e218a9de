"""The plan for resources and prompts: what must change in a registry so that it shows the wanted ones.

The rule of ownership is that of `presets.sync_plan`: only what is managed is replaced or taken away. One plan for each
kind, all carried out in one batch by the actor that owns the sync.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar

from presets.sync_plan import SyncOwnershipError
from presets.tool_definitions import MANAGED_OWNER


class Managed(Protocol):
    """A definition that a sync registers."""

    @property
    def key(self) -> str:
        """The uri, or the name."""
        ...

    @property
    def source(self) -> str:
        """The id it was made from."""
        ...


ManagedT = TypeVar("ManagedT", bound=Managed)


@dataclass(frozen=True, slots=True)
class ItemPlan(Generic[ManagedT]):
    """One batch of changes of a registry, and what is managed, by key, once it is done."""

    register: tuple[ManagedT, ...]
    unregister: tuple[str, ...]
    managed: Mapping[str, ManagedT]

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.register and not self.unregister


def plan_items(
    kind: str,
    managed: Mapping[str, ManagedT],
    wanted: Sequence[ManagedT],
    owners: Mapping[str, str],
    owner: str = MANAGED_OWNER,
) -> ItemPlan[ManagedT]:
    """How to come from what is managed to what is wanted. `kind` is a noun for texts, `owners` who has which key now.

    A key that another owner has taken over is forgotten, not unregistered. Raises `SyncOwnershipError`.
    """
    after = {definition.key: definition for definition in wanted}
    for key, definition in after.items():
        holder = owners.get(key)
        if holder is not None and (holder != owner or key not in managed):
            raise SyncOwnershipError(
                f"{kind} {key!r} of {owner!r} cannot be registered: {holder!r} has registered one of that name; "
                f"let {holder!r} unregister it, or turn the preset off that offers {definition.source!r}"
            )
    register = tuple(new for key, new in after.items() if managed.get(key) is not new and managed.get(key) != new)
    unregister = tuple(key for key in sorted(managed) if key not in after and owners.get(key, owner) == owner)
    return ItemPlan(register, unregister, MappingProxyType(after))
