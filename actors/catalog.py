"""The catalog actor: sole owner of the registries of tools, resources and prompts, their revisions and their owners.

Every change is one batch, whole or not at all, whichever kinds it is about. Published: the three lists, frozen; whoever
lists or calls reads those values, so what is listed and what may be called are decided on the same snapshot.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.published import Published
from protocol.owned_table import RegistrationError
from protocol.prompt import PromptDefinition
from protocol.prompt_list import PromptList, PromptRegistry
from protocol.resource import ResourceDefinition, ResourceTemplate
from protocol.resource_list import ResourceList, ResourceRegistry
from protocol.tool import ToolDefinition
from protocol.tool_list import ToolList
from protocol.tool_registry import OwnershipError, ToolRegistry, ToolRegistryStatus


@dataclass(frozen=True, slots=True)
class ItemChanges:
    """What becomes of the resources and prompts of one owner: those that go by their keys, then those that come."""

    register_resources: tuple[ResourceDefinition | ResourceTemplate, ...] = ()
    unregister_resources: tuple[str, ...] = ()
    register_prompts: tuple[PromptDefinition, ...] = ()
    unregister_prompts: tuple[str, ...] = ()


NO_ITEMS = ItemChanges()
"""Only tools change."""


@dataclass(frozen=True, slots=True)
class ApplyBatch(Message[int]):
    """Register and unregister what one owner has, at once. The reply is the revision of the tool list after it.

    Raises `ToolRegistryError` (an invalid tool, or a name that belongs to somebody else), and `RegistrationError` for
    resources and prompts, with nothing changed.
    """

    owner: str
    register: tuple[ToolDefinition, ...] = ()
    unregister: tuple[str, ...] = ()
    items: ItemChanges = NO_ITEMS


@dataclass(slots=True)
class Registries:
    """What the catalog holds. Each registry is whole or not at all by itself; the actor sees to it for all three."""

    tools: ToolRegistry
    resources: ResourceRegistry = field(default_factory=ResourceRegistry)
    prompts: PromptRegistry = field(default_factory=PromptRegistry)


class CatalogActor(Actor[Registries]):
    """Owns the registries. Asks nobody."""

    name: ClassVar[str] = "catalog"
    rank: ClassVar[int] = ranks.CATALOG
    domain_errors: ClassVar[tuple[type[Exception], ...]] = (*Actor.domain_errors, RegistrationError)

    def __init__(self, registry: ToolRegistry, clock: Callable[[], float] = time.time) -> None:
        super().__init__(Registries(registry))
        self._clock = clock
        self.tools: Published[ToolList] = Published(registry.snapshot())
        self.status: Published[ToolRegistryStatus] = Published(registry.status())
        self.resources: Published[ResourceList] = Published(self.state.resources.snapshot())
        self.prompts: Published[PromptList] = Published(self.state.prompts.snapshot())

    @handles(ApplyBatch)
    async def _apply(self, message: ApplyBatch) -> int:
        owner, items = message.owner, message.items
        for definition in message.register:
            if definition.owner != owner:
                raise OwnershipError(definition.name, definition.owner, owner, "register")
        for item in (*items.register_resources, *items.register_prompts):
            if item.owner != owner:
                raise RegistrationError(f"{item.key!r} belongs to {item.owner!r}; {owner!r} must not register it")
        resources, prompts = self._tried(owner, items)
        tools = self.state.tools.apply(
            removals=[(name, owner) for name in message.unregister],
            additions=message.register,
            now=self._clock(),
        )
        # Nothing can be refused from here on: it was tried, or is done.
        if resources:
            shown = self.state.resources.apply(
                removals=_owned(items.unregister_resources, owner), additions=items.register_resources
            )
            self.resources.publish(shown)
        if prompts:
            spoken = self.state.prompts.apply(
                removals=_owned(items.unregister_prompts, owner), additions=items.register_prompts
            )
            self.prompts.publish(spoken)
        if tools is not self.tools.value:
            self.tools.publish(tools)
            self.status.publish(self.state.tools.status())
        return tools.revision

    def _tried(self, owner: str, items: ItemChanges) -> tuple[bool, bool]:
        """Whether resources and prompts will change. Raises what the registries would, before anything is done.

        It is tried on registries that nobody sees, since a registry that has changed cannot be put back.
        """
        resources = bool(items.register_resources or items.unregister_resources)
        prompts = bool(items.register_prompts or items.unregister_prompts)
        if resources:
            listed, trial = self.resources.value, ResourceRegistry()
            trial.apply(additions=(*listed.resources.by_key.values(), *listed.templates.by_key.values()))
            trial.apply(removals=_owned(items.unregister_resources, owner), additions=items.register_resources)
        if prompts:
            rehearsal = PromptRegistry()
            rehearsal.apply(additions=tuple(self.prompts.value.prompts.by_key.values()))
            rehearsal.apply(removals=_owned(items.unregister_prompts, owner), additions=items.register_prompts)
        return resources, prompts


def owners_of(tools: ToolList) -> dict[str, str]:
    """Who registered each tool, by name."""
    return {entry.definition.name: entry.definition.owner for entry in tools}


def owners_of_resources(resources: ResourceList) -> dict[str, str]:
    """Who registered each resource and each template, by its key."""
    both = (*resources.resources.by_key.values(), *resources.templates.by_key.values())
    return {definition.key: definition.owner for definition in both}


def owners_of_prompts(prompts: PromptList) -> dict[str, str]:
    """Who registered each prompt, by name."""
    return {name: definition.owner for name, definition in prompts.prompts.by_key.items()}


def _owned(keys: Iterable[str], owner: str) -> list[tuple[str, str]]:
    return [(key, owner) for key in keys]
