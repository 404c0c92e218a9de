"""Changes of stories that write thousands of files: a branch, an order. Owns how they leave everybody else alone.

The blocks actor takes the first step, which sees how things stand, and the last, which puts what was made to its place.
What takes long is done between the two, in a thread, away from what anybody reads: so no story waits for another, and
the change is there whole or not at all. Nothing between the two is undone by it: see `commit_order`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol, TypeVar

import trio

from actors.blocks import BlocksActor, OnDisk, UseBlocks
from blocks.fragment import Fragment
from blocks.store.block_store import BlockStore
from blocks.store.documents import Versioned
from blocks.store.files import Check
from blocks.store.story_files import Branch, StoryPlace


class _Begun(Protocol):
    def discard(self) -> None: ...


BegunT = TypeVar("BegunT", bound=_Begun)
ResultT = TypeVar("ResultT")


async def create_branch(blocks: BlocksActor, story: str, raw: object) -> OnDisk[Branch]:
    """Copy a branch. Raises as `StoryFiles.create_branch`. Cancelled before the last step, there is none."""
    return await _in_three(
        blocks,
        lambda store: store.stories.begin_branch(story, raw),
        lambda begun, check: begun.copy(check),
        lambda store, begun: store.stories.commit_branch(begun),
    )


async def set_order(
    blocks: BlocksActor, place: StoryPlace, fragment_ids: Sequence[str]
) -> OnDisk[tuple[Versioned[Fragment], ...]]:
    """Number fragments. Raises as `FragmentFiles.set_order`. Cancelled before the last step, nothing has changed."""
    return await _in_three(
        blocks,
        lambda store: store.fragments.begin_order(place, fragment_ids),
        lambda begun, check: begun.stage(check),
        lambda store, begun: store.fragments.commit_order(begun),
    )


async def _in_three(
    blocks: BlocksActor,
    begin: Callable[[BlockStore], BegunT],
    work: Callable[[BegunT, Check], None],
    commit: Callable[[BlockStore, BegunT], ResultT],
) -> OnDisk[ResultT]:
    first = await _heard(blocks, begin)
    begun = first.result
    try:
        await trio.to_thread.run_sync(partial(work, begun, trio.from_thread.check_cancelled), limiter=blocks.long_works)
        last = await _heard(blocks, lambda store: commit(store, begun))
    finally:
        with trio.CancelScope(shield=True):
            await trio.to_thread.run_sync(begun.discard)
    return OnDisk(last.result, (*first.set_aside, *last.set_aside))


async def _heard(blocks: BlocksActor, step: Callable[[BlockStore], ResultT]) -> OnDisk[ResultT]:
    """A step, heard to its end also by who is cancelled: what it has made or moved is known then."""
    with trio.CancelScope(shield=True):
        return await blocks.ask(UseBlocks(step))
    raise AssertionError("nothing cancels that scope")
