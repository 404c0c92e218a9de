"""What a world's last revisions changed, in memory: for whoever knows an earlier revision and asks what is new.

Owns how much of that is kept. Selecting and the like are no part of it. The history, which lasts, stands elsewhere.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from engine.records import Change

MOST_REVISIONS = 1_000
"""Revisions that are looked back on: more than happen between two looks of somebody who follows a world."""
MOST_CHANGES = 20_000
"""Changed records of all of them together; the newest revision is kept whatever it changed."""


class RecentChanges:
    """The changes of the last revisions, one entry each. Changed by the world alone, which notes every revision."""

    def __init__(self, revision: int) -> None:
        """Begin at a revision: of what led to it nothing is known."""
        self._entries: deque[tuple[int, tuple[Change, ...]]] = deque()
        self._count = 0
        self._known_from = revision

    def note(self, revision: int, changes: tuple[Change, ...]) -> None:
        """Keep what led to that revision, and let go of the oldest ones where there is too much."""
        self._entries.append((revision, changes))
        self._count += len(changes)
        while len(self._entries) > MOST_REVISIONS or (self._count > MOST_CHANGES and len(self._entries) > 1):
            self._known_from, gone = self._entries.popleft()
            self._count -= len(gone)

    def take_back(self, revision: int) -> None:
        """Forget what came after that revision."""
        while self._entries and self._entries[-1][0] > revision:
            self._count -= len(self._entries.pop()[1])

    def since(self, revision: int, now: int) -> Iterator[Change] | None:
        """What is different at revision `now` from how it was at an earlier one, each record once, the newest first.

        None where so much is not known any more, or that revision is still to come. Read it within the owner's step.
        """
        return self._since(revision) if self._known_from <= revision <= now else None

    def _since(self, revision: int) -> Iterator[Change]:
        merged: dict[tuple[str, str], Change] = {}
        for reached, changes in reversed(self._entries):
            if reached <= revision:
                break
            for change in reversed(changes):
                key = (change.collection, change.id)
                later = merged.get(key)
                # Assigning to a key that is there leaves it in its place, which is that of its newest change.
                merged[key] = (
                    change if later is None else Change(change.collection, change.id, change.before, later.after)
                )
        return (change for change in merged.values() if change.before != change.after)
