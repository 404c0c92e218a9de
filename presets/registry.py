"""The registry of presets: definitions by name, in order of registration. Owns them and the indexes over them.

Knows neither the live context nor MCP. Definitions are immutable, so what it gives out cannot be used to change it.
Source: agent-presets, "PresetRegistry"; findings on the existing engine, section 1.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from engine.errors import ConflictError, NotFoundError
from presets.context import FactValue
from presets.definition import DefaultState, PresetDefinition
from presets.index import ContextIndex
from presets.suggestions import close_names, did_you_mean, quoted


class DuplicatePresetError(ConflictError):
    """Raised when a preset is registered under a name that is taken. Nothing has changed."""


class UnknownPresetError(NotFoundError):
    """Raised when a name names no registered preset. The text offers close names. Nothing has changed."""


@dataclass(frozen=True, slots=True)
class Register:
    """Add this preset: at the end, or at a position that `Unregister` has freed."""

    preset: PresetDefinition
    position: int | None = None


@dataclass(frozen=True, slots=True)
class Unregister:
    """Take the preset of this name away."""

    name: str


RegistryEdit = Register | Unregister

Listener = Callable[[], None]


@dataclass(frozen=True, slots=True)
class RegistryStatus:
    """How many presets there are, how many were ever added or taken away, and how many listeners there are."""

    preset_count: int
    change_count: int
    listener_count: int


class PresetRegistry:
    """Presets by name. Also a collection of their names: `name in registry`, `for name in registry`, `len(registry)`.

    Listeners take no argument and run in order of registration after the change, once per `register`, `unregister` or
    `edit`. What a listener raises goes to the caller; the change is kept and later listeners do not run.
    """

    def __init__(self, presets: Iterable[PresetDefinition] = ()) -> None:
        self._presets: dict[str, PresetDefinition] = {}
        self._positions: dict[str, int] = {}
        self._taken: set[int] = set()
        self._next_position = 0
        self._in_order: tuple[PresetDefinition, ...] | None = ()
        self._by_context = ContextIndex()
        self._by_tool: dict[str, dict[str, None]] = {}
        self._listeners: list[Listener] = []
        self._change_count = 0
        for preset in presets:
            self.register(preset)

    def register(self, preset: PresetDefinition) -> None:
        """Add a preset at the end. Raises `DuplicatePresetError` when its name is taken."""
        self.edit((Register(preset),))

    def unregister(self, name: str) -> PresetDefinition:
        """Take a preset away and return it. Raises `UnknownPresetError`."""
        preset = self.require(name)
        self.edit((Unregister(name),))
        return preset

    def edit(self, edits: Sequence[RegistryEdit]) -> tuple[RegistryEdit, ...]:
        """Make all of these changes or none, and return the edits that take them back, positions included.

        Raises `DuplicatePresetError`, `UnknownPresetError`, or `ConflictError` for a position that is taken.
        """
        inverse = self._apply_all(edits)
        self._announce(len(edits))
        return inverse

    @contextmanager
    def trial(self, edits: Sequence[RegistryEdit]) -> Generator[None]:
        """Make the changes for the body of a `with`; keep them when it ends well, and take them back when it raises.

        Listeners and the change count hear of them only when they are kept. Raises what `edit` raises. The registry
        must not be changed by anybody else inside the body.
        """
        inverse = self._apply_all(edits)
        try:
            yield
        except BaseException:
            self._apply_all(inverse)
            raise
        self._announce(len(edits))

    def get(self, name: str) -> PresetDefinition | None:
        """The preset of that name, or None."""
        return self._presets.get(name)

    def require(self, name: str) -> PresetDefinition:
        """The preset of that name. Raises `UnknownPresetError`."""
        preset = self._presets.get(name)
        if preset is None:
            close = close_names(name, self._presets)
            raise UnknownPresetError(f"there is no preset {quoted(name)}.{did_you_mean(close)}")
        return preset

    def list(self) -> tuple[PresetDefinition, ...]:
        """Every preset, in order of registration."""
        if self._in_order is None:
            self._in_order = self.in_order(self._presets)
        return self._in_order

    def list_by_group(self, group: str) -> tuple[PresetDefinition, ...]:
        """The presets of one group, in order of registration; empty for a group that does not exist."""
        return tuple(preset for preset in self.list() if preset.group == group)

    def status(self) -> RegistryStatus:
        """Counts, as a frozen value."""
        return RegistryStatus(len(self._presets), self._change_count, len(self._listeners))

    def add_on_change(self, listener: Listener) -> Listener:
        """Call this after each change. Returns it, as the token for `remove_on_change`."""
        self._listeners.append(listener)
        return listener

    def remove_on_change(self, listener: Listener) -> None:
        """Remove every copy of that listener; removing what is not there changes nothing."""
        self._listeners = [kept for kept in self._listeners if kept != listener]

    def matching(self, facts: Mapping[str, FactValue]) -> Iterator[str]:
        """The names of the presets that turn themselves on in a context with these facts; in no order, may repeat."""
        return self._by_context.find(facts)

    def with_tool(self, tool_id: str) -> tuple[PresetDefinition, ...]:
        """The presets that list this tool id, in order of registration."""
        return self.in_order(self._by_tool.get(tool_id, ()))

    def tool_ids(self) -> Iterable[str]:
        """Every tool id that some preset lists, once each, in no promised order."""
        return tuple(self._by_tool)

    def in_order(self, names: Iterable[str]) -> tuple[PresetDefinition, ...]:
        """The presets of these registered names, once each, in order of registration."""
        return tuple(self._presets[name] for name in sorted(set(names), key=self._positions.__getitem__))

    @property
    def probes(self) -> int:
        """How much the look-ups by context have cost since the start; see `ContextIndex.probes`."""
        return self._by_context.probes

    def __contains__(self, name: object) -> bool:
        return name in self._presets

    def __iter__(self) -> Iterator[str]:
        return (preset.name for preset in self.list())

    def __len__(self) -> int:
        return len(self._presets)

    def _apply_all(self, edits: Sequence[RegistryEdit]) -> tuple[RegistryEdit, ...]:
        inverse: list[RegistryEdit] = []
        try:
            for edit in edits:
                inverse.append(self._apply(edit))
        except (DuplicatePresetError, UnknownPresetError, ConflictError):
            for edit in reversed(inverse):
                self._apply(edit)
            raise
        return tuple(reversed(inverse))

    def _apply(self, edit: RegistryEdit) -> RegistryEdit:
        if isinstance(edit, Register):
            self._add(edit.preset, edit.position)
            return Unregister(edit.preset.name)
        preset = self.require(edit.name)
        return Register(preset, self._remove(preset))

    def _add(self, preset: PresetDefinition, position: int | None) -> None:
        name = preset.name
        if name in self._presets:
            raise DuplicatePresetError(f"preset {name!r} is already registered; names of presets are unique")
        if position is None:
            position = self._next_position
        elif position in self._taken or not 0 <= position < self._next_position:
            raise ConflictError(f"preset {name!r} cannot go to position {position}: no unregistering has freed it")
        self._next_position = max(self._next_position, position + 1)
        self._presets[name] = preset
        self._positions[name] = position
        self._taken.add(position)
        self._in_order = None
        if preset.default_state is DefaultState.AUTO:
            self._by_context.add(name, preset.patterns)
        for tool_id in preset.tool_ids:
            self._by_tool.setdefault(tool_id, {})[name] = None

    def _remove(self, preset: PresetDefinition) -> int:
        name = preset.name
        del self._presets[name]
        position = self._positions.pop(name)
        self._taken.remove(position)
        self._in_order = None
        if preset.default_state is DefaultState.AUTO:
            self._by_context.remove(name, preset.patterns)
        for tool_id in preset.tool_ids:
            listed = self._by_tool.get(tool_id, {})
            listed.pop(name, None)
            if not listed:
                self._by_tool.pop(tool_id, None)
        return position

    def _announce(self, changes: int) -> None:
        if not changes:
            return
        self._change_count += changes
        for listener in tuple(self._listeners):
            listener()
