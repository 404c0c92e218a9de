"""A registry of adapters of one kind, by id and in order of registration. Owns the rule that an id is taken once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Generic, Protocol, TypeVar

from engine.errors import InvalidArgumentError, NotFoundError


class Adapter(Protocol):
    """What can be registered. `check` raises `InvalidArgumentError` for an adapter that says nonsense."""

    @property
    def id(self) -> str:
        """Internal and dotted, such as `general.context`."""
        ...

    def check(self) -> None:
        """See the class."""
        ...


AdapterT = TypeVar("AdapterT", bound=Adapter)


class AdapterRegistry(Generic[AdapterT]):
    """Adapters of one kind, which is a noun for texts: "resource". Never calls one."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._adapters: dict[str, AdapterT] = {}

    def register(self, adapter: AdapterT) -> None:
        """Add an adapter. Raises `InvalidArgumentError` for an empty id, one that is taken, or as `Adapter.check`."""
        if not adapter.id:
            raise InvalidArgumentError(f"a {self.kind} adapter needs an id, such as 'general.context'")
        adapter.check()
        if adapter.id in self._adapters:
            raise InvalidArgumentError(f"{self.kind} adapter {adapter.id!r} is already registered")
        self._adapters[adapter.id] = adapter

    def unregister(self, adapter_id: str) -> AdapterT:
        """Take an adapter away and return it. Raises `NotFoundError` for an unknown id."""
        adapter = self._adapters.pop(adapter_id, None)
        if adapter is None:
            raise NotFoundError(f"{self.kind} adapter {adapter_id!r} is not registered")
        return adapter

    def get(self, adapter_id: str) -> AdapterT | None:
        """The adapter of that id, or None."""
        return self._adapters.get(adapter_id)

    def copy(self) -> AdapterRegistry[AdapterT]:
        """Another registry with the same adapters, in the same order."""
        copied: AdapterRegistry[AdapterT] = AdapterRegistry(self.kind)
        copied._adapters = dict(self._adapters)
        return copied

    def __iter__(self) -> Iterator[AdapterT]:
        return iter(self._adapters.values())

    def __len__(self) -> int:
        return len(self._adapters)
