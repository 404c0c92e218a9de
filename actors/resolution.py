"""The resolution actor: sole owner of the preset registry, the adapters and the definitions made from them.

It answers what would be active and never remembers what is: context and overrides come with each message. An edit of
the registry is kept or taken back by `Settle`, since only the asker learns whether the new tool list could be shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from actors import ranks
from actors.actor import Actor, Message, handles
from presets.adapter_registry import AdapterRegistry
from presets.adapters import MCP_NAME_PREFIX, ToolAdapter, ToolAdapterRegistry
from presets.agents.mounting import KnownCapabilities
from presets.app import App
from presets.context import ContextSnapshot
from presets.definition import OverrideState, PresetDefinition
from presets.explain import Explanation, explain, known_tools
from presets.item_definitions import ItemCaches, prompt_definitions, resource_definitions
from presets.overrides import Overrides
from presets.prompt_adapters import OfferedPrompt, PromptAdapter, prompt_adapters
from presets.registry import PresetRegistry, Register, RegistryEdit, Unregister
from presets.resolution import Resolution, resolve
from presets.resource_adapters import OfferedResource, OfferedTemplate, ResourceAdapter, resource_adapters
from presets.tool_definitions import DefinitionCache, tool_definitions
from presets.view_model import PresetView, preset_view
from protocol.tool import ToolDefinition


@dataclass(frozen=True, slots=True)
class Resolved:
    """What is active, and the tools, resources and prompts that offers."""

    resolution: Resolution
    definitions: tuple[ToolDefinition, ...]
    resources: tuple[OfferedResource | OfferedTemplate, ...] = ()
    prompts: tuple[OfferedPrompt, ...] = ()


@dataclass(frozen=True, slots=True)
class Resolve(Message[Resolved]):
    """What would be active in this context under these overrides?"""

    context: ContextSnapshot
    overrides: Overrides


@dataclass(frozen=True, slots=True)
class ChangeOverride(Message[Overrides]):
    """These overrides with one changed; the same object when that changes nothing. Refuses unknown presets."""

    overrides: Overrides
    name: str
    state: OverrideState | str


@dataclass(frozen=True, slots=True)
class CapabilityEdit:
    """A change of what exists: first what goes, then what comes, adapters before the presets that need them."""

    remove_presets: tuple[str, ...] = ()
    remove_adapters: tuple[str, ...] = ()
    add_adapters: tuple[ToolAdapter, ...] = ()
    add_presets: tuple[PresetDefinition, ...] = ()
    remove_resource_adapters: tuple[str, ...] = ()
    add_resource_adapters: tuple[ResourceAdapter, ...] = ()
    remove_prompt_adapters: tuple[str, ...] = ()
    add_prompt_adapters: tuple[PromptAdapter, ...] = ()


@dataclass(frozen=True, slots=True)
class Edit(Message[Resolved]):
    """Make the change, whole or not at all, and say what is then active. `Settle` must follow."""

    edit: CapabilityEdit
    context: ContextSnapshot
    overrides: Overrides


@dataclass(frozen=True, slots=True)
class Settle(Message[None]):
    """Keep the last `Edit`, or take it back."""

    keep: bool


@dataclass(frozen=True, slots=True)
class Explain(Message[Explanation]):
    """Why is this tool offered, or not? `owners` are the owners of all tools in the MCP registry, by name."""

    tool: str
    context: ContextSnapshot
    resolution: Resolution
    owners: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ExplainAll(Message[tuple[Explanation, ...]]):
    """Every known tool with its explanation, sorted by name."""

    context: ContextSnapshot
    resolution: Resolution
    owners: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ReadKnown(Message[KnownCapabilities]):
    """What exists, offered or not: the tools by MCP name, the presets and their groups."""


@dataclass(frozen=True, slots=True)
class ReadAdapters(Message[Mapping[str, ToolAdapter]]):
    """The adapters of all tools that exist, offered or not, by MCP name; of those that share one, the first."""


@dataclass(frozen=True, slots=True)
class ViewPresets(Message[PresetView]):
    """Every preset as a row."""

    resolution: Resolution


@dataclass(frozen=True, slots=True)
class _Before:
    """What takes an edit back: the inverse of its changes of presets, and the adapters as they were."""

    presets: tuple[RegistryEdit, ...]
    adapters: ToolAdapterRegistry
    resources: AdapterRegistry[ResourceAdapter]
    prompts: AdapterRegistry[PromptAdapter]


@dataclass(slots=True)
class Capabilities:
    """What exists. `before` takes the last edit back, until it is settled."""

    presets: PresetRegistry = field(default_factory=PresetRegistry)
    adapters: ToolAdapterRegistry = field(default_factory=ToolAdapterRegistry)
    resources: AdapterRegistry[ResourceAdapter] = field(default_factory=resource_adapters)
    prompts: AdapterRegistry[PromptAdapter] = field(default_factory=prompt_adapters)
    made: DefinitionCache = field(default_factory=DefinitionCache)
    made_items: ItemCaches = field(default_factory=ItemCaches.empty)
    before: _Before | None = None


class ResolutionActor(Actor[Capabilities]):
    """Owns what exists. Asks nobody. Names of tools begin with `tool_prefix`; None lets any name be.

    With `ask_before_destroying` tools that may destroy something ask the user first, where the client can.
    """

    name: ClassVar[str] = "resolution"
    rank: ClassVar[int] = ranks.RESOLUTION

    def __init__(
        self, app: App, *, tool_prefix: str | None = MCP_NAME_PREFIX, ask_before_destroying: bool = True
    ) -> None:
        super().__init__(
            Capabilities(
                adapters=ToolAdapterRegistry(tool_prefix),
                made=DefinitionCache(ask_before_destroying=ask_before_destroying),
            )
        )
        self._app = app

    @handles(Resolve)
    async def _resolve(self, message: Resolve) -> Resolved:
        return self._resolved(message.context, message.overrides)

    @handles(ChangeOverride)
    async def _change_override(self, message: ChangeOverride) -> Overrides:
        return message.overrides.with_state(message.name, message.state, self.state.presets)

    @handles(Edit)
    async def _edit(self, message: Edit) -> Resolved:
        self._apply(message.edit)
        try:
            return self._resolved(message.context, message.overrides)
        except BaseException:
            self._take_back()
            raise

    @handles(Settle)
    async def _settle(self, message: Settle) -> None:
        if message.keep:
            self.state.before = None
        else:
            self._take_back()

    @handles(Explain)
    async def _explain(self, message: Explain) -> Explanation:
        return explain(
            message.tool,
            registry=self.state.presets,
            adapters=self.state.adapters,
            context=message.context,
            overrides=message.resolution.overrides,
            resolution=message.resolution,
            owners=message.owners,
        )

    @handles(ExplainAll)
    async def _explain_all(self, message: ExplainAll) -> tuple[Explanation, ...]:
        return known_tools(
            registry=self.state.presets,
            adapters=self.state.adapters,
            context=message.context,
            overrides=message.resolution.overrides,
            resolution=message.resolution,
            owners=message.owners,
        )

    @handles(ReadKnown)
    async def _read_known(self, message: ReadKnown) -> KnownCapabilities:
        presets = self.state.presets.list()
        return KnownCapabilities(
            tools=frozenset(adapter.mcp_name for adapter in self.state.adapters),
            presets=frozenset(preset.name for preset in presets),
            groups=frozenset(preset.group for preset in presets if preset.group is not None),
        )

    @handles(ReadAdapters)
    async def _read_adapters(self, message: ReadAdapters) -> Mapping[str, ToolAdapter]:
        found: dict[str, ToolAdapter] = {}
        for adapter in self.state.adapters:
            found.setdefault(adapter.mcp_name, adapter)
        return MappingProxyType(found)

    @handles(ViewPresets)
    async def _view_presets(self, message: ViewPresets) -> PresetView:
        return preset_view(self.state.presets, message.resolution)

    def _resolved(self, context: ContextSnapshot, overrides: Overrides) -> Resolved:
        state = self.state
        resolution = resolve(state.presets, context, overrides)
        return Resolved(
            resolution,
            tool_definitions(resolution, state.adapters, self._app, state.made),
            resource_definitions(resolution, state.resources, self._app, state.made_items),
            prompt_definitions(resolution, state.prompts, self._app, state.made_items),
        )

    def _apply(self, edit: CapabilityEdit) -> None:
        state = self.state
        # On a copy, so that a refused edit leaves the adapters as they were, their order included.
        adapters = ToolAdapterRegistry(state.adapters.prefix)
        for adapter in state.adapters:
            adapters.register(adapter)
        for tool_id in edit.remove_adapters:
            adapters.unregister(tool_id)
        for adapter in edit.add_adapters:
            adapters.register(adapter)
        resources, prompts = state.resources.copy(), state.prompts.copy()
        for adapter_id in edit.remove_resource_adapters:
            resources.unregister(adapter_id)
        for resource in edit.add_resource_adapters:
            resources.register(resource)
        for adapter_id in edit.remove_prompt_adapters:
            prompts.unregister(adapter_id)
        for prompt in edit.add_prompt_adapters:
            prompts.register(prompt)
        edits = (*map(Unregister, edit.remove_presets), *map(Register, edit.add_presets))
        state.before = _Before(state.presets.edit(edits), state.adapters, state.resources, state.prompts)
        state.adapters, state.resources, state.prompts = adapters, resources, prompts

    def _take_back(self) -> None:
        state = self.state
        if state.before is not None:
            state.presets.edit(state.before.presets)
            state.adapters = state.before.adapters
            state.resources, state.prompts = state.before.resources, state.before.prompts
            state.before = None
