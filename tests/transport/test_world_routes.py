"""The routes of whole worlds: what a good request gets, what is refused, and that the context follows."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from engine.domains import world_codec
from engine.drawing.insert import InsertBox
from engine.world import World
from engine.world_file import write_world_file
from protocol.limits import DEFAULT_LIMITS, Limits
from tests.transport.mcp_client import JSON_BODY
from tests.transport.raw_http import Response, chunked, connected, request_bytes
from tests.transport.running_engine import RunningEngine, running_engine
from transport.guard import GuardPolicy, check
from transport.world_routes import IMPORT_PATH, WORLD_FILE_TYPE, file_name, larger_bodies

WORLD_FILE = (("Content-Type", WORLD_FILE_TYPE),)

RECTANGLE = InsertBox(kind="rectangle", x=0, y=0, width=2, height=1)


async def send(engine: RunningEngine, method: str, target: str, body: Any = None) -> Response:
    """A request with a JSON body, or without one."""
    if body is None:
        return await engine.request(method, target)
    return await engine.request(method, target, JSON_BODY, json.dumps(body).encode())


async def worlds(engine: RunningEngine) -> list[tuple[str, str, bool]]:
    response = await engine.request("GET", "/api/worlds")
    assert response.status == 200
    return [(world["id"], world["name"], world["active"]) for world in response.json["worlds"]]


async def world_id(engine: RunningEngine) -> str:
    """What the context says, right now."""
    return (await engine.request("GET", "/api/context")).json["world_id"]


async def test_a_world_is_made_gone_to_and_deleted_and_the_context_has_followed(engine: RunningEngine) -> None:
    made = await send(engine, "POST", "/api/worlds", {"name": "garden"})
    assert (made.status, made.json["id"], made.json["active"], made.json["revision"]) == (201, "world-2", False, 0)
    assert await world_id(engine) == "world-1"
    gone_to = await send(engine, "POST", "/api/worlds/world-2/activate")
    assert (gone_to.status, gone_to.json["active"]) == (200, True)
    assert await world_id(engine) == "world-2"
    assert (await send(engine, "POST", "/api/worlds", {"name": "yard", "activate": True})).json["active"] is True
    assert await world_id(engine) == "world-3"
    deleted = await send(engine, "DELETE", "/api/worlds/world-3", {"confirm_name": "yard"})
    assert (deleted.status, deleted.json["name"]) == (200, "yard")
    assert await world_id(engine) == "world-2"
    assert await worlds(engine) == [("world-1", "home", False), ("world-2", "garden", True)]


async def test_a_world_goes_out_as_a_file_and_comes_in_as_another_world(engine: RunningEngine) -> None:
    for _ in range(3):
        await engine.space.app.execute(RECTANGLE)
    out = await engine.request("GET", "/api/worlds/world-1/export")
    assert (out.status, out.header("content-type")) == (200, WORLD_FILE_TYPE)
    assert out.header("content-disposition") == "attachment; filename=home.space-world"
    assert out.header("cache-control") == "no-store"
    back = await engine.request("POST", IMPORT_PATH, WORLD_FILE, out.body)
    assert (back.status, back.json["id"], back.json["name"]) == (201, "world-2", "home 2")
    assert (back.json["active"], back.json["revision"]) == (False, 3)
    named = await engine.request("POST", f"{IMPORT_PATH}?name=G%C3%A4rten", WORLD_FILE, out.body)
    assert named.json["name"] == "Gärten"
    assert (await engine.request("GET", "/api/worlds/world-2/export")).body != out.body, "it has another name"
    await send(engine, "POST", "/api/worlds/world-3/activate")
    assert (await engine.status())["world"]["undo_count"] == 3


async def test_a_deleted_world_is_listed_and_recovered(engine: RunningEngine) -> None:
    await send(engine, "POST", "/api/worlds", {"name": "garden"})
    assert (await engine.request("GET", "/api/worlds/deleted")).json == {"worlds": []}
    await send(engine, "DELETE", "/api/worlds/world-2", {"confirm_name": "garden"})
    (gone,) = (await engine.request("GET", "/api/worlds/deleted")).json["worlds"]
    assert (gone["id"], gone["name"]) == ("world-2", "garden")
    assert gone["deleted_at"] < gone["recoverable_until"]
    back = await send(engine, "POST", "/api/worlds/world-2/recover")
    assert (back.status, back.json["id"], back.json["name"]) == (200, "world-2", "garden")
    await send(engine, "DELETE", "/api/worlds/world-2", {"confirm_name": "garden"})
    assert (await send(engine, "POST", "/api/worlds/world-2/recover", {"name": "yard"})).json["name"] == "yard"
    assert await worlds(engine) == [("world-1", "home", True), ("world-2", "yard", False)]


@pytest.mark.parametrize(
    ("method", "target", "body", "status", "words"),
    [
        ("POST", "/api/worlds", {}, 422, "lacks 'name'"),
        ("POST", "/api/worlds", {"name": 7}, 422, "must be a text"),
        ("POST", "/api/worlds", {"name": ""}, 422, "empty"),
        ("POST", "/api/worlds", {"name": "home"}, 409, "world-1"),
        ("POST", "/api/worlds", {"name": "a", "activate": "yes"}, 422, "true or false"),
        ("POST", "/api/worlds", {"name": "a", "colour": "red"}, 422, "activate, name"),
        ("POST", "/api/worlds", [], 422, "JSON object"),
        ("DELETE", "/api/worlds/world-1", {"confirm_name": "home"}, 409, "last world"),
        ("DELETE", "/api/worlds/world-1", {"confirm_name": "Home"}, 422, "exactly its name"),
        ("DELETE", "/api/worlds/world-1", {}, 422, "confirm_name"),
        ("DELETE", "/api/worlds/world-1", None, 415, "application/json"),
        ("DELETE", "/api/worlds/world-9", {"confirm_name": "home"}, 404, "world-9"),
        ("POST", "/api/worlds/world-9/activate", None, 404, "world-9"),
        ("GET", "/api/worlds/world-9/export", None, 404, "world-9"),
        ("POST", "/api/worlds/world-1/recover", None, 404, "No deleted world"),
        ("POST", "/api/worlds/world-1/recover", {"name": 7}, 422, "must be a text"),
        ("POST", "/api/worlds/world-1/recover", {"nom": "a"}, 422, "'nom'"),
        ("GET", "/api/worlds/world-1", None, 405, ""),
    ],
)
async def test_what_cannot_be_is_refused_and_nothing_changes(
    engine: RunningEngine, method: str, target: str, body: Any, status: int, words: str
) -> None:
    response = await send(engine, method, target, body)
    assert (response.status, response.header("content-type")) == (status, "application/problem+json")
    assert words in response.json["detail"]
    assert await worlds(engine) == [("world-1", "home", True)]


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"", "ends early"), (b"hello", "not packed with gzip"), (gzip.compress(b"{}\n", mtime=0), "no world file")],
)
async def test_a_body_that_is_no_world_file_is_refused(engine: RunningEngine, body: bytes, words: str) -> None:
    response = await engine.request("POST", IMPORT_PATH, WORLD_FILE, body)
    assert (response.status, response.header("content-type")) == (422, "application/problem+json")
    assert words in response.json["detail"]
    assert await worlds(engine) == [("world-1", "home", True)]


async def test_an_import_is_sent_as_a_file_and_knows_one_parameter(engine: RunningEngine) -> None:
    assert (await engine.request("POST", IMPORT_PATH, JSON_BODY, b"{}")).status == 415
    assert (await engine.request("POST", f"{IMPORT_PATH}?title=x", WORLD_FILE, b"")).status == 422
    taken = await engine.request("POST", f"{IMPORT_PATH}?name=home", WORLD_FILE, small_file())
    assert taken.status == 409


def small_file(padding: int = 0) -> bytes:
    """The file of a world with one object, of at least that many bytes."""
    world = World("world-1", "x")
    world.execute(RECTANGLE)
    return write_world_file("x", world.content(), world_codec()) + bytes(padding)


SMALL_BODIES = Limits(body_bytes=1000, world_file_bytes=5000)


async def test_only_a_world_file_may_be_longer_than_other_bodies(tmp_path: Path) -> None:
    long = small_file(padding=3000)
    async with running_engine(tmp_path, limits=SMALL_BODIES) as engine:
        taken = await engine.request("POST", IMPORT_PATH, WORLD_FILE, long)
        assert (taken.status, "follows the end" in taken.json["detail"]) == (422, True), "it was read"
        refused = await engine.request("POST", "/api/worlds", JSON_BODY, long)
        assert refused.status == 413
        too_long = await engine.request("POST", IMPORT_PATH, WORLD_FILE, bytes(5001))
        assert (too_long.status, "5000" in too_long.json["detail"]) == (413, True)


async def test_a_world_file_without_a_length_is_counted_as_it_comes(tmp_path: Path) -> None:
    async with running_engine(tmp_path, limits=SMALL_BODIES) as engine:
        headers = (*WORLD_FILE, ("Transfer-Encoding", "chunked"))
        for body, status in ((chunked(small_file()), 201), (chunked(*[bytes(900)] * 6), 413)):
            async with connected(engine.port) as connection:
                await connection.send(request_bytes("POST", IMPORT_PATH, headers) + body)
                assert (await connection.read_response("POST")).status == status
        assert [name for _, name, _ in await worlds(engine)] == ["home", "x"]


async def test_a_client_that_goes_away_in_the_middle_of_its_file_leaves_nothing(engine: RunningEngine) -> None:
    data = small_file()
    async with connected(engine.port) as connection:
        await connection.send(request_bytes("POST", IMPORT_PATH, WORLD_FILE, data)[:-10])
    assert await worlds(engine) == [("world-1", "home", True)]
    assert (await engine.request("POST", IMPORT_PATH, WORLD_FILE, data)).status == 201


def test_the_guard_knows_how_long_a_body_of_which_path_may_be() -> None:
    policy = GuardPolicy(body_bytes=10, larger_bodies={"/big": 100})
    for path, length, passes in (("/big", 100, True), ("/big", 101, False), ("/", 11, False), ("/", 10, True)):
        headers = [(b"host", b"127.0.0.1"), (b"content-length", str(length).encode())]
        assert (check(headers, policy, path) is None) is passes, (path, length)


def test_the_limit_of_world_files_is_never_below_that_of_other_bodies() -> None:
    assert larger_bodies(DEFAULT_LIMITS) == {IMPORT_PATH: 256 * 1024 * 1024}
    assert larger_bodies(Limits(body_bytes=50, world_file_bytes=10)) == {IMPORT_PATH: 50}


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("garden 2", "garden 2.space-world"),
        ("../../etc/passwd", "_.._etc_passwd.space-world"),
        ('a"b\\c', "a_b_c.space-world"),
        ("Gärten", "Gärten.space-world"),
        ("...", "world.space-world"),
    ],
)
def test_a_file_is_named_after_its_world_and_harms_no_file_system(name: str, file: str) -> None:
    assert file_name(name) == file
