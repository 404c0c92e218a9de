"""The context and the engine stay together: worlds, selection, and the place that comes back after a restart."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from structlog.testing import capture_logs

from actors.context import (
    FollowEngine,
    PatchContext,
    SetContext,
    SetOverride,
)
from actors.resolution import CapabilityEdit
from actors.space import Space, SpaceOptions
from actors.world import Execute
from engine.drawing.selection import ClearSelection
from engine.engine import Engine, EngineFacts
from engine.store import Store
from presets.app import App
from presets.context import FactValue
from presets.explain import ToolState
from presets.interactions import InteractiveRun
from tests.actors.capabilities import PLAIN, RECTANGLE, explain, tools_of
from tests.actors.fakes import NOW, running
from tests.presets.samples import adapter, preset


async def test_going_to_another_world_switches_the_engine(space: Space) -> None:
    async with running(space, PLAIN):
        await space.app.execute(RECTANGLE)
        assert space.context.view.value.context.selection_kind == "drawing-object"
        view = await space.context.ask(PatchContext({"world_id": "world-2"}))
        assert space.world.state.active_world.id == "world-2"
        assert (view.context.world_id, view.context.selection_kind) == ("world-2", None)
        assert "space_a_selected" not in tools_of(space)
        view = await space.context.ask(PatchContext({"world_id": "world-1"}))
        assert view.context.selection_kind == "drawing-object"
        assert "space_a_selected" in tools_of(space)


async def test_the_tools_follow_the_selection_before_the_command_returns(space: Space) -> None:
    async with running(space, PLAIN):
        await space.app.execute(RECTANGLE)
        assert "space_a_selected" in tools_of(space)
        await space.app.execute(ClearSelection())
        assert "space_a_selected" not in tools_of(space)
        await space.app.undo()
        assert space.context.view.value.context.selection_kind is None


def facts(serial: int, world_id: str = "world-1", selection_kind: str | None = None) -> EngineFacts:
    return EngineFacts(serial=serial, world_id=world_id, selection_kind=selection_kind)


async def test_older_facts_of_the_engine_are_ignored(space: Space) -> None:
    async with running(space, PLAIN):
        await space.context.ask(FollowEngine(facts(7, selection_kind="drawing-object")))
        for serial in (6, 7):
            view = await space.context.ask(FollowEngine(facts(serial)))
            assert view.context.selection_kind == "drawing-object"
        view = await space.context.ask(FollowEngine(facts(8)))
        assert view.context.selection_kind is None


async def test_facts_that_are_overtaken_on_their_way_are_not_shown(space: Space) -> None:
    """The bringer of the newer facts saw the context as it should be and told nobody."""
    async with running(space, PLAIN):
        selected = await space.world.ask(Execute(RECTANGLE))
        await space.world.ask(Execute(ClearSelection()))
        before = space.context.view.version
        view = await space.context.ask(FollowEngine(selected.facts))
        assert view.context.selection_kind is None
        assert space.context.view.version == before, "not even for a moment"


def when_shown(pattern: Mapping[str, FactValue], happens: Callable[[], None]) -> CapabilityEdit:
    """A preset for these contexts with a tool whose making lets something happen, in the middle of a step."""
    plain = adapter("h.hook")

    def make_run(app: App) -> InteractiveRun:
        happens()
        return plain.make_run(app)

    return CapabilityEdit(
        (), (), (replace(plain, make_run=make_run),), (preset("hook", "h.hook", contexts=(pattern,)),)
    )


async def test_facts_that_change_while_the_context_follows_are_followed_too(space: Space) -> None:
    """Their bringer compared them with a context that had not moved yet, and saw no need to tell."""

    def deselect() -> None:
        space.world.facts.publish(facts(space.world.facts.value.serial + 1))

    async with running(space, PLAIN, when_shown({"selection_kind": "drawing-object"}, deselect)):
        selected = await space.world.ask(Execute(RECTANGLE))
        view = await space.context.ask(FollowEngine(selected.facts))
        assert view.context.selection_kind is None
        assert "space_h_hook" not in tools_of(space)


async def test_a_world_that_was_left_while_the_context_went_to_it_is_not_shown(space: Space) -> None:
    def leave() -> None:
        space.world.facts.publish(facts(space.world.facts.value.serial + 1, "world-1"))

    async with running(space, PLAIN, when_shown({"world_id": "world-2"}, leave)):
        view = await space.context.ask(PatchContext({"world_id": "world-2"}))
        assert view.context.world_id == "world-1"
        assert "space_h_hook" not in tools_of(space)


async def test_what_the_engine_has_done_cannot_be_refused_and_the_list_stands_until_it_can_follow(
    space: Space,
) -> None:
    """A command whose selection makes tools collide has happened all the same; its asker must not think otherwise."""
    rival = CapabilityEdit(
        add_presets=(preset("rival", "a.selected", contexts=({"selection_kind": "drawing-object"},)),)
    )
    async with running(space, PLAIN, rival):
        before = space.catalog.tools.value
        with capture_logs() as logs:
            done = await space.app.execute(RECTANGLE)
        assert done.changed
        assert [entry["event"] for entry in logs] == ["tool_list_held_back"]
        assert space.context.view.value.context.selection_kind == "drawing-object"
        assert space.catalog.tools.value is before
        explanation = await explain(space, "space_a_selected")
        assert explanation.state is ToolState.COLLIDING
        await space.context.ask(SetOverride("rival", "off"))
        assert "space_a_selected" in tools_of(space)


async def test_the_place_comes_back_after_a_restart(tmp_path: Path) -> None:
    """Surface, activity and canvas are remembered, and the world; a fact of an app is not."""
    workspace, data = tmp_path / "workspace", tmp_path / "data"
    workspace.mkdir()

    def open_space() -> Space:
        store = Store.open(data, now=NOW)
        return Space(Engine(store.load(), clock=lambda: NOW), store, SpaceOptions(workspace=workspace))

    async with running(open_space(), PLAIN) as space:
        await space.context.ask(SetContext({"surface": "scene", "canvas_visible": False, "weather": "rain"}))
    async with running(open_space(), PLAIN) as space:
        context = space.context.view.value.context
        assert context.facts() == {"surface": "scene", "canvas_visible": False, "world_id": "world-1"}
        assert tools_of(space) == ("space_a_common",)
