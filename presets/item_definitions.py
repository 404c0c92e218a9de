"""The resources and prompts of a resolution: ids become definitions through their adapters. Owns their making.

As with tools, a definition is the same object for as long as nothing about it has changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from engine.errors import ConflictError
from presets.adapter_registry import AdapterRegistry
from presets.app import App
from presets.prompt_adapters import OfferedPrompt, PromptAdapter, preset_prompt
from presets.resolution import ActiveItem, Resolution
from presets.resource_adapters import OfferedResource, OfferedTemplate, ResourceAdapter
from presets.tool_definitions import MANAGED_OWNER, UnknownAdapterError
from presets.tool_labels import ToolLabels


class DuplicateItemNameError(ConflictError):
    """Raised when two offered resources have one uri, or two prompts one name. The text names it and both sources."""


class _Definition(Protocol):
    @property
    def key(self) -> str: ...

    @property
    def source(self) -> str: ...


class _Making(Protocol):
    """An adapter of one kind."""

    @property
    def id(self) -> str: ...

    def check(self) -> None: ...


DefinitionT = TypeVar("DefinitionT", bound=_Definition)
AdapterT = TypeVar("AdapterT", bound=_Making)


class ItemCache(Generic[DefinitionT]):
    """The definitions made so far, by source, each with what it was made of. Owned by whoever asks for definitions."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[tuple[object, ...], DefinitionT]] = {}

    def get(self, source: str, made_of: tuple[object, ...], make: Callable[[], DefinitionT]) -> DefinitionT:
        """The definition of that source; made where there is none that was made of exactly this."""
        kept = self._made.get(source)
        if kept is not None and all(old is new or old == new for old, new in zip(kept[0], made_of, strict=True)):
            return kept[1]
        made = make()
        self._made[source] = (made_of, made)
        return made

    def keep_only(self, sources: Iterable[str]) -> None:
        """Forget all others."""
        self._made = {source: self._made[source] for source in sources if source in self._made}

    def __len__(self) -> int:
        return len(self._made)


@dataclass(frozen=True, slots=True)
class ItemCaches:
    """The caches of both kinds."""

    resources: ItemCache[OfferedResource | OfferedTemplate]
    prompts: ItemCache[OfferedPrompt]

    @classmethod
    def empty(cls) -> ItemCaches:
        """Caches with nothing in them."""
        return cls(ItemCache(), ItemCache())


SPARE_DEFINITIONS = 256
"""Definitions that are kept beyond those of adapters that exist: a context that comes back finds its prompts ready."""


def resource_definitions(
    resolution: Resolution, adapters: AdapterRegistry[ResourceAdapter], app: App, caches: ItemCaches
) -> tuple[OfferedResource | OfferedTemplate, ...]:
    """The resources of this resolution, in its order, owned by `MANAGED_OWNER` with the adapter's id as source.

    Raises `UnknownAdapterError` and `DuplicateItemNameError`.
    """

    def make(adapter: ResourceAdapter, labels: ToolLabels) -> OfferedResource | OfferedTemplate:
        return adapter.make(app, labels, MANAGED_OWNER)

    made = _made(resolution, resolution.resources, adapters, app, caches.resources, make)
    return _distinct("resource", made)


def prompt_definitions(
    resolution: Resolution, adapters: AdapterRegistry[PromptAdapter], app: App, caches: ItemCaches
) -> tuple[OfferedPrompt, ...]:
    """The prompts of this resolution, and one for each active preset that says something to its agents.

    Owned as resources are; those of presets have `preset:NAME` as source. Raises as `resource_definitions`.
    """

    def make(adapter: PromptAdapter, labels: ToolLabels) -> OfferedPrompt:
        return adapter.make(app, labels, MANAGED_OWNER)

    made = _made(resolution, resolution.prompts, adapters, app, caches.prompts, make)
    labels = _labels(resolution)
    for part in resolution.prompt_fragments:
        if part.prompt.strip():
            # As default arguments, since the loop goes on.
            def speak(name: str = part.preset, text: str = part.prompt) -> OfferedPrompt:
                return preset_prompt(name, text, labels[name], MANAGED_OWNER)

            source = f"preset:{part.preset}"
            made.append(caches.prompts.get(source, (part.prompt, labels[part.preset], None), speak))
    if len(caches.prompts) > len(adapters) + SPARE_DEFINITIONS:
        caches.prompts.keep_only([definition.source for definition in made])
    return _distinct("prompt", made)


def _labels(resolution: Resolution) -> dict[str, ToolLabels]:
    return {preset.name: ToolLabels(preset.name, preset.group, preset.risk) for preset in resolution.active_presets}


def _made(
    resolution: Resolution,
    items: tuple[ActiveItem, ...],
    adapters: AdapterRegistry[AdapterT],
    app: App,
    cache: ItemCache[DefinitionT],
    make: Callable[[AdapterT, ToolLabels], DefinitionT],
) -> list[DefinitionT]:
    labels = _labels(resolution)
    definitions: list[DefinitionT] = []
    for item in items:
        adapter = adapters.get(item.item_id)
        if adapter is None:
            raise UnknownAdapterError(
                f"preset {item.preset!r} lists {adapters.kind} {item.item_id!r}, which has no adapter; "
                f"register the adapter before the preset"
            )
        own = labels[item.preset]

        def make_it(adapter: AdapterT = adapter, own: ToolLabels = own) -> DefinitionT:
            return make(adapter, own)

        definitions.append(cache.get(item.item_id, (adapter, own, app), make_it))
    return definitions


def _distinct(kind: str, definitions: list[DefinitionT]) -> tuple[DefinitionT, ...]:
    by_key: dict[str, DefinitionT] = {}
    for definition in definitions:
        other = by_key.setdefault(definition.key, definition)
        if other is not definition:
            raise DuplicateItemNameError(
                f"{kind}s {other.source!r} and {definition.source!r} would both be offered as {definition.key!r}; "
                f"turn the preset of one of them off"
            )
    return tuple(definitions)
