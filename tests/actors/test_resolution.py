"""The resolution actor knows what exists and answers what would be active; it remembers no context."""

from __future__ import annotations

import pytest

from actors.resolution import (
    CapabilityEdit,
    ChangeOverride,
    Edit,
    Explain,
    ExplainAll,
    ResolutionActor,
    Resolve,
    Resolved,
    Settle,
    ViewPresets,
)
from engine.errors import ConflictError, EngineError, InvalidArgumentError, NotFoundError
from presets.definition import OverrideState
from presets.explain import ToolState
from presets.overrides import NO_OVERRIDES, Overrides
from tests.actors.fakes import running_actors
from tests.presets.samples import DRAWING, GRAPH, IN_DRAWING, SCENE, adapter, app, preset

EXISTING = CapabilityEdit(
    add_adapters=(adapter("a.one"), adapter("a.two")),
    add_presets=(preset("one", "a.one", contexts=(IN_DRAWING,)), preset("two", "a.two")),
)


@pytest.fixture
def resolution() -> ResolutionActor:
    return ResolutionActor(app())


async def edit(resolution: ResolutionActor, change: CapabilityEdit, *, keep: bool = True) -> Resolved:
    resolved = await resolution.ask(Edit(change, DRAWING, NO_OVERRIDES))
    await resolution.ask(Settle(keep))
    return resolved


async def names_in(resolution: ResolutionActor, overrides: Overrides = NO_OVERRIDES) -> list[list[str]]:
    resolved = [await resolution.ask(Resolve(context, overrides)) for context in (DRAWING, GRAPH, SCENE)]
    return [[definition.name for definition in one.definitions] for one in resolved]


async def test_the_answer_follows_the_context_that_comes_with_the_question(resolution: ResolutionActor) -> None:
    async with running_actors(resolution):
        resolved = await edit(resolution, EXISTING)
        assert resolved.resolution.tool_ids == ("a.one", "a.two")
        assert await names_in(resolution) == [["space_a_one", "space_a_two"], ["space_a_two"], ["space_a_two"]]
        off = Overrides({"two": "off", "one": "on"})
        assert await names_in(resolution, off) == [["space_a_one"]] * 3


async def test_equal_questions_get_the_same_definitions(resolution: ResolutionActor) -> None:
    """So that a context which comes back is no change for anybody."""
    async with running_actors(resolution):
        first = await edit(resolution, EXISTING)
        again = await resolution.ask(Resolve(DRAWING, NO_OVERRIDES))
        assert all(old is new for old, new in zip(first.definitions, again.definitions, strict=True))


async def test_an_override_is_changed_by_name_and_state(resolution: ResolutionActor) -> None:
    async with running_actors(resolution):
        await edit(resolution, EXISTING)
        changed = await resolution.ask(ChangeOverride(NO_OVERRIDES, "one", "off"))
        assert dict(changed) == {"one": OverrideState.OFF}
        assert await resolution.ask(ChangeOverride(changed, "one", OverrideState.OFF)) is changed
        with pytest.raises(NotFoundError, match="there is no such preset"):
            await resolution.ask(ChangeOverride(changed, "three", "on"))
        with pytest.raises(InvalidArgumentError, match="must be one of"):
            await resolution.ask(ChangeOverride(changed, "one", "up"))


MORE = CapabilityEdit(
    remove_presets=("one",),
    remove_adapters=("a.one",),
    add_adapters=(adapter("a.three"),),
    add_presets=(preset("three", "a.three"),),
)


async def test_an_edit_that_is_kept_stays(resolution: ResolutionActor) -> None:
    async with running_actors(resolution):
        await edit(resolution, EXISTING)
        await edit(resolution, MORE)
        await resolution.ask(Settle(keep=False))
        assert (await names_in(resolution))[0] == ["space_a_two", "space_a_three"]


async def test_an_edit_that_is_taken_back_leaves_everything_in_its_place(resolution: ResolutionActor) -> None:
    async with running_actors(resolution):
        first = await edit(resolution, EXISTING)
        during = await edit(resolution, MORE, keep=False)
        assert during.resolution.tool_ids == ("a.two", "a.three")
        after = await resolution.ask(Resolve(DRAWING, NO_OVERRIDES))
        assert after.resolution == first.resolution
        assert [one.source for one in after.definitions] == ["a.one", "a.two"]
        assert [one.id for one in resolution.state.adapters] == ["a.one", "a.two"]
        assert [one.name for one in resolution.state.presets.list()] == ["one", "two"]


@pytest.mark.parametrize(
    ("change", "error"),
    [
        (CapabilityEdit(add_adapters=(adapter("a.three"), adapter("a.three"))), InvalidArgumentError),
        (CapabilityEdit(add_adapters=(adapter("a.three", "other_three"),)), InvalidArgumentError),
        (CapabilityEdit(add_adapters=(adapter("a.three"),), add_presets=(preset("two"),)), ConflictError),
        (CapabilityEdit(remove_adapters=("a.one", "a.gone")), NotFoundError),
        (CapabilityEdit(remove_presets=("one", "gone"), remove_adapters=("a.one",)), NotFoundError),
        (CapabilityEdit(add_presets=(preset("three", "a.two"),)), ConflictError),
        (CapabilityEdit(add_presets=(preset("three", "a.none"),)), ConflictError),
        (CapabilityEdit(remove_adapters=("a.two",)), ConflictError),
    ],
)
async def test_an_edit_that_is_refused_changes_nothing(
    resolution: ResolutionActor, change: CapabilityEdit, error: type[EngineError]
) -> None:
    async with running_actors(resolution):
        first = await edit(resolution, EXISTING)
        with pytest.raises(error):
            await resolution.ask(Edit(change, DRAWING, NO_OVERRIDES))
        assert await resolution.ask(Resolve(DRAWING, NO_OVERRIDES)) == first
        assert [one.id for one in resolution.state.adapters] == ["a.one", "a.two"]
        # The refused edit is over: there is nothing left that a later word could take back.
        await resolution.ask(Settle(keep=False))
        assert await resolution.ask(Resolve(DRAWING, NO_OVERRIDES)) == first


async def test_a_tool_is_explained_for_the_given_context(resolution: ResolutionActor) -> None:
    async with running_actors(resolution):
        await edit(resolution, EXISTING)
        for context, state in ((DRAWING, ToolState.SHOWN), (SCENE, ToolState.HIDDEN)):
            resolved = await resolution.ask(Resolve(context, NO_OVERRIDES))
            one = await resolution.ask(Explain("a.one", context, resolved.resolution, {}))
            assert one.state is state
            rows = await resolution.ask(ExplainAll(context, resolved.resolution, {"space_x": "somebody"}))
            assert {row.mcp_name: row.state for row in rows} == {
                "space_a_one": state,
                "space_a_two": ToolState.SHOWN,
                "space_x": ToolState.SHOWN,
            }


async def test_the_presets_are_viewed_as_rows_of_a_resolution(resolution: ResolutionActor) -> None:
    async with running_actors(resolution):
        await edit(resolution, EXISTING)
        resolved = await resolution.ask(Resolve(SCENE, NO_OVERRIDES))
        view = await resolution.ask(ViewPresets(resolved.resolution))
        assert [(row.name, row.active) for row in view.rows] == [("one", False), ("two", True)]
