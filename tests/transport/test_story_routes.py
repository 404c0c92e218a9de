"""The routes of stories, branches and fragments: what a good request gets, revisions, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import trio

from tests.transport.mcp_client import JSON_BODY
from tests.transport.raw_http import Response
from tests.transport.running_engine import RunningEngine, running_engine

STORY = "/api/stories/tale"


@pytest.fixture
async def story(engine: RunningEngine) -> RunningEngine:
    """An engine with the story `tale`."""
    assert (await send(engine, "POST", "/api/stories", {"name": "A Tale", "id": "tale"})).status == 201
    return engine


async def send(
    engine: RunningEngine, method: str, target: str, body: Any = None, *, if_match: str | None = None
) -> Response:
    """A request with a JSON body, or without one."""
    headers = () if if_match is None else (("If-Match", if_match),)
    if body is None:
        return await engine.request(method, target, headers)
    return await engine.request(method, target, (*JSON_BODY, *headers), json.dumps(body).encode())


async def make(engine: RunningEngine, name: str = "One", **members: Any) -> str:
    made = await send(engine, "POST", f"{STORY}/fragments", {"type": "prose", "name": name, **members})
    assert made.status == 201, made.json
    return made.json["id"]


async def names(engine: RunningEngine, query: str = "") -> list[str]:
    return [one["name"] for one in (await send(engine, "GET", f"{STORY}/fragments{query}")).json["fragments"]]


async def test_a_story_is_made_listed_changed_archived_and_restored(engine: RunningEngine) -> None:
    assert (await send(engine, "GET", "/api/stories")).json == {"stories": []}
    made = await send(engine, "POST", "/api/stories", {"name": "A Tale", "description": "d"})
    story = f"/api/stories/{made.json['id']}"
    assert (made.status, made.json["name"], made.header("etag")) == (201, "A Tale", f'"{made.json["revision"]}"')
    changed = await send(engine, "PATCH", story, {"summary": "So far."}, if_match=made.header("etag"))
    assert (changed.status, changed.json["summary"]) == (200, "So far.")
    stale = await send(engine, "PATCH", story, {"summary": "Lost."}, if_match=made.header("etag"))
    assert (stale.status, stale.json["revision"]) == (409, changed.json["revision"])
    settings = await send(engine, "PATCH", f"{story}/settings", {"modelOverrides": {"generation": {"modelId": "m"}}})
    assert settings.json["settings"] == {"modelOverrides": {"generation": {"modelId": "m"}}}
    assert (await send(engine, "GET", story)).json == settings.json
    assert (await send(engine, "POST", f"{story}/archive")).status == 200
    assert (await send(engine, "GET", "/api/stories")).json == {"stories": []}
    assert [one["name"] for one in (await send(engine, "GET", "/api/stories?archived=true")).json["stories"]] == [
        "A Tale"
    ]
    assert (await send(engine, "GET", story)).status == 404
    assert (await send(engine, "POST", f"{story}/restore")).json["summary"] == "So far."


async def test_a_fragment_is_made_changed_tagged_archived_and_removed(story: RunningEngine) -> None:
    made = await send(
        story, "POST", f"{STORY}/fragments", {"type": "character", "name": "Mara", "tags": ["hero"], "sticky": True}
    )
    fragment = f"{STORY}/fragments/{made.json['id']}"
    assert (made.status, made.json["id"][:3], made.json["placement"]) == (201, "ch-", "user")
    changes = {"content": "Tall.", "sticky": False, "placement": "system", "order": 2.5}
    changed = await send(story, "PATCH", fragment, changes, if_match=made.header("etag"))
    assert {name: changed.json[name] for name in changes} == changes
    assert (changed.json["version"], changed.json["versions"][0]["content"]) == (2, "")
    for method, path, body in (
        ("PATCH", "", {"name": "x"}),
        ("POST", "/archive", None),
        ("POST", "/tags", {"tag": "x"}),
        ("DELETE", "/tags/hero", None),
        ("DELETE", "", None),
    ):
        stale = await send(story, method, f"{fragment}{path}", body, if_match=made.header("etag"))
        assert (stale.status, stale.header("etag")) == (409, changed.header("etag")), path
    assert (await send(story, "POST", f"{fragment}/tags", {"tag": "a/b"})).json == {"tags": ["hero", "a/b"]}
    assert (await send(story, "DELETE", f"{fragment}/tags/a/b")).json == {"tags": ["hero"]}
    assert (await send(story, "GET", f"{fragment}/tags")).json == {"tags": ["hero"]}
    assert (await send(story, "DELETE", fragment)).status == 409
    assert (await send(story, "POST", f"{fragment}/archive")).json["archived"] is True
    assert await names(story) == []
    assert await names(story, "?archived=true") == ["Mara"]
    assert (await send(story, "POST", f"{fragment}/restore")).json["archived"] is False
    await send(story, "POST", f"{fragment}/archive")
    assert (await send(story, "DELETE", fragment)).status == 200
    assert (await send(story, "GET", fragment)).status == 404


async def test_fragments_are_listed_by_their_order_and_by_what_is_asked_for(story: RunningEngine) -> None:
    one, two = await make(story, "one", tags=["x"]), await make(story, "two", sticky=True)
    await make(story, "three", type="knowledge", order=9)
    ordered = await send(story, "PUT", f"{STORY}/fragments/order", {"ids": [two, one]})
    assert [row["order"] for row in ordered.json["fragments"]] == [0, 1]
    assert await names(story) == ["two", "one", "three"]
    assert await names(story, "?type=prose") == ["two", "one"]
    assert await names(story, "?tag=x") == ["one"]
    assert await names(story, "?sticky=true&type=prose") == ["two"]
    for query in ("?page=2", "?sticky=yes"):
        assert (await send(story, "GET", f"{STORY}/fragments{query}")).status == 422


@pytest.mark.parametrize(
    ("method", "path", "body", "status"),
    [
        ("POST", "/api/stories", {}, 422),
        ("POST", "/api/stories", [], 422),
        ("POST", "/api/stories", {"name": "x", "id": "../x"}, 422),
        ("POST", "/api/stories", {"name": "x", "id": "tale"}, 409),
        ("PATCH", STORY, {"id": "other"}, 422),
        ("PATCH", f"{STORY}/settings", [], 422),
        ("POST", f"{STORY}/fragments", {"name": "x"}, 422),
        ("POST", f"{STORY}/fragments", {"type": "prose", "name": "x", "placement": "top"}, 422),
        ("POST", f"{STORY}/fragments?branch=nope", {"type": "prose", "name": "x"}, 404),
        ("PUT", f"{STORY}/fragments/order", {"ids": [1]}, 422),
        ("PUT", f"{STORY}/fragments/order", {"ids": ["pr-none1"]}, 404),
        ("PATCH", f"{STORY}/fragments/pr-none1", {}, 404),
        ("POST", f"{STORY}/branches", {}, 422),
        ("POST", f"{STORY}/branches", {"name": "x", "id": "main"}, 409),
        ("PUT", f"{STORY}/branches/active", {"branchId": "nope"}, 404),
        ("PUT", f"{STORY}/branches/active", {}, 422),
        ("PATCH", f"{STORY}/branches/nope", {"name": "x"}, 404),
        ("POST", "/api/stories/nope/fragments", {"type": "prose", "name": "x"}, 404),
        ("POST", "/api/stories/nope/restore", {}, 404),
    ],
)
async def test_what_cannot_be_is_refused_with_its_reason(
    story: RunningEngine, method: str, path: str, body: Any, status: int
) -> None:
    refused = await send(story, method, path, body)
    assert refused.status == status, refused.body
    assert refused.header("content-type") == "application/problem+json"
    assert refused.json["error"] == refused.json["detail"] != ""


async def test_a_branch_is_made_named_and_switched_to(story: RunningEngine) -> None:
    await make(story, "One")
    made = await send(story, "POST", f"{STORY}/branches", {"name": "What if", "id": "what-if"})
    assert (made.status, made.json["parent"]) == (201, "main")
    await send(story, "POST", f"{STORY}/fragments?branch=what-if", {"type": "prose", "name": "Two"})
    assert (await names(story), await names(story, "?branch=what-if")) == (["One"], ["One", "Two"])
    switched = await send(story, "PUT", f"{STORY}/branches/active", {"branchId": "what-if"})
    assert (switched.json["activeBranchId"], await names(story)) == ("what-if", ["One", "Two"])
    assert (await send(story, "PATCH", f"{STORY}/branches/what-if", {"name": "So be it"})).json["name"] == "So be it"
    branches = (await send(story, "GET", f"{STORY}/branches")).json["branches"]
    assert [one["name"] for one in branches] == ["Main", "So be it"]


async def test_a_branch_is_removed_by_its_exact_name_unless_it_is_in_use(story: RunningEngine, tmp_path: Path) -> None:
    await make(story, "One")
    await send(story, "POST", f"{STORY}/branches", {"name": "What if", "id": "what-if"})
    branch = f"{STORY}/branches/what-if"
    for body, status in (({}, 422), ({"confirmName": "what if"}, 422)):
        assert (await send(story, "DELETE", branch, body)).status == status
    assert (await send(story, "DELETE", f"{STORY}/branches/main", {"confirmName": "Main"})).status == 409
    await send(story, "PUT", f"{STORY}/branches/active", {"branchId": "what-if"})
    assert (await send(story, "DELETE", branch, {"confirmName": "What if"})).status == 409
    await send(story, "PUT", f"{STORY}/branches/active", {"branchId": "main"})
    assert (await send(story, "DELETE", branch, {"confirmName": "What if"})).json["id"] == "what-if"
    assert [one["id"] for one in (await send(story, "GET", f"{STORY}/branches")).json["branches"]] == ["main"]
    assert not [path for path in everything_in(tmp_path / "data") if "what-if" in path.parts]
    assert (await names(story), (await send(story, "DELETE", branch, {"confirmName": "What if"})).status) == (
        ["One"],
        404,
    )


async def test_writers_at_the_same_time_lose_nothing(story: RunningEngine) -> None:
    fragment = f"{STORY}/fragments/{await make(story)}"

    async def append(number: int) -> None:
        while True:
            read = await send(story, "GET", fragment)
            content = f"{read.json['content']}{number} "
            sent = await send(story, "PATCH", fragment, {"content": content}, if_match=read.header("etag"))
            if sent.status == 200:
                return
            assert sent.status == 409

    async def tag(number: int) -> None:
        assert (await send(story, "POST", f"{fragment}/tags", {"tag": f"t{number}"})).status == 200

    with trio.fail_after(30):
        async with trio.open_nursery() as nursery:
            for number in range(6):
                nursery.start_soon(append, number)
                nursery.start_soon(tag, number)
    found = (await send(story, "GET", fragment)).json
    assert sorted(found["content"].split()) == [str(number) for number in range(6)]
    assert sorted(found["tags"]) == [f"t{number}" for number in range(6)]
    assert found["version"] == 7


@pytest.mark.parametrize("name", ["..%2F..%2Fescape", "%2e%2e", "a%00b", "A", "%ff", "x" * 300, "..%5cx", "%F0%9F%8E"])
async def test_no_id_in_a_path_leaves_the_data_folder(story: RunningEngine, tmp_path: Path, name: str) -> None:
    before = everything_in(tmp_path)
    for method, path, body in (
        ("GET", f"/api/stories/{name}", None),
        ("PATCH", f"/api/stories/{name}", {"name": "x"}),
        ("POST", f"/api/stories/{name}/archive", None),
        ("POST", f"/api/stories/{name}/restore", None),
        ("POST", f"/api/stories/{name}/fragments", {"type": "prose", "name": "x"}),
        ("GET", f"{STORY}/fragments/{name}", None),
        ("PATCH", f"{STORY}/fragments/{name}", {"name": "x"}),
        ("DELETE", f"{STORY}/fragments/{name}", None),
        ("GET", f"{STORY}/fragments?branch={name}", None),
        ("PATCH", f"{STORY}/branches/{name}", {"name": "x"}),
    ):
        assert (await send(story, method, path, body)).status == 404, (method, path)
    assert everything_in(tmp_path) == before


def everything_in(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


async def test_a_broken_fragment_is_reported_and_the_others_are_listed(story: RunningEngine, tmp_path: Path) -> None:
    await make(story, "whole")
    (tmp_path / "data/stories/tale/branches/main/fragments/pr-broken.json").write_bytes(b"\x00")
    listed = (await send(story, "GET", f"{STORY}/fragments")).json
    assert [one["name"] for one in listed["fragments"]] == ["whole"]
    assert listed["setAside"][0]["path"].endswith("pr-broken.json")
    (tmp_path / "data/stories/tale/branches/main/fragments/pr-broken.json").write_bytes(b"\x00")
    found = await send(story, "GET", f"{STORY}/fragments/pr-broken")
    assert (found.status, "is kept as" in found.json["error"]) == (404, True)
    assert (await story.status())["blocks"]["set_aside_count"] == 2


async def test_stories_are_there_after_a_restart(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as first:
        await send(first, "POST", "/api/stories", {"name": "A Tale", "id": "tale"})
        await make(first, "One")
    async with running_engine(tmp_path) as second:
        assert await names(second) == ["One"]
