"""Pictures that are asked for again cost nothing, and marks say where in them something was changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.transport.raw_http import Response
from tests.transport.running_engine import RunningEngine, running_engine
from tests.transport.test_rest import assert_problem, send

SVG = "{http://www.w3.org/2000/svg}"


async def draw(engine: RunningEngine, x: float = 0, **more: Any) -> Any:
    arguments = {"shape": "rectangle", "x": x, "y": 0, "width": 20, "height": 10, **more}
    called = await send(engine, "POST", "/api/tools/space_drawing_insert_shape/call", arguments)
    assert called.json["is_error"] is False, called.json
    return called.json["structured_content"]


async def again(engine: RunningEngine, target: str, *tags: str | None) -> Response:
    """The same request of a client that has what these tags name."""
    return await engine.request("GET", target, (("If-None-Match", ", ".join(tag for tag in tags if tag)),))


async def marks(engine: RunningEngine, query: str) -> Any:
    response = await engine.request("GET", f"/api/view/marks?{query}")
    assert response.status == 200, response
    return response.json


@pytest.mark.parametrize("target", ["/api/view.svg", "/api/view.png?width=64&height=32", "/api/view.glb?surface=scene"])
async def test_a_picture_that_is_known_is_not_made_again(full_engine: RunningEngine, target: str) -> None:
    await draw(full_engine)
    first = await full_engine.request("GET", target)
    assert first.status == 200
    assert (first.header("x-space-revision"), first.header("x-space-world")) == ("1", "world-1")
    handled = full_engine.space.world.statistics().handled
    same = await again(full_engine, target, '"other"', first.header("etag"))
    assert (same.status, same.body, same.header("etag")) == (304, b"", first.header("etag"))
    assert same.header("x-space-revision") == "1"
    assert full_engine.space.world.statistics().handled == handled, "the world was not even asked"
    await draw(full_engine, 50)
    changed = await again(full_engine, target, first.header("etag"))
    assert (changed.status, changed.header("x-space-revision")) == (200, "2")


@pytest.mark.slow
async def test_a_picture_is_another_in_another_size_theme_activity_and_surface(full_engine: RunningEngine) -> None:
    await draw(full_engine)
    targets = (
        "/api/view.svg",
        "/api/view.png?width=64&height=32",
        "/api/view.png?width=32&height=64",
        "/api/view.png?surface=scene&width=32&height=64",
    )
    tags = [(await full_engine.request("GET", target)).header("etag") for target in targets]
    await send(full_engine, "PATCH", "/api/context", {"activity": "graph"})
    tags.append((await again(full_engine, "/api/view.svg", *tags)).header("etag"))
    await send(full_engine, "POST", "/api/tools/space_app_set_theme/call", {"theme": "light"})
    tags.append((await again(full_engine, "/api/view.svg", *tags)).header("etag"))
    assert len(set(tags)) == len(tags)
    assert None not in tags


@pytest.mark.slow
async def test_a_picture_of_another_process_is_not_known(tmp_path: Path) -> None:
    tags: list[str | None] = []
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        async with running_engine(tmp_path / name, built_in=True) as engine:
            await draw(engine)
            picture = await again(engine, "/api/view.svg", *tags)
            assert picture.status == 200
            tags.append(picture.header("etag"))


async def test_a_surface_that_shows_nothing_is_refused_whatever_the_client_has(full_engine: RunningEngine) -> None:
    assert_problem(await again(full_engine, "/api/view.svg?surface=ballroom", '"any"'), 409, "ballroom")


async def test_marks_are_fractions_of_the_svg(full_engine: RunningEngine) -> None:
    await draw(full_engine)
    await draw(full_engine, 100, height=40)
    svg = await full_engine.request("GET", "/api/view.svg")
    root = ElementTree.fromstring(svg.body)
    left, _, width, _ = (float(number) for number in root.attrib["viewBox"].split())
    answer = await marks(full_engine, "since=1")
    (mark,) = answer.pop("marks")
    assert answer == {
        "world_id": "world-1",
        "surface": "canvas",
        "revision": int(svg.header("x-space-revision") or ""),
        "complete": True,
    }
    assert set(mark) == {"id", "label", "change", "left", "top", "width", "height"}
    assert (mark["id"], mark["label"], mark["change"]) == ("object-2", "rectangle", "added")
    x, wide = left + mark["left"] * width, mark["width"] * width
    assert x < 100 < x + 3
    assert 20 <= wide < 25


async def test_marks_of_the_scene_follow_the_size_of_its_picture(full_engine: RunningEngine) -> None:
    await send(full_engine, "PATCH", "/api/context", {"surface": "scene"})
    called = await send(full_engine, "POST", "/api/tools/space_scene_add_cuboid/call", {"x": 2, "y": 1, "z": 0})
    assert called.json["is_error"] is False
    wide, high = [await marks(full_engine, f"since=0&width={w}&height={h}") for w, h in ((800, 400), (400, 400))]
    assert (wide["surface"], wide["marks"][0]["label"]) == ("scene", "box")
    assert wide["marks"][0]["width"] == pytest.approx(high["marks"][0]["width"] / 2)
    assert wide["marks"][0]["height"] == pytest.approx(high["marks"][0]["height"])
    assert (await marks(full_engine, "since=0&surface=canvas"))["marks"] == []


@pytest.mark.slow
async def test_what_was_before_this_process_is_not_known(tmp_path: Path) -> None:
    async with running_engine(tmp_path, built_in=True) as engine:
        await draw(engine)
    async with running_engine(tmp_path, built_in=True) as engine:
        assert await marks(engine, "since=0") == {
            "world_id": "world-1",
            "surface": "canvas",
            "revision": 1,
            "complete": False,
            "marks": [],
        }
        await draw(engine)
        assert [mark["id"] for mark in (await marks(engine, "since=1"))["marks"]] == ["object-2"]


async def test_marks_that_cannot_be_are_refused(engine: RunningEngine) -> None:
    for query, status, word in (
        ("", 422, "since"),
        ("since=", 422, "since"),
        ("since=-1", 422, "since"),
        ("since=1e3", 422, "since"),
        ("since=9999999999999999999999", 422, "since"),
        ("since=0&width=1", 422, "width"),
        ("since=0&height=x", 422, "height"),
        ("since=0&surface=", 422, "surface"),
        ("since=0&surface=ballroom", 409, "ballroom"),
    ):
        assert_problem(await engine.request("GET", f"/api/view/marks?{query}"), status, word)
