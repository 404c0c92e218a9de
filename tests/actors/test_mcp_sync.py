"""The sync owns what it has registered, and nothing else."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import cast

import pytest
import trio

from actors.catalog import ApplyBatch, CatalogActor, ItemChanges
from actors.mcp_sync import McpSyncActor, ReadSyncStatus, RefusedToolsError, StopSync, Sync, SyncStatus
from presets.app import App
from presets.sync_plan import SyncOwnershipError
from presets.tool_definitions import MANAGED_OWNER, DuplicateToolNameError
from presets.tool_labels import ToolLabels
from protocol.tool_registry import ToolRegistry
from tests.actors.fakes import running_actors
from tests.actors.fakes import tool as foreign
from tests.presets.item_samples import prompt, resource
from tests.presets.samples import tool

OURS = tool("space_ours", "a.ours")
MORE = tool("space_more", "a.more")


class Rig:
    def __init__(self) -> None:
        self.catalog = CatalogActor(ToolRegistry("space_"))
        self.sync = McpSyncActor(self.catalog)

    def running(self) -> AbstractAsyncContextManager[trio.Nursery]:
        return running_actors(self.catalog, self.sync)

    @property
    def names(self) -> tuple[str, ...]:
        return self.catalog.tools.value.names

    async def status(self) -> SyncStatus:
        return await self.sync.ask(ReadSyncStatus())

    async def register(self, name: str, owner: str = "somebody") -> None:
        await self.catalog.ask(ApplyBatch(owner, (foreign(name, owner),)))


@pytest.fixture
def rig() -> Rig:
    return Rig()


async def test_a_sync_that_starts_lists_exactly_what_is_wanted(rig: Rig) -> None:
    """Case 087."""
    async with rig.running():
        assert await rig.status() == SyncStatus(started=False, owner="agent-presets", managed_names=())
        revision = await rig.sync.ask(Sync((OURS,)))
        assert rig.names == ("space_ours",)
        assert rig.catalog.tools.value.revision == revision
        status = await rig.status()
        assert (status.started, status.managed_names, status.managed_tool_count) == (True, ("space_ours",), 1)


async def test_what_is_no_longer_wanted_disappears(rig: Rig) -> None:
    """Case 088."""
    async with rig.running():
        await rig.sync.ask(Sync((OURS,)))
        await rig.sync.ask(Sync(()))
        assert rig.names == ()


async def test_a_tool_is_registered_again_when_its_source_has_changed(rig: Rig) -> None:
    """Cases 091 and 092: the name may come back from another source, at once or later."""
    async with rig.running():
        await rig.sync.ask(Sync((tool("space_ours", "old"),)))
        await rig.sync.ask(Sync((tool("space_ours", "new"),)))
        entry = rig.catalog.tools.value.get("space_ours")
        assert entry is not None
        assert entry.definition.source == "new"
        await rig.sync.ask(Sync(()))
        assert rig.names == ()
        await rig.sync.ask(Sync((tool("space_ours", "old"),)))
        assert rig.names == ("space_ours",)


async def test_a_name_that_somebody_else_has_is_never_taken_over(rig: Rig) -> None:
    """Cases 094 and 096: the start fails, the sync is not started, and the registry stays untouched by it."""
    async with rig.running():
        await rig.register("space_ours")
        before = rig.catalog.tools.value
        with pytest.raises(SyncOwnershipError, match=r"'space_ours'.*'somebody' has registered"):
            await rig.sync.ask(Sync((MORE, OURS)))
        assert await rig.status() == SyncStatus(started=False, owner="agent-presets", managed_names=())
        assert rig.catalog.tools.value is before


async def test_a_collision_later_on_leaves_what_was_there(rig: Rig) -> None:
    async with rig.running():
        await rig.sync.ask(Sync((MORE,)))
        await rig.register("space_ours")
        before = rig.catalog.tools.value
        with pytest.raises(SyncOwnershipError):
            await rig.sync.ask(Sync((OURS,)))
        assert rig.catalog.tools.value is before
        assert await rig.status() == SyncStatus(started=True, owner="agent-presets", managed_names=("space_more",))


async def test_a_tool_of_our_owner_that_the_sync_did_not_register_is_a_collision_too(rig: Rig) -> None:
    async with rig.running():
        await rig.register("space_ours", "agent-presets")
        with pytest.raises(SyncOwnershipError, match="space_ours"):
            await rig.sync.ask(Sync((OURS,)))


async def test_every_change_is_announced_once(rig: Rig) -> None:
    """Cases 097 and 098."""
    async with rig.running():
        await rig.sync.ask(Sync((OURS, MORE)))
        assert rig.catalog.tools.version == 1
        await rig.sync.ask(Sync((OURS, MORE)))
        assert rig.catalog.tools.version == 1
        await rig.sync.ask(Sync((MORE,)))
        assert rig.catalog.tools.version == 2


async def test_a_stop_takes_away_what_is_managed_and_leaves_the_rest(rig: Rig) -> None:
    """Cases 100 and 102. A second stop is harmless, and a start after it works."""
    async with rig.running():
        await rig.register("space_theirs")
        await rig.sync.ask(Sync((OURS, MORE)))
        await rig.sync.ask(StopSync())
        assert rig.names == ("space_theirs",)
        assert await rig.status() == SyncStatus(started=False, owner="agent-presets", managed_names=())
        await rig.sync.ask(StopSync())
        await rig.sync.ask(Sync((OURS,)))
        assert rig.names == ("space_ours", "space_theirs")


async def test_two_wanted_tools_of_one_name_are_refused(rig: Rig) -> None:
    async with rig.running():
        with pytest.raises(DuplicateToolNameError, match=r"'a\.ours' and 'b\.ours'"):
            await rig.sync.ask(Sync((OURS, tool("space_ours", "b.ours"))))
        assert rig.names == ()


async def test_what_the_catalog_refuses_is_refused_as_a_conflict_with_nothing_changed(rig: Rig) -> None:
    """An `EngineError`, so that a tool that changes the context tells its model why, as it does for any refusal."""
    async with rig.running():
        with pytest.raises(RefusedToolsError, match=r"'space_bad'.*description"):
            await rig.sync.ask(Sync((OURS, tool("space_bad", description=" "))))
        assert rig.names == ()
        assert not (await rig.status()).started


# Resources and prompts


def both(*names: str) -> Sync:
    """One resource and one prompt of each name."""
    app, labels = cast("App", object()), ToolLabels("looking")
    return Sync(
        (OURS,),
        tuple(resource(f"a.{name}", f"test://{name}").make(app, labels, MANAGED_OWNER) for name in names),
        tuple(prompt(f"p.{name}", name).make(app, labels, MANAGED_OWNER) for name in names),
    )


async def test_resources_and_prompts_come_and_go_in_the_batch_of_the_tools(rig: Rig) -> None:
    async with rig.running():
        await rig.sync.ask(both("a", "b"))
        assert rig.catalog.resources.value.uris == ("test://a", "test://b")
        assert rig.catalog.prompts.value.names == ("a", "b")
        status = await rig.status()
        assert (status.managed_uris, status.managed_prompts) == (("test://a", "test://b"), ("a", "b"))
        versions = (rig.catalog.tools.version, rig.catalog.resources.version, rig.catalog.prompts.version)
        await rig.sync.ask(both("a", "b"))
        assert rig.catalog.tools.version == versions[0]
        await rig.sync.ask(both("b"))
        assert rig.catalog.resources.value.uris == ("test://b",)
        assert rig.catalog.prompts.value.names == ("b",)
        await rig.sync.ask(StopSync())
        assert (rig.names, rig.catalog.resources.value.uris, rig.catalog.prompts.value.names) == ((), (), ())


async def test_a_resource_that_somebody_else_has_refuses_the_whole(rig: Rig) -> None:
    async with rig.running():
        app, labels = cast("App", object()), ToolLabels()
        theirs = resource("x.y", "test://b").make(app, labels, "somebody")
        await rig.catalog.ask(ApplyBatch("somebody", items=ItemChanges(register_resources=(theirs,))))
        with pytest.raises(SyncOwnershipError, match="'somebody' has registered one of that name"):
            await rig.sync.ask(both("a", "b"))
        assert (rig.names, rig.catalog.resources.value.uris, rig.catalog.prompts.value.names) == ((), ("test://b",), ())


async def test_what_the_catalog_refuses_is_a_refusal_of_the_sync_and_changes_nothing(rig: Rig) -> None:
    async with rig.running():
        nameless = replace(both("a").resources[0], name=" ")
        with pytest.raises(RefusedToolsError, match="the resources and prompts cannot be shown"):
            await rig.sync.ask(Sync((OURS,), (nameless,)))
        assert rig.names == ()
        assert (await rig.status()).managed_uris == ()
