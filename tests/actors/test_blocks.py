"""The blocks actor: one writer, transactions, what it reports; and what prompts are made of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
import trio
import trio.testing
from hypothesis import given, settings
from hypothesis import strategies as st
from structlog.testing import capture_logs

from actors.blocks import BlocksActor, UseBlocks
from actors.space import Space, SpaceOptions
from blocks.config import AgentBlockConfig
from blocks.edits import patch_config
from blocks.store.block_store import BlockStore
from blocks.store.documents import Versioned
from blocks.store.revision import BaseRevisions, StaleRevisionError
from blocks.store.story_files import StoryPlace
from engine.errors import ConflictError, ForbiddenError, NotFoundError
from tests.actors.fakes import NOW, MemoryStore, engine_of, running, running_actors

HERE = StoryPlace("tale")
AGENT = "generation.writer"


def actor_in(folder: Path) -> BlocksActor:
    return BlocksActor(folder, lambda: NOW)


def make_story(store: BlockStore) -> None:
    store.stories.create({"name": "A Tale", "id": "tale"})


async def test_a_step_gives_what_it_did_and_the_broken_files_that_it_met(tmp_path: Path) -> None:
    actor = actor_in(tmp_path)
    with capture_logs() as logs:
        async with running_actors(actor):
            await actor.ask(UseBlocks(make_story))
            (tmp_path / "stories/tale/meta.json").write_text("?")
            read = await actor.ask(UseBlocks(lambda store: store.stories.read("tale").value.name))
            assert (read.result, [one.path for one in read.set_aside]) == ("tale", ["stories/tale/meta.json"])
            assert (await actor.ask(UseBlocks(make_name("x")))).set_aside == ()
            assert actor.status.value.set_aside == read.set_aside
    assert [entry["event"] for entry in logs] == ["block_file_set_aside"]


def make_name(name: str) -> Callable[[BlockStore], str]:
    return lambda store: store.stories.update("tale", {"name": name}).value.name


async def test_a_broken_file_is_reported_also_when_the_step_fails(tmp_path: Path) -> None:
    actor = actor_in(tmp_path)
    async with running_actors(actor):
        await actor.ask(UseBlocks(make_story))
        folder = tmp_path / "stories/tale/branches/main/fragments"
        folder.mkdir(parents=True)
        (folder / "pr-broken.json").write_text("[]")
        with pytest.raises(NotFoundError):
            await actor.ask(UseBlocks(lambda store: store.fragments.read(HERE, "pr-broken")))
        assert actor.status.value.set_aside_count == 1


async def test_steps_run_one_after_the_other_even_when_their_askers_are_gone(tmp_path: Path) -> None:
    actor = actor_in(tmp_path)
    begun, may_end = threading.Event(), threading.Event()
    order: list[str] = []

    def slow(store: BlockStore) -> None:
        begun.set()
        may_end.wait(5)
        order.append("slow")

    async with running_actors(actor) as nursery:
        with trio.CancelScope() as scope:
            nursery.start_soon(actor.ask, UseBlocks(slow))
            await trio.to_thread.run_sync(begun.wait)
            scope.cancel()
        nursery.start_soon(actor.ask, UseBlocks(lambda store: order.append("next")))
        await trio.testing.wait_all_tasks_blocked()
        may_end.set()
        await actor.ask(UseBlocks(lambda store: None))
    assert order == ["slow", "next"]


async def test_an_engine_without_a_data_folder_says_so(tmp_path: Path) -> None:
    async with running(Space(engine_of(), MemoryStore(), SpaceOptions(workspace=tmp_path))) as space:
        with pytest.raises(ConflictError, match="no data folder"):
            await space.blocks.ask(UseBlocks(lambda store: store.stories.list()))


async def test_a_link_in_the_way_is_refused_and_harms_nothing(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    data = tmp_path / "data"
    data.mkdir()
    (data / "stories").symlink_to(tmp_path / "outside")
    actor = actor_in(data)
    async with running_actors(actor):
        with pytest.raises(ForbiddenError):
            await actor.ask(UseBlocks(make_story))
    assert list((tmp_path / "outside").iterdir()) == []


Step = tuple[int, str, bool]
"""An editor, the block it changes, and whether it reads again instead."""


async def kept_by(actor: BlocksActor) -> Versioned[AgentBlockConfig]:
    return (await actor.ask(UseBlocks(lambda store: store.configs.read(HERE, AGENT)))).result


async def patched(actor: BlocksActor, block_id: str, order: int, base: BaseRevisions = None) -> str:
    """Give a block that order; the revision after it."""
    edit = partial(patch_config, raw={"overrides": {block_id: {"order": order}}})
    return (await actor.ask(UseBlocks(lambda store: store.configs.edit(HERE, AGENT, edit, base)))).result.revision


@settings(max_examples=25, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(0, 3), st.sampled_from("abc"), st.booleans()), max_size=20))
def test_of_editors_in_any_order_none_loses_an_update(
    steps: list[Step], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Each editor holds what it read last. A write on a stale revision is refused; one that holds is there."""
    folder = tmp_path_factory.mktemp("data")

    async def scenario() -> None:
        actor = actor_in(folder)
        async with running_actors(actor):
            await actor.ask(UseBlocks(make_story))
            read: dict[int, str] = {}
            expected: dict[str, float] = {}
            for number, (editor, block_id, reads) in enumerate(steps):
                present = (await kept_by(actor)).revision
                if reads or editor not in read:
                    read[editor] = present
                    continue
                before = read[editor]
                try:
                    read[editor] = await patched(actor, block_id, number, {before})
                    expected[block_id] = number
                    assert before == present
                except StaleRevisionError:
                    assert before != present
            kept = (await kept_by(actor)).value.overrides
            assert {block_id: override.order for block_id, override in kept.items()} == expected

    trio.run(scenario)


async def test_many_editors_at_once_all_find_their_change(tmp_path: Path) -> None:
    actor = actor_in(tmp_path)
    async with running_actors(actor):
        await actor.ask(UseBlocks(make_story))
        async with trio.open_nursery() as editors:
            for number in range(100):
                editors.start_soon(patched, actor, f"b{number}", number)
        assert len((await kept_by(actor)).value.overrides) == 100


async def test_what_is_made_has_the_time_of_the_engine(tmp_path: Path) -> None:
    space = Space(engine_of(), MemoryStore(), SpaceOptions(workspace=tmp_path, data=tmp_path / "data"))
    async with running(space):
        made = await space.blocks.ask(UseBlocks(lambda store: store.stories.create({"name": "x"})))
        assert datetime.fromisoformat(made.result.value.created_at) == NOW.astimezone(UTC)
