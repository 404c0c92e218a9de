"""`space units` and `space unit`: what is written on this machine, and what is asked of an engine."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.failure import REFUSED, USAGE
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply

ROW = {
    "name": "dice",
    "folder": "/units/dice",
    "kind": "python",
    "state": "stale",
    "version": 3,
    "title": "Dice",
    "problem": "unit 'dice': it could not be loaded",
    "report": "Traceback …",
    "tools": ["space_dice_roll"],
}

TESTS = {
    "passed": False,
    "ending": "done",
    "found": 2,
    "passed_count": 1,
    "failed_count": 1,
    "skipped_count": 0,
    "failed": [
        {"test": "tests/test_unit.py::test_it", "where": "tests/test_unit.py:3", "message": "no", "traceback": "T"}
    ],
    "seconds": 0.5,
    "running": None,
    "problem": None,
    "output": "printed",
}


def test_new_writes_a_unit_without_an_engine(space: Space, tmp_path: Path) -> None:
    ran = space("unit", "new", "star-map", "--in", str(tmp_path / "mine"))
    assert ran.code == 0
    assert sorted(path.name for path in (tmp_path / "mine" / "star-map").iterdir()) == ["tests", "unit.py", "unit.toml"]
    assert "space serve --units" in ran.out
    again = space("unit", "new", "star-map", "--in", str(tmp_path / "mine"))
    assert (again.code, "already exists" in again.err) == (REFUSED, True)
    assert space("unit", "new", "Star Map", "--in", str(tmp_path)).code == REFUSED
    assert space("unit", "new").code == USAGE


def test_new_writes_into_the_users_units(space: Space, tmp_path: Path) -> None:
    assert space("unit", "new", "dice").code == 0
    assert list(tmp_path.rglob("units/dice/unit.toml"))


def test_new_asks_the_engine_that_runs_where_its_units_are(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    theirs = tmp_path / "engine" / "units"
    theirs.mkdir(parents=True)
    engine.replies[("GET", "/api/units")] = Reply.of({"units": [], "folders": [str(theirs), "/elsewhere"]})
    ran = space("unit", "new", "dice")
    assert (ran.code, ran.err) == (0, "")
    assert (theirs / "dice" / "unit.toml").is_file()
    made = space("unit", "new", "cards", "--json")
    assert made.json == {"unit": "cards", "folder": str(theirs / "cards")}
    engine.replies[("GET", "/api/units")] = Reply.of({"units": [], "folders": ["/of/another/machine"]})
    ran = space("unit", "new", "dice")
    assert ran.code == 0
    assert "has no folder of units on this machine" in ran.err


def test_new_says_where_it_goes_when_no_engine_answers(space: Space, tmp_path: Path) -> None:
    ran = space("unit", "new", "dice", "--url", "http://127.0.0.1:9")
    assert ran.code == 0
    assert "no engine answers at http://127.0.0.1:9" in ran.err
    assert "--url" in ran.err
    assert list(tmp_path.rglob("units/dice/unit.toml"))


@pytest.mark.parametrize("command", ["test", "show", "reload", "log"])
def test_a_unit_that_is_elsewhere_is_answered_with_where_was_looked(
    space: Space, engine: FakeEngine, command: str
) -> None:
    method = "POST" if command in ("test", "reload") else "GET"
    path = "/api/units/dice" + ("" if command == "show" else f"/{command}")
    engine.replies[(method, path)] = Reply.problem(404, "Not found", "unit 'dice' was not found")
    engine.replies[("GET", "/api/units")] = Reply.of({"units": [], "folders": ["/data/units"]})
    ran = space("unit", command, "dice")
    assert ran.code == REFUSED
    assert "unit 'dice' was not found" in ran.err
    assert "looks in /data/units" in ran.err
    assert "--units FOLDER" in ran.err


def test_the_list_says_what_is_wrong_beside_it(space: Space, engine: FakeEngine) -> None:
    engine.replies[("GET", "/api/units")] = Reply.of({"units": [ROW]})
    ran = space("units")
    assert ran.out.splitlines()[1].split() == ["dice", "stale", "3", "1", "tool", "/units/dice"]
    assert ran.err == "dice: unit 'dice': it could not be loaded\n"
    assert space("units", "--json").json == {"units": [ROW]}


def test_the_list_counts_tools_and_names_none_however_many_there_are(space: Space, engine: FakeEngine) -> None:
    many = [f"space_files_{number}_with_a_long_name" for number in range(14)]
    engine.replies[("GET", "/api/units")] = Reply.of({"units": [{**ROW, "tools": many, "problem": None}]})
    listed = space("units").out
    assert "14 tools" in listed
    assert max(map(len, listed.splitlines())) < 80
    engine.replies[("GET", "/api/units/dice")] = Reply.of(
        {**ROW, "tools": many, "files": [], "snapshots": [], "state_keys": []}
    )
    assert [line for line in space("unit", "show", "dice").out.splitlines() if line in many] == many


def test_show_reload_and_log(space: Space, engine: FakeEngine) -> None:
    look = {**ROW, "files": [{"path": "unit.py", "size_bytes": 3}], "snapshots": ["snapshot-1"], "state_keys": ["k"]}
    engine.replies[("GET", "/api/units/dice")] = Reply.of(look)
    shown = space("unit", "show", "dice").out
    for word in ("unit.py", "snapshot-1", "Traceback …", "/units/dice", "space_dice_roll"):
        assert word in shown
    engine.replies[("POST", "/api/units/dice/reload")] = Reply.of(ROW)
    assert "1 tool " in space("unit", "reload", "dice").out
    engine.replies[("POST", "/api/units/dice/reload")] = Reply.problem(422, "Not loaded", "no luck", report="line 3")
    refused = space("unit", "reload", "dice")
    assert (refused.code, refused.err) == (REFUSED, "line 3\nspace: no luck\n")
    engine.replies[("GET", "/api/units/dice/log")] = Reply.of({"lines": [{"line": 4, "text": "loaded"}], "total": 4})
    assert space("unit", "log", "dice", "-n", "5", "--grep", "x").out == "loaded\n"
    assert engine.requests[-1].query == {"lines": "5", "grep": "x"}


def test_failing_tests_are_told_and_give_an_exit_code(space: Space, engine: FakeEngine) -> None:
    engine.replies[("POST", "/api/units/dice/test")] = Reply.of(TESTS)
    ran = space("unit", "test", "dice", "tests/test_unit.py")
    assert ran.code == REFUSED
    assert "FAILED tests/test_unit.py::test_it (tests/test_unit.py:3): no" in ran.out
    assert "1 of 2 passed, 1 failed in 0.5 s (done)" in ran.out
    assert engine.requests[-1].body == {"only": "tests/test_unit.py", "seconds": 30.0}
    engine.replies[("POST", "/api/units/dice/test")] = Reply.of({**TESTS, "passed": True, "failed": []})
    assert space("unit", "test", "dice").code == 0
