"""What the last changes of the context did is told: facts, overrides, presets and tools, and nothing that was none."""

from __future__ import annotations

import pytest

from actors.context import (
    KEPT_CHANGES,
    EditCapabilities,
    FollowEngine,
    PatchContext,
    ResetOverrides,
    SetContext,
    SetOverride,
)
from actors.resolution import CapabilityEdit
from actors.space import Space
from engine.drawing.insert import InsertBox
from engine.errors import ConflictError, InvalidArgumentError
from presets.context_change import ContextChange
from tests.actors.capabilities import CANVAS, GRAPH, HAZARDS, PLAIN
from tests.actors.fakes import NOW, running


def changes(space: Space) -> tuple[ContextChange, ...]:
    return space.context.changes.value


async def test_what_the_engine_begins_with_is_no_change(space: Space) -> None:
    async with running(space, PLAIN):
        assert changes(space) == ()


async def test_a_change_of_a_fact_tells_what_it_showed_and_hid(space: Space) -> None:
    async with running(space, PLAIN):
        await space.context.ask(PatchContext({"activity": "graph", "weather": "fine"}))
        (change,) = changes(space)
        assert change.to_json() == {
            "at": NOW.timestamp(),
            "facts": {"activity": {"from": "drawing", "to": "graph"}, "weather": {"from": None, "to": "fine"}},
            "overrides": {},
            "presets_shown": ["graph"],
            "presets_hidden": ["draw"],
            "tools_shown": ["space_a_graph"],
            "tools_hidden": ["space_a_draw"],
        }


async def test_an_override_is_a_change_without_facts(space: Space) -> None:
    async with running(space, PLAIN):
        await space.context.ask(SetOverride("risky", "on"))
        await space.context.ask(SetOverride("draw", "off"))
        await space.context.ask(ResetOverrides())
        reset, off, on = (change.to_json() for change in changes(space))
        assert (on["facts"], on["overrides"]) == ({}, {"risky": {"from": "auto", "to": "on"}})
        assert (on["presets_shown"], on["tools_shown"]) == (["risky"], ["space_a_risky"])
        assert (off["presets_hidden"], off["tools_hidden"]) == (["draw"], ["space_a_draw"])
        assert reset["overrides"] == {"draw": {"from": "off", "to": "auto"}, "risky": {"from": "on", "to": "auto"}}
        assert (reset["tools_shown"], reset["tools_hidden"]) == (["space_a_draw"], ["space_a_risky"])


async def test_an_override_that_confirms_what_holds_shows_and_hides_nothing(space: Space) -> None:
    async with running(space, PLAIN):
        await space.context.ask(SetOverride("draw", "on"))
        (change,) = changes(space)
        assert [moved.name for moved in change.overrides] == ["draw"]
        assert change.presets_shown == change.presets_hidden == change.tools_shown == change.tools_hidden == ()


async def test_a_change_that_changes_nothing_is_none(space: Space) -> None:
    async with running(space, PLAIN):
        await space.context.ask(SetContext(CANVAS))
        await space.context.ask(SetOverride("risky", "on"))
        version = space.context.changes.version
        known = space.context.view.value.context.facts()
        await space.context.ask(SetContext(known))
        await space.context.ask(PatchContext({"activity": "drawing", "weather": None}))
        await space.context.ask(SetOverride("risky", "on"))
        await space.context.ask(FollowEngine(space.world.facts.value))
        assert space.context.changes.version == version


async def test_a_change_that_was_refused_is_none(space: Space) -> None:
    async with running(space, PLAIN, HAZARDS):
        version = space.context.changes.version
        with pytest.raises(ConflictError):
            await space.context.ask(PatchContext({"activity": "same-ids"}))
        with pytest.raises(InvalidArgumentError):
            await space.context.ask(PatchContext({"activity": "any"}))
        assert space.context.changes.version == version


async def test_what_the_engine_did_to_the_context_is_a_change(space: Space) -> None:
    async with running(space, PLAIN):
        await space.app.execute(InsertBox(kind="rectangle", x=0, y=0, width=2, height=1))
        (change,) = changes(space)
        assert change.to_json()["facts"] == {"selection_kind": {"from": None, "to": "drawing-object"}}


async def test_tools_that_come_while_the_engine_runs_are_a_change(space: Space) -> None:
    async with running(space, PLAIN):
        await space.context.ask(EditCapabilities(CapabilityEdit(remove_presets=("draw",))))
        (change,) = changes(space)
        assert (change.facts, change.presets_hidden, change.tools_hidden) == ((), ("draw",), ("space_a_draw",))


async def test_the_last_changes_are_kept_the_newest_first(space: Space) -> None:
    async with running(space, PLAIN):
        for number in range(KEPT_CHANGES + 5):
            await space.context.ask(PatchContext({"count": number}))
        facts = [change.to_json()["facts"]["count"]["to"] for change in changes(space)]
        assert facts == list(range(KEPT_CHANGES + 4, 4, -1))


async def test_whoever_is_told_of_a_new_context_finds_its_change_there(space: Space) -> None:
    async with running(space, PLAIN):
        views = space.context.view.subscribe()
        await space.context.ask(SetContext(GRAPH))
        view = await views.next()
        assert view.context.activity == "graph"
        assert changes(space)[0].presets_shown == ("graph",)
