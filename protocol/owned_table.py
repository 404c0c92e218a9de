"""Definitions by key, each with an owner who alone may change it. Owns the rule; what a definition is, others know."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, Protocol, TypeVar


class Owned(Protocol):
    """A definition that can be kept: it has a key, and somebody who registered it."""

    @property
    def key(self) -> str:
        """What it is known by."""
        ...

    @property
    def owner(self) -> str:
        """Who alone may replace it or take it away."""
        ...


class RegistrationError(ValueError):
    """Raised when a change of a registry is refused; the text names the definition. The registry is as it was."""


D = TypeVar("D", bound=Owned)


@dataclass(frozen=True, slots=True)
class OwnedTable(Generic[D]):
    """Definitions of one kind, sorted by key. Immutable: a change gives another table. `kind` is a noun for texts."""

    kind: str
    by_key: Mapping[str, D] = field(default_factory=lambda: MappingProxyType({}))

    def changed(self, removals: Sequence[tuple[str, str]], additions: Iterable[D]) -> OwnedTable[D]:
        """The table without some definitions (key, owner), then with others. Unknown keys change nothing.

        Raises `RegistrationError` for a key that is added twice, belongs to somebody else, or is no text.
        """
        kept = dict(self.by_key)
        for key, owner in removals:
            if key in kept:
                self._check_owner(kept[key], owner, "remove")
                del kept[key]
        added: set[str] = set()
        for definition in additions:
            key = definition.key
            if not key or not definition.owner:
                raise RegistrationError(f"{self.kind} {key!r}: it needs a name and an owner that are not empty")
            if key in added:
                raise RegistrationError(f"{self.kind} {key!r} is added twice in one change")
            if key in kept:
                self._check_owner(kept[key], definition.owner, "replace")
            added.add(key)
            kept[key] = definition
        return OwnedTable(self.kind, MappingProxyType({key: kept[key] for key in sorted(kept)}))

    def _check_owner(self, definition: D, claimant: str, verb: str) -> None:
        if definition.owner != claimant:
            raise RegistrationError(
                f"{self.kind} {definition.key!r} belongs to {definition.owner!r}; {claimant!r} must not {verb} it"
            )
