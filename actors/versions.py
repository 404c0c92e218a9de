"""How often each part of the engine has changed, for pages that show it: one frame of a stream for each change.

Owns what the topics are made of, the readers, and their number. All readers share one task and its frame: it follows
the sources only while somebody reads, and at most once in `PAUSE_SECONDS`. A reader that is slow gets the newest frame
when it asks for one; nothing is ever queued.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import trio

from actors.errors import ActorError, ActorStoppedError
from actors.published import Changing, Published, wait_for_any
from protocol.jsonrpc import encode
from protocol.sse import encode_event

PAUSE_SECONDS = 0.02
"""Shortest time between two frames: what a page cannot show apart."""

MOST_READERS = 64
"""Readers at a time, each with a connection of its own: pages that are open, and commands that follow."""


class TooManyReadersError(ActorError):
    """Raised to one reader more than there may be."""

    def __init__(self) -> None:
        super().__init__(f"{MOST_READERS} readers follow the changes already, which is the most; close one")


class Versions:
    """The versions of topics; that of one is how often any of its sources has changed. `run` must run."""

    def __init__(self, engine: str, topics: Mapping[str, Sequence[Changing]], most: int = MOST_READERS) -> None:
        """`engine` tells this process from any other."""
        self.engine = engine
        self._topics = topics
        self._sources = tuple({id(source): source for sources in topics.values() for source in sources}.values())
        self._most = most
        self._frame: Published[bytes | None] = Published(b"")
        self._readers: set[VersionsReader] = set()
        self._somebody = trio.Event()
        self._is_closed = False

    @property
    def reader_count(self) -> int:
        """How many readers there are."""
        return len(self._readers)

    def now(self) -> dict[str, int]:
        """The version of each topic."""
        return {topic: sum(source.version for source in sources) for topic, sources in self._topics.items()}

    def frame(self) -> bytes:
        """The versions as an event."""
        return encode_event(encode({"engine": self.engine, "versions": self.now()}), event="versions")

    def read(self) -> VersionsReader:
        """A new reader, to be closed. Raises `TooManyReadersError`, and `ActorStoppedError` once `close` was called."""
        if self._is_closed:
            raise ActorStoppedError("versions")
        if len(self._readers) >= self._most:
            raise TooManyReadersError
        reader = VersionsReader(self, self._frame)
        self._readers.add(reader)
        self._somebody.set()
        return reader

    def forget(self, reader: VersionsReader) -> None:
        """For `VersionsReader.close` alone."""
        self._readers.discard(reader)

    def close(self) -> None:
        """End every reader, and take no more. Returns at once."""
        self._is_closed = True
        self._frame.publish(None)

    async def run(self, *, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Follow the sources until cancelled."""
        task_status.started()
        while True:
            if not self._readers:
                self._somebody = trio.Event()
                await self._somebody.wait()
            if self._is_closed:
                return
            seen = [(source, source.version) for source in self._sources]
            frame = self.frame()
            if frame != self._frame.value:
                self._frame.publish(frame)
            await trio.sleep(PAUSE_SECONDS)
            await wait_for_any(*seen)


class VersionsReader:
    """One reader. Made by `Versions.read`; whoever asked for it closes it."""

    def __init__(self, versions: Versions, latest: Published[bytes | None]) -> None:
        self._versions = versions
        self._latest = latest
        self._seen = latest.version
        self._given: bytes | None = None

    async def next(self) -> bytes | None:
        """The first frame at once, then one after a change; None at the end. Cancelled, it loses nothing."""
        if self._given is None and self._latest.value is not None:
            await trio.lowlevel.checkpoint()
            self._given = self._versions.frame()
            return self._given
        while self._latest.value is not None:
            self._seen = await self._latest.wait_beyond(self._seen)
            frame = self._latest.value
            if frame != self._given:
                self._given = frame
                return frame
        return None

    async def close(self) -> None:
        """Read no more. Twice is harmless."""
        await trio.lowlevel.checkpoint()
        self._versions.forget(self)
