"""A person goes back and forth in the history of a world, whatever tools are offered, and sees what happened."""

from __future__ import annotations

from typing import Any

from engine.world import HistoryMove
from presets.app import Done
from tests.transport.running_engine import RunningEngine
from tests.transport.test_rest import assert_problem, send
from tests.transport.test_view_routes import draw
from transport.history_routes import go_steps


async def history(engine: RunningEngine, query: str = "") -> Any:
    response = await engine.request("GET", f"/api/world/history{query}")
    assert response.status == 200, response
    return response.json


async def test_the_history_is_told_from_the_present_on_in_both_directions(full_engine: RunningEngine) -> None:
    assert await history(full_engine) == {"world_id": "world-1", "revision": 0, "undo": [], "redo": []}
    await draw(full_engine)
    await send(full_engine, "POST", "/api/tools/space_drawing_add_layer/call", {"name": "over"})
    assert (await history(full_engine))["undo"] == [{"label": "add layer"}, {"label": "insert shape"}]
    await send(full_engine, "POST", "/api/world/undo", {"steps": 2})
    told = await history(full_engine)
    assert (told["undo"], told["redo"]) == ([], [{"label": "insert shape"}, {"label": "add layer"}])
    assert (await history(full_engine, "?limit=1"))["redo"] == [{"label": "insert shape"}]


async def test_a_person_undoes_and_redoes_where_no_tool_for_it_is_offered(full_engine: RunningEngine) -> None:
    await draw(full_engine)
    for preset in ("drawing-history-tools", "general-history-tools"):
        await send(full_engine, "PUT", f"/api/presets/{preset}/override", {"state": "off"})
    assert (await full_engine.request("GET", "/api/context")).json["selection_kind"] == "drawing-object"
    undone = await full_engine.request("POST", "/api/world/undo")
    assert (undone.status, undone.json) == (
        200,
        {
            "world_id": "world-1",
            "revision": 2,
            "undone": [{"label": "insert shape"}],
            "undo_count": 0,
            "redo_count": 1,
            "stopped": None,
        },
    )
    assert "selection_kind" not in (await full_engine.request("GET", "/api/context")).json, "the context has followed"
    redone = await send(full_engine, "POST", "/api/world/redo", {})
    assert (redone.json["redone"], redone.json["undo_count"]) == ([{"label": "insert shape"}], 1)


async def test_more_steps_than_there_are_go_as_far_as_the_history_goes(full_engine: RunningEngine) -> None:
    for number in range(3):
        await draw(full_engine, number)
    some = (await send(full_engine, "POST", "/api/world/undo", {"steps": 2})).json
    assert (len(some["undone"]), some["stopped"]) == (2, None)
    rest = (await send(full_engine, "POST", "/api/world/undo", {"steps": 5})).json
    assert (len(rest["undone"]), rest["undo_count"], rest["redo_count"]) == (1, 0, 3)
    assert "nothing to undo" in rest["stopped"]
    assert_problem(await send(full_engine, "POST", "/api/world/undo", {}), 409, "nothing to undo")
    assert len((await send(full_engine, "POST", "/api/world/redo", {"steps": 9})).json["redone"]) == 3
    assert_problem(await send(full_engine, "POST", "/api/world/redo", {}), 409, "nothing to redo")


async def test_a_person_who_has_seen_an_older_world_undoes_nothing(full_engine: RunningEngine) -> None:
    await draw(full_engine)
    await draw(full_engine, 50)
    assert_problem(await send(full_engine, "POST", "/api/world/undo", {"base_revision": 1}), 409, "revision 2")
    assert (await send(full_engine, "POST", "/api/world/undo", {"base_revision": 2})).json["revision"] == 3


async def test_a_step_that_somebody_made_meanwhile_is_not_undone(full_engine: RunningEngine) -> None:
    app = full_engine.space.app
    for number in range(3):
        await draw(full_engine, number)

    async def undo_and_be_interrupted(base_revision: int | None) -> Done[HistoryMove]:
        done = await app.undo_on(base_revision)
        await draw(full_engine, 99)
        return done

    gone = await go_steps(undo_and_be_interrupted, 3, None)
    assert len(gone.labels) == 1
    assert "revision" in (gone.stopped or "")
    assert len((await history(full_engine))["undo"]) == 3


async def test_a_move_that_cannot_be_is_refused(engine: RunningEngine) -> None:
    numbers: tuple[Any, ...] = (0, -1, 1_001, 1.5, "1", True, None)
    bodies: list[Any] = [*({"steps": number} for number in numbers), {"base_revision": -1}, {"base_revision": "1"}]
    for body in (*bodies, {"step": 1}, []):
        assert_problem(await send(engine, "POST", "/api/world/undo", body), 422)
        assert_problem(await send(engine, "POST", "/api/world/redo", body), 422)


async def test_a_history_of_a_length_that_cannot_be_is_refused(engine: RunningEngine) -> None:
    for limit in ("x", "-1", "1001", ""):
        assert_problem(await engine.request("GET", f"/api/world/history?limit={limit}"), 422, "limit")


async def test_changes_of_the_context_are_told_the_newest_first(full_engine: RunningEngine) -> None:
    before = len((await full_engine.request("GET", "/api/context/changes")).json["changes"])
    await send(full_engine, "PATCH", "/api/context", {"surface": "scene"})
    await send(full_engine, "PATCH", "/api/context", {"surface": "scene"})
    await send(full_engine, "PUT", "/api/presets/general-shell-tools/override", {"state": "on"})
    changes = (await full_engine.request("GET", "/api/context/changes")).json["changes"]
    assert len(changes) == before + 2
    override, moved = changes[:2]
    assert override["facts"] == {}
    assert override["overrides"] == {"general-shell-tools": {"from": "auto", "to": "on"}}
    assert override["tools_shown"] == ["space_app_run_bash"]
    assert moved["facts"]["surface"] == {"from": "canvas", "to": "scene"}
    assert "scene-object-tools" in moved["presets_shown"]
    assert "space_drawing_insert_shape" in moved["tools_hidden"]
    assert override["at"] >= moved["at"]
