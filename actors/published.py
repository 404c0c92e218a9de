"""A published value: the latest state of something, for many readers. Owned by one writer, who never waits.

Promise 7 of the runtime: publishing never waits for a subscriber; a subscriber sees the latest value, many changes
become one, and the last one is always delivered. Never a queue.
"""

from __future__ import annotations

from typing import Generic, Protocol, TypeVar

import trio

ValueT = TypeVar("ValueT")


class Published(Generic[ValueT]):
    """One frozen value and the number of times it was replaced. Only its owner calls `publish`."""

    def __init__(self, value: ValueT) -> None:
        self._value = value
        self._version = 0
        self._changed = trio.Event()

    @property
    def value(self) -> ValueT:
        """The latest value."""
        return self._value

    @property
    def version(self) -> int:
        """How often the value was replaced."""
        return self._version

    def publish(self, value: ValueT) -> None:
        """Replace the value and wake whoever waits. Returns at once."""
        self._value = value
        self._version += 1
        changed, self._changed = self._changed, trio.Event()
        changed.set()

    def subscribe(self) -> Subscription[ValueT]:
        """A reader of its own, which has seen the present value. Nothing needs closing."""
        return Subscription(self)

    async def wait_beyond(self, version: int) -> int:
        """Wait until the value is newer than `version`; gives the version it then has."""
        while self._version <= version:
            await self._changed.wait()
        return self._version


class Changing(Protocol):
    """What counts its changes. `Published` and `ChangeCounter` do."""

    @property
    def version(self) -> int:
        """How often it has changed."""
        ...

    async def wait_beyond(self, version: int) -> int:
        """Wait until it has changed more often than that; gives how often."""
        ...


async def wait_for_any(*sources: tuple[Changing, int]) -> None:
    """Wait until one of these is newer than the version beside it."""
    async with trio.open_nursery() as nursery:

        async def wait(source: Changing, version: int) -> None:
            await source.wait_beyond(version)
            nursery.cancel_scope.cancel()

        for source, version in sources:
            nursery.start_soon(wait, source, version)


class Subscription(Generic[ValueT]):
    """One reader of a published value, which remembers what it has seen."""

    def __init__(self, source: Published[ValueT]) -> None:
        self._source = source
        self._seen = source.version

    async def next(self) -> ValueT:
        """Wait for a value newer than the one seen last, and give the latest."""
        self._seen = await self._source.wait_beyond(self._seen)
        return self._source.value
