"""One door for context and overrides: you read what you wrote, or hear why not and nothing has changed."""

from __future__ import annotations

import weakref

import pytest
from structlog.testing import capture_logs

from actors.actor import Message
from actors.catalog import ApplyBatch
from actors.context import (
    ContextView,
    PatchContext,
    ResetOverrides,
    SetContext,
    SetOverride,
)
from actors.space import Space
from engine.errors import ConflictError, EngineError, InvalidArgumentError, NotFoundError
from engine.stored import Commit
from presets.definition import OverrideState
from tests.actors.capabilities import CANVAS, GRAPH, HAZARDS, PLAIN, RECTANGLE, Everything, tools_of
from tests.actors.fakes import MemoryStore, running, tool


@pytest.mark.parametrize("message", [SetContext(GRAPH), PatchContext({"activity": "graph"})], ids=["set", "patch"])
async def test_when_a_change_of_context_returns_the_tool_list_shows_it(
    space: Space, message: Message[ContextView]
) -> None:
    """Case 043: the context is the old one before, and the new one after."""
    async with running(space, PLAIN):
        assert space.context.view.value.context.activity == "drawing"
        assert tools_of(space) == ("space_a_common", "space_a_draw")
        view = await space.context.ask(message)
        assert tools_of(space) == ("space_a_common", "space_a_graph")
        assert view.context.activity == "graph"
        assert view is space.context.view.value


async def test_when_an_override_returns_the_tool_list_shows_it(space: Space) -> None:
    async with running(space, PLAIN):
        await space.context.ask(SetOverride("risky", "on"))
        assert "space_a_risky" in tools_of(space)
        await space.context.ask(SetOverride("draw", OverrideState.OFF))
        assert tools_of(space) == ("space_a_common", "space_a_risky")
        view = await space.context.ask(ResetOverrides())
        assert tools_of(space) == ("space_a_common", "space_a_draw")
        assert not view.overrides


def activity(name: str) -> PatchContext:
    return PatchContext({"activity": name})


@pytest.mark.parametrize(
    ("message", "error", "said"),
    [
        (activity("same-ids"), ConflictError, r"'common' and 'twice'.*both list tool 'a\.common'"),
        (activity("same-names"), ConflictError, r"'b\.one' and 'b\.two'.*'space_same'"),
        (activity("foreign"), ConflictError, r"'space_b_foreign'.*'somebody' has registered"),
        (activity("bad-tool"), ConflictError, r"'space_b_bad'.*description"),
        (activity("no-adapter"), ConflictError, r"'missing' lists tool 'b\.missing'.*no adapter"),
        (activity("any"), InvalidArgumentError, r"activity 'any' is a word of context patterns"),
        (SetOverride("twice", "on"), ConflictError, r"both list tool 'a\.common'"),
        (SetOverride("drew", "on"), NotFoundError, r"'drew'.*'draw'"),
        (SetOverride("draw", "maybe"), InvalidArgumentError, r"'maybe' must be one of on, off, auto"),
        (SetContext({"surface": "scene"}), InvalidArgumentError, r"canvas_visible: Field required"),
        (SetContext({**GRAPH, "surface": ""}), InvalidArgumentError, r"surface: .*at least 1 character"),
        (SetContext({**GRAPH, "mode": "graph"}), InvalidArgumentError, r"'mode'.*'activity'"),
        (PatchContext({"surface": None}), InvalidArgumentError, r"surface"),
        (PatchContext({"world_id": "world-9"}), NotFoundError, r"'world-9'.*world-1 \(home\), world-2 \(garden\)"),
        (PatchContext({"world_id": None}), InvalidArgumentError, r"world_id cannot be taken away"),
        (PatchContext({"world_id": "world-2", "activity": "same-ids"}), ConflictError, r"both list tool"),
        (PatchContext({"world_id": "world-2", "activity": "foreign"}), ConflictError, r"'somebody' has registered"),
    ],
)
async def test_a_change_that_is_refused_says_why_and_leaves_everything_as_it_was(
    space: Space, store: MemoryStore, message: Message[ContextView], error: type[EngineError], said: str
) -> None:
    """Cases 034 (a context without canvas_visible) and 047 (an override of a preset that does not exist) among them."""
    async with running(space, PLAIN, HAZARDS):
        await space.catalog.ask(ApplyBatch("somebody", (tool("space_b_foreign", "somebody"),)))
        await space.context.ask(SetOverride("risky", "on"))
        before = await Everything.of(space)
        changes = space.context.view.version
        with pytest.raises(error, match=said):
            await space.context.ask(message)
        assert await Everything.of(space) == before
        assert space.context.view.version == changes
        # What stood holds, and the next change finds its way.
        await space.context.ask(PatchContext({"activity": "graph"}))
        assert "space_a_graph" in tools_of(space)


def _refuse(commit: Commit) -> None:
    raise ConflictError("the disk is full")


@pytest.mark.parametrize("changes", [{"activity": "graph"}, {"world_id": "world-2"}], ids=["settings", "world"])
async def test_a_place_that_the_store_refuses_to_remember_is_not_gone_to(
    space: Space, store: MemoryStore, changes: dict[str, str]
) -> None:
    async with running(space, PLAIN):
        before = await Everything.of(space)
        store.before_write = _refuse
        with pytest.raises(ConflictError, match="disk is full"):
            await space.context.ask(PatchContext(changes))
        assert await Everything.of(space) == before
        assert store.commits == []


async def test_a_move_that_fails_halfway_goes_back_to_the_world_it_came_from(space: Space, store: MemoryStore) -> None:
    def refuse_the_place(commit: Commit) -> None:
        if commit.settings is not None and commit.settings.activity == "graph":
            raise ConflictError("the disk is full")

    async with running(space, PLAIN):
        before = await Everything.of(space)
        store.before_write = refuse_the_place
        with pytest.raises(ConflictError, match="disk is full"):
            await space.context.ask(PatchContext({"world_id": "world-2", "activity": "graph"}))
        assert await Everything.of(space) == before
        written = [commit.settings.active_world_id for commit in store.commits if commit.settings is not None]
        assert written == ["world-2", "world-1"]


async def test_when_the_way_back_fails_too_the_first_reason_is_told_and_the_next_command_finds_the_truth(
    space: Space, store: MemoryStore
) -> None:
    reasons = iter(("the disk is full", "the disk is gone"))

    def refuse_twice(commit: Commit) -> None:
        if store.commits and (reason := next(reasons, None)):
            raise ConflictError(reason)

    async with running(space, PLAIN):
        store.before_write = refuse_twice
        with capture_logs() as logs, pytest.raises(ConflictError, match="disk is full"):
            await space.context.ask(PatchContext({"world_id": "world-2", "activity": "graph"}))
        assert [entry["event"] for entry in logs] == ["going_back_failed"]
        assert space.world.state.active_world.id == "world-2"
        await space.app.execute(RECTANGLE)
        assert space.context.view.value.context.world_id == "world-2"


async def test_an_identical_context_notifies_nobody(space: Space, store: MemoryStore) -> None:
    """Case 051."""
    async with running(space, PLAIN):
        before = space.context.view.version, space.catalog.tools.version
        await space.context.ask(SetContext(CANVAS))
        await space.context.ask(PatchContext({}))
        await space.context.ask(SetOverride("draw", "auto"))
        await space.context.ask(ResetOverrides())
        assert (space.context.view.version, space.catalog.tools.version) == before
        assert store.commits == []


async def test_a_change_of_context_notifies_its_listeners_exactly_once(space: Space) -> None:
    """Case 050; and case 112 for an override, as a panel would listen."""
    async with running(space, PLAIN):
        changes = space.context.view.subscribe()
        for message in (SetContext(GRAPH), SetOverride("risky", "on")):
            before = space.context.view.version
            view = await space.context.ask(message)
            assert space.context.view.version == before + 1
            assert await changes.next() is view


async def test_a_change_that_leaves_the_visible_list_alone_is_no_change_of_the_list(space: Space) -> None:
    async with running(space, PLAIN):
        before = space.catalog.tools.value
        view = await space.context.ask(PatchContext({"weather": "rain"}))
        assert view.context.facts()["weather"] == "rain"
        assert space.catalog.tools.value is before
        await space.context.ask(SetOverride("common", "on"))
        assert space.catalog.tools.value is before


async def test_what_is_active_counts_its_real_changes(space: Space) -> None:
    async with running(space, PLAIN):
        start = space.context.view.value.change_count
        assert (await space.context.ask(PatchContext({"weather": "rain"}))).change_count == start
        assert (await space.context.ask(SetOverride("common", "on"))).change_count == start + 1
        assert (await space.context.ask(SetContext(GRAPH))).change_count == start + 2


async def test_a_subscriber_that_is_dropped_leaves_nothing_behind(space: Space) -> None:
    """Cases 113 and 114: nobody listens any more, and nothing is told to anybody."""
    async with running(space, PLAIN):
        listener = weakref.ref(space.context.view.subscribe())
        assert listener() is None
        await space.context.ask(SetContext(GRAPH))


async def test_set_context_keeps_the_facts_of_the_engine_and_drops_others(space: Space) -> None:
    async with running(space, PLAIN):
        await space.app.execute(RECTANGLE)
        await space.context.ask(PatchContext({"weather": "rain"}))
        view = await space.context.ask(SetContext({"surface": "canvas", "canvas_visible": True}))
        assert view.context.facts() == {
            "surface": "canvas",
            "canvas_visible": True,
            "world_id": "world-1",
            "selection_kind": "drawing-object",
        }


async def test_the_selection_is_that_of_the_place_where_the_user_is(space: Space) -> None:
    async with running(space, PLAIN):
        await space.app.execute(RECTANGLE)
        view = await space.context.ask(PatchContext({"surface": "scene"}))
        assert view.context.selection_kind is None
        view = await space.context.ask(PatchContext({"surface": "canvas"}))
        assert view.context.selection_kind == "drawing-object"


async def test_a_patch_draws_the_surface_along(space: Space) -> None:
    async with running(space, PLAIN):
        view = await space.context.ask(PatchContext({"canvas_visible": False}))
        assert (view.context.surface, view.context.activity) == ("scene", "drawing")
        view = await space.context.ask(PatchContext({"activity": "graph"}))
        assert (view.context.surface, view.context.canvas_visible) == ("canvas", True)
