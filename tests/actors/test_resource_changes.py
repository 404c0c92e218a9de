"""Who watches a resource is told of each real change once, and of nothing else."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from types import MappingProxyType

import pytest
import trio

from actors.agent_offers import AgentOffers
from actors.agent_tools import AgentToolLists
from actors.agents import Agents
from actors.published import Published
from actors.resource_changes import ResourceChanges, ResourceWatch, TooManyWatchedError
from presets.moment import Moment, Source
from presets.resource_adapters import ResourceAdapter
from presets.scope import Scope
from presets.tool_labels import ToolLabels
from protocol.prompt_list import EMPTY_PROMPT_LIST
from protocol.resource_list import ResourceRegistry
from protocol.session import Audience
from protocol.tool_list import EMPTY_TOOL_LIST, ToolEntry
from tests.actors.fakes import tool
from tests.presets.item_samples import moment, resource
from tests.presets.samples import SCENE, app

WHOLE, PART = Audience("whole"), Audience("part")
WORLD, OTHER, CONTEXT, QUIET = "test://world/world-1", "test://world/world-2", "test://context", "test://quiet"


def fail(moment: Moment, values: object) -> object:
    raise RuntimeError("a bug of an author")


ADAPTERS: tuple[ResourceAdapter, ...] = (
    resource("a.context", CONTEXT, follows=(Source.CONTEXT,)),
    resource(
        "a.world", "test://world/{id}", follows=(Source.WORLD,), stamp=lambda now, values: now.world(values["id"])
    ),
    resource("a.quiet", QUIET),
    resource("a.broken", "test://broken", follows=(Source.WORLD,), stamp=fail),
)


class Engine:
    """Sources that a test sets. The agent `part` has nothing of the group `hidden`, in which all resources are."""

    def __init__(self, most: int = 4) -> None:
        self.now = Published(moment())
        deployment = Scope.deployment()
        whole, part = deployment.child("agent", "whole"), deployment.child("agent", "part")
        part.restrict_groups(deny=["hidden"]).__enter__()
        agents = Published(Agents(views=MappingProxyType({"whole": whole.view(), "part": part.view()})))
        labels = ToolLabels("looking", "hidden")
        self.registry = ResourceRegistry()
        self.registry.apply(additions=tuple(adapter.make(app(), labels, "us") for adapter in ADAPTERS))
        self.resources = Published(self.registry.snapshot())
        lists = AgentToolLists(Published(EMPTY_TOOL_LIST), agents, lambda _, __: ToolEntry.of(tool("space_run_code")))
        offers = AgentOffers(lists, self.resources, Published(EMPTY_PROMPT_LIST))
        self.changes = ResourceChanges(offers, lambda: self.now.value, (self.now, self.resources), most)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        with trio.fail_after(5):
            async with trio.open_nursery() as nursery:
                await nursery.start(self.changes.run)
                yield
                nursery.cancel_scope.cancel()


@pytest.fixture
def engine() -> Engine:
    return Engine()


async def told(watch: ResourceWatch, seconds: float = 0.05) -> frozenset[str]:
    """What a watch tells within that time; nothing where it tells nothing."""
    with trio.move_on_after(seconds):
        return await watch.next()
    return frozenset()


async def test_who_watches_is_told_of_what_has_really_changed(engine: Engine, autojump_clock: object) -> None:
    async with engine.running():
        with engine.changes.watch(WHOLE, (WORLD, OTHER, CONTEXT)) as watch:
            engine.now.publish(moment(revision=1))
            assert await told(watch) == {WORLD}
            engine.now.publish(replace(moment(revision=1), context=SCENE))
            assert await told(watch) == {CONTEXT}


async def test_a_change_of_a_source_that_leaves_a_resource_as_it_was_tells_nobody(
    engine: Engine, autojump_clock: object
) -> None:
    async with engine.running():
        with engine.changes.watch(WHOLE, (OTHER, CONTEXT, QUIET)) as watch:
            for revision in range(1, 5):
                engine.now.publish(moment(revision=revision))
                await trio.sleep(0.01)
            engine.now.publish(engine.now.value)
            assert await told(watch) == frozenset()


async def test_many_changes_become_one_word_for_each_resource(engine: Engine, autojump_clock: object) -> None:
    async with engine.running():
        with engine.changes.watch(WHOLE, (WORLD, CONTEXT)) as watch:
            for revision in range(1, 1001):
                engine.now.publish(moment(revision=revision))
                if revision % 100 == 0:
                    await trio.sleep(0.01)
            assert await told(watch) == {WORLD}
            assert await told(watch) == frozenset(), "it is told once"


async def test_a_watch_tells_only_of_what_comes_after_it(engine: Engine, autojump_clock: object) -> None:
    async with engine.running():
        engine.now.publish(moment(revision=1))
        with engine.changes.watch(WHOLE) as watch:
            watch.add(WORLD)
            watch.add(WORLD)
            assert await told(watch) == frozenset()
            watch.discard(WORLD)
            engine.now.publish(moment(revision=2))
            assert await told(watch) == frozenset()
            assert watch.uris == frozenset()


async def test_a_touch_is_told_where_the_resource_is_watched_and_may_be_seen(
    engine: Engine, autojump_clock: object
) -> None:
    async with engine.running():
        with engine.changes.watch(WHOLE, (QUIET,)) as whole, engine.changes.watch(PART, (QUIET, WORLD)) as part:
            engine.changes.touch(QUIET)
            engine.changes.touch("test://nobody")
            engine.now.publish(moment(revision=1))
            assert await told(whole) == {QUIET}
            assert await told(part) == frozenset(), "what an agent does not see, it hears nothing of"


async def test_that_something_goes_or_is_there_again_is_told_to_who_watches_it(
    engine: Engine, autojump_clock: object
) -> None:
    async with engine.running():
        with engine.changes.watch(WHOLE, (WORLD, OTHER)) as watch:
            engine.now.publish(replace(moment(), worlds=()))
            assert await told(watch) == {WORLD, OTHER}
            assert not engine.changes.is_there(WHOLE, WORLD)
            engine.now.publish(replace(moment(), worlds=()))
            assert await told(watch) == frozenset(), "it is told once"
            engine.now.publish(moment())
            assert await told(watch) == {WORLD, OTHER}
            assert engine.changes.is_there(WHOLE, WORLD)


async def test_a_stamp_that_fails_costs_its_own_resource_a_word_and_nobody_else(
    engine: Engine, autojump_clock: object
) -> None:
    async with engine.running():
        with engine.changes.watch(WHOLE, ("test://broken", WORLD)) as watch:
            engine.now.publish(moment(revision=1))
            assert await told(watch) == {WORLD}


async def test_a_watch_takes_so_many_and_no_more(autojump_clock: object) -> None:
    engine = Engine(most=2)
    with engine.changes.watch(WHOLE, (WORLD, OTHER)) as watch:
        with pytest.raises(TooManyWatchedError, match="2 resources are watched already"):
            watch.add(CONTEXT)
        watch.add(WORLD)
        watch.discard(OTHER)
        watch.add(CONTEXT)
        assert watch.uris == {WORLD, CONTEXT}


async def test_a_watch_that_is_closed_is_forgotten(engine: Engine, autojump_clock: object) -> None:
    async with engine.running():
        watch = engine.changes.watch(WHOLE, (WORLD,))
        watch.close()
        watch.close()
        engine.changes.touch(WORLD)
        engine.now.publish(moment(revision=1))
        assert await told(watch) == frozenset()
