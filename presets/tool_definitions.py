"""Tool definitions of a resolution: tool ids become MCP tools through their adapters. Owns their making and reuse.

A definition is the same object for as long as nothing about its tool has changed, so a later comparison costs an
identity test and no client hears of a change that is none.
Source: agent-presets, "Tool Adapters" and "PresetManager" (`get-tool-defs`).
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.errors import ConflictError
from presets.adapters import ToolAdapter, ToolAdapterRegistry
from presets.annotations import annotations_of
from presets.app import App
from presets.confirmation import asking_first
from presets.interactions import interactive
from presets.resolution import ActiveTool, Resolution
from presets.tool_labels import ToolLabels
from protocol.tool import ToolDefinition

MANAGED_OWNER = "agent-presets"
"""The owner of every tool that comes from a preset."""


class UnknownAdapterError(ConflictError):
    """Raised when an active preset lists a tool id that no adapter has. The text names the preset and the id."""


class DuplicateToolNameError(ConflictError):
    """Raised when two offered tools have the same MCP name. The text names the name and both sources."""


@dataclass(frozen=True, slots=True)
class _Made:
    adapter: ToolAdapter
    labels: ToolLabels
    app: App
    definition: ToolDefinition


class DefinitionCache:
    """The definitions made so far, by tool id; at most one per id. Owned by whoever calls `tool_definitions`.

    With `ask_before_destroying` the tools that may destroy something ask first, where a client can be asked.
    """

    def __init__(self, *, ask_before_destroying: bool = True) -> None:
        self._asks = ask_before_destroying
        self._made: dict[str, _Made] = {}

    def definition(self, adapter: ToolAdapter, labels: ToolLabels, app: App) -> ToolDefinition:
        """The definition of that adapter with those labels for that app; made when there is none for exactly these."""
        made = self._made.get(adapter.id)
        if made is None or made.adapter is not adapter or made.labels != labels or made.app is not app:
            made = _Made(adapter, labels, app, _define(adapter, labels, app, asks=self._asks))
            self._made[adapter.id] = made
        return made.definition

    def keep_only(self, adapters: ToolAdapterRegistry) -> None:
        """Forget what belongs to adapters that are gone."""
        self._made = {tool_id: made for tool_id, made in self._made.items() if adapters.get(tool_id) is made.adapter}

    def __len__(self) -> int:
        return len(self._made)


def tool_definitions(
    resolution: Resolution, adapters: ToolAdapterRegistry, app: App, cache: DefinitionCache | None = None
) -> tuple[ToolDefinition, ...]:
    """The MCP tools of this resolution, in its order, owned by `MANAGED_OWNER` with the tool id as source.

    Their labels say which preset offers them, in what group and at what risk (`ToolLabels`).

    Raises `UnknownAdapterError` and `DuplicateToolNameError`. Without a cache every definition is new.
    """
    cache = DefinitionCache() if cache is None else cache
    groups = {preset.name: preset.group for preset in resolution.active_presets}
    by_name: dict[str, ToolDefinition] = {}
    for tool in resolution.tools:
        labels = ToolLabels(tool.preset, groups.get(tool.preset), tool.risk)
        definition = cache.definition(_adapter(adapters, tool), labels, app)
        other = by_name.setdefault(definition.name, definition)
        if other is not definition:
            raise DuplicateToolNameError(
                f"tools {other.source!r} and {definition.source!r} would both be offered as {definition.name!r}; "
                f"turn the preset of one of them off (the second is in {tool.preset!r})"
            )
    if len(cache) > len(adapters):
        cache.keep_only(adapters)
    return tuple(by_name.values())


def _adapter(adapters: ToolAdapterRegistry, tool: ActiveTool) -> ToolAdapter:
    adapter = adapters.get(tool.tool_id)
    if adapter is None:
        raise UnknownAdapterError(
            f"preset {tool.preset!r} lists tool {tool.tool_id!r}, which has no adapter; "
            f"register the adapter before the preset"
        )
    return adapter


def _define(adapter: ToolAdapter, labels: ToolLabels, app: App, *, asks: bool) -> ToolDefinition:
    annotations, body = annotations_of(adapter, labels.risk), adapter.make_run(app)
    if asks and annotations.destructive_hint:
        body = asking_first(adapter.mcp_name, adapter.title, labels.risk, body)
    return ToolDefinition(
        name=adapter.mcp_name,
        title=adapter.title,
        description=adapter.description,
        input_schema=adapter.input_schema,
        output_schema=adapter.output_schema,
        run=interactive(body),
        annotations=annotations,
        owner=MANAGED_OWNER,
        source=adapter.id,
        labels=labels.to_mapping(),
        task_support=adapter.task_support,
        icons=adapter.icons,
    )
