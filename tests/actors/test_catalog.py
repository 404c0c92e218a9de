"""One batch of changes is whole or nothing, belongs to one owner, and is published when something has changed."""

from __future__ import annotations

from typing import cast

import pytest

from actors.catalog import (
    ApplyBatch,
    CatalogActor,
    ItemChanges,
    owners_of,
    owners_of_prompts,
    owners_of_resources,
)
from presets.app import App
from presets.prompt_adapters import OfferedPrompt
from presets.resource_adapters import OfferedResource, OfferedTemplate
from presets.tool_labels import ToolLabels
from protocol.owned_table import RegistrationError
from protocol.tool_registry import InvalidToolError, OwnershipError, ToolRegistry, ToolRegistryError
from tests.actors.fakes import SetClock, running_actors, tool
from tests.presets.item_samples import prompt, resource
from tests.presets.samples import tool as tool_of

CLOCK = SetClock()


@pytest.fixture
def catalog() -> CatalogActor:
    return CatalogActor(ToolRegistry("space_"), CLOCK)


async def test_a_batch_registers_and_unregisters_at_once(catalog: CatalogActor) -> None:
    async with running_actors(catalog):
        await catalog.ask(ApplyBatch("tests", (tool("space_a"), tool("space_b"))))
        versions = catalog.tools.version
        revision = await catalog.ask(ApplyBatch("tests", (tool("space_c"),), ("space_a",)))
        assert catalog.tools.value.names == ("space_b", "space_c")
        assert catalog.tools.value.revision == revision == 2
        assert catalog.tools.version == versions + 1


@pytest.mark.parametrize(
    ("batch", "error", "said"),
    [
        (ApplyBatch("tests", (tool("space_c"), tool("elsewhere_d"))), InvalidToolError, "prefix 'space_'"),
        (ApplyBatch("tests", (tool("space_c"), tool("space_c"))), ToolRegistryError, "added twice"),
        (ApplyBatch("tests", (tool("space_c"), tool("space_theirs"))), OwnershipError, "belongs to 'somebody'"),
        (ApplyBatch("tests", (tool("space_c"),), ("space_theirs",)), OwnershipError, "belongs to 'somebody'"),
        (
            ApplyBatch("tests", (tool("space_c"), tool("space_d", "x"))),
            OwnershipError,
            "'tests' must not register",
        ),
        (ApplyBatch("tests", (), ("space_a", "space_theirs")), OwnershipError, "must not remove"),
    ],
)
async def test_a_batch_that_is_refused_changes_nothing(
    catalog: CatalogActor, batch: ApplyBatch, error: type[Exception], said: str
) -> None:
    async with running_actors(catalog):
        await catalog.ask(ApplyBatch("somebody", (tool("space_theirs", "somebody"),)))
        await catalog.ask(ApplyBatch("tests", (tool("space_a"),)))
        before = catalog.tools.value, catalog.tools.version, catalog.status.value
        with pytest.raises(error, match=said):
            await catalog.ask(batch)
        assert (catalog.tools.value, catalog.tools.version, catalog.status.value) == before
        assert catalog.statistics().refused == 1


async def test_a_batch_that_changes_nothing_publishes_nothing(catalog: CatalogActor) -> None:
    async with running_actors(catalog):
        await catalog.ask(ApplyBatch("tests"))
        await catalog.ask(ApplyBatch("tests", (), ("space_gone",)))
        assert catalog.tools.version == catalog.status.version == 0


async def test_a_new_body_behind_the_same_face_keeps_the_revision_and_is_the_one_that_runs(
    catalog: CatalogActor,
) -> None:
    async with running_actors(catalog):
        await catalog.ask(ApplyBatch("tests", (tool("space_a", source="old"),)))
        revision = await catalog.ask(ApplyBatch("tests", (tool("space_a", source="new"),)))
        assert revision == 1
        entry = catalog.tools.value.get("space_a")
        assert entry is not None
        assert entry.definition.source == "new"


async def test_the_status_says_how_many_tools_there_are_and_when_they_changed_last(catalog: CatalogActor) -> None:
    async with running_actors(catalog):
        assert catalog.status.value.last_change is None
        CLOCK.now += 60
        await catalog.ask(ApplyBatch("tests", (tool("space_a"), tool("space_b"))))
        status = catalog.status.value
        assert (status.tool_count, status.revision, status.change_count) == (2, 1, 1)
        assert status.last_change == CLOCK.now


async def test_owners_are_told_by_name(catalog: CatalogActor) -> None:
    async with running_actors(catalog):
        await catalog.ask(ApplyBatch("tests", (tool("space_a"),)))
        await catalog.ask(ApplyBatch("agent-presets", (tool_of("space_b"),)))
        assert owners_of(catalog.tools.value) == {"space_a": "tests", "space_b": "agent-presets"}


# Resources and prompts

APP = cast("App", object())
LABELS = ToolLabels("looking")


def shown(*ids: str, owner: str = "tests") -> tuple[OfferedResource | OfferedTemplate, ...]:
    return tuple(resource(f"a.{name}", f"test://{name}").make(APP, LABELS, owner) for name in ids)


def spoken(*ids: str, owner: str = "tests") -> tuple[OfferedPrompt, ...]:
    return tuple(prompt(f"p.{name}", name).make(APP, LABELS, owner) for name in ids)


async def test_a_batch_of_all_three_kinds_is_one_change_of_each_list(catalog: CatalogActor) -> None:
    async with running_actors(catalog):
        items = ItemChanges(register_resources=shown("x", "y/{id}"), register_prompts=spoken("p"))
        revision = await catalog.ask(ApplyBatch("tests", (tool("space_a"),), items=items))
        assert catalog.tools.value.revision == revision == 1
        assert (catalog.resources.value.uris, catalog.resources.value.template_texts) == (
            ("test://x",),
            ("test://y/{id}",),
        )
        assert catalog.prompts.value.names == ("p",)
        assert owners_of_resources(catalog.resources.value) == {"test://x": "tests", "test://y/{id}": "tests"}
        assert owners_of_prompts(catalog.prompts.value) == {"p": "tests"}
        gone = ItemChanges(unregister_resources=("test://x",), unregister_prompts=("p",))
        await catalog.ask(ApplyBatch("tests", items=gone))
        assert (catalog.resources.value.uris, catalog.prompts.value.names) == ((), ())
        assert catalog.tools.version == 1, "no tool has changed"


@pytest.mark.parametrize(
    ("items", "error"),
    [
        (ItemChanges(register_resources=shown("theirs")), "belongs to 'somebody'"),
        (ItemChanges(register_resources=shown("x", owner="x")), "must not register"),
        (ItemChanges(register_resources=shown("x", "x")), "added twice"),
        (ItemChanges(register_resources=shown("new"), register_prompts=spoken("theirs")), "belongs to 'somebody'"),
        (ItemChanges(register_resources=shown("new"), unregister_prompts=("theirs",)), "must not remove"),
    ],
)
async def test_a_batch_of_which_one_kind_is_refused_changes_none(
    catalog: CatalogActor, items: ItemChanges, error: str
) -> None:
    async with running_actors(catalog):
        theirs = ItemChanges(
            register_resources=shown("theirs", owner="somebody"), register_prompts=spoken("theirs", owner="somebody")
        )
        await catalog.ask(ApplyBatch("somebody", items=theirs))
        before = (catalog.tools.value, catalog.resources.value, catalog.prompts.value)
        with pytest.raises(RegistrationError, match=error):
            await catalog.ask(ApplyBatch("tests", (tool("space_a"),), items=items))
        fine = ItemChanges(register_resources=shown("new"), register_prompts=spoken("new"))
        with pytest.raises(InvalidToolError):
            await catalog.ask(ApplyBatch("tests", (tool("elsewhere_a"),), items=fine))
        assert (catalog.tools.value, catalog.resources.value, catalog.prompts.value) == before
