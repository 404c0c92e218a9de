"""Units over REST: made, listed, looked at, reloaded, tested; and a client that is told once when one changes."""

from __future__ import annotations

import pytest
import trio

from tests.actors.units_on_trial import code_of
from tests.transport.conftest import LogEntries
from tests.transport.raw_http import BOUND_SECONDS
from tests.transport.running_engine import RunningEngine
from tests.transport.test_rest import assert_problem, send

pytestmark = pytest.mark.slow


async def test_a_unit_is_made_listed_looked_at_tested_and_reloaded(engine: RunningEngine) -> None:
    listed = (await engine.request("GET", "/api/units")).json
    assert listed["units"] == []
    assert [folder.rpartition("/")[2] for folder in listed["folders"]] == ["units"]
    made = await send(engine, "POST", "/api/units", {"name": "star-map"})
    assert (made.status, made.json["state"], made.json["tools"]) == (201, "loaded", ["space_star_map_greet"])
    (row,) = (await engine.request("GET", "/api/units")).json["units"]
    assert (row["name"], row["version"], row["problem"]) == ("star-map", 1, None)
    look = (await engine.request("GET", "/api/units/star-map")).json
    assert [file["path"] for file in look["files"]] == ["tests/test_unit.py", "unit.py", "unit.toml"]
    tests = await send(engine, "POST", "/api/units/star-map/test", {"seconds": 20})
    assert (tests.json["passed"], tests.json["passed_count"], tests.json["ending"]) == (True, 2, "done")
    assert (await engine.request("POST", "/api/units/star-map/reload")).json["version"] == 2
    log = (await engine.request("GET", "/api/units/star-map/log?grep=loaded&lines=5")).json
    assert len(log["lines"]) == 2
    called = await send(engine, "POST", "/api/tools/space_star_map_greet/call", {"name": "Ada"})
    assert called.json["structured_content"] == {"text": "Hello, Ada!", "count": 1}


async def test_what_cannot_be_loaded_is_a_problem_with_its_traceback(engine: RunningEngine) -> None:
    await send(engine, "POST", "/api/units", {"name": "dice"})
    source = engine.space.options.data
    assert source is not None
    (source / "units" / "dice" / "unit.py").write_text("import nothing_like_it")
    refused = await engine.request("POST", "/api/units/dice/reload")
    assert_problem(refused, 422, "No module named 'nothing_like_it'")
    assert "unit.py" in refused.json["report"]
    (row,) = (await engine.request("GET", "/api/units")).json["units"]
    assert (row["state"], row["version"]) == ("stale", 1)


async def test_wrong_requests_are_refused(engine: RunningEngine) -> None:
    for body in ({}, {"name": 1}, {"name": "dice", "more": 1}):
        assert_problem(await send(engine, "POST", "/api/units", body), 422, "star-map")
    assert_problem(await send(engine, "POST", "/api/units", {"name": "../evil"}), 422, "no name of a unit")
    assert_problem(await engine.request("GET", "/api/units/dice"), 404, "unit 'dice' was not found")
    assert_problem(await engine.request("POST", "/api/units/dice/reload"), 404, "not found")
    await send(engine, "POST", "/api/units", {"name": "dice"})
    assert_problem(await send(engine, "POST", "/api/units", {"name": "dice"}), 409, "already exists")
    assert_problem(await send(engine, "POST", "/api/units/dice/test", {"only": 1}), 422, "body may be")
    assert_problem(await send(engine, "POST", "/api/units/dice/test", {"seconds": 1000}), 422, "at most 300")
    assert_problem(await engine.request("GET", "/api/units/dice/log?lines=x"), 422, "whole number")


async def test_a_client_is_told_once_and_lists_the_tool_of_a_unit_that_came(
    engine: RunningEngine, errors_logged: LogEntries
) -> None:
    data = engine.space.options.data
    assert data is not None
    folder = data / "units" / "dice"
    folder.mkdir()
    (folder / "unit.py").write_text(code_of())
    (folder / "unit.toml").write_text("")
    with trio.fail_after(BOUND_SECONDS):
        tools = engine.space.catalog.tools.subscribe()
        while "space_dice_roll" not in engine.space.catalog.tools.value.names:
            await tools.next()
        await trio.sleep(0.3)
    told = [entry for entry in errors_logged if entry["event"] == "list_changed" and "list" in entry["event"]]
    assert len(told) <= 2, "the list of the start, and the one of the unit"
