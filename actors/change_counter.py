"""How often something has changed, for whoever wants to look at it again then. Owned by one writer, who never waits.

Like `Published`, and without a value: for what is too large to be replaced with each change. Costs a writer next to
nothing while nobody waits.
"""

from __future__ import annotations

import trio


class ChangeCounter:
    """Counts up. Only its owner calls `count`."""

    __slots__ = ("_changed", "_version")

    def __init__(self) -> None:
        self._version = 0
        self._changed: trio.Event | None = None

    @property
    def version(self) -> int:
        """How often it has changed."""
        return self._version

    def count(self) -> int:
        """Note a change, wake whoever waits, and give the number of the change. Returns at once."""
        self._version += 1
        if self._changed is not None:
            changed, self._changed = self._changed, None
            changed.set()
        return self._version

    async def wait_beyond(self, version: int) -> int:
        """Wait until there are more changes than `version`; gives how many there are then."""
        while self._version <= version:
            if self._changed is None:
                self._changed = trio.Event()
            await self._changed.wait()
        return self._version
