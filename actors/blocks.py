"""The blocks actors: sole owners of the stories, fragments and block configurations on disk.

Nobody else writes these files, so a change is made on what is there and no update is lost: one that names the revision
it is based on is refused when that is stale. Answered once it is durable. Compiling and scripts never happen here; they
work on a snapshot. The configurations of Space's own agents have an actor of their own: every client that connects
waits for one, and must not wait for a story. Mailboxes: the default.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import structlog
import trio

from actors import ranks
from actors.actor import Actor, Message, handles
from actors.change_counter import ChangeCounter
from actors.published import Published
from blocks.store.block_store import BlockStore
from blocks.store.documents import SetAside
from engine.errors import ConflictError

KEPT_REPORTS = 100
"""Files that were set aside and are shown in the status; the log has all of them, and so has the disk."""

LONG_WORKS = 2
"""What may be written beside the steps at the same time, such as copies of branches: the disk is no faster for more."""

ResultT = TypeVar("ResultT")

_log = structlog.stdlib.get_logger("blocks")


@dataclass(frozen=True, slots=True)
class OnDisk(Generic[ResultT]):
    """What came of it, and the broken files that were met and set aside on the way."""

    result: ResultT
    set_aside: tuple[SetAside, ...] = ()


@dataclass(frozen=True, slots=True)
class UseBlocks(Message[OnDisk[ResultT]], Generic[ResultT]):
    """Do this with the files, in one step of the actor. Raises what `work` raises; then nothing has changed.

    `work` blocks, keeps nothing of the store, and gives a frozen value. It may not wait for anything else.
    """

    work: Callable[[BlockStore], ResultT]


@dataclass(frozen=True, slots=True)
class BlocksStatus:
    """The files at a glance: how many were set aside since the start, and the last ones of them."""

    set_aside_count: int = 0
    set_aside: tuple[SetAside, ...] = ()


class BlocksActor(Actor[BlockStore | None]):
    """Owns the store of the data folder, which is whole after each step; an engine without a folder has none."""

    name: ClassVar[str] = "blocks"
    rank: ClassVar[int] = ranks.BLOCKS
    tidies: ClassVar[bool] = True
    """Whether it removes at its start what a crash has left unfinished. Once for a data folder."""

    def __init__(self, data: Path | None, clock: Callable[[], datetime]) -> None:
        """`clock` gives the time in UTC."""
        super().__init__(None)
        self._data = data
        self.keeps_files = data is not None
        """Whether there is a data folder at all. Without one every step is refused."""
        self._clock = clock
        self.long_works = trio.CapacityLimiter(LONG_WORKS)
        """Places for what takes long and is done beside the steps; see `actors.long_story_changes`."""
        self.status: Published[BlocksStatus] = Published(BlocksStatus())
        self.changes = ChangeCounter()
        """Counts the steps that have changed a file."""

    async def prepare(self) -> None:
        """Open the folder. Raises `DataFileError`."""
        if self._data is not None:
            self.state = await trio.to_thread.run_sync(
                partial(BlockStore, self._data, self._clock, tidy=self.tidies),
            )

    @handles(UseBlocks)
    async def _use(self, message: UseBlocks[object]) -> OnDisk[object]:
        store = self.state
        if store is None:
            raise ConflictError("this engine has no data folder, and so no stories and no block configurations")
        # Shielded, because a step must not go on in a thread after its actor has turned to the next one.
        with trio.CancelScope(shield=True):
            before = store.changes
            try:
                result = await trio.to_thread.run_sync(partial(message.work, store))
            finally:
                set_aside = store.take_reports()
                self._report(set_aside)
                if store.changes != before:
                    self.changes.count()
            return OnDisk(result, set_aside)
        raise AssertionError("nothing cancels that scope")

    def _report(self, set_aside: tuple[SetAside, ...]) -> None:
        if not set_aside:
            return
        for one in set_aside:
            _log.warning("block_file_set_aside", path=one.path, kept_as=one.kept_as, reason=one.reason)
        before = self.status.value
        self.status.publish(
            BlocksStatus(before.set_aside_count + len(set_aside), (*before.set_aside, *set_aside)[-KEPT_REPORTS:])
        )


class OwnBlocksActor(BlocksActor):
    """Owns the configurations of Space's own agents, which lie directly in the data folder, and nothing else there."""

    name: ClassVar[str] = "own-blocks"
    rank: ClassVar[int] = ranks.OWN_BLOCKS
    tidies: ClassVar[bool] = False
