"""The sync plan: what must change in the MCP registry so that it shows the wanted tools. Owns the rule of ownership.

A plan is made whole before anything is changed, and is then carried out as one batch by the actor that owns the sync.
Source: agent-presets, "MCP Sync"; findings on the existing engine, section 4.1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from engine.errors import ConflictError
from presets.tool_definitions import MANAGED_OWNER, DuplicateToolNameError
from protocol.tool import ToolDefinition


class SyncOwnershipError(ConflictError):
    """Raised when a wanted tool's name belongs to somebody else. The text names tool and owner. Nothing has changed."""


class ManagedTools:
    """The tools that one sync has registered, by MCP name. Immutable; only these may it replace or take away."""

    __slots__ = ("_by_name",)

    def __init__(self, definitions: Sequence[ToolDefinition] = ()) -> None:
        self._by_name = MappingProxyType({definition.name: definition for definition in definitions})

    @property
    def by_name(self) -> Mapping[str, ToolDefinition]:
        """Name → definition, read-only."""
        return self._by_name

    @property
    def sources(self) -> Mapping[str, str]:
        """Name → source tool id."""
        return {name: definition.source for name, definition in self._by_name.items()}

    @property
    def names(self) -> tuple[str, ...]:
        """The names, sorted."""
        return tuple(sorted(self._by_name))

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"ManagedTools({list(self.names)!r})"


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """One batch of changes of the MCP registry, and what is managed once it is done.

    `register` holds new tools and those that replace a managed one of the same name. `visible` says whether a client
    that lists the tools would see any difference; a new body behind the same form is none.
    """

    register: tuple[ToolDefinition, ...]
    unregister: tuple[str, ...]
    managed: ManagedTools
    visible: bool

    @property
    def empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.register and not self.unregister


def plan_sync(
    managed: ManagedTools,
    wanted: Sequence[ToolDefinition],
    owners: Mapping[str, str],
    owner: str = MANAGED_OWNER,
) -> SyncPlan:
    """How to come from what is managed to what is wanted.

    `owners` is the owner of every name in the MCP registry, one's own included or not. A name that another owner has
    taken over is forgotten, not unregistered. Raises `SyncOwnershipError` and `DuplicateToolNameError`.
    """
    before = managed.by_name
    after = _by_name(wanted)
    for name in after:
        holder = owners.get(name)
        if holder is not None and (holder != owner or name not in before):
            raise SyncOwnershipError(
                f"tool {name!r} of {owner!r} cannot be registered: {holder!r} has registered a tool of that name; "
                f"let {holder!r} unregister it, or turn the preset off that offers {after[name].source!r}"
            )
    register = tuple(new for name, new in after.items() if not _same(before.get(name), new))
    unregister = tuple(name for name in managed.names if name not in after and owners.get(name, owner) == owner)
    visible = bool(unregister) or any(_changes_form(before.get(new.name), new) for new in register)
    kept = tuple(before[name] if _same(before.get(name), new) else new for name, new in after.items())
    return SyncPlan(register, unregister, ManagedTools(kept), visible)


def _by_name(wanted: Sequence[ToolDefinition]) -> dict[str, ToolDefinition]:
    after: dict[str, ToolDefinition] = {}
    for definition in wanted:
        other = after.setdefault(definition.name, definition)
        if other is not definition:
            raise DuplicateToolNameError(
                f"tools {other.source!r} and {definition.source!r} would both be offered as {definition.name!r}"
            )
    return after


def _same(old: ToolDefinition | None, new: ToolDefinition) -> bool:
    return old is new or old == new


def _changes_form(old: ToolDefinition | None, new: ToolDefinition) -> bool:
    return old is None or _form(old) != _form(new)


def _form(tool: ToolDefinition) -> tuple[object, ...]:
    return (tool.name, tool.title, tool.description, tool.input_schema, tool.output_schema, tool.annotations)
