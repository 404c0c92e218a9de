"""Branches and orders are made beside the steps of the blocks actor: others go on, and nobody's change is lost."""

from __future__ import annotations

import threading
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
import trio

from actors.blocks import BlocksActor, UseBlocks
from actors.long_story_changes import create_branch, set_order
from blocks.store.block_store import BlockStore
from blocks.store.files import Check, go_on
from blocks.store.fragment_files import Reordering
from blocks.store.story_files import BranchCopy, StoryPlace
from engine.errors import ConflictError, NotFoundError
from tests.actors.fakes import NOW, running_actors

HERE = StoryPlace("tale")
IDS = ("pr-aaaa", "pr-bbbb", "pr-cccc")


class Gate:
    """Holds a piece of work in its thread until it is opened."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, kind: type, name: str) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()
        real = getattr(kind, name)

        def held(begun: object, check: Check = go_on) -> None:
            self.reached.set()
            while not self.opened.wait(0.01):
                check()
            real(begun, check)

        monkeypatch.setattr(kind, name, held)

    async def wait_reached(self) -> None:
        with trio.fail_after(5):
            assert await trio.to_thread.run_sync(self.reached.wait, 5)


def fill(store: BlockStore) -> None:
    store.stories.create({"name": "A Tale", "id": "tale"})
    for fragment_id in IDS:
        store.fragments.create(HERE, {"type": "prose", "name": fragment_id, "id": fragment_id, "content": "before"})


@pytest.fixture
async def blocks(tmp_path: Path) -> AsyncGenerator[BlocksActor]:
    """An actor with the story `tale` and three fragments."""
    actor = BlocksActor(tmp_path, lambda: NOW)
    async with running_actors(actor):
        await actor.ask(UseBlocks(fill))
        yield actor


async def change(blocks: BlocksActor, fragment_id: str, text: str) -> None:
    await blocks.ask(UseBlocks(lambda store: store.fragments.update(HERE, fragment_id, {"content": text})))


async def texts(blocks: BlocksActor, branch: str) -> list[str]:
    place = StoryPlace("tale", branch)
    read = await blocks.ask(UseBlocks(lambda store: [one.value.content for one in store.fragments.list(place)]))
    return read.result


async def test_a_branch_is_what_there_was_at_its_begin_and_others_go_on_meanwhile(
    blocks: BlocksActor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = Gate(monkeypatch, BranchCopy, "copy")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(create_branch, blocks, "tale", {"name": "Other", "id": "other"})
        await gate.wait_reached()
        with trio.fail_after(5):
            await change(blocks, "pr-aaaa", "after")
            index = await blocks.ask(UseBlocks(lambda store: store.stories.branches("tale").value))
        assert [one.id for one in index.result.branches] == ["main"]
        gate.opened.set()
    assert await texts(blocks, "other") == ["before"] * 3
    assert await texts(blocks, "main") == ["after", "before", "before"]
    files = (tmp_path / "stories/tale").rglob("pr-*.json")
    assert {path.stat().st_nlink for path in files} == {1}
    assert not list((tmp_path / ".blocks-unfinished").iterdir())


async def test_a_branch_whose_client_goes_away_is_not_made_and_leaves_nothing(
    blocks: BlocksActor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = Gate(monkeypatch, BranchCopy, "copy")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(create_branch, blocks, "tale", {"name": "Other", "id": "other"})
        await gate.wait_reached()
        nursery.cancel_scope.cancel()
    assert not list((tmp_path / ".blocks-unfinished").iterdir())
    assert not (tmp_path / "stories/tale/branches/other").exists()


async def test_of_two_branches_with_one_id_the_second_is_refused(
    blocks: BlocksActor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch, BranchCopy, "copy")
    refused: list[str] = []

    async def make() -> None:
        try:
            await create_branch(blocks, "tale", {"name": "Other", "id": "other"})
        except ConflictError as error:
            refused.append(str(error))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(make)
        nursery.start_soon(make)
        await gate.wait_reached()
        gate.opened.set()
    assert refused == ["there is a branch 'other' already; choose another id"]


async def test_an_order_keeps_what_is_changed_while_it_is_made(
    blocks: BlocksActor, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = Gate(monkeypatch, Reordering, "stage")
    async with trio.open_nursery() as nursery:
        nursery.start_soon(set_order, blocks, HERE, IDS[::-1])
        await gate.wait_reached()
        with trio.fail_after(5):
            await change(blocks, "pr-bbbb", "after")
        gate.opened.set()
    listed = await blocks.ask(UseBlocks(lambda store: store.fragments.list(HERE)))
    assert [(one.value.id, one.value.order, one.value.content) for one in listed.result] == [
        ("pr-cccc", 0, "before"),
        ("pr-bbbb", 1, "after"),
        ("pr-aaaa", 2, "before"),
    ]
    again = await blocks.ask(UseBlocks(lambda store: BlockStore.snapshot(store, HERE)))
    assert [one.order for one in again.result.fragments] == [0, 1, 2]


async def test_an_order_with_a_fragment_that_is_removed_meanwhile_changes_nothing(
    blocks: BlocksActor, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    gate = Gate(monkeypatch, Reordering, "stage")
    refused: list[str] = []

    async def order() -> None:
        try:
            await set_order(blocks, HERE, IDS[::-1])
        except NotFoundError as error:
            refused.append(str(error))

    async with trio.open_nursery() as nursery:
        nursery.start_soon(order)
        await gate.wait_reached()
        (tmp_path / "stories/tale/branches/main/fragments/pr-bbbb.json").unlink()
        gate.opened.set()
    assert "pr-bbbb" in refused[0]
    listed = await blocks.ask(UseBlocks(lambda store: [one.value.order for one in store.fragments.list(HERE)]))
    assert listed.result == [0, 0]
