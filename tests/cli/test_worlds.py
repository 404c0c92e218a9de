"""`space world` asks the engine for exactly what was said, and shows what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli.failure import REFUSED, USAGE
from cli.worlds import WORLD_FILE_TYPE
from tests.cli.conftest import Space
from tests.cli.fake_engine import FakeEngine, Reply


def world(number: int = 1, name: str = "home", **members: Any) -> dict[str, Any]:
    return {
        "id": f"world-{number}",
        "name": name,
        "active": number == 1,
        "revision": 7,
        "created_at": "2026-01-02T03:04:05+00:00",
        **members,
    }


HOME, GARDEN = world(), world(2, "garden")
GONE = {
    "id": "world-3",
    "name": "yard",
    "deleted_at": "2026-01-02T03:04:05+00:00",
    "recoverable_until": "2026-02-01T03:04:05+00:00",
}


@pytest.fixture(autouse=True)
def worlds(engine: FakeEngine) -> None:
    """The fake engine has two worlds and a deleted one."""
    engine.replies |= {
        ("GET", "/api/worlds"): Reply.of({"worlds": [HOME, GARDEN]}),
        ("GET", "/api/worlds/deleted"): Reply.of({"worlds": [GONE]}),
        ("POST", "/api/worlds"): Reply.of(GARDEN, 201),
        ("POST", "/api/worlds/world-2/activate"): Reply.of(GARDEN),
        ("DELETE", "/api/worlds/world-2"): Reply.of(GARDEN),
        ("POST", "/api/worlds/world-3/recover"): Reply.of(world(3, "yard")),
        ("POST", "/api/worlds/import"): Reply.of(world(4, "park"), 201),
        ("GET", "/api/worlds/world-2/export"): Reply(content_type=WORLD_FILE_TYPE, body=b"packed"),
    }


def test_worlds_are_listed(space: Space) -> None:
    ran = space("world", "list")
    assert ran.code == 0
    head, first, second = ran.out.splitlines()
    assert head.split("  ")[0] == "id"
    assert first.split()[:4] == ["world-1", "home", "yes", "7"]
    assert second.split()[:4] == ["world-2", "garden", "no", "7"]
    assert space("world", "list", "--json").json == {"worlds": [HOME, GARDEN]}


def test_deleted_worlds_are_listed_with_their_time(space: Space) -> None:
    assert space("world", "list", "--deleted").out.splitlines()[1].split() == list(GONE.values())
    assert space("world", "list", "--deleted", "--json").json == {"worlds": [GONE]}


def test_a_world_is_made_and_gone_to(space: Space, engine: FakeEngine) -> None:
    assert "garden" in space("world", "create", "garden").out
    assert engine.last.body == {"name": "garden", "activate": False}
    space("world", "create", "garden", "--activate")
    assert engine.last.body == {"name": "garden", "activate": True}
    assert "world-2" in space("world", "switch", "world-2").out
    assert (engine.last.method, engine.last.path) == ("POST", "/api/worlds/world-2/activate")


def test_a_world_is_deleted_when_its_exact_name_is_typed(space: Space, engine: FakeEngine) -> None:
    ran = space("world", "delete", "world-2", stdin="garden\n")
    assert (ran.code, "recover world-2" in ran.out) == (0, True)
    assert "garden (world-2)" in ran.err, "the question is no part of the answer"
    assert (engine.last.method, engine.last.body) == ("DELETE", {"confirm_name": "garden"})


@pytest.mark.parametrize("typed", ["", "\n", "Garden\n", "garden \n", "yes\n"])
def test_another_name_deletes_nothing(space: Space, engine: FakeEngine, typed: str) -> None:
    ran = space("world", "delete", "world-2", stdin=typed)
    assert (ran.code, "nothing was deleted" in ran.err) == (REFUSED, True)
    assert [request.method for request in engine.requests] == ["GET"]


def test_a_script_gives_the_name_and_the_engine_compares_it(space: Space, engine: FakeEngine) -> None:
    assert space("world", "delete", "world-2", "--confirm", "garden", "--json").json == GARDEN
    assert engine.last.body == {"confirm_name": "garden"}
    engine.replies["DELETE", "/api/worlds/world-2"] = Reply.problem(422, "Invalid value", "not its name")
    ran = space("world", "delete", "world-2", "--confirm", "x")
    assert (ran.code, "not its name" in ran.err) == (REFUSED, True)


def test_a_world_that_is_not_there_is_not_asked_about(space: Space, engine: FakeEngine) -> None:
    ran = space("world", "delete", "world-9", stdin="garden\n")
    assert (ran.code, "space world list" in ran.err) == (REFUSED, True)


def test_a_world_goes_into_a_file_whole(space: Space, tmp_path: Path) -> None:
    ran = space("world", "export", "world-2", "garden.space-world")
    assert (ran.code, ran.out) == (0, "Wrote garden.space-world (6 bytes).\n")
    assert (tmp_path / "garden.space-world").read_bytes() == b"packed"
    assert space("world", "export", "world-2", "b", "--json").json == {
        "file": str(tmp_path / "b"),
        "media_type": WORLD_FILE_TYPE,
        "bytes": 6,
    }


def test_a_refused_export_leaves_no_file(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    engine.replies["GET", "/api/worlds/world-2/export"] = Reply.problem(404, "Not found", "no such world")
    assert space("world", "export", "world-2", "garden.space-world").code == REFUSED
    assert list(tmp_path.iterdir()) == []


def test_a_file_becomes_a_world(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    data = bytes(range(256)) * 5000
    (tmp_path / "park").write_bytes(data)
    assert "world-4" in space("world", "import", "park").out
    assert engine.last.headers["content-type"] == WORLD_FILE_TYPE
    assert engine.last.headers["content-length"] == str(len(data))
    assert (engine.last.data, engine.last.query) == (data, {})
    assert space("world", "import", "park", "--name", "big park", "--json").json["name"] == "park"
    assert engine.last.query == {"name": "big park"}


def test_a_file_that_is_missing_is_a_usage_error(space: Space, engine: FakeEngine, tmp_path: Path) -> None:
    assert space("world", "import", "nothing").code == USAGE
    assert space("world", "import", str(tmp_path)).code == USAGE
    assert engine.requests == []


def test_a_deleted_world_comes_back(space: Space, engine: FakeEngine) -> None:
    assert "yard" in space("world", "recover", "world-3").out
    assert engine.last.body == {}
    space("world", "recover", "world-3", "--name", "old yard")
    assert engine.last.body == {"name": "old yard"}
