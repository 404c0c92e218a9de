"""The three places where a plugin can take hold of a prompt. Owns the order, and what happens when a hook fails.

`before_context` may change what the blocks are made of, `before_blocks` the blocks, `before_generation` the final
messages. They run in the order in which plugins were registered, each on what the one before has returned.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar, cast

from blocks.block import ContextBlock, ContextMessage
from blocks.context import AgentBlockContext
from engine.errors import ConflictError, EngineError, NotFoundError

Value = TypeVar("Value")

BeforeContext: TypeAlias = Callable[[AgentBlockContext], "AgentBlockContext | Awaitable[AgentBlockContext]"]
BeforeBlocks: TypeAlias = Callable[
    [tuple[ContextBlock, ...]], "Sequence[ContextBlock] | Awaitable[Sequence[ContextBlock]]"
]
BeforeGeneration: TypeAlias = Callable[
    [tuple[ContextMessage, ...]], "Sequence[ContextMessage] | Awaitable[Sequence[ContextMessage]]"
]

HookName = Literal["before_context", "before_blocks", "before_generation"]


class HookError(EngineError):
    """Raised when a hook raises, or returns something that it must not. The text names the plugin and the hook."""

    def __init__(self, plugin: str, hook: HookName, what: str) -> None:
        super().__init__(f"{hook} of plugin {plugin!r} {what}")
        self.plugin = plugin
        self.hook: HookName = hook


@dataclass(frozen=True, slots=True)
class Step:
    """What one plugin's hook made of the blocks."""

    plugin: str
    before: tuple[ContextBlock, ...]
    after: tuple[ContextBlock, ...]


@dataclass(frozen=True, slots=True)
class _Plugin:
    name: str
    before_context: BeforeContext | None
    before_blocks: BeforeBlocks | None
    before_generation: BeforeGeneration | None


class Hooks:
    """The hooks of all plugins. Hooks are ordinary or async functions."""

    def __init__(self) -> None:
        self._plugins: dict[str, _Plugin] = {}

    def register(
        self,
        plugin: str,
        *,
        before_context: BeforeContext | None = None,
        before_blocks: BeforeBlocks | None = None,
        before_generation: BeforeGeneration | None = None,
    ) -> None:
        """Add a plugin behind those that there are. Raises `ConflictError` when its name is taken."""
        if plugin in self._plugins:
            raise ConflictError(f"a plugin {plugin!r} has hooks already; names of plugins are unique")
        self.replace(
            plugin, before_context=before_context, before_blocks=before_blocks, before_generation=before_generation
        )

    def replace(
        self,
        plugin: str,
        *,
        before_context: BeforeContext | None = None,
        before_blocks: BeforeBlocks | None = None,
        before_generation: BeforeGeneration | None = None,
    ) -> None:
        """Let a plugin have these hooks, at its place in the order; behind the others where it had none."""
        self._plugins[plugin] = _Plugin(plugin, before_context, before_blocks, before_generation)

    def unregister(self, plugin: str) -> None:
        """Take a plugin's hooks away. Raises `NotFoundError`."""
        if self._plugins.pop(plugin, None) is None:
            raise NotFoundError(f"there is no plugin {plugin!r}; there are: {', '.join(self._plugins) or 'none'}")

    @property
    def plugins(self) -> tuple[str, ...]:
        """Their names, in order of registration."""
        return tuple(self._plugins)

    async def before_context(
        self, context: AgentBlockContext, enabled: Collection[str] | None = None
    ) -> AgentBlockContext:
        """What the plugins make of a context; only those `enabled` where some are named. Raises `HookError`."""
        for plugin in self._enabled(enabled):
            if plugin.before_context is not None:
                result = await _called(plugin.name, "before_context", plugin.before_context, context)
                if not isinstance(cast("object", result), AgentBlockContext):
                    raise HookError(plugin.name, "before_context", f"must return a context, not {_kind(result)}")
                context = result
        return context

    async def before_blocks(
        self, blocks: Sequence[ContextBlock], enabled: Collection[str] | None = None
    ) -> tuple[Step, ...]:
        """What each plugin makes of the blocks; the last step has the result. Arguments and errors as above."""
        steps: list[Step] = []
        at = tuple(blocks)
        for plugin in self._enabled(enabled):
            if plugin.before_blocks is not None:
                result = await _called(plugin.name, "before_blocks", plugin.before_blocks, at)
                after = _all_of(plugin.name, "before_blocks", result, ContextBlock)
                steps.append(Step(plugin.name, at, after))
                at = after
        return tuple(steps)

    async def before_generation(
        self, messages: Sequence[ContextMessage], enabled: Collection[str] | None = None
    ) -> tuple[tuple[ContextMessage, ...], tuple[str, ...]]:
        """The messages as the plugins leave them, and the names of those that changed any. As above."""
        at = tuple(messages)
        changed: list[str] = []
        for plugin in self._enabled(enabled):
            if plugin.before_generation is not None:
                result = await _called(plugin.name, "before_generation", plugin.before_generation, at)
                after = _all_of(plugin.name, "before_generation", result, ContextMessage)
                if after != at:
                    changed.append(plugin.name)
                at = after
        return at, tuple(changed)

    def _enabled(self, enabled: Collection[str] | None) -> Sequence[_Plugin]:
        return tuple(one for one in self._plugins.values() if enabled is None or one.name in enabled)


async def _called(plugin: str, hook: HookName, function: Callable[[Value], object], value: Value) -> Value:
    """Run a hook. This is the boundary to a plugin's code: whatever goes wrong in there is that plugin's failure."""
    try:
        result = function(value)
        if inspect.isawaitable(result):
            result = await result
    except Exception as error:
        raise HookError(plugin, hook, f"failed: {type(error).__name__}: {error}") from error
    return cast("Value", result)


def _all_of(plugin: str, hook: HookName, result: object, kind: type[Value]) -> tuple[Value, ...]:
    if not isinstance(result, list | tuple):
        raise HookError(plugin, hook, f"must return a list of {kind.__name__}, not {_kind(result)}")
    members = tuple(cast("Sequence[object]", result))
    for member in members:
        if not isinstance(member, kind):
            raise HookError(plugin, hook, f"must return a list of {kind.__name__}; one of it is {_kind(member)}")
    return cast("tuple[Value, ...]", members)


def _kind(value: object) -> str:
    return "nothing" if value is None else f"a {type(value).__name__}"
