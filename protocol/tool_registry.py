"""The MCP tool registry: which tools exist now, and who owns each.

Owns the registered definitions. Never calls a tool, never reads a clock, never waits. Every change is whole or does not
happen. Source: remote-mcp, "Production Hardening"; agent-presets, "PresetMcpSync" (ownership).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from protocol.reserved_names import NOTHING_RESERVED, ReservedNames
from protocol.schema import preview
from protocol.tool import JsonObject, ToolDefinition
from protocol.tool_list import ToolEntry, ToolFace, ToolList, face_key

MODEL_NAME_CHARS = 64
"""Longest tool name that model providers take."""

SERVER_PREFIX_CHARS = len("space-unit-dev_")
"""What clients put before a name: the server's name in their configuration, and a separator. The longest of ours."""

TOOL_NAME_CHARS = MODEL_NAME_CHARS - SERVER_PREFIX_CHARS
"""Longest name of a tool here, characters, so that the name which reaches a model fits."""

KEPT_FACES = 2048
"""How many compiled faces are kept, seen or not: a context that comes back finds its tools ready. About 10 KiB each."""

_NAME = re.compile(r"[A-Za-z0-9_.-]+")


class ToolRegistryError(ValueError):
    """Raised when a change of the registry is refused. The registry is as it was."""


class InvalidToolError(ToolRegistryError):
    """Raised for a definition that cannot be registered; the text names the tool and the part of it."""


class ReservedNameError(InvalidToolError):
    """Raised for a definition whose name is reserved; the text says what for."""


class DuplicateToolError(ToolRegistryError):
    """Raised when one change adds two tools of one name."""


class OwnershipError(ToolRegistryError):
    """Raised when a change would replace or remove a tool of another owner; the text names both.

    Attributes:
        name: the tool.
        owner: who has it.
        claimant: who wanted to change it.
    """

    def __init__(self, name: str, owner: str, claimant: str, verb: str) -> None:
        super().__init__(f"tool {name!r} belongs to {owner!r}; {claimant!r} must not {verb} it")
        self.name = name
        self.owner = owner
        self.claimant = claimant


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRegistryStatus:
    """A look at the registry. `last_change` is in epoch seconds, None before the first change."""

    tool_count: int
    change_count: int
    revision: int
    listener_count: int
    last_change: float | None
    namespace_prefix: str | None


ChangeListener = Callable[[ToolList], None]
"""Called after each change with the new list. Compare `revision` to learn whether clients can see the change."""


class ToolRegistry:
    """Tools by name. Without `namespace_prefix` every name is welcome, with it only names that begin so.

    What is `reserved` nobody may register, whoever asks.
    """

    def __init__(self, namespace_prefix: str | None = None, reserved: ReservedNames = NOTHING_RESERVED) -> None:
        self._prefix = namespace_prefix
        self._reserved = reserved
        self._entries: dict[str, ToolEntry] = {}
        self._faces: dict[bytes, ToolFace] = {}
        self._listeners: list[ChangeListener] = []
        self._change_count = 0
        self._last_change: float | None = None
        self._list = ToolList.of(0, {})

    def register(self, definition: ToolDefinition, *, now: float) -> ToolList:
        """Add a tool, or replace the one of its name that has the same owner. Raises as `apply`."""
        return self.apply(additions=(definition,), now=now)

    def unregister(self, name: str, owner: str, *, now: float) -> ToolList:
        """Take a tool away. An unknown name changes nothing and is no error. Raises as `apply`."""
        return self.apply(removals=((name, owner),), now=now)

    def apply(
        self,
        *,
        removals: Sequence[tuple[str, str]] = (),
        additions: Sequence[ToolDefinition] = (),
        now: float,
    ) -> ToolList:
        """Remove tools (name, owner), then add tools, as one change; return the list after it.

        All of it happens, or nothing. One change is counted, and each listener is called once, however many tools it
        has; with nothing to remove and nothing to add there is no change. `now` is in epoch seconds.

        Raises `InvalidToolError`, `DuplicateToolError` or `OwnershipError`; the registry is as it was. An error of a
        listener comes out as an `ExceptionGroup` once all listeners have been called; the change stands.
        """
        entries = dict(self._entries)
        for name, owner in removals:
            entry = entries.get(name)
            if entry is not None:
                _check_owner(entry, owner, "remove")
                del entries[name]
        added: set[str] = set()
        for definition in additions:
            self._check(definition)
            if definition.name in added:
                raise DuplicateToolError(f"tool {definition.name!r} is added twice in one change")
            added.add(definition.name)
            replaced = entries.get(definition.name)
            if replaced is not None:
                _check_owner(replaced, definition.owner, "replace")
            entries[definition.name] = ToolEntry(definition, self._face(definition))
        if not added and len(entries) == len(self._entries):
            return self._list
        self._commit(entries, now)
        return self._list

    def owner_of(self, name: str) -> str | None:
        """Who registered the tool, or None for an unknown name."""
        entry = self._entries.get(name)
        return None if entry is None else entry.definition.owner

    def snapshot(self) -> ToolList:
        """The tools now, frozen and sorted by name."""
        return self._list

    def status(self) -> ToolRegistryStatus:
        """A frozen look at the registry."""
        return ToolRegistryStatus(
            tool_count=len(self._entries),
            change_count=self._change_count,
            revision=self._list.revision,
            listener_count=len(self._listeners),
            last_change=self._last_change,
            namespace_prefix=self._prefix,
        )

    def add_on_change(self, listener: ChangeListener) -> ChangeListener:
        """Call `listener` after each change, in order of addition. Returns it, as the token to remove it with."""
        self._listeners.append(listener)
        return listener

    def remove_on_change(self, listener: ChangeListener) -> None:
        """Stop calling a listener, however often it was added. An unknown one is no error."""
        self._listeners = [kept for kept in self._listeners if kept != listener]

    def _commit(self, entries: dict[str, ToolEntry], now: float) -> None:
        fresh = ToolList.of(self._list.revision + 1, entries)
        if fresh.looks_like(self._list):
            fresh = ToolList.of(self._list.revision, entries)
        self._entries = entries
        self._list = fresh
        self._change_count += 1
        self._last_change = now
        errors: list[Exception] = []
        # A copy, since a listener may add or remove listeners.
        for listener in tuple(self._listeners):
            try:
                listener(fresh)
            except Exception as error:  # noqa: BLE001 - boundary: one listener's bug must not hide the change from the next
                errors.append(error)
        if errors:
            raise ExceptionGroup("listeners of the tool registry failed", errors)

    def _face(self, definition: ToolDefinition) -> ToolFace:
        """The face of a definition, from the kept ones where it was seen before; the longest unused one gives way."""
        try:
            key = face_key(definition)
            face = self._faces.pop(key, None) or ToolFace.of(definition)
        except ValueError as error:
            raise InvalidToolError(f"tool {definition.name!r}: {error}") from error
        self._faces[key] = face
        if len(self._faces) > KEPT_FACES:
            del self._faces[next(iter(self._faces))]
        return face

    def _check(self, definition: ToolDefinition) -> None:
        """Look at everything that the types do not promise, in the order of the document."""
        name = cast("object", definition.name)
        if not isinstance(name, str) or not name:
            raise InvalidToolError(f"a tool needs a name that is a non-empty string, not {preview(name)}")
        if _NAME.fullmatch(name) is None:
            raise InvalidToolError(
                f"tool {preview(name)}: a name has only the letters A-Z and a-z, digits, '_', '.' and '-'"
            )
        if len(name) > TOOL_NAME_CHARS:
            raise InvalidToolError(
                f"tool {preview(name)}: the name has {len(name)} characters; the most is {TOOL_NAME_CHARS}, because "
                f"clients put the server's name before it and models take {MODEL_NAME_CHARS} in all"
            )
        if refusal := self._reserved.refusal(name):
            raise ReservedNameError(f"tool {name!r}: {refusal}")
        if self._prefix is not None and not name.startswith(self._prefix):
            raise InvalidToolError(f"tool {name!r}: the name must begin with the prefix {self._prefix!r}")
        description = cast("object", definition.description)
        if not isinstance(description, str) or not description.strip():
            raise InvalidToolError(
                f"tool {name!r}: the description must be a non-empty string, not {preview(description)}"
            )
        _check_object_schema(name, "inputSchema", definition.input_schema)
        if not callable(definition.run):
            raise InvalidToolError(
                f"tool {name!r}: run must be a function that does the work, not {preview(definition.run)}"
            )
        if definition.output_schema is not None:
            _check_object_schema(name, "outputSchema", definition.output_schema)
        if not definition.owner:
            raise InvalidToolError(
                f"tool {name!r}: the owner must be a non-empty string, so that it can be taken away again"
            )


def _check_object_schema(name: str, member: str, schema: object) -> None:
    if not isinstance(schema, Mapping):
        raise InvalidToolError(f"tool {name!r}: {member} must be a JSON Schema object, not {preview(schema)}")
    found = cast("JsonObject", schema).get("type", "object")
    if found != "object":
        raise InvalidToolError(f"tool {name!r}: {member} must have type 'object', not {preview(found)}")


def _check_owner(entry: ToolEntry, claimant: str, verb: str) -> None:
    owner = entry.definition.owner
    if owner != claimant:
        raise OwnershipError(entry.definition.name, owner, claimant, verb)
