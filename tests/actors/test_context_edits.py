"""What exists may change while the engine runs, whole or not at all."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
import trio
import trio.testing

from actors.catalog import ApplyBatch
from actors.context import (
    ContextView,
    EditCapabilities,
    ReadPresets,
    SetContext,
    SetOverride,
)
from actors.resolution import CapabilityEdit
from actors.space import Space, built_in_capabilities
from engine.errors import ConflictError, EngineError, InvalidArgumentError, NotFoundError
from presets.definition import DefaultState, OverrideState, Risk
from tests.actors.capabilities import GRAPH, NEW, PLAIN, Everything, tools_of
from tests.actors.fakes import running, tool
from tests.presets.samples import adapter, preset


@pytest.mark.parametrize(
    ("edit", "error", "said"),
    [
        (CapabilityEdit(add_presets=(preset("draw"),)), ConflictError, "'draw' is already registered"),
        (CapabilityEdit(add_adapters=(adapter("a.draw"),)), InvalidArgumentError, r"'a\.draw' is already"),
        (CapabilityEdit(remove_presets=("gone",)), NotFoundError, "no preset 'gone'"),
        (CapabilityEdit(remove_adapters=("gone",)), NotFoundError, "'gone' is not registered"),
        (CapabilityEdit(remove_adapters=("a.draw",)), ConflictError, r"'a\.draw', which has no adapter"),
        (CapabilityEdit(add_presets=(preset("late", "c.late"),)), ConflictError, r"'c\.late', which has no adapter"),
        (CapabilityEdit(add_presets=(preset("again", "a.draw"),)), ConflictError, "'draw' and 'again'"),
        (
            CapabilityEdit(
                remove_presets=("common", "graph"),
                remove_adapters=("a.common",),
                add_adapters=(adapter("c.common"), adapter("c.x", "space_foreign")),
                add_presets=(preset("common", "c.common", "c.x"),),
            ),
            ConflictError,
            "'somebody' has registered",
        ),
        (
            CapabilityEdit(
                remove_presets=("graph",),
                add_adapters=(adapter("c.bad", description=" "),),
                add_presets=(preset("bad", "c.bad"),),
            ),
            ConflictError,
            "'space_c_bad'.*description",
        ),
    ],
)
async def test_an_edit_of_what_exists_is_whole_or_nothing(
    space: Space, edit: CapabilityEdit, error: type[EngineError], said: str
) -> None:
    """The last two are refused by the tool list, after presets and adapters had taken them."""
    async with running(space, PLAIN):
        await space.catalog.ask(ApplyBatch("somebody", (tool("space_foreign", "somebody"),)))
        before = await Everything.of(space)
        ids = [adapter.id for adapter in space.resolution.state.adapters]
        with pytest.raises(error, match=said):
            await space.context.ask(EditCapabilities(edit))
        assert await Everything.of(space) == before
        assert [adapter.id for adapter in space.resolution.state.adapters] == ids
        await space.context.ask(EditCapabilities(NEW))
        await space.context.ask(SetContext(GRAPH))
        assert tools_of(space) == ("space_a_common", "space_a_graph", "space_c_new", "space_foreign")


async def test_an_edit_takes_away_and_adds_in_one_change(space: Space) -> None:
    async with running(space, PLAIN):
        before = space.catalog.tools.value.revision
        edit = CapabilityEdit(("draw",), ("a.draw",), (adapter("c.draw"),), (preset("draw", "c.draw"),))
        await space.context.ask(EditCapabilities(edit))
        assert tools_of(space) == ("space_a_common", "space_c_draw")
        assert space.catalog.tools.value.revision == before + 1


async def test_an_edit_that_changes_nothing_visible_notifies_nobody(space: Space) -> None:
    async with running(space, PLAIN):
        before = space.context.view.version, space.catalog.tools.version
        edit = CapabilityEdit(add_adapters=(adapter("c.x"),), add_presets=(preset("x", "c.x", contexts=({"a": 1},)),))
        await space.context.ask(EditCapabilities(edit))
        assert (space.context.view.version, space.catalog.tools.version) == before


async def test_an_override_of_a_preset_that_goes_away_is_kept_and_holds_again(space: Space) -> None:
    risky = preset("risky", "a.risky", default_state=DefaultState.OFF, risk=Risk.SHELL)
    async with running(space, PLAIN):
        await space.context.ask(SetOverride("risky", "on"))
        await space.context.ask(EditCapabilities(CapabilityEdit(remove_presets=("risky",))))
        assert "space_a_risky" not in tools_of(space)
        rows = await space.context.ask(ReadPresets())
        assert rows.orphaned_overrides == (("risky", OverrideState.ON),)
        await space.context.ask(EditCapabilities(CapabilityEdit(add_presets=(risky,))))
        assert "space_a_risky" in tools_of(space)
        assert (await space.context.ask(ReadPresets())).orphaned_overrides == ()


async def test_no_change_ever_shows_a_preset_before_its_tools(space: Space) -> None:
    """Case 055."""
    seen: list[int] = []

    async def watch(changed: Callable[[], Awaitable[ContextView]]) -> None:
        while True:
            view = await changed()
            shown = {entry.definition.source for entry in space.catalog.tools.value}
            assert set(view.resolution.tool_ids) <= shown
            seen.append(len(shown))

    async with trio.open_nursery() as nursery, running(space):
        nursery.start_soon(watch, space.context.view.subscribe().next)
        await trio.testing.wait_all_tasks_blocked()
        for edit in (PLAIN, NEW, built_in_capabilities()):
            await space.context.ask(EditCapabilities(edit))
            await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
    assert len(seen) == 3
